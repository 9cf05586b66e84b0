"""The grades of a class as data, as CSV and as JSON. Pure."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from linklab.grading.kit import KitLab
from linklab.grading.model import Judged
from linklab.grading.names import cleaned_lines
from linklab.grading.similarity import Alike
from linklab.report.model import Graded

FILE: Final = "grades.json"
State = Literal["judged", "not handed in", "not judged", "judge failed", "not read"]
_VERSION: Final = 1
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_NUMBER: Final = re.compile(r"-\d+(\.\d+)?")
_LONGEST_LINE: Final = 20_000


@dataclass(frozen=True)
class LabGrade:
    """One lab of one student. `notes` are for the student too, `judged.notes` for the instructor alone.

    `judged` is there unless nothing was handed in, or nothing has judged it yet. `trouble` is why a judge
    failed, or why the files could not be read.
    """

    state: State
    judged: Judged | None = None
    notes: tuple[str, ...] = ()
    trouble: str = ""
    tries: Mapping[str, int] = field(default_factory=dict)
    """At which try the student's choices were right, by check cell, where it was not the first."""

    @property
    def for_the_instructor(self) -> list[str]:
        """What the instructor alone sees: lines on what the submission tried."""
        return list(self.judged.notes if self.judged else ())

    @property
    def points(self) -> float:
        """Points of the checks that passed."""
        return self.judged.points if self.judged else 0.0

    @property
    def open_points(self) -> float:
        """Points that wait for another run, or for the instructor."""
        return self.judged.open_points if self.judged else 0.0


@dataclass(frozen=True)
class StudentGrade:
    """One student: labs by name, all that are graded; and notes on what was handed in, for the student too.

    `page` is the name of the student's page, `network` that of the network that the labs ran on. `known_as` are the
    numbers that learning platforms have for the student, each with the platform's name.
    """

    student: str
    page: str
    network: str
    labs: Mapping[str, LabGrade]
    notes: tuple[str, ...] = ()
    handed_in: bool = True
    known_as: tuple[tuple[str, str], ...] = ()

    @property
    def points(self) -> float:
        """Points of all labs."""
        return sum(lab.points for lab in self.labs.values())

    @property
    def open_points(self) -> float:
        """Points of all labs that wait."""
        return sum(lab.open_points for lab in self.labs.values())


@dataclass(frozen=True)
class ClassGrade:
    """All students, in order. `unmatched` are what was not graded and why, a line each: it is nobody's on the list."""

    labs: Mapping[str, KitLab]
    students: tuple[StudentGrade, ...]
    made_at: str
    linklab: str
    unmatched: tuple[str, ...] = ()
    alike: tuple[Alike, ...] = ()

    @property
    def max_points(self) -> float:
        """What all labs are worth."""
        return sum(lab.max_points for lab in self.labs.values())

    @property
    def failed(self) -> list[tuple[str, str, str]]:
        """Student, lab and trouble of each judge that failed, and of each lab whose files could not be read."""
        return [
            (one.student, name, lab.trouble)
            for one in self.students
            for name, lab in one.labs.items()
            if lab.state in ("judge failed", "not read")
        ]


@dataclass(frozen=True)
class StoredCell:
    """A graded cell as ``grades.json`` has it."""

    id: str
    status: str
    points: float
    max_points: float
    kind: str = ""
    title: str = ""
    reason: str = ""
    comment: str = ""


@dataclass(frozen=True)
class StoredLab:
    """A student's lab as ``grades.json`` has it. `open_points` wait for the instructor, or for another run."""

    state: str
    points: float = 0.0
    open_points: float = 0.0
    notes: tuple[str, ...] = ()
    cells: tuple[StoredCell, ...] = ()
    wall_s: float | None = None


