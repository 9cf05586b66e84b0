"""Check measurements that students hand in: each is the one asked for, complete, and agrees with theory.

Theory is computed for the network as it was read back right before the measurement, which must be the right network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from statistics import fmean, median
from typing import Final, TypeVar

from linklab.analysis import (
    Expectation,
    Experiment,
    Load,
    LoadExpectation,
    MeasuredPath,
    answered,
    experiment,
    full_queue_rtt,
    loaded_rtt,
    tcp_throughput,
    unloaded_rtt,
)
from linklab.analysis.sharing import direction_of
from linklab.analysis.tcp_model import bottleneck_hop
from linklab.course import course_network
from linklab.errors import NetworkError
from linklab.grade.check import Check, Hints, Refuse, a_kind, counted, listed
from linklab.grade.path_questions import packet_ms, path_between
from linklab.grade.questions import JudgedBy, Question, Slip, Value, is_missing, stated
from linklab.measure import PingResult, Run, SimpleperfResult, TcpResult, ToolResult, UdpResult
from linklab.measure.tool import ResultT
from linklab.network import Link, Network, NetworkState

Transfer = TcpResult | SimpleperfResult
TRANSFERS: Final[tuple[type[Transfer], ...]] = (SimpleperfResult, TcpResult)

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
_HINT_OWN_NETWORK: Final = "start the lab with linklab.start(linklab.course_network())"
_HINT_LABS_NETWORK: Final = "start the lab with the network that its first cells make"
_HINT_TOGETHER: Final = "give what measure.run_together returned for all flows together"
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
            before = found.setdefault(pair_name(result), result)
            if result.flow.lasts_s > before.flow.lasts_s:
                found[pair_name(result)] = result
    return found


def first_between(results: Iterable[ResultT], source: str, destination: str) -> ResultT | None:
    """Return the first of the results whose flow goes from ``source`` to ``destination``; None if there is none."""
    return next((it for it in results if (it.flow.source, it.flow.destination) == (source, destination)), None)


def pair_name(result: ToolResult) -> str:
    """Return the pair of nodes that a result was measured between: ``"h1-h4"``."""
    return f"{result.flow.source}-{result.flow.destination}"


def throughput_of(run: Run, name: str) -> float | None:
    """Return the summed throughput of all transfers of the pair ``name``, in Mbit/s; None if there are none."""
    found = [result.throughput_mbps for result in transfers(run) if pair_name(result) == name]
    return fsum(found) if found else None


def connections_of(run: Run) -> dict[str, list[float]]:
    """Return the throughput of each connection, in Mbit/s, by pair, over all transfers of the pair."""
    found: dict[str, list[float]] = {}
    for result in transfers(run):
        found.setdefault(pair_name(result), []).extend(stream.throughput_mbps for stream in result.streams)
    return found


def state_of_run(run: Run) -> NetworkState | None:
    """Return the network as it was read back right before the run."""
    return run.results[0].origin.network if run.results else None


def results_of(given: object, kind: type[Kind] | tuple[type[Kind], ...]) -> dict[str, Kind]:
    """Return the entries of a student's dictionary whose values are of type ``kind``, by name."""
    items = given.items() if isinstance(given, Mapping) else ()
    return {str(name): each for name, each in items if isinstance(each, kind)}


# --- Whether it may be judged


# Each of these functions raises `Refuse` if the measurement cannot be judged. The check in it has failed, and says what
# is wrong and what to do.


def require_type(what: str, value: object, kind: type[Kind] | tuple[type[Kind], ...], hint: str, expected: str) -> Kind:
    """Return ``value`` if it is of type ``kind``; else refuse it: nothing was measured yet, or it is something else."""
    if isinstance(value, kind):
        return value
    if is_missing(value):
        raise Refuse(Check.failing(what, "not measured yet", hint, expected, "None"))
    raise Refuse(Check.failing(what, f"this is {a_kind(value)}", hint, expected, type(value).__name__))


def require_result(
    what: str,
    value: object,
    kind: type[ResultT] | tuple[type[ResultT], ...],
    how: str,
    ends: tuple[str, str],
    *,
    either_direction: bool = False,
    of_the_course: bool = True,
) -> ResultT:
    """Return ``value`` if it is a ``kind`` of result between ``ends`` that was measured to its end; else refuse it.

    ``how`` tells the student how to get one. With ``of_the_course`` the result must come from the student's course
    network too; an exercise about other networks passes False.
    """
    result = require_type(what, value, kind, how, "a result")
    found = (result.flow.source, result.flow.destination)
    if found != ends and not (either_direction and found == ends[::-1]):
        turned = "the direction is the other one: " if found == ends[::-1] else ""
        asked, got = f"{ends[0]} to {ends[1]}", f"{found[0]} to {found[1]}"
        hint = f"{turned}measure from {asked}"
        raise Refuse(Check.failing(what, f"this was measured from {got}", hint, asked, got))
    if of_the_course:
        refuse_another_network(what, result.origin.network)
        refuse_without_theory(what, result.origin.network, [found], limited=isinstance(result, TRANSFERS))
    refuse_stopped(what, result)
    return result


