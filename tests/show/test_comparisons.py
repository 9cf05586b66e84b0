"""Numbers beside theory, as a table and as dots, and fair shares: where each stands, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from linklab import show
from linklab.analysis import Comparison
from linklab.errors import MeasurementError

from .charted import words
from .gallery import ROWS, Gallery

FIGURES = Gallery()


def test_the_table_of_comparisons() -> None:
    lines = str(show.comparison(ROWS, "Beside theory")).splitlines()
    headings = ["quantity", "unit", "predicted", "theory", "expected", "report", "measured", "remark"]
    assert lines[1].split() == headings
    for text in ("59.95 to 60.14", "69.61", "one way?"):
        assert text in lines[3]
    assert "expected" not in str(show.comparison(ROWS[2:]))


def test_numbers_far_from_theory_stand_at_the_edge_with_what_they_are() -> None:
    shown = words(FIGURES["compared"])
    assert {"941 % \u2192", "\u2190 12.6 %", "RTT of h1-h4, 60 ms", "predicted", "measured"} <= set(shown)
    assert "measured" not in words(show.compared([Comparison("x", "ms", 20, 20)]))
    assert "throughput of h1-h9 in Mbit/s: theory 17, predicted 160, measured 16.19." in FIGURES["compared"].alt_text


def test_dots_stand_where_their_numbers_are() -> None:
    (axes,) = show.compared(ROWS[:1]).axes
    lines: list[Any] = axes.get_lines()
    places = {line.get_marker(): float(line.get_xdata()[0]) for line in lines if line.get_marker() != "None"}
    assert places == {"o": pytest.approx(100), "D": pytest.approx(50)}


def test_fairness_has_both_indices_and_the_equal_share() -> None:
    per_connection, per_host = FIGURES["fairness"].axes
    assert "per connection: Jain's index 0.99" in per_connection.get_title(loc="left")
    assert per_host.get_title(loc="left") == "per host: Jain's index 0.916"
    equal: Any = per_host.get_lines()[0]
    assert list(equal.get_xdata()) == [pytest.approx(29.22 / 3)] * 2
    bars: list[Any] = list(per_host.patches)
    assert [round(bar.get_width(), 2) for bar in bars] == [13.92, 7.48, 7.82]


@pytest.mark.parametrize(
    ("act", "wrong", "says"),
    [
        (show.compared, [], "nothing to compare"),
        (show.compared, [Comparison("RTT of L1", "ms", measured=20)], "RTT of L1 has no value by theory"),
        (show.fairness, {}, "of no values"),
        (show.fairness, {"h1-h4": [0.0]}, "nothing but zeros"),
    ],
)
def test_what_cannot_be_drawn_is_refused(act: Any, wrong: Any, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        act(wrong)
