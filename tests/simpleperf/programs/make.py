"""The programs by name, as data, and as files to run. See the package's docstring.

for program in programs("wrong"): path = program.write(folder)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from .dialects import DIALECTS
from .edits import apply
from .hostility import HOSTILITY
from .mistakes import MISTAKES

Kind = Literal["right", "wrong", "hostile"]

_HERE: Final = Path(__file__).parent
_OUTSIDE: Final = "@OUTSIDE@"


@dataclass(frozen=True)
class Program:
    """A complete simpleperf, or what pretends to be one.

    ``about`` is what is special: the dialect, the mistake, or the attack. ``shows`` is how a mistake shows from
    outside, or what must become of an attack; it is empty for a right program. The text of a hostile program may
    name a folder that the test makes outside of the sandbox, see :meth:`write`.
    """

    name: str
    kind: Kind
    about: str
    shows: str
    text: str

    def write(self, folder: Path, outside: Path | None = None) -> Path:
        """Write ``simpleperf.py`` into the folder and return its path.

        ``outside`` is the folder that a hostile program attacks. Raises ValueError if it needs one and has none.
        """
        if _OUTSIDE in self.text and outside is None:
            raise ValueError(f"{self.name} attacks a folder outside of the sandbox: make one and name it")
        path = folder / "simpleperf.py"
        path.write_text(self.text.replace(_OUTSIDE, str(outside)))
        return path


def _text(name: str) -> str:
    return (_HERE / f"{name}.py.txt").read_text()


@cache
def registry() -> dict[str, Program]:
    """All programs by name. Raises ValueError if an edit does not fit the student's program."""
    student = _text("student")
    found = [Program(name, "right", about, "", apply(student, edits)) for name, (about, edits) in DIALECTS.items()]
    for path in sorted((_HERE / "right").glob("*.py.txt")):
        name = path.name.removesuffix(".py.txt")
        about = path.read_text().splitlines()[0].strip('"# ')
        found.append(Program(name.replace("_", "-"), "right", about, "", path.read_text()))
    found += [Program(one.name, "wrong", one.mistake, one.shows, apply(student, one.edits)) for one in MISTAKES]
    for name, (about, shows) in HOSTILITY.items():
        text = _text(f"hostile/{name.replace('-', '_')}")
        found.append(Program(name, "hostile", about, shows, text))
    by_name = {program.name: program for program in found}
    if len(by_name) != len(found):
        raise ValueError("two programs have the same name")
    return by_name


def programs(kind: Kind) -> list[Program]:
    """All programs of that kind, in a fixed order."""
    return [program for program in registry().values() if program.kind == kind]
