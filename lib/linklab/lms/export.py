"""Fills a platform's table with a class's points. Pure.

A student is never guessed. The platform's own number, which stands in the names of submissions, names a row; where a
student has none, the column of ids does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from linklab.errors import LinklabError
from linklab.grading.grades import ClassGrade, StudentGrade
from linklab.grading.names import cleaned, listed
from linklab.grading.verdict import Verdict
from linklab.lms.presets import PRESETS, Preset
from linklab.lms.table import CsvTable
from linklab.network.variants import normalised

_SAME: Final = 0.005
"""Points have two decimals: below half of the last one two numbers are the same."""


@dataclass(frozen=True)
class ExportOptions:
    """Which columns have ids and points, where no preset says it; whether to write over other points, and early."""

    id: Sequence[str] = ()
    points: str = ""
    replace: bool = False
    provisional: bool = False


@dataclass
class Filled:
    """A filled table: its preset, students' rows, and the platform's own numbers of students.

    `said` are lines on what was done, `troubles` on what was left out.
    """

    table: CsvTable
    preset: Preset
    rows: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


def fill(data: bytes, name: str, grades: ClassGrade, labs: Sequence[str], options: ExportOptions) -> Filled:
    """Write labs' points into the table in ``data``, where nothing else stands.

    ``labs`` are those that must have a column; without one, all that have a column are written. Raises LinklabError for
    a table that is unknown, lacks a column, has one that is worth other points than its lab, or has no student.
    """
    table = CsvTable(data, name)
    filled = Filled(table, _preset(table, name, options))
    columns = _columns(filled, name, grades, labs, options)
    _find_students(filled, name, grades.students, options.id)
    worth = table.places(filled.preset.worth_column)
    comma = _has_decimal_comma(table, [*columns.values(), *worth])
    for lab, place in columns.items():
        _fill_column(filled, lab, place, grades.students, options, comma)
    return filled


def not_final(mark: Verdict, provisional: bool) -> str:
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


def _preset(table: CsvTable, name: str, options: ExportOptions) -> Preset:
    for preset in PRESETS:
        if all(map(table.places, preset.known_by)):
            return preset
    if options.id and options.points:
        return Preset("")
    raise LinklabError(
        f"{name} is no gradebook of Moodle, Canvas or Blackboard that is known: export it anew, as CSV, or name with "
        "--id and --points the columns that have students' ids and points"
    )


def _columns(
    filled: Filled, name: str, grades: ClassGrade, labs: Sequence[str], options: ExportOptions
) -> dict[str, int]:
    """Return the place of each lab's column. A lab that somebody handed in and that has none is a trouble."""
    table = filled.table
    handed_in = {lab for one in grades.students for lab, mark in one.labs.items() if was_handed_in(mark)}
    wanted = labs or [lab for lab in grades.labs if lab in handed_in]
    pattern = re.escape(options.points) if options.points else filled.preset.points
    if "{lab}" not in pattern and len(wanted) != 1:
        raise LinklabError(f"one column of {name} takes points: say of which lab, as --labs 03")
    columns: dict[str, int] = {}
    for lab in wanted:
        called = "|".join(map(re.escape, (lab, grades.labs[lab].title)))
        places = table.places(pattern.replace("{lab}", f"(?:{called})"))
        if len(places) != 1:
            filled.troubles.append(
                f"not written, {lab}: {name} has {len(places) or 'no'} columns for its points; name one, "
                f"--labs {lab} --points COLUMN: {'; '.join(table.rows[0])}"
            )
            continue
        columns[lab] = places[0]
        heading, worth = table.rows[0][places[0]], grades.labs[lab].max_points
        for number in _worths(table, filled.preset, places[0]):
            if abs(number - worth) >= _SAME:
                raise LinklabError(
                    f"{lab} is worth {worth:g} points, and column {heading!r} of {name} {number:g}: give it {worth:g} "
                    "points on the platform and export it anew"
                )
    if filled.troubles and (labs or not columns):
        raise LinklabError(filled.troubles[0])
    return columns


def _worths(table: CsvTable, preset: Preset, place: int) -> Iterable[float]:
    """Return what the table says that a column is worth, at each place that says it."""
    texts = re.findall(preset.worth_heading, table.rows[0][place]) if preset.worth_heading else []
    texts += [row[place] for row in table.rows if preset.worth_row and row[0] == preset.worth_row]
    texts += [row[column] for column in table.places(preset.worth_column) for row in table.rows[1:]]
    return filter(None, map(_number, texts))


