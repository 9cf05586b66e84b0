"""Points and comments that people give: a CSV file, written with all answers and read back.

A row an answer, those to one question together, so that one reads twenty answers to one question and not twenty pages;
after a lab's free texts come its checks that did not pass, with the reason. People write into the columns ``points``
and ``comment``, or use the page of ``linklab by-hand``, which appends to a journal beside the file. A row is known by
its ``key`` alone, the digest of whose answer it is, to what, and of its text: programs for tables may change everything
else, and points stay with the answer that they were given for. Rows with points that belong to no present answer are
kept at the end.

`Journal` loses nothing: a line is appended under a lock and is on the disk before anybody hears that it is kept; a line
that a kill cut short was never promised, and is passed over. Who saw something else than what is there is refused, so
that no grader overwrites another one unseen. ``linklab grade`` takes the journal into the table.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.files import locked, write_whole
from linklab.grading.grades import for_spreadsheet, reason_of, spreadsheet
from linklab.grading.model import Judged
from linklab.report.model import Graded

FILE: Final = "by-hand.csv"
JOURNAL: Final = "by-hand.jsonl"
_LOCK: Final = ".by-hand.lock"
_COLUMNS: Final = ("key", "lab", "question", "student", "of", "points", "comment", "grader", "answer")
_LONGEST_FIELD: Final = 10_000_000


@dataclass(frozen=True)
class Given:
    """What somebody gave: points, if any, a comment for the student, and the grader's name."""

    points: float | None = None
    comment: str = ""
    grader: str = ""


@dataclass(frozen=True)
class WrittenAnswer:
    """What waits for points, or has them: a free text, or a check that did not pass, whose `text` is its verdict."""

    lab: str
    cell: str
    student: str
    text: str
    max_points: float
    given: Given = Given()

    @property
    def key(self) -> str:
        """What tells it from all others. It begins with a letter: a table's program must not take it for a number."""
        whole = "\0".join((self.lab, self.cell, self.student, self.text))
        return f"k{hashlib.sha256(whole.encode(errors='replace')).hexdigest()[:16]}"


@dataclass(frozen=True)
class GivenRow:
    """A row of the file as it is, by the column's name, and what was given in it."""

    cells: Mapping[str, str]
    given: Given


def failed_checks(student: str, judged: Judged) -> Iterable[WrittenAnswer]:
    """Yield the checks of a notebook that were judged and did not pass, or could not be decided."""
    for cell in judged.cells:
        if cell.kind == "check" and cell.status in ("failed", "inconclusive"):
            verdict = f"{cell.status}: {reason_of(cell)}"
            yield WrittenAnswer(judged.lab, cell.cell_id, student, verdict, cell.max_points)


def to_csv(answers: Iterable[WrittenAnswer], earlier: Mapping[str, GivenRow]) -> str:
    """The file: labs and questions in the order given, the answers to one question in that of the alphabet."""
    answers = list(answers)
    questions = {place: number for number, place in enumerate(dict.fromkeys((one.lab, one.cell) for one in answers))}
    rows: list[Sequence[str]] = [_COLUMNS]
    for one in sorted(answers, key=lambda one: (questions[one.lab, one.cell], one.text.casefold(), one.student)):
        shown = "\n".join(one.text.strip().splitlines())
        given = (_points(one.given), one.given.comment, one.given.grader)
        rows.append((one.key, one.lab, one.cell, one.student, f"{one.max_points:g}", *given, shown))
    present = {one.key for one in answers}
    kept = [row.cells for key, row in earlier.items() if key not in present and row.given != Given()]
    return spreadsheet([*rows, *([cells.get(name, "") for name in _COLUMNS] for cells in kept)])


def _points(given: Given) -> str:
    return "" if given.points is None else f"{given.points:g}"


