"""What Lab 07, Parallel connections, asks, and how it is judged.

h1 opens several connections to h4, h2 one to h5 and h3 one to h6, all at one time and all over L2. Expectations of
measurements come from `linklab.analysis` for the network as it was read back, those of predictions from the student's
course network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, fsum, isnan, sqrt
from pathlib import Path
from statistics import NormalDist, fmean, pstdev, stdev
from typing import Final

from linklab.analysis import Expectation, Load, tcp_throughput
from linklab.analysis.tcp_model import bottleneck_hop
from linklab.course import course_network
from linklab.grade.check import Check, Refuse, a_kind, collect_checks
from linklab.grade.choices import letters
from linklab.grade.measured import (
    SHORTEST_ALONE_S,
    TRANSFER_FLOWS,
    Transfer,
    expectations,
    measured,
    refuse_shared,
    refuse_without_theory,
    run_checks,
    run_of,
    state_of_run,
    throughput_of,
    transfers,
)
from linklab.grade.path_questions import fair_share, path_between, share_of
from linklab.grade.predictions import Predictions
from linklab.grade.questions import (
    Question,
    Slip,
    Value,
    among,
    as_number,
    asked,
    asked_each,
    asked_one,
    is_missing,
    stated,
)
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import Formula, Trial
from linklab.grade.wanted import Wanted, at_least, refuse_another_network, require_run, require_type
from linklab.labs.claims import claim, contradicts, run_of_several
from linklab.labs.multiplexing import mean_connections, mean_connections_mbps, own_parallel_simpleperf, rates_mbps
from linklab.labs.printed import connections, require_printed
from linklab.measure import Repeats, Run, UdpFlow
from linklab.network import goodput_ceiling_mbps

__all__ = ["CONNECTIONS", "mean_connections_mbps", "own_parallel_simpleperf", "rates_mbps", "t95"]

CONNECTIONS: Final = (1, 2, 4, 8)
"""How many connections h1 opens in the experiment."""
HOSTS: Final = 3
_RIVALS: Final = 2
_REPEATS: Final = 3
_FOLDER: Final = Path(__file__).parent
_TAKERS: Final = ("per connection", "per host")
_ONE_DECIMAL_MBPS: Final = 0.05 + 1e-9
"""Half of the last digit of a throughput with one decimal, as simpleperf and the lab's text print it."""
_WHOLE_PERCENT: Final = 0.5


def loads(connections: int) -> tuple[Load, ...]:
    """Return h1-h4 with so many connections, h2-h5 and h3-h6 with one each."""
    return (Load("h1", "h4", connections), Load("h2", "h5"), Load("h3", "h6"))


# --- Predictions


def _shares() -> list[Value]:
    return [_share("h1", "h1-h4"), _share("h2", "h2-h5")]


def _share(host: str, pair: str) -> Value:
    question = fair_share(host, f"throughput of {host}", share_of(loads(2), pair))
    by_connection = "L2 does not know hosts: four connections share it, and two of them are h1's"
    rate = _rate_mbps("L2")
    by_host = (
        Slip(part * whole, f"that is {words}, as if each host had the same", by_connection)
        for whole, of in ((goodput_ceiling_mbps(rate), ""), (rate, " of the rate"))
        for part, words in ((1 / HOSTS, f"a third{of}"), (1 / HOSTS / 2, f"half of a third{of}"))
    )
    return replace(question, slips=(*by_host, *question.slips))


def _parts() -> list[Value]:
    return [_predicted_part(max(CONNECTIONS))]


def _predicted_part(count: int) -> Value:
    right = 100 * count / (count + _RIVALS)
    one_each = "h2 and h3 have one connection each"
    slips = (
        Slip(100 / HOSTS, "that is a third, as if each host had the same", "count connections, not hosts"),
        Slip(100 / (count + _RIVALS), "that is the share of one connection",
             "add up the shares of all connections of h1"),
        Slip(100 * count / (count + 1), "that counts one other connection only", one_each),
        Slip(100 * count / (count + 3), "that counts three other connections", one_each),
        Slip(100 * count / _RIVALS, "that divides by the other connections only",
             "divide by all connections, h1's too"),
        Slip(goodput_ceiling_mbps(_rate_mbps("L2")) * right / 100, "that is in Mbit/s", "give the share in percent"),
    )  # fmt: skip
    hint = "connections share the link equally, whichever host they belong to"
    expected = stated(right, "%", "connections of h1 divided by all connections")
    return Value(count, f"share of h1, P = {count}", expected, hint, slips)


