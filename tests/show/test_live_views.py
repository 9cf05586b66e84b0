"""What grows while something runs: the figure of a program's lines, and a measurement's bar, button and figure."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest
from ipywidgets.widgets.widget import _instances

from linklab import show
from linklab.measure import PingFlow, Progress, Sample, SimpleperfFlow, TcpFlow
from linklab.show.live_views import Watch, somebody_watches, watched

FLOWS = (SimpleperfFlow("h1", "h4", 20), PingFlow("h2", "h5"))


class Shown:
    """One output of the cell: all that it was, from the first on."""

    def __init__(self, thing: Any) -> None:
        self.states = [thing]

    def update(self, thing: Any, raw: bool = False) -> None:
        assert raw == isinstance(thing, dict)
        self.states.append(thing)

    @property
    def words(self) -> list[str]:
        return [it.alt_text for it in self.states if not isinstance(it, dict)]


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[Shown]:
    """The outputs of a cell in a page."""
    found: list[Shown] = []

    def display(thing: Any, display_id: bool = False) -> Shown:
        assert display_id
        found.append(Shown(thing))
        return found[-1]

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr("IPython.get_ipython", lambda: types.SimpleNamespace(kernel=object()))
    monkeypatch.setenv("JPY_SESSION_NAME", "/labs/03.ipynb")
    return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("linklab.show.live_views.time.monotonic", lambda: now[0])
    return now


def samples(*rates: float) -> tuple[Sample, ...]:
    return tuple(Sample(float(second), second + 1.0, rate) for second, rate in enumerate(rates))


def read(lines: Sequence[str]) -> dict[str, tuple[Sample, ...]]:
    return {"one": samples(*(float(line) for line in lines if line))}


def test_lines_are_printed_as_they_come_and_drawn_in_one_figure(
    outputs: list[Shown], clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    printed: list[str] = []

    def program() -> Iterator[str]:
        for line in ("10", "", "20"):
            clock[0] += 1
            yield line
            printed.append(capsys.readouterr().out)

    assert show.live(program(), read) == read(["10", "20"])
    assert printed == ["10\n", "\n", "20\n"]
    (figure,) = outputs
    assert ["yet" in words for words in figure.words] == [True, False, False]
    assert "one: 10 to 20" in figure.words[-1]


def test_a_program_that_prints_fast_is_drawn_seldom_but_to_its_end(outputs: list[Shown], clock: list[float]) -> None:
    show.live([str(number) for number in range(1, 50)], read)
    assert len(outputs[0].words) == 2
    assert "one: 1 to 49" in outputs[0].words[-1]


def test_what_was_seen_stays_when_the_program_is_interrupted(outputs: list[Shown], clock: list[float]) -> None:
    def program() -> Iterator[str]:
        yield "10"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        show.live(program(), read)
    assert "one: 10 to 10" in outputs[0].words[-1]


def at(done_s: float, *rates: float) -> Progress:
    return Progress(FLOWS, done_s, 20, {"h1-h4": samples(*rates)} if rates else {})


def test_bar_words_and_figure_follow_the_measurement(outputs: list[Shown], clock: list[float]) -> None:
    with Watch() as watch:
        bar, _, label = outputs[0].states[0].children
        watch(at(0))
        assert (bar.value, len(outputs)) == (0, 1)
        clock[0] = 1.0
        watch(at(5, 20.0))
        assert bar.value == bar.max / 4
        assert label.value == "simpleperf h1-h4, ping h2-h5: 5 of 20 s"
        watch(at(6, 20.0, 25.0))
        assert len(outputs[1].words) == 1  # too soon to draw anew
        clock[0] = 2.0
        watch(at(7, 20.0, 25.0))
        watch(at(20, 20.0, 25.0, 27.0))
        assert ["20 to 20" in outputs[1].words[0], "20 to 27" in outputs[1].words[2]] == [True, True]
        assert bar.value == bar.max  # the end is shown however soon it comes
    left = [it.states[-1] for it in outputs]
    assert left == [{"text/plain": "measured: simpleperf h1-h4, ping h2-h5, 20.0 s of the lab's time"}, {}]


def test_more_lines_than_can_be_told_apart_are_summed(outputs: list[Shown]) -> None:
    with Watch() as watch:
        watch(Progress(FLOWS, 1, 20, {f"h1-h4, {number}": samples(2.0) for number in range(7)}))
    assert "all 7 together: 14 to 14" in outputs[1].words[0]


def test_the_button_stops_and_the_measurement_s_result_is_given(outputs: list[Shown]) -> None:
    def measurement(lab: Any, flow: TcpFlow, /, *, on_progress: Any, stop: Any) -> tuple[Any, ...]:
        on_progress(at(5))
        assert not stop()
        _, button, _ = outputs[0].states[0].children
        button.click()
        assert button.disabled
        return lab, flow, stop()

    flow, lab = TcpFlow("h1", "h4"), cast(Any, "lab")
    assert watched(measurement, lab, flow) == ("lab", flow, True)
    assert outputs[0].states[-1]["text/plain"].startswith("stopped: simpleperf h1-h4")


def test_no_widget_is_left_behind(outputs: list[Shown]) -> None:
    before = set(_instances)
    with pytest.raises(ValueError, match="no lab"), Watch():
        raise ValueError("no lab")
    row = outputs[0].states[0]
    assert all(widget.comm is None for widget in (row, *row.children))
    assert outputs[0].states[-1] == {"text/plain": "nothing was measured"}
    assert set(_instances) <= before


def test_nobody_watches_and_nothing_is_shown(outputs: list[Shown], monkeypatch: pytest.MonkeyPatch) -> None:
    assert somebody_watches()
    monkeypatch.delenv("JPY_SESSION_NAME")  # nbclient, nbval
    with Watch() as watch:
        watch(at(5, 20.0))
        assert not watch.stopped()
    assert outputs == []
    monkeypatch.setenv("JPY_SESSION_NAME", "/labs/03.ipynb")
    monkeypatch.setattr("IPython.get_ipython", lambda: None)  # a program started from a notebook
    assert not somebody_watches()
    assert show.live(["10"], read) == read(["10"])
    assert outputs == []
