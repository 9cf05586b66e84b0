"""A widget as a page: one file that needs no other, no kernel, no server and no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
SCRIPT: Final = FOLDER / "widgets.min.js"
STYLE: Final = FOLDER / "widgets.min.css"
_CLASS: Final = "linklab-frame"
_HEIGHT: Final = "clamp(420px,100vh - 125px,900px)"
"""As high as what JupyterLab leaves of its window for a notebook, so that the frame is seen whole."""
_PACKED: Final = re.compile(r"data-packed=&quot;([A-Za-z0-9+/]+=*)&quot;")
_OF_THE_PAGE: Final = (
    ":root{color-scheme:light dark}body{margin:0;background:#fff}"
    "h1{position:absolute;clip-path:inset(50%)}"  # for those who listen; the others see what it is
    "@media(prefers-color-scheme:dark){body{background:#000}}"
)
# a frame's own page prefers the colours that the frame has: JupyterLab's, whatever the reader's system has
_AS_THE_NOTEBOOK: Final = "".join(
    f'body[data-jp-theme-light="{light}"] iframe.{_CLASS}{{color-scheme:{scheme}}}'
    for light, scheme in (("true", "light"), ("false", "dark"))
)


def packed(data: Any) -> str:
    """Return data of JSON's types as a short text; the script's ``unpacked`` reads it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def packed_in(html: str) -> str | None:
    """Return the packed data in the frame that a notebook shows; None where there is none. No other text passes."""
    found = _PACKED.search(html)
    return found[1] if found else None


def page_of(widget: str, data: str, title: str) -> str:
    """Return a page of a widget with its packed data; it is dark where the reader's system is, or the page around it.

    Nothing but the widgets' script runs in it, and it loads nothing.
    """
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{script_hash()}'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_OF_THE_PAGE}{STYLE.read_text('utf-8')}</style>"
        f'</head><body><header><h1>{escape(title)}</h1></header><main data-widget="{widget}" data-packed="{data}">'
        "<p>This needs a browser that runs scripts.</p></main>"
        f'<script type="module">{_script()}</script></body></html>\n'
    )


def frame_of(widget: str, data: str, title: str) -> str:
    """Return the page in a frame that has no access to the page around it, and may fill the screen."""
    return (
        f'<iframe class="{_CLASS}" sandbox="allow-scripts" allow="fullscreen" title="{escape(title)}" '
        f'style="width:100%;height:{_HEIGHT};border:0" '
        f'srcdoc="{escape(page_of(widget, data, title))}"></iframe>'
    )


def html_of(widget: str, data: str, title: str) -> str:
    """Return what a notebook shows of a widget that needs no kernel: the frame, with the notebook's colours."""
    return f"<style>{_AS_THE_NOTEBOOK}</style>{frame_of(widget, data, title)}"


def script_hash() -> str:
    """Return what a content security policy calls the widgets' script by."""
    digest = hashlib.sha256(_script().encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def _script() -> str:
    script = SCRIPT.read_text("utf-8")
    assert "</script" not in script
    return script
