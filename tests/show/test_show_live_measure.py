"""A watched measurement: what the panel shows, what its button does, and that nothing is shown where nobody looks."""

from __future__ import annotations

import types
from typing import Any

import pytest
from ipywidgets.widgets.widget import _instances

from linklab.measure import PingFlow, Progress, Sample, SimpleperfFlow, TcpFlow
from linklab.show import live_views
from linklab.show.live_views import Watch, somebody_watches, watched

FLOWS = (SimpleperfFlow("h1", "h4", 20), PingFlow("h2", "h5"))


class Page:
    """Instead of the notebook's output: what was displayed, and what it was replaced by."""

    def __init__(self) -> None:
        self.shown: list[Any] = []
        self.replaced: list[Any] = []

    def display(self, widget: Any, display_id: bool = False) -> Page:
        assert display_id
        self.shown.append(widget)
        return self

    def update(self, data: Any, raw: bool = False) -> None:
        assert raw
        self.replaced.append(data)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    found = Page()
    monkeypatch.setattr("IPython.display.display", found.display)
    monkeypatch.setattr(live_views, "somebody_watches", lambda: True)
    return found


def at(done_s: float, *rates: float) -> Progress:
    samples = tuple(Sample(float(second), second + 1.0, rate) for second, rate in enumerate(rates))
    return Progress(FLOWS, done_s, 20, {"h1-h4": samples} if samples else {})


def widgets_of(page: Page) -> tuple[Any, Any, Any, Any]:
    (box,) = page.shown
    row, plot = box.children
    bar, button, label = row.children
    return bar, button, label, plot


def test_bar_words_and_plot_follow_the_measurement(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("linklab.show.live_views.time.monotonic", lambda: clock[0])
    with Watch(ceiling_mbps=28.7) as watch:
        bar, _, label, plot = widgets_of(page)
        watch(at(0))
        assert (bar.value, plot.layout.display) == (0, "none")
        clock[0] = 1.0
        watch(at(5, 20.0))
        assert bar.value == bar.max / 4
        assert label.value == "simpleperf h1-h4, ping h2-h5: 5 of 20 s"
        assert plot.layout.display != "none"
        first = bytes(plot.value)
        assert first.startswith(b"\x89PNG")
        watch(at(6, 20.0, 25.0))
        assert bytes(plot.value) == first  # too soon to draw anew
        clock[0] = 2.0
        watch(at(7, 20.0, 25.0))
        assert bytes(plot.value) != first
        watch(at(20, 20.0, 25.0, 27.0))
        assert bar.value == bar.max  # the end is shown however soon it comes
    assert page.replaced == [{"text/plain": "measured: simpleperf h1-h4, ping h2-h5, 20.0 s of the lab's time"}]


def test_the_button_stops(page: Page) -> None:
    with Watch() as watch:
        _, button, _, _ = widgets_of(page)
        watch(at(5))
        assert not watch.stopped()
        button.click()
        assert watch.stopped()
        assert button.disabled
    assert page.replaced[0]["text/plain"].startswith("stopped: simpleperf h1-h4")


def test_no_widget_is_left_behind(page: Page) -> None:
    before = set(_instances)
    with pytest.raises(ValueError, match="no lab"), Watch():
        raise ValueError("no lab")
    box = page.shown[0]
    assert box.comm is None
    assert all(child.comm is None for child in (*box.children, *box.children[0].children))
    assert page.replaced == [{"text/plain": "nothing was measured"}]
    assert set(_instances) <= before


def test_nobody_watches_and_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page()
    monkeypatch.setattr("IPython.display.display", page.display)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    with Watch() as watch:
        watch(at(5, 20.0))
        assert not watch.stopped()
    assert page.shown == []


def test_a_page_is_known_by_the_name_that_its_server_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.setenv("JPY_SESSION_NAME", "/labs/03.ipynb")
    assert somebody_watches()
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert not somebody_watches()  # nbclient, nbval
    monkeypatch.setenv("JPY_SESSION_NAME", "/labs/03.ipynb")
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    assert not somebody_watches()  # a program started from a notebook


def test_a_measurement_gets_the_watch_and_gives_its_result(page: Page) -> None:
    def measurement(lab: Any, flow: TcpFlow, /, *, on_progress: Any, stop: Any) -> tuple[Any, ...]:
        on_progress(at(5))
        return lab, flow, stop()

    flow = TcpFlow("h1", "h4")
    lab: Any = "lab"
    assert watched(measurement, lab, flow) == ("lab", flow, False)
