"""The main job, end to end: ``linklab up``, and a lab run from top to bottom through the page in a real browser; a
measurement watched there, whose button stops it.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from linklab.jupyter import FIRST_NOTEBOOK
from linklab.runtime.backends import Kind
from tests.support.ports import free_port

from . import browser
from .browser import Page
from .notebook_file import code_cells, outputs
from .terminal import Terminal

ROOT = Path(__file__).parents[2]
WATCHED = "watched.ipynb"
WATCHED_CELL = """\
import linklab
from linklab import measure, show
from linklab.network import TWO_HOSTS

with linklab.start(TWO_HOSTS) as lab:
    flows = [measure.SimpleperfFlow("h1", "h2", 3000), measure.PingFlow("h1", "h2", 3000, 1.0)]
    both = measure.run_together(lab, flows)
    print("interrupted", both.interrupted, len(both.results[0].samples) > 0)
    print(lab["h1"].cmd("grep -l python3 /proc/[0-9]*/comm | wc -l"))
"""
PREDICTED = "predicted.ipynb"
PREDICTED_CELLS = (
    "from linklab import lab00\ndisplay(lab00.progress())\nprint(*range(100), sep='\\n')",
    'rtt = lab00.predict("rtt", None, sure=None)\nrtt',
)
FRONT = ".jp-NotebookPanel:not(.lm-mod-hidden)"
pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the page shows: lab 00 as students get it, a notebook that watches a measurement, and one that predicts."""
    labs = tmp_path_factory.mktemp("page") / "labs"
    labs.mkdir()
    shutil.copy(ROOT / "labs" / FIRST_NOTEBOOK, labs / FIRST_NOTEBOOK)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    empty: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    for name, sources in ((WATCHED, (WATCHED_CELL,)), (PREDICTED, PREDICTED_CELLS)):
        cells = [{**empty, "id": f"cell-{number}", "source": source} for number, source in enumerate(sources)]
        book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        (labs / name).write_text(json.dumps(book))
    return labs


@pytest.fixture(scope="module")
def address(virtual: Kind, folder: Path) -> Iterator[str]:
    """What ``linklab up`` prints."""
    if (lack := browser.missing()) is not None:
        pytest.skip(lack)
    with Terminal(folder.parent, "up", "--no-browser", "--port", str(free_port())) as up:
        found = re.search(r"http://\S+", up.wait_for("Ctrl-C ends them."))
        assert found
        yield found[0]
        up.interrupt()
        assert up.end() == 0, up.said
        assert up.left() == {}


