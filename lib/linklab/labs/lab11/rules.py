"""What Lab 11, Congestion control, asks of measurements, and how it is judged.

Intervals come from theory for the network as it was read back right before each run (`linklab.analysis.congestion`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, Final

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
from linklab.grade.check import Check, collect_checks
from linklab.grade.choices import letters
from linklab.grade.measured import first_between, measured, state_of_run
from linklab.grade.path_questions import FRAME_BYTES
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, asked, asked_each, stated
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import Field, Wanted, exactly, refuse_another_network, require_run, require_shape
from linklab.labs.bottlenecks import (
    NO_OTHER_TRANSFER,
    Cable,
    Pair,
    derived,
    full_queue_rtt,
    planned,
    require_same_bottleneck,
    samples_of_queue,
    transfer,
)
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab11.functions import look_checks, read_looks, settled_looks
from linklab.measure import QueueFlow, Run, SocketsFlow, SocketsResult, TcpResult
from linklab.measure.tools.sockets import SocketSample
from linklab.network import End, Network, NetworkState, goodput_ceiling_mbps
from linklab.units import BITS_PER_BYTE, transmission_ms

__all__ = ["CONTROLS", "DEPTHS", "QUEUES", "the_network"]


# --- The network

NEAR: Final = ("h1", "h3")
FAR: Final = ("h2", "h4")
QUEUES: Final = (20, 100, 1000)
"""The queues of B that are compared, in packets."""
DEPTHS: Final = (7, 17, 33, 330, 1000)
"""The queues of B that three controls share besides the planned one, in packets: on the plain network 0.2 to 30 BDP."""
PLANNED: Final = 100
"""Packets that B's queue holds when the network is built."""
_FARTHER: Final = 4
"""The round trip of h2 over that of h1."""


def dumbbell(course: Network) -> Network:
    """Return the dumbbell derived from a course network: two senders, two receivers, and the bottleneck B between them.

    Papers compare congestion control on it (RFC 5166 asks for a range of round trips). h1 is near B and h2 far from it.
    All delay lies before B, on the links of h1 and h2, so B's queue, at r1-eth2, counts waiting packets alone.

    B has the rate of the course network's L3, and h1's link has its delay: from the plain course network, 20 Mbit/s and
    round trips of 20 and 80 ms. No subnet is called B, since the bottleneck is.
    """
    link = course.link("L3")
    shape = {"name": "B", "rate_mbps": link.rate_mbps, "queue_packets": PLANNED}
    cables: dict[str, Cable] = {
        "A": (("h1-eth0", 2), ("r1-eth0", 1), {"delay_ms": link.delay_ms}),
        "C": (("h2-eth0", 2), ("r1-eth1", 1), {"delay_ms": _FARTHER * link.delay_ms}),
        "D": (("r1-eth2", 1), ("r2-eth0", 2), shape),
        "E": (("r2-eth1", 1), ("h3-eth0", 2), {}),
        "F": (("r2-eth2", 1), ("h4-eth0", 2), {}),
    }
    return derived(course, "dumbbell", cables)


def the_network() -> Network:
    """Return the student's own dumbbell."""
    return dumbbell(course_network())


def path_of(ends: Pair, state: NetworkState | None = None) -> MeasuredPath:
    """Return the path between two nodes of the dumbbell, as planned or as read back."""
    return measured_path(the_network(), *ends, state)


def pipe_between(ends: Pair, state: NetworkState | None = None) -> Pipe:
    """Return what the path between two nodes holds, and what B's queue adds."""
    return pipe_of(path_of(ends, state))


def packet_s(pipe: Pipe) -> float:
    """Return how long one full frame occupies B, in seconds."""
    return pipe.packet_ms / 1000


# --- The window at a loss


