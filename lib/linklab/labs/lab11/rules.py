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

from linklab.analysis import Expectation, MeasuredPath, measured_path, tcp_throughput
from linklab.analysis.congestion import (
    BBR_MARGIN,
    CUBIC_POWER,
    RENO_BETA,
    RENO_POWER,
    bbr_mean_queue_packets,
    bbr_rest_share,
    cubic_gap_s,
    cubic_k_s,
    loss_times_s,
    reno_period_s,
    sharing_ratios,
)
from linklab.analysis.tcp_model import BETA, CUBIC_C, INITIAL_WINDOW_PACKETS, Pipe, pipe_of
from linklab.course import course_network
from linklab.grade.check import Check, Refuse, gathered, listed
from linklab.grade.choices import letters
from linklab.grade.measured import (
    first_between,
    measured,
    refuse_another_network,
    refuse_stopped,
    require_type,
    state_of_run,
)
from linklab.grade.path_questions import FRAME_BYTES
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, asked_each, stated
from linklab.grade.result import Result, guarded
from linklab.labs.lab11.functions import check_period, check_read, look_checks, read_looks, settled_looks
from linklab.measure import QueueResult, Run, SocketsResult, TcpResult
from linklab.measure.tools.sockets import SocketSample
from linklab.network import End, Host, Link, Network, NetworkState, Router, Subnet, goodput_ceiling_mbps
from linklab.network.variants import derived_name, first_octets
from linklab.units import BITS_PER_BYTE

__all__ = [
    "CONTROLS", "PREDICTIONS", "QUEUES", "check_controls", "check_look", "check_period", "check_predicted",
    "check_queues", "check_read", "check_seen", "check_shapes", "check_shares", "check_together", "predict",
    "the_network",
]  # fmt: skip


# --- The network

NEAR: Final = ("h1", "h3")
FAR: Final = ("h2", "h4")
QUEUES: Final = (20, 100, 1000)
"""The queues of B that are compared, in packets."""
PLANNED: Final = 100
"""Packets that B's queue holds, as it is built."""
_FARTHER: Final = 4
"""The round trip of h2 over that of h1."""
_SUBNETS: Final[Mapping[str, int]] = {"A": 1, "C": 2, "D": 3, "E": 4, "F": 5}
"""The third number of each subnet. None is called B, because the bottleneck is."""


def dumbbell(course: Network) -> Network:
    """Return the dumbbell derived from a course network: two senders, two receivers, and the bottleneck B between them.

    Papers compare congestion control on it (RFC 5166 asks for a range of round trips). h1 is near B and h2 far from it.
    All delay lies before B, on the links of h1 and h2, so B's queue, at r1-eth2, counts waiting packets alone.

    B has the rate of the course network's L3, and h1's link has its delay: from the plain course network, 20 Mbit/s and
    round trips of 20 and 80 ms. Addresses begin with the same two numbers. The name tells the variant.
    """
    link, start = course.link("L3"), first_octets(course)

    def end(node: str, port: int, subnet: str, last: int) -> End:
        return End(node, f"{node}-eth{port}", f"{start}.{_SUBNETS[subnet]}.{last}/24")

    return Network(
        name=derived_name(course, "dumbbell"),
        nodes=(*map(Host, ("h1", "h2", "h3", "h4")), Router("r1"), Router("r2")),
        links=(
            Link(end("h1", 0, "A", 2), end("r1", 0, "A", 1), delay_ms=link.delay_ms),
            Link(end("h2", 0, "C", 2), end("r1", 1, "C", 1), delay_ms=_FARTHER * link.delay_ms),
            Link(
                end("r1", 2, "D", 1),
                end("r2", 0, "D", 2),
                name="B",
                rate_mbps=link.rate_mbps,
                queue_packets=PLANNED,
            ),
            Link(end("r2", 1, "E", 1), end("h3", 0, "E", 2)),
            Link(end("r2", 2, "F", 1), end("h4", 0, "F", 2)),
        ),
        subnets=tuple(Subnet(name, f"{start}.{third}.0/24") for name, third in _SUBNETS.items()),
    )


def the_network() -> Network:
    """Return the dumbbell of whoever runs this."""
    return dumbbell(course_network())


def path_of(ends: tuple[str, str], state: NetworkState | None = None) -> MeasuredPath:
    """Return the path between two nodes of it, as planned or as read back."""
    return measured_path(the_network(), *ends, state)


