"""A widget as a page: one file that needs no other, no kernel, no server and no network."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
SCRIPT: Final = FOLDER / "widgets.min.js"
STYLE: Final = FOLDER / "widgets.min.css"
_OF_THE_PAGE: Final = (
    ":root{color-scheme:light dark}body{margin:0;background:#fff}"
    "h1{position:absolute;clip-path:inset(50%)}"  # for those who listen; the others see what it is
    "@media(prefers-color-scheme:dark){body{background:#111}}"
)


def packed(data: Any) -> str:
    """Return data of JSON's types as a short text; the script's ``unpacked`` reads it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def page_of(widget: str, data: str, title: str) -> str:
    """Return a page of a widget with its packed data; it is dark where the reader's system is.

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


def inline_of(widget: str, data: str) -> str:
    """Return a widget with its packed data, script and style, for a page of a site that lets scripts run."""
    return (
        f'<style>{STYLE.read_text("utf-8")}</style><div data-widget="{widget}" data-packed="{data}"></div>'
        f'<script type="module">{_script()}</script>'
    )


def script_hash() -> str:
    """Return what a content security policy calls the widgets' script by."""
    digest = hashlib.sha256(_script().encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def _script() -> str:
    script = SCRIPT.read_text("utf-8")
    assert "</script" not in script
    return script
