"""Points into a gradebook: whose row is whose, and what may be written there. Pure.

A student is never guessed. The platform's own number, which stands in the names of submissions, names a row; whose
number is in no row is found by no name, for a namesake may be there. Besides, one column serves the whole class, the
one that names most of it, so that a number of one kind is not taken for one of another; full names count as such a
column. Who is in no row, or in several, gets nothing and is named; so is everybody who claims a row that another one
claims too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from linklab.errors import LinklabError
from linklab.grading.names import cleaned
from linklab.lms.gradebooks import Column, Gradebook, has_decimal_comma, number
from linklab.lms.marks import Mark, Marks, Student
from linklab.network.variants import normalised

FULL_NAME: Final = "the full name"
_SAME: Final = 0.005
"""Points are written with two decimals, which is what Canvas keeps: below half of the last one they are the same."""


@dataclass(frozen=True)
class Matched:
    """Rows by student; how many were found by what; why others were not, by student; and rows that nobody claims."""

    rows: Mapping[str, int]
    found_by: Mapping[str, int]
    unmatched: Mapping[str, str]
    without: tuple[int, ...]


@dataclass(frozen=True)
class Filled:
    """The file, a line of summary for each lab, and a line for each thing that somebody has to look at."""

    data: bytes
    said: tuple[str, ...]
    troubles: tuple[str, ...]


def match(book: Gradebook, students: Sequence[Student]) -> Matched:
    """Find the students' rows. Raises LinklabError where two columns find as many, and not the same."""
    by_number = _by_number(book, students)
    label, by_column = _by_column(book, students)
    elsewhere = {one.student: _number_elsewhere(book, one, label, by_number) for one in students}
    claims = {
        student: by_number.get(student, set()) | (set() if why else by_column.get(student, set()))
        for student, why in elsewhere.items()
    }
    claimants = Counter(row for rows in claims.values() for row in rows)
    rows: dict[str, int] = {}
    unmatched: dict[str, str] = {}
    for one in students:
        claimed = sorted(claims[one.student])
        if len(claimed) == 1 and claimants[claimed[0]] == 1:
            rows[one.student] = claimed[0]
        elif len(claimed) == 1:
            unmatched[one.student] = f"{book.who(claimed[0])} is another student's row as well"
        elif claimed:
            unmatched[one.student] = f"may be {' or '.join(cleaned(book.who(row)) for row in claimed)}"
        else:
            unmatched[one.student] = elsewhere[one.student] or _why_not(book, one, label)
    numbered = sum(student in by_number for student in rows)
    found_by = {f"{book.called}'s own number": numbered, label: len(rows) - numbered}
    without = tuple(row for row in book.students if row not in claimants)
    return Matched(rows, {what: count for what, count in found_by.items() if count}, unmatched, without)


def _by_number(book: Gradebook, students: Iterable[Student]) -> dict[str, set[int]]:
    """The rows that the platform's own number names, by student."""
    places = _unique(book.numbers)
    found = {one.student: _rows(one.numbers.get(book.platform, ()), places) for one in students}
    return {student: rows for student, rows in found.items() if rows}


def _number_elsewhere(book: Gradebook, one: Student, label: str, by_number: Mapping[str, set[int]]) -> str:
    """Say that the platform has a number for a student, and no row of it; empty where it is otherwise.

    Moodle's numbers are one assignment's own, so there an e-mail address or an ID still names somebody who handed it in
    some other way; a name may be a namesake's. Canvas' are the same in all of it, so whose is missing is not there.
    """
    numbers = one.numbers.get(book.platform, ())
    if not (book.numbers and numbers) or one.student in by_number:
        return ""
    if book.platform == "moodle" and label != FULL_NAME:
        return ""
    return (
        f"no row of {book.table.name} has {book.called}'s own number {cleaned(' or '.join(numbers))}; if it is the "
        "right file, find students otherwise with --by"
    )


def _by_column(book: Gradebook, students: Sequence[Student]) -> tuple[str, dict[str, set[int]]]:
    """The column that names most of the students, and their rows by it."""
    labels = (*book.keys, *([FULL_NAME] if book.names and book.by_names else []))
    best = {label: _found(book, label, students) for label in labels}
    if not best:
        return "", {}
    most = max(len(found) for found in best.values())
    first, *others = [label for label, found in best.items() if len(found) == most]
    for other in others:
        if best[other] != best[first]:
            raise LinklabError(
                f"{book.table.name}: {first} and {other} both name {most} of the students, and not the same: "
                f"say which with --by (--by {next(iter(book.keys))!r})"
            )
    return first, best[first]


def _found(book: Gradebook, label: str, students: Iterable[Student]) -> dict[str, set[int]]:
    places = _unique(_values(book, label))
    found = {one.student: _rows(_ids(one, label), places) for one in students}
    return {student: rows for student, rows in found.items() if rows}


def _values(book: Gradebook, label: str) -> Mapping[int, tuple[str, ...]]:
    """What a column says, or the full names do, by row."""
    if label == FULL_NAME:
        return book.names
    return {row: (book.table.at(row, book.keys[label]),) for row in book.students}


def _ids(one: Student, label: str) -> tuple[str, ...]:
    return one.names if label == FULL_NAME else one.ids


def _unique(values: Mapping[int, tuple[str, ...]]) -> dict[str, int]:
    """Rows by what is said in them, as far as no other row says it too."""
    rows: dict[str, set[int]] = {}
    for row, texts in values.items():
        for key in _keys(texts):
            rows.setdefault(key, set()).add(row)
    return {key: places.pop() for key, places in rows.items() if len(places) == 1}


