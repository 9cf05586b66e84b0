"""What the tables of Moodle, Canvas and Blackboard hold: assignments, students, and by what a student is known. Pure.

Sources, each read in its own code or manual:

- Canvas: ``lib/gradebook_exporter.rb`` and ``lib/gradebook_importer.rb`` of instructure/canvas-lms. The words of both
  are English whatever the user's language. The importer wants "Student", "ID" and "Section" (``header?``), knows an
  assignment by the number in "Name (123)" (``Assignment.title_and_id``) and makes a new one where there is none, and
  takes "N/A" for somebody who does not have the assignment.
- Moodle: the worksheet of an assignment (``mod/assign/gradingtable.php``, ``mod/assign/feedback/offline``), and the
  gradebook's export as plain text (``grade/export/txt``, ``grade/import/csv``). Their words are in the user's language;
  English and German are known here. The worksheet's importer wants "Identifier", "Grade" and "Last modified (grade)".
- Blackboard: "Work Offline with Grade Data" of its help: a student is known by the user name, a column by the number
  behind "|"; a column without one becomes a new one on upload.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from linklab.errors import LinklabError
from linklab.lms.cells import DELIMITERS, Table, decoded, first_row, read_table
from linklab.network.variants import normalised

NUMBER: Final = re.compile(r"-?\d+(?:[.,]\d+)?")
_CANVAS_COLUMN: Final = re.compile(r"(?P<title>.*)\s\((?P<number>\d+)\)")
_CANVAS_HIDDEN: Final = re.compile(r"\s*(?:Muted|Manual Posting.*)?\s*", re.IGNORECASE)
_CANVAS_KEYS: Final = ("SIS Login ID", "SIS User ID", "Integration ID", "ID")
_BLACKBOARD_COLUMN: Final = re.compile(
    r"(?P<title>.*?)\s*(?:\[Total Pts: (?P<sum>up to )?(?P<points>\d+(?:[.,]\d+)?)(?: (?P<kind>[^\]]*))?\])?\s*\|\d+"
)
_MOODLE_IDENTIFIER: Final = ("Identifier", "ID")
_MOODLE_GRADE: Final = ("Grade", "Bewertung")
_MOODLE_MODIFIED: Final = ("Last modified (grade)", "Zuletzt geändert (Bewertung)")
_MOODLE_MOST: Final = ("Maximum Grade", "Bestwertung")
_MOODLE_CHANGEABLE: Final = ("Grade can be changed", "Bewertung kann geändert werden")
_MOODLE_SCALE: Final = ("Scale", "Skala")
_MOODLE_NO: Final = ("No", "Nein")
_MOODLE_KEYS: Final = (
    "Username",
    "Anmeldename",
    "Email address",
    "E-Mail-Adresse",
    "ID number",
    "ID-Nummer",
)
_MOODLE_POINTS: Final = re.compile(r"(?P<title>.*) \((?:Real|Punkte)\)")
_MOODLE_NO_POINTS: Final = re.compile(r"Feedback: .*|.* \((?:Feedback|Percentage|Letter|Prozentsatz|Notenstufen)\)")
_FULL_NAME: Final = ("Full name", "Vollständiger Name")
_FIRST_NAME: Final = ("First name", "Vorname")
_LAST_NAME: Final = ("Last name", "Surname", "Nachname")


@dataclass(frozen=True)
class Column:
    """A column that may take points. `names` are all that the assignment may be called in it.

    `max_points` is what the platform says that it is worth, if it does; `refused` is why it takes no points.
    """

    index: int
    header: str
    names: frozenset[str]
    max_points: float | None = None
    refused: str = ""


@dataclass(frozen=True)
class Gradebook:
    """A platform's table. ``students`` are its rows of students; ``keys`` the columns that name one, by their header.

    ``numbers`` are the platform's own numbers of students, by row, as they stand in the names of submissions too.
    ``locked`` are rows that the platform takes no grade for, and why; ``vacant`` is what stands where no grade is.
    ``of_one`` is True for the table of one assignment alone, whose name does not stand in it. With ``by_names`` full
    names may name a student; they are for people to read in any case.
    """

    platform: str
    table: Table
    columns: tuple[Column, ...]
    students: tuple[int, ...]
    keys: Mapping[str, int]
    names: Mapping[int, tuple[str, ...]]
    numbers: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    locked: Mapping[int, str] = field(default_factory=dict)
    vacant: frozenset[str] = frozenset(("", "-"))
    of_one: bool = False
    by_names: bool = True

    @property
    def called(self) -> str:
        """The platform's name for people."""
        return _KNOWN[self.platform][0]

    def who(self, row: int) -> str:
        """Return a student for people: the name, and the first id that is there."""
        ids = (self.table.at(row, index) for index in self.keys.values())
        said = next((text for text in ids if text), "")
        name = next(iter(self.names.get(row, ())), "")
        return f"{name} ({said})" if name and said else name or said or f"row {row + 1}"

    def column(self, word: str) -> Column:
        """Return the column with that header, or of the assignment that is called so.

        Raises LinklabError where there is none, or several, or it takes no points.
        """
        found = [one for one in self.columns if one.header == word.strip()] or [
            one for one in self.columns if normalised(word) in one.names
        ]
        if len(found) > 1:
            headers = sorted({one.header for one in found})
            those = " or ".join(map(repr, headers))
            what = f"say with --labs which, {those}" if len(headers) > 1 else f"rename one in {self.called}"
            raise LinklabError(f"{self.table.name} has {len(found)} columns called {word!r}: {what}")
        if not found:
            there = "; ".join(repr(one.header) for one in self.columns if not one.refused)
            raise LinklabError(f"{self.table.name} has no column {word!r} for points, but {there or 'none at all'}")
        if found[0].refused:
            raise LinklabError(f"{self.table.name}, column {found[0].header!r} {found[0].refused}")
        return found[0]


