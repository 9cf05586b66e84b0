"""Read what ``linklab grade`` or nbgrader graded; write the table that nbgrader writes."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from linklab import schema
from linklab.errors import LinklabError
from linklab.grading.grades import FILE as GRADES
from linklab.grading.grades import StoredGrades, StoredLab
from linklab.network.variants import normalised
from linklab.options import means

NBGRADER_COLUMNS: Final = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip
"""The columns of ``nbgrader export`` (``nbgrader.plugins.export.CsvExportPlugin`` of nbgrader 0.9)."""


def not_final(mark: StoredLab, provisional: bool) -> str:
    """Return why the points of what was handed in are not to be written yet; empty where they are."""
    if mark.state != "judged":
        return "it was not judged: run linklab grade again"
    if not mark.open_points or provisional:
        return ""
    what, how = "", "grade by-hand.csv and run linklab grade"
    if any(cell.status == "inconclusive" for cell in mark.cells):
        what = ", for a check was inconclusive (index.html says why)"
        how += ", or remove the student's folder in judged/ and run it"
    return f"{mark.open_points:g} points are still open{what}: {how}, or say --provisional"


@dataclass(frozen=True)
class StudentMarks:
    """One student: by which ids and names a platform may know them, and marks by lab.

    `numbers` are those that a platform gave the student, by the platform's name. `page` is the file of the student's
    page, where there is one.
    """

    student: str
    marks: Mapping[str, StoredLab]
    ids: Sequence[str] = ()
    names: Sequence[str] = ()
    numbers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    page: Path | None = None

    def of(self, lab: str) -> StoredLab:
        """Return what the student has for a lab."""
        return self.marks.get(lab, StoredLab("not handed in"))

    @property
    def addresses(self) -> Sequence[str]:
        """The ids that are e-mail addresses."""
        return [text for text in self.ids if "@" in text]


@dataclass(frozen=True)
class Marks:
    """A graded class: what each lab is worth and is called in words, by its name; and the students.

    `unmatched` is what ``linklab grade`` left aside and why, a line each.
    """

    max_points: Mapping[str, float]
    titles: Mapping[str, str]
    students: Sequence[StudentMarks]
    unmatched: Sequence[str] = ()

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
    known: set[str] = set()
    for one in marks.students:
        if normalised(one.student) in known:
            raise LinklabError(f"{file} has {one.student!r} twice (blanks and case do not count): give each one id")
        known.add(normalised(one.student))
    return marks


def _of_json(text: str, file: Path) -> Marks:
    try:
        data = schema.parse(StoredGrades, text, "this file")
    except LinklabError as wrong:
        raise LinklabError(f"{file} is not what linklab grade writes ({wrong}): grade again") from None
    students = []
    for one in data.students:
        numbers: dict[str, list[str]] = {}
        for platform, number in one.known_as:
            numbers.setdefault(platform, []).append(number)
        own, page = (one.student,), file.parent / "feedback" / Path(one.page).name
        students.append(StudentMarks(one.student, one.labs, own, own, numbers, page))
    titles = {name: data.titles.get(name, name) for name in data.max_points}
    return Marks(data.max_points, titles, students, data.unmatched)


def _of_nbgrader(text: str, file: Path) -> Marks:
    """Read nbgrader's table, whose fields have no quotation marks: a name with a comma in it makes a row longer.

    What is needed stands at both ends of a row. A submission that has no time and no points may as well be none:
    nbgrader writes the same for both.
    """
    rows = [line.rstrip("\n").split(",") for line in io.StringIO(text, newline=None) if line.strip()]
    if not rows or tuple(rows[0]) != NBGRADER_COLUMNS:
        raise LinklabError(f"{file} is neither linklab grade's grades.json nor what nbgrader export writes")
    max_points: dict[str, float] = {}
    students: dict[str, StudentMarks] = {}
    marks: dict[str, dict[str, StoredLab]] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) < len(NBGRADER_COLUMNS):
            raise LinklabError(
                f"{file}, row {number}: {len(row)} fields instead of {len(NBGRADER_COLUMNS)}; export anew"
            )
        (lab, _, time, student), (email, raw, _, score, most) = row[:4], row[-5:]
        try:
            points, max_points[lab] = float(score), float(most)
            handed_in = bool(time) or float(raw) != 0
        except ValueError:
            raise LinklabError(f"{file}, row {number}: {score!r} of {most!r} are no points; export anew") from None
        name = " ".join(filter(None, (row[5], row[4]))) if len(row) == len(NBGRADER_COLUMNS) else ""
        marks.setdefault(student, {})[lab] = StoredLab("judged" if handed_in else "not handed in", points)
        ids, names = list(filter(None, (student, email))), list(filter(None, (name,)))
        students.setdefault(student, StudentMarks(student, marks[student], ids, names))
    return Marks(max_points, {lab: lab for lab in max_points}, list(students.values()))


def nbgrader_table(labs: Sequence[str], marks: Marks) -> str:
    """Return the class as ``nbgrader export`` writes it: a row for each lab and student, whoever handed in what.

    Linklab knows of no dates and no penalties; points that are still open count 0, as nbgrader's ungraded cells do.
    What was not handed in has 0 points, and what was not judged those that were given by hand: nbgrader has no other
    way to say it.
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(NBGRADER_COLUMNS)
    for lab in labs:
        for one in marks.students:
            points = one.of(lab).points
            email = next(iter(one.addresses), "")
            rows.writerow([lab, "", "", one.student, "", "", email, points, 0.0, points, marks.max_points[lab]])
    return out.getvalue()