def _rows(texts: Iterable[str], places: Mapping[str, int]) -> set[int]:
    return {places[key] for key in _keys(texts) if key in places}


def _keys(texts: Iterable[str]) -> set[str]:
    # signs that nobody sees are lost in a submission's name already
    return {normalised(cleaned(text)) for text in texts if text.strip()}


def _why_not(book: Gradebook, one: Student, label: str) -> str:
    said = Counter(key for texts in _values(book, label).values() for key in _keys(texts)) if label else Counter()
    many = max((said[key] for key in _keys(_ids(one, label))), default=0)
    if many > 1:
        return f"{many} rows of {book.table.name} have that in {label}"
    return f"no row of {book.table.name} has that in {label}" if label else f"{book.table.name} names nobody"


@dataclass(frozen=True)
class Wishes:
    """What may be done: overwrite other grades, write those that are not final, convert to the column's points."""

    replace: bool = False
    provisional: bool = False
    scale: bool = False


def fill(book: Gradebook, marks: Marks, columns: Mapping[str, Column], wishes: Wishes) -> Filled:
    """Write the points of each lab into its column, where a cell is vacant.

    A grade that stands there stays, unless ``wishes`` say to replace it; what is no number stays in any case. Raises
    LinklabError where a column is worth something else than the lab.
    """
    changed: dict[tuple[int, int], str] = {}
    found = match(book, marks.students)
    if not found.rows:
        raise LinklabError(
            f"{book.table.name} has none of the {len(marks.students)} students that were graded (the first is "
            f"{cleaned(marks.students[0].student) if marks.students else 'nobody'}): is it this class's, and if a "
            "worksheet, this assignment's? If it names them in another column, say it with --by"
        )
    said = [f"found by {label}: {count}" for label, count in found.found_by.items()]
    handed_in = {one.student for one in marks.students for lab in columns if one.of(lab).state != "not handed in"}
    troubles = [f"not found, {cleaned(one)}: {why}" for one, why in found.unmatched.items() if one in handed_in]
    comma = has_decimal_comma(book, columns.values())
    for lab, column in columns.items():
        factor = _factor(marks, lab, column, book, wishes)
        if column.max_points is None:
            worth = f"{marks.max_points[lab]:g}"
            said.append(f"{book.table.name} does not say what {lab} is worth in {book.called}: it must be {worth}")
        cells, lines, trouble = _fill_lab(book, marks, lab, column, found.rows, factor, wishes)
        changed |= {(row, column.index): _as_text(points, comma) for row, points in cells.items()}
        said += lines
        troubles += trouble
    said += [f"in {book.table.name}, and not graded: {cleaned(book.who(row))}" for row in found.without]
    return Filled(book.table.with_cells(changed), tuple(said), tuple(troubles))


def _factor(marks: Marks, lab: str, column: Column, book: Gradebook, wishes: Wishes) -> float:
    """By what a lab's points become the column's."""
    worth = marks.max_points[lab]
    if column.max_points is None and wishes.scale:
        raise LinklabError(
            f"{book.table.name} does not say how many points {column.header!r} is worth, so nothing can be converted: "
            f"give it {worth:g} points in {book.called}, and leave --scale away"
        )
    if column.max_points is None or abs(column.max_points - worth) < _SAME:
        return 1.0
    if wishes.scale and worth > 0:
        return column.max_points / worth
    raise LinklabError(
        f"{lab} is worth {worth:g} points, and column {column.header!r} of {book.table.name} {column.max_points:g}: "
        f"give it {worth:g} points in {book.called} and export it anew, or say --scale"
    )


def _fill_lab(
    book: Gradebook,
    marks: Marks,
    lab: str,
    column: Column,
    rows: Mapping[str, int],
    factor: float,
    wishes: Wishes,
) -> tuple[dict[int, float], list[str], list[str]]:
    """Return the points to write by row, what to say of them, and what somebody has to look at."""
    cells, replaced = {}, []
    counts = {"written": 0, "as they were": 0, "not handed in": 0}
    troubles = []
    for one in marks.students:
        if one.student not in rows:
            continue
        row, mark = rows[one.student], one.of(lab)
        if mark.state == "not handed in":
            counts["not handed in"] += 1
            continue
        points = round(mark.points * factor, 2)
        there = book.table.at(row, column.index)
        trouble = _hindrance(book, row, mark, there, points, wishes)
        if trouble:
            troubles.append(f"not written, {cleaned(one.student)}, {lab}: {trouble}")
        elif (old := number(there)) is not None and abs(old - points) < _SAME:
            counts["as they were"] += 1
        else:
            cells[row] = points
            counts["written"] += 1
            if number(there) is not None:
                replaced.append(f"replaced, {cleaned(one.student)}, {lab}: {there} by {points:g}")
    line = f"{lab}, into {column.header!r}: " + ", ".join(f"{count} {word}" for word, count in counts.items())
    return cells, [line, *replaced], troubles


def _hindrance(book: Gradebook, row: int, mark: Mark, there: str, points: float, wishes: Wishes) -> str:
    """Why points must not be written; empty where they may."""
    if early := mark.not_final(wishes.provisional):
        return early
    if row in book.locked:
        return book.locked[row]
    old = number(there)
    if there not in book.vacant and old is None:
        return f"{cleaned(there)!r} stands there, which is no number: change it in {book.called}"
    if old is not None and abs(old - points) >= _SAME and not wishes.replace:
        return f"{there} stands there, and {points:g} were graded: it stays, unless you say --replace"
    return ""


def _as_text(points: float, comma: bool) -> str:
    text = f"{points:.2f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if comma else text