def number(text: str) -> float | None:
    """Return a number as a gradebook has it, with a point or a comma; None for anything else."""
    return float(text.replace(",", ".")) if NUMBER.fullmatch(text) else None


def read_gradebook(data: bytes, name: str, platform: str, by: str = "") -> Gradebook:
    """Return the gradebook that a platform exported: ``moodle``, ``canvas`` or ``blackboard``.

    ``by`` is the header of the column that names students, where it is another one than usual. Raises LinklabError for
    a file that is another platform's, cut, damaged, or in an encoding that no platform writes.
    """
    text, _, _ = decoded(data, name)
    delimiter = _delimiter(text, platform, by) or _delimiter(text, platform)
    if delimiter is None:
        for other in _KNOWN:
            if _delimiter(text, other):
                raise LinklabError(
                    f"{name} is an export of {_KNOWN[other][0]}, not of {_KNOWN[platform][0]}: say --for {other}"
                )
        called, needs = _KNOWN[platform]
        raise LinklabError(f"{name} is no gradebook of {called}: its first row needs {needs}; export it anew, as CSV")
    table = read_table(data, name, delimiter)
    place = _find(table.header, (by,)) if by else None
    if by and place is None:
        raise LinklabError(f"{name} has no column {by!r}: choose of {'; '.join(table.header)}")
    _refuse_cut(table, platform)
    book = {"canvas": _canvas, "moodle": _moodle, "blackboard": _blackboard}[platform](table)
    if place is not None:
        by_names = place == _find(table.header, ("Student",) if platform == "canvas" else _FULL_NAME)
        book = replace(book, keys={} if by_names else {table.header[place]: place}, numbers={}, by_names=by_names)
    if not book.students:
        raise LinklabError(f"{name} lists no student: export the gradebook anew")
    return book


def _delimiter(text: str, platform: str, by: str = "") -> str | None:
    """What separates the cells of a file, if it is an export of a platform."""
    return next((mark for mark in DELIMITERS if _is_of(platform, first_row(text, mark), by)), None)


_KNOWN: Final = {
    "canvas": ("Canvas", "the columns Student, ID and Section"),
    "blackboard": ("Blackboard", "a column Username, and one for each assignment that ends with | and a number"),
    "moodle": ("Moodle", "a column that names students (Identifier, Email address, ID number; or name it with --by)"),
}


