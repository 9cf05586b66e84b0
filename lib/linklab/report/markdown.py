"""Markdown: its headings, the question at its end, and its HTML."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

from markdown_it import MarkdownIt

from linklab.report.model import Picture

_READER: Final = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_QUESTION: Final = "**Question"
_ATTACHED: Final = "attachment:"
_TEXTS_KEPT: Final = 1024
"""A class's notebooks have the same texts, those of the instructor."""


def headings(text: str) -> list[tuple[int, str]]:
    """Level and words of each heading, in order, without emphasis and links."""
    return list(_headings(text))


@lru_cache(maxsize=_TEXTS_KEPT)
def _headings(text: str) -> tuple[tuple[int, str], ...]:
    tokens = _READER.parse(text)
    found = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            words = "".join(child.content for child in inline.children or [])
            found.append((int(token.tag[1:]), words))
    return tuple(found)


@lru_cache(maxsize=_TEXTS_KEPT)
def question_of(text: str) -> str:
    """What stands from the last paragraph on that begins with **Question**; empty where there is none."""
    tokens = _READER.parse(text)
    starts = [
        token.map[0]
        for token, inline in pairwise(tokens)
        if token.type == "paragraph_open" and token.map and inline.content.startswith(_QUESTION)
    ]
    return "\n".join(text.split("\n")[starts[-1] :]).strip() if starts else ""


def html(text: str, attachments: Mapping[str, Picture] | None = None) -> str:
    """Markdown as HTML, which still has to be cleaned. HTML in it is shown as text; attached images are filled in.

    Headings begin with the fourth level: they stand below those of the page.
    """
    tokens = _READER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, 3 + int(token.tag[1:]))}"
        for child in token.children or []:
            source = child.attrGet("src") if child.type == "image" else None
            if isinstance(source, str) and source.startswith(_ATTACHED):
                attached = (attachments or {}).get(unquote(source.removeprefix(_ATTACHED)))
                child.attrSet("src", f"data:{attached.mime};base64,{attached.data}" if attached else "")
    return str(_READER.renderer.render(tokens, _READER.options, {}))
