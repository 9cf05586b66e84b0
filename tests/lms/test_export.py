"""Points into samples of what platforms export: the right cells, and every other byte as it was."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import pytest

from linklab.cli import main
from linklab.grading.grades import StudentGrade
from linklab.grading.names import cleaned
from linklab.grading.verdict import Verdict
from linklab.lms.table import CsvTable
from tests.lms.a_class import EXPORTS, NAMES, NUMBERS, TCP, UDP, a_class, a_student, write

Exported = tuple[int, bytes, str, str]
Export = Callable[..., Exported]
SAMPLES = {path.name: path.read_bytes() for path in sorted(EXPORTS.iterdir()) if path.suffix != ".md"}
CANVAS, BLACKBOARD = SAMPLES["canvas.csv"], SAMPLES["blackboard.csv"]
WORKSHEET, GRADEBOOK = SAMPLES["moodle-worksheet.csv"], SAMPLES["moodle-gradebook.csv"]
UDP_POINTS = {"ada": "10", "juergen": "7.5", "eve": "9", "kim1": "4"}
TCP_POINTS = {"ada": "20", "juergen": "12.25"}
ALL = {**UDP_POINTS, "fay": "3"}
CANVAS_UDP, CANVAS_TCP = "Lab 03: UDP bandwidth (7003)", "Lab 04: TCP, shared (7004)"
BLACKBOARD_UDP = "Lab 03: UDP bandwidth [Total Pts: 10 Score] |6003"
BLACKBOARD_TCP = "Lab 04: TCP, shared [Total Pts: 20 Score] |6004"
MOODLE_UDP, MOODLE_TCP = "Assignment: Lab 03: UDP bandwidth (Real)", "Assignment: Lab 04: TCP, shared (Real)"
GERMAN_UDP, GERMAN_TCP = "Aufgabe: Lab 03: UDP bandwidth (Punkte)", "Aufgabe: Lab 04: TCP, shared (Punkte)"


def german(points: dict[str, str]) -> dict[str, str]:
    """The points with decimal commas."""
    return {name: text.replace(".", ",") for name, text in points.items()}


@pytest.fixture
def export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Export:
    """Exports students into a gradebook: status, the file, what was said, and what is to be looked at."""

    def export(data: bytes, students: Sequence[StudentGrade], *words: str) -> Exported:
        graded, book, output = write(tmp_path / "graded", *students), tmp_path / "book.csv", tmp_path / "filled"
        book.write_bytes(data)
        output.unlink(missing_ok=True)
        status = main(["export", str(graded), "--into", str(book), "--output", str(output), *words])
        told = capsys.readouterr()
        return status, output.read_bytes() if output.exists() else b"", told.out, told.err

    return export


def text_of(data: bytes) -> tuple[str, str]:
    """The text of a sample, or of what became of it, and what separates its cells."""
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    return text, max(",;\t", key=text.partition("\n")[0].count)


def changed(before: bytes, after: bytes) -> dict[str, dict[str, str]]:
    """The new cells, by heading and by whose row it is; between and beside them each byte is as it was."""
    found: dict[str, dict[str, str]] = {}
    (text, delimiter), (filled, _) = text_of(before), text_of(after)
    old, new = (list(csv.reader(io.StringIO(it, newline=""), delimiter=delimiter)) for it in (text, filled))
    students = [row for row in old[1:] if row and row[0].strip() not in ("", "Points Possible")]
    for row, now in zip(old, new, strict=True):
        for heading, cell, written in zip(old[0], row, now, strict=False):
            if cell != written:
                found.setdefault(heading.removeprefix("\ufeff"), {})[[*NAMES][students.index(row)]] = written
    apart = rf'([{delimiter}\r\n])(?=(?:[^"]*"[^"]*")*[^"]*\Z)'
    pieces = list(zip(re.split(apart, text), re.split(apart, filled), strict=True))
    assert sum(one != other for one, other in pieces) == sum(map(len, found.values()))
    assert before[:2] == after[:2], "the byte order mark"
    return found


@pytest.mark.parametrize(
    ("sample", "words", "ending", "numbers", "expected"),
    [
        ("canvas.csv", (), "", False, {CANVAS_UDP: UDP_POINTS, CANVAS_TCP: TCP_POINTS}),
        ("canvas.csv", (), "@number", True, {CANVAS_UDP: UDP_POINTS, CANVAS_TCP: TCP_POINTS}),
        ("canvas-names.csv", (), "", False, {CANVAS_UDP: UDP_POINTS, CANVAS_TCP: TCP_POINTS}),
        ("canvas-semicolons.csv", (), "", False, {CANVAS_UDP: german(UDP_POINTS), CANVAS_TCP: german(TCP_POINTS)}),
        ("moodle-worksheet.csv", ("--labs", "03"), "", True, {"Grade": {**ALL, "dan": "6"}}),
        ("moodle-worksheet.csv", ("--labs", "03", "--id", "email address"), "@UNI.example", False,
         {"Grade": {**ALL, "dan": "6"}}),
        ("moodle-worksheet-de.csv", ("--labs", "03"), "", True, {"Bewertung": german({**ALL, "dan": "6"})}),
        ("moodle-gradebook.csv", ("--id", "Email address"), "@UNI.example", False,
         {MOODLE_UDP: {**ALL, "dan": "6"}, MOODLE_TCP: TCP_POINTS}),
        ("moodle-gradebook-de.csv", ("--id", "E-Mail-Adresse"), "@UNI.example", False,
         {GERMAN_UDP: german({**ALL, "dan": "6"}), GERMAN_TCP: german(TCP_POINTS)}),
        ("blackboard.csv", (), "", False, {BLACKBOARD_UDP: ALL, BLACKBOARD_TCP: TCP_POINTS}),
        ("blackboard.xls", (), "", False, {BLACKBOARD_UDP: ALL, BLACKBOARD_TCP: TCP_POINTS}),
    ],
)  # fmt: skip
def test_points_go_where_they_belong_and_all_else_stays(
    sample: str, words: Sequence[str], ending: str, numbers: bool, expected: dict[str, dict[str, str]], export: Export
) -> None:
    students = a_class(ending, numbers=numbers)
    status, once, said, troubles = export(SAMPLES[sample], students, *words)
    assert (status, changed(SAMPLES[sample], once)) == (1, expected)
    assert "9 students found" in said
    assert "were not graded: hal" in said.casefold()
    assert f"not found, gus{ending}: no row of book.csv" in troubles
    assert f"not written, bob{ending}, 03-udp-bandwidth: 8" in troubles
    _, twice, said, _ = export(once, students, *words)
    assert (twice, ": 0 written" in said) == (once, True)


def test_utf_16_of_either_order_stays(export: Export) -> None:
    text = SAMPLES["blackboard.xls"].decode("utf-16")
    data = b"\xfe\xff" + text.encode("utf-16-be")
    _, filled, _, _ = export(data, a_class())
    assert changed(data, filled) == {BLACKBOARD_UDP: ALL, BLACKBOARD_TCP: TCP_POINTS}


@pytest.mark.parametrize(
    ("data", "words", "hindered"),
    [
        (CANVAS, (),
         {"bob, 03-udp-bandwidth: 8.00 stands there, and 0 were graded", "bob, 04-tcp: 2 points are still open",
          "dan, 03-udp-bandwidth: 'EX' stands there", "fay, 03-udp-bandwidth: 'N/A' stands there"}),
        (BLACKBOARD, ("--labs", "03"),
         {"bob, 03-udp-bandwidth: 8.00 stands there", "dan, 03-udp-bandwidth: 'In Progress' stands there"}),
    ],
)  # fmt: skip
def test_what_must_not_be_written_is_named(
    data: bytes, words: Sequence[str], hindered: set[str], export: Export
) -> None:
    _, _, _, troubles = export(data, a_class(), *words)
    for start in hindered:
        assert f"not written, {start}" in troubles


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", ""), ("utf-8", "\ufeff"), ("utf-16-le", "\ufeff")])
@pytest.mark.parametrize("delimiter", ",;\t:")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_odd_texts_stay(
    encoding: str, mark: str, delimiter: str, end: str, quoting: Literal[0, 1], export: Export
) -> None:
    odd = ("=x", 'a "b"', "a,b;c\td:e", "a\nb", "a\r\nb", "\\", " a ", "山😀", "'", "e\u0301", "x" * 140_000)
    rows = [["Email address", "Notes", "More", "Mine"]]
    rows += [[f"ü{number}@x", text, text * 2, ""] for number, text in enumerate(odd)]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    students = [a_student(f"U\u0308{number}@X", number / 4) for number in range(len(odd))]
    data = (mark + out.getvalue()).encode(encoding)
    words = ("--labs", "03", "--id", "Email address", "--points", "Mine")
    status, filled, _, troubles = export(data, students, *words)
    assert (status, troubles) == (0, "")
    table = CsvTable(filled, "filled")
    assert [float(row[3]) for row in table.rows[1:]] == [number / 4 for number in range(len(odd))]
    for row in range(1, len(rows)):
        table.write(row, 3, "")
    assert table.encoded() == data


def test_any_other_table_is_filled_where_its_columns_are_named(export: Export) -> None:
    data = "Matrikel;Vorname;Name;Übung\n17;Ada;King;\n18;Jürgen;Müller;\n".encode()
    words = ("--id", "Vorname", "Name", "--points", "übung", "--labs", "3")
    status, filled, _, troubles = export(data, [a_student("Ada King", 7.5)], *words)
    assert (status, troubles) == (0, "")
    assert filled == data.replace(b"King;", b"King;7.5")
    assert export(data, [a_student("17", 7.5)], "--id", "Matrikel")[0] == 1, "the points' column is not named"


def test_half_a_hundredth_is_no_other_grade(export: Export) -> None:
    students = [a_student("ada", 0.125)]
    _, first, _, _ = export(CANVAS, students, "--labs", "03")
    assert export(first, students, "--labs", "03")[:2] == (0, first)


def test_what_was_not_judged_is_not_written(export: Export) -> None:
    labs = {UDP.name: Verdict(UDP.name, "judge failed", ended="it crashed"), TCP.name: Verdict(TCP.name)}
    status, data, _, troubles = export(CANVAS, [StudentGrade("ada", "ada.html", "course", labs)], "--provisional")
    assert (status, changed(CANVAS, data)) == (1, {})
    assert "not written, ada, 03-udp-bandwidth: it was not judged" in troubles
    assert "not written, ada, 04-tcp: it was not judged" in troubles


def test_other_points_and_open_ones_are_written_where_one_says_so(export: Export) -> None:
    _, data, said, troubles = export(CANVAS, a_class(), "--labs", "03", "--replace")
    assert changed(CANVAS, data) == {CANVAS_UDP: {**UDP_POINTS, "bob": "0"}}
    assert "replaced, bob, 03-udp-bandwidth: 8.00 by 0" in said
    assert "dan, 03-udp-bandwidth: 'EX' stands there" in troubles, "what is no number is never replaced"
    _, data, _, _ = export(CANVAS, a_class(), "--labs", "04", "--provisional")
    assert changed(CANVAS, data) == {CANVAS_TCP: {**TCP_POINTS, "bob": "15"}}


@pytest.mark.parametrize(
    ("data", "students", "words", "points", "said"),
    [
        pytest.param(CANVAS, [a_student("ada", 1), a_student("x", 1, known_as=NUMBERS["ada"]), a_student("eve", 1)], (),
                     {"eve": "1"}, "not found, ada: ", id="one row of two students"),
        pytest.param(CANVAS, [a_student("ada", 9.0, known_as=(("canvas", "500"),)), a_student("eve", 7.0)], (),
                     {"eve": "7"}, "not found, ada: ", id="a number without a row is no namesake's"),
        pytest.param(CANVAS, [a_student("eve", 1.0), a_student("x", 1.0, known_as=(("moodle", "101"),))], (),
                     {"eve": "1"}, "not found, x: ", id="another platform's number"),
        pytest.param(CANVAS, [a_student("ada", 3.0, known_as=(("canvas", "101"),)), a_student("S004", 2.0)],
                     ("--id", "sis user id"), {"eve": "2"}, "not found, ada: ", id="the named column alone counts"),
        pytest.param(WORKSHEET, [a_student(name, 1.0) for name in ("Ada King", "Kim Lee", "Jürgen Müller")], (),
                     {"ada": "1", "juergen": "1"}, "not found, Kim Lee: ", id="two rows of one name"),
        pytest.param(GRADEBOOK, [a_student(name, 1.0) for name in ("ADA king", "Kim Lee")], (), {"ada": "1"},
                     "not found, Kim Lee: ", id="first and last name"),
        pytest.param(WORKSHEET, [a_student("Ada King", 9.0, known_as=(("moodle", "500"),))], (), None,
                     "has none of the 1 students that were graded", id="another assignment's worksheet"),
        pytest.param(WORKSHEET, [a_student("Ada King", 9.0, known_as=(("moodle", "500"),))], ("--id", "Full name"),
                     {"ada": "9"}, "", id="by name where one says so"),
    ],
)  # fmt: skip
def test_nobody_is_guessed(
    data: bytes,
    students: Sequence[StudentGrade],
    words: Sequence[str],
    points: dict[str, str] | None,
    said: str,
    export: Export,
) -> None:
    """`points` are those that were written; None where the whole file was refused."""
    status, filled, _, troubles = export(data, students, "--labs", "03", *words)
    assert status == bool(said)
    assert said in troubles
    if points is None:
        assert filled == b""
    else:
        assert [*changed(data, filled).values()] == [points]


@pytest.mark.parametrize(
    ("data", "words", "said"),
    [
        (b"name,grade\nada,1\n", (), "name with --id and --points"),
        (b"", (), "is no gradebook of"),
        (b"PK\x03\x04\x14\x00\x06\x00\x80\x81", (), "no text in UTF-8 or UTF-16"),
        (CANVAS.decode().encode("cp1252"), (), "do not save it with a spreadsheet"),
        (SAMPLES["blackboard.xls"][:-7], (), "no text in UTF-8 or UTF-16"),
        (CANVAS[:700], (), "row 5: 16 cells, and 17 in the first row; the file was cut or edited"),
        (BLACKBOARD[:-2], (), "row 11: a quotation mark is not closed"),
        (GRADEBOOK.replace(b",4.50,-,,", rb',4.50,-,"a \"b\", c",', 1), (), "behind a backslash"),
        (CANVAS, ("--labs", "03", "--points", "Lab 9"), "has no columns for its points; name one"),
        (CANVAS, ("--points", "Essay (7001)"), "say of which lab, as --labs 03"),
        (CANVAS, ("--labs", "77"), "no lab is called 77: choose of 03-udp-bandwidth, 04-tcp"),
        (CANVAS, ("--id", "Login"), "has no column Login: choose of Student; ID;"),
        (CANVAS.replace(b"Lab 04: TCP, shared", b"Lab 03: UDP bandwidth"), ("--labs", "03"), "has 2 columns"),
        (CANVAS.replace(b"5.00,10.00,20.00", b"5.00,15.00,20.00"), (), "worth 10 points, and column 'Lab 03"),
        (WORKSHEET.replace(b",10.00,", b",15.00,"), ("--labs", "03"), "worth 10 points, and column 'Grade'"),
        (BLACKBOARD.replace(b": 10 Score", b": 15 Score"), (), "worth 10 points, and column 'Lab 03"),
        (BLACKBOARD.replace(b"10 Score", b"10 Letter"), ("--labs", "03"), "has no columns for its points"),
        (WORKSHEET, (), "one column of book.csv takes points: say of which lab"),
        (WORKSHEET, ("--labs", "03", "04"), "one column of book.csv takes points"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_line_and_nothing_is_written(
    data: bytes, words: Sequence[str], said: str, export: Export
) -> None:
    status, filled, out, troubles = export(data, a_class(), *words)
    assert (status, filled, out, len(troubles.splitlines())) == (1, b"", "", 1)
    assert said in troubles


@pytest.mark.parametrize(
    ("data", "end"), [(GRADEBOOK, b",,,\n"), (BLACKBOARD, b'"","",""\n'), (CANVAS, b"\n\n"), (CANVAS[:-1], b"")]
)
def test_a_short_empty_row_stays(data: bytes, end: bytes, export: Export) -> None:
    name = "Ada King" if data == GRADEBOOK else "ada"
    status, filled, _, troubles = export(data + end, [a_student(name, 10.0)])
    assert (status, troubles) == (0, "")
    assert [*changed(data + end, filled).values()] == [{"ada": "10"}]


def test_a_lab_without_a_column_is_named_where_somebody_handed_it_in(export: Export) -> None:
    data = CANVAS.replace(b"Lab 04: TCP, shared (7004)", b"Lab 4 - TCP (7004)")
    status, filled, _, troubles = export(data, [a_student("ada", 9.0, 20.0)])
    assert (status, [*changed(data, filled).values()]) == (1, [{"ada": "9"}])
    assert troubles.startswith("not written, 04-tcp: ")
    words = ("--labs", "04", "--points", "lab 4 - tcp (7004)")
    assert [*changed(data, export(data, [a_student("ada", 9.0, 20.0)], *words)[1]).values()] == [{"ada": "20"}]
    assert export(data, [a_student("ada", 9.0)])[0] == 0, "nobody handed it in"


def test_the_decimal_mark_is_that_of_points_not_of_another_column(export: Export) -> None:
    data = SAMPLES["moodle-gradebook-de.csv"].replace(b";Networks;", b";4.1;")
    words = ("--labs", "03", "--id", "E-Mail-Adresse")
    _, filled, _, _ = export(data, [a_student("ada@uni.example", 7.5)], *words)
    assert [*changed(data, filled).values()] == [{"ada": "7,5"}]
    head = "Student;ID;SIS Login ID;Section;Lab 03: UDP bandwidth (7003)\n    Points Possible;;;;10,00\n"
    _, filled, _, _ = export((head + "King, Ada;101;ada;A;\n").encode(), [a_student("ada", 7.5)])
    assert filled.decode() == head + "King, Ada;101;ada;A;7,5\n", "before the first grade"


@pytest.mark.parametrize("name", ["\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "Ada\xa0King", "Ada \u202eKing"])
def test_names_with_signs_that_nobody_sees(name: str, export: Export) -> None:
    data = WORKSHEET.replace(b"Ada King", name.encode())
    _, filled, _, _ = export(data, [a_student(cleaned(name), 9.0)], "--labs", "03")
    assert changed(data, filled) == {"Grade": {"ada": "9"}}
