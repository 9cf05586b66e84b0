"""``{lab} 06 imports``: a card for a lab, with its title, its time, a picture, and the question in the directive.

Title and time are those of the notebook. The picture is what the named cell of the solution shows.
"""

from __future__ import annotations

import base64
import json
import re
from html import escape
from pathlib import Path
from typing import Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SOLUTIONS: Final = Path(__file__).resolve().parents[2] / "solutions"
_TITLE: Final = re.compile(r"# Lab \d\d: (.+)")
_TIME: Final = re.compile(r"\*\*Time:\*\* (.+?)[,.:(]")
_PICTURE: Final = re.compile(r'<img[^>]* src="data:image/(svg|png)[^,"]*;base64,([^"]+)"')
_CLASSES: Final = {"svg": "linklab-drawing", "png": "linklab-figure"}
"""The classes of pictures, by which the dark theme knows how to show them."""


class LabCard(SphinxDirective):
    """Shows a lab in a card that leads to what the lab claims."""

    required_arguments = 2
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the card. A number that no lab has, or a cell without a picture, is an error of the page's."""
        number, cell = self.arguments
        found = sorted(SOLUTIONS.glob(f"{number}-*.ipynb"))
        if not found:
            raise self.error(f"no lab has the number {number}")
        cells = json.loads(found[0].read_text("utf-8"))["cells"]
        title, time = (_said(pattern, "".join(cells[0]["source"])) for pattern in (_TITLE, _TIME))
        outputs = [it for each in cells if each["id"] == cell for it in each["outputs"]]
        shown = "".join("".join(it.get("data", {}).get("text/html", "")) for it in outputs)
        picture = _PICTURE.search(shown)
        if not title or not time or not picture:
            raise self.error(f"{found[0].name} has no title, no time, or no picture in its cell {cell}")
        link = self.env.app.builder.get_relative_uri(self.env.docname, f"docs/claims/lab{number}")
        file = self._kept(number, *picture.groups())
        card = (
            f'<a class="lab-card" href="{link}">'
            f'<img class="{_CLASSES[picture[1]]}" alt="" src="../_images/{file}">'
            f"<strong>{number} {escape(title)}</strong>"
            f"<span>{escape(' '.join(self.content))}</span><small>{escape(time)}</small></a>"
        )
        return [nodes.raw("", card, format="html")]

    def _kept(self, number: str, kind: str, data: str) -> str:
        """Write a picture to where the site has its own; return the file's name."""
        file = Path(self.env.app.outdir, "_images", f"lab-{number}.{kind}")
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(base64.b64decode(data))
        return file.name


def _said(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


def setup(app: Sphinx) -> None:
    """Tell Sphinx."""
    app.add_directive("lab", LabCard)
