"""Turn what a cell shows into what a page can show: pictures, and all else as safe HTML."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from typing import Any, Final

from markupsafe import Markup as Safe

from linklab.record import FOR_THE_PAGE, LAB_MIME, RESULT_MIME
from linklab.report.model import ShownImage
from linklab.report.safe_html import clean, from_markdown
from linklab.show.long_text import LINES_SHOWN

LINES_AT_MOST: Final = 40
_CHARACTERS_AT_MOST: Final = 200 * LINES_AT_MOST
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_OURS: Final = frozenset((RESULT_MIME, LAB_MIME))
_IMAGES: Final = ("image/png", "image/svg+xml", "image/jpeg", "image/gif", "image/webp")
"""In the order in which they are preferred. In an image element of a page, SVG runs no script and loads nothing."""
_UNTOLD: Final = re.compile(r"<[^<>]*>|")


def items(outputs: Iterable[Any], where: str, *, graded: bool = False) -> Iterator[ShownImage | Safe]:
    """Yield what a cell's outputs show, in order. ``where`` names the place.

    What the checks of a ``graded`` cell say is left out: it stands elsewhere.
    """
    said = ""
    for output in outputs:
        if output.output_type == "stream":
            said += "".join(output.text)
            continue
        yield from _printed(said)
        said = ""
        if output.output_type == "error":
            if not graded:
                yield from _printed(f"{output.ename}: {output.evalue}", is_error=True)
        elif not (graded and RESULT_MIME in output.data) and FOR_THE_PAGE.isdisjoint(output.data):
            yield from _bundle({mime: _joined(data) for mime, data in output.data.items()}, where)
    yield from _printed(said)


def _joined(value: Any) -> Any:
    """Join text that a notebook has as a list of lines."""
    return "".join(value) if isinstance(value, list) and all(isinstance(it, str) for it in value) else value


def _bundle(data: Mapping[str, Any], where: str) -> Iterator[ShownImage | Safe]:
    """Yield the best form of one output that a page can show without a script of a notebook's."""
    image = next((mime for mime in _IMAGES if mime in data), None)
    if image is not None:
        yield _image(image, data, where)
    elif "text/html" in data:
        yield Safe('<div class="shown wide">{}</div>').format(clean(_text(data["text/html"])))
    elif "text/markdown" in data:
        yield Safe('<div class="shown">{}</div>').format(from_markdown(_text(data["text/markdown"])))
    elif "text/latex" in data or "text/plain" in data:
        yield from _printed(_text(data.get("text/latex", data.get("text/plain"))))
    elif "application/json" in data:
        yield from _printed(json.dumps(data["application/json"], indent=1))
    elif set(data) - _OURS:
        yield note(f"An output of a type that no page shows: {', '.join(sorted(data))[:200]}.")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def note(why: str) -> Safe:
    """Return a sentence in the place of something that a notebook cannot show any more."""
    return Safe('<p class="label">{}</p>').format(why)


def _image(mime: str, data: Mapping[str, Any], where: str) -> ShownImage | Safe:
    html = _text(data.get("text/html"))
    address = image_address(mime, data[mime])
    if address is None:
        return note("An image that cannot be read.")
    told = re.search(r'<img\b[^<>]*?\balt="([^"]*)"', html)
    alt = unescape(told[1]) if told else _text(data.get("text/plain")).strip()
    width = re.search(r"<img\b[^<>]*?\bwidth:(\d{1,4})px", html)
    untold = f"A figure without a description, {where}"
    return ShownImage(address, untold if _UNTOLD.fullmatch(alt) else alt, int(width[1]) if width else None)


def image_address(mime: str, data: object) -> str | None:
    """Return an image from a notebook's data, text for SVG and base64 for others, as a data address; None for none."""
    if not isinstance(data, str):
        return None
    try:
        raw = data.encode() if mime == "image/svg+xml" else base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return f"data:{mime};base64,{base64.b64encode(raw).decode()}"


def attached(told: object) -> dict[str, str]:
    """Return the images that are attached to a cell as data addresses, by name."""
    found = {}
    for name, data in (told if isinstance(told, Mapping) else {}).items():
        mime = next((mime for mime in _IMAGES if isinstance(data, Mapping) and mime in data), None)
        address = image_address(mime, _joined(data[mime])) if mime else None
        if address:
            found[str(name)] = address
    return found


def _printed(text: str, *, is_error: bool = False) -> Iterator[Safe]:
    """Yield text as a terminal would have left it: what was written over is gone, and so are colours."""
    if not text.strip():
        return
    rows = [row.rstrip("\r").rpartition("\r")[2] for row in plain(text).rstrip().split("\n")]
    kept = rows[-LINES_AT_MOST:]
    left_out = len(rows) - len(kept)
    if left_out:
        yield note(f"{'1 line' if left_out == 1 else f'{left_out} lines'} before these in the notebook")
    if before := kept[:-LINES_SHOWN]:
        summary = "1 line before" if len(before) == 1 else f"{len(before)} lines before"
        yield Safe("<details><summary>{}</summary>{}</details>").format(summary, _lines(before, "printed"))
    yield _lines(kept[-LINES_SHOWN:], "printed error" if is_error else "printed")


def _lines(rows: Sequence[str], kind: str) -> Safe:
    text = "\n".join(rows)
    shown = text[:_CHARACTERS_AT_MOST]
    return Safe('<pre class="{}" tabindex="0">{}</pre>').format(kind, shown) + (
        note("Longer in the notebook") if len(shown) < len(text) else ""
    )


def plain(text: str) -> str:
    """Return text without a terminal's escapes; of control characters line ends, carriage returns and tabs remain."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    return _CONTROLS.sub(lambda found: "\r" if found[0] == "\r" else "", text)
