"""What was graded, from ``linklab grade``'s folder or from nbgrader's own export."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from linklab.errors import LinklabError
from linklab.network.variants import normalised
from linklab.options import means

GRADES: Final = "grades.json"
NBGRADER_COLUMNS: Final = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip
"""The columns of ``nbgrader export`` (``nbgrader.plugins.export.CsvExportPlugin`` of nbgrader 0.9)."""

State = Literal["graded", "not handed in", "not judged"]


@dataclass(frozen=True)
class Mark:
    """One student's points for one lab. `open_points` wait for the instructor, or for another run.

    `cells` are the lab's graded cells as ``grades.json`` has them, where they are known.
    """

    state: State
    points: float = 0.0
    open_points: float = 0.0
    cells: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    wall_s: float | None = None

    def not_final(self, provisional: bool) -> str:
        """Return why the points of what was handed in are not to be written yet; empty where they are."""
        if self.state == "not judged":
            return "it was not judged: run linklab grade again"
        if self.open_points and not provisional:
            states = {str(cell.get("status")) for cell in self.cells}
            what, how = "", "grade by-hand.csv and run linklab grade"
            if "inconclusive" in states:
                what = ", for a check was inconclusive (index.html says why)"
                anew = "remove the student's folder in judged/ and run linklab grade"
                how = f"{how}, or {anew}" if "answered" in states else anew
            return f"{self.open_points:g} points are still open{what}: {how}, or say --provisional"
        return ""


@dataclass(frozen=True)
class Student:
    """One student: by which ids and names a platform may know them, and marks by lab.

    `numbers` are those that a platform gave the student, by the platform's name.
    """

    student: str
    marks: Mapping[str, Mark]
    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, lab: str) -> Mark:
        """Return what the student has for a lab."""
        return self.marks.get(lab, Mark("not handed in"))


@dataclass(frozen=True)
class Marks:
    """A graded class: what each lab is worth and is called in words, by its name; and the students.

    `unmatched` is what ``linklab grade`` left aside and why, a line each.
    """

    max_points: Mapping[str, float]
    titles: Mapping[str, str]
    students: tuple[Student, ...]
    unmatched: tuple[str, ...] = ()

    def lab(self, word: str) -> str:
        """Return the lab that a word means (``03``). Raises LinklabError where none does, or several."""
        found = [lab for lab in self.max_points if lab == word] or [lab for lab in self.max_points if means(word, lab)]
        if len(found) != 1:
            raise LinklabError(
                f"{len(found) or 'no'} graded labs are called {word}: choose of {', '.join(self.max_points)}"
            )
        return found[0]


def read_marks(path: Path) -> Marks:
    """Return what was graded: ``path`` is a folder of ``linklab grade``, its grades.json, or nbgrader's grades.csv.

    Raises LinklabError for anything else.
    """
    file = path / GRADES if path.is_dir() else path
    if not file.is_file():
        raise LinklabError(f"there is no {file}: name the folder that linklab grade wrote, or nbgrader's grades.csv")
    text = file.read_bytes().decode("utf-8-sig", errors="replace")
    marks = _of_json(text, file) if text.lstrip().startswith("{") else _of_nbgrader(text, file)
    known: dict[str, str] = {}
    for one in marks.students:
        if normalised(one.student) in known:
            raise LinklabError(f"{file} has {one.student!r} twice (blanks and case do not count): give each one id")
        known[normalised(one.student)] = one.student
    return marks


def _of_json(text: str, file: Path) -> Marks:
    try:
        data = json.loads(text)
        if data["linklab_grades"] != 1:
            raise ValueError(f"version {data['linklab_grades']}")
        max_points = {str(name): float(points) for name, points in data["max_points"].items()}
        titles = {name: str(data.get("titles", {}).get(name, name)) for name in max_points}
        students = tuple(_student(one) for one in data["students"])
        return Marks(max_points, titles, students, tuple(map(str, data.get("unmatched", ()))))
    except (LookupError, TypeError, ValueError, AttributeError) as wrong:
        raise LinklabError(f"{file} is not what linklab grade writes ({wrong}): grade again") from None


def _student(data: Mapping[str, Any]) -> Student:
    numbers: dict[str, tuple[str, ...]] = {}
    for platform, number in data.get("known_as", ()):
        numbers[platform] = (*numbers.get(platform, ()), str(number))
    student = str(data["student"])
    marks = {str(name): _mark(lab) for name, lab in data["labs"].items()}
    return Student(student, marks, (student,), (student,), numbers)


def _mark(lab: Mapping[str, Any]) -> Mark:
    state: State = "graded"
    if lab["state"] == "not handed in":
        state = "not handed in"
    elif lab["state"] != "judged":
        state = "not judged"
    wall_s = lab.get("wall_s")
    return Mark(
        state, float(lab["points"]), float(lab["open_points"]), tuple(lab.get("cells", ())),
        tuple(map(str, lab["notes"])), None if wall_s is None else float(wall_s),
    )  # fmt: skip


def _of_nbgrader(text: str, file: Path) -> Marks:
    """nbgrader writes its fields without quotation marks, so a name with a comma in it makes a row longer.

    What is needed stands at both ends of a row. A submission that has no time and no points may as well be none:
    nbgrader writes the same for both.
    """
    rows = [_fields(line.rstrip("\n")) for line in io.StringIO(text, newline=None) if line.strip()]
    if not rows or tuple(rows[0]) != NBGRADER_COLUMNS:
        raise LinklabError(f"{file} is neither linklab grade's grades.json nor what nbgrader export writes")
    max_points: dict[str, float] = {}
    found: dict[str, tuple[dict[str, Mark], str, str]] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) < len(NBGRADER_COLUMNS):
            raise LinklabError(
                f"{file}, row {number}: {len(row)} fields instead of {len(NBGRADER_COLUMNS)}; export anew"
            )
        lab, _, time, student = row[:4]
        email, raw, _, score, most = row[-5:]
        try:
            points, max_points[lab] = float(score), float(most)
            handed_in = bool(time) or float(raw) != 0
        except ValueError:
            raise LinklabError(f"{file}, row {number}: {score!r} of {most!r} are no points; export anew") from None
        name = " ".join(part for part in (row[5], row[4]) if part) if len(row) == len(NBGRADER_COLUMNS) else ""
        marks, *_ = found.setdefault(student, ({}, email, name))
        marks[lab] = Mark("graded" if handed_in else "not handed in", points)
    students = tuple(
        Student(student, marks, (student, *([email] if email else [])), (name,) if name else ())
        for student, (marks, email, name) in found.items()
    )
    return Marks(max_points, {lab: lab for lab in max_points}, students)


def _fields(line: str) -> list[str]:
    """The fields of a line with quotation marks as Linklab writes it, or of one without any that mean something."""
    with contextlib.suppress(csv.Error):
        (row,) = csv.reader([line], strict=True)
        if len(row) >= len(NBGRADER_COLUMNS):
            return row
    return line.split(",")
