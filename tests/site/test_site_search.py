"""The site's search finds pages that have some of a question's words, behind those that have all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait
from sphinx.cmd.build import build_main

ROOT = Path(__file__).parents[2]
PAGES = {
    "index": ".. toctree::\n\n   handing\n   queues\n   filler\n   both\n   places",
    "handing": "A homework goes to the platform. Labs are there.",
    "queues": "Packets wait in a queue. Labs show it.",
    "filler": "Labs, labs, labs. Mending.",
    "both": "A queue for each homework.",
    "places": ".. index:: mending\n\nMending goes on here.\n\nMending\n-------\n\nAnd there.",
}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of what is fetched."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a small site with Linklab's search."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "conf.py").write_text(f'html_search_scorer = "{ROOT / "docs/static/search.js"}"\n', "utf-8")
    for name, text in PAGES.items():
        (folder / f"{name}.rst").write_text(f"{name}\n{'=' * len(name)}\n\n{text}\n", "utf-8")
    assert build_main(["-q", "-b", "html", str(folder), str(folder / "built")]) == 0
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder / "built"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("homework platform", ["handing", "both"]),
        ("how do I hand in my homework", ["handing", "both"]),
        ("homework queue", ["both", "queues", "handing"]),
        ("labs queue", ["queues", "both", "filler", "handing"]),
        ("mending", ["places", "filler"]),
    ],
)
def test_pages_with_some_words_follow_those_with_all(
    site: str, browser: Chrome, question: str, wanted: list[str]
) -> None:
    browser.get(f"{site}/search.html?q={quote(question)}")

    def found() -> list[str]:
        return [it.text for it in browser.find_elements(By.CSS_SELECTOR, "ul.search li > a") if it.text != "index"]

    WebDriverWait(browser, 60).until(lambda _: found() == wanted, message=f"wanted {wanted}, found {found()}")