def _is_of(platform: str, header: Sequence[str], by: str) -> bool:
    if platform == "canvas":
        ids = ("ID" in header) and header[0] in ("Student", "LastName")
        return ids and "Section" in header
    if platform == "blackboard":
        return _find(header, (by or "Username",)) is not None and any(
            _BLACKBOARD_COLUMN.fullmatch(one) for one in header
        )
    if _is_of("canvas", header, "") or _is_of("blackboard", header, by):
        return False
    return _find(header, (by,)) is not None if by else _is_worksheet(header) or bool(_keys(header, _MOODLE_KEYS))


def _is_worksheet(header: Sequence[str]) -> bool:
    """Whether Moodle takes it as the worksheet of one assignment (``assignfeedback_offline_grade_importer::init``)."""
    return all(_find(header, names) is not None for names in (_MOODLE_IDENTIFIER, _MOODLE_GRADE, _MOODLE_MODIFIED))


def _find(header: Sequence[str], names: Iterable[str]) -> int | None:
    """Where the first of these headers stands. Moodle's versions differ in case."""
    folded = [one.casefold() for one in header]
    return next((folded.index(name.casefold()) for name in names if name.casefold() in folded), None)


def _keys(header: Sequence[str], names: Iterable[str]) -> dict[str, int]:
    """The columns with these headers, by the header as it stands there."""
    places = (_find(header, (name,)) for name in names)
    return {header[place]: place for place in places if place is not None}


def _refuse_cut(table: Table, platform: str) -> None:
    """Raise LinklabError for a row with more or fewer cells than the first. Rows of no student may differ."""
    for number in _filled(table):
        row = table.rows[number]
        may_differ = platform == "canvas" and _is_no_student_of_canvas([cell.text for cell in row])
        if len(row) != len(table.rows[0]) and not may_differ:
            line = len(table.text[: row[0].start].splitlines()) + 1
            raise LinklabError(
                f"{table.name}, line {line}: {len(row)} cells, and {len(table.header)} in the first line; the file "
                "was cut or edited: export it anew"
            )


def _filled(table: Table) -> tuple[int, ...]:
    """The rows below the first that say something: a spreadsheet's empty line at the end is nobody's."""
    return tuple(row for row in range(1, len(table.rows)) if any(cell.text.strip() for cell in table.rows[row]))


def _is_no_student_of_canvas(cells: Sequence[str]) -> bool:
    return "Points Possible" in cells[0] or all(_CANVAS_HIDDEN.fullmatch(cell) for cell in cells)


def _canvas(table: Table) -> Gradebook:
    header = table.header
    points: list[str] = []
    students = []
    for row in _filled(table):
        cells = [cell.text for cell in table.rows[row]]
        if "Points Possible" in cells[0]:
            points = [text.strip() for text in cells]
        elif not _is_no_student_of_canvas(cells):
            students.append(row)
    columns = []
    for index in range(header.index("Section") + 1, len(header)):
        found = _CANVAS_COLUMN.fullmatch(header[index])
        worth = points[index] if index < len(points) else ""
        refused = ""
        if found is None:
            refused = "has no number of an assignment at its end, so Canvas would make a new one: export it anew"
        elif "read only" in worth:
            refused = "is read only in Canvas"
        title = found["title"] if found else header[index]
        columns.append(Column(index, header[index], _called(title), number(worth), refused))
    names: dict[int, tuple[str, ...]]
    if header[0] == "Student":
        names = {row: (_turned(table.at(row, 0)), table.at(row, 0)) for row in students}
    else:
        names = {row: (f"{table.at(row, 1)} {table.at(row, 0)}",) for row in students}
    keys = _keys(header, _CANVAS_KEYS)
    numbers = {row: (table.at(row, header.index("ID")),) for row in students}
    return Gradebook("canvas", table, tuple(columns), tuple(students), keys, names, numbers)


def _turned(name: str) -> str:
    """``King, Ada`` the other way round; a name without a comma as it is."""
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma else name


