"""The checks of Lab 00, Start here: two hosts and one link.

Each function returns a :class:`~linklab.grade.result.Result`. In a notebook,
``lab00.check_network(lab).require()`` shows the table if all passed and fails the cell with hints if not.
"""

from __future__ import annotations

from typing import Final

from linklab.analysis import Expectation
from linklab.grade.measured import typed_check, typed_rtt_check
from linklab.grade.numbers import Mistake, Quantity, prediction_check
from linklab.grade.reachability import Checkable, state_of
from linklab.grade.result import Result, guarded
from linklab.grade.topology import address_checks, cable_checks, link_checks, node_checks
from linklab.measure.trust import MISSED_PERCENT
from linklab.network import TWO_HOSTS, Path, goodput_ceiling_mbps, path, rtt_floor_ms

PREDICTION_TOLERANCE: Final = 0.02
"""Of theory. Who counts Ethernet's preamble, or no timestamps, is within it; who forgets them all is not."""

_PATH: Final[Path] = path(TWO_HOSTS, "h1", "h2")
_RATE_MBPS: Final = float(TWO_HOSTS.links[0].rate_mbps or 0)
_DELAY_MS: Final = TWO_HOSTS.links[0].delay_ms
_RTT: Final = Quantity("round-trip time of h1 to h2", rtt_floor_ms(_PATH), "ms")
_THROUGHPUT: Final = Quantity("TCP throughput from h1 to h2", goodput_ceiling_mbps(_PATH), "Mbit/s")


@guarded
def check_network(lab: Checkable) -> Result:
    """The live network is the planned one: two hosts, one cable, addresses, and the link's shape.

    Raises LabError if ``lab`` is neither a running lab nor a NetworkState.
    """
    state = state_of(lab)
    return Result(
        "Lab 00, the network",
        (
            *node_checks(TWO_HOSTS, state),
            *cable_checks(TWO_HOSTS, state),
            *address_checks(TWO_HOSTS, state),
            *link_checks(TWO_HOSTS, state),
        ),
    )


@guarded
def check_prediction_rtt(rtt_ms: object) -> Result:
    """The predicted round-trip time of an idle link in ms, within 2 % of theory."""
    mistakes = [
        Mistake(_DELAY_MS, "that is one way", "an echo request goes there, and the reply comes back"),
        Mistake(_RTT.theory * 2, "that is two round trips", "a delay counts once for each direction"),
        Mistake(_RTT.theory / 1000, "that looks like seconds", "give it in ms"),
        Mistake(_DELAY_MS / 1000, "that looks like one way, in seconds", "both ways, and in ms"),
    ]
    how = "add up the delay of the link in both directions; a small packet needs hardly more"
    check = prediction_check(_RTT, rtt_ms, PREDICTION_TOLERANCE, how, mistakes)
    return Result("Lab 00, predicted round-trip time", (check,))


@guarded
def check_prediction_throughput(mbps: object) -> Result:
    """The predicted TCP throughput in Mbit/s, within 2 % of theory."""
    theory = _THROUGHPUT.theory
    in_mbit = "multiply by 8: a rate is in Mbit/s, millions of bits per second"
    mistakes = [
        Mistake(_RATE_MBPS, "that is the rate of the link", _HEADERS, 0.005),
        Mistake(_RATE_MBPS / 8, "that looks like MByte/s, and without headers", in_mbit),
        Mistake(theory / 8, "that looks like MByte/s", in_mbit, 0.03),
        Mistake(theory * 8, "that is eight times too much", "divide by 8 only to get bytes, not bits"),
        Mistake(theory * 1e3, "that looks like kbit/s", "divide by 1000: 1 Mbit/s is 1000 kbit/s", 0.05),
        Mistake(theory * 1e6, "that looks like bit/s", "divide by 1,000,000", 0.05),
        Mistake(_RATE_MBPS / 2, "that is half of the link", "both directions have the full rate at once"),
    ]
    check = prediction_check(_THROUGHPUT, mbps, PREDICTION_TOLERANCE, _HEADERS, mistakes)
    return Result("Lab 00, predicted throughput", (check,))


_HEADERS: Final = (
    "the rate carries headers too: of each frame of 1514 bytes, take away those of Ethernet (14), IP (20) "
    "and TCP (20, and 12 for timestamps)"
)


@guarded
def check_measured_rtt(rtt_ms: object, clock: str) -> Result:
    """The measured round-trip time in ms, against theory. ``clock`` is ``lab.clock``.

    Virtual time: within 0.5 %. Real time: from 2 % below theory to 5 % above; beyond that the check is inconclusive,
    for the machine may have been busy.

    Raises MeasurementError if ``clock`` is neither "real" nor "virtual".
    """
    return Result("Lab 00, measured round-trip time", (typed_rtt_check(_RTT, rtt_ms, clock),))


@guarded
def check_measured_throughput(mbps: object, clock: str) -> Result:
    """The measured TCP throughput in Mbit/s, against theory. ``clock`` is ``lab.clock``.

    Virtual time: 95 to 101 % of theory's ceiling. Real time: what a quiet machine may miss less, or 1 % more; below
    that the check is inconclusive, for the machine may have been busy. More than the ceiling is wrong on any clock.

    Raises MeasurementError if ``clock`` is neither "real" nor "virtual".
    """
    theory = _THROUGHPUT.theory
    low, high = (0.95, 1.01) if clock == "virtual" else (0.95 * (1 - MISSED_PERCENT / 100), 1.02)
    allowance = "TCP's start, rounding, and in real time what a quiet machine may miss"
    why = "what headers leave of the link's rate"
    expected = Expectation(theory, low * theory, high * theory, "Mbit/s", why, allowance=allowance)
    mistakes = [
        Mistake(theory / 8, "that looks like MByte/s", "multiply by 8: give it in Mbit/s", 0.05),
        Mistake(theory * 1e3, "that looks like kbit/s", "divide by 1000", 0.06),
        Mistake(theory * 1e6, "that looks like bit/s", "divide by 1,000,000", 0.06),
        Mistake(theory * 8, "that is eight times too much", "iperf3 reports bits, not bytes", 0.05),
    ]
    how = (
        "take the receiver's rate over ten seconds: the sender also counts what still waits in queues, "
        "and a short transfer is mostly TCP's start"
    )
    check = typed_check(_THROUGHPUT, mbps, clock, expected, mistakes, how)
    return Result("Lab 00, measured throughput", (check,))