def pipe_between(ends: tuple[str, str], state: NetworkState | None = None) -> Pipe:
    """Return that path as B sees it."""
    return pipe_of(path_of(ends, state))


def packet_s(pipe: Pipe) -> float:
    """Return how long one full frame occupies B, in seconds."""
    return pipe.packet_ms / 1000


# --- The window at a loss


def _loss() -> list[Value]:
    pipe = pipe_between(NEAR)
    bdp, queue, full = pipe.bdp_packets, pipe.limit_packets, pipe.full_window_packets
    rate, frame = the_network().link("B").rate_mbps or 0.0, FRAME_BYTES
    both = "packets are under way on the path and wait in the queue: both belong to the window"
    window = Value(
        "window",
        "window at a loss",
        Expectation(
            full,
            full - 1,
            full + 2,
            "packets",
            "path and queue are full, and one packet more is lost",
            source="bandwidth-delay product and the queue's limit",
            allowance="the packet too many, and rounding",
        ),
        (
            "a packet is lost when path and queue are full: how many are there then?",
            both,
            f"{rate:g} * 1000 * {pipe.base_ms:g} / ({frame} * 8) + {queue:g}",
        ),
        (
            Slip(bdp, "that is the path alone", both),
            Slip(queue, "that is the queue alone", both),
            Slip(bdp / 2 + queue, "that counts one direction of the path", "the acknowledgements must come back too"),
            Slip(2 * full, "that is as far as slow start may shoot over", "congestion avoidance adds one a round trip"),
            Slip(2 * bdp, "that is a queue as long as the path", f"this queue holds {queue:g}"),
        ),
    )
    waits = "a packet that finds the queue nearly full waits for all that are before it"
    rtt = Value(
        "rtt",
        "round trip at a loss",
        stated(pipe.base_ms + pipe.full_queue_ms, "ms", "delays, and a full queue"),
        (
            waits,
            "add the time of the packets in the queue to the delays",
            f"{pipe.base_ms:g} + {queue:g} * 1514 * 8 / {1000 * rate:g}",
        ),
        (
            Slip(pipe.base_ms, "that is the round trip of an idle path", waits),
            Slip(pipe.full_queue_ms, "that is the time in the queue alone", "the links' delays come to it"),
            Slip(pipe.base_ms / 2 + pipe.full_queue_ms, "that has the delay of one direction", "a round trip has two"),
            Slip(
                pipe.base_ms + 2 * pipe.full_queue_ms,
                "that waits twice",
                "acknowledgements come back through an empty queue",
            ),
        ),
    )
    halves = "Reno halves its window at a loss (RFC 5681)"
    after = Value(
        "after",
        "Reno's window after a loss",
        Expectation(
            RENO_BETA * full,
            RENO_BETA * full - 1,
            RENO_BETA * full + 1,
            "packets",
            halves,
            source=halves,
            allowance="rounding",
        ),
        ("what does Reno do to its window at a loss?", "half of the window at the loss", f"{full:.0f} / 2"),
        (
            Slip(BETA * full, "that is CUBIC's 0.7", halves),
            Slip((1 - BETA) * full, "that is what CUBIC gives up", halves),
            Slip(1, "that is after a timeout", "later packets arrive, and duplicate acknowledgements tell of the loss"),
            Slip(full, "that is the window at the loss", halves),
            Slip(queue / 2, "that is half of the queue", halves),
        ),
    )
    return [window, rtt, after]


# --- Times between losses


