"""Points that the instructor gives for free texts: a CSV file, written with all answers and read back. Pure.

A row an answer, those to one question together, so that one reads twenty answers to one question and not twenty pages.
The instructor writes into the column ``points``. A row is known by its ``key`` alone, the digest of whose answer it is,
to what, and of its text: programs for tables may change everything else, and points stay with the answer that they were
given for. Rows with points that belong to no present answer are kept at the end.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from linklab.errors import LinklabError
from linklab.grading.grades import for_spreadsheet
from linklab.grading.model import Judged
from linklab.report.model import Graded

FILE: Final = "by-hand.csv"
_COLUMNS: Final = ("key", "lab", "question", "student", "of", "points", "answer")
_LONGEST_FIELD: Final = 10_000_000
_LONGEST_LINE: Final = 20_000


@dataclass(frozen=True)
class WrittenAnswer:
    """A free text that waits for points, or has them."""

    lab: str
    cell: str
    student: str
    text: str
    max_points: float
    points: float | None = None

    @property
    def key(self) -> str:
        """What tells it from all others. It begins with a letter: a table's program must not take it for a number."""
        whole = "\0".join((self.lab, self.cell, self.student, self.text))
        return f"k{hashlib.sha256(whole.encode(errors='replace')).hexdigest()[:16]}"


@dataclass(frozen=True)
class Given:
    """A row with points: these, and the row as it is."""

    points: float
    row: Sequence[str]


def to_csv(answers: Iterable[WrittenAnswer], earlier: Mapping[str, Given]) -> str:
    """The file: labs and questions in the order given, the answers to one question in that of the alphabet."""
    answers = list(answers)
    questions = {place: number for number, place in enumerate(dict.fromkeys((one.lab, one.cell) for one in answers))}
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\r\n")
    rows.writerow(_COLUMNS)
    for one in sorted(answers, key=lambda one: (questions[one.lab, one.cell], one.text.casefold(), one.student)):
        points = "" if one.points is None else f"{one.points:g}"
        shown = for_spreadsheet("\n".join(one.text.strip().splitlines()), longest=_LONGEST_LINE)
        rows.writerow([one.key, one.lab, one.cell, for_spreadsheet(one.student), f"{one.max_points:g}", points, shown])
    present = {one.key for one in answers}
    rows.writerows(given.row for key, given in earlier.items() if key not in present)
    return out.getvalue()


def read(data: bytes) -> dict[str, Given]:
    """The rows with points in a file, by key. Raises LinklabError, naming the row that is not in order.

    Programs for tables write other characters, semicolons between columns, and commas into numbers.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeError:
        text = data.decode("cp1252", errors="replace")
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        mark = ";" if ";" in text.partition("\n")[0] else ","
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))
    except csv.Error as error:
        raise LinklabError(f"{FILE} cannot be read ({error}): mend it, or move it away") from None
    finally:
        csv.field_size_limit(before)
    if not rows or tuple(rows[0]) != _COLUMNS:
        raise LinklabError(f"{FILE} does not begin with the columns {', '.join(_COLUMNS)}: mend it, or move it away")
    found = {}
    for number, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) != len(_COLUMNS):
            raise LinklabError(f"{FILE}, row {number}: {len(row)} columns instead of {len(_COLUMNS)}")
        key, *_, worth, points, _ = row
        if points.strip():
            found[key] = Given(_points(points, worth, number), row)
    return found


def _points(points: str, worth: str, number: int) -> float:
    try:
        given, most = (float(text.strip().replace(",", ".")) for text in (points, worth))
    except ValueError:
        raise LinklabError(f"{FILE}, row {number}: {points!r} of {worth!r} are no points") from None
    if not 0 <= given <= most:
        raise LinklabError(f"{FILE}, row {number}: {points} points, and 0 to {worth} can be given")
    return given


def with_points(answers: Iterable[WrittenAnswer], given: Mapping[str, Given]) -> list[WrittenAnswer]:
    """The answers with the points that were given for them, never more than they are worth."""
    return [
        replace(one, points=min(one.max_points, given[one.key].points) if one.key in given else None) for one in answers
    ]


def with_given(judged: Judged, given: Mapping[str, float]) -> Judged:
    """A verdict with the instructor's points for free texts, by cell."""
    return replace(judged, cells=tuple(_with_given(cell, given) for cell in judged.cells))


def _with_given(cell: Graded, given: Mapping[str, float]) -> Graded:
    if cell.kind != "free text" or cell.cell_id not in given:
        return cell
    points = given[cell.cell_id]
    return replace(cell, points=points, status="passed" if points else "failed")