@pytest.fixture(scope="module")
def page(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    opened = Page(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.mark.large
def test_the_address_opens_the_first_lab_with_nothing_in_its_way(page: Page, address: str) -> None:
    page.open(address)
    page.see(".jp-NotebookPanel .jp-Notebook-ExecutionIndicator")
    page.wait(lambda: FIRST_NOTEBOOK in page.front_tabs(), "the first lab is in front")
    titles = [item.text for item in page.all("#jp-MainMenu .lm-MenuBar-item")]
    assert "Run" in titles
    assert "Nbgrader" not in titles
    assert not page.all(".Toastify__toast"), "a question about news"
    assert not page.all(".jp-Dialog")
    told = json.loads(page.browser.execute_script("return document.getElementById('jupyter-config-data').textContent"))
    assert told["buildCheck"] is False


@pytest.mark.large
def test_a_starter_stops_at_its_first_graded_cell_and_says_what_is_missing(
    page: Page, address: str, folder: Path
) -> None:
    page.open(address)
    page.run_all(FIRST_NOTEBOOK, lambda prompts: "[*]:" not in prompts and "[1]:" in prompts, 1200)
    error = page.see('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"]').text
    assert "still open" in error
    assert "Traceback" not in error
    assert "Still open: " in page.see(".jp-OutputArea .linklab-result").text
    page.save()
    cells = code_cells(folder / FIRST_NOTEBOOK)
    failed = [cell for cell in cells if outputs([cell], "error")]
    assert len(failed) == 1
    assert failed[0]["metadata"]["nbgrader"]["grade"] is True


@pytest.mark.large
def test_the_stop_button_works_while_the_cell_runs(page: Page, address: str, folder: Path, tmp_path: Path) -> None:
    page.open(address.replace(FIRST_NOTEBOOK, WATCHED))
    page.start_all(WATCHED)
    button = page.see(".jp-OutputArea .widget-button")
    page.browser.save_screenshot(str(tmp_path / "running.png"))
    assert page.kernel_status() == "busy"
    button.click()
    page.wait(lambda: page.kernel_status() == "idle", "the measurement was stopped")
    page.wait(lambda: not page.all(".jp-OutputArea .widget-button"), "the panel has gone")
    page.browser.save_screenshot(str(tmp_path / "stopped.png"))
    page.save()
    (cell,) = json.loads((folder / WATCHED).read_text())["cells"]
    said = "".join("".join(output.get("text", "")) for output in cell["outputs"])
    assert "interrupted True True" in said
    assert [output for output in cell["outputs"] if "image/png" in output.get("data", {})], "the figure stays"
    assert not any("widget" in kind for output in cell["outputs"] for kind in output.get("data", {}))


@pytest.mark.large
def test_what_is_typed_into_a_form_is_what_the_cell_gets_however_fast(page: Page, address: str, folder: Path) -> None:
    page.open(address.replace(FIRST_NOTEBOOK, PREDICTED))
    page.run_all(PREDICTED, lambda prompts: prompts == ["[1]:", "[2]:"], 300)
    first, _ = page.all(".linklab-prediction input")
    page.wait(lambda: _holds_focus(page, first), "the first number has the focus")
    typed = ActionChains(page.browser).send_keys("1234567.25", Keys.TAB, "80")
    typed.key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
    page.wait(lambda: page.prompts()[1] == "[3]:" and page.kernel_status() == "idle", "the cell ran once more")
    page.save()
    assert 'predict("rtt", 1234567.25, sure=80)' in "".join(code_cells(folder / PREDICTED)[1]["source"])
    assert [it.get_attribute("value") for it in page.all(".linklab-prediction input")] == ["1234567.25", "80"]
    assert "Type your numbers" not in page.see(".linklab-prediction").text


@pytest.mark.large
def test_escape_leaves_a_form_for_its_cell_and_arrows_go_on_from_there(page: Page, address: str) -> None:
    page.open(address.replace(FIRST_NOTEBOOK, PREDICTED))
    page.run_all(PREDICTED, lambda prompts: "[*]:" not in prompts, 300)
    first = page.all(".linklab-prediction input")[0]
    page.wait(lambda: _holds_focus(page, first), "the first number has the focus")
    ActionChains(page.browser).send_keys(Keys.ESCAPE, Keys.ARROW_UP).perform()
    chosen = f"{FRONT} .jp-Cell.jp-mod-active .cm-content"
    page.wait(lambda: "predict(" not in page.see(chosen).text, "the cell above is chosen", 10)


@pytest.mark.large
def test_of_long_text_the_page_shows_the_last_lines_and_all_by_keyboard(page: Page, address: str) -> None:
    page.open(address.replace(FIRST_NOTEBOOK, PREDICTED))
    page.run_all(PREDICTED, lambda prompts: "[*]:" not in prompts, 300)
    (text,) = page.all(f'{FRONT} .jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stdout"]')
    assert text.size["height"] < 300
    (lines,) = text.find_elements("css selector", "pre")
    bottoms = "return [arguments[0], arguments[1]].map(it => it.getBoundingClientRect().bottom)"
    whole, seen = page.browser.execute_script(bottoms, lines, text)
    assert whole == pytest.approx(seen, abs=10)
    cell = page.all(f"{FRONT} .jp-CodeCell")[0]
    page.browser.execute_script("arguments[0].focus({focusVisible: true})", cell)
    page.wait(lambda: text.size["height"] > 1000, "the chosen cell shows all of it", 10)


def _holds_focus(page: Page, element: WebElement) -> bool:
    """Give something the focus, which JupyterLab may take once more at the end of a run."""
    page.browser.execute_script("arguments[0].focus()", element)
    time.sleep(1)
    return bool(page.browser.switch_to.active_element == element)
