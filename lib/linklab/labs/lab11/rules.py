"""What Lab 11, Congestion control, asks of measurements, and how it is judged.

Intervals come from theory for the network as it was read back right before each run (`linklab.analysis.congestion`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Final

from linklab.analysis import Expectation, tcp_throughput
from linklab.analysis.congestion import (
    BBR_MARGIN,
    CUBIC_POWER,
    RENO_POWER,
    bbr_mean_queue_packets,
    bbr_rest_share,
    cubic_gap_s,
    loss_times_s,
    reno_period_s,
    sharing_ratios,
)
from linklab.analysis.tcp_model import INITIAL_WINDOW_PACKETS, Pipe
from linklab.grade.check import Check, listed
from linklab.grade.choices import asked_by_letter
from linklab.grade.measured import between, elsewhere, measured, no_result, state_of_run, stopped
from linklab.grade.questions import Judged, asked
from linklab.grade.result import Result, guarded
from linklab.labs.lab11.functions import check_look, check_period, check_read
from linklab.labs.lab11.predictions import FAR, NEAR, PREDICTIONS, QUEUES, packet_s, path_of, pipe_between, the_network
from linklab.measure import QueueResult, Run, SocketsResult, TcpResult
from linklab.measure.tools.sockets import SocketSample
from linklab.network import NetworkState, goodput_ceiling_mbps
from linklab.units import BITS_PER_BYTE

__all__ = [
    "CONTROLS", "PREDICTIONS", "QUEUES", "check_controls", "check_look", "check_period", "check_predicted",
    "check_queues", "check_read", "check_seen", "check_shapes", "check_shares", "check_together", "predict",
    "the_network",
]  # fmt: skip

predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted

_FOLDER: Final = Path(__file__).parent
CONTROLS: Final = ("reno", "cubic", "bbr")
TOGETHER: Final = (*CONTROLS, "mixed")
CONTROLS_S: Final = 40
QUEUES_S: Final = 30
TOGETHER_S: Final = 60
PLANNED: Final = 100
POWERS: Final = {"reno": RENO_POWER, "cubic": CUBIC_POWER}
_STARTED_S: Final = 3.0
"""By then slow start is over, and BBR's start too."""
_HOW: Final = "give what measure.run_together returned for all flows together"


# --- The right measurement


def refused(
    what: str,
    run: object,
    pairs: Mapping[tuple[str, str], tuple[str, ...]],
    duration_s: float,
    queue: int,
    looked: bool,
) -> Check | None:
    """Return a failed check if ``run`` is not these transfers, at one time and for long enough, or None.

    ``pairs`` has the congestion controls of each pair of nodes, ``queue`` what B's must hold; ``looked`` is whether
    windows and the queue must have been looked at too.
    """
    wanted = "; ".join(f"{source}-{end} with {listed(each, ', ')}" for (source, end), each in pairs.items())
    if not isinstance(run, Run):
        return no_result(what, run, _HOW, wanted)
    problem = _problem(run, pairs, duration_s, looked)
    if problem is not None:
        return Check.failing(what, *problem, wanted, listed((result.flow.title for result in run.results), ", "))
    state = state_of_run(run)
    return elsewhere(what, state, the_network()) or _other_queue(what, state, queue) or stopped(what, run)


def _problem(
    run: Run, pairs: Mapping[tuple[str, str], tuple[str, ...]], duration_s: float, looked: bool
) -> tuple[str, str] | None:
    """Return the first thing that is wrong with the flows, and what to do; None where they are as asked for."""
    sent = run.of(TcpResult)
    found: dict[tuple[str, str], list[str]] = {}
    for result in sent:
        found.setdefault((result.flow.source, result.flow.destination), []).append(result.flow.congestion)
    for pair, controls in pairs.items():
        name, turned = "-".join(pair), pair[::-1]
        if turned in found:
            return f"{'-'.join(turned)} was sent backwards", "source first: data must wait at r1"
        if pair not in found:
            return f"no transfer of {name}", f'TcpFlow("{pair[0]}", "{pair[1]}", ...), in the same list as all others'
        if sorted(found[pair]) != sorted(controls):
            has, should = listed(sorted(found[pair]), ", "), listed(sorted(controls), ", ")
            return f"{name} had {has}", f"it must be {should}: TcpFlow(..., congestion=...) says which"
    strange = [pair for pair in found if pair not in pairs]
    if strange:
        return f"{'-'.join(strange[0])} does not belong here", "it takes a part of B: leave it out"
    if any(result.flow.streams != 1 for result in sent):
        return "a flow has several connections", "leave streams= away"
    if any(result.flow.start_s for result in sent):
        return "a flow began later than the others", "leave start_s= away"
    short = min(result.flow.duration_s for result in sent)
    if short < duration_s:
        return f"it ran for {short:g} s", f"let it run {duration_s:g} s"
    return _not_looked(run, next(iter(pairs)), duration_s) if looked else None


