"""What a cell shows while it runs: a bar and a button; and in the end a figure of what links carried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ipywidgets.widgets.widget import _instances

from linklab.measure import PingFlow, QueueCounters, SimpleperfFlow
from linklab.measure.runner import Progress
from linklab.network import InterfaceState, NetworkState, NodeState, Shape
from linklab.record import somebody_watches
from linklab.show.cell_view import current_view, tell

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


class Cell:
    """The cell that runs, and IPython's events of it."""

    def __init__(self) -> None:
        self._calls: list[Callable[[object], object]] = []
        self.kernel, self.events = object(), self

    def register(self, event: str, call: Callable[[object], object]) -> None:
        assert event == "post_run_cell"
        self._calls.append(call)

    def unregister(self, event: str, call: Callable[[object], object]) -> None:
        self._calls.remove(call)

    def end(self) -> None:
        for call in [*self._calls]:
            call(None)


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cell]:
    running = Cell()
    monkeypatch.setattr("IPython.get_ipython", lambda: running)
    monkeypatch.setenv("JPY_SESSION_NAME", "/labs/03.ipynb")
    yield running
    running.end()


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch, cell: Cell) -> list[Shown]:
    """The outputs of a cell in a page."""
    found: list[Shown] = []

    def display(thing: Any, display_id: bool = False, raw: bool = False) -> Shown:
        assert display_id
        found.append(Shown(thing))
        return found[-1]

    monkeypatch.setattr("IPython.display.display", display)
    return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("linklab.show.cell_view.time.monotonic", lambda: now[0])
    return now


def _interface(name: str, peer: tuple[str, str]) -> InterfaceState:
    return InterfaceState(name, (), 1500, True, Shape(), (), peer)


NETWORK = NetworkState(
    (
        NodeState("h1", "host", (_interface("h1-eth0", ("h2", "h2-eth0")),), (), False, "cubic"),
        NodeState("h2", "host", (_interface("h2-eth0", ("h1", "h1-eth0")),), (), False, "cubic"),
    )
)


def at(done_s: float, sent_mbit: float = 0.0, waiting: int = 0) -> Progress:
    """A run of 20 s of which so much is done; h1 has sent that much, and so many packets wait in its queue."""
    queue = QueueCounters("h1", "h1-eth0", 0, round(sent_mbit * 125_000), 0, 0, waiting)
    return Progress(FLOWS, done_s, 20, (queue,), NETWORK)


def test_a_cell_that_is_done_soon_shows_nothing(cell: Cell, outputs: list[Shown], clock: list[float]) -> None:
    view = current_view()
    assert view is not None
    view(at(0))
    view(at(20, 100))
    cell.end()
    assert outputs == []


def test_a_long_cell_shows_bar_words_and_figure_and_keeps_the_figure(
    cell: Cell, outputs: list[Shown], clock: list[float]
) -> None:
    view = current_view()
    assert view is not None
    view(at(0))
    clock[0] = 3.0
    view(at(5, 100, waiting=7))
    bar, _, label = outputs[0].states[0].children
    assert bar.value == bar.max / 4
    assert label.value == "simpleperf h1-h4, ping h2-h5: 5 of 20 s"
    assert current_view() is view  # one view a cell
    view(at(0))  # its second measurement
    view(at(20, 800))
    cell.end()
    (words,) = outputs[1].words
    assert "h1 to h2: 20 to 40" in words
    assert outputs[0].states[-1] == {}
    assert current_view() is not view


def test_the_button_stops_this_measurement_and_the_cell_s_next_ones(
    cell: Cell, outputs: list[Shown], clock: list[float]
) -> None:
    view = current_view()
    assert view is not None
    view(at(0))
    clock[0] = 3.0
    view(at(5))
    assert not view.stopped()
    _, button, _ = outputs[0].states[0].children
    button.click()
    assert button.disabled
    assert view.stopped()
    view(at(0))
    assert view.stopped()


def test_what_a_check_plays_is_said_and_goes(cell: Cell, outputs: list[Shown], clock: list[float]) -> None:
    tell("transfer")
    assert outputs == []
    clock[0] = 3.0
    tell("parallel")
    clock[0] = 7.0
    tell("parallel")
    assert outputs[0].states == [{"text/plain": "parallel ..."}, {"text/plain": "parallel ... 4 s of your time"}]
    cell.end()
    assert outputs[0].states[-1] == {}


def test_a_command_that_takes_long_is_said_beside_no_measurement(
    cell: Cell, outputs: list[Shown], clock: list[float]
) -> None:
    tell("h1: ping")
    clock[0] = 3.0
    view = current_view()
    assert view is not None
    view(at(5, 100))
    tell("h1: ping -V")
    assert "text/plain" not in str(outputs[0].states)


def test_no_widget_is_left_behind(cell: Cell, outputs: list[Shown], clock: list[float]) -> None:
    before = set(_instances)
    view = current_view()
    assert view is not None
    view(at(0))
    clock[0] = 3.0
    view(at(5))
    cell.end()
    row = outputs[0].states[0]
    assert all(widget.comm is None for widget in (row, *row.children))
    assert set(_instances) <= before


def test_nobody_watches_and_nothing_is_shown(cell: Cell, outputs: list[Shown], monkeypatch: pytest.MonkeyPatch) -> None:
    assert somebody_watches()
    monkeypatch.delenv("JPY_SESSION_NAME")  # nbclient, nbval
    assert current_view() is None
    tell("transfer")
    monkeypatch.setenv("JPY_SESSION_NAME", "/labs/03.ipynb")
    monkeypatch.setattr("IPython.get_ipython", lambda: None)  # a program started from a notebook
    assert not somebody_watches()
    assert outputs == []
