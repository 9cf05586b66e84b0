"""Notebooks that tests write, and what their executed copies hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat

START = "import linklab\nfrom linklab.network import TWO_HOSTS\nlab = linklab.start(TWO_HOSTS)"
# Each tells that it is there and waits for the other, which comes only if both run at once.
MEET = """
import time
from pathlib import Path
Path("{me}").touch()
for _ in range({patience_s} * 20):
    if Path("{other}").exists():
        break
    time.sleep(0.05)
else:
    raise TimeoutError("the other one is not there")
"""


def notebook(path: Path, *cells: str, tags: tuple[str, ...] = ()) -> Path:
    """A notebook of these code cells under a heading; `tags` are the first cell's."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title")])  # type: ignore[no-untyped-call]
    book.cells += [nbformat.v4.new_code_cell(source) for source in cells]  # type: ignore[no-untyped-call]
    book.cells[1].metadata["tags"] = list(tags)
    nbformat.write(book, path)  # type: ignore[no-untyped-call]
    return path


def outputs(copy: Path) -> str:
    """All text that the cells printed."""
    book = json.loads(copy.read_text())
    return "".join(
        "".join(output.get("text", [])) for cell in book["cells"] for output in cell.get("outputs", []) if cell
    )


def meeting(folder: Path, patience_s: int) -> list[Path]:
    """Two notebooks that pass only side by side."""
    return [
        notebook(folder / f"{me}.ipynb", MEET.format(me=me, other=other, patience_s=patience_s))
        for me, other in (("left", "right"), ("right", "left"))
    ]


def verdicts(said: str) -> list[str]:
    """The results' lines: name and verdict."""
    found = re.findall(r"^(\S+)\.ipynb: (\w[\w ]*), \d+ (?:of \d+ )?cells, [\d.]+ s, (?:no copy|copy in)", said, re.M)
    return [f"{Path(name).name} {verdict}" for name, verdict in found]