def _not_looked(run: Run, pair: tuple[str, str], duration_s: float) -> tuple[str, str] | None:
    window, queue = window_of(run), queue_of(run)
    if window is None or not window.busiest:
        return "nobody looked at its window", f'put SocketsFlow("{pair[0]}", "{pair[1]}", ...) into the list'
    if queue is None or not queue.samples:
        return "nobody looked at B's queue", f'put QueueFlow("r1", "{pair[1]}", ...) into the list'
    if queue.samples[-1].at_s < _STARTED_S:
        return "nobody looked at B's queue after the start", f"look at it for {duration_s:g} s too"
    return None


def _other_queue(what: str, state: NetworkState | None, packets: int) -> Check | None:
    """Return a failed check if B's queue at r1 held another number of packets, as read back before the run."""
    face = None if state is None else state.interface("r1", "r1-eth2")
    shape = None if face is None else face.shape
    if shape is None or (shape.queue_packets == packets and not shape.delay_ms and shape.rate_mbps):
        return None
    expected = f"a queue of {packets} packets where r1 sends into B"
    if shape.queue_packets == packets:
        reason, hint = "B was changed besides", "leave its rate, and give netem a limit alone"
    else:
        reason = f"r1-eth2 had a queue of {shape.queue_packets} packets, as read back before the run"
        hint = f"tc qdisc change on r1, for r1-eth2, with limit {packets}; then measure again"
    return Check.failing(what, reason, hint, expected, str(shape.queue_packets))


# --- Reno, CUBIC, BBR


def window_of(run: Run) -> SocketsResult | None:
    """Return the looks at the window of a run's first transfer, whatever else was looked at; None without any."""
    sent = run.of(TcpResult)[0].flow
    return between(run.of(SocketsResult), sent.source, sent.destination)


def queue_of(run: Run) -> QueueResult | None:
    """Return the looks at the queue in which it waits at r1; None without any."""
    return between(run.of(QueueResult), "r1", run.of(TcpResult)[0].flow.destination)


def looks_of(run: Run) -> tuple[SocketSample, ...]:
    """Return the looks at the window of a run's first transfer, of the connection that carries its data."""
    found = window_of(run)
    return () if found is None else found.busiest


def gaps_s(run: Run, pipe: Pipe) -> list[float]:
    """Return the times between the losses of a run's first connection, without those of slow start."""
    apart_s = 3 * (pipe.base_ms + pipe.full_queue_ms) / 1000
    times = loss_times_s(((look.at_s, look.retransmitted_segments) for look in looks_of(run)), apart_s)
    return [later - one for one, later in pairwise(times[1:])]


def mean_queue_packets(run: Run) -> float:
    """Return how many packets waited at B on average, after the start."""
    found = queue_of(run)
    return fmean(sample.packets for sample in (found.samples if found else ()) if sample.at_s >= _STARTED_S)


def highest_rtt_ms(run: Run) -> float:
    """Return the highest smoothed round trip of a run's first connection."""
    return max(sample.rtt_ms for sample in looks_of(run))


def _look_s(run: Run) -> float:
    found = window_of(run)
    return found.flow.interval_s if found else 0.0


def _reno_checks(run: Run) -> Iterator[Check]:
    state = state_of_run(run)
    pipe = pipe_between(FAR, state)
    period_s = reno_period_s(pipe.bdp_packets, pipe.full_window_packets, packet_s(pipe))
    longest_s = (pipe.base_ms + pipe.full_queue_ms) / 1000
    why = "one packet a round trip from half of the full window to the whole"
    expected = Expectation(
        period_s,
        period_s - _look_s(run),
        period_s + 3 * longest_s + _look_s(run),
        "s",
        why,
        source="RFC 5681",
        allowance="up to three round trips until a loss is repaired, and the time between two looks",
    )
    yield from _gap_checks("Reno's losses apart", run, pipe, expected, each=False)


def _cubic_checks(run: Run) -> Iterator[Check]:
    state = state_of_run(run)
    pipe, path = pipe_between(FAR, state), path_of(FAR, state)
    longest_s = (pipe.base_ms + pipe.full_queue_ms) / 1000
    least, most = cubic_gap_s(pipe.full_window_packets, longest_s)
    expected = Expectation(
        (least + most) / 2,
        least - _look_s(run),
        most + _look_s(run),
        "s",
        "K if the plateau is where the queue is full, more where fast convergence has lowered it",
        source="RFC 9438, sections 4.2 and 4.7",
        allowance="the time between two looks",
    )
    yield from _gap_checks("CUBIC's losses apart", run, pipe, expected, each=True)
    transfer = run.of(TcpResult)[0]
    theory = tcp_throughput(path, transfer.flow.duration_s)
    yield measured("CUBIC's throughput", transfer.throughput_mbps, theory)


