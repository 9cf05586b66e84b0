"""Programs for the tests, made from independent choices: how an author writes, and which mistakes the program makes.

    for program in generated.right(): path = program.write(folder)

| file | what stands there |
| --- | --- |
| `choices` | dimensions, what goes with what, sets of choices in which all pairs occur |
| `mistakes` | mistakes, the checks that must fail for them, the names that a check may give them |
| `text`, `parts/` | from choices and mistakes to a program's text: each choice adds its own code |
| `driver` | runs a program over loopback and counts what passes, without the check |
| `count` | runs the check over all of them and counts what it gets wrong |

The check knows nothing of these programs, and they use nothing of it but names.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from . import text
from .choices import Choices, covering
from .mistakes import FAULTS, Fault, go_together

__all__ = ["Fault", "Generated", "right", "wrong"]

_SEED = 19
_RIGHT = 120
_EACH = 2
"""How many programs make each mistake alone."""
_PAIRS = 40
"""How many make two."""


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

    @property
    def hint_only(self) -> bool:
        """Whether all of its mistakes cost nothing."""
        return bool(self.mistakes) and all(fault.hint_only for fault in self.mistakes)

    @property
    def digest(self) -> str:
        """A short name for the files' content: results of another content are not this program's."""
        return hashlib.sha256(b"\0".join(self.files.values())).hexdigest()[:12]

    def write(self, folder: Path) -> Path:
        """Write the files into the folder and return the path of the one to run."""
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder / next(iter(self.files))


@cache
def right() -> tuple[Generated, ...]:
    """Return the right programs: each pair of choices that go together occurs in one of them."""
    return tuple(
        Generated(f"right-{number:03d}", choices, ()) for number, choices in enumerate(covering(_RIGHT, _SEED))
    )


@cache
def wrong() -> tuple[Generated, ...]:
    """Return the wrong programs, with one mistake or two, each written as one of the right ones is."""
    chance = random.Random(_SEED)
    sets = [(fault,) for _ in range(_EACH) for fault in FAULTS] + list(_pairs(chance))
    dialects = _dialects(chance)
    made = []
    for number, faults in enumerate(sets):
        choices = next(one for one in dialects if all(fault.fits(one) for fault in faults))
        made.append(Generated(f"wrong-{number:03d}-{'-and-'.join(fault.name for fault in faults)}", choices, faults))
    return tuple(made)


def _dialects(chance: random.Random) -> Iterator[Choices]:
    """Yield the choices of right programs, all in turn, in another order each time."""
    while True:
        order = [dict(program.choices) for program in right()]
        chance.shuffle(order)
        yield from order


def _pairs(chance: random.Random) -> Iterator[tuple[Fault, ...]]:
    """Yield pairs of mistakes in different parts of a program, which some right program could make both."""
    found = 0
    while found < _PAIRS:
        one, other = chance.sample(FAULTS, 2)
        possible = any(one.fits(dict(program.choices)) and other.fits(dict(program.choices)) for program in right())
        if go_together(one, other) and possible:
            found += 1
            yield one, other
