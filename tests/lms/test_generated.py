"""Generated gradebooks of odd classes in all dialects: points go where they belong, and nothing else changes."""

from __future__ import annotations

import codecs
import csv
import io
import random
import unicodedata
from dataclasses import dataclass

import pytest

from linklab.errors import LinklabError
from linklab.lms.cells import DELIMITERS, Table, read_table
from linklab.lms.fill import Filled, Wishes, fill
from linklab.lms.gradebooks import Gradebook, read_gradebook
from linklab.lms.marks import Mark, Marks, Student

LETTERS = (
    "a",
    "Z",
    "ü",
    "ß",
    "é",
    "Ł",
    "山",
    "'",
    '"',
    ",",
    ";",
    "\t",
    ":",
    "=",
    "+",
    "-",
    "@",
    " ",
    "\\",
    "\n",
    "\r\n",
    "😀",
)
ENCODINGS = (
    ("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)
)  # fmt: skip
SEEDS = range(150)


def _name(chance: random.Random) -> str:
    name = "x" + "".join(chance.choice(LETTERS) for _ in range(chance.randint(0, 8))) + "y"
    return unicodedata.normalize(chance.choice(("NFC", "NFD")), name)


@dataclass(frozen=True)
class Case:
    """A class and a gradebook of it; ``rows`` are the table's before, ``mark`` and ``column`` where the lab is."""

    platform: str
    data: bytes
    delimiter: str
    encoding: str
    before: list[list[str]]
    column: int
    marks: Marks
    by: str


def _header(platform: str, chance: random.Random) -> tuple[list[str], str, str]:
    """The first row, with a place for other columns; which column names students; and which is the lab's."""
    others = [f"Essay {number}" for number in range(chance.randint(0, 3))]
    if platform == "canvas":
        lab, others = "Lab 03 (7003)", [f"{name} (7{number})" for number, name in enumerate(others)]
        first, who = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"], "SIS Login ID"
    elif platform == "blackboard":
        lab = "Lab 03 [Total Pts: 10 Score] |6003"
        others = [f"{name} [Total Pts: 10 Score] |5{number}" for number, name in enumerate(others)]
        first, who = ["Last Name", "First Name", "Username", "Student ID"], "Username"
    else:
        lab = "Assignment: Lab 03 (Real)"
        others = [f"Assignment: {name} (Real)" for name in others]
        first, who = ["First name", "Last name", "ID number", "Email address"], "Email address"
    columns = [*others, lab]
    chance.shuffle(columns)
    return [*first, *columns], who, lab


def _case(seed: int) -> Case:
    chance = random.Random(seed)
    platform, delimiter = chance.choice(("canvas", "blackboard", "moodle")), chance.choice(DELIMITERS)
    if platform != "blackboard" and delimiter == ":":  # which "Assignment: x" would need quotes for
        delimiter = ";"
    encoding, mark = chance.choice(ENCODINGS)
    comma, end, quoting = chance.random() < 0.5, chance.choice(("\n", "\r\n", "\r")), chance.choice((0, 1))
    if end == "\r":  # Python's csv quotes the characters of its own line end alone
        quoting = 1
    header, who, lab = _header(platform, chance)
    rows = [header]
    if platform == "canvas":
        worth = ["" if index < 5 else "10" for index in range(len(header))]
        rows.append(["    Points Possible", *worth[1:]])
    students = []
    for number in range(chance.randint(1, 12)):
        key = f"{chance.choice('abc')}{chance.choice(LETTERS[:4])}{number}@x.example"
        there = chance.choice(("", "", "", "-", "4", "7.5", "EX"))
        points = (
            {"4": 4.0, "7.5": 7.5}.get(there, chance.randint(0, 40) / 4)
            if chance.random() < 0.5
            else chance.randint(0, 1000) / 100
        )
        row = ["" for _ in header]
        row[0], row[1] = _name(chance), f"{chance.randint(1000, 9999)}{number}"
        row[header.index(who)] = key
        for index in range(4 if platform != "canvas" else 5, len(header)):
            text = there if header[index] == lab else chance.choice(("", "3", "2.25", "-"))
            row[index] = text.replace(".", ",") if comma else text
        rows.append(row)
        state = chance.random()
        if state < 0.8:
            given = unicodedata.normalize(chance.choice(("NFC", "NFD")), key).swapcase()
            lab_mark = Mark("graded", points) if state < 0.7 else Mark("not handed in")
            students.append(Student(given, {"03-a": lab_mark}, (given,)))
    students.append(Student("nobody", {"03-a": Mark("graded", 1.0)}, ("nobody",)))
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    data = mark + out.getvalue().encode(encoding)
    marks = Marks({"03-a": 10.0}, {"03-a": "Lab 03"}, tuple(students))
    return Case(platform, data, delimiter, encoding, rows, header.index(lab), marks, who)


def _filled(case: Case, data: bytes, wishes: Wishes) -> tuple[Gradebook, Filled]:
    book = read_gradebook(data, "book", case.platform, case.by)
    return book, fill(book, case.marks, {"03-a": book.column("Lab 03")}, wishes)


def _rows(case: Case, data: bytes) -> list[list[str]]:
    mark = {"utf-16-le": 2, "utf-16-be": 2}.get(case.encoding, 3 if data.startswith(codecs.BOM_UTF8) else 0)
    text = data[mark:].decode(case.encoding)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=case.delimiter))


