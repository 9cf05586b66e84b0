"""Measurements of one way that nothing else uses: pings, a transfer, or both at once, judged.

What is expected comes from theory for the network as it was read back right before the measurement. In real time
timers fire late: by how much in this very run widens the interval, and where the machine was busy, the fidelity gate
makes a slow number inconclusive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from linklab.analysis import (
    Expectation,
    Load,
    MeasuredPath,
    from_baseline,
    full_queue_rtt,
    loaded_rtt,
    measured_path,
    tcp_throughput,
    unloaded_rtt,
)
from linklab.course import course_network
from linklab.grade.check import Check, listed
from linklab.grade.measured import measured_check, stopped, unless_busy
from linklab.grade.own_network import elsewhere
from linklab.grade.real_time import in_its_time
from linklab.grade.together import Transfer, machine_trouble, name_of, refused, transfers
from linklab.grade.together import pings as pings_of
from linklab.measure import AtOnce, PingResult, SimpleperfResult, TcpResult, verdict_on
from linklab.network import NetworkState

FEWEST_PINGS: Final = 25
"""As many as the course report sent."""
SHORTEST_S: Final = 25
"""As long as the course report's transfers."""
_ROUNDING_MS: Final = 0.05
_AGAIN: Final = "is other traffic on the way, or was the network changed? Run the cells from the start again"


def way_of(ends: tuple[str, str], state: NetworkState | None = None) -> MeasuredPath:
    """The way between two nodes of the student's course network, as planned or as read back."""
    return measured_path(course_network(), *ends, state)


def ping_check(name: str, value: object, ends: tuple[str, str]) -> Check:
    """Pings of an idle way: the right one, 25 of them, all answered, their mean as theory expects."""
    description = f"pings of {name}"
    problem = _other(description, value, PingResult, ends, "the result of measure.run")
    if problem is not None or not isinstance(value, PingResult):
        return problem or Check.failing(description, "not measured yet", "measure it")
    if value.sent_packets < FEWEST_PINGS:
        reason = f"{value.sent_packets} pings were sent"
        return Check.failing(description, reason, f"send {FEWEST_PINGS}, as the report did", f"{FEWEST_PINGS} pings")
    trouble = _trouble(value)
    if value.lost_packets:
        found = f"{value.lost_packets} of {value.sent_packets} not answered"
        lost = Check.failing(description, found, f"an idle path loses none: {_AGAIN}", "all answered", found)
        return unless_busy(lost, trouble)
    it = way_of(ends, value.origin.network)
    expected = in_its_time(unloaded_rtt(it), value.fidelity, it)
    return replace(
        measured_check("", value.rtt_mean_ms, expected, inconclusive=trouble, how=_AGAIN), description=description
    )


def transfer_check(
    name: str,
    value: object,
    ends: tuple[str, str],
    baseline_mbps: Sequence[float] = (),
    function: str = "measure.run",
) -> Check:
    """A transfer that has the way to itself, for 25 s over one connection: the throughput that theory expects.

    With ``baseline_mbps``, of the same way and session, what fits beside it passes too. ``function`` is the one that
    the hint names.
    """
    description = f"transfer over {name}"
    wanted = (SimpleperfResult, TcpResult)
    problem = _other(description, value, wanted, ends, f"the result of {function}")
    if problem is not None or not isinstance(value, wanted):
        return problem or Check.failing(description, "not measured yet", "measure it")
    if value.flow.streams != 1:
        return Check.failing(description, f"{value.flow.streams} connections", "use one: leave streams= away")
    if value.flow.duration_s < SHORTEST_S:
        reason = f"it ran for {value.flow.duration_s:g} s"
        return Check.failing(description, reason, f"let it run {SHORTEST_S} s: a short one is mostly TCP's start")
    it = way_of(ends, value.origin.network)
    theory = tcp_throughput(it, value.flow.duration_s)
    expected = in_its_time(theory, value.fidelity, it)
    beside = from_baseline(theory, baseline_mbps) if baseline_mbps else None
    check = measured_check(
        "", value.throughput_mbps, expected, baseline=beside, inconclusive=_trouble(value), how=_slow_or_fast(value)
    )
    return replace(check, description=description)


def loaded_checks(name: str, run: object, ends: tuple[str, str]) -> tuple[Check, ...]:
    """Return the checks of pings next to a transfer on one path: its throughput, the round trips' mean and highest.

    Pings that nobody asked for are left out, which ``found`` of the first check says.
    """
    problem = refused(name, run, [Load(*ends)], True)
    if problem is not None or not isinstance(run, AtOnce):
        return (problem or Check.failing(name, "not measured yet", "measure it"),)
    pings, (sent,) = pings_of(run)["-".join(ends)], transfers(run)
    more = [name_of(result) for result in run.results if isinstance(result, PingResult) and result is not pings]
    note = f"; not looked at: pings of {listed(more, ', ')}" if more else ""
    it = way_of(ends, pings.origin.network)
    duration_s, interval_s = sent.flow.duration_s, pings.flow.interval_s
    trouble = machine_trouble(run)
    numbers = (
        ("throughput", sent.throughput_mbps, tcp_throughput(it, duration_s)),
        ("mean RTT", pings.rtt_mean_ms, loaded_rtt(it, duration_s, pings.sent_packets)),
        ("highest RTT", pings.rtt_max_ms, full_queue_rtt(it, interval_s=interval_s)),
    )
    first, *others = (
        measured_check(
            f"{what} ({name})",
            value,
            in_its_time(_either_side(theory, value, it), run.fidelity, it, highest=what == "highest RTT"),
            inconclusive=trouble,
            how=_AGAIN,
        )
        for what, value, theory in numbers
    )
    return replace(first, found=first.found + note), *others


def _either_side(expected: Expectation, value: float | None, it: MeasuredPath) -> Expectation:
    """A busy machine that cannot fill the queue makes round trips shorter too, but never than the links' delays."""
    if expected.unit != "ms" or value is None or value < it.rtt_floor_ms - _ROUNDING_MS:
        return expected
    return replace(expected, slow_side="both")


def _other(
    description: str, value: object, kind: type | tuple[type, ...], ends: tuple[str, str], what: str
) -> Check | None:
    """A failed check if ``value`` is not of that kind, or was measured elsewhere."""
    hint = f"give {what} for this one"
    if value is None or value is ...:
        return Check.failing(description, "not measured yet", hint, what, "None")
    if not isinstance(value, kind):
        return Check.failing(description, f"this is a {type(value).__name__}", hint, what, type(value).__name__)
    flow = value.flow  # type: ignore[attr-defined]  # all results have one
    found = (flow.source, flow.destination)
    if found == ends:
        return elsewhere(description, value.origin.network) or stopped(description, value)  # type: ignore[attr-defined,arg-type]
    back = "the direction is the other one: " if found == ends[::-1] else ""
    return Check.failing(
        description,
        f"this was measured from {found[0]} to {found[1]}",
        f"{back}measure from {ends[0]} to {ends[1]}",
        f"{ends[0]} to {ends[1]}",
        f"{found[0]} to {found[1]}",
    )


def _trouble(value: PingResult | Transfer) -> str | None:
    return verdict_on(value).trouble


def _slow_or_fast(value: Transfer) -> str:
    if isinstance(value, SimpleperfResult):
        return (
            "measure once with Linklab's simpleperf (program=None): if that gives another number, your program's clock "
            f"or units are wrong; see Lab 02. If it gives the same: {_AGAIN}"
        )
    return _AGAIN
