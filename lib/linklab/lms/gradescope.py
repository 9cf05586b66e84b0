"""Write an autograder for Gradescope, which gives each submission the results that ``linklab grade`` judged before.

Gradescope (gradescope-autograders.readthedocs.io, "Autograder Specifications" and "Submission Metadata"): an autograder
is a zip file with ``setup.sh`` and ``run_autograder`` at its root. The latter runs in ``/autograder`` for each
submission and leaves ``results/results.json``; ``submission_metadata.json`` there says whose submission it is. Labs
need Linux of their own and are judged at home, so this autograder runs nothing of the student's.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, Final

from linklab.grading.grades import StoredCell, StoredLab
from linklab.grading.names import cleaned, cleaned_lines, folder_of
from linklab.lms.marks import Marks, StudentMarks, not_final
from linklab.network.variants import normalised

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
        said = "Handed in late, %d day%s begun: %g %% of the points" % (days, "s" * (days != 1), share)
        results["output"] = "\\n".join(filter(None, (said, results["output"])))
pathlib.Path("results/results.json").write_text(json.dumps(results, indent=1), "utf-8")
'''


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
