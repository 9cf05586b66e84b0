"""Check that measurements of students agree with theory, once each is the one that was asked for (`wanted`).

Theory is computed for the network as it was read back right before the measurement, which must be the right network.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import Any, Final, TypeVar

from linklab.analysis import (
    Expectation,
    Experiment,
    Load,
    LoadExpectation,
    MeasuredPath,
    experiment,
    full_queue_rtt,
    loaded_rtt,
    tcp_throughput,
    unloaded_rtt,
)
from linklab.analysis.sharing import direction_of
from linklab.analysis.tcp_model import bottleneck_hop
from linklab.errors import NetworkError
from linklab.grade.check import Check, Hints, Refuse, listed
from linklab.grade.path_questions import DATA_BYTES, FRAME_BYTES, path_between
from linklab.grade.questions import Slip, Value
from linklab.grade.wanted import (
    OWN_NETWORK,
    Others,
    Wanted,
    at_least,
    at_most,
    exactly,
    refuse_another_network,
    require_result,
    require_run,
)
from linklab.measure import (
    PingFlow,
    PingResult,
    Run,
    SimpleperfFlow,
    SimpleperfResult,
    TcpFlow,
    TcpResult,
    ToolResult,
    UdpFlow,
    UdpResult,
)
from linklab.measure.tool import ResultT
from linklab.network import End, Network, NetworkState
from linklab.units import BITS_PER_BYTE

Transfer = TcpResult | SimpleperfResult
TRANSFERS: Final[tuple[type[Transfer], ...]] = (SimpleperfResult, TcpResult)
TRANSFER_FLOWS: Final = (SimpleperfFlow, TcpFlow)
_IN_STEP: Final = 0.8
"""Correlation of neighbouring pings above which they keep step: each meets the tooth less than a thirtieth later."""
Kind = TypeVar("Kind")

FEWEST_PINGS: Final = 25
"""The fewest pings of an idle path that are accepted: the course report sent 25."""
SHORTEST_ALONE_S: Final = 25
"""The least duration of a transfer without competing traffic: the course report's transfers lasted 25 s."""
SHORTEST_S: Final = 20
"""The least duration of a transfer next to others: a shorter one is mostly TCP's start."""
_LATEST_START_S: Final = 0.05
"""The largest ``start_s`` with which a flow still counts as started together with the others."""
_ROUNDING_MS: Final = 0.05
"""How far below the links' delays a round trip may lie: ping rounds what it prints."""
_HINT_TOGETHER: Final = "give what measure.run_together returned for all flows together"
_SHORT: Final = "a short transfer is mostly TCP's start"
_NO_OTHERS: Final[Others] = {
    UdpFlow: "UDP does not reduce its rate for others: use SimpleperfFlow or TcpFlow",
    SimpleperfFlow: "leave it out: it takes a share",
    TcpFlow: "leave it out: it takes a share",
}
_HINT_SINGLE: Final = "give the result of measure.run for this one"
_HINT_IDLE: Final = "is other traffic on the path, or was the network changed? Run the cells from the start again"


# --- What a run holds


def transfers(run: Run) -> tuple[Transfer, ...]:
    """Return the TCP transfers of a run, in the run's order."""
    return tuple(result for result in run.results if isinstance(result, TcpResult | SimpleperfResult))


def pings(run: Run) -> dict[str, PingResult]:
    """Return the pings of a run by pair (``"h1-h4"``).

    If a pair was pinged several times, the longest pings count, and of equally long ones the first.
    """
    found: dict[str, PingResult] = {}
    for result in run.results:
        if isinstance(result, PingResult):
            before = found.setdefault(result.flow.name, result)
            if result.flow.lasts_s > before.flow.lasts_s:
                found[result.flow.name] = result
    return found


def first_between(results: Iterable[ResultT], source: str, destination: str) -> ResultT | None:
    """Return the first of the results whose flow goes from ``source`` to ``destination``; None if there is none."""
    return next((it for it in results if (it.flow.source, it.flow.destination) == (source, destination)), None)


def throughput_of(run: Run, name: str) -> float | None:
    """Return the summed throughput of all transfers of the pair ``name``, in Mbit/s; None if there are none."""
    found = [result.throughput_mbps for result in transfers(run) if result.flow.name == name]
    return fsum(found) if found else None


def connections_of(run: Run) -> dict[str, list[float]]:
    """Return the throughput of each connection, in Mbit/s, by pair, over all transfers of the pair."""
    found: dict[str, list[float]] = {}
    for result in transfers(run):
        found.setdefault(result.flow.name, []).extend(stream.throughput_mbps for stream in result.streams)
    return found


