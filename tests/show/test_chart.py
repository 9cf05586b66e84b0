"""The chart helper: words are a must, lines differ in every way, and nothing is cut off."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from linklab.errors import MeasurementError
from linklab.show import chart
from linklab.show.figure import DARK_FILTER
from linklab.show.widgets.page import FOLDER

from .charted import collisions, cut_off, words
from .contrast import JUPYTER_DARK, VISIONS, WHITE, contrast, distance, inverted, lightness

NAMES = [f"a line with a long name, {number}" for number in range(len(chart.LINES))]


def test_there_is_no_figure_without_words() -> None:
    with pytest.raises(ValueError, match="give alt_text"):
        chart.chart(" ", x="seconds", y="Mbit/s")


def test_a_chart_with_all_that_it_may_have_has_room_for_it() -> None:
    figure, axes = chart.chart("Six lines.", x="seconds since the start", y="throughput (Mbit/s)")
    for name, height, style in chart.told_apart({name: number for number, name in enumerate(NAMES)}, markers=True):
        axes.plot([0, 1000], [height, height], label=name, **style)
    chart.level(axes, 3.5, "theory: at most 3.5 Mbit/s")
    chart.legend(axes, columns=2)
    assert {*NAMES, "seconds since the start", "throughput (Mbit/s)", "theory: at most 3.5 Mbit/s"} <= set(
        words(figure)
    )
    assert collisions(figure) == []
    assert cut_off(figure) == []


def test_lines_write_their_alt_text_and_draw_levels() -> None:
    series = {"one": ([0, 1, 2], [1.0, float("nan"), 3.25]), "two": ([0, 1], [2.0, 4.0])}
    figure = chart.lines("Round trips", series, "seconds", "RTT (ms)", {"floor: 1 ms": 1.0, "queue full": 5.0})
    assert figure.alt_text == "Round trips. one: 1 to 3.25; two: 2 to 4. Levels: floor: 1 ms; queue full."
    assert {"one", "two", "seconds", "RTT (ms)", "floor: 1 ms", "queue full"} <= set(words(figure))
    assert figure.axes[0].get_ylim()[0] == 0
    for nothing in ({}, {"one": ([0.0], [1.0])}):
        with pytest.raises(MeasurementError, match="nothing to draw"):
            chart.lines("Round trips", nothing, "seconds", "RTT (ms)")


def test_what_cannot_be_told_apart_is_refused() -> None:
    with pytest.raises(MeasurementError, match="7 lines in one figure cannot be told apart"):
        list(chart.told_apart(dict.fromkeys(map(str, range(7)))))


def test_a_name_has_its_colour_again_and_no_other_line_of_the_figure_has_it() -> None:
    first, second = chart.style_numbers(["r1 to r2", "r2 to r3"], 6)
    assert chart.style_numbers(["r2 to r3", "new", "r1 to r2"], 6)[::2] == [second, first]
    for count in range(40):
        names = [f"link {number}" for number in range(count, count + 6)]
        assert sorted(chart.style_numbers(names, 6)) == [0, 1, 2, 3, 4, 5]


def test_the_widgets_begin_with_the_same_colours() -> None:
    script = (FOLDER / "src" / "scheme.js").read_text("utf-8")
    for colour, _, _ in chart.LINES:
        assert f'"{colour.lower()}"' in script.partition("COLOURS = ")[2].partition("]")[0]


def test_lines_differ_in_dashes_markers_and_grey_and_for_the_colour_blind() -> None:
    styles = [style for _, _, style in chart.told_apart(dict.fromkeys(NAMES), markers=True)]
    for one, other in combinations(styles, 2):
        assert str(one["linestyle"]) != str(other["linestyle"])
        assert one["marker"] != other["marker"]
        assert abs(lightness(one["color"]) - lightness(other["color"])) > 5
        for vision in VISIONS:
            assert distance(one["color"], other["color"], vision) > 15, (one["color"], other["color"], vision)


def test_lines_and_texts_have_contrast_on_paper_and_inverted_in_the_dark_theme() -> None:
    for colour, least in [*((it, 3) for it, _, _ in chart.LINES), (chart.GREY, 4.5), (chart.BLACK, 4.5)]:
        assert contrast(colour, WHITE) >= least
        assert contrast(inverted(colour), JUPYTER_DARK) >= least


@pytest.mark.parametrize(
    ("least", "most", "wanted"),
    [(9, 20, {"10", "12", "15", "20"}), (0.5, 60, {"1", "5", "10", "50"}), (9e-4, 20, {"0.001", "0.1", "10"})],
)
def test_a_logarithmic_axis_has_plain_numbers(least: float, most: float, wanted: set[str]) -> None:
    figure, axes = chart.chart("An axis.", x="", y="Mbit/s")
    chart.logarithmic(axes, "y", least, most)
    axes.plot([0, 1], [least, most])
    assert wanted <= set(words(figure))


def test_a_notebook_in_a_dark_theme_shows_figures_inverted_but_no_photographs_and_no_print() -> None:
    figure, _ = chart.chart("A figure.", x="", y="")
    html = figure._repr_mimebundle_()["text/html"]
    (rule,) = re.findall(r"<style>@media screen{(.*)}</style>", html)
    assert rule == f'body[data-jp-theme-light="false"] img.linklab-figure{{filter:{DARK_FILTER}}}'
    assert '<img class="linklab-figure" ' in html
    figure.photograph = True
    assert re.match(r'<img src="data:image/png;base64,', figure._repr_mimebundle_()["text/html"])