def read(data: bytes) -> dict[str, GivenRow]:
    """The rows of a file, by key. Raises LinklabError, naming the row that is not in order.

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
    columns = tuple(rows[0]) if rows else ()
    if columns != _COLUMNS:
        raise LinklabError(f"{FILE} does not begin with the columns {', '.join(_COLUMNS)}: mend it, or move it away")
    found = {}
    for number, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) != len(columns):
            raise LinklabError(f"{FILE}, row {number}: {len(row)} columns instead of {len(columns)}")
        cells = dict(zip(columns, row, strict=True))
        points = points_of(cells["points"], cells["of"], f"{FILE}, row {number}")
        comment, grader = (_as_written(cells[name]) for name in ("comment", "grader"))
        found[cells["key"]] = GivenRow(cells, Given(points, comment, grader))
    return found


def _as_written(text: str) -> str:
    """Return a text without the mark that keeps a spreadsheet from running it."""
    without = text.removeprefix("'")
    return without if for_spreadsheet(without) == text else text


def points_of(points: str, worth: str, where: str) -> float | None:
    """Return points that somebody wrote, None where the text is empty. Raises LinklabError for what are none."""
    if not points.strip():
        return None
    try:
        given, most = (float(text.strip().replace(",", ".")) for text in (points, worth))
    except ValueError:
        raise LinklabError(f"{where}: {points!r} of {worth!r} are no points") from None
    if not 0 <= given <= most:
        raise LinklabError(f"{where}: {points} points, and 0 to {worth} can be given")
    return given


def with_points(answers: Iterable[WrittenAnswer], rows: Mapping[str, GivenRow]) -> list[WrittenAnswer]:
    """The answers with what was given for them, never more points than they are worth."""
    found = []
    for one in answers:
        given = rows[one.key].given if one.key in rows else Given()
        points = None if given.points is None else min(one.max_points, given.points)
        found.append(replace(one, given=replace(given, points=points)))
    return found


def with_given(judged: Judged, given: Mapping[str, Given]) -> Judged:
    """A verdict with the points and comments that people gave, by cell."""
    return judged.with_cells(lambda cell: _with_given(cell, given.get(cell.cell_id, Given())))


def _with_given(cell: Graded, given: Given) -> Graded:
    cell = replace(cell, comment=given.comment)
    if given.points is None:
        return cell
    return replace(cell, points=given.points, status="passed" if given.points else "failed")


class Journal:
    """What graders gave since the table was written, in a graded class's folder."""

    def __init__(self, folder: Path) -> None:
        self._path, self._table, self._lock = folder / JOURNAL, folder / FILE, folder / _LOCK
        self._read: tuple[tuple[int, ...], dict[str, GivenRow]] = (), {}

    def rows(self) -> tuple[dict[str, GivenRow], int]:
        """Return the table's rows with the journal's in their places, and how long the journal is, in bytes.

        Raises LinklabError where the table is not in order.
        """
        rows = self._table_rows()
        lines = self._path.read_bytes() if self._path.is_file() else b""
        length = lines.rfind(b"\n") + 1
        for line in lines[:length].splitlines():
            try:
                told = json.loads(line)
                key, given = told["row"]["key"], Given(told["points"], told["comment"], told["grader"])
            except (ValueError, LookupError, TypeError):
                continue  # cut short by a kill, and closed by the next line's writer
            now = {"points": _points(given), "comment": given.comment, "grader": given.grader}
            rows[key] = GivenRow({**told["row"], **(rows[key].cells if key in rows else {}), **now}, given)
        return rows, length

    def _table_rows(self) -> dict[str, GivenRow]:
        """Return the table's rows; a table that has not changed, which may have 20,000 rows, is read once."""
        if not self._table.is_file():
            return {}
        at = self._table.stat()
        stamp = (at.st_ino, at.st_mtime_ns, at.st_size)
        if self._read[0] != stamp:
            self._read = stamp, read(self._table.read_bytes())
        return dict(self._read[1])

    def read(self) -> dict[str, GivenRow]:
        """Return all rows as they are now."""
        with locked(self._lock):
            return self.rows()[0]

    def add(self, seen: Mapping[str, Given], given: Given) -> dict[str, Given]:
        """Give the same for all of these answers, if each still has what the grader has ``seen``.

        Returns what those have that have something else; then nothing is given. Raises OSError where it cannot be kept.
        """
        with locked(self._lock):
            rows, length = self.rows()
            now = {key: rows[key].given if key in rows else Given() for key in seen}
            others = {key: there for key, there in now.items() if there not in (seen[key], given)}
            if others:
                return others
            told = [{**asdict(given), "row": rows[key].cells} for key in seen if key in rows]
            lines = "".join(json.dumps(line) + "\n" for line in told)
            with self._path.open("ab") as file:
                os.chmod(self._path, 0o600)
                cut = file.tell() > length  # by a kill
                file.write((b"\n" if cut else b"") + lines.encode())
                file.flush()
                os.fsync(file.fileno())
        return {}

    def take_in(self, table: str, length: int) -> None:
        """Write the table, which has the first bytes of the journal in it, and keep the rest of the journal."""
        if not length:
            write_whole(self._table, table, 0o644)
            return
        with locked(self._lock):
            write_whole(self._table, table, 0o644)
            write_whole(self._path, self._path.read_bytes()[length:], 0o600)