def _loss() -> list[Value]:
    pipe = pipe_between(NEAR)
    bdp, queue, full = pipe.bdp_packets, pipe.limit_packets, pipe.full_window_packets
    both = "the window counts packets on the path and packets in the queue"
    at_loss = Expectation(
        full, full - 1, full + 2, "packets", "path and queue are full, and the next packet is lost",
        source="bandwidth-delay product and the queue's limit", allowance="the packet that is lost, and rounding",
    )  # fmt: skip
    slips = (
        Slip(bdp, "that is the path alone", both),
        Slip(queue, "that is the queue alone", both),
        Slip(bdp / 2 + queue, "that counts one direction of the path", "an acknowledgement must also travel back"),
        Slip(2 * full, "that is how far slow start may overshoot",
             "after it, the window grows by one packet a round trip"),
        Slip(2 * bdp, "that is for a queue of one BDP", f"this queue holds {queue:g} packets"),
    )  # fmt: skip
    hint = "a packet is lost when path and queue are full: how many packets do the two hold?"
    window = Value("window", "window at a loss", at_loss, hint, slips)
    rtt = full_queue_rtt("rtt", "round trip at a loss", pipe.base_ms, round(queue), pipe.packet_ms)
    halves, half = "Reno halves its window at a loss (RFC 5681)", RENO_BETA * full
    expected = Expectation(half, half - 1, half + 1, "packets", halves, source=halves, allowance="rounding")
    slips = (
        Slip(BETA * full, "that is CUBIC's 0.7", halves),
        Slip((1 - BETA) * full, "that is the part that CUBIC gives up", halves),
        Slip(1, "that is the window after a timeout",
             "here duplicate acknowledgements report the loss, without a timeout"),
        Slip(full, "that is the window at the loss", halves),
        Slip(queue / 2, "that is half of the queue", halves),
    )  # fmt: skip
    hint = "what does Reno do to its window at a loss?"
    return [window, rtt, Value("after", "Reno's window after a loss", expected, hint, slips)]


# --- Times between losses


def _between() -> list[Value]:
    pipe = pipe_between(FAR)
    full, base_s, longest_s = pipe.full_window_packets, pipe.base_ms / 1000, _longest_s(pipe)
    reno_s = reno_period_s(pipe.bdp_packets, full, packet_s(pipe))
    expected = Expectation(
        reno_s, 0.98 * reno_s, reno_s + 3 * longest_s, "s", "the sum of its round trips",
        source="RFC 5681", allowance="up to three round trips until a loss is repaired",
    )  # fmt: skip
    of_reno = (
        Slip(full / 2 * base_s, "that takes each round trip as long as with an empty queue",
             "round trips grow as the queue fills"),
        Slip(full / 2 * longest_s, "that takes each round trip as long as with a full queue",
             "at first the queue is shorter"),
        Slip(full * base_s, "that starts from a window of 0", "after a loss the window starts from its half"),
        Slip(1000 * reno_s, "that is in ms", "give it in s"),
    )  # fmt: skip
    hint = "how many round trips does Reno need until the next loss, and how long is each of them?"
    reno = Value("reno", "time between Reno's losses", expected, hint, of_reno)
    root = "K is the cube root of (W - 0.7 W) / 0.4"
    k = stated(cubic_k_s(full, BETA * full), "s", "RFC 9438, equation 2")
    of_cubic = (
        Slip(math.cbrt(full / 2 / CUBIC_C), "that halves the window", "CUBIC keeps 0.7 W"),
        Slip(math.cbrt(BETA * full / CUBIC_C), "that puts 0.7 W under the root", root),
        Slip(math.cbrt(full / CUBIC_C), "that puts W under the root", root),
        Slip((1 - BETA) * full / CUBIC_C, "that leaves out the root", root),
        Slip(math.sqrt((1 - BETA) * full / CUBIC_C), "that is a square root", root),
        Slip((1 - BETA) * full * longest_s, "that adds one packet in each round trip",
             "CUBIC counts seconds, not round trips"),
    )  # fmt: skip
    return [
        reno,
        Value(
            "cubic",
            "CUBIC's K",
            k,
            "after a loss at the window W, how long does CUBIC need until its window is W again?",
            of_cubic,
        ),
    ]


