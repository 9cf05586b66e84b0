"""What iperf3 measured with UDP, judged: the right flow, the loss that theory expects, a rate that fits."""

from __future__ import annotations

from dataclasses import replace

from linklab.analysis.expectation import Expectation, udp_loss_percent
from linklab.analysis.measured_paths import MeasuredPath
from linklab.grade.check import Check
from linklab.grade.measured import stopped, unless_busy
from linklab.grade.own_network import elsewhere
from linklab.grade.real_time import STRAY_PERCENT
from linklab.measure import UdpResult, verdict_on

_ENOUGH = 0.97


def problem_of(description: str, value: object, pair: tuple[str, str]) -> tuple[Check | None, UdpResult | None]:
    """A failed check if ``value`` is no UDP measurement between the two hosts, or else the measurement."""
    hint = "give the result that sent_at returned for this path"
    if value is None or value is ...:
        missing = "fill in this path, and run the cells that measure again"
        return Check.failing(description, "not measured yet", missing, "a result", "None"), None
    if not isinstance(value, UdpResult):
        return Check.failing(description, f"this is a {type(value).__name__}", hint, "a result"), None
    ends = (value.flow.source, value.flow.destination)
    if ends != pair:
        reason = f"this was sent from {ends[0]} to {ends[1]}"
        return Check.failing(description, reason, f"send from {pair[0]} to {pair[1]}", " to ".join(pair)), None
    return elsewhere(description, value.origin.network) or stopped(description, value), value


def loss_check(description: str, result: UdpResult, expected: Expectation) -> Check:
    """The loss is as expected. In real time, more of it on a busy machine is inconclusive."""
    found = f"{result.loss_percent:.2f} % lost"
    wanted = f"{expected.low:.3g} to {expected.high:.3g} % lost (theory: {expected.value:.3g} %)"
    if expected.holds(result.loss_percent):
        return Check.passing(description, wanted, found)
    side = "more" if result.loss_percent > expected.high else "less"
    hint = "is other traffic on the way, or was the network changed? Start it again and measure alone"
    failed = Check.failing(description, f"{found}, which is {side} than theory allows", hint, wanted, found)
    return unless_busy(failed, verdict_on(result).trouble)


def as_sent(expected: Expectation, now: MeasuredPath, result: UdpResult) -> Expectation:
    """In real time a sender may wake too late to send all that it was asked for, and then less of it is too much."""
    came_mbps = result.sent_mbps
    if result.origin.clock == "virtual" or not 0 < came_mbps < result.flow.rate_mbps:
        return expected
    low = min(expected.low, udp_loss_percent(now, came_mbps, result.duration_s).low)
    why = f"{expected.why}; in real time {came_mbps:.4g} of {result.flow.rate_mbps:g} Mbit/s were sent"
    return replace(expected, low=low, why=why)


def chosen_check(description: str, result: UdpResult, ceiling_mbps: float) -> Check:
    """Nothing was lost at the rate of ``result``, which is at least 97 % of what fits.

    In real time less than `STRAY_PERCENT` is nothing: a rate below the path's fills no queue, a late timer may.
    """
    rate_mbps = result.flow.rate_mbps
    wanted = f"nothing lost, and at least {100 * _ENOUGH:g} % of the bandwidth"
    found = f"{rate_mbps:g} Mbit/s, {result.lost_packets} of {result.sent_packets} packets lost"
    if rate_mbps > ceiling_mbps:
        reason = f"{rate_mbps:g} Mbit/s is more than the path carries"
        hint = "a short test hides it in the queue: choose a rate below the bandwidth that you predicted"
        return Check.failing(description, reason, hint, wanted, found)
    stray_percent = 0.0 if result.origin.clock == "virtual" else STRAY_PERCENT
    if result.loss_percent > stray_percent:
        failed = Check.failing(description, found, "choose a lower rate", wanted, found)
        return unless_busy(failed, verdict_on(result).trouble)
    if rate_mbps < _ENOUGH * ceiling_mbps:
        share = 100 * rate_mbps / ceiling_mbps
        reason = f"{rate_mbps:g} Mbit/s uses {share:.0f} % of what the path carries"
        return Check.failing(description, reason, "go higher, as long as nothing is lost", wanted, found)
    return Check.passing(description, wanted, found)