def refuse_stopped(what: str, run: ToolResult | Run) -> None:
    """Refuse a run that was stopped before its end: the missing part may be the one that matters."""
    if run.interrupted:
        raise Refuse(Check.failing(what, "it was stopped before its end", "run the cell again and let it finish"))


def refuse_another_network(what: str, state: NetworkState | None, network: Network | None = None) -> None:
    """Refuse a ``state`` that was read back from another network than the student's own.

    The student's own is the course network, unless another ``network`` is given. Only addresses are compared: exercises
    change rates, delays and queues, and theory uses the values read back. Missing interfaces are left to other checks.
    """
    if state is None:
        return
    for link in (network or course_network()).links:
        for end in link.ends:
            interface = state.interface(end.node, end.interface) if end.address is not None else None
            if interface is None or not interface.addresses or end.address in interface.addresses:
                continue
            found = ", ".join(interface.addresses)
            reason = f"{end.interface} had {found} there, and {end.address} in yours"
            hint = f"{_HINT_OWN_NETWORK if network is None else _HINT_LABS_NETWORK}, and measure again"
            wanted = f"{end.interface} with {end.address}"
            raise Refuse(Check.failing(what, f"this was measured on another network: {reason}", hint, wanted, found))


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
        raise Refuse(Check.failing(what, reason, f"{_HINT_OWN_NETWORK}, and measure again")) from None


# --- One flow that has a path to itself


def ping_check(name: str, value: object, ends: tuple[str, str]) -> Check:
    """Judge pings of an idle path: on the right path, at least 25, all answered, their mean as theory expects."""
    what = f"pings of {name}"
    ping = require_result(what, value, PingResult, _HINT_SINGLE, ends)
    if ping.sent_packets < FEWEST_PINGS:
        reason = f"{ping.sent_packets} pings were sent"
        return Check.failing(what, reason, f"send {FEWEST_PINGS}, as the report did", f"{FEWEST_PINGS} pings")
    if ping.lost_packets:
        found = f"{ping.lost_packets} of {ping.sent_packets} not answered"
        return Check.failing(what, found, f"an idle path loses none: {_HINT_IDLE}", "all answered", found)
    return measured(what, ping.rtt_mean_ms, unloaded_rtt(path_between(*ends, ping.origin.network)))


def transfer_check(name: str, value: object, ends: tuple[str, str]) -> Check:
    """Judge one connection without competing traffic: it lasts at least 25 s, its throughput is as theory expects."""
    what = f"transfer over {name}"
    sent = require_result(what, value, TRANSFERS, _HINT_SINGLE, ends)
    if sent.flow.streams != 1:
        return Check.failing(what, f"{sent.flow.streams} connections", "use one: omit streams=")
    if sent.flow.duration_s < SHORTEST_ALONE_S:
        reason = f"it ran for {sent.flow.duration_s:g} s"
        return Check.failing(what, reason, f"let it run {SHORTEST_ALONE_S} s: a short one is mostly TCP's start")
    theory = tcp_throughput(path_between(*ends, sent.origin.network), sent.flow.duration_s)
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
        ("mean RTT", ping.rtt_mean_ms, loaded_rtt(path, duration_s, ping.sent_packets)),
        ("highest RTT", ping.rtt_max_ms, full_queue_rtt(path, interval_s=interval_s)),
    )
    first, *others = (
        measured(f"{what} ({name})", value, _without_limit(theory, value, path)) for what, value, theory in numbers
    )
    more = [pair_name(it) for it in run.results if isinstance(it, PingResult) and it is not ping]
    note = f"; not looked at: pings of {listed(more, ', ')}" if more else ""
    return replace(first, found=first.found + note), *others


def _without_limit(expected: Expectation, value: float | None, path: MeasuredPath) -> Expectation:
    """Return the expectation of a round trip without its limit, unless ``value`` is below the links' delays.

    With a limit, a check calls a value below the interval less than the network can give. That is true below the
    links' delays only: above them, the queue was just not full. The verdict is the same.
    """
    if expected.unit != "ms" or value is None or value < path.rtt_floor_ms - _ROUNDING_MS:
        return expected
    return replace(expected, limit=None)