def _between() -> list[Value]:
    pipe = pipe_between(FAR)
    bdp, full, one = pipe.bdp_packets, pipe.full_window_packets, packet_s(pipe)
    longest_s, base_s = (pipe.base_ms + pipe.full_queue_ms) / 1000, pipe.base_ms / 1000
    reno_s = reno_period_s(bdp, full, one)
    step = "one packet a round trip, from half of the window to the whole: your function adds the round trips up"
    reno = Value(
        "reno",
        "time between Reno's losses",
        Expectation(
            reno_s,
            0.98 * reno_s,
            reno_s + 3 * longest_s,
            "s",
            "the sum of its round trips",
            source="RFC 5681",
            allowance="up to three round trips until a loss is repaired",
        ),
        ("how many round trips does Reno take to the next loss?", step, "period(bdp, full, packet_s)"),
        (
            Slip(full / 2 * base_s, "that takes round trips of an empty queue", "as the queue fills they get longer"),
            Slip(full / 2 * longest_s, "that takes round trips of a full queue", "at first the queue is shorter"),
            Slip(full * base_s, "that climbs from nothing", "the window falls to a half"),
            Slip(1000 * reno_s, "that is in ms", "give it in s"),
        ),
    )
    k = cubic_k_s(full, BETA * full)
    root = "K is a cube root: of (the last largest window, less what is left of it), over C"
    cubic = Value(
        "cubic",
        "CUBIC's K",
        stated(k, "s", "RFC 9438, equation 2"),
        (
            "how far is it back to the last largest window?",
            root,
            f"(({full:.0f} - {BETA * full:.0f}) / {CUBIC_C:g}) ** (1/3)",
        ),
        (
            Slip(math.cbrt(full / 2 / CUBIC_C), "that halves the window", "CUBIC keeps 0.7 of it"),
            Slip(math.cbrt(BETA * full / CUBIC_C), "that is with what is left of the window", root),
            Slip(math.cbrt(full / CUBIC_C), "that climbs from nothing", root),
            Slip((1 - BETA) * full / CUBIC_C, "that leaves the root out", root),
            Slip(math.sqrt((1 - BETA) * full / CUBIC_C), "that is a square root", root),
            Slip((1 - BETA) * full * longest_s, "that adds one packet a round trip", "CUBIC counts seconds"),
        ),
    )
    return [reno, cubic]


# --- Queues


def _queues() -> list[Value]:
    pipe = pipe_between(NEAR)
    return [_full_rtt(packets, pipe) for packets in QUEUES]


def _full_rtt(packets: int, pipe: Pipe) -> Value:
    wait_ms = packets * pipe.packet_ms
    hints = (
        "CUBIC fills any queue: the last packet waits for all that are before it",
        f"the delays, and {packets} frames one after the other",
        f"{pipe.base_ms:g} + {packets} * {pipe.packet_ms:.4g}",
    )
    slips = (
        Slip(pipe.base_ms, "that is the round trip of an idle path", hints[0]),
        Slip(wait_ms, "that is the time in the queue alone", "the links' delays come to it"),
        Slip(pipe.base_ms / 2 + wait_ms, "that has the delay of one direction", "a round trip has two"),
        Slip(
            pipe.base_ms + max(0.0, packets - pipe.bdp_packets) * pipe.packet_ms,
            "that takes packets in flight for packets in the queue",
            "B has no delay: its queue holds waiting packets alone",
        ),
        Slip(pipe.base_ms + 2 * wait_ms, "that waits twice", "acknowledgements come back through an empty queue"),
    )
    expected = stated(pipe.base_ms + wait_ms, "ms", "delays, and a full queue")
    return Value(packets, f"highest round trip, queue of {packets}", expected, hints, slips)


PREDICTIONS: Final = Predictions("Lab 11", {"loss": _loss, "between": _between, "queues": _queues})
predict, check_predicted = PREDICTIONS.predict, PREDICTIONS.check_predicted


# --- Measurements

_FOLDER: Final = Path(__file__).parent
CONTROLS: Final = ("reno", "cubic", "bbr")
TOGETHER: Final = (*CONTROLS, "mixed")
CONTROLS_S: Final = 40
QUEUES_S: Final = 30
TOGETHER_S: Final = 60
POWERS: Final = {"reno": RENO_POWER, "cubic": CUBIC_POWER}
_STARTED_S: Final = 3.0
"""By then slow start is over, and BBR's start too."""
_HOW: Final = "give what measure.run_together returned for all flows together"


# --- A sampler of the student's own


_SAMPLER: Final = "Lab 11, a sampler"


@guarded(_SAMPLER)
def check_look(samples: object, predicted: object = "loss") -> Result:
    """Judge looks at a transfer by Reno from h1 to h3: (seconds, window, threshold, RTT, retransmissions, queue).

    ``predicted`` are the windows and the round trip that the student predicted.
    """
    looks = read_looks(samples)
    result = Result(_SAMPLER, gathered(lambda: look_checks(looks, pipe_between(NEAR))))
    if not result.passed:
        return result
    settled = settled_looks(looks)
    found = {
        "window": max(look.cwnd for look in settled),
        "rtt": max(look.rtt_ms for look in settled),
        "after": min(look.cwnd for look in settled),
    }
    return PREDICTIONS.compared(result, predicted, found)


