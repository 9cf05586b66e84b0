"""Images in a notebook: what may be shown, and what it shows in words."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any, Final

from linklab.report.model import Gone, Picture

MIMES: Final = ("image/png", "image/svg+xml", "image/jpeg", "image/gif", "image/webp")
"""In the order in which they are preferred. In an image element of a page, SVG runs no script and loads nothing."""
_UNTOLD: Final = re.compile(r"<[^<>]*>|")
_NETWORK: Final = re.compile(r"Network( [^:\n]{1,80})?: ")


def picture(mime: str, data: object, alt: str) -> Picture | Gone:
    """An image from a notebook's data: text for SVG, base64 for all others."""
    text = "".join(data) if isinstance(data, list) else data
    if not isinstance(text, str):
        return Gone("An image that cannot be read.")
    if mime == "image/svg+xml":
        return Picture(mime, base64.b64encode(text.encode()).decode(), alt)
    try:
        raw = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return Gone("An image that cannot be read.")
    return Picture(mime, base64.b64encode(raw).decode(), alt)


def from_bundle(data: Mapping[str, Any], where: str) -> Picture | Gone | None:
    """The image that an output shows; None where it shows none. ``where`` names it where nothing else does."""
    mime = next((mime for mime in MIMES if mime in data), None)
    if mime is None:
        return None
    shown = picture(mime, data[mime], alt_of(data, where))
    width = re.search(r"<img\b[^<>]*?\bwidth:(\d{1,4})px", _joined(data.get("text/html")))
    return replace(shown, width_pixels=int(width[1])) if width and isinstance(shown, Picture) else shown


def alt_of(data: Mapping[str, Any], where: str) -> str:
    """What an image shows: the alternative text of the same image as HTML, or the text beside it."""
    told = re.search(r'<img\b[^<>]*?\balt="([^"]*)"', _joined(data.get("text/html")))
    words = unescape(told[1]) if told else _joined(data.get("text/plain")).strip()
    return f"A figure without a description, {where}" if _UNTOLD.fullmatch(words) else words


def is_network(picture: Picture) -> bool:
    """Whether it is the drawing of a network (`linklab.show.draw`), by its words."""
    return _NETWORK.match(picture.alt) is not None


def _joined(value: object) -> str:
    text = "".join(value) if isinstance(value, list) else value
    return text if isinstance(text, str) else ""
