"""Agreement in digits, growth, and the texts of numbers."""

from __future__ import annotations

import pytest

from tools.bench.statistics import (
    Sameness,
    agreement,
    growth_exponent,
    last_digit,
    median,
    range_text,
    round_to,
    seconds_text,
)


@pytest.mark.parametrize(
    ("values", "sameness", "rounded"),
    [
        ([20.0, 20.001, 20.0], Sameness.SAME, (20.0,)),
        ([27.86, 27.94], Sameness.SAME, (27.9,)),
        ([27.949, 27.951], Sameness.EDGE, (27.9, 28.0)),  # 0.02 units apart, an edge between them
        ([27.94, 27.97], Sameness.DIFFERENT, (27.9, 28.0)),  # 0.3 units apart
        ([27.0, 28.0], Sameness.DIFFERENT, (27.0, 28.0)),
        ([99.96, 100.04], Sameness.SAME, (100.0,)),
        ([0.0, 0.0], Sameness.SAME, (0.0,)),
        ([143.4, 143.6], Sameness.DIFFERENT, (143.0, 144.0)),
        ([60.0], Sameness.SAME, (60.0,)),
    ],
)
def test_agreement_in_three_digits(values: list[float], sameness: Sameness, rounded: tuple[float, ...]) -> None:
    found = agreement(values)
    assert (found.sameness, found.rounded) == (sameness, rounded)


def test_the_spread_is_in_units_of_the_last_digit() -> None:
    assert agreement([27.90, 27.93]).spread == pytest.approx(0.3)
    assert agreement([143, 145]).spread == pytest.approx(2)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_nothing_agrees_with_no_number(values: list[float]) -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        agreement(values)


def test_rounding_to_digits() -> None:
    assert (round_to(38.249), round_to(0.012345), round_to(1999)) == (38.2, 0.0123, 2000)
    assert (last_digit(38.2), last_digit(143), last_digit(0.5)) == pytest.approx((0.1, 1, 0.001))


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_growth_is_the_exponent_of_a_power_law(exponent: float) -> None:
    sizes = [10, 50, 100, 200]
    assert growth_exponent(sizes, [0.03 * size**exponent for size in sizes]) == pytest.approx(exponent)


@pytest.mark.parametrize(
    ("sizes", "times"), [([10], [1.0]), ([10, 10], [1.0, 2.0]), ([10, 20], [1.0, 0.0]), ([10, 20], [1.0])]
)
def test_growth_needs_two_sizes_and_positive_times(sizes: list[float], times: list[float]) -> None:
    with pytest.raises(ValueError, match="no growth"):
        growth_exponent(sizes, times)


def test_medians_and_texts() -> None:
    assert median([3, 1, 2]) == 2
    with pytest.raises(ValueError, match="no median"):
        median([])
    assert range_text([20.0, 20.0004], 3) == "20.000"
    assert range_text([20.0, 20.001], 3) == "20.000..20.001"
    assert (range_text([], 3), seconds_text([]), seconds_text([1.0]), seconds_text([120.4])) == (
        "-",
        "-",
        "1.00",
        "120",
    )
