"""Clean HTML and markdown that others wrote: no script, nothing that a page loads, nothing that looks like ours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape, unescape
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup as Safe

from linklab.report.formulas import with_drawings

_TAGS: Final = {
    *("p", "br", "hr", "h4", "h5", "h6", "div", "span", "blockquote", "pre", "code", "kbd", "samp", "var"),
    *("strong", "b", "em", "i", "u", "s", "del", "ins", "sub", "sup", "small"),
    *("ul", "ol", "li", "dl", "dt", "dd", "details", "summary"),
    *("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td"),
    *("a", "img", "figure", "figcaption"),
}
_WITH_CONTENT: Final = {
    *("script", "template", "noscript", "iframe", "frameset", "object", "embed", "applet", "canvas"),
    *("form", "select", "button", "textarea", "style", "head", "title", "svg", "math", "audio", "video"),
}
"""Elements whose content goes too: it is not for reading."""
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    "a": {"href", "title"},
    "img": {"src", "alt", "width", "height"},
    "th": {"scope", "colspan", "rowspan", "style"},
    "td": {"colspan", "rowspan", "style"},
    "ol": {"start"},
    "table": {"aria-label"},
    "details": {"open"},
}
_STYLES: Final = {"text-align", "vertical-align", "font-weight", "font-style"}
"""No colours: they were chosen for another background. No sizes and places: they could cover the page."""
_NUMBER: Final = re.compile(r"\d{1,4}\Z")
_VALUES: Final = {
    ("img", "src"): re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/\s]*={0,2}\s*\Z"),
    ("img", "width"): _NUMBER,
    ("img", "height"): _NUMBER,
    ("ol", "start"): _NUMBER,
    ("a", "href"): re.compile(r"(https?://|mailto:)", re.IGNORECASE),
}
# In what the cleaner writes, a quotation mark in a value is always written as a reference.
_ATTRIBUTE: Final = re.compile(r' ([a-z-]+)="([^"]*)"')
_ANY_IMAGE: Final = re.compile(rf"<img((?:{_ATTRIBUTE.pattern})*)>")


_OPENED: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_VOID: Final = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_STEPS_AT_MOST: Final = 2_000_000
"""Each tag may cost the cleaner as many steps as elements are open around it; a table of 100,000 cells takes less."""
_CHARACTERS_AT_MOST: Final = 4_000_000
_LONGEST_MARKDOWN: Final = 40_000
"""Characters. Brackets that are never closed take a reader of markdown their number's square."""


def _takes_too_long(html: str) -> bool:
    """Return whether HTML is too long for the cleaner, or leaves too many elements open."""
    left: Counter[str] = Counter()
    tags = 0
    for end, name in _OPENED.findall(html):
        tags += 1
        left[name.casefold()] += -1 if end else 1
    still_open = sum(number for name, number in left.items() if number > 0 and name not in _VOID)
    return len(html) > _CHARACTERS_AT_MOST or still_open * tags > _STEPS_AT_MOST


def clean(html: str) -> Safe:
    """Return HTML with text, tables and embedded images only.

    Scripts, event handlers, forms, colours, classes, ids and everything that a page would load are gone. Links to web
    and mail addresses stay, for nothing happens until a reader follows them. An image from elsewhere becomes a note, as
    does HTML that is too long or too deep to be cleaned.
    """
    if _takes_too_long(html):
        return Safe(
            "<em>[a table or text was left out: its HTML is too long, or too many elements in it have no end]</em>"
        )
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_WITH_CONTENT,
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes={"http", "https", "mailto", "data"},
        url_relative="deny",
        filter_style_properties=_STYLES,
        generic_attribute_prefixes=set(),
        link_rel="noopener noreferrer nofollow",
    )
    return Safe(_ANY_IMAGE.sub(_note_if_empty, cleaned))


def _attribute(tag: str, name: str, value: str) -> str | None:
    allowed = _VALUES.get((tag, name))
    return value if allowed is None or allowed.match(value) else None


def _note_if_empty(found: re.Match[str]) -> str:
    attributes = dict(_ATTRIBUTE.findall(found[1]))
    if "src" in attributes:
        return found[0]
    told = unescape(attributes.get("alt", ""))
    return f"<em>[an image that is not in the notebook was left out{escape(f': {told}' if told else '')}]</em>"


_READER: Final = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_QUESTION: Final = "**Question"
_ATTACHED: Final = "attachment:"
_TEXTS_KEPT: Final = 1024
"""A class's notebooks have the same texts, those of the instructor."""


def _tokens(text: str) -> Sequence[Token]:
    """Return what markdown consists of; nothing of a text that is too long to be read as markdown."""
    return _READER.parse(text) if len(text) <= _LONGEST_MARKDOWN else ()


@lru_cache(maxsize=_TEXTS_KEPT)
def headings(text: str) -> tuple[tuple[int, str], ...]:
    """Return level and words of each heading of a markdown text, in order, without emphasis and links."""
    return tuple(
        (int(token.tag[1:]), "".join(child.content for child in inline.children or []))
        for token, inline in pairwise(_tokens(text))
        if token.type == "heading_open"
    )


@lru_cache(maxsize=_TEXTS_KEPT)
def question_of(text: str) -> str:
    """Return what stands from the last paragraph on that begins with **Question**; empty where there is none."""
    starts = [
        token.map[0]
        for token, inline in pairwise(_tokens(text))
        if token.type == "paragraph_open" and token.map and inline.content.startswith(_QUESTION)
    ]
    return "\n".join(text.split("\n")[starts[-1] :]).strip() if starts else ""


def from_markdown(text: str, attachments: Mapping[str, str] | None = None) -> Safe:
    """Return markdown as HTML. HTML in it is shown as text; ``attachments`` are images by name, as data addresses.

    Formulas are drawn. Headings begin with the fourth level: they stand below those of the page. A very long text is
    shown as it is.
    """
    if len(text) > _LONGEST_MARKDOWN:
        return Safe("<pre>{}</pre>").format(text)
    text, drawings = with_drawings(text)
    images = {**(attachments or {}), **drawings}
    tokens = _READER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, 3 + int(token.tag[1:]))}"
        for child in token.children or []:
            source = child.attrGet("src") if child.type == "image" else None
            if isinstance(source, str) and source.startswith(_ATTACHED):
                child.attrSet("src", images.get(unquote(source.removeprefix(_ATTACHED)), ""))
    return clean(_READER.renderer.render(tokens, _READER.options, {}))