def _gap_checks(what: str, run: Run, pipe: Pipe, expected: Expectation, *, each: bool) -> Iterator[Check]:
    gaps = gaps_s(run, pipe)
    if len(gaps) < 1:
        hint = f"let it run {CONTROLS_S} s, and look at it every 0.1 s as long"
        yield Check.failing(what, "fewer than three losses were seen", hint, "three or more")
        return
    values = [min(gaps), max(gaps)] if each else [fmean(gaps)]
    for value in values:
        yield measured(what, value, expected)


def _bbr_checks(run: Run) -> Iterator[Check]:
    state = state_of_run(run)
    pipe, path, transfer = pipe_between(FAR, state), path_of(FAR, state), run.of(TcpResult)[0]
    least, most = bbr_mean_queue_packets(pipe.bdp_packets)
    expected = Expectation(
        (least + most) / 2,
        least,
        most,
        "packets",
        "an eighth of the time BBR sends a quarter more than B carries",
        source="Cardwell et al., 2016",
    )
    yield measured("packets that wait behind BBR, mean", mean_queue_packets(run), expected)
    ceiling, rtt_s = goodput_ceiling_mbps(path.forward), pipe.base_ms / 1000
    # a round trip to connect, and then the window doubles from ten packets until it fills the path
    starting_s = rtt_s * (1 + math.log2(max(2.0, pipe.bdp_packets / INITIAL_WINDOW_PACKETS)))
    idle = starting_s / transfer.flow.duration_s + bbr_rest_share(rtt_s) + BBR_MARGIN
    rate = Expectation(
        ceiling * (1 - idle / 2),
        ceiling * (1 - idle),
        ceiling,
        "Mbit/s",
        "what headers leave, less its start, its rests of 200 ms, and 1 % that it paces below its estimate",
        source="Cardwell et al., 2016",
    )
    yield measured("BBR's throughput", transfer.throughput_mbps, rate)


_OF_CONTROL: Final[Mapping[str, Callable[[Run], Iterator[Check]]]] = {
    "reno": _reno_checks,
    "cubic": _cubic_checks,
    "bbr": _bbr_checks,
}


@guarded
def check_controls(runs: object, predicted: object = "between") -> Result:
    """Judge a transfer from h2 to h4 with each of `CONTROLS`, with looks at its window and at B's queue.

    ``predicted`` are the times between losses that the student predicted.
    """

    def judge(control: str, run: object) -> Iterator[Check]:
        problem = refused(control, run, {FAR: (control,)}, CONTROLS_S, PLANNED, looked=True)
        if problem is not None:
            yield problem
        elif isinstance(run, Run):
            yield from _OF_CONTROL[control](run)

    questions = [Judged(control, judge) for control in CONTROLS]
    result = asked("Lab 11, three controls", runs, questions, '{"reno": measure.run_together(...), ...}')
    if not (result.passed and isinstance(runs, Mapping)):
        return result
    found = {control: fmean(gaps_s(runs[control], pipe_between(FAR))) for control in ("reno", "cubic")}
    return PREDICTIONS.compared(result, predicted, found)


# --- Three queues


@guarded
def check_queues(runs: object, predicted: object = "queues") -> Result:
    """Judge CUBIC from h1 to h3 with each of `QUEUES` at B, with looks at its window and at the queue.

    ``predicted`` are the highest round trips that the student predicted.
    """

    def judge(packets: int, run: object) -> Iterator[Check]:
        where = f"queue of {packets}"
        problem = refused(where, run, {NEAR: ("cubic",)}, QUEUES_S, packets, looked=True)
        if problem is not None:
            yield problem
        elif isinstance(run, Run):
            yield from _queue_checks(where, run)

    questions = [Judged(packets, judge) for packets in QUEUES]
    result = asked("Lab 11, three queues", runs, questions, "{20: measure.run_together(...), ...}")
    if not (result.passed and isinstance(runs, Mapping)):
        return result
    return PREDICTIONS.compared(result, predicted, {str(it): highest_rtt_ms(runs[it]) for it in QUEUES})