# --- Queues


def _queues() -> list[Value]:
    pipe = pipe_between(NEAR)
    return [
        full_queue_rtt(packets, f"highest round trip, queue of {packets}", pipe.base_ms, packets, pipe.packet_ms)
        for packets in QUEUES
    ]


PREDICTIONS: Final = Predictions("Lab 11", {"loss": _loss, "between": _between, "queues": _queues})


# --- Measurements

_FOLDER: Final = Path(__file__).parent
CONTROLS: Final = ("reno", "cubic", "bbr")
TOGETHER: Final = (*CONTROLS, "mixed")
CONTROLS_S: Final = 40
QUEUES_S: Final = 30
TOGETHER_S: Final = 60
POWERS: Final = {"reno": RENO_POWER, "cubic": CUBIC_POWER}
_STARTED_S: Final = 3.0
"""Seconds after which slow start is over, and BBR's start too."""
_HOW: Final = "store what measure.run_together returns for all flows together"
_OWN: Final = "start the lab again with lab11.the_network(), and measure again"


# --- A sampler of the student's own


_SAMPLER: Final = "Lab 11, a sampler"


@guarded(_SAMPLER)
def check_look(samples: object) -> Result:
    """Judge samples of a transfer by Reno from h1 to h3: (seconds, window, threshold, RTT, retransmissions, queue)."""
    looks = read_looks(samples)
    result = Result(_SAMPLER, collect_checks(lambda: look_checks(looks, pipe_between(NEAR))))
    if not result.passed:
        return result
    settled = settled_looks(looks)
    found = {
        "window": max(look.cwnd for look in settled),
        "rtt": max(look.rtt_ms for look in settled),
        "after": min(look.cwnd for look in settled),
    }
    return PREDICTIONS.compared(result, "loss", found)


# --- The right measurement


def run_of(
    what: str, given: object, pairs: Mapping[Pair, tuple[str, ...]], duration_s: float, queue: int, *, sampled: bool
) -> Run:
    """Return a run of these transfers, at one time and for long enough. Refuse everything else.

    ``pairs`` has the congestion controls of each pair of nodes, ``queue`` the packets that B's queue must hold;
    ``sampled`` is whether the run must have samples of windows and of the queue.
    """
    wanted: list[Wanted[Any]] = [transfer(ends, each, duration_s) for ends, every in pairs.items() for each in every]
    if sampled:
        wanted += _samples(*wanted[0].ends, duration_s)
    run = require_run(what, given, wanted, _HOW, NO_OTHER_TRANSFER)
    change = f"on r1 run tc qdisc change ... netem limit {queue}; then measure again"
    network = the_network()
    rate = planned("rate_mbps", network.link("B").rate_mbps, _OWN)
    require_same_bottleneck(what, run, network, rate, exactly("queue_packets", queue, change))
    for link in network.links:  # round trips decide who gets how much
        for end in link.ends:
            require_shape(what, state_of_run(run), end, (planned("delay_ms", link.delay_ms, _OWN),))
    return run


def _samples(source: str, destination: str, duration_s: float) -> list[Wanted[Any]]:
    """Want samples of a transfer's window, and of B's queue until slow start is over."""
    step = f'add *looks("{source}", "{destination}", {duration_s:g}) to the list'
    late = Field("samples", lambda samples: samples and samples[-1].at_s >= _STARTED_S, step)
    return [
        Wanted(SocketsFlow, (source, destination), (Field("samples", bool, step),), step=step),
        Wanted(QueueFlow, ("r1", destination), (late,), step=step),
    ]


# --- Reno, CUBIC, BBR


def window_of(run: Run) -> SocketsResult | None:
    """Return the samples of the window of a run's first transfer; None without any."""
    sent = run.of(TcpResult)[0].flow
    return first_between(run.of(SocketsResult), sent.source, sent.destination)


