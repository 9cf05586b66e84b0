"""Points and comments that people give: a CSV file, written with all answers and read back.

A row is an answer. The answers to one question stand together, so that one reads twenty answers to one question and not
twenty pages; after a lab's free texts come its checks that did not pass, with the reason. People write into the columns
``points`` and ``comment`` with any program for tables, or with the page of ``linklab by-hand``. A row is known by its
``key`` alone, the digest of whose answer it is, to what, and of its text: programs for tables may change everything
else, and points stay with the answer that they were given for. Rows with points that belong to no present answer are
kept at the end.

Each save replaces the whole file under a lock, so a reader finds the older file or the new one, also after a kill. A
table that was opened before the page gave points and is saved over them does not lose them: the page keeps them in a
file of its own as well (``by-hand-page.csv``).
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.files import locked, write_whole
from linklab.grading.grades import for_spreadsheet, reason_of, spreadsheet
from linklab.grading.verdict import Verdict
from linklab.report.model import Graded

FILE: Final = "by-hand.csv"
_COPIES: Final = "by-hand-*.csv"
"""Copies of the file, in which other graders give points."""
_OF_PAGE: Final = "-page"
"""Ends the name of a second file beside the file or a copy: what the page gave, which no program for tables opens."""
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


def failed_checks(student: str, verdict: Verdict) -> Iterable[WrittenAnswer]:
    """Yield the checks of a notebook that were judged and did not pass, or could not be decided."""
    for cell in verdict.cells:
        if cell.kind == "check" and cell.status in ("failed", "inconclusive"):
            reason = f"{cell.status}: {reason_of(cell)}"
            yield WrittenAnswer(verdict.lab, cell.cell_id, student, reason, cell.max_points)


def to_csv(answers: Iterable[WrittenAnswer], earlier: Mapping[str, GivenRow]) -> str:
    """Return the file: labs and questions in the order given, the answers to one question in alphabetical order."""
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


def read(data: bytes, name: str = FILE) -> dict[str, GivenRow]:
    """Return the rows of a file, by key. Raises LinklabError, which names the file and the row that is not in order.

    It takes what programs for tables write: other encodings, semicolons between columns, commas in numbers.
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
        raise LinklabError(f"{name} cannot be read ({error}): mend it, or move it away") from None
    finally:
        csv.field_size_limit(before)
    columns = tuple(rows[0]) if rows else ()
    if columns != _COLUMNS:
        raise LinklabError(f"{name} does not begin with the columns {', '.join(_COLUMNS)}: mend it, or move it away")
    found = {}
    for number, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) != len(columns):
            raise LinklabError(f"{name}, row {number}: {len(row)} columns instead of {len(columns)}")
        cells = dict(zip(columns, row, strict=True))
        points = points_of(cells["points"], cells["of"], f"{name}, row {number}")
        comment, grader = (as_written(cells[name]) for name in ("comment", "grader"))
        found[cells["key"]] = GivenRow(cells, Given(points, comment, grader))
    return found


def as_written(text: str) -> str:
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
    """Return the answers with what was given for them, at most the points that they are worth."""
    found = []
    for one in answers:
        given = rows[one.key].given if one.key in rows else Given()
        points = None if given.points is None else min(one.max_points, given.points)
        found.append(replace(one, given=replace(given, points=points)))
    return found


def with_given(verdict: Verdict, given: Mapping[str, Given]) -> Verdict:
    """Return a verdict with the points and comments that people gave, by cell."""
    cells = tuple(_with_given(cell, given.get(cell.cell_id, Given())) for cell in verdict.cells)
    return replace(verdict, cells=cells)


def _with_given(cell: Graded, given: Given) -> Graded:
    cell = replace(cell, comment=given.comment)
    if given.points is None:
        return cell
    return replace(cell, points=given.points, status="passed" if given.points else "failed")


