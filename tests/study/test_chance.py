"""Shares of runs and differences of means: their intervals, and the three outcomes."""

from __future__ import annotations

import pytest

from linklab.errors import MeasurementError
from linklab.study.chance import ShareOfRuns, by_repeat, difference, every, outcome, share
from linklab.study.table import Values


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


def test_where_chance_has_no_hand_the_share_itself_decides() -> None:
    assert share([True, True], [1.5, 1.5]).holds is True
    assert share([False, True], [1.5, 1.5], [7.0, 7.0]).holds is False, "half is not most"
    assert share([True, True], [1.5, 1.6]).holds is None
    assert share([True], [1.5]).holds is None, "one repeat does not say whether chance has a hand"


def test_a_difference_that_is_not_significant_is_open() -> None:
    three, two = [71.9, 72.6, 73.1, 73.4, 74.1], [71.4, 72.0, 72.3, 72.8, 73.1]
    found = difference(three, two)
    assert (found.mean, found.low, found.high) == pytest.approx((0.70, -0.41, 1.81), abs=0.01)
    assert found.holds is None
    assert difference([it + 3 for it in three], two).holds is True
    assert difference(two, [it + 3 for it in three]).holds is False
    assert difference([2, 2], [1, 1]).holds is True


def test_a_bound_within_an_interval_is_open_and_a_claim_holds_where_all_its_parts_do() -> None:
    assert [outcome(*it, 0.5) for it in ((0.6, 0.9), (0.1, 0.5), (0.4, 0.6))] == [True, False, None]
    assert every([True, True]) is True
    assert every([True, None]) is None
    assert every([None, False]) is False


def test_repeats_that_not_everything_has_are_refused() -> None:
    assert by_repeat([Values((1, 2)), Values((3, 4))]) == [(1, 3), (2, 4)]
    with pytest.raises(MeasurementError, match="not everything has all repeats"):
        by_repeat([Values((1, 2)), Values((3,), "rtt of h1")])
    with pytest.raises(MeasurementError, match="over two repeats or more: 1 is there"):
        difference([1], [1, 2])