PREDICTIONS: Final = Predictions("Lab 07", {"shares": _shares, "predicted_parts": _parts})


# --- Connections, counted

_WITH_CONTROL: Final = 3
"""iperf3 -P 2 opens two connections for data and one for control."""


@guarded("Lab 07, connections")
def check_connections(said: object, counted: object) -> Iterator[Check]:
    """Judge what ``ss -tin`` printed on h1 while ``iperf3 -P 2`` to h4 ran, and how many connections that shows.

    The number is not looked at until ss shows what it should: of another test it may be right.
    """
    shown = collect_checks(lambda: _shown_check(said))
    yield from shown
    if not all(check.passed for check in shown):
        return
    hints = ("count the lines that begin with ESTAB", "count only those to h4's address, with data or without")
    slips = (
        Slip(2, "that counts only connections that carry data",
             "count all: one has a small bytes_sent, what is it for?"),
    )  # fmt: skip
    every = stated(_WITH_CONTROL, "connections", "two with data, one for control")
    question = Value(
        "", "connections from h1 to h4", every, hints, slips, by_tool=True, explanation=_TOLD_OF_CONNECTIONS
    )
    yield from question.checks(counted)


def _shown_check(said: object) -> Check:
    """Judge that ss shows iperf3's three connections to h4, each with what TCP knows about it."""
    address = course_network().address_of("h4")
    what, expected = "what ss shows", "h1's connections to h4, each with its cwnd"
    how = "start the client with popen, and store in said what ss -tin prints on h1 while the client runs"
    found = [it for it in require_printed(what, said, "ss -tin", connections, how) if it.peer == address]
    shown = f"{len(found)} to {address}"
    if len(found) != _WITH_CONTROL:
        reason = f"ss shows {len(found)} connections from h1 to h4 ({address})"
        hint = f"start iperf3 -c {address} -P 2 on h1 with popen, once, and run ss on h1 while it still sends"
        return Check.failing(what, reason, hint, expected, shown)
    if not any("cwnd" in it.values for it in found):
        hint = "ss -tin prints it: t shows TCP, i shows what TCP knows about each connection, n shows numbers"
        return Check.failing(what, "the text has no cwnd", hint, expected, shown)
    sent, received = (fsum(it.number(f"bytes_{way}") or 0 for it in found) for way in ("sent", "received"))
    if received > sent:
        return Check.failing(what, "h4 sent, and h1 received", "omit -R: the client sends", expected, shown)
    return Check.passing(what, expected, shown)


_TOLD_OF_CONNECTIONS: Final = """
`-P 2` asks for two connections with data. The third one is iperf3's *control connection*: over it client and server
agree on the test and exchange the results. `cwnd` is the congestion window in segments. Each connection has its own
`cwnd`, `rtt` and `ssthresh`. They share no window, although they have the same two hosts.
"""


# --- Measurements


_MEASUREMENT: Final = "Lab 07, the measurement"


@guarded(_MEASUREMENT)
def check_run(runs: object) -> Result:
    """Judge the measurement, repeated: what `linklab.measure.repeated` returned for the three transfers, h1's with two.

    Every run must hold all of them, at one time, and give the sum that theory expects of the network as read back; the
    shares are judged by run too.
    """
    how = "store what measure.repeated returned"
    runs = require_type("the runs", runs, Repeats, how, "several runs")
    count, expected = len(runs.runs), f"{_REPEATS} times or more"
    hint = f"use measure.repeated(lab, flows, repeats={_REPEATS}): a single run depends on chance"
    enough = (
        Check.passing("how often it was measured", expected, f"{count} times")
        if count >= _REPEATS
        else Check.failing("how often it was measured", f"{count} times", hint, expected, str(count))
    )
    # three hosts, and each of h1's two connections
    judged = count * (HOSTS + 2)
    found = [enough]
    for number, run in enumerate(runs.runs, 1):
        found += collect_checks(partial(_run_checks, f"run {number}", run, judged))
    result = Result(_MEASUREMENT, tuple(found))
    if not result.passed:
        return result
    h1, h2, _ = takers(runs.runs)[1]
    return PREDICTIONS.compared(result, "shares", {"h1": h1, "h2": h2})


