"""What Lab 00, Start here, asks, and how it is judged: two hosts and one link."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from linklab.analysis import Expectation, measured_path
from linklab.grade.check import Check
from linklab.grade.choices import letters
from linklab.grade.measured import typed_rtt
from linklab.grade.path_questions import DATA_BYTES, FRAME_BYTES, ceiling, rtt
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, as_number, asked_one, stated
from linklab.grade.reachability import Checkable, of_topo, state_of
from linklab.grade.result import Result, guarded
from linklab.grade.topology import address_checks, cable_checks, link_checks, node_checks
from linklab.network import TWO_HOSTS
from linklab.units import transmission_ms

_PATH: Final = measured_path(TWO_HOSTS, "h1", "h2")
_RTT: Final = rtt("rtt", _PATH, "round-trip time of h1 to h2")
_CEILING: Final = ceiling("throughput", _PATH, "TCP throughput from h1 to h2")


@guarded("Lab 00, the network")
def check_network(lab: Checkable) -> list[Check]:
    """Judge whether the live network is the planned one: two hosts, one cable, addresses, and the link's shape."""
    state = state_of(of_topo(lab, "TwoHosts"))
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


@guarded
def check_headers(mbps: object) -> Result:
    """Judge how many Mbit/s of a full link's rate are headers."""
    link = TWO_HOSTS.links[0]
    rate, share = link.rate_mbps or 0.0, 1 - DATA_BYTES / FRAME_BYTES
    slips = (
        Slip(100 * share, "that is the share in percent", "take this share of 10 Mbit/s"),
        Slip(share, "that is the share of 1", "take this share of 10 Mbit/s"),
        Slip(rate - rate * share, "that is the data", "headers are the rest of the 1514 bytes"),
        Slip(rate * (FRAME_BYTES - DATA_BYTES) / DATA_BYTES, "that compares the headers with the data",
             "divide by the whole frame, 1514 bytes"),
        Slip(rate * 54 / FRAME_BYTES, "that leaves out the timestamps", "add up all four headers of the table"),
        Slip(rate * 52 / FRAME_BYTES, "that leaves out the Ethernet header", "add up all four headers of the table"),
    )  # fmt: skip
    expected = stated(rate * share, "Mbit/s", "the headers' bytes of each frame's", 3)
    hints = ("how many of a frame's 1514 bytes are headers?", "take this share of the link's rate", "10 * 66 / 1514")
    return asked_one("Lab 00, headers", mbps, Value("headers", "headers of a full link", expected, hints, slips))


@guarded
def check_longer(rtt_ms: object) -> Result:
    """Judge the longest round trip of a ping beside a transfer if the queue holds twice as many packets, in ms."""
    link = TWO_HOSTS.links[0]
    packet_ms, before = transmission_ms(FRAME_BYTES, link.rate_mbps or 1.0), link.queue_packets or 0
    full_ms = 2 * before * packet_ms + link.delay_ms
    slips = (
        Slip(full_ms + link.delay_ms, "that doubles the whole RTT, or adds both directions' delay",
             "only the wait in the queue doubles, and it includes the delay of the way there: add the way back alone"),
        Slip(before * packet_ms + link.delay_ms, "that is the RTT with 50 packets", "the queue has 100 now"),
        # Twice the extra wait, and the idle RTT, comes to the same number: the delay is subtracted twice.
        Slip(2 * before * packet_ms, "that is the time of 100 frames, without the way back",
             "the answer still has to travel back. Did you double the extra wait of 50.6 ms? 100 frames take 121 ms, "
             "and the link's delay comes off them once, not twice"),
        Slip(4 * link.delay_ms, "that is twice the RTT of the idle link", "the RTT beside the transfer was 71 ms"),
    )  # fmt: skip
    expected = Expectation(
        full_ms, full_ms - 2.5, full_ms + 2.5, "ms", "a full queue, and the way back", allowance="reading a figure"
    )
    hints = ("set the slider to 100 packets ahead: what is the RTT?", "one frame takes 1.2 ms", "100 * 1.2 + 10")
    question = Value("longer", "longest RTT with 100 packets", expected, hints, slips)
    return asked_one("Lab 00, a longer queue", rtt_ms, question)
