"""What a cell shows: pictures with their words, text as a terminal leaves it, and one form of each output."""

from __future__ import annotations

from typing import Any

import pytest
from markupsafe import Markup as Safe

from linklab import record
from linklab.report.model import ShownImage
from linklab.report.outputs import LINES_AT_MOST, items
from linklab.show.long_text import LINES_SHOWN

from .books import DOT, look, prints, raises, shows, typed

ADDRESS = f"data:image/png;base64,{DOT}"


def shown(*outputs: Any) -> list[ShownImage | Safe]:
    return list(items(outputs, "in 'here'"))


def html(*outputs: Any) -> str:
    return "".join(it for it in shown(*outputs) if isinstance(it, Safe))


def test_pictures_say_what_they_show() -> None:
    page = f'<img src="{ADDRESS}" alt="a &lt; b" style="width:720px;max-width:100%">'
    assert shown(shows(png=DOT, text_html=page, text_plain="p")) == [ShownImage(ADDRESS, "a < b", 720)]
    assert shown(shows(png=DOT, text_plain="RTT over time")) == [ShownImage(ADDRESS, "RTT over time")]
    for untold in ("<Figure size 640x480 with 1 Axes>", ""):
        assert shown(shows(png=DOT, text_plain=untold)) == [
            ShownImage(ADDRESS, "A figure without a description, in 'here'")
        ]
    (svg,) = shown(shows(svg="<svg onload='x'/>", text_plain="s"))
    assert svg == ShownImage("data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9J3gnLz4=", "s")
    assert "An image that cannot be read." in html(shows(png='"><script>', text_plain="s"))


def test_text_is_what_a_terminal_would_have_left() -> None:
    found = html(prints("a\x1b[31mred\x1b[0m\x07"), prints("\n10 %\r20 %\r\n30 % x\u202egnp.exe"))
    assert look(found).words == "ared\n20 %\n30 % xgnp.exe"
    assert shown(prints(" \n")) == []
    assert len(html(prints("x" * 10**6))) < 10**4


def test_of_long_text_the_last_lines_are_seen_at_once() -> None:
    found = html(prints("\n".join(map(str, range(100)))))
    folded, seen = found.split("</details>")
    assert f"{100 - LINES_AT_MOST}\n" in folded
    assert f">{100 - LINES_SHOWN}\n" in seen
    assert seen.endswith("99</pre>")
    assert "60 lines" in folded
    assert "<details>" not in html(prints("\n".join(map(str, range(LINES_SHOWN)))))


@pytest.mark.parametrize(
    ("output", "page"),
    [
        (shows(text_html="<table></table>", text_plain="t"), '<div class="shown wide"><table></table></div>'),
        (typed("text/markdown", "*a*", "a"), '<div class="shown"><p><em>a</em></p>\n</div>'),
        (shows(text_plain="{'a': 1}"), '<pre class="printed" tabindex="0">{&#39;a&#39;: 1}</pre>'),
        (typed("application/json", {"a": 1}), '<pre class="printed" tabindex="0">{\n &#34;a&#34;: 1\n}</pre>'),
        (raises("ValueError", "no"), '<pre class="printed error" tabindex="0">ValueError: no</pre>'),
        (typed(record.LAB_MIME, {"kind": "guest"}), ""),
        (
            typed("application/javascript", "steal()"),
            '<p class="label">An output of a type that no page shows: application/javascript.</p>',
        ),
        (
            typed("application/vnd.jupyter.widget-view+json", {"model_id": "box"}, "VBox(children=())"),
            '<pre class="printed" tabindex="0">VBox(children=())</pre>',
        ),
    ],
)
def test_each_output_has_one_form(output: Any, page: str) -> None:
    assert html(output) == page