def _run_checks(where: str, given: object, judged: int) -> Iterable[Check]:
    run = run_of(where, given, loads(2), with_pings=False)
    return run_checks(where, run, course_network(), loads(2), each_connection=True, judged=judged)


_EXPERIMENT: Final = "Lab 07, the experiment"


@guarded(_EXPERIMENT)
def check_experiment(runs: object, measured_percent: object) -> Result:
    """Judge the runs with each of `CONNECTIONS`, and the share of the traffic that h1 had in each, in percent."""
    if not isinstance(measured_percent, Mapping) and not is_missing(measured_percent):
        reason = f"this is {a_kind(measured_percent)}, not a dictionary"
        raise Refuse("shares of h1", reason, "write {1: ..., 2: ...}: a share for each number of connections")
    shares = measured_percent.items() if isinstance(measured_percent, Mapping) else ()
    percent = {str(count).removesuffix(".0"): share for count, share in shares}

    def judge(count: int, given: object) -> Iterator[Check]:
        where = f"P = {count}"
        run = run_of(where, given, loads(count), with_pings=False)
        yield from _measured_part(count, run).checks(percent.get(str(count)))
        theory = expectations(run, course_network(), loads(count), judged=len(CONNECTIONS)).loads[0]
        yield measured(f"throughput of h1-h4, {where}", throughput_of(run, "h1-h4"), theory.total)

    result = asked_each(_EXPERIMENT, runs, CONNECTIONS, judge, "{1: measure.run_together(...), ...}")
    found = {count: as_number(percent.get(count)) for count in map(str, CONNECTIONS)}
    return PREDICTIONS.compared(result, "predicted_parts", found)


def _measured_part(count: int, run: Run) -> Value:
    mine, whole = throughput_of(run, "h1-h4") or 0.0, fsum(result.throughput_mbps for result in transfers(run))
    right = 100 * mine / whole
    slips = (
        Slip(mine, "that is h1's throughput in Mbit/s", "divide it by the sum of all three"),
        Slip(100 * mine / _rate_mbps("L2"), "that divides by L2's rate, which includes headers",
             "divide by the sum of all three"),
        Slip(100 * right / (100 - right), "that divides by the other two only", "divide by the sum of all three"),
        *(Slip(100 * mine / other, f"that divides by {name[:2]}'s throughput", "divide by the sum of all three")
          for name in ("h2-h5", "h3-h6") if (other := throughput_of(run, name))),
        *(Slip(it, "that is what theory says", "take the throughputs of this run")
          for it in [100 * count / (count + _RIVALS)] if abs(it - right) > 2 * _WHOLE_PERCENT),
    )  # fmt: skip
    hints = ("which whole is the share a part of?", "h1-h4's throughput, divided by the sum of all three, times 100")
    why, allowance = "h1's throughput divided by the sum of all three", "rounding to a whole percent"
    expected = Expectation(right, right - _WHOLE_PERCENT, right + _WHOLE_PERCENT, "%", why, allowance=allowance)
    return Value("", f"share of h1, P = {count}", expected, hints, slips)


# --- Connections and hosts


def takers(runs: Sequence[Run]) -> tuple[list[float], list[float]]:
    """Return what each connection got, and what each host, in Mbit/s: means over the runs.

    A host has the sum of its connections.
    """
    means = mean_connections(runs)
    by_host = [means.get(load.name, []) for load in loads(2)]
    return [rate for rates in by_host for rate in rates], [fsum(rates) for rates in by_host]


@guarded("Lab 07, connections and hosts")
def check_parts(per_connection: object, per_host: object, runs: object) -> Iterator[Check]:
    """Judge two lists in Mbit/s, means over all runs, in any order: a number for each connection, one for each host."""
    what, how = "connections and hosts", "run the cell that fills runs"
    repeated = require_type(what, runs, Repeats, how, "several runs")
    each = [run_of(what, run, loads(2), with_pings=False) for run in repeated.runs]
    found = dict(zip(_TAKERS, takers(each), strict=True))
    given = {"per connection": per_connection, "per host": per_host}
    return (_list_check(name, given[name], found) for name in found)