def samples_of(run: Run) -> tuple[SocketSample, ...]:
    """Return the samples of the connection that carries the data of a run's first transfer."""
    found = window_of(run)
    return () if found is None else found.busiest


def gaps_s(run: Run) -> list[float]:
    """Return the times between the losses of a run's first connection, from h2 to h4, without those of slow start."""
    apart_s = 3 * _longest_s(pipe_between(FAR, state_of_run(run)))
    times = loss_times_s(((it.at_s, it.retransmitted_segments) for it in samples_of(run)), apart_s)
    return [later - one for one, later in pairwise(times[1:])]


def mean_queue_packets(run: Run) -> float:
    """Return how many packets waited at B on average, after the start."""
    found = samples_of_queue(run)
    return fmean(sample.packets for sample in (found.samples if found else ()) if sample.at_s >= _STARTED_S)


def highest_rtt_ms(run: Run) -> float:
    """Return the highest smoothed round trip of a run's first connection."""
    return max(sample.rtt_ms for sample in samples_of(run))


def _sampled_every_s(run: Run) -> float:
    found = window_of(run)
    return found.flow.interval_s if found else 0.0


def _longest_s(pipe: Pipe) -> float:
    """Return the round trip with a full queue, in seconds."""
    return (pipe.base_ms + pipe.full_queue_ms) / 1000


def _reno_checks(run: Run) -> Iterator[Check]:
    pipe, apart_s = pipe_between(FAR, state_of_run(run)), _sampled_every_s(run)
    period_s = reno_period_s(pipe.bdp_packets, pipe.full_window_packets, packet_s(pipe))
    expected = Expectation(
        period_s,
        period_s - apart_s,
        period_s + 3 * _longest_s(pipe) + apart_s,
        "s",
        "the window grows by one packet in each round trip, from half of the full window to the full one",
        source="RFC 5681",
        allowance="up to three round trips until a loss is repaired, and the time between two samples",
    )
    yield from _gap_checks("time between Reno's losses", run, expected, lambda gaps: [fmean(gaps)])


def _cubic_checks(run: Run) -> Iterator[Check]:
    state, apart_s = state_of_run(run), _sampled_every_s(run)
    pipe = pipe_between(FAR, state)
    least, most = cubic_gap_s(pipe.full_window_packets, _longest_s(pipe))
    expected = Expectation(
        (least + most) / 2, least - apart_s, most + apart_s, "s",
        "K if the plateau is at the full queue, more if fast convergence has lowered the plateau",
        source="RFC 9438, sections 4.2 and 4.7", allowance="the time between two samples",
    )  # fmt: skip
    yield from _gap_checks("time between CUBIC's losses", run, expected, lambda gaps: [min(gaps), max(gaps)])
    yield _throughput("CUBIC's throughput", run, FAR)


def _gap_checks(
    what: str, run: Run, expected: Expectation, judged: Callable[[list[float]], list[float]]
) -> Iterator[Check]:
    gaps = gaps_s(run)
    if not gaps:
        hint = f"measure for {CONTROLS_S} s, with looks(...) for {CONTROLS_S} s"
        yield Check.failing(what, "the samples show fewer than three losses", hint, "three or more")
        return
    yield from (measured(what, value, expected) for value in judged(gaps))


def _throughput(what: str, run: Run, ends: Pair) -> Check:
    """Judge the throughput of CUBIC, alone between these nodes."""
    transfer = run.of(TcpResult)[0]
    theory = tcp_throughput(path_of(ends, state_of_run(run)), transfer.flow.duration_s)
    return measured(what, transfer.throughput_mbps, theory)


