"""How repeats scatter, on numbers drawn from known distributions with fixed seeds."""

from __future__ import annotations

import math
import random

import pytest

from linklab.measure.repeats import deviation_share, disagree, mean_known_to, repeats_for, two_states

COUNTS = (3, 5, 10, 30)


def _share(count: int, deviation: float, series: int = 1000) -> float:
    """How many series of so many normal repeats around 30 are said to disagree; the deviation is a share."""
    chance = random.Random(count)
    return sum(disagree([chance.gauss(30, 30 * deviation) for _ in range(count)]) for _ in range(series)) / series


def test_false_alarms_grow_rarer_with_the_number_of_repeats() -> None:
    shares = [_share(count, 0.015) for count in COUNTS]
    assert shares == sorted(shares, reverse=True)
    # P(chi-squared with n - 1 degrees of freedom > (n - 1) * (2.5 / 1.5)**2)
    assert shares == pytest.approx([0.062, 0.025, 0.003, 0.0], abs=0.02)


@pytest.mark.slow
def test_the_more_repeats_the_surer_a_real_scatter_is_seen() -> None:
    shares = [_share(count, 0.04) for count in COUNTS]
    assert shares == sorted(shares)
    assert shares[0] > 0.6
    assert shares[-1] > 0.99


def test_how_well_the_mean_is_known_by_hand() -> None:
    # s = 4, Student's quantile for 2 degrees of freedom 4.303
    assert deviation_share([20.0, 24.0, 28.0]) == pytest.approx(4 / 24)
    assert mean_known_to([20.0, 24.0, 28.0]) == pytest.approx(4.303 * 4 / 3**0.5, rel=1e-3)
    # t * 16.7 % / root of n is under 5 % from 46 on, where t is 2.014
    assert repeats_for([20.0, 24.0, 28.0]) == 46
    assert mean_known_to([3.0]) == math.inf
    assert (deviation_share([3.0]), deviation_share([0.0, 0.0]), deviation_share([-1.0, 1.0])) == (0.0, 0.0, math.inf)


def test_small_times_agree_whatever_their_share() -> None:
    assert not disagree([1.0, 1.3], least=0.5)
    assert disagree([1.0, 1.6], least=0.5)
    assert not disagree([1.0])


def test_two_states_are_told_from_a_wide_spread() -> None:
    assert two_states((20.0, 28.0, 20.1, 28.2)) == ((20.0, 20.1), (28.0, 28.2))
    assert two_states((20.0, 22.0, 24.0, 26.0, 28.0)) is None
    assert two_states((20.0, 28.0, 28.1, 28.2)) is None  # one alone may be an outlier
    assert two_states((20.0, 28.0)) is None
    assert two_states((20.0, 20.0, 28.0, 28.0)) == ((20.0, 20.0), (28.0, 28.0))
    assert two_states((5.0, 5.0, 5.0, 5.0)) is None


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 5, 6, 8, 10, 15, 20, 30])
def test_one_state_is_hardly_ever_taken_for_two(count: int) -> None:
    chance = random.Random(count)
    for draw, numbers in ((chance.gauss, (24, 2)), (chance.uniform, (20, 28))):
        wrong = sum(two_states([draw(*numbers) for _ in range(count)]) is not None for _ in range(1000))
        assert wrong <= 30


@pytest.mark.parametrize("count", [6, 10, 30])
def test_two_states_are_found_however_many_repeats_there_are(count: int) -> None:
    chance = random.Random(count)
    series = [[(20, 28)[number % 2] * (1 + 0.015 * chance.gauss(0, 1)) for number in range(count)] for _ in range(100)]
    found = [clusters for values in series if (clusters := two_states(values)) is not None]
    assert len(found) >= 95
    assert {tuple(map(len, clusters)) for clusters in found} == {(count // 2, count // 2)}