def _queue_checks(where: str, run: Run) -> Iterator[Check]:
    state = state_of_run(run)
    pipe, path, transfer = pipe_between(NEAR, state), path_of(NEAR, state), run.of(TcpResult)[0]
    theory = tcp_throughput(path, transfer.flow.duration_s)
    yield measured(f"throughput, {where}", transfer.throughput_mbps, theory)
    full_ms = pipe.base_ms + pipe.full_queue_ms
    # a look that just misses the loss finds the window of one look before: CUBIC's cube is flat there
    low = pipe.base_ms + _SEEN_OF_FULL * pipe.full_queue_ms
    expected = Expectation(
        full_ms,
        low,
        full_ms + 3 * pipe.packet_ms,
        "ms",
        "delays, and B's full queue",
        source="the queue's limit",
        allowance="three packets, and what looks every 0.2 s may miss",
    )
    yield measured(f"highest RTT, {where}", highest_rtt_ms(run), expected)


_SEEN_OF_FULL: Final = 0.8
"""TCP's round trip is smoothed (RFC 6298), and looked at now and then: a fifth of a queue of 20 may be missed."""


# --- Several at one time

_REPAIR_S: Final = 0.5
_READ_ON_S: Final = 1.0
"""iperf3's server reads on until both ends agree that the test is over, and counts what the senders' buffers, some
hundred packets each, still let through then; its time has ended before. Up to 0.6 s of B's were seen."""


@guarded
def check_together(runs: object) -> Result:
    """Judge two flows of one control, h1-h3 and h2-h4, for each of `CONTROLS`; and all three from h1 to h3 (mixed)."""

    def judge(name: str, run: object) -> Iterator[Check]:
        pairs = {NEAR: CONTROLS} if name == "mixed" else {NEAR: (name,), FAR: (name,)}
        problem = refused(name, run, pairs, TOGETHER_S, PLANNED, looked=False)
        if problem is not None:
            yield problem
        elif isinstance(run, Run):
            yield from _together_checks(name, run)

    questions = [Judged(name, judge) for name in TOGETHER]
    return asked("Lab 11, several flows", runs, questions, '{"reno": measure.run_together(...), ..., "mixed": ...}')


def _together_checks(name: str, run: Run) -> Iterator[Check]:
    state = state_of_run(run)
    near, far = pipe_between(NEAR, state), pipe_between(FAR, state)
    sent = run.of(TcpResult)
    lasted_s = max(result.duration_s for result in sent)
    carried_mbps = sum(result.received_bytes for result in sent) * BITS_PER_BYTE / 1e6 / lasted_s
    ceiling = goodput_ceiling_mbps(path_of(NEAR, state).forward)
    # B may be idle until the first packets are there, while BBR's flows rest together, and after the first has ended
    idle_s = far.base_ms / 1000 + lasted_s - min(result.duration_s for result in sent) + _REPAIR_S
    least = ceiling * (1 - idle_s / lasted_s - bbr_rest_share(far.base_ms / 1000))
    total = Expectation(
        ceiling,
        least,
        ceiling * (1 + _READ_ON_S / lasted_s),
        "Mbit/s",
        "B is never without packets for long, and headers take their part",
        source="headers, and BBR's rests",
        allowance="half a second in which B is empty after slow start's losses, a second that iperf3's server reads on",
    )
    yield measured(f"all together, {name}", carried_mbps, total)
    if name == "mixed":
        return
    rates = {(it.flow.source, it.flow.destination): it.throughput_mbps for it in sent}
    ratio = rates[NEAR] / rates[FAR]
    if name == "bbr":
        why = "two bandwidth-delay products of its own may be in flight: the longer round trip has more of them"
        expected = Expectation(near.base_ms / far.base_ms, 0.0, 1.0, "", why, source="Cardwell et al., 2016")
    else:
        low, high = sharing_ratios(near, far, POWERS[name], lasted_s)
        why = f"from (1/RTT)^{POWERS[name]:g} with a full queue to its square with an empty one, and slow start's luck"
        expected = Expectation(
            (low * high) ** 0.5,
            low,
            high,
            "",
            why,
            source="Mathis et al., 1997; RFC 9438, section 5.1; Lakshman and Madhow, 1997",
        )
    yield measured(f"h1-h3 over h2-h4, {name}", ratio, expected)


# --- Questions with options


@guarded
def check_seen(answers: object) -> Result:
    """Judge what the first figure shows: what the queue has of the window, and how slow start ends."""
    return asked_by_letter("Lab 11, what you saw", answers, _FOLDER, "tracks", "overshoot")


@guarded
def check_shapes(answers: object) -> Result:
    """Judge what the three controls' figure shows: HyStart, CUBIC's two gaps, BBR's rests."""
    return asked_by_letter("Lab 11, three shapes", answers, _FOLDER, "hystart", "gaps", "rests")


@guarded
def check_shares(answers: object) -> Result:
    """Judge whom the long round trip favours, and what decides BBR's share next to others."""
    return asked_by_letter("Lab 11, shares", answers, _FOLDER, "long", "depth")
