"""The regions inside a cell's text: solutions, and the starter text in their place.

The markers are nbgrader's, so its own tools understand the instructors' notebook. One is ours: a line
``### STARTER`` in a solution region opens the text that students get in its place, as comments::

    ### BEGIN SOLUTION
    predicted_rtt_ms = 20
    ### STARTER
    # predicted_rtt_ms = None  # your number
    ### END SOLUTION
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from linklab.errors import LinklabError

BEGIN_SOLUTION: Final = "### BEGIN SOLUTION"
STARTER: Final = "### STARTER"
END_SOLUTION: Final = "### END SOLUTION"
MARKERS: Final = (BEGIN_SOLUTION, STARTER, END_SOLUTION)

CODE_STUB: Final = (
    "# YOUR CODE HERE",
    'raise NotImplementedError("write this part, then run the cell again")',
)
"""What a solution region without a starter becomes."""

Part = Literal["shared", "solution", "starter"]
_AFTER: Final[dict[tuple[Part, str], Part]] = {
    ("shared", BEGIN_SOLUTION): "solution",
    ("solution", STARTER): "starter",
    ("solution", END_SOLUTION): "shared",
    ("starter", END_SOLUTION): "shared",
}


@dataclass(frozen=True)
class Line:
    """One line of a cell and the part it belongs to. A solution's markers are its own, also behind a starter."""

    part: Part
    text: str
    marker: str | None = None


def lines(text: str) -> Iterator[Line]:
    """Yield the lines of a cell, in order. Raises LinklabError where markers do not pair up."""
    part: Part = "shared"
    for row in text.split("\n"):
        marker = row.strip() if row.strip() in MARKERS else None
        if marker is None:
            yield Line(part, row)
            continue
        if (part, marker) not in _AFTER:
            raise LinklabError(f"{marker!r} stands inside {part} text: close the region before it")
        part = _AFTER[part, marker]
        yield Line("starter" if marker == STARTER else "solution", row, marker)
    if part != "shared":
        raise LinklabError(f"the cell ends inside {part} text: add the END marker")


def has_solution(text: str) -> bool:
    """Return True if the cell holds a solution region."""
    return any(line.marker == BEGIN_SOLUTION for line in lines(text))


def solution_text(text: str) -> str:
    """Return the cell as instructors get it: solutions between their markers, starter texts left out."""
    return "\n".join(line.text for line in lines(text) if line.part != "starter")


def student_text(text: str) -> str:
    """Return the cell as students get it: a starter or a stub in place of each solution."""
    out: list[str] = []
    begin, starter = "", False
    for line in lines(text):
        if line.marker == BEGIN_SOLUTION:
            begin, starter = line.text, False
        elif line.marker == STARTER:
            starter = True
        elif line.marker == END_SOLUTION:
            indent = begin[: len(begin) - len(begin.lstrip())]
            out += [] if starter else [indent + stub for stub in CODE_STUB]
        elif line.part == "starter":
            out.append(_uncommented(line.text))
        elif line.part == "shared":
            out.append(line.text)
    return "\n".join(out).strip("\n")


def _uncommented(row: str) -> str:
    body = row.lstrip()
    if body and not body.startswith("#"):
        raise LinklabError(f"starter line {row!r} is not a comment: write '# ' before it")
    return row[: len(row) - len(body)] + body.removeprefix("#").removeprefix(" ") if body else ""
