"""Jain's index and the small statistics."""

from __future__ import annotations

import math
import random

import pytest

from linklab.analysis import answered, between, jain_index
from linklab.errors import MeasurementError


@pytest.mark.parametrize(
    ("values", "index"),
    [
        ([1], 1),
        ([5, 5, 5], 1),
        ([1, 0], 0.5),
        ([1, 0, 0, 0], 0.25),
        ([1, 1, 0, 0], 0.5),  # k of n have the same: k / n
        ([3, 1], 0.8),
        ([13.73, 15.00], 0.9980),
        ([28.39, 19.09], 0.9631),
        ([6.04, 7.88, 7.48, 7.82], 0.9897),
        ([6.04 + 7.88, 7.48, 7.82], 0.9155),
    ],
)
def test_jain_s_index_of_known_shares(values: list[float], index: float) -> None:
    assert jain_index(values) == pytest.approx(index, abs=5e-5)


def test_neither_unit_nor_order_matter_and_it_stays_between_one_nth_and_one() -> None:
    chance = random.Random(5)
    for _ in range(200):
        values = [chance.expovariate(1) for _ in range(chance.randint(1, 9))]
        index = jain_index(values)
        assert 1 / len(values) - 1e-12 <= index <= 1 + 1e-12
        assert jain_index([value * 1e6 for value in values]) == pytest.approx(index)
        assert jain_index(values[::-1]) == pytest.approx(index)


def test_very_large_and_small_numbers_do_not_break_it() -> None:
    assert jain_index([1e300, 1e300]) == 1
    assert jain_index([3e-300, 1e-300]) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([], "of no values"),
        ([0, 0], "nothing but zeros"),
        ([1, -1], "one is -1"),
        ([1, math.nan], "one is nan"),
        ([math.inf], "one is inf"),
    ],
)
def test_what_has_no_index_is_refused(values: list[float], says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        jain_index(values)


def test_small_statistics() -> None:
    assert (between(5, 0, 1), between(-5, 0, 1), between(0.5, 0, 1)) == (1, 0, 0.5)
    assert answered([20.0, None, 21.0, math.nan]) == (20.0, 21.0)
