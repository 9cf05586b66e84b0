"""What the platforms' importers take from a file, by the rules of their own code (`linklab.lms.gradebooks` names it).

Each gives what an import would change: a student as the platform knows one, the assignment, the new grade. What the
platform would make of a file by mistake (a new assignment, a user it does not know) is an error here.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping

Changes = dict[tuple[str, str], str]


def _rows(text: str, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def canvas(data: bytes, before: Mapping[tuple[str, str], str], students: set[str]) -> Changes:
    """``GradebookImporter``: by the student's ID and the assignment's number; ``before`` are the grades it has."""
    text = data.decode("utf-8").removeprefix("\ufeff")
    counts = {}
    for mark in ";,":
        try:
            lengths = {len(row) for row in _rows("\n".join(text.split("\n")[:3]), mark)}
        except csv.Error:
            lengths = set()
        counts[mark] = lengths.pop() if len(lengths) == 1 else 0
    rows = _rows(text, ";" if counts[";"] > counts[","] else ",")
    header, *rest = [row for row in rows if not re.fullmatch(r"[;, ]+", ",".join(row))]
    at = 2 if header[0] == "LastName" and header[1] == "FirstName" else 1
    assert header[at] == "ID", "invalid header row"
    assert header[at + 1 : at + 4] == ["SIS User ID", "SIS Login ID", "Section"], "invalid header row"
    columns = {}
    for index, name in enumerate(header[at + 4 :], at + 4):
        if name == "Notes" or re.search("Current Score|Final Score", name):
            continue
        found = re.fullmatch(r"(.*)\s\((\d+)\)", name)
        assert found, f"a new assignment {name}"
        columns[found[2]] = index
    changes: Changes = {}
    for row in rest:
        if "Points Possible" in row[0] or all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell) for cell in row):
            continue
        assert row[at] in students, f"a new student {row}"
        for number, index in columns.items():
            grade, old = _canvas_number(row[index].strip()), before.get((row[at], number), "")
            if old == "N/A" or (not old and grade in ("", "-")) or _two(grade) == _two(old):
                continue
            changes[row[at], number] = grade
    return changes


def _canvas_number(text: str) -> str:
    if not re.fullmatch(r"-?[0-9.,]+%?", text):
        return text
    *whole, last = re.split("[,.]", text)
    return ".".join(["".join(whole), last]) if whole else last


def _two(text: str) -> str:
    return f"{float(text):.2f}" if re.fullmatch(r"-?\d+(\.\d+)?", text) else text


def moodle_reader(data: bytes, delimiter: str) -> list[list[str]]:
    """``csv_import_reader``: UTF-8, all rows as long as the first."""
    rows = _rows(data.decode("utf-8").removeprefix("\ufeff"), delimiter)
    assert len({len(row) for row in rows}) == 1, "csvweirdcolumns"
    return rows


def moodle_worksheet(
    data: bytes, words: Mapping[str, str], before: Mapping[str, str], locked: set[str], most: float
) -> dict[str, float]:
    """``assignfeedback_offline``: new grades by participant. ``words`` are the user's language's for its strings."""
    header, *rows = moodle_reader(data, ",")
    grade, who, _ = (header.index(words[name]) for name in ("grade", "recordid", "lastmodifiedgrade"))
    changes = {}
    for row in rows:
        participant = row[who][len(words["hiddenuser"]) :]
        text = row[grade].strip().replace(words["decsep"], ".")
        if not text or participant in locked or text == before.get(participant, ""):
            continue
        if 0 <= float(text) <= most and float(text) != float(before.get(participant) or -1):
            changes[participant] = float(text)
    return changes


def moodle_gradebook(data: bytes, delimiter: str, who: str, column: str, decsep: str) -> dict[str, float | None]:
    """``gradeimport_csv`` with a column that names users and one that holds a grade item's: all its grades."""
    header, *rows = moodle_reader(data, delimiter)
    header = [name.strip() for name in header]
    found: dict[str, float | None] = {}
    for row in rows:
        value = row[header.index(column)]
        found[row[header.index(who)]] = None if value in ("", "-") else float(value.replace(decsep, "."))
    return found
