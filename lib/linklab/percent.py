"""Read a Python file in cells (py:percent): the form of a lab's source and of a study's page.

# %% [markdown] id="goal"         prose, in comments
# %% answer="rtt"                 code
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_CELL: Final = re.compile(r"^# %%(?P<kind>.*)$", re.MULTILINE)


def cells(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each cell: how many lines are above its text, what ``# %%`` says, and its text."""
    marks = [*_CELL.finditer(text)]
    for mark, end in zip(marks, [*(it.start() for it in marks), len(text)][1:], strict=True):
        yield text[: mark.end()].count("\n"), mark["kind"], text[mark.end() : end]


def prose(cell: str) -> str:
    """Return the prose of a markdown cell."""
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in cell.strip().splitlines())
