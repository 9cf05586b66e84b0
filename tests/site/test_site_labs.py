"""The first page's cards name cells of the labs that show a picture: labs change more often than the site is built."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CARDS = re.findall(r"^```\{lab\} (\d\d) (\S+)$", (ROOT / "docs" / "index.md").read_text("utf-8"), re.MULTILINE)


def test_each_lab_has_a_card() -> None:
    assert [number for number, _ in CARDS] == sorted(
        path.name[:2] for path in (ROOT / "solutions").glob("[0-9]*.ipynb")
    )


@pytest.mark.parametrize(("number", "cell"), CARDS)
def test_the_cell_of_a_card_shows_a_picture(number: str, cell: str) -> None:
    (notebook,) = (ROOT / "solutions").glob(f"{number}-*.ipynb")
    (found,) = (it for it in json.loads(notebook.read_text("utf-8"))["cells"] if it["id"] == cell)
    shown = "".join("".join(it.get("data", {}).get("text/html", "")) for it in found["outputs"])
    assert "<img" in shown
