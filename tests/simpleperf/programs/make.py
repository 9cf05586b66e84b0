"""The programs by name, as data, and as files to run. See the package's docstring.

for program in programs("wrong"): path = program.write(folder)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, Literal

from linklab.programs.simpleperf import STEPS

from .dialects import DIALECTS, TABLES
from .edits import Edit, apply
from .mistakes import MISTAKES

Kind = Literal["right", "wrong", "hostile"]

_HERE: Final = Path(__file__).parent
_OUTSIDE: Final = "@OUTSIDE@"
_WAITS: Final[tuple[Edit, ...]] = (
    ("import argparse\nimport socket", "import argparse\nimport select\nimport socket"),
    (
        "def handle(conn, addr, args):\n",
        """def waits(conn):
    # a client waits after BYE, but not after data
    return not select.select([conn], [], [], 0.02)[0] or not conn.recv(1, socket.MSG_PEEK)


def handle(conn, addr, args):
""",
    ),
    ("conn.recv(65536)\n", "conn.recv(65536)\n            end = time.time() - start\n"),
    (
        'finished = last == b"BYE"\n        end = time.time() - start\n',
        'finished = last == b"BYE" and waits(conn)\n',
    ),
)
"""What the student's program knows of BYE in data when it comes to the step `many`."""


@dataclass(frozen=True)
class Program:
    """A complete simpleperf, or what pretends to be one: its files by name, first the one to run.

    The check must fail it in ``steps`` for the mistakes in ``fails``, and hint at those in ``hints``, by key. The text
    of a hostile program may name a folder that the test makes outside of the sandbox, see :meth:`write`.
    """

    name: str
    kind: Kind
    files: dict[str, str]
    steps: tuple[str, ...] = tuple(STEPS)
    fails: dict[str, str] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path, outside: Path | None = None) -> Path:
        """Write the files into the folder and return the path of the one to run.

        ``outside`` is the folder that a hostile program attacks. Raises ValueError if it needs one and has none.
        """
        if _OUTSIDE in self.text and outside is None:
            raise ValueError(f"{self.name} attacks a folder outside of the sandbox: make one and name it")
        for name, text in self.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text.replace(_OUTSIDE, str(outside)))
        return folder / next(iter(self.files))

    @property
    def text(self) -> str:
        """The file to run."""
        return next(iter(self.files.values()))


def _one(text: str) -> dict[str, str]:
    return {"simpleperf.py": text}


def _students(steps: tuple[str, ...], edits: tuple[Edit, ...]) -> str:
    """The student's program as it is at these steps, edited."""
    return apply((_HERE / "student.py.txt").read_text(), (*(_WAITS if "many" in steps else ()), *edits))


@cache
def registry() -> dict[str, Program]:
    """All programs by name. Raises ValueError if an edit does not fit the student's program."""
    found = []
    for name, edits in DIALECTS.items():
        steps = tuple(STEPS)[: -2 if name in TABLES else None]
        found.append(Program(name, "right", _one(_students(steps, edits)), steps))
    for name, one in MISTAKES.items():
        found.append(Program(name, "wrong", _one(_students(one.steps, one.edits)), one.steps, one.fails, one.hints))
    kinds: tuple[Kind, ...] = ("right", "hostile")
    for kind in kinds:
        for path in sorted((_HERE / kind).glob("*.py.txt")):
            found.append(Program(path.name.removesuffix(".py.txt").replace("_", "-"), kind, _one(path.read_text())))
    by_name = {program.name: program for program in found}
    if len(by_name) != len(found):
        raise ValueError("two programs have the same name")
    return by_name


def programs(kind: Kind) -> list[Program]:
    """All programs of that kind, in a fixed order."""
    return [program for program in registry().values() if program.kind == kind]
