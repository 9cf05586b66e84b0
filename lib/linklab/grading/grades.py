"""The grades of a class as data, as CSV and as JSON. Pure."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from linklab import schema
from linklab.grading.names import cleaned_lines
from linklab.grading.similarity import Alike
from linklab.grading.verdict import Verdict
from linklab.report.model import Graded

FILE: Final = "grades.json"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_NUMBER: Final = re.compile(r"-\d+(\.\d+)?")
_LONGEST_LINE: Final = 20_000


@dataclass(frozen=True)
class StudentGrade:
    """One student: verdicts by lab, of all labs that are graded; and notes on what was handed in, for the student too.

    `page` is the name of the student's page, empty where none could be written; `network` that of the network that the
    labs ran on. `known_as` are the numbers that learning platforms have for the student, each with the platform's name.
    `left_aside` are those of the notes that say what of a student's could not be graded.
    """

    student: str
    page: str
    network: str
    labs: Mapping[str, Verdict]
    notes: tuple[str, ...] = ()
    handed_in: bool = True
    known_as: tuple[tuple[str, str], ...] = ()
    left_aside: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Points of all labs."""
        return sum(lab.points for lab in self.labs.values())

    @property
    def open_points(self) -> float:
        """Points of all labs that wait."""
        return sum(lab.open_points for lab in self.labs.values())


@dataclass(frozen=True)
class GradedLab:
    """A lab that is graded, and what it is worth."""

    name: str
    title: str
    max_points: float


@dataclass(frozen=True)
class ClassGrade:
    """All students, in order, by which Linklab and when: what ``grades.json`` has (`linklab.schema`).

    `unmatched` are what was not graded and why, a line each: it is nobody's on the list.
    """

    linklab: str
    made_at: str
    labs: Mapping[str, GradedLab]
    students: tuple[StudentGrade, ...]
    unmatched: tuple[str, ...] = ()
    alike: tuple[Alike, ...] = ()

    @property
    def max_points(self) -> float:
        """What all labs are worth."""
        return sum(lab.max_points for lab in self.labs.values())

    @property
    def failed(self) -> list[tuple[str, str, str]]:
        """Student, lab and reason of each judge that failed, and of each lab whose files could not be read."""
        return [
            (one.student, name, lab.ended)
            for one in self.students
            for name, lab in one.labs.items()
            if lab.state in ("judge failed", "not read")
        ]

    @property
    def is_complete(self) -> bool:
        """Whether all that was handed in is somebody's, was judged, and has a page."""
        return not self.failed and not self.unmatched and all(one.page for one in self.students)


def to_csv(grades: ClassGrade) -> str:
    """Return a row a student: points and open points of each lab, their sums, and the number of notes."""
    each = [column for lab in grades.labs for column in (lab, f"{lab} open")]
    rows = [["student", "network", *each, "points", "open", "of", "handed in", "notes"]]
    for one in grades.students:
        numbers: list[str] = []
        for lab in one.labs.values():
            known = lab.state in ("judged", "not handed in")
            numbers += [f"{lab.points:g}" if known else "", f"{lab.open_points:g}" if known else ""]
        notes = len(one.notes) + sum(
            len(lab.notes) + len(lab.for_the_instructor) + bool(lab.ended) for lab in one.labs.values()
        )
        rows.append(
            [
                one.student, one.network, *numbers, f"{one.points:g}", f"{one.open_points:g}",
                f"{grades.max_points:g}", "yes" if one.handed_in else "no", str(notes),
            ]
        )  # fmt: skip
    return spreadsheet(rows)


def to_json(grades: ClassGrade) -> str:
    """Return all that is known, for other programs."""
    return json.dumps(schema.dump(grades), indent=1) + "\n"


def reason_of(cell: Graded) -> str:
    """Return why a cell has not passed, in the words of its first check that has not; empty where it has."""
    return next((check.reason for check in cell.checks if not check.passed), cell.trouble)


def spreadsheet(rows: Iterable[Iterable[str]]) -> str:
    """Return rows as a CSV file for a spreadsheet, which runs none of what people wrote."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows([for_spreadsheet(text) for text in row] for row in rows)
    return out.getvalue()


def for_spreadsheet(text: str) -> str:
    """Return text as a cell of a spreadsheet: it marks a formula as text, and replaces what a terminal obeys."""
    text = cleaned_lines(text, _LONGEST_LINE)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
