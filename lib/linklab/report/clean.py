"""What may stand in the page of what others wrote: no script, nothing that is loaded, nothing that looks like ours."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Final

import nh3

_TEXT: Final = {"p", "br", "hr", "h4", "h5", "h6", "div", "span", "blockquote", "pre", "code", "kbd", "samp", "var"}
_EMPHASIS: Final = {"strong", "b", "em", "i", "u", "s", "del", "ins", "sub", "sup", "small"}
_LISTS: Final = {"ul", "ol", "li", "dl", "dt", "dd", "details", "summary"}
_TABLES: Final = {"table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td"}
_TAGS: Final = frozenset(_TEXT | _EMPHASIS | _LISTS | _TABLES | {"a", "img", "figure", "figcaption"})
# What is inside of these is not for reading either.
_ACTIVE: Final = {"script", "template", "noscript", "iframe", "frameset", "object", "embed", "applet", "canvas"}
_FORMS: Final = {"form", "select", "button", "textarea"}
_WITH_CONTENT: Final = frozenset(_ACTIVE | _FORMS | {"style", "head", "title", "svg", "math", "audio", "video"})
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    "a": {"href", "title"},
    "img": {"src", "alt", "width", "height"},
    "th": {"scope", "colspan", "rowspan", "style"},
    "td": {"colspan", "rowspan", "style"},
    "ol": {"start"},
    "table": {"aria-label"},
    "details": {"open"},
}
# No colours: they were chosen for another background. No sizes and places: they could cover the page.
_STYLES: Final = frozenset(("text-align", "vertical-align", "font-weight", "font-style"))
_IMAGE: Final = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/\s]*={0,2}\s*")
_LINK: Final = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d{1,4}")
# In what the cleaner writes, a quotation mark in a value is always written as a reference.
_ATTRIBUTE: Final = re.compile(r' ([a-z-]+)="([^"]*)"')
_ANY_IMAGE: Final = re.compile(rf"<img((?:{_ATTRIBUTE.pattern})*)>")


def clean(html: str) -> str:
    """HTML with text, tables and embedded images only.

    Scripts, event handlers, forms, colours, classes, ids and everything that a page would load are gone. Links to web
    and mail addresses stay, for nothing happens until a reader follows them. An image from elsewhere becomes a note.
    """
    cleaned = nh3.clean(
        html,
        tags=set(_TAGS),
        clean_content_tags=set(_WITH_CONTENT),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=_attribute,
        url_schemes={"http", "https", "mailto", "data"},
        url_relative="deny",
        filter_style_properties=set(_STYLES),
        generic_attribute_prefixes=set(),
        link_rel="noopener noreferrer nofollow",
    )
    return _ANY_IMAGE.sub(_note_if_empty, cleaned)


def _attribute(tag: str, name: str, value: str) -> str | None:
    allowed = {
        ("img", "src"): _IMAGE.fullmatch,
        ("a", "href"): _LINK.match,
        ("img", "width"): _NUMBER.fullmatch,
        ("img", "height"): _NUMBER.fullmatch,
        ("ol", "start"): _NUMBER.fullmatch,
    }
    matches = allowed.get((tag, name))
    return value if matches is None or matches(value) else None


def _note_if_empty(found: re.Match[str]) -> str:
    attributes = dict(_ATTRIBUTE.findall(found[1]))
    if "src" in attributes:
        return found[0]
    told = unescape(attributes.get("alt", ""))
    return f"<em>[an image that is not in the notebook was left out{escape(f': {told}' if told else '')}]</em>"
