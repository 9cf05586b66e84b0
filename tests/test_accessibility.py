"""axe-core finds nothing to mend in each kind of page that Linklab makes, in light and in dark (WCAG 2.1 AA)."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium_axe_python.axe import Axe

from linklab import show
from linklab.classroom.contents import Contents
from linklab.grade import Check, render
from linklab.grade.prediction_form import PredictionForm
from linklab.grading import overview
from linklab.grading.by_hand_page import ByHand, ByHandServer
from linklab.grading.manual_points import FILE, WrittenAnswer, to_csv
from linklab.grading.pages import class_page, questions_page
from linklab.network import COURSE
from linklab.show import theory
from linklab.show.widgets.explorer import ExplorerWidget
from linklab.show.widgets.page import SCRIPT, STYLE, page_of
from linklab.show.widgets.widget import Widget
from tests.grading.classes import a_class
from tests.grading.test_pages import a_page
from tests.notebooks.run_notebook import ROOT
from tests.report import books
from tests.show.conftest import screen
from tests.show.recorded import recorded

pytestmark = pytest.mark.large

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
PASSED = Check.passing("rate of L1", "40 Mbit/s", "40 Mbit/s")
FAILED = Check.failing("rate of L2", "bw= of this link has another number", "give bw=20", "20 Mbit/s", "25 Mbit/s")
NUMBERS = {"title": "Lab 04, rtt", "fields": [{"label": "RTT of L1", "unit": "ms"}]}
SKETCH = {
    "title": "RTT while the queue fills",
    "x": {"label": "time (s)", "low": 0, "high": 10},
    "y": {"label": "RTT (ms)", "low": 0, "high": 90},
}


def _alive(widget: Widget) -> str:
    """A page in which a widget is drawn as in a notebook, with its values as they are."""
    values = {name: value for name, value in widget.get_state().items() if not name.startswith("_")}
    script = base64.b64encode(SCRIPT.read_bytes()).decode()
    style = STYLE.read_text("utf-8")
    return f"""<!DOCTYPE html><html lang="en"><title>A widget</title><style>{style}</style><main></main>
<script type="module">
  const values = {json.dumps(values)};
  const model = {{ get: (name) => values[name], set() {{}}, save_changes() {{}}, on() {{}}, off() {{}} }};
  const widgets = await import("data:text/javascript;base64,{script}");
  window.linklabWidget = widgets.default.render({{ model, el: document.querySelector("main") }});
</script></html>"""


def _card() -> str:
    card = render.html("Lab 01, the network", [PASSED, FAILED], cell_points=2)
    return f'<!DOCTYPE html><html lang="en"><title>A card</title><main>{card}</main></html>'


def _report() -> str:
    return books.page_of(
        books.lab(
            books.text("goal", "# Lab 03: Bandwidth\n\n## 1. Look"),
            books.code("a", books.shows(**show.network(COURSE).still())),
            books.free_text("reflect-a", "Because *the queue* is full: $x^2$."),
            books.check("check-a", books.result(PASSED, FAILED)),
        )
    )


PAGES: dict[str, Callable[[], str]] = {
    "a plan": lambda: page_of("network", show.network(COURSE).data, "The course network"),
    "a recorded run": lambda: page_of("network", show.network(recorded()).data, "A recorded run"),
    "an explanation to play with": lambda: _alive(ExplorerWidget(theory.window(12, rate_mbps=12, rtt_ms=20))),
    "a prediction in numbers": lambda: _alive(PredictionForm(widget="prediction", about=NUMBERS, numbers=[None])),
    "a prediction drawn": lambda: _alive(PredictionForm(widget="prediction", about=SKETCH, points=[[0.0, 5.0]])),
    "a card": _card,
    "a report": _report,
    "a student's feedback": a_page,
    "a class": lambda: class_page(a_class()),
    "a class's questions": lambda: questions_page(a_class(), overview.questions_table(a_class())),
}


@pytest.fixture(params=["light", "dark"])
def reader(request: pytest.FixtureRequest, browser: Chrome) -> Chrome:
    """A browser whose reader wants this scheme."""
    features = {"features": [{"name": "prefers-color-scheme", "value": request.param}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    return browser


def _found(browser: Chrome) -> list[str]:
    axe = Axe(browser)
    axe.inject()  # type: ignore[no-untyped-call]
    found = axe.run("document", RULES)["violations"]
    return [f"{it['id']}: {it['help']}: {[node['html'][:150] for node in it['nodes'][:3]]}" for it in found]


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_has_nothing_to_mend(kind: str, reader: Chrome, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGES[kind](), encoding="utf-8")
    reader.get(file.as_uri())
    reader.execute_async_script("Promise.resolve(window.linklabWidget).then(() => arguments[0]())")
    assert _found(reader) == []


@pytest.mark.parametrize("kind", ["an explanation to play with", "a prediction drawn"])
def test_axes_fit_a_phone_with_texts_of_11_pixels(kind: str, browser: Chrome, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGES[kind](), encoding="utf-8")
    rights = (
        "const rights = [...document.querySelectorAll('svg.axes text')].map((it) => it.getBoundingClientRect().right)"
    )
    with screen(browser, 390, 844):
        browser.get(file.as_uri())
        browser.execute_async_script("window.linklabWidget.then(() => requestAnimationFrame(arguments[0]))")
        assert browser.execute_script(f"{rights}; return Math.max(...rights)") <= 390
        scale = browser.execute_script("return document.querySelector('svg.axes').getScreenCTM().a")
        assert 12 * scale >= 11


@pytest.fixture
def graders(tmp_path: Path) -> Iterator[str]:
    """The address of a graders' page with one question."""
    answers = [WrittenAnswer("04-link-latency", "reflect-queue", f"student {it}", "The queue fills.", 2) for it in "ab"]
    (tmp_path / FILE).write_text(to_csv(answers, {}))
    with ByHandServer(ByHand(tmp_path, Contents.of(ROOT)), "eva") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.address
        server.shutdown()


def test_the_graders_page_has_nothing_to_mend(reader: Chrome, graders: str) -> None:
    reader.get(graders)
    found = _found(reader)
    reader.find_element("css selector", "tbody a").click()
    assert found + _found(reader) == []


def test_the_graders_page_fits_a_phone(browser: Chrome, graders: str) -> None:
    with screen(browser, 390, 844):
        browser.get(graders)
        browser.find_element("css selector", "tbody a").click()
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