def _list_check(name: str, given: object, takers: Mapping[str, Sequence[float]]) -> Check:
    one, right = name.removeprefix("per "), takers[name]
    ((other_key, other),) = ((key, rates) for key, rates in takers.items() if key != name)
    other_name = other_key.removeprefix("per ")
    what, expected = f"throughput {name}", f"{len(right)} numbers in Mbit/s, one for each {one}"
    if is_missing(given):
        return Check.failing(what, "not filled in yet", "write a list of numbers", expected, "None")
    each = list(given.values() if isinstance(given, Mapping) else given if hasattr(given, "__iter__") else [given])
    values = [as_number(value) for value in each]
    found = ", ".join(f"{value:.4g}" for value in values)
    if _alike(values, right):
        return Check.passing(what, expected, found)
    means = [right[0] / 2, *right[1:]] if one == "host" else []
    slips = (
        (other, f"these are the numbers for each {other_name}", f"give one number for each {one}"),
        (means, "h1 has the mean of its connections", "add up a host's connections"),
        ([value / 8 for value in right], "that looks like MByte/s", "give it in Mbit/s"),
    )
    concept = f"h1-h4 has two connections, the others have one each: how many {one}s are there?"
    for wrong, reason, step in slips:
        if wrong and _alike(values, wrong):
            return Check.failing(what, reason, (concept, step), expected, found)
    if any(map(isnan, values)):
        kinds = ", ".join(
            a_kind(it) if isnan(value) else f"{value:.4g}" for it, value in zip(each, values, strict=True)
        )
        hint = "write one list of plain numbers, without lists in it"
        return Check.failing(what, f"this has {kinds}", hint, expected, kinds)
    if len(values) != len(right):
        return Check.failing(what, f"{found}: that is not one number for each {one}", concept, expected, found)
    hints = ("use the means over all runs: mean_connections_mbps(runs)", concept)
    return Check.failing(what, f"{found} is not what was measured", hints, expected, found)


def _alike(values: Sequence[float], right: Sequence[float]) -> bool:
    if len(values) != len(right):
        return False
    pairs = zip(sorted(values), sorted(right), strict=True)
    return all(stated(two, "Mbit/s", "").holds(one) or abs(one - two) <= _ONE_DECIMAL_MBPS for one, two in pairs)


@guarded
def check_ninety(connections: object) -> Result:
    """Judge how many connections h1 must open to get 90 % of L2: it follows from shares by connection."""
    solve = "solve P / (P + 2) = 0.9 for P"
    asked_for = Value(
        "",
        "connections that h1 must open to get 90 % of L2, if h2 and h3 have one each",
        stated(18, "connections", "P / (P + 2) = 0.9"),
        ("h1's share is its connections divided by all connections", "write this for P connections of h1", solve),
        (
            Slip(20, "that is the number of all connections", "how many of them are h1's?"),
            Slip(9, "that counts one other connection only", "h2 and h3 have one connection each"),
            Slip(27, "that counts three other connections", "h2 and h3 have one connection each"),
            Slip(90, "that is the percentage itself", "how many connections get this share?"),
            Slip(1.8, "that is a tenth of the right number", "P is a whole number: solve the equation again"),
        ),
    )
    return asked_one("Lab 07, connections for 90 %", connections, asked_for)


check_fault = letters("Lab 07, what the results mean", _FOLDER, "whose_fault", "provider", "streams")
"""Judge letters: what is wrong if the index per host is below 1, what serves homes alike, which streams wait."""


# --- How sure a mean is

_ENOUGH_PERCENT: Final = 5
_MOST_RUNS: Final = 10_000
_EXACT_T95: Final[Mapping[int, float]] = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}


def t95(count: int) -> float:
    """Return Student's t for a two-sided 95 % interval of the mean of so many values, 2 or more.

    From 6 values on it is Abramowitz and Stegun, 26.7.5, with four terms: right to three digits.
    """
    if count < min(_EXACT_T95):
        raise ValueError(f"{count} values have no interval: two are the fewest")
    if count in _EXACT_T95:
        return _EXACT_T95[count]
    z, freedom = NormalDist().inv_cdf(0.975), count - 1
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + fsum(term / freedom**power for power, term in enumerate(terms, 1))


