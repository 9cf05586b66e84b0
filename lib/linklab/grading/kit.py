"""Reads the instructor's labs as grading needs them: which cells there are, and what each is for."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import linklab
from linklab import options
from linklab.classroom.contents import Contents
from linklab.errors import LinklabError
from linklab.grade.choices import explanation
from linklab.grading.cells import calls_of
from linklab.grading.names import listed
from linklab.notebooks.build import SOLUTIONS
from linklab.report.safe_html import headings

Role = Literal["given", "answer", "check", "free text"]
SIMPLEPERF = "simpleperf.py"
RUBRIC: Final = "**Rubric.**"
"""What stands in a model answer before its rubric."""


@dataclass(frozen=True)
class LabCell:
    """One cell of a lab. ``starter`` is its text as students get it, ``full`` as the instructor has it.

    An answer in code has the starter as ``full``: the instructor's own is nothing that grading may need.
    """

    cell_id: str
    role: Role
    cell_type: str
    starter: str
    full: str
    points: float = 0.0


@dataclass(frozen=True)
class KitLab:
    """A lab: its name (``03-udp-bandwidth``), its title, its cells in order, and the students' notebook as data."""

    name: str
    title: str
    parts: tuple[LabCell, ...]
    book: dict[str, Any]

    @property
    def marked(self) -> frozenset[str]:
        """The ids of cells that are answers or graded."""
        return frozenset(part.cell_id for part in self.parts if part.role != "given")

    @property
    def all_ids(self) -> frozenset[str]:
        """The ids of all cells."""
        return frozenset(part.cell_id for part in self.parts)

    @property
    def graded(self) -> tuple[LabCell, ...]:
        """The cells that have points: checks and free texts."""
        return tuple(part for part in self.parts if part.role in ("check", "free text"))

    @property
    def worth(self) -> tuple[tuple[str, float], ...]:
        """The ids of the graded cells, and their points."""
        return tuple((part.cell_id, part.points) for part in self.graded)

    @property
    def is_of_a_program(self) -> bool:
        """Whether simpleperf is graded in it: then the notebook itself may be missing, and costs its other cells."""
        return any(part.role == "check" and f'"{SIMPLEPERF}"' in part.full for part in self.parts)

    @property
    def max_points(self) -> float:
        """What all graded cells are worth."""
        return sum(part.points for part in self.parts)

    def own_texts(self, part: LabCell) -> dict[str, str]:
        """Return what the kit itself says to a question for a free text: answer, rubric, and what students can open."""
        answer, _, rubric = part.full.partition(RUBRIC)
        texts = {"answer": answer, "rubric": rubric, "answer and rubric": part.full}
        with contextlib.suppress(LinklabError):  # not every question has one
            folder = Path(linklab.__file__).parent / "labs" / f"lab{self.name[:2]}"
            texts["explanation"] = explanation(folder, part.cell_id.removeprefix("reflect-"))
        return texts


@dataclass(frozen=True)
class Kit:
    """All labs by name, in order; what students start programs from, by the file's name, simpleperf first.

    ``solutions`` are the finished programs that students' are compared with.
    """

    labs: Mapping[str, KitLab]
    starters: Mapping[str, str]
    solutions: Mapping[str, str]

    def chosen(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the labs that ``names`` mean; all labs without names.

        Raises LinklabError for a name of no lab, and where a check cell of one of them calls what is no check.
        """
        labs = options.chosen(names, tuple(self.labs))
        for lab in labs:
            for part in self.labs[lab].parts:
                if part.role == "check":
                    _refuse_no_check(lab, part)
        return labs


def read_kit(root: Path) -> Kit:
    """Return the kit in ``root``, made anew from its sources.

    Raises LinklabError where they are not well formed, or a notebook in solutions/ is not what its source makes: no
    student is to blame.
    """
    contents = Contents.of(root)
    labs = {}
    for file in sorted(contents.solved):
        name = file.removesuffix(".ipynb")
        _refuse_unproven(root / SOLUTIONS / file, contents.solved[file])
        labs[name] = _lab(name, json.loads(contents.given[file]), json.loads(contents.solved[file]))
    starters = {SIMPLEPERF: ""} | {name: data.decode() for name, data in contents.given.items() if name.endswith(".py")}
    finished = {name: root / SOLUTIONS / name for name in starters}
    solutions = {name: path.read_text("utf-8") for name, path in finished.items() if path.is_file()}
    return Kit(labs, starters, solutions)


def _lab(name: str, given: dict[str, Any], solved: dict[str, Any]) -> KitLab:
    full = {cell["id"]: text_of(cell) for cell in solved["cells"]}
    parts = tuple(_part(cell, full[cell["id"]]) for cell in given["cells"])
    titles = [words for part in parts if part.cell_type == "markdown" for _, words in headings(part.starter)]
    return KitLab(name, titles[0] if titles else name, parts, given)


def _refuse_unproven(built: Path, made: str) -> None:
    """Refuse a source that was edited and not built: `linklab validate` has proved another notebook."""
    if not built.is_file():
        return
    now, then = (
        [(cell["id"], text_of(cell)) for cell in json.loads(it)["cells"]] for it in (made, built.read_text("utf-8"))
    )
    if now != then:
        other = sorted({name for name, _ in set(now) ^ set(then)}) or ["their order"]
        raise LinklabError(
            f"{built} is not what its source makes ({listed(other)}), and nobody has tried that: run `linklab validate "
            f"{built.name[:2]} --update`"
        )


def _refuse_no_check(lab: str, part: LabCell) -> None:
    try:
        for call in calls_of(part.full):
            call.function()
    except LinklabError as error:
        raise LinklabError(f"{lab}, {part.cell_id}: {error}") from None


def _part(cell: dict[str, Any], full: str) -> LabCell:
    told = cell["metadata"].get("nbgrader", {})
    role: Role = "given"
    if told.get("solution"):
        role = "free text" if cell["cell_type"] == "markdown" else "answer"
    elif told.get("grade"):
        role = "check"
    points = float(told.get("points", 0)) if told.get("grade") else 0.0
    starter = text_of(cell)
    return LabCell(
        cell["id"], role, cell["cell_type"], starter, full if role in ("check", "free text") else starter, points
    )


def text_of(cell: Mapping[str, Any]) -> str:
    """Return a cell's text, which in files may be a list of lines."""
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)
