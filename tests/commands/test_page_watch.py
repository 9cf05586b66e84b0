"""A measurement watched in JupyterLab's page: the panel grows while it runs, and its button stops it."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from linklab.jupyter import FIRST_NOTEBOOK
from linklab.runtime.backends import Kind

from . import browser
from .browser import Page
from .terminal import Terminal

pytestmark = pytest.mark.lab
CELL = """\
import linklab
from linklab import measure
from linklab.network import TWO_HOSTS
from linklab.show.live_views import watched

with linklab.start(TWO_HOSTS, "virtual") as lab:
    flows = [measure.SimpleperfFlow("h1", "h2", 3000), measure.PingFlow("h1", "h2", 3000, 1.0)]
    both = watched(measure.at_once, lab, flows, ceiling_mbps=9.6)
    print("interrupted", both.interrupted, len(both.results[0].samples) > 0)
    print(lab["h1"].cmd("grep -l python3 /proc/[0-9]*/comm | wc -l"))
"""


@pytest.fixture(scope="module")
def page(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Path]]:
    """The page with the notebook open, and the notebook's file."""
    if (lack := browser.missing()) is not None:
        pytest.skip(lack)
    labs = tmp_path_factory.mktemp("watch") / "labs"
    labs.mkdir()
    code: dict[str, Any] = {"cell_type": "code", "id": "watch", "source": CELL}
    code |= {"execution_count": None, "metadata": {}, "outputs": []}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": [code], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (labs / FIRST_NOTEBOOK).write_text(json.dumps(book))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Terminal(labs.parent, "up", "--no-browser", "--port", str(port)) as up:
        found = re.search(r"http://\S+", up.wait_for("Ctrl-C ends them."))
        assert found
        opened = Page(tmp_path_factory.mktemp("profile"))
        try:
            opened.open(found[0])
            yield opened, labs / FIRST_NOTEBOOK
        finally:
            opened.close()
            up.interrupt()
            up.end()


def test_the_stop_button_works_while_the_cell_runs(page: tuple[Page, Path], tmp_path: Path) -> None:
    opened, file = page
    opened.start_all(FIRST_NOTEBOOK)
    button = opened.see(".jp-OutputArea .widget-button")
    opened.see(".jp-OutputArea .widget-image")
    opened.browser.save_screenshot(str(tmp_path / "running.png"))
    assert opened.kernel_status() == "busy"
    button.click()
    opened.wait(lambda: opened.kernel_status() == "idle", "the measurement was stopped")
    opened.wait(lambda: not opened.all(".jp-OutputArea .widget-button"), "the panel has gone")
    opened.browser.save_screenshot(str(tmp_path / "stopped.png"))
    opened.save()
    (cell,) = json.loads(file.read_text())["cells"]
    said = "".join("".join(output.get("text", "")) for output in cell["outputs"])
    assert "interrupted True True" in said
    shown = [output["data"].get("text/plain", "") for output in cell["outputs"] if "data" in output]
    assert "stopped: simpleperf h1-h2, ping h1-h2" in "".join("".join(text) for text in shown)
    assert not any("widget" in kind for output in cell["outputs"] for kind in output.get("data", {}))