def _half_width(values: Sequence[float]) -> float:
    return t95(len(values)) * stdev(values) / sqrt(len(values))


_WIDTH: Final = "the half width is t * s / sqrt(n)"
_HALF_WIDTHS: Final = Trial(
    _half_width,
    {
        "four runs": ((7.2, 6.4, 8.1, 7.5),),
        "two runs": ((28.1, 27.7),),
        "ten runs": ((14.2, 13.1, 15.6, 12.9, 14.8, 13.7, 14.4, 15.1, 12.6, 14.0),),
    },
    (
        "what makes a mean surer: how much the values differ, and how many there are",
        "you need three parts: lab07.t95(n), statistics.stdev(values), and the square root of n",
        f"{_WIDTH}: lab07.t95(len(values)) * statistics.stdev(values) / len(values) ** 0.5",
    ),
    (
        Formula(lambda values: t95(len(values)) * stdev(values), "that is how far single runs lie apart",
                "the mean of n runs varies less than one run: divide by the square root of n"),
        Formula(lambda values: t95(len(values)) * stdev(values) / len(values), "that divides by n",
                "divide by the square root of n"),
        Formula(lambda values: stdev(values) / sqrt(len(values)), "that is the standard error of the mean",
                "it is one standard deviation of the mean: multiply by t for 95 %"),
        Formula(lambda values: t95(len(values)) * pstdev(values) / sqrt(len(values)), "that divides by n for s",
                "the mean is estimated from the same values: statistics.stdev divides by n - 1"),
        Formula(lambda values: NormalDist().inv_cdf(0.975) * stdev(values) / sqrt(len(values)),
                "that takes 1.96 for t", "1.96 is for very many runs: few runs tell little about s"),
        Formula(lambda values: 1.96 * stdev(values) / sqrt(len(values)), "that takes 1.96 for t",
                "1.96 is for very many runs: few runs tell little about s"),
        Formula(lambda values: t95(max(2, len(values) - 1)) * stdev(values) / sqrt(len(values)),
                "that is t of one run less", "lab07.t95 takes the number of values, and subtracts 1 itself"),
        Formula(lambda values: 2 * _half_width(values), "that is the whole width",
                "the half width reaches from the mean to one end"),
    ),
    tolerance=0.002,
)  # fmt: skip


@guarded("Lab 07, half the width of an interval")
def check_half_width(half_width: object) -> tuple[Check, ...]:
    """Judge a function that gives half the width of the 95 % confidence interval of the mean of a list of values."""
    return _HALF_WIDTHS.checks(half_width)


@guarded
def check_sure(answers: object, runs: object) -> Result:
    """Judge ``mean`` and ``half_width`` of h2's throughput over the runs, in Mbit/s, and how many ``runs`` it needs.

    These are the fewest with which the half width is 5 % of the mean or less, if mean and deviation stay. ``theory``
    is whether the fair share lies inside the interval.
    """
    title = "Lab 07, how sure the mean is"
    repeated = require_type("the runs", runs, Repeats, "run the cell that fills runs (section 3)", "several runs")
    values = [throughput_of(run, "h2-h5") or 0.0 for run in repeated.runs]
    if len(values) < _REPEATS:
        raise Refuse("the runs", f"{len(values)} runs", f"measure.repeated(lab, flows, repeats={_REPEATS + 1})")
    return asked(title, answers, _sure_questions(values), '{"mean": 1.2, "half_width": 1.2, "theory": "outside", ...}')


