"""The charts of measurements: all is on them, in lines and in words, nothing is covered, colours are the palette's."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from itertools import pairwise
from typing import Any

import pytest

from linklab import show
from linklab.analysis import Comparison, Load, jain_index, utilisation
from linklab.errors import LinklabError, MeasurementError, NetworkError
from linklab.measure import Sample, Stream, TcpFlow, TcpResult
from linklab.network import COURSE, TWO_HOSTS
from linklab.show import chart
from linklab.show.figure import Drawing
from tests.states import PLAN, change

from .charted import collisions, cut_off, ink, strange_colours, words
from .contrast import contrast, dark, inverted
from .drawn import outside, overlaps
from .gallery import LOADS, ORIGIN, ROWS, Gallery, figures, lab_figures, transfer

FIGURES = Gallery()
CHARTS = [name for name in FIGURES if not name.startswith(("draw", "pictures", "frames"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARTS)
def test_no_text_covers_another_or_is_cut_off(name: str) -> None:
    assert collisions(FIGURES[name]) == []
    assert cut_off(FIGURES[name]) == []


@pytest.mark.parametrize("name", CHARTS)
def test_colours_are_of_the_palette(name: str) -> None:
    assert strange_colours(FIGURES[name]) == set()


def test_every_function_that_draws_has_a_figure_here() -> None:
    modules = [importlib.import_module(it.name) for it in pkgutil.walk_packages(show.__path__, "linklab.show.")]
    drawing = {
        name
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__annotations__.get("return") == "Drawing" and not name.startswith("_")
    }
    assert drawing == {name.partition(":")[0] for name in figures()}


@pytest.mark.parametrize("lab", ["lab11", "lab12", "lab13"])
def test_every_figure_of_a_lab_is_here(lab: str) -> None:
    module = importlib.import_module(f"linklab.labs.{lab}.figures")
    drawing = {
        f"{lab}.{name}"
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__annotations__.get("return") == "Drawing | str" and not name.startswith("_")
    }
    assert drawing == {name.partition(":")[0] for name in lab_figures() if name.startswith(lab)}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_says_in_words_what_it_shows_and_is_a_picture(name: str) -> None:
    figure = FIGURES[name]
    assert len(figure.alt_text.split()) > 3
    assert figure.get_facecolor() == (1, 1, 1, 1)
    png = figure.png()
    assert png.startswith(b"\x89PNG")
    assert figure.alt_text[:30].encode() in png


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_texts_lines_and_bars_can_be_seen_in_print_and_in_the_dark_theme(name: str) -> None:
    """WCAG 2.2: 4.5 to 1 for text, 3 to 1 for what carries meaning."""
    seen = list(ink(FIGURES[name]))
    assert seen or name == "pictures"
    faint = [
        (what, colour, ground)
        for what, colour, ground, least in seen
        if contrast(colour, ground) < least or contrast(inverted(colour), dark(ground)) < least
    ]
    assert faint == []


@pytest.mark.parametrize("name", ["throughput", "round_trips", "compared", "fairness"])
def test_axes_are_labelled_with_their_units(name: str) -> None:
    labels = " ".join(f"{axes.get_xlabel()} {axes.get_ylabel()}" for axes in FIGURES[name].axes)
    wanted = {
        "throughput": ("seconds since", "(Mbit/s)"),
        "round_trips": ("seconds since", "RTT (ms)"),
        "compared": ("percent of what theory says",),
        "fairness": ("Mbit/s per connection", "Mbit/s per host"),
    }
    assert all(label in labels for label in wanted[name])


def _lines(figure: Drawing) -> dict[str, Any]:
    (axes,) = figure.axes
    return {str(line.get_label()): line for line in axes.get_lines()}


def test_each_connection_has_its_line_and_all_together_theirs() -> None:
    lines = _lines(FIGURES["throughput: of a run"])
    assert list(lines["h1-h4, 2 of 2"].get_ydata()) == [4, 4, 4, 4, 6, 6]
    assert list(lines["all together"].get_ydata()) == [21, 21, 28, 28, 28, 28]
    assert "theory: at most 28.69" in lines
    assert "fair share: 7.17" in lines
    assert "all together" not in _lines(FIGURES["throughput: one"])
    shown = [lines[name] for name in ("h1-h4, 1 of 2", "h1-h4, 2 of 2", "h2-h5")]
    assert len({line.get_color() for line in shown}) == len({str(line._dash_pattern) for line in shown}) == 3


def test_intervals_that_end_at_other_times_are_summed_by_their_time() -> None:
    late = TcpResult(
        TcpFlow("h2", "h5", 2), ORIGIN, 10, 1, 2.0, 0, "cubic",
        (Stream(10, ()),), (Sample(0.0, 0.5, 20.0), Sample(0.5, 2.003, 10.0)),
    )  # fmt: skip
    early = transfer("h1", "h4", (4.0, 8.0))
    total = _lines(show.throughput([early, late], together=True))["all together"]
    steps = list(zip(total.get_xdata(), total.get_ydata(), strict=True))
    assert steps == [(0, 24), (0.5, 24), (0.5, 14), (1, 14), (1, 18), (2, 18)]
    assert all(one[0] <= two[0] for one, two in pairwise(steps))


def test_the_queue_s_share_is_shaded_and_a_lost_ping_marked() -> None:
    loaded, idle = FIGURES["round_trips"].axes
    assert [line.get_ydata() for line in loaded.get_lines() if line.get_label() == "lost"] == [[60.0]]
    assert not [line for line in idle.get_lines() if line.get_label() == "lost"]
    (shade,) = loaded.collections
    corners: list[Any] = [path.vertices for path in shade.get_paths()]
    heights = {float(y) for some in corners for _, y in some}
    assert min(heights) == 60
    assert max(heights) == 80.3
    assert "queue full: 80.4 ms" in words(FIGURES["round_trips"])
    assert "delays of the links alone: 60 ms" in words(FIGURES["round_trips"])
    assert FIGURES["round_trips"].alt_text.startswith(
        "Round-trip times of h1-h4: 3 answered, 1 lost, 60.0 to 80.3 ms, mean 70.8, of which queues make 10.8. "
    )


def test_numbers_far_from_theory_stand_at_the_edge_with_what_they_are() -> None:
    shown = words(FIGURES["compared"])
    assert "941 % \u2192" in shown
    assert "\u2190 12.6 %" in shown
    assert [name for name in ("predicted", "report", "measured") if name in shown] == ["predicted", "measured"]
    assert "RTT of h1-h4, 60 ms" in shown
    assert "measured" not in words(show.compared([Comparison("x", "ms", 20, 20)]))
    assert "throughput of h1-h9 in Mbit/s: theory 17, predicted 160, measured 16.19." in (FIGURES["compared"].alt_text)


def test_dots_stand_where_their_numbers_are() -> None:
    (axes,) = show.compared(ROWS[:1]).axes
    places = {line.get_marker(): float(line.get_xdata()[0]) for line in axes.get_lines() if line.get_marker() != "None"}  # type: ignore[index,arg-type]
    assert places["o"] == pytest.approx(100)
    assert places["D"] == pytest.approx(50)


def test_fairness_has_both_indices_and_the_equal_share() -> None:
    per_connection, per_host = FIGURES["fairness"].axes
    assert (
        per_connection.get_title(loc="left")
        == f"per connection: Jain's index {jain_index([6.04, 7.88, 7.48, 7.82]):.3f}"
    )
    assert per_host.get_title(loc="left") == "per host: Jain's index 0.916"
    assert len(FIGURES["fairness: of hosts"].axes) == 1
    equal: Any = per_host.get_lines()[0]
    assert list(equal.get_xdata()) == [pytest.approx(29.22 / 3)] * 2
    assert [round(bar.get_width(), 2) for bar in per_host.patches] == [13.92, 7.48, 7.82]  # type: ignore[attr-defined]


def test_the_network_carries_the_use_of_its_links() -> None:
    figure = show.draw(COURSE, title="Used", uses=utilisation(COURSE, LOADS))
    assert overlaps(figure) == []
    assert outside(figure) == []
    said = words(figure)
    assert "L1  r1\u2192r2 75 %" in said
    assert "L3  r3\u2192r4 38 %, r4\u2192r3 100 %" in said
    assert any("the wider, the more" in text for text in said)
    assert "L1, r1 to r2: 30.00 of 40 Mbit/s used, 75 %." in figure.alt_text
    bands = [line for line in figure.axes[0].get_lines() if line.get_color() in (chart.BLUE, chart.VERMILLION)]
    assert [line.get_color() for line in bands] == [chart.BLUE, *[chart.VERMILLION] * 2]
    widths = [line.get_linewidth() for line in bands]
    assert widths[0] < widths[1] == widths[2]


def test_a_network_with_a_link_without_a_name_carries_it_too() -> None:
    figure = show.draw(TWO_HOSTS, uses=utilisation(TWO_HOSTS, [Load("h1", "h2")], [4.0]))
    assert "h1\u2192h2 42 %" in words(figure)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: show.throughput([]), "measure with an interval"),
        (lambda: show.throughput([transfer("h1", "h4", *[(1.0,)] * 7)]), "7 lines in one figure"),
        (lambda: show.round_trips([]), "no round trips"),
        (lambda: show.round_trips([show.RoundTrips("L1", (), 1, 20)]), "no round trips"),
        (lambda: show.compared([]), "nothing to compare"),
        (lambda: show.compared([Comparison("RTT of L1", "ms", measured=20)]), "RTT of L1 has no value by theory"),
        (lambda: show.fairness({}), "of no values"),
        (lambda: show.fairness({"h1-h4": [0.0]}), "nothing but zeros"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(call: Any, says: str) -> None:
    with pytest.raises(MeasurementError, match=says) as caught:
        call()
    assert isinstance(caught.value, LinklabError)
    assert "\n" not in str(caught.value)


def test_a_use_where_no_cable_is_is_refused() -> None:
    cut = change(change(PLAN, "r2-eth2", peer=None), "r3-eth0", peer=None)
    with pytest.raises(NetworkError, match="no cable joins r2 and r3"):
        show.draw(cut, uses=utilisation(COURSE, LOADS))


def test_the_table_of_comparisons() -> None:
    lines = str(show.comparison(ROWS, "Beside theory")).splitlines()
    assert lines[1].split("  ")[0] == "quantity"
    for heading in ("unit", "predicted", "theory", "expected", "report", "measured", "remark"):
        assert heading in lines[1]
    assert "59.95 to 60.14" in lines[3]
    assert "69.61" in lines[3]
    assert "one way?" in lines[3]
    page = show.comparison(ROWS)._repr_html_()
    assert '<td style="text-align:right">69.61</td>' in page
    assert "expected" not in str(show.comparison(ROWS[2:]))