def state_of_run(run: Run) -> NetworkState | None:
    """Return the network as it was read back right before the run."""
    return run.results[0].origin.network if run.results else None


def results_of(given: object, kind: type[Kind] | tuple[type[Kind], ...]) -> dict[str, Kind]:
    """Return the entries of a student's dictionary whose values are of type ``kind``, by name."""
    items = given.items() if isinstance(given, Mapping) else ()
    return {str(name): each for name, each in items if isinstance(each, kind)}


# --- One flow that has a path to itself


def require_on_course(what: str, value: object, wanted: Wanted[ResultT]) -> ResultT:
    """Return ``value`` if it is the whole result of the wanted flow on the student's course network; else refuse it."""
    result = require_result(what, value, wanted, _HINT_SINGLE)
    refuse_another_network(what, result.origin.network)
    refuse_without_theory(what, result.origin.network, [wanted.ends], limited=isinstance(result, TRANSFERS))
    _refuse_another_path(what, result, wanted.ends)
    return result


def _refuse_another_path(what: str, result: ToolResult, ends: tuple[str, str]) -> None:
    """Refuse a result whose packets did not leave by the interfaces of the path, as these counted meanwhile.

    Each interface must have sent 25 frames, or as many as the result says that arrived, if those are fewer.
    """
    fewest = FEWEST_PINGS
    if isinstance(result, PingResult | UdpResult):
        fewest = min(fewest, result.sent_packets - result.lost_packets)
    for hop in path_between(*ends, result.origin.network).forward.hops:
        counted = result.origin.queue(hop.out.node, hop.out.interface)
        if counted is not None and counted.sent_packets < fewest:
            reason = f"meanwhile {hop.out.interface}, which is on this path, sent {counted.sent_packets} frames"
            hint = "measure each path by itself, and keep what measure.run returned under this path's name"
            raise Refuse(what, f"these are no packets of {'-'.join(ends)}: {reason}", hint)


_ALONE_AT_MOST: Final = 1.3
"""How many times a transfer's own bytes an interface sends at most while nobody else uses it."""


def refuse_shared(what: str, sent: Transfer, end: End) -> None:
    """Refuse a transfer during which others used its link, as the queue of the interface ``end`` counted."""
    counted = sent.origin.queue(end.node, end.interface)
    own_bytes = sent.throughput_mbps * 1e6 / BITS_PER_BYTE * sent.flow.duration_s * FRAME_BYTES / DATA_BYTES
    if counted is not None and counted.sent_bytes > _ALONE_AT_MOST * own_bytes:
        reason = f"meanwhile {end.interface} sent {counted.sent_bytes / own_bytes:.2g} times as much: others sent too"
        raise Refuse(what, reason, "measure this transfer by itself: give what measure.run returned")


def refuse_without_theory(
    what: str, state: NetworkState | None, pairs: Sequence[tuple[str, str]], *, limited: bool
) -> None:
    """Refuse pairs of nodes whose path, as it was read back, theory cannot compute.

    A link of the path was cut, or, if ``limited``, no link of the path has a rate limit.
    """
    try:
        paths = [path_between(*pair, state) for pair in pairs]
        for path in paths if limited else ():
            bottleneck_hop(path)
    except NetworkError as wrong:
        reason = f"this was measured on a network that was changed: {wrong}"
        raise Refuse(what, reason, OWN_NETWORK) from None


def ping_check(name: str, value: object, ends: tuple[str, str]) -> Check:
    """Judge pings of an idle path: on the right path, at least 25, all answered, their mean as theory expects."""
    fields = (
        at_least("sent_packets", FEWEST_PINGS, f"write count={FEWEST_PINGS}, as in the report"),
        exactly("lost_packets", 0, f"an idle path loses none: {_HINT_IDLE}"),
    )
    ping = require_on_course(f"pings of {name}", value, Wanted(PingFlow, ends, fields))
    return measured(f"pings of {name}", ping.rtt_mean_ms, unloaded_rtt(path_between(*ends, ping.origin.network)))


