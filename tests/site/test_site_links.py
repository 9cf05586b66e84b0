"""The look at every link of a built site finds each kind of link that leads nowhere, and all that is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site.links import troubles

GOOD = """<link rel="stylesheet" href="_static/site.css?v=1"><link rel="next" href="sub/b.html">
<script src="_static/search.js"></script><img src="data:image/png;base64,AAAA">
<a href="sub/b.html#there">b</a><a href="#here">here</a><h1 id="here"><a href="https://www.rfc-editor.org">away</a></h1>
<a href="sub/two%20words.txt">a file</a>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site in which nothing is wrong."""
    folder = tmp_path / "site"
    for name, text in {
        "index.html": GOOD,
        "sub/b.html": '<h2 id="there"></h2><a href="../index.html#here">back</a><img src="../picture.svg">',
        "sub/two words.txt": "",
        "picture.svg": "<svg/>",
        "_static/site.css": "body { background: url(data:image/svg+xml;x) } /* https://example.org */",
        "_static/search.js": "",
        "_static/macros.html": '<script src="{{ not a page }}">',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def test_a_good_site_has_no_troubles(site: Path) -> None:
    assert list(troubles(site)) == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('<a href="c.html">', "links to c.html: there is no such file"),
        ('<a href="sub/b.html#nowhere">', "links to sub/b.html#nowhere: there is no such place in the page"),
        ('<a href="../outside.html">', "links to ../outside.html, out of the site"),
        ('<script src="https://cdn.example.org/x.js"></script>', "loads https://cdn.example.org/x.js"),
        ('<link rel="stylesheet preload" href="http://example.org/x.css">', "loads http://example.org/x.css"),
        ('<img src="gone.svg">', "loads gone.svg, which is not there"),
    ],
)
def test_what_is_wrong_is_said(site: Path, more: str, said: str) -> None:
    (site.parent / "outside.html").write_text("", "utf-8")
    (site / "index.html").write_text(GOOD + more, "utf-8")
    assert list(troubles(site)) == [f"index.html {said}"]


@pytest.mark.parametrize("style", ["@import '//example.org/x.css';", "a { src: url( 'https://example.org/f.woff2') }"])
def test_a_style_that_fetches_is_named(site: Path, style: str) -> None:
    (site / "_static" / "site.css").write_text(style, "utf-8")
    assert list(troubles(site)) == ["_static/site.css loads something from elsewhere"]