def _bbr_checks(run: Run) -> Iterator[Check]:
    state = state_of_run(run)
    pipe, path, transfer = pipe_between(FAR, state), path_of(FAR, state), run.of(TcpResult)[0]
    least, most = bbr_mean_queue_packets(pipe.bdp_packets)
    why, source = "in one round trip of eight BBR sends a quarter more than B carries", "Cardwell et al., 2016"
    expected = Expectation((least + most) / 2, least, most, "packets", why, source=source)
    yield measured("mean queue with BBR", mean_queue_packets(run), expected)
    ceiling, rtt_s = goodput_ceiling_mbps(path.forward), pipe.base_ms / 1000
    # a round trip to connect, and then the window doubles from ten packets until it fills the path
    starting_s = rtt_s * (1 + math.log2(max(2.0, pipe.bdp_packets / INITIAL_WINDOW_PACKETS)))
    idle = starting_s / transfer.flow.duration_s + bbr_rest_share(rtt_s) + BBR_MARGIN
    why = (
        "what headers leave, minus BBR's start, the 200 ms of ten seconds in which it rests, and 1 % that it sends "
        "below its estimate"
    )
    rate = Expectation(ceiling * (1 - idle / 2), ceiling * (1 - idle), ceiling, "Mbit/s", why, source=source)
    yield measured("BBR's throughput", transfer.throughput_mbps, rate)


_OF_CONTROL: Final[Mapping[str, Callable[[Run], Iterator[Check]]]] = {
    "reno": _reno_checks,
    "cubic": _cubic_checks,
    "bbr": _bbr_checks,
}


@guarded
def check_controls(runs: object) -> Result:
    """Judge a transfer from h2 to h4 with each of `CONTROLS`, with samples of its window and of B's queue."""

    def judge(control: str, given: object) -> Iterator[Check]:
        return _OF_CONTROL[control](run_of(control, given, {FAR: (control,)}, CONTROLS_S, PLANNED, sampled=True))

    result = asked_each("Lab 11, three controls", runs, CONTROLS, judge, '{"reno": measure.run_together(...), ...}')
    if not (result.passed and isinstance(runs, Mapping)):
        return result
    # K is not measured: fast convergence makes the times between CUBIC's losses shorter or longer than it
    return PREDICTIONS.compared(result, "between", {"reno": fmean(gaps_s(runs["reno"]))})


# --- Three queues


@guarded
def check_queues(runs: object) -> Result:
    """Judge CUBIC from h1 to h3 with each of `QUEUES` at B, with samples of its window and of the queue."""

    def judge(packets: int, given: object) -> Iterator[Check]:
        where = f"queue of {packets}"
        return _queue_checks(where, run_of(where, given, {NEAR: ("cubic",)}, QUEUES_S, packets, sampled=True))

    result = asked_each("Lab 11, three queues", runs, QUEUES, judge, "{20: measure.run_together(...), ...}")
    if not (result.passed and isinstance(runs, Mapping)):
        return result
    return PREDICTIONS.compared(result, "queues", {str(it): highest_rtt_ms(runs[it]) for it in QUEUES})


def _queue_checks(where: str, run: Run) -> Iterator[Check]:
    yield _throughput(f"throughput, {where}", run, NEAR)
    pipe = pipe_between(NEAR, state_of_run(run))
    full_ms = pipe.base_ms + pipe.full_queue_ms
    # a look that just misses the loss finds the window of one look before: CUBIC's cube is flat there
    low_ms = pipe.base_ms + _SEEN_OF_FULL * pipe.full_queue_ms
    expected = Expectation(
        full_ms, low_ms, full_ms + 3 * pipe.packet_ms, "ms", "delays, and B's full queue",
        source="the queue's limit", allowance="three packets, and what samples every 0.2 s may miss",
    )  # fmt: skip
    yield measured(f"highest RTT, {where}", highest_rtt_ms(run), expected)


_SEEN_OF_FULL: Final = 0.8
"""Share of a full queue that samples must show: TCP smooths its round trip (RFC 6298), and the student samples it."""


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
        return _together_checks(name, run_of(name, given, pairs, TOGETHER_S, PLANNED, sampled=False))

    example = '{"reno": measure.run_together(...), ..., "mixed": ...}'
    return asked_each("Lab 11, several flows", runs, TOGETHER, judge, example)