# --- The right measurement


def run_of(
    what: str,
    given: object,
    pairs: Mapping[tuple[str, str], tuple[str, ...]],
    duration_s: float,
    queue: int,
    looked: bool,
) -> Run:
    """Return a run of these transfers, at one time and for long enough. Refuses everything else.

    ``pairs`` has the congestion controls of each pair of nodes, ``queue`` what B's must hold; ``looked`` is whether
    windows and the queue must have been looked at too.
    """
    wanted = "; ".join(f"{source}-{end} with {listed(each, ', ')}" for (source, end), each in pairs.items())
    run = require_type(what, given, Run, _HOW, wanted)
    problem = _problem(run, pairs, duration_s, looked)
    if problem is not None:
        found = listed((result.flow.title for result in run.results), ", ")
        raise Refuse(Check.failing(what, *problem, wanted, found))
    refuse_another_network(what, state_of_run(run), the_network())
    _refuse_another_queue(what, state_of_run(run), queue)
    refuse_stopped(what, run)
    return run


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


def _refuse_another_queue(what: str, state: NetworkState | None, packets: int) -> None:
    """Refuse a run before which B's queue at r1 held another number of packets, as read back."""
    face = None if state is None else state.interface("r1", "r1-eth2")
    shape = None if face is None else face.shape
    if shape is None or (shape.queue_packets == packets and not shape.delay_ms and shape.rate_mbps):
        return
    expected = f"a queue of {packets} packets where r1 sends into B"
    if shape.queue_packets == packets:
        reason, hint = "B was changed besides", "leave its rate, and give netem a limit alone"
    else:
        reason = f"r1-eth2 had a queue of {shape.queue_packets} packets, as read back before the run"
        hint = f"tc qdisc change on r1, for r1-eth2, with limit {packets}; then measure again"
    raise Refuse(Check.failing(what, reason, hint, expected, str(shape.queue_packets)))


# --- Reno, CUBIC, BBR


def window_of(run: Run) -> SocketsResult | None:
    """Return the looks at the window of a run's first transfer, whatever else was looked at; None without any."""
    sent = run.of(TcpResult)[0].flow
    return first_between(run.of(SocketsResult), sent.source, sent.destination)


def queue_of(run: Run) -> QueueResult | None:
    """Return the looks at the queue in which it waits at r1; None without any."""
    return first_between(run.of(QueueResult), "r1", run.of(TcpResult)[0].flow.destination)


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

    def judge(control: str, given: object) -> Iterator[Check]:
        return _OF_CONTROL[control](run_of(control, given, {FAR: (control,)}, CONTROLS_S, PLANNED, looked=True))

    result = asked_each("Lab 11, three controls", runs, CONTROLS, judge, '{"reno": measure.run_together(...), ...}')
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

    def judge(packets: int, given: object) -> Iterator[Check]:
        where = f"queue of {packets}"
        return _queue_checks(where, run_of(where, given, {NEAR: ("cubic",)}, QUEUES_S, packets, looked=True))

    result = asked_each("Lab 11, three queues", runs, QUEUES, judge, "{20: measure.run_together(...), ...}")
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

    def judge(name: str, given: object) -> Iterator[Check]:
        pairs = {NEAR: CONTROLS} if name == "mixed" else {NEAR: (name,), FAR: (name,)}
        return _together_checks(name, run_of(name, given, pairs, TOGETHER_S, PLANNED, looked=False))

    example = '{"reno": measure.run_together(...), ..., "mixed": ...}'
    return asked_each("Lab 11, several flows", runs, TOGETHER, judge, example)


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

check_seen = letters("Lab 11, what you saw", _FOLDER, "tracks", "overshoot")
"""Judge what the first figure shows: what the queue has of the window, and how slow start ends."""
check_shapes = letters("Lab 11, three shapes", _FOLDER, "hystart", "gaps", "rests")
"""Judge what the three controls' figure shows: HyStart, CUBIC's two gaps, BBR's rests."""
check_shares = letters("Lab 11, shares", _FOLDER, "long", "depth")
"""Judge whom the long round trip favours, and what decides BBR's share next to others."""