def transfer_check(name: str, value: object, ends: tuple[str, str]) -> Check:
    """Judge one connection without competing traffic: it lasts at least 25 s, its throughput is as theory expects."""
    what = f"transfer over {name}"
    fields = (
        exactly("streams", 1, "use one connection: omit streams="),
        at_least("duration_s", SHORTEST_ALONE_S, f"write duration_s={SHORTEST_ALONE_S}: {_SHORT}"),
    )
    sent = require_on_course(what, value, Wanted[Transfer](TRANSFER_FLOWS, ends, fields))
    theory = _as_counted(tcp_throughput(path_between(*ends, sent.origin.network), sent.flow.duration_s), [sent])
    hint = _HINT_IDLE
    if isinstance(sent, SimpleperfResult):
        hint = (
            "measure once with Linklab's simpleperf (program=None): if that gives another number, your program's clock "
            f"or units are wrong; see Lab 02. If it gives the same: {_HINT_IDLE}"
        )
    return measured(what, sent.throughput_mbps, theory, hint)


def loaded_checks(name: str, given: object, ends: tuple[str, str]) -> tuple[Check, ...]:
    """Judge pings during a transfer over the same path: the throughput, and the mean and the highest round trip.

    Pings of other pairs are ignored; ``found`` of the first check names them.
    """
    load = Load(*ends)
    run = run_of(name, given, [load], with_pings=True)
    ping, sent = pings(run)[load.name], transfers(run)[0]
    path = path_between(*ends, ping.origin.network)
    duration_s, interval_s = sent.flow.duration_s, ping.flow.interval_s
    numbers = (
        ("throughput", sent.throughput_mbps, tcp_throughput(path, duration_s)),
        ("mean RTT", ping.rtt_mean_ms, loaded_rtt(path, duration_s, ping.sent_packets, in_step=_keep_step(ping))),
        ("highest RTT", ping.rtt_max_ms, full_queue_rtt(path, interval_s=interval_s)),
    )
    first, *others = (
        measured(f"{what} ({name})", value, _without_limit(theory, value, path)) for what, value, theory in numbers
    )
    more = [it.flow.name for it in run.results if isinstance(it, PingResult) and it is not ping]
    note = f"; not looked at: pings of {listed(more, ', ')}" if more else ""
    return replace(first, found=first.found + note), *others


def _keep_step(ping: PingResult) -> bool:
    """Return whether pings keep step with the queue's sawtooth: each meets it as the one before, or the last but one.

    With a tooth a second, pings once a second see one moment of it. The first ping, which met no load, does not count.
    """
    rtts_ms = [it for it in ping.rtt_ms if it is not None][1:]
    earlier, later = rtts_ms[:-1], rtts_ms[1:]
    if len(set(earlier)) < 2 or len(set(later)) < 2:  # of equal numbers there is no correlation
        return False
    return abs(statistics.correlation(earlier, later)) > _IN_STEP


def _without_limit(expected: Expectation, value: float | None, path: MeasuredPath) -> Expectation:
    """Return the expectation of a round trip without its limit, unless ``value`` is below the links' delays.

    With a limit, a check calls a value below the interval less than the network can give. That is true below the
    links' delays only: above them, the queue was just not full. The verdict is the same.
    """
    if expected.unit != "ms" or value is None or value < path.rtt_floor_ms - _ROUNDING_MS:
        return expected
    return replace(expected, limit=None)


def measured(what: str, value: object, expected: Expectation, hints: Hints = "", slips: Sequence[Slip] = ()) -> Check:
    """Compare a number that a tool measured with theory.

    The student did not type the number, so mistakes of units are not looked for.
    """
    hints = hints or (_HINT_IDLE, f"theory: {expected.explanation}")
    question = Value("", what, expected, hints, slips, shown=True, by_tool=True)
    (check,) = question.checks(value)
    return check


# --- Several flows at the same time


def run_of(where: str, given: object, loads: Sequence[Load], with_pings: bool) -> Run:
    """Return ``given`` if it is a run of these loads, at the same time and long enough; else refuse it.

    Pings of other pairs, and results of other tools, are ignored.
    """
    what, pairs = f"{where}: the flows", [(load.source, load.destination) for load in loads]
    fields = (
        at_least("duration_s", SHORTEST_S, f"write duration_s=25: {_SHORT}"),
        at_most("start_s", _LATEST_START_S, "omit start_s: all start together"),
    )
    wanted: list[Wanted[Any]] = [
        Wanted[Transfer](TRANSFER_FLOWS, pair, fields, connections=load.connections)
        for load, pair in zip(loads, pairs, strict=True)
    ]
    if with_pings:
        long = at_least("lasts_s", SHORTEST_S, "write count=25, interval_s=1: pings must last as long as the transfer")
        wanted += [Wanted(PingFlow, pair, (long,)) for pair in pairs]
    run = require_run(what, given, wanted, _HINT_TOGETHER, _NO_OTHERS)
    refuse_another_network(what, state_of_run(run))
    refuse_without_theory(what, state_of_run(run), pairs, limited=True)
    return run