@guarded
def check_depths(runs: object) -> Result:
    """Judge all of `CONTROLS` from h1 to h3 at once, with each of `DEPTHS` and the planned queue at B.

    Which share each gets, no rule has digits for: the runs must be the right ones, and B busy.
    """

    def judge(packets: int, given: object) -> Iterator[Check]:
        where = f"queue of {packets}"
        yield _sum_check(where, run_of(where, given, {NEAR: CONTROLS}, TOGETHER_S, packets, sampled=False))

    return asked_each("Lab 11, six depths", runs, (*DEPTHS, PLANNED), judge, "{7: measure.run_together(...), ...}")


def _together_checks(name: str, run: Run) -> Iterator[Check]:
    yield _sum_check(name, run)
    if name == "mixed":
        return
    state = state_of_run(run)
    near, far = pipe_between(NEAR, state), pipe_between(FAR, state)
    sent = run.of(TcpResult)
    lasted_s = max(result.duration_s for result in sent)
    rates = {(it.flow.source, it.flow.destination): it.throughput_mbps for it in sent}
    ratio = rates[NEAR] / rates[FAR]
    if name == "bbr":
        why = "a BBR flow may have two BDPs of its own in flight: a longer round trip has a larger BDP"
        expected = Expectation(near.base_ms / far.base_ms, 0.0, 1.0, "", why, source="Cardwell et al., 2016")
    else:
        low, high = sharing_ratios(near, far, POWERS[name], lasted_s)
        why = (
            f"from (1/RTT)^{POWERS[name]:g} with a full queue to (1/RTT)^2 with an empty one, and chance in slow start"
        )
        source = "Mathis et al., 1997; RFC 9438, section 5.1; Lakshman and Madhow, 1997"
        expected = Expectation((low * high) ** 0.5, low, high, "", why, source=source)
    yield measured(f"h1-h3 over h2-h4, {name}", ratio, expected)


def _sum_check(name: str, run: Run) -> Check:
    """Judge that the flows of a run fill B."""
    state, sent = state_of_run(run), run.of(TcpResult)
    far = pipe_between(FAR, state)
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
        "B is never idle for long, and headers take their part",
        source="headers, and BBR's ProbeRTT",
        allowance=(
            "half a second in which B is idle after slow start's losses, a second more that iperf3's server reads"
        ),
    )
    return measured(f"sum of all flows, {name}", carried_mbps, total)


# --- A path that is long and fast

_LONG_MBPS: Final = 10_000.0
_LONG_RTT_MS: Final = 100.0


