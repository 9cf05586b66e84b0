"""Verdicts: what a claim is about decides who can judge it, and each verdict carries a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from linklab.errors import MeasurementError
from linklab.published import Claim, Threshold
from linklab.study import Measured, Missing
from linklab.study.claims import (
    Claims,
    Finding,
    Numbers,
    ShareOfRuns,
    Tables,
    by_repeat,
    by_thresholds,
    compared,
    difference,
    every,
    judged,
    outcome,
    share,
)
from linklab.study.table import StudyTable, Values

from . import pretend, tables

FAST = Claim("fast", "It is fast.", "V", "either", "rate_mbps above 10")
REAL = Claim("real", "The real network is slower.", "V", "hardware", "rate_mbps of both")


def measured(rate_mbps: float) -> StudyTable:
    return tables.table(pretend.STUDY, [({"size": 1, "kind": "a"}, 1, [Measured("rate_mbps", rate_mbps)])])


def fast(given: Tables) -> Finding:
    rate_mbps = given["made-up"].lookup("rate_mbps", size=1).same
    return Finding(rate_mbps > 10, f"{rate_mbps:g} Mbit/s")


def slower(given: Tables) -> Finding:
    real, ours = (given[name].lookup("rate_mbps", size=1).same for name in ("made-up", compared("made-up")))
    return Finding(real < ours, f"{real:g} against {ours:g} Mbit/s")


def both_printed(given: Tables) -> Finding:
    real = given["made-up"].lookup("rate_mbps", size=1).same
    return Finding(real < 9, f"{real:g} against 9 printed", papers_own=True)


JUDGES = {"fast": fast, "own": both_printed, "real": slower, "old": fast, "open": lambda _: Finding(None, "7 of 10")}
LACKING = measured(8).select(size=2)
NO_RATE = "the hardware's numbers do not suffice: the table of study made-up has no rate_mbps"


@pytest.mark.parametrize(
    ("claim", "ours", "hardware", "printed", "verdict", "because"),
    [
        (FAST, 11, None, None, "reproduced", "11 Mbit/s"),
        (FAST, 9, None, None, "not reproduced", "9 Mbit/s"),
        (replace(FAST, id="open"), 9, None, None, "open", "7 of 10"),
        (FAST, 11, None, 8, "reproduced", "11 Mbit/s; by the paper's own hardware numbers not reproduced: 8 Mbit/s"),
        (FAST, 11, None, LACKING, "reproduced", "11 Mbit/s"),
        (FAST, 11, 12, 8, "reproduced", "11 Mbit/s; by the hardware's numbers reproduced: 12 Mbit/s"),
        (FAST, 11, LACKING, None, "reproduced", f"11 Mbit/s; {NO_RATE} at size=1: linklab study run made-up"),
        (replace(FAST, about="Mininet"), 11, 8, None, "reproduced", "11 Mbit/s"),
        (REAL, 11, None, None, "not testable here", "rate_mbps of both"),
        (REAL, 11, None, 8, "reproduced", "by the paper's own hardware numbers: 8 against 11 Mbit/s"),
        (REAL, 11, 12, 8, "not reproduced", "by the hardware's numbers: 12 against 11 Mbit/s"),
        (REAL, 11, LACKING, None, "not testable here", f"{NO_RATE} at size=1: linklab study run made-up"),
        (replace(REAL, id="own"), 11, None, 8, "the paper's own numbers agree",
         "by the paper's own hardware numbers: 8 against 9 printed"),
        (replace(REAL, id="own"), 11, None, 10, "the paper's own numbers disagree",
         "by the paper's own hardware numbers: 10 against 9 printed"),
        (replace(FAST, by_construction="no limit"), 11, 8, None, "decided by construction",
         "no limit; 11 Mbit/s; by the hardware's numbers not reproduced: 8 Mbit/s"),
        (replace(FAST, id="old", not_testable="LiSA is gone"), 11, 8, None, "not testable here", "LiSA is gone"),
    ],
)  # fmt: skip
def test_what_a_claim_is_about_decides_whose_numbers_judge_it(
    claim: Claim,
    ours: float,
    hardware: float | StudyTable | None,
    printed: float | StudyTable | None,
    verdict: str,
    because: str,
) -> None:
    def tables_of(given: float | StudyTable | None) -> Tables:
        return {} if given is None else {"made-up": given if isinstance(given, StudyTable) else measured(given)}

    judges = {claim.id: JUDGES[claim.id]}
    (found,) = judged(Claims((claim,), judges, tables_of(printed)), tables_of(ours), tables_of(hardware))
    assert (found.verdict, found.because) == (verdict, because)


def test_a_table_without_the_rows_raises_and_of_own_levels_says_so() -> None:
    lacking = {"made-up": measured(11).select(size=2)}
    with pytest.raises(MeasurementError, match="has no rate_mbps at size=1: linklab study run made-up"):
        judged(Claims((FAST,), {"fast": fast}), lacking)
    (found,) = judged(Claims((FAST,), {"fast": fast}), lacking, partial=True)
    assert found.verdict == "not testable here"


def test_a_finding_without_a_number_a_claim_without_a_judge_and_a_judge_without_a_claim_are_refused() -> None:
    with pytest.raises(MeasurementError, match="gives no number"):
        Finding(True, "it seems so")
    with pytest.raises(MeasurementError, match="claim fast has no judge"):
        judged(Claims((FAST,), {}), {"made-up": measured(11)})
    with pytest.raises(MeasurementError, match="these judges belong to no claim: real"):
        judged(Claims((FAST,), {"fast": fast, "real": slower}), {"made-up": measured(11)})


def test_no_claim_is_judged_on_missing_points_and_others_are() -> None:
    point = pretend.STUDY.points()[0]
    whole = tables.table(
        pretend.STUDY, [({"size": size, "kind": "a"}, 1, [Measured("rate_mbps", 11)]) for size in (1, 2)]
    )
    one = replace(whole, frame=whole.frame, missing=(Missing(replace(point, repeat=2), "not measured"),))
    (found,) = judged(Claims((FAST,), {"fast": fast}), {"made-up": one})
    assert found.verdict == "not testable here"
    assert "1 of the points that it needs are missing in the table of study made-up (size=1 kind=a" in found.because
    other = replace(one, missing=tuple(Missing(it, "") for it in pretend.STUDY.points() if it["size"] == 3))
    (found,) = judged(Claims((FAST,), {"fast": fast}), {"made-up": other})
    assert found.verdict == "reproduced"
    asks: tuple[Callable[[StudyTable], object], ...] = (
        lambda table: table.each("rate_mbps", "size", kind="a"),
        lambda table: table.levels("size"),
        lambda table: table.runs("size", "kind"),
        lambda table: table.select(kind="a").levels("size"),
    )
    for ask in asks:
        ask(other)  # a page's tables and figures show what is there
        with pytest.raises(MeasurementError, match="points that it needs are missing"):
            ask(replace(other, complete=True))


@pytest.mark.parametrize(
    ("hits", "low", "high", "holds"),
    [(10, 0.6915, 1, True), (9, 0.5550, 0.9975, True), (7, 0.3475, 0.9333, None), (1, 0.0025, 0.4450, False)],
)
def test_a_share_has_the_interval_of_clopper_and_pearson_and_three_outcomes(
    hits: int, low: float, high: float, holds: bool | None
) -> None:
    found = ShareOfRuns(hits, 10, chance=True)
    assert found.interval == pytest.approx((low, high), abs=1e-4)
    assert found.holds is holds


THREE, TWO = [71.9, 72.6, 73.1, 73.4, 74.1], [71.4, 72.0, 72.3, 72.8, 73.1]


@pytest.mark.parametrize(
    ("holds", "given"),
    [
        (share([True, True], [1.5, 1.5]).holds, True),
        (share([False, True], [1.5, 1.5], [7.0, 7.0]).holds, False),  # half is not most
        (share([True, True], [1.5, 1.6]).holds, None),
        (share([True], [1.5]).holds, None),  # one repeat does not say whether chance has a hand
        (difference(THREE, TWO).holds, None),
        (difference([it + 3 for it in THREE], TWO).holds, True),
        (difference(TWO, [it + 3 for it in THREE]).holds, False),
        (difference([2, 2], [1, 1]).holds, True),
        (difference(Values((2, 2)), Values((1, 1))).holds, True),
        (share([True, True], Values((1.5, 1.6))).holds, None),
        (outcome(0.6, 0.9, 0.5), True),
        (outcome(0.5, 0.9, 0.5), None),
        (outcome(0.1, 0.5, 0.5), False),
        (every([True, True]), True),
        (every([True, None]), None),
        (every([None, False]), False),
    ],
)
def test_what_chance_leaves_open_is_open(holds: bool | None, given: bool | None) -> None:
    assert holds is given


def test_repeats_that_not_everything_has_and_a_single_one_are_refused() -> None:
    found = difference(THREE, TWO)
    assert (found.mean, found.low, found.high) == pytest.approx((0.70, -0.41, 1.81), abs=0.01)
    assert by_repeat([Values((1, 2)), Values((3, 4))]) == [(1, 3), (2, 4)]
    with pytest.raises(MeasurementError, match="the quantities do not have the same number of repeats"):
        by_repeat([Values((1, 2)), Values((3,), "rtt of h1")])
    with pytest.raises(MeasurementError, match="over two repeats or more: 1 is there"):
        difference([1], [1, 2])


REPEATS: list[Numbers] = [{"a": 1, "b": 3}, {"a": 1, "b": 3}, {"a": 1, "b": 1.5}]
SETTINGS: Numbers = {str(number): number for number in range(10)}


@pytest.mark.parametrize(
    ("numbers", "by", "holds", "says"),
    [
        (REPEATS, Threshold("x", ">=", 1, "{:g} of {} at least"), None, "3 of 3 repeats (95 % interval"),
        (REPEATS, Threshold("x", ">", 2, "{:g} of {} at most", "any"), None, "2 of 3 repeats (95 % interval"),
        (REPEATS, Threshold("x", "<", 2, "{:g} of {} at least", "any"), None, "; 1 of a at least"),
        (REPEATS, Threshold("x", "<", 1, "{:g} of {} at most"), None, "; 3 of b at most"),
        (REPEATS, Threshold("x", ">", 0, "{2:g}", "each"), True, "6 of 6 runs"),
        (REPEATS, Threshold("x", ">", 2, "{:g} at most", "each"), None, "; 0 of 3 with a, 2 of 3 with b; 3 at most"),
        ([{"a": 3}, {"a": 3, "b": 0}], Threshold("x", ">", 2, "{:g}", "each"), None, "2 of 2 with a, 0 of 1 with b"),
        (REPEATS[:2], Threshold("x", "within", (1, 3), ", {mean:g}", "apart"), False,
         "a: 2 of 2 repeats, alike with every seed, 1; b: 0 of 2 repeats, alike with every seed, 3"),
        ([{"a": 1}, {"a": 1, "b": 9}], Threshold("x", "<", 5, ", {mean:g}", "apart"), None, "b: 0 of 1 repeats"),
        ([{"a": 1, "b": 1}, {"a": 1}], Threshold("x", "<", 5, ", {mean:g}", "apart"), None, "b: 1 of 1 repeats"),
        (SETTINGS, Threshold("x", "<=", 8, "{:g} at most", "most"), True, "9 of 10 settings; 9 at most"),
        (SETTINGS, Threshold("x", "<=", 8, "{:g} at most"), False, "9 of 10 settings; 9 at most"),
        ({"a": 2.0}, Threshold("x", ">", 1, "{:g}"), True, "2"),
    ],
)  # fmt: skip
def test_a_threshold_decides_by_repeats_runs_things_or_settings(
    numbers: list[Numbers] | Numbers, by: Threshold, holds: bool | None, says: str
) -> None:
    found = by_thresholds([by], {"x": lambda _: numbers}, {})
    assert found.holds is holds
    assert says in found.because


def test_a_claim_of_several_thresholds_holds_where_all_do() -> None:
    low, high = Threshold("x", ">", -1, "{:g} at least"), Threshold("x", "<", 5, "{:g} at most")
    found = by_thresholds([low, high], {"x": lambda _: SETTINGS}, {})
    assert found == Finding(False, "10 of 10 settings; 0 at least; 5 of 10 settings; 9 at most")
