"""Read what ``linklab grade`` or nbgrader graded; write what Gradescope and nbgrader take in place of a gradebook.

Gradescope (gradescope-autograders.readthedocs.io, "Autograder Specifications" and "Submission Metadata"): an autograder
is a zip file with ``setup.sh`` and ``run_autograder`` at its root. The latter runs in ``/autograder`` for each
submission and leaves ``results/results.json``; ``submission_metadata.json`` there says whose submission it is. Labs
need Linux of their own and are judged at home, so this autograder runs nothing of the student's: it picks the results
that were judged before.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from linklab import schema
from linklab.errors import LinklabError
from linklab.grading.grades import FILE as GRADES
from linklab.grading.grades import StoredCell, StoredGrades, StoredLab
from linklab.grading.names import cleaned, cleaned_lines, folder_of
from linklab.network.variants import normalised
from linklab.options import means

NBGRADER_COLUMNS: Final = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip
"""The columns of ``nbgrader export`` (``nbgrader.plugins.export.CsvExportPlugin`` of nbgrader 0.9)."""
_LONGEST: Final = 2000
_SETUP: Final = "#!/bin/sh\napt-get install -y python3\n"
_RUN: Final = '''\
#!/usr/bin/env python3
"""Written by linklab export: gives each submission the results that linklab grade judged before."""

import datetime
import json
import math
import pathlib
import sys
import unicodedata


def known(text):
    return unicodedata.normalize("NFC", text or "").strip().casefold()


source = pathlib.Path("source")
students = json.loads((source / "students.json").read_text("utf-8"))
submission = json.loads(pathlib.Path("submission_metadata.json").read_text("utf-8"))
users = submission["users"]
found = [
    students["by address"].get(known(user.get("email"))) or students["by name"].get(known(user.get("name")))
    for user in users
]
files = set(filter(None, found))
if len(files) != 1:
    sys.exit(f"{len(files) or 'no'} results are those of {[user.get('email') for user in users]}")
results = json.loads((source / "results" / files.pop()).read_text("utf-8"))
late = json.loads((source / "late.json").read_text("utf-8"))
if late:
    own = [(user.get("assignment") or {}).get("due_date") for user in users]
    dues = [late["deadline"]] if late["deadline"] else list(filter(None, own)) or [submission["assignment"]["due_date"]]
    if None in dues:
        sys.exit("this assignment has no due date in Gradescope: set it, or export with a deadline")
    moment = datetime.datetime.fromisoformat
    over = moment(submission["created_at"]) - max(map(moment, dues))
    days = max(0, math.ceil(over / datetime.timedelta(days=1)))
    share = max(0, 100 - days * late["percent_a_day"])
    if days:
        results["score"] = round(results["score"] * share / 100, 2)
        said = "Handed in late, %d days begun: %g %% of the points" % (days, share)
        results["output"] = "\\n".join(filter(None, (said, results["output"])))
pathlib.Path("results/results.json").write_text(json.dumps(results, indent=1), "utf-8")
'''


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


def autograder(
    lab: str, marks: Marks, provisional: bool, late: Mapping[str, Any] | None = None
) -> tuple[bytes, Sequence[str]]:
    """Return a zip file for Gradescope with the results of one lab, and who has none in it and why, a line each.

    ``late`` is what late work costs there: ``percent_a_day``, and ``deadline``, a time with its zone, or None for the
    due date that Gradescope has for each student.
    """
    files = {"setup.sh": _SETUP, "run_autograder": _RUN, "late.json": json.dumps(late)}
    written: dict[str, str] = {}
    troubles = []
    for one in marks.students:
        mark = one.of(lab)
        if mark.state == "not handed in":
            continue
        if early := not_final(mark, provisional):
            troubles.append(f"not written, {cleaned(one.student)}, {lab}: {early}")
        else:
            written[one.student] = f"{folder_of(one.student)}.json"
            results = _results(lab, mark, marks.max_points[lab])
            files[f"results/{written[one.student]}"] = json.dumps(results, indent=1)
    files["students.json"] = json.dumps(_index(marks.students, written), indent=1)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            told = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same file each time
            told.external_attr = 0o755 << 16
            archive.writestr(told, text, zipfile.ZIP_DEFLATED)
    return out.getvalue(), troubles


def _results(lab: str, mark: StoredLab, max_points: float) -> dict[str, Any]:
    """Return one student's results for one lab, in the form of ``results.json``."""
    waits = f"{mark.open_points:g} of {max_points:g} points are still open." if mark.open_points else ""
    found: dict[str, Any] = {
        "score": round(mark.points, 2),
        "output": "\n".join(filter(None, (waits, *(cleaned(note, _LONGEST) for note in mark.notes)))),
        "stdout_visibility": "hidden",
        "extra_data": {"lab": lab, "max_score": max_points, "open_points": mark.open_points},
        "tests": [_test(cell) for cell in mark.cells],
    }
    if mark.wall_s is not None:
        found["execution_time"] = round(mark.wall_s)
    return found


def _test(cell: StoredCell) -> dict[str, Any]:
    said = cell.reason or ("waits for your instructor" if cell.status == "answered" else cell.status)
    if cell.status == "passed":
        said = f"{cell.points:g} of {cell.max_points:g} points"
    test = {
        "name": cleaned(cell.title or cell.id),
        "score": round(cell.points, 2),
        "max_score": cell.max_points,
        "visibility": "visible",
        "output": cleaned_lines("\n".join(filter(None, (said, cell.comment))), _LONGEST),
    }
    if cell.status not in ("answered", "inconclusive"):  # of which nobody knows yet
        test["status"] = "passed" if cell.points >= cell.max_points else "failed"
    return test


def _index(students: Sequence[StudentMarks], written: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the files that were written, by address, and for students without one by name.

    By what several are known by, nobody is found: a namesake with an address, or without results, is one all the same.
    """
    by_address: dict[str, list[str]] = {}
    by_name: dict[str, list[str]] = {}
    for one in students:
        for text in one.addresses:
            by_address.setdefault(normalised(text), []).append(one.student)
        for text in one.names:
            by_name.setdefault(normalised(text), []).append("" if one.addresses else one.student)
    return {
        kind: {key: written[those[0]] for key, those in known.items() if len(those) == 1 and those[0] in written}
        for kind, known in (("by address", by_address), ("by name", by_name))
    }