@guarded
def check_long_path(numbers: object) -> Result:
    """Judge the BDP of 10 Gbit/s and 100 ms in packets, and the seconds in which Reno and CUBIC get back to it."""
    bdp, rtt_s = _LONG_RTT_MS / transmission_ms(FRAME_BYTES, _LONG_MBPS), _LONG_RTT_MS / 1000
    reno_s, cubic_s = RENO_BETA * bdp * rtt_s, cubic_k_s(bdp, BETA * bdp)
    each = (
        "Reno adds one packet in each round trip: how many packets are missing after the loss?",
        "half of the BDP is missing, and each packet of it takes a round trip of 0.1 s",
    )
    root = "K is the cube root of (W - 0.7 W) / 0.4, with W in packets"
    of_reno = (
        Slip(bdp * rtt_s, "that starts from a window of 0", "after the loss half of the window is left"),
        Slip(RENO_BETA * bdp, "that is the number of round trips", "how long is each of them?"),
        Slip(rtt_s, "that is one doubling", "slow start doubles; after a loss Reno adds one packet in each round trip"),
        Slip(1000 * reno_s, "that is in ms", "give it in s"),
    )
    of_cubic = (
        Slip(math.cbrt(RENO_BETA * bdp / CUBIC_C), "that halves the window", "CUBIC keeps 0.7 W"),
        Slip(math.cbrt(BETA * bdp / CUBIC_C), "that puts 0.7 W under the root", root),
        Slip(math.cbrt(bdp / CUBIC_C), "that puts W under the root", root),
        Slip(math.sqrt((1 - BETA) * bdp / CUBIC_C), "that is a square root", root),
        Slip((1 - BETA) * bdp * rtt_s, "that adds one packet in each round trip",
             "CUBIC counts seconds, not round trips"),
    )  # fmt: skip
    told = (
        "For more than an hour no packet may be lost, and hardly any network achieves that: Reno hardly ever fills "
        "such a path (RFC 3649, section 1). CUBIC's K depends on the window alone, whatever the round trip is."
    )
    questions = (
        Value("bdp", "BDP", stated(bdp, "packets", "rate times round trip", 2),
              ("how many bits does the sender send in one round trip?", "divide them by a frame, 1514 * 8 bits")),
        Value("reno", "Reno, until one BDP again", stated(reno_s, "s", "half a BDP of round trips", 2), each, of_reno),
        Value("cubic", "CUBIC, until one BDP again", stated(cubic_s, "s", "K, RFC 9438", 2),
              ("which of section 5's two numbers is this?", root), of_cubic, explanation=told),
    )  # fmt: skip
    return asked("Lab 11, a long path", numbers, questions, '{"bdp": ..., "reno": ..., "cubic": ...}')


# --- A claim to test

_SHOWS: Final = "the run that shows it"
_LOST_PERCENT: Final = 1.0
_LITTLE: Final = 0.6
"""Share of the ceiling below which CUBIC does not get "about 70 %"."""


def _random_loss(given: object) -> Check:
    """Judge CUBIC alone through B, which loses packets at random: at each loss 0.7 of what is left is kept."""
    how = "give what measure.run_together returned for the case of the sentence"
    run = require_run(_SHOWS, given, [transfer(NEAR, "cubic", _CLAIM_S)], how, NO_OTHER_TRANSFER)
    state = state_of_run(run)
    refuse_another_network(_SHOWS, state, the_network())
    lossy = exactly("loss_percent", _LOST_PERCENT, f"on r1 run tc qdisc change ... netem limit {PLANNED} loss 1%")
    long = exactly("queue_packets", PLANNED, f"leave the limit at {PLANNED}: a short queue loses packets, too")
    rate = planned("rate_mbps", the_network().link("B").rate_mbps, _OWN)
    require_shape(_SHOWS, state, End("r1", "r1-eth2"), (rate, lossy, long))
    ceiling, found = goodput_ceiling_mbps(path_of(NEAR, state).forward), run.of(TcpResult)[0].throughput_mbps
    return contradicts(
        f"CUBIC gets about 70 % of the rate, {0.7 * ceiling:.3g} Mbit/s",
        f"{found:.3g} Mbit/s",
        is_wrong=found < _LITTLE * ceiling,
        step="measure again, for 20 s or more: chance may have lost few packets",
    )


_CLAIM_S: Final = 20
check_claim = claim("Lab 11, a claim to test", _FOLDER, _random_loss)
"""Judge the number of the wrong sentence on sharing a bottleneck, and the run that shows it."""


# --- Questions with options

check_seen = letters("Lab 11, what you saw", _FOLDER, "tracks", "overshoot")
"""Judge what the first figure shows: what the queue has of the window, and how slow start ends."""
check_shapes = letters("Lab 11, three shapes", _FOLDER, "hystart", "gaps", "rests")
"""Judge what the three controls' figure shows: HyStart, CUBIC's two gaps, BBR's rests."""
check_shares = letters("Lab 11, shares", _FOLDER, "long", "depth")
"""Judge whom the long round trip favours, and how BBR's share next to others follows from the queue's depth."""
