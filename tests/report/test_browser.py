"""The page in a browser: that nothing runs or loads there, and how it looks in the dark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from linklab import show
from linklab.cli import main
from linklab.grade import Check
from tests.show.recorded import recorded

from .books import DOT, check, code, free_text, result, save, shows, text


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """A server on loopback: its address, and what was asked of it."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    thread.join()
    server.server_close()


def evil(address: str) -> str:
    return (
        f'<img src="{address}/image" onerror="document.title=1"><link rel=stylesheet href="{address}/link">'
        f'<style>@import "{address}/import"; body {{ background: url({address}/background) }}</style>'
        f'<div style="background:url({address}/div)">d</div><iframe src="{address}/frame"></iframe>'
        f'<svg><image href="{address}/svg"/></svg><script>document.title="stolen"; fetch("{address}/fetch")</script>'
        f'<video src="{address}/video" autoplay></video><object data="{address}/object"></object>'
    )


def hostile_portfolio(address: str, folder: Path) -> Path:
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=1"><image href="{address}/inside"/></svg>'
    book = save(
        folder / "x.ipynb",
        text("goal", "# Lab 03: Bandwidth\n\n## 1. Look"),
        code("a", shows(text_html=evil(address)), shows(svg=svg), shows(png=DOT, text_plain="a dot")),
        free_text("reflect-a", f"{evil(address)} ![x]({address}/markdown)"),
        check("check-a", result(Check.passing(evil(address), "x"))),
    )
    assert main(["report", str(book), "--output", str(folder / "page.html")]) == 0
    return folder / "page.html"


def test_nothing_of_a_hostile_notebook_runs_or_loads(
    browser: Chrome, asked: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, paths = asked
    bare = tmp_path / "bare.html"
    bare.write_text(f"<title>bare</title>{evil(address)}")
    browser.get(bare.as_uri())
    assert {"/image", "/link", "/import", "/frame", "/fetch"} <= set(paths), "the bait works where nothing is cleaned"
    paths.clear()
    browser.get(hostile_portfolio(address, tmp_path).as_uri())
    assert paths == []
    assert browser.title == "Portfolio: labs on network performance"
    # the second lock holds without the first: what if the cleaner let something through
    page = tmp_path / "page.html"
    page.write_text(page.read_text("utf-8").replace("</main>", f"{evil(address)}</main>"), encoding="utf-8")
    browser.get(page.as_uri())
    assert paths == []
    assert browser.title == "Portfolio: labs on network performance"


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_follows_the_reader_s_scheme_and_fits_small_screens(
    scheme: str, dark: bool, browser: Chrome, tmp_path: Path
) -> None:
    features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(hostile_portfolio("http://127.0.0.1:9", tmp_path).as_uri())
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    ink = browser.execute_script("return getComputedStyle(document.body).color")
    assert (brightness(ground) < brightness(ink)) == dark
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= 400


def test_a_recorded_run_stands_in_the_page_as_a_picture_with_its_words(browser: Chrome, tmp_path: Path) -> None:
    book = save(
        tmp_path / "x.ipynb",
        text("goal", "# Lab 06: Multiplexing\n\n## 1. Look"),
        code("a", shows(**show.network(recorded()).still())),
    )
    assert main(["report", str(book), "--output", str(tmp_path / "page.html")]) == 0
    browser.get((tmp_path / "page.html").as_uri())
    page = browser.find_element("tag name", "main")
    assert "Recording of run 1: 0.100 s, 21 packets at 2 interfaces, 1 lost." in page.text
    wide = "return document.querySelector('main img').naturalWidth"
    assert browser.execute_script(wide) > 0
    assert not browser.find_elements("css selector", "script, iframe")


def brightness(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
