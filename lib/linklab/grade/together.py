"""Several flows that ran at one time, judged: the right ones, and what theory expects of the network as read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from linklab.analysis import Expectation, Experiment, Load, LoadExpectation, experiment
from linklab.analysis.sharing import direction_of
from linklab.grade.check import Check, listed
from linklab.grade.measured import measured_check
from linklab.grade.numbers import Mistake
from linklab.grade.own_network import elsewhere
from linklab.grade.real_time import in_its_time
from linklab.grade.slips import loaded_rtt_slips, share_slips
from linklab.measure import AtOnce, PingResult, Result, SimpleperfResult, TcpResult, UdpResult, verdict_on
from linklab.network import Network, NetworkState

Transfer = TcpResult | SimpleperfResult

SHORTEST_S = 20
"""A transfer of less is mostly TCP's start."""
_SKEW_MS = 50.0
_AT_ONCE = "give what measure.at_once returned for all flows together"


def transfers(run: AtOnce) -> tuple[Transfer, ...]:
    """The transfers over TCP of a run, in its order."""
    return tuple(result for result in run.results if isinstance(result, TcpResult | SimpleperfResult))


def pings(run: AtOnce) -> dict[str, PingResult]:
    """Return the pings of a run, by pair (``"h1-h4"``); of several of one pair those that lasted longest."""
    found: dict[str, PingResult] = {}
    for result in run.results:
        if isinstance(result, PingResult):
            before = found.setdefault(name_of(result), result)
            if result.flow.lasts_s > before.flow.lasts_s:
                found[name_of(result)] = result
    return found


def name_of(result: Result) -> str:
    """The pair of a result: ``"h1-h4"``."""
    return f"{result.flow.source}-{result.flow.destination}"


def throughput_of(run: AtOnce, name: str) -> float | None:
    """What arrived of the transfers of that pair, all of them together, in Mbit/s; None if there is none."""
    found = [result.throughput_mbps for result in transfers(run) if name_of(result) == name]
    return sum(found) if found else None


def connections_of(run: AtOnce) -> dict[str, list[float]]:
    """What each connection of each pair carried, in Mbit/s, by pair; several programs of a pair count as one."""
    found: dict[str, list[float]] = {}
    for result in transfers(run):
        found.setdefault(name_of(result), []).extend(stream.throughput_mbps for stream in result.streams)
    return found


def state_of_run(run: AtOnce) -> NetworkState | None:
    """The network as it was read back right before the run."""
    return run.results[0].origin.network if run.results else None


def machine_trouble(run: AtOnce) -> str | None:
    """What the fidelity gate says against the machine, or None if the run can be judged."""
    return verdict_on(run).trouble


def refused(where: str, run: object, loads: Sequence[Load], with_pings: bool) -> Check | None:
    """A failed check if ``run`` is not the loads, side by side, for long enough; else None."""
    description, expected = f"{where}: the flows", _expected_flows(loads, with_pings)
    if run is None or run is ...:
        return Check.failing(description, "not measured yet", _AT_ONCE, expected, "None")
    if not isinstance(run, AtOnce):
        kind = type(run).__name__
        return Check.failing(description, f"this is a {kind}", _AT_ONCE, expected, kind)
    problem = next(_problems(run, loads, with_pings), None)
    if problem is None:
        return elsewhere(description, state_of_run(run))
    return Check.failing(description, problem[0], problem[1], expected, listed(map(name_of, run.results), ", "))


def run_checks(
    where: str,
    run: AtOnce,
    network: Network,
    loads: Sequence[Load],
    *,
    each_connection: bool = False,
    judged: int = 1,
) -> tuple[Check, ...]:
    """What a run gave, beside what theory expects: sums, shares, and the highest round trips.

    ``loads`` must be the run's (see `refused`), and ``judged`` is as in `linklab.analysis.experiment`. Where the
    machine was busy, a number that it can have made is inconclusive.
    """
    expected = expectations(run, network, loads, judged)
    trouble = machine_trouble(run)
    found = [*_sum_checks(where, run, expected, trouble)]
    rtts = pings(run)
    for one in expected.loads:
        name = one.load.name
        if one.share.rivals > one.load.connections:
            value = throughput_of(run, name)
            what = f"throughput of {name} ({where})"
            total = in_its_time(one.total, run.fidelity, one.share.path)
            found.append(_real(what, value, total, share_slips(one.share, one.total, one.load.connections), trouble))
        if each_connection and one.load.connections > 1:
            found += _connection_checks(where, run, one, trouble)
        if name in rtts:
            what = f"highest RTT of {name} ({where})"
            slips = loaded_rtt_slips(one.share.path, one.rtt_highest, one.share)
            highest = in_its_time(one.rtt_highest, run.fidelity, one.share.path, highest=True)
            found.append(_real(what, rtts[name].rtt_max_ms, highest, slips, trouble))
    return tuple(found)


def expectations(run: AtOnce, network: Network, loads: Sequence[Load], judged: int = 1) -> Experiment:
    """What theory expects of the run, for the network as it was read back."""
    duration_s = min((result.flow.duration_s for result in transfers(run)), default=SHORTEST_S)
    count = min((result.sent_packets for result in pings(run).values()), default=round(duration_s))
    return experiment(network, loads, duration_s, max(1, count), state_of_run(run), judged)