def measured(
    what: str,
    value: object,
    expected: Expectation,
    hints: Hints = "",
    slips: Sequence[Slip] = (),
) -> Check:
    """Compare a number that a tool measured with theory.

    The student did not type the number, so mistakes of units are not looked for.
    """
    hints = hints or (_HINT_IDLE, f"theory: {expected.explanation}")
    question = Value("", what, expected, hints, slips, shown=True, by_tool=True)
    (check,) = question.checks(value)
    return check


# --- Several flows at the same time


def run_of(where: str, given: object, loads: Sequence[Load], with_pings: bool) -> Run:
    """Return ``given`` if it is a run of these loads, at the same time and long enough; else refuse it."""
    what, expected = f"{where}: the flows", _expected_flows(loads, with_pings)
    run = require_type(what, given, Run, _HINT_TOGETHER, expected)
    for problem, hint in _problems(run, loads, with_pings):
        raise Refuse(Check.failing(what, problem, hint, expected, listed(map(pair_name, run.results), ", ")))
    refuse_another_network(what, state_of_run(run))
    pairs = [(load.source, load.destination) for load in loads]
    refuse_without_theory(what, state_of_run(run), pairs, limited=True)
    refuse_stopped(what, run)
    return run


def run_checks(
    where: str,
    run: Run,
    network: Network,
    loads: Sequence[Load],
    *,
    each_connection: bool = False,
    judged: int = 1,
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


def _problems(run: Run, loads: Sequence[Load], with_pings: bool) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the flows and a hint, the most important first.

    Pings of other pairs, and results of other tools, are ignored.
    """
    sent = transfers(run)
    names = [pair_name(result) for result in sent]
    wanted = [load.name for load in loads]
    strange = [pair_name(it) for it in run.results if isinstance(it, UdpResult)]
    if strange:
        yield f"{strange[0]} is UDP", "UDP does not reduce its rate for others: use SimpleperfFlow or TcpFlow"
    missing = [name for name in wanted if name not in names]
    if missing and len(names) == 1 and len(wanted) > 1:
        yield f"{names[0]} ran alone", "flows share only if they run at the same time: put all into one list"
    turned = [name for name in missing if "-".join(reversed(name.split("-"))) in names]
    if turned:
        yield (
            f"{turned[0]} was measured in the opposite direction",
            "source first: each direction of a link has a queue of its own",
        )
    if missing:
        yield f"no transfer of {missing[0]}", f"this combination is {', '.join(wanted)}, all in one list"
    extra = [name for name in names if name not in wanted]
    if extra:
        yield f"{extra[0]} does not belong here", f"this combination is {', '.join(wanted)}"
    for load in loads:
        found = sum(result.flow.streams for result in sent if pair_name(result) == load.name)
        if found != load.connections:
            yield f"{load.name} has {counted(found, 'connection')}", f"give it {load.connections} in all"
    short = [result for result in sent if result.flow.duration_s < SHORTEST_S]
    if short:
        yield (
            f"{pair_name(short[0])} ran for {short[0].flow.duration_s:g} s",
            f"let each run 25 s: less than {SHORTEST_S} s is mostly TCP's start",
        )
    late = [result for result in sent if result.flow.start_s > _LATEST_START_S]
    if late:
        yield f"{pair_name(late[0])} started {late[0].flow.start_s:g} s late", "omit start_s: all start together"
    if not with_pings:
        return
    found_pings = pings(run)
    unpinged = [name for name in wanted if name not in found_pings]
    if unpinged:
        yield f"no pings of {unpinged[0]}", f"add a PingFlow of {unpinged[0]} to the same list"
    few = [found_pings[name] for name in wanted if _lasted_s(found_pings[name]) < SHORTEST_S]
    if few:
        yield (
            f"the pings of {pair_name(few[0])} lasted {_lasted_s(few[0]):.3g} s",
            "send 25, one a second: they must last as long as the transfer",
        )


def _lasted_s(result: PingResult) -> float:
    return result.flow.count * result.flow.interval_s


def _sum_checks(where: str, run: Run, expected: Experiment) -> Iterator[Check]:
    for link, whole in expected.sums.items():
        mine = [one for one in expected.loads if direction_of(one.share.bottleneck) == link]
        values = [throughput_of(run, one.load.name) or 0.0 for one in mine]
        who = " + ".join(one.load.name for one in mine)
        theory = _of_own_spans(whole, mine, run)
        yield measured(f"throughput of {who}, through {link[0]} ({where})", fsum(values), theory)


def _of_own_spans(whole: Expectation, mine: Sequence[LoadExpectation], run: Run) -> Expectation:
    """Return the expectation ``whole`` of a sum with a higher upper end, if several programs are summed.

    Each program averages over its own time. These times differ by up to one round trip at each end, when fewer flows
    share the link, so the sum may exceed what the link carries.
    """
    duration_s = min(result.flow.duration_s for result in transfers(run))
    apart_s = 2 * max(one.rtt_highest.value for one in mine) / 1000
    return replace(whole, high=whole.high * (1 + apart_s / duration_s)) if len(transfers(run)) > 1 else whole


def _expected_flows(loads: Sequence[Load], with_pings: bool) -> str:
    words = [
        f"{load.name} ({counted(load.connections, 'connection')})" if load.connections > 1 else load.name
        for load in loads
    ]
    pinged = "each with pings" if len(words) > 1 else "with pings"
    return f"{', '.join(words)}, at the same time" + (f", {pinged}" if with_pings else "")


# --- The time that a queue added, which a student computes from pings during a transfer


def queue_questions(run: object, ends: tuple[str, str], idle_ms: float, link: Link) -> tuple[Question, ...]:
    """Ask for ``mean_added_ms`` and ``mean_packets``, with answers computed from the run's pings between ``ends``.

    These are the mean time that the queue of ``link`` added, and the mean number of packets that waited in it.
    """
    found = pings(run).get("-".join(ends)) if isinstance(run, Run) else None
    rtt_ms = answered(found.rtt_ms) if found is not None else ()
    if not rtt_ms:
        missing = "pings during a transfer are not measured yet"
        hint = "run the cell of pings and transfer at once first"
        return tuple(
            JudgedBy(key, lambda key, _: Check.failing(str(key), missing, hint))
            for key in ("mean_added_ms", "mean_packets")
        )
    added, packet_time_ms = fmean(rtt_ms) - idle_ms, packet_ms(link)
    packets = added / packet_time_ms
    off = f"subtract the round trip of the idle path, {idle_ms:g} ms"
    frame = f"each packet before the ping takes one frame's time on {link.label}"
    concept = "on an idle path a ping waits nowhere: the time that it takes longer now is the time that it waited"
    how = f"divide the time that was added by one frame's time, {packet_time_ms:.4g} ms"
    mean_added, mean_packets = stated(added, "ms", off), stated(packets, "packets", how)
    middle = Slip(median(rtt_ms) - idle_ms, "that is the median", "take the mean of all pings")
    # if the median lies in the accepted interval too, it cannot be told from the mean, and is no mistake
    medians = () if mean_added.holds(middle.value) else (middle,)
    time = (
        Slip(added + idle_ms, "that is the mean RTT itself", off),
        Slip(max(rtt_ms) - idle_ms, "that is what the fullest queue added", "take the mean of all pings"),
        *medians,
        Slip(added / 2, "that is half of it", "only one direction has a queue, and it adds all of this"),
        Slip(max(rtt_ms), "that is the highest RTT", f"take the mean, and {off}"),
        Slip(added + idle_ms / 2, "only one direction was subtracted", off),
    )
    count = (
        Slip((added + idle_ms) / packet_time_ms, "this contains the idle path's round trip", off),
        Slip((added + link.delay_ms) / packet_time_ms, "this also counts packets in flight",
             "only packets that wait add time"),
        Slip((max(rtt_ms) - idle_ms) / packet_time_ms, "that is the fullest queue", "take the mean"),
        Slip(added * packet_time_ms, "this multiplies instead of dividing", f"divide: {frame}"),
        Slip(packets / 2, "that is half of them", "the queue of one direction adds all of this time"),
        Slip(link.queue_packets or 0, "that is the limit of the queue", f"divide the time that was added: {frame}"),
    )  # fmt: skip
    return (
        Value("mean_added_ms", "time that the queue added", mean_added,
              (concept, "what would the pings take if nothing else was sent?", off), time),
        Value("mean_packets", f"packets waiting on {link.label}", mean_packets,
              (concept, frame, how), count, or_whole=True),
    )  # fmt: skip


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
        "was other traffic on the path, or a neighbour's address still unknown (ARP)? Ping once before",
        "measure on an idle network, ping the address at the other end, and leave out the first packet",
    )
    slips = (
        Slip(0, "that is a ping of a node to itself", "ping the address at the other end"),
        Slip(
            floor_ms / 2,
            "half of theory",
            "a round trip has both directions, so do not halve it; or is one end of a link without its delay?",
        ),
    )
    return Value(key, what, expected, hints, slips, shown=True)
