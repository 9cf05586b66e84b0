"""What Gradescope and nbgrader have in place of a gradebook: an autograder's results, and a table of all labs. Pure.

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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from linklab.grading.names import cleaned, folder_of
from linklab.lms.marks import NBGRADER_COLUMNS, Mark, Marks, Student
from linklab.network.variants import normalised

_LONGEST: Final = 2000
SETUP: Final = "#!/bin/sh\napt-get install -y python3\n"
RUN: Final = '''\
#!/usr/bin/env python3
"""Written by linklab export: gives each submission the results that linklab grade judged before."""

import json
import pathlib
import shutil
import sys
import unicodedata


def known(text):
    return unicodedata.normalize("NFC", text or "").strip().casefold()


source = pathlib.Path("source")
students = json.loads((source / "students.json").read_text("utf-8"))
users = json.loads(pathlib.Path("submission_metadata.json").read_text("utf-8"))["users"]
found = [
    students["by address"].get(known(user.get("email"))) or students["by name"].get(known(user.get("name")))
    for user in users
]
files = set(filter(None, found))
if len(files) != 1:
    sys.exit(f"{len(files) or 'no'} results are those of {[user.get('email') for user in users]}")
shutil.copyfile(source / "results" / files.pop(), "results/results.json")
'''


def results_of(lab: str, mark: Mark, max_points: float) -> dict[str, Any]:
    """Return one student's results for one lab, as ``results.json`` has them."""
    waits = f"{mark.open_points:g} of {max_points:g} points are still open." if mark.open_points else ""
    found: dict[str, Any] = {
        "score": round(mark.points, 2),
        "output": "\n".join(line for line in (waits, *(cleaned(note, _LONGEST) for note in mark.notes)) if line),
        "stdout_visibility": "hidden",
        "extra_data": {"lab": lab, "max_score": max_points, "open_points": mark.open_points},
        "tests": [_test(cell) for cell in mark.cells],
    }
    if mark.wall_s is not None:
        found["execution_time"] = round(mark.wall_s)
    return found


def _test(cell: Mapping[str, Any]) -> dict[str, Any]:
    score, most = float(cell["points"]), float(cell["max_points"])
    said = str(cell["reason"] or ("waits for your instructor" if cell["status"] == "answered" else cell["status"]))
    if cell["status"] == "passed":
        said = f"{score:g} of {most:g} points"
    test = {
        "name": cleaned(str(cell.get("title") or cell["id"])),
        "score": round(score, 2),
        "max_score": most,
        "visibility": "visible",
        "output": cleaned(said, _LONGEST),
    }
    if cell["status"] not in ("answered", "inconclusive"):  # of which nobody knows yet
        test["status"] = "passed" if score >= most else "failed"
    return test


def autograder(lab: str, marks: Marks, provisional: bool) -> tuple[bytes, tuple[str, ...]]:
    """Return a zip file for Gradescope with the results of one lab, and who has none in it and why, a line each."""
    out, troubles = io.BytesIO(), []
    written = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in marks.students:
            mark = one.of(lab)
            if mark.state == "not handed in":
                continue
            if early := mark.not_final(provisional):
                troubles.append(f"not written, {cleaned(one.student)}, {lab}: {early}")
            else:
                written[one.student] = f"{folder_of(one.student)}.json"
                results = results_of(lab, mark, marks.max_points[lab])
                _add(archive, f"results/{written[one.student]}", json.dumps(results, indent=1))
        _add(archive, "students.json", json.dumps(_index(marks.students, written), indent=1))
        _add(archive, "setup.sh", SETUP)
        _add(archive, "run_autograder", RUN)
    return out.getvalue(), tuple(troubles)


def _index(students: Iterable[Student], written: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The files that were written, by address, and of those who have none by name.

    By what several are known by, nobody is found: a namesake with an address, or without results, is one all the same.
    """
    by_address: dict[str, list[str]] = {}
    by_name: dict[str, list[str]] = {}
    for one in students:
        addresses = [text for text in one.ids if "@" in text]
        for text in addresses:
            by_address.setdefault(normalised(text), []).append(one.student)
        for text in one.names:
            by_name.setdefault(normalised(text), []).append("" if addresses else one.student)
    return {
        kind: {key: written[those[0]] for key, those in known.items() if len(those) == 1 and those[0] in written}
        for kind, known in (("by address", by_address), ("by name", by_name))
    }


def _add(archive: zipfile.ZipFile, name: str, text: str) -> None:
    """A file that anybody may run, with a time that is always the same."""
    told = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    told.external_attr = 0o755 << 16
    told.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(told, text)


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
            email = next((text for text in one.ids if "@" in text), "")
            rows.writerow([lab, "", "", one.student, "", "", email, points, 0.0, points, marks.max_points[lab]])
    return out.getvalue()