class PointsFile:
    """The file, or a copy of it, in a graded class's folder."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, path.with_name(_LOCK)
        self._of_page = path.with_stem(path.stem + _OF_PAGE)
        self._read: tuple[tuple[int, ...], dict[str, GivenRow]] = (), {}

    def rows(self) -> dict[str, GivenRow]:
        """Return the rows as they are now, by key; none where there is no file. A file that has not changed, which may
        have 20,000 rows, is read once. What the page gave counts where the file has nothing. Raises LinklabError where
        it is not in order.
        """
        if not self._path.is_file():
            return {}
        at = self._path.stat()
        stamp = (at.st_ino, at.st_mtime_ns, at.st_size)
        if self._read[0] != stamp:
            found = self._rows_of(self._path)
            given = self._rows_of(self._of_page)
            self._read = stamp, found | {key: given[key] for key in self._lacking(found, given)}
        return dict(self._read[1])

    def give(self, keys: Iterable[str], given: Given) -> None:
        """Give the same for all of these answers. When this returns it is on the disk. Raises OSError."""
        now = {"points": _points(given), "comment": given.comment, "grader": given.grader}
        with locked(self._lock):
            rows = self.rows()
            changed = {key: GivenRow({**rows[key].cells, **now}, given) for key in keys}
            _write(self._of_page, self._rows_of(self._of_page) | changed)
            _write(self._path, rows | changed)

    def differences(self) -> Iterable[str]:
        """Yield a line for what the page gave and the file has otherwise, as when an older table was saved over it."""
        found, given = self._rows_of(self._path), self._rows_of(self._of_page)
        if lacking := self._lacking(found, given):
            yield f"{self._path.name} lacks what the page gave, which counts all the same: {_whose(lacking, found)}"
        other = [
            key for key, row in given.items() if key in found and found[key].given not in (Given(), row.given)
        ]  # fmt: skip
        if other:
            yield f"{self._path.name} has other points or comments than the page gave, and they count: " + (
                _whose(other, found)
            )

    @staticmethod
    def _lacking(found: Mapping[str, GivenRow], given: Mapping[str, GivenRow]) -> list[str]:
        return [key for key, row in given.items() if key in found and found[key].given == Given() != row.given]

    @staticmethod
    def _rows_of(path: Path) -> dict[str, GivenRow]:
        return read(path.read_bytes(), path.name) if path.is_file() else {}

    def take_in(self, answers: Iterable[WrittenAnswer]) -> None:
        """Write the file anew for these answers, with what was given for them until now, here and in copies."""
        with locked(self._lock):
            rows = rows_in(self._path.parent)
            write_whole(self._path, to_csv(with_points(answers, rows), rows), 0o644)
            given, now = self._rows_of(self._of_page), self._rows_of(self._path)
            if given:  # what was said once is not said again
                _write(self._of_page, {key: now[key] for key in given.keys() & now.keys()})


def _write(path: Path, rows: Mapping[str, GivenRow]) -> None:
    table = [_COLUMNS, *([row.cells[name] for name in _COLUMNS] for row in rows.values())]
    write_whole(path, spreadsheet(table), 0o644)


def _whose(keys: Iterable[str], rows: Mapping[str, GivenRow]) -> str:
    return "; ".join("{student} ({lab}, {question})".format_map(rows[key].cells) for key in keys)


def rows_in(folder: Path) -> dict[str, GivenRow]:
    """Return what was given in a graded class's folder, by key: in the file, and in copies of it.

    Where two files have points for one answer, the later saved file's count, so that a correction in the file counts
    over a copy that was taken in before. Raises LinklabError where one of them is not in order.
    """
    files = [path for path in (folder / FILE, *sorted(folder.glob(_COPIES))) if path.is_file()]
    files = [path for path in files if not path.stem.endswith(_OF_PAGE)]  # `PointsFile.rows` reads those as well
    found: dict[str, GivenRow] = {}
    for path in sorted(files, key=lambda path: path.stat().st_mtime_ns):
        rows = PointsFile(path).rows()
        found |= {key: row for key, row in rows.items() if key not in found or row.given != Given()}
    return found
