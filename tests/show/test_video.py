"""Figures of a video stream: what they say, what they draw, and what they take for what."""

from __future__ import annotations

import pytest

from linklab.errors import MeasurementError
from linklab.show.video import distribution, pictures, rate_over_time, similarity_over_time

from .charted import points


@pytest.mark.parametrize("count", [50, 101])
def test_a_series_of_any_length_is_a_series(count: int) -> None:
    values = [float(value) for value in range(count, 0, -1)]
    drawn = points(distribution({"gaps": values}, "time between packets", "ms"))["gaps"]
    assert drawn[0] == (1, 0)
    assert drawn[-1] == (count, 100)
    assert [value for value, _ in drawn] == sorted(value for value, _ in drawn)
    assert {share: value for value, share in drawn}[50] == pytest.approx((count + 1) / 2)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(MeasurementError, match="nothing to draw"):
        rate_over_time({})
    with pytest.raises(MeasurementError, match="nothing to draw"):
        similarity_over_time({"one": [1.0]}, 60)
    with pytest.raises(MeasurementError, match="all values of gaps are 0"):
        distribution({"gaps": [0.0, 0.0]}, "jitter", "ms")
    with pytest.raises(MeasurementError, match="no picture to show"):
        pictures([])


def test_the_link_s_limit_is_said_and_drawn() -> None:
    figure = rate_over_time({"wan": [900.0, 1800.0]}, limit_kbps=1979.6)
    assert figure.alt_text.endswith("wan: 900 to 1800. Levels: the link carries 1980.")
    assert "the link carries 1980" in [text.get_text() for text in figure.axes[0].texts]
    assert points(figure)["wan"] == [(0, 900), (1, 900), (1, 1800), (2, 1800)]