def _without(table: Table, column: int) -> str:
    """A table's text without the cells of a column."""
    parts, done = [], 0
    for row in table.rows:
        parts.append(table.text[done : row[column].start])
        done = row[column].end
    return "".join((*parts, table.text[done:]))


def _value(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_points_go_where_they_belong_and_nothing_else_changes(seed: int) -> None:
    case = _case(seed)
    everybody = {unicodedata.normalize("NFC", one.student).casefold(): one for one in case.marks.students}
    known = [
        row
        for row in case.before
        if unicodedata.normalize("NFC", row[case.before[0].index(case.by)]).casefold() in everybody
    ]
    if not known:
        with pytest.raises(LinklabError, match=r"has none of the \d+ students"):
            _filled(case, case.data, Wishes())
        return
    decimal_comma = any("," in cell for row in case.before[1:] for cell in row[5 if case.platform == "canvas" else 4 :])
    for wishes in (Wishes(), Wishes(replace=True)):
        book, filled = _filled(case, case.data, wishes)
        after = _rows(case, filled.data)
        assert len(after) == len(case.before)
        who = case.before[0].index(case.by)
        for old, new in zip(case.before, after, strict=True):
            assert [cell for index, cell in enumerate(new) if index != case.column] == [
                cell for index, cell in enumerate(old) if index != case.column
            ]
            one = everybody.get(unicodedata.normalize("NFC", old[who]).casefold())
            there, became = old[case.column], new[case.column]
            if one is None or one.marks["03-a"].state != "graded":
                assert became == there
                continue
            points = one.marks["03-a"].points
            if there in ("", "-") or (wishes.replace and _value(there) is not None):
                assert _value(became) == pytest.approx(points, abs=0.005)
                assert "." not in became or not decimal_comma
            else:
                assert became == there
        assert any("not found, nobody" in line for line in filled.troubles)
        again = read_table(filled.data, "again", book.table.delimiter)
        assert _without(again, case.column) == _without(book.table, case.column), "quotation marks, line ends and all"
        for old_row, new_row in zip(book.table.rows, again.rows, strict=True):
            assert new_row[case.column].quoted >= old_row[case.column].quoted
        _, twice = _filled(case, filled.data, wishes)
        assert twice.data == filled.data


@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_with_nothing_to_write_is_the_same_bytes(seed: int) -> None:
    case = _case(seed)
    table = read_table(case.data, "book", case.delimiter)
    assert table.with_cells({}) == case.data
    assert [[cell.text for cell in row] for row in table.rows] == case.before


@pytest.mark.parametrize("seed", SEEDS[:60])
def test_a_cut_file_is_refused_or_lacks_only_rows_at_its_end(seed: int) -> None:
    """Whatever is cut, no points go to somebody else."""
    case = _case(seed)
    chance = random.Random(seed)
    data = case.data[: chance.randrange(len(case.data))]
    try:
        _, filled = _filled(case, data, Wishes())
    except LinklabError:
        return
    whole = _filled(case, case.data, Wishes())[1]
    cut, complete = _rows(case, filled.data), _rows(case, whole.data)
    # the last line may have lost the end of its last cell, which no program can know
    assert [row for row in cut[:-1] if row] == complete[: len(cut) - 1]