def _moodle(table: Table) -> Gradebook:
    header = table.header
    students = _filled(table)
    keys = _keys(header, _MOODLE_KEYS)
    names = _names(table, students)
    if not _is_worksheet(header):
        others = _keys(header, (*_MOODLE_KEYS, *_FIRST_NAME, *_LAST_NAME, *_FULL_NAME))
        columns = [_moodle_column(index, said) for index, said in enumerate(header) if said not in others]
        return Gradebook("moodle", table, tuple(columns), students, keys, names)
    grade, most = _find(header, _MOODLE_GRADE), _find(header, _MOODLE_MOST)
    identifier, changeable = _find(header, _MOODLE_IDENTIFIER), _find(header, _MOODLE_CHANGEABLE)
    assert grade is not None, "a worksheet has it"
    assert identifier is not None, "a worksheet has it"
    worth = sorted({table.at(row, most) for row in students}) if most is not None else []
    if len(worth) > 1:
        raise LinklabError(f"{table.name} says that it is worth {' and '.join(worth)} points: export it anew")
    refused = "is of a scale, not of points" if _find(header, _MOODLE_SCALE) is not None else ""
    column = Column(grade, header[grade], frozenset(), number(worth[0]) if worth else None, refused)
    numbers = {row: (_digits_at_end(table.at(row, identifier)),) for row in students}
    locked = {
        row: "Moodle says that this grade cannot be changed"
        for row in students
        if changeable is not None and table.at(row, changeable) in _MOODLE_NO
    }
    keys = keys | {header[identifier]: identifier}
    return Gradebook("moodle", table, (column,), students, keys, names, numbers, locked, of_one=True)


def _moodle_column(index: int, header: str) -> Column:
    """A column of the gradebook's export: ``Assignment: Lab 03 (Real)``."""
    refused = "has no points in it" if _MOODLE_NO_POINTS.fullmatch(header) else ""
    found = _MOODLE_POINTS.fullmatch(header)
    title = found["title"] if found else header
    return Column(index, header, _called(title) | _called(title.partition(": ")[2] or title), None, refused)


def _digits_at_end(text: str) -> str:
    """The number of ``Participant 123``, ``Teilnehmer/in123``."""
    found = re.search(r"\d+\Z", text)
    return found[0] if found else ""


def _blackboard(table: Table) -> Gradebook:
    header = table.header
    students = _filled(table)
    columns = []
    for index, said in enumerate(header):
        found = _BLACKBOARD_COLUMN.fullmatch(said)
        if found is None:
            continue
        refused = ""
        if found["sum"]:
            refused = "is computed by Blackboard from others"
        elif found["kind"] not in (None, "Score"):
            refused = f"shows {found['kind']}: let Blackboard show Score, and export it anew"
        columns.append(Column(index, said, _called(found["title"]), number(found["points"] or ""), refused))
    keys = _keys(header, ("Username", "Student ID"))
    vacant = frozenset(("", "-", "Needs Grading"))
    return Gradebook("blackboard", table, tuple(columns), students, keys, _names(table, students), vacant=vacant)


def _names(table: Table, students: Iterable[int]) -> dict[int, tuple[str, ...]]:
    full, first, last = (_find(table.header, names) for names in (_FULL_NAME, _FIRST_NAME, _LAST_NAME))
    if full is not None:
        return {row: (table.at(row, full),) for row in students}
    if first is not None and last is not None:
        return {row: (f"{table.at(row, first)} {table.at(row, last)}".strip(),) for row in students}
    return {}


def _called(title: str) -> frozenset[str]:
    return frozenset((normalised(title),)) if title.strip() else frozenset()


def has_decimal_comma(book: Gradebook, columns: Iterable[Column]) -> bool:
    """Return whether the file's points have a decimal comma.

    The columns that are to be written say it; where none of their numbers is broken, the other grades. What stands in a
    column of anything else (``4.1``, a department) says it last of all. Raises LinklabError where some have and some
    have not.
    """
    header, open_to_points = book.table.header, [one.index for one in book.columns if not one.refused]
    most = _find(header, _MOODLE_MOST)
    grades = [index for index in open_to_points if header[index].endswith(")")]  # as Moodle's (Real) and Canvas' (123)
    for places in ([*(one.index for one in columns), *([most] if most is not None else [])], grades, open_to_points):
        said = [row[index].text.strip() for row in book.table.rows[1:] for index in places if index < len(row)]
        marks = {mark for text in said if NUMBER.fullmatch(text) for mark in ",." if mark in text}
        if len(marks) > 1:
            raise LinklabError(f"{book.table.name} has points with a comma and with a point: export it anew")
        if marks:
            return marks == {","}
    return False