def _find_students(filled: Filled, name: str, students: Sequence[StudentGrade], columns: Sequence[str]) -> None:
    """Find each student's row. Who handed something in and has none, or one that is another's too, is a trouble."""
    table, preset = filled.table, filled.preset
    headings = [re.escape(column) for column in columns] or preset.id
    places = [place for heading in headings for place in table.places(heading)[:1]]
    if columns and len(places) < len(columns):
        raise LinklabError(f"{name} has no column {' or '.join(columns)}: choose of {'; '.join(table.rows[0])}")
    ids: dict[int, str] = {}
    numbers: dict[int, str] = {}
    by_id: dict[str, list[int]] = {}
    by_number: dict[str, list[int]] = {}
    for row, cells in enumerate(table.rows[1:], 1):
        if text := " ".join(cells[place] for place in places).strip():
            ids[row] = text
            by_id.setdefault(_folded(text), []).append(row)
        for place in table.places(preset.number):
            if found := re.search(r"\d+\Z", cells[place]):
                numbers[row] = found[0]
                by_number.setdefault(found[0], []).append(row)
    claims: dict[str, list[int]] = {}
    for one in students:
        own = {number for platform, number in one.known_as if platform == preset.platform}
        if own and numbers and not columns:
            claims[one.student] = [row for number in own for row in by_number.get(number, [])]
        else:
            claims[one.student] = by_id.get(_folded(one.student), [])
    claimants = Counter(row for rows in claims.values() for row in rows)
    filled.rows = {one: rows[0] for one, rows in claims.items() if len(rows) == 1 and claimants[rows[0]] == 1}
    filled.numbers = {student: numbers.get(row, "") for student, row in filled.rows.items()}
    if not filled.rows:
        raise LinklabError(
            f"{name} has none of the {len(students)} students that were graded: is it this class's, and if a "
            "worksheet, this assignment's? If another column has their ids, name it with --id"
        )
    filled.troubles += [
        f"not found, {cleaned(one.student)}: no row of {name} is this student's alone; another column: --id COLUMN"
        for one in students
        if one.student not in filled.rows and any(map(was_handed_in, one.labs.values()))
    ]
    others = [cleaned(text) for row, text in ids.items() if row not in claimants]
    not_graded = f"; {len(others)} were not graded: {listed(others, 20)}" if others else ""
    filled.said.append(f"{name}: {len(filled.rows)} students found{not_graded}")


def _folded(text: str) -> str:
    return normalised(cleaned(text))  # signs that nobody sees are lost in a submission's name already


def was_handed_in(mark: Verdict) -> bool:
    """Return whether there is something to give points for."""
    return mark.state != "not handed in"


def _fill_column(
    filled: Filled, lab: str, place: int, students: Iterable[StudentGrade], options: ExportOptions, comma: bool
) -> None:
    """Write a lab's points, and say how many were written; what is left out is a trouble."""
    written = 0
    for one in students:
        if one.student not in filled.rows or lab not in one.labs or not was_handed_in(one.labs[lab]):
            continue
        row, points = filled.rows[one.student], round(one.labs[lab].points, 2)
        there = filled.table.rows[row][place]
        old = _number(there)
        trouble = not_final(one.labs[lab], options.provisional)
        if not trouble and old is None and there not in filled.preset.vacant:
            trouble = f"{cleaned(there)!r} stands there, which is no number: change it on the platform"
        elif not trouble and old is not None and abs(old - points) < _SAME:
            continue
        elif not trouble and old is not None and not options.replace:
            trouble = f"{there} stands there, and {points:g} were graded: it stays, unless you say --replace"
        if trouble:
            filled.troubles.append(f"not written, {cleaned(one.student)}, {lab}: {trouble}")
            continue
        text = f"{points:.2f}".rstrip("0").rstrip(".")
        filled.table.write(row, place, text.replace(".", ",") if comma else text)
        written += 1
        if old is not None:
            filled.said.append(f"replaced, {cleaned(one.student)}, {lab}: {there} by {text}")
    filled.said.append(f"{lab}, into {filled.table.rows[0][place]!r}: {written} written")


def _number(text: str) -> float | None:
    """A number as a gradebook has it, with a point or a comma; None for anything else."""
    return float(text.replace(",", ".")) if re.fullmatch(r"-?\d+(?:[.,]\d+)?", text) else None


def _has_decimal_comma(table: CsvTable, places: Sequence[int]) -> bool:
    """Return whether numbers have a decimal comma: in these columns, or where no number is broken there, in most."""
    columns = [row[place] for row in table.rows for place in places]
    for texts in (columns, [text for row in table.rows for text in row]):
        marks = Counter(mark for text in texts for mark in ",." if mark in text and _number(text) is not None)
        if marks:
            return marks[","] > marks["."]
    return False