@dataclass(frozen=True)
class StoredStudent:
    """A student as ``grades.json`` has them."""

    student: str
    page: str
    labs: dict[str, StoredLab]
    known_as: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class StoredGrades:
    """What those who read ``grades.json`` (`linklab.schema`) look at; it holds more."""

    linklab_grades: Literal[1]
    max_points: dict[str, float]
    students: tuple[StoredStudent, ...]
    titles: dict[str, str] = field(default_factory=dict)
    unmatched: tuple[str, ...] = ()


def to_csv(grades: ClassGrade) -> str:
    """A row a student: points and open points of each lab, their sums, and how many notes there are."""
    each = [column for lab in grades.labs for column in (lab, f"{lab} open")]
    rows = [["student", "network", *each, "points", "open", "of", "handed in", "notes"]]
    for one in grades.students:
        numbers: list[str] = []
        for lab in one.labs.values():
            known = lab.state in ("judged", "not handed in")
            numbers += [f"{lab.points:g}" if known else "", f"{lab.open_points:g}" if known else ""]
        notes = len(one.notes) + sum(
            len(lab.notes) + len(lab.for_the_instructor) + bool(lab.judged and lab.judged.ended)
            for lab in one.labs.values()
        )
        rows.append(
            [
                one.student, one.network, *numbers, f"{one.points:g}", f"{one.open_points:g}",
                f"{grades.max_points:g}", "yes" if one.handed_in else "no", str(notes),
            ]
        )  # fmt: skip
    return spreadsheet(rows)


def to_json(grades: ClassGrade) -> str:
    """All that is known, for other programs."""
    data = {
        "linklab_grades": _VERSION,
        "linklab": grades.linklab,
        "made_at": grades.made_at,
        "max_points": {name: lab.max_points for name, lab in grades.labs.items()},
        "titles": {name: lab.title for name, lab in grades.labs.items()},
        "students": [as_data(one) for one in grades.students],
        "unmatched": list(grades.unmatched),
        "alike": [asdict(one) for one in grades.alike],
    }
    return json.dumps(data, indent=1) + "\n"


def as_data(one: StudentGrade) -> dict[str, Any]:
    """All that is known of a student, as plain data."""
    return {
        "student": one.student,
        "known_as": [list(one_of_them) for one_of_them in one.known_as],
        "page": one.page,
        "network": one.network,
        "handed_in": one.handed_in,
        "points": one.points,
        "open_points": one.open_points,
        "notes": list(one.notes),
        "labs": {name: _lab(lab) for name, lab in one.labs.items()},
    }


def _lab(lab: LabGrade) -> dict[str, Any]:
    data: dict[str, Any] = {"state": lab.state, "points": lab.points, "open_points": lab.open_points}
    data |= {"notes": list(lab.notes), "trouble": lab.trouble}
    if lab.judged is not None:
        data |= {
            "ended": lab.judged.ended,
            "for_the_instructor": lab.for_the_instructor,
            "wall_s": lab.judged.wall_s,
            "virtual_s": lab.judged.virtual_s,
            "cells": [_cell(cell) for cell in lab.judged.cells],
        }
    return data


def _cell(cell: Graded) -> dict[str, Any]:
    told = {"id": cell.cell_id, "kind": cell.kind, "title": cell.title, "status": cell.status}
    return (
        told
        | {"points": cell.points, "max_points": cell.max_points, "reason": reason_of(cell)}
        | ({"comment": cell.comment} if cell.comment else {})
    )


def reason_of(cell: Graded) -> str:
    """Why a cell has not passed, in the words of its first check that has not; empty where it has."""
    return next((check.reason for check in cell.checks if not check.passed), cell.trouble)


def spreadsheet(rows: Iterable[Iterable[str]]) -> str:
    """Return rows as a CSV file for a spreadsheet, which runs none of what people wrote."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows([for_spreadsheet(text) for text in row] for row in rows)
    return out.getvalue()


def for_spreadsheet(text: str) -> str:
    """Text as a cell of a spreadsheet: a formula is marked as text, and what a terminal obeys is replaced."""
    text = cleaned_lines(text, _LONGEST_LINE)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
