"""Throughput over time: what the figure shows, in lines and in words, and how it grows while a program runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from linklab import show
from linklab.measure import Sample
from linklab.show import live_views
from linklab.show.figure import Drawing

RATES = {"one": (10.0, 20.0, 15.0), "two": (5.0, 5.0)}


def _curves(rates: dict[str, tuple[float, ...]] = RATES) -> dict[str, tuple[Sample, ...]]:
    return {
        name: tuple(Sample(float(second), second + 1.0, rate) for second, rate in enumerate(values))
        for name, values in rates.items()
    }


def _numbers(data: Any) -> list[float]:
    return [float(number) for number in data]


def _lines(figure: Drawing) -> dict[str, list[tuple[float, float]]]:
    (axes,) = figure.axes
    return {
        str(line.get_label()): list(zip(_numbers(line.get_xdata()), _numbers(line.get_ydata()), strict=True))
        for line in axes.get_lines()
        if not str(line.get_label()).startswith("_")
    }


def test_each_interval_is_a_step_at_its_rate() -> None:
    assert _lines(show.throughput(_curves())) == {
        "one": [(0, 10), (1, 10), (1, 20), (2, 20), (2, 15), (3, 15)],
        "two": [(0, 5), (1, 5), (1, 5), (2, 5)],
    }


def test_lines_differ_in_more_than_colour() -> None:
    (axes,) = show.throughput(_curves({str(number): (1.0,) for number in range(5)})).axes
    lines: list[Any] = axes.get_lines()
    assert len({line.get_color() for line in lines}) == 5
    assert len({str(line._dash_pattern) for line in lines}) == 5


def test_the_figure_says_in_words_what_it_shows() -> None:
    assert show.throughput(_curves(), ceiling_mbps=28.69).alt_text == (
        "Throughput over time. one: 3 intervals from 0.0 to 3.0 s, 10.00 to 20.00, mean 15.00 Mbit/s. "
        "two: 2 intervals from 0.0 to 2.0 s, 5.00 to 5.00, mean 5.00 Mbit/s. "
        "Theory allows at most 28.69 Mbit/s."
    )
    assert show.throughput({"one": ()}).alt_text == "Throughput over time. No interval yet."


def test_axes_begin_at_nothing_and_hold_all_of_it() -> None:
    (axes,) = show.throughput(_curves(), ceiling_mbps=28.69, duration_s=10).axes
    assert axes.get_xlim() == (0, 10)
    low, high = axes.get_ylim()
    assert low == 0
    assert high > 28.69
    (axes,) = show.throughput(_curves({"one": (90.0,)}), ceiling_mbps=28.69, duration_s=0.5).axes
    assert axes.get_ylim()[1] > 90
    assert axes.get_xlim() == (0, 1)


def _read(lines: Sequence[str]) -> dict[str, tuple[Sample, ...]]:
    return _curves({"one": tuple(float(line) for line in lines if line)})


class _Handle:
    """Instead of the notebook's: what was drawn, in words."""

    def __init__(self, figure: Drawing) -> None:
        self.shown = [figure.alt_text]

    def update(self, figure: Drawing) -> None:
        self.shown.append(figure.alt_text)


@pytest.fixture
def handles(monkeypatch: pytest.MonkeyPatch) -> list[_Handle]:
    made: list[_Handle] = []

    def displayed(figure: Any) -> _Handle:
        made.append(_Handle(figure))
        return made[-1]

    monkeypatch.setattr(live_views, "_in_notebook", lambda: True)
    monkeypatch.setattr(live_views, "_displayed", displayed)
    return made


def test_lines_are_printed_as_they_come_and_drawn_in_one_figure(
    handles: list[_Handle], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_views, "_REDRAWN_EVERY_S", 0.0)
    printed: list[str] = []

    def program() -> Iterator[str]:
        for line in ("10", "", "20"):
            yield line
            printed.append(capsys.readouterr().out)

    assert show.live(program(), _read) == _curves({"one": (10.0, 20.0)})
    assert printed == ["10\n", "\n", "20\n"]
    (handle,) = handles
    assert len(handle.shown) == 3
    for words, text in zip(("No interval yet", "1 interval ", "2 intervals "), handle.shown, strict=True):
        assert words in text


def test_a_program_that_prints_fast_is_drawn_seldom_but_to_its_end(
    handles: list[_Handle], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_views, "_REDRAWN_EVERY_S", 3600.0)
    show.live([str(number) for number in range(1, 50)], _read)
    assert len(handles[0].shown) == 2
    assert "49 intervals" in handles[0].shown[-1]


def test_what_was_seen_stays_when_the_program_is_interrupted(handles: list[_Handle]) -> None:
    def program() -> Iterator[str]:
        yield "10"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        show.live(program(), _read)
    assert "1 interval " in handles[0].shown[-1]


def test_outside_of_a_notebook_only_lines_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert show.live(["10"], _read) == _curves({"one": (10.0,)})
    assert capsys.readouterr().out == "10\n"
