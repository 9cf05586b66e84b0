"""From a finished program to what students start with, and to each stage between the two.

A lab may carry a file beside its notebook. ``solutions/NAME`` is the finished one; ``solutions/NAME.starter`` says what
stands in its place until a step of the lab is done, and `linklab.notebooks.build` makes ``labs/NAME`` from both. So the
finished file stays free of marks, and what students get cannot drift away from it: signatures, docstrings and all
that is given are its own. ::

    ## Step 2: the clock

    <<<<<<<
        return bits / seconds
    =======
        return 0.0  # TODO 2: bits in a second
    >>>>>>>

Above ``=======`` stand whole lines of the finished file, once in it; a line ``...`` of its own stands for any number
of lines. Below stands what students find there. The steps are undone from the last to the first, so the blocks of a
step are written for the file in which the later steps are not done yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from linklab.errors import LinklabError

SUFFIX: Final = ".starter"
_BEGIN, _INSTEAD, _END, _ANY = "<<<<<<<", "=======", ">>>>>>>", "..."
_HEADING: Final = re.compile(r"## Step ([1-9][0-9]*)\b")


@dataclass(frozen=True)
class Block:
    """Lines of the finished file that a step asks for, and the lines that stand there until it is done."""

    step: int
    finished: tuple[str, ...]
    starter: tuple[str, ...]

    def find(self, text: str) -> re.Match[str]:
        """Return the place of the lines in `text`. Raises LinklabError if they are not there, or not once."""
        pattern = "".join(r"(?:.*\n)*?" if row.strip() == _ANY else re.escape(row) + r"\n" for row in self.finished)
        found = list(re.finditer(f"^{pattern}", text, re.MULTILINE))
        if len(found) != 1:
            raise LinklabError(
                f"the block of step {self.step} that begins {self.finished[0].strip()!r} stands {len(found)} times in "
                "the file, not once: write its upper part as the finished file (without the later steps) has it"
            )
        return found[0]


def read_blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a ``.starter`` file, in its order. Text between blocks is for readers.

    Raises LinklabError for a block that is not closed, is empty above, or stands before the first step.
    """
    blocks: list[Block] = []
    step = 0
    parts: list[list[str]] = []
    for number, row in enumerate(text.splitlines(), 1):
        heading = None if parts else _HEADING.match(row)
        if heading is not None:
            step = int(heading[1])
        elif row == _BEGIN and not parts and step:
            parts = [[]]
        elif row == _INSTEAD and len(parts) == 1 and parts[0]:
            parts.append([])
        elif row == _END and len(parts) == 2:
            blocks.append(Block(step, tuple(parts[0]), tuple(parts[1])))
            parts = []
        elif row in (_BEGIN, _INSTEAD, _END):
            raise LinklabError(f"line {number}, {row}, does not belong there: see linklab.notebooks.starters")
        elif parts:
            parts[-1].append(row)
    if parts:
        raise LinklabError(f"the last block is not closed: add a line {_END}")
    if not blocks:
        raise LinklabError("it holds no block: without one, students would be given the finished file")
    return tuple(blocks)


def stage(finished: str, blocks: tuple[Block, ...]) -> str:
    """Return the file of a student who has not done these blocks yet; with all of them it is the starter.

    Raises LinklabError as `Block.find`.
    """
    texts = [text for _, _, text in undone(finished, blocks)]
    return texts[-1] if texts else finished


def undone(finished: str, blocks: tuple[Block, ...]) -> Iterator[tuple[Block, str, str]]:
    """Yield each block from the last step to the first, with what it took out, and the file after it."""
    text = finished
    for block in sorted(blocks, key=lambda block: -block.step):
        found = block.find(text)
        text = text[: found.start()] + "".join(f"{row}\n" for row in block.starter) + text[found.end() :]
        yield block, found[0], text
