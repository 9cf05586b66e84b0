"""The site's pages on a phone: none is wider than the window, and what a figure says can be read."""

from __future__ import annotations

from pathlib import Path

from selenium.webdriver import Chrome

from linklab import show
from linklab.network import COURSE
from tests.show.conftest import screen

STYLES = (Path(show.__file__).parent / "tokens.css", Path(__file__).parents[2] / "docs" / "static" / "site.css")
NAME = "a-name-" * 12
LEAST_PIXELS = 670
"""So wide a figure of 720 px has text of 11 px."""


def test_on_a_phone_figures_scroll_in_their_frames_and_nothing_else_is_wider_than_the_page(
    browser: Chrome, tmp_path: Path
) -> None:
    figure = show.chart.lines("A line", {"line": ([1, 2], [3, 4])}, "x", "y")._repr_mimebundle_()["text/html"]
    outputs = "".join(
        f'<div class="cell_output"><div class="output text_html">{it}</div></div>'
        for it in (show.network(COURSE).still()["text/html"], figure)
    )
    (tmp_path / "study.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="720" height="9"></svg>', "utf-8"
    )
    style = "".join(file.read_text("utf-8") for file in STYLES)
    page = tmp_path / "page.html"
    page.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><style>{style}</style><body class="bd-content">{outputs}'
        f'<p><img alt="" src="study.svg"></p><p><code><span class="pre">{NAME}</span></code></p>',
        "utf-8",
    )
    with screen(browser, 390, 844):
        browser.get(page.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        widths = browser.execute_script("return [...document.images].map((it) => it.clientWidth)")
        assert len(widths) == 3
        assert min(widths) >= LEAST_PIXELS
