"""Growth, and the texts of numbers."""

from __future__ import annotations

import pytest

from tools.bench.part import growth_exponent, median, range_text, seconds_text


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
