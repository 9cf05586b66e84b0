"""Programs for the tests, made from independent choices: how an author writes, and which mistakes the program makes.

    for program in generated.right(): path = program.write(folder)

| file | what stands there |
| --- | --- |
| `choices` | dimensions, what goes with what, sets of choices in which all occur |
| `mistakes` | mistakes, the checks that must fail for them, the names that a check may give them |
| `text`, `parts/` | from choices and mistakes to a program's text: each choice adds its own code |
| `driver` | runs a program over loopback and counts what passes, without the check |
| `count` | runs the check over all of them and counts what it gets wrong |

The check knows nothing of these programs, and they use nothing of it but names.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from . import text
from .choices import covering
from .mistakes import FAULTS, Fault

__all__ = ["Fault", "Generated", "right", "wrong"]

_SEED = 19
_RIGHT = 30


@dataclass(frozen=True)
class Generated:
    """A complete simpleperf: a name, its author's choices, and its mistakes (none in a right program)."""

    name: str
    choices: Mapping[str, str]
    mistakes: tuple[Fault, ...]

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The files by name; the first is the one to run."""
        return text.files(dict(self.choices), (fault.name for fault in self.mistakes))

    def write(self, folder: Path) -> Path:
        """Write the files into the folder and return the path of the one to run."""
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder / next(iter(self.files))


@cache
def right() -> tuple[Generated, ...]:
    """Return the right programs: each choice occurs in one of them."""
    return tuple(
        Generated(f"right-{number:03d}", choices, ()) for number, choices in enumerate(covering(_RIGHT, _SEED))
    )


@cache
def wrong() -> tuple[Generated, ...]:
    """Return the wrong programs, each with one mistake, and written as one of the right ones is."""
    dialects = deque(dict(program.choices) for program in right())
    made = []
    for number, fault in enumerate(FAULTS):
        choices = next(one for one in dialects if fault.fits(one))
        dialects.remove(choices)
        dialects.append(choices)
        made.append(Generated(f"wrong-{number:03d}-{fault.name}", choices, (fault,)))
    return tuple(made)