def _problems(run: AtOnce, loads: Sequence[Load], with_pings: bool) -> Iterator[tuple[str, str]]:
    """What is wrong with the flows, and what to do; the first counts."""
    sent = transfers(run)
    names = [name_of(result) for result in sent]
    wanted = [load.name for load in loads]
    strange = [name_of(it) for it in run.results if isinstance(it, UdpResult)]
    if strange:
        yield f"{strange[0]} is UDP", "TCP shares, UDP does not ask: give SimpleperfFlow or TcpFlow"
    missing = [name for name in wanted if name not in names]
    if missing and len(names) == 1 and len(wanted) > 1:
        yield f"{names[0]} ran alone", "flows share only if they run at the same time: put all into one list"
    turned = [name for name in missing if "-".join(reversed(name.split("-"))) in names]
    if turned:
        yield f"{turned[0]} was sent backwards", "source first: each direction of a link has a queue of its own"
    if missing:
        yield f"no transfer of {missing[0]}", f"this combination is {', '.join(wanted)}, all in one list"
    extra = [name for name in names if name not in wanted]
    if extra:
        yield f"{extra[0]} does not belong here", f"this combination is {', '.join(wanted)}"
    for load in loads:
        found = sum(result.flow.streams for result in sent if name_of(result) == load.name)
        if found != load.connections:
            yield f"{load.name} has {_connections(found)}", f"give it {load.connections} in all"
    short = [result for result in sent if result.flow.duration_s < SHORTEST_S]
    if short:
        yield (
            f"{name_of(short[0])} ran for {short[0].flow.duration_s:g} s",
            f"let each run 25 s: less than {SHORTEST_S} s is mostly TCP's start",
        )
    late = [result for result in sent if result.flow.start_s > _SKEW_MS / 1000]
    if late:
        yield f"{name_of(late[0])} began {late[0].flow.start_s:g} s late", "leave start_s away: all begin together"
    unpinged = [name for name in wanted if with_pings and name not in pings(run)]
    if unpinged:
        yield f"no pings of {unpinged[0]}", f"add a PingFlow of {unpinged[0]} to the same list"
    few = [result for name, result in pings(run).items() if with_pings and name in wanted and _too_few(result)]
    if few:
        yield (
            f"the pings of {name_of(few[0])} lasted {few[0].flow.count * few[0].flow.interval_s:.3g} s",
            "send 25, one a second: they are to see the whole transfer",
        )
    if run.interrupted:
        yield "it was stopped before its end", "run the cell again and let it finish"


def _too_few(result: PingResult) -> bool:
    return result.flow.count * result.flow.interval_s < SHORTEST_S


def _sum_checks(where: str, run: AtOnce, expected: Experiment, trouble: str | None) -> Iterator[Check]:
    for link, whole in expected.sums.items():
        mine = [
            one
            for one in expected.loads
            if one.share.bottleneck is not None and direction_of(one.share.bottleneck) == link
        ]
        values = [throughput_of(run, one.load.name) or 0.0 for one in mine]
        who = " + ".join(one.load.name for one in mine)
        theory = in_its_time(_of_own_spans(whole, mine, run), run.fidelity, mine[0].share.path)
        yield _real(f"throughput of {who}, through {link[0]} ({where})", sum(values), theory, (), trouble)


def _of_own_spans(whole: Expectation, mine: Sequence[LoadExpectation], run: AtOnce) -> Expectation:
    """The sum of means that are each taken over a program's own span.

    The spans begin and end up to a round trip apart, in which a program has more of the link than while all are there.
    """
    duration_s = min(result.flow.duration_s for result in transfers(run))
    apart_s = 2 * max(one.rtt_highest.value for one in mine) / 1000
    return replace(whole, high=whole.high * (1 + apart_s / duration_s)) if len(transfers(run)) > 1 else whole


def _connection_checks(where: str, run: AtOnce, one: LoadExpectation, trouble: str | None) -> Iterator[Check]:
    for number, rate in enumerate(connections_of(run)[one.load.name], 1):
        what = f"throughput of {one.load.name}, connection {number} ({where})"
        yield _real(what, rate, in_its_time(one.connection, run.fidelity, one.share.path), (), trouble)


def _real(
    what: str,
    value: float | None,
    expected: Expectation,
    slips: Iterable[Mistake],
    trouble: str | None,
) -> Check:
    """The check of a number that the tools measured themselves, in which no unit can be wrong."""
    how = f"is other traffic on the way, or was the network changed? Start it again. Theory: {expected.explanation}"
    return measured_check(what, value, expected, inconclusive=trouble, mistakes=tuple(slips), how=how)


def _expected_flows(loads: Sequence[Load], with_pings: bool) -> str:
    words = [f"{load.name} ({_connections(load.connections)})" if load.connections > 1 else load.name for load in loads]
    return f"{', '.join(words)}, at the same time" + (", each with pings" if with_pings else "")


def _connections(count: int) -> str:
    return f"{count} connection{'' if count == 1 else 's'}"