def _sure_questions(values: Sequence[float]) -> tuple[Question, ...]:
    middle, deviation, count = fmean(values), stdev(values), len(values)
    share = f"{_ENOUGH_PERCENT} % of the mean"
    needed = _runs_needed(deviation, middle * _ENOUGH_PERCENT / 100)
    by_z = ceil((NormalDist().inv_cdf(0.975) * deviation / (middle * _ENOUGH_PERCENT / 100)) ** 2)
    same_t = ceil((t95(count) * deviation / (middle * _ENOUGH_PERCENT / 100)) ** 2)
    whole = _runs_needed(deviation, middle * _ENOUGH_PERCENT / 200)
    runs = Expectation(needed, needed, needed, "runs", f"the fewest with t * s / sqrt(n) <= {share}")
    slips = (
        Slip(by_z, "that takes 1.96 for t", "t depends on the number of runs: use lab07.t95(n) of the number you try"),
        Slip(same_t, f"that takes t of {count} runs", "t falls with more runs: use lab07.t95(n) of the number you try"),
        Slip(whole, "that makes the whole width 5 %", "half of the width is to be 5 %"),
        Slip(needed - 1, "with so many the half width is still a little above 5 %", "try one more"),
        Slip(needed + 1, "one less is enough", "find the smallest number"),
    )
    theory = share_of(loads(2), "h2-h5").connection_mbps
    is_inside = abs(theory - middle) <= _half_width(values)
    return (
        Value("mean", "mean of h2's throughput", stated(middle, "Mbit/s", "the mean of the runs"),
              ("add up h2's throughputs, and divide", "statistics.mean(h2_mbps)")),
        Value("half_width", "half the width of its interval", stated(_half_width(values), "Mbit/s", _WIDTH),
              ("use your function half_width", "half_width(h2_mbps)"),
              (Slip(2 * _half_width(values), "that is the whole width", "from the mean to one end"),
               Slip(100 * _half_width(values) / middle, "that is in percent of the mean", "give it in Mbit/s"),
               Slip(deviation, "that is the standard deviation of the runs", _WIDTH))),
        Value("runs", f"runs until the half width is {share}", runs,
              ("what in t * s / sqrt(n) changes with more runs, and what stays?",
               "try n = 2, 3, 4, ... with the s of your runs: the first n that is good enough counts",
               f"the smallest n with lab07.t95(n) * s / n ** 0.5 <= {_ENOUGH_PERCENT / 100:g} * mean"), slips),
        among("theory", "where theory's value for h2 lies", ("inside", "outside"),
              "inside" if is_inside else "outside", {},
              ("compare the two ends of the interval with the number that theory gives for h2",
               "theory's number stands in the table below the check of section 3")),
    )  # fmt: skip


def _runs_needed(deviation: float, half_width: float) -> int:
    found = (count for count in range(2, _MOST_RUNS) if t95(count) * deviation / sqrt(count) <= half_width)
    return next(found, _MOST_RUNS)


# --- A claim to test

_ALONE: Final = "the run that shows it"
_CLEARLY: Final = 1.05
"""What "clearly more" is at least."""


def _nothing_left(given: object) -> Check:
    """Judge a transfer of several connections from h1 to h4 with nobody else: it gets what one connection gets."""
    run, opened = run_of_several(given, "h1-h4")
    fields = (at_least("duration_s", SHORTEST_ALONE_S),)
    wanted = Wanted[Transfer](TRANSFER_FLOWS, ("h1", "h4"), fields, connections=max(2, opened))
    others = dict.fromkeys((*TRANSFER_FLOWS, UdpFlow), "leave it out: h2 and h3 are silent in the sentence")
    how = "give what measure.run returned for the case of the sentence"
    found = require_run(_ALONE, run, [wanted], how, others)
    refuse_another_network(_ALONE, state_of_run(found))
    refuse_without_theory(_ALONE, state_of_run(found), [("h1", "h4")], limited=True)
    path = path_between("h1", "h4", state_of_run(found))
    alone = tcp_throughput(path)
    total = throughput_of(found, "h1-h4") or 0.0
    refuse_shared(_ALONE, replace(transfers(found)[0], throughput_mbps=total), bottleneck_hop(path).out)
    return contradicts(
        f"h1 gets clearly more than one connection alone, {alone.value:.4g} Mbit/s by theory",
        f"{total:.4g} Mbit/s",
        is_wrong=total < _CLEARLY * alone.value,
        step="is L2 as it was at the start? One connection must be able to fill it",
    )


check_claim = claim("Lab 07, a claim to test", _FOLDER, _nothing_left)
"""Judge the number of the wrong sentence on several connections, and the run that shows it."""


def _rate_mbps(link: str) -> float:
    return course_network().link(link).rate_mbps or 0.0
