"""What Lab 00, Start here, asks, and how it is judged: two hosts and one link."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from linklab.analysis import Expectation, measured_path
from linklab.grade.check import Check
from linklab.grade.choices import letters
from linklab.grade.measured import typed_rtt
from linklab.grade.path_questions import ceiling, rtt
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Value, as_number, asked_one
from linklab.grade.reachability import Checkable, state_of
from linklab.grade.result import Result, guarded
from linklab.grade.topology import address_checks, cable_checks, link_checks, node_checks
from linklab.network import TWO_HOSTS

_PATH: Final = measured_path(TWO_HOSTS, "h1", "h2")
_RTT: Final = rtt("rtt", _PATH, "round-trip time of h1 to h2")
_CEILING: Final = ceiling("throughput", _PATH, "TCP throughput from h1 to h2")


@guarded("Lab 00, the network")
def check_network(lab: Checkable) -> list[Check]:
    """Judge whether the live network is the planned one: two hosts, one cable, addresses, and the link's shape."""
    state = state_of(lab)
    every = (node_checks, cable_checks, address_checks, link_checks)
    return [check for checks in every for check in checks(TWO_HOSTS, state)]


PREDICTIONS: Final = Predictions("Lab 00", {"rtt": lambda: [_RTT], "throughput": lambda: [_CEILING]})


check_queue = letters("Lab 00, the queue", Path(__file__).parent)
"""Judge ``where`` a ping waits next to a transfer, by letter."""


@guarded
def check_measured_rtt(rtt_ms: object) -> Result:
    """Judge the measured round-trip time in ms: within 0.5 % of theory."""
    question = typed_rtt("rtt", "round-trip time of h1 to h2", _PATH.rtt_floor_ms)
    result = asked_one("Lab 00, measured round-trip time", rtt_ms, question)
    return PREDICTIONS.compared(result, "rtt", {"rtt": as_number(rtt_ms)})


@guarded
def check_measured_throughput(mbps: object) -> Result:
    """Judge the measured TCP throughput in Mbit/s: 96 to 100.1 % of theory's ceiling, so that 2^20 bits are no Mbit."""
    theory, why = _CEILING.expected.value, "what headers leave of the link's rate"
    expected = Expectation(theory, 0.96 * theory, 1.001 * theory, "Mbit/s", why, allowance="TCP's start, and rounding")
    hints = (
        'iperf3 reports what arrived at h2 in report["end"]["sum_received"]: which of its numbers is a rate?',
        "use the receiver's rate over all ten seconds. The sender also counts data that still waits in the queue, and "
        "a short transfer is mostly TCP's start",
    )
    question = Value("throughput", "measured TCP throughput from h1 to h2", expected, hints, shown=True)
    result = asked_one("Lab 00, measured throughput", mbps, question)
    return PREDICTIONS.compared(result, "throughput", {"throughput": as_number(mbps)})
