"""Draws the formulas of a markdown text, ``$R = W/T$``, as Jupyter shows them. A page has no script that could.

matplotlib reads the common part of LaTeX. What it cannot read, or has no letters for, stays as it was written.
"""

from __future__ import annotations

import base64
import io
import re
import threading
from functools import lru_cache
from typing import Final

_FORMULA: Final = re.compile(
    r"```.*?```|`[^`]*`|\$\$(?P<block>[^$`]+)\$\$|(?<![\\$\w])\$(?P<inline>[^\s$`](?:[^$`\n]*[^\s$`])?)\$(?![\d$])",
    re.DOTALL,
)
"""A formula, or code, in which a dollar sign is one. As in pandoc, ``$5 and $10`` has none."""
_LONGEST: Final = 300
_MOST: Final = 100
"""Formulas in a text."""
_PUNCTUATION: Final = re.compile(r"([!-/:-@\[-`{-~])")
_DRAWING: Final = threading.Lock()
"""matplotlib's reader is for one thread."""


def with_drawings(text: str) -> tuple[str, dict[str, str]]:
    """Return a text with an attached image in the place of each formula, and the images by name, as data addresses."""
    drawings: dict[str, str] = {}

    def drawn(found: re.Match[str]) -> str:
        formula = " ".join((found["block"] or found["inline"] or "").split())
        address = _drawing(formula) if 0 < len(formula) <= _LONGEST and len(drawings) < _MOST else ""
        if not address:
            return found[0]
        name = f"formula:{len(drawings)}"
        drawings[name] = address
        around, words = "\n\n" if found["block"] else "", _PUNCTUATION.sub(r"\\\1", formula)
        return f"{around}![{words}](attachment:{name}){around}"

    return _FORMULA.sub(drawn, text), drawings


@lru_cache(maxsize=4096)  # one question's, of a class: some 4 kB each
def _drawing(formula: str) -> str:
    """Return a formula as the data address of an SVG image; empty where matplotlib cannot read it."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont("DejaVu Sans"))
    if not all(font.get_char_index(ord(letter)) for letter in formula):  # another sign would stand in its place
        return ""
    out = io.BytesIO()
    with _DRAWING, matplotlib.rc_context({"svg.hashsalt": "linklab"}):
        figure = Figure(figsize=(0.01, 0.01))
        figure.text(0, 0, f"${formula}$", fontsize=12)
        try:
            figure.savefig(out, format="svg", bbox_inches="tight", pad_inches=0.03, metadata={"Date": None})
        except (ValueError, RecursionError):  # what it cannot read, and braces in braces without end
            return ""
    return f"data:image/svg+xml;base64,{base64.b64encode(out.getvalue()).decode()}"