def run_checks(
    where: str, run: Run, network: Network, loads: Sequence[Load], *, each_connection: bool = False, judged: int = 1
) -> tuple[Check, ...]:
    """Compare a run with theory: throughput sums, shares, and the highest round trips.

    ``loads`` must be the run's (see `run_of`). ``judged`` is how many shares are judged together, over all runs of the
    exercise: the more there are, the further may one of them stray by chance (see `linklab.analysis.experiment`).
    """
    expected = expectations(run, network, loads, judged)
    found = [*_sum_checks(where, run, expected)]
    rtts = pings(run)
    for one in expected.loads:
        name = one.load.name
        if one.share.rivals > one.load.connections:  # other flows share the bottleneck; else the sum says it all
            found.append(measured(f"throughput of {name} ({where})", throughput_of(run, name), one.total))
        if each_connection and one.load.connections > 1:
            for number, rate in enumerate(connections_of(run)[name], 1):
                found.append(measured(f"throughput of {name}, connection {number} ({where})", rate, one.connection))
        if name in rtts:
            found.append(measured(f"highest RTT of {name} ({where})", rtts[name].rtt_max_ms, one.rtt_highest))
    return tuple(found)


def expectations(run: Run, network: Network, loads: Sequence[Load], judged: int = 1) -> Experiment:
    """Return what theory expects of the run, for the network as it was read back."""
    duration_s = min((result.flow.duration_s for result in transfers(run)), default=SHORTEST_S)
    names = {load.name for load in loads}
    sent = [result.sent_packets for name, result in pings(run).items() if name in names]
    count = min(sent, default=round(duration_s))
    return experiment(network, loads, duration_s, max(1, count), state_of_run(run), judged)


def _sum_checks(where: str, run: Run, expected: Experiment) -> Iterator[Check]:
    for link, whole in expected.sums.items():
        mine = [one for one in expected.loads if direction_of(one.share.bottleneck) == link]
        values = [throughput_of(run, one.load.name) or 0.0 for one in mine]
        who = " + ".join(one.load.name for one in mine)
        theory = _of_own_spans(whole, mine, run)
        of_these = [it for it in transfers(run) if it.flow.name in {one.load.name for one in mine}]
        counted = _as_counted(theory, of_these)
        yield measured(f"throughput of {who}, through {link[0]} ({where})", fsum(values), counted)


def _as_counted(expected: Expectation, sent: Sequence[ToolResult]) -> Expectation:
    """Return the expectation with a lower end for iperf3's receiver, which may count longer than the transfer lasted.

    It waits for lost packets of the end, which are sent again after a timeout maybe, and divides by all of this.
    """
    longer = (it.duration_s / it.flow.duration_s for it in sent if isinstance(it, TcpResult))
    return replace(expected, low=expected.low / max([1.0, *longer]))


def _of_own_spans(whole: Expectation, mine: Sequence[LoadExpectation], run: Run) -> Expectation:
    """Return the expectation ``whole`` of a sum with a higher upper end, if several programs are summed.

    Each program averages over its own time. These times differ by up to one round trip at each end, when fewer flows
    share the link, so the sum may exceed what the link carries.
    """
    duration_s = min(result.flow.duration_s for result in transfers(run))
    apart_s = 2 * max(one.rtt_highest.value for one in mine) / 1000
    return replace(whole, high=whole.high * (1 + apart_s / duration_s)) if len(transfers(run)) > 1 else whole


# --- Numbers that a student reads off a tool and types in


def typed_rtt(key: object, what: str, floor_ms: float) -> Value:
    """Ask for the round trip of an idle path, in ms, that the student reads off a tool and types in.

    Accepted is the sum of delays, ``floor_ms``, ± 0.5 %, but at least ± 0.05 ms.
    """
    margin = max(0.005 * floor_ms, 0.05)
    expected = Expectation(
        floor_ms, floor_ms - margin, floor_ms + margin, "ms", "the links' delays", "low",
        allowance="rounding and serialisation",
    )  # fmt: skip
    hints = (
        "on an idle path a ping takes the links' delays, in both directions",
        "was other traffic on the path, or a neighbour's Ethernet address still unknown? Ping once before",
        "measure on an idle network, ping the address at the other end, and leave out the first packet",
    )
    slips = (
        Slip(0, "that is a ping of a node to itself", "ping the address at the other end"),
        Slip(floor_ms / 2, "half of theory",
             "a round trip has both directions, so do not halve it; or is one end of a link without its delay?"),
    )  # fmt: skip
    return Value(key, what, expected, hints, slips, shown=True)
