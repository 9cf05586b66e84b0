"""Points into samples of what platforms export: the right cells, and all else as it was."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.grading.grades import LabGrade, StudentGrade
from linklab.grading.names import cleaned
from tests.lms.a_class import EXPORTS, ROWS, a_class, a_student, write
from tests.lms.a_class import TCP as TCP_LAB
from tests.lms.a_class import UDP as UDP_LAB

Exported = tuple[int, bytes, str, str]
Export = Callable[..., Exported]
SAMPLES = {path.name: path.read_bytes() for path in sorted(EXPORTS.iterdir()) if path.suffix != ".md"}
CANVAS_BOOK, BLACKBOARD = SAMPLES["canvas.csv"], SAMPLES["blackboard.csv"]
WORKSHEET, GRADEBOOK = SAMPLES["moodle-worksheet.csv"], SAMPLES["moodle-gradebook.csv"]
UDP = {"ada": "10", "juergen": "7.5", "eve": "9", "kim1": "4"}
TCP = {"ada": "20", "juergen": "12.25"}
CANVAS_UDP, CANVAS_TCP = "Lab 03: UDP bandwidth (7003)", "Lab 04: TCP, shared (7004)"
BLACKBOARD_UDP = "Lab 03: UDP bandwidth [Total Pts: 10 Score] |6003"
BLACKBOARD_TCP = "Lab 04: TCP, shared [Total Pts: 20 Score] |6004"
MOODLE_UDP, MOODLE_TCP = "Assignment: Lab 03: UDP bandwidth (Real)", "Assignment: Lab 04: TCP, shared (Real)"
ALL = {**UDP, "fay": "3"}


def german(points: dict[str, str]) -> dict[str, str]:
    """The points with decimal commas."""
    return {name: text.replace(".", ",") for name, text in points.items()}


@pytest.fixture
def export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Export:
    """Exports students into a gradebook: status, the file, what was said, and what is to be looked at."""

    def export(
        platform: str, data: bytes, students: Sequence[StudentGrade], *words: str
    ) -> tuple[int, bytes, str, str]:
        graded, book, output = tmp_path / "graded", tmp_path / "book.csv", tmp_path / "filled"
        write(graded, *students)
        book.write_bytes(data)
        output.unlink(missing_ok=True)
        status = main(["export", str(graded), "--for", platform, "--into", str(book), "--output", str(output), *words])
        told = capsys.readouterr()
        return status, output.read_bytes() if output.exists() else b"", told.out, told.err

    return export


def rows_of(data: bytes) -> list[list[str]]:
    """The rows of a sample, or of what became of it."""
    text = data.decode("utf-16" if data.startswith(b"\xff\xfe") else "utf-8-sig")
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def changed(before: bytes, after: bytes) -> dict[str, dict[str, str]]:
    """The new cells, by heading and by whose row it is; all others are as they were, and so is the file's form."""
    for form in (b"\xef\xbb\xbf", b"\xff\xfe"):
        assert before.startswith(form) == after.startswith(form)
    assert before.count(b"\r") == after.count(b"\r")
    old, new = rows_of(before), rows_of(after)
    assert [len(row) for row in old] == [len(row) for row in new]
    students = [row for row in old[1:] if row and row[0].strip() not in ("", "Points Possible")]
    found: dict[str, dict[str, str]] = {}
    for row, now in zip(old, new, strict=True):
        for heading, text, cell in zip(old[0], row, now, strict=False):
            if text != cell:
                found.setdefault(heading, {})[ROWS[students.index(row)]] = cell
    return found


@pytest.mark.parametrize(
    ("sample", "words", "ending", "numbers", "expected", "found_by"),
    [
        ("canvas.csv", (), "", False, {CANVAS_UDP: UDP, CANVAS_TCP: TCP}, "SIS Login ID: 9"),
        ("canvas.csv", (), "", True, {CANVAS_UDP: UDP, CANVAS_TCP: TCP}, "Canvas's own number: 9"),
        ("canvas-names.csv", (), "", False, {CANVAS_UDP: UDP, CANVAS_TCP: TCP}, "SIS Login ID: 9"),
        ("canvas-semicolons.csv", (), "", False, {CANVAS_UDP: german(UDP), CANVAS_TCP: german(TCP)}, "SIS Login ID: 9"),
        ("moodle-worksheet.csv", ("--labs", "03"), "", True, {"Grade": ALL}, "Moodle's own number: 9"),
        ("moodle-worksheet-de.csv", ("--labs", "03"), "", True, {"Bewertung": german(ALL)}, "Moodle's own number: 9"),
        ("moodle-gradebook.csv", (), "@UNI.example", False,
         {MOODLE_UDP: {**ALL, "dan": "6"}, MOODLE_TCP: TCP}, "Email address: 9"),
        ("moodle-gradebook-de.csv", (), "@UNI.example", False,
         {"Aufgabe: Lab 03: UDP bandwidth (Punkte)": german({**ALL, "dan": "6"}),
          "Aufgabe: Lab 04: TCP, shared (Punkte)": german(TCP)}, "E-Mail-Adresse: 9"),
        ("blackboard.csv", (), "", False, {BLACKBOARD_UDP: ALL, BLACKBOARD_TCP: TCP}, "Username: 9"),
        ("blackboard.xls", (), "", False, {BLACKBOARD_UDP: ALL, BLACKBOARD_TCP: TCP}, "Username: 9"),
    ],
)  # fmt: skip
def test_points_go_where_they_belong_and_all_else_stays(
    sample: str,
    words: Sequence[str],
    ending: str,
    numbers: bool,
    expected: dict[str, dict[str, str]],
    found_by: str,
    export: Export,
) -> None:
    platform, students = sample.replace(".", "-").split("-")[0], a_class(ending, numbers=numbers)
    status, once, said, troubles = export(platform, SAMPLES[sample], students, *words)
    assert (status, changed(SAMPLES[sample], once)) == (1, expected)
    assert f"found by {found_by}" in said
    assert "and not graded: Hal Hall (" in said
    assert f"not found, gus{ending}: no row of book.csv has that in " in troubles
    _, twice, said, _ = export(platform, once, students, *words)
    assert (twice, ": 0 written" in said) == (once, True)


@pytest.mark.parametrize(
    ("platform", "data", "words", "hindered"),
    [
        ("canvas", CANVAS_BOOK, (),
         {"bob, 03-udp-bandwidth: 8.00 stands there, and 0 were graded", "bob, 04-tcp: 2 points are still open",
          "dan, 03-udp-bandwidth: 'EX' stands there", "fay, 03-udp-bandwidth: 'N/A' stands there"}),
        ("moodle", WORKSHEET, ("--labs", "03"),
         {"bob, 03-udp-bandwidth: 8.00 stands there", "dan, 03-udp-bandwidth: Moodle says that this grade cannot be"}),
        ("blackboard", BLACKBOARD, ("--labs", "03"),
         {"bob, 03-udp-bandwidth: 8.00 stands there", "dan, 03-udp-bandwidth: 'In Progress' stands there"}),
    ],
)  # fmt: skip
def test_what_must_not_be_written_is_named(
    platform: str, data: bytes, words: Sequence[str], hindered: set[str], export: Export
) -> None:
    _, _, _, troubles = export(platform, data, a_class(numbers=True), *words)
    lines = [line for line in troubles.splitlines() if line.startswith("not written, ")]
    assert len(lines) == len(hindered)
    for start in hindered:
        assert any(line.startswith(f"not written, {start}") for line in lines), start


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", ""), ("utf-8", "\ufeff"), ("utf-16-le", "\ufeff")])
@pytest.mark.parametrize("delimiter", ",;\t:")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_odd_texts_stay(encoding: str, mark: str, delimiter: str, end: str, export: Export) -> None:
    odd = ("=x", 'a "b"', "a,b;c\td:e", "a\nb", "a\r\nb", "a\rb", "\\", " a ", "山😀", "'", "e\u0301", "x" * 140_000)
    rows = [["First name", "Email address", "Notes", "Lab 03 (Real)"]]
    rows += [[text, f"ü{number}@x", text * 2, ""] for number, text in enumerate(odd)]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    students = [a_student(f"U\u0308{number}@X", number / 4) for number in range(len(odd))]
    data = (mark + out.getvalue()).encode(encoding)
    status, filled, _, troubles = export("moodle", data, students, "--labs", "03=Lab 03")
    assert (status, troubles) == (0, "")
    text = filled.decode(encoding)
    assert text.startswith("\ufeff") == bool(mark)
    before = csv.field_size_limit(len(text))
    now = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter))
    csv.field_size_limit(before)
    assert [row[:3] for row in now] == [row[:3] for row in rows]
    assert [float(row[3]) for row in now[1:]] == [number / 4 for number in range(len(odd))]


def test_half_a_hundredth_is_no_other_grade(export: Export) -> None:
    students = [a_student("ada", 0.125)]
    _, first, _, _ = export("canvas", CANVAS_BOOK, students, "--labs", "03")
    assert export("canvas", first, students, "--labs", "03")[:2] == (0, first)


def test_what_was_not_judged_is_not_written(export: Export) -> None:
    labs = {UDP_LAB.name: LabGrade("judge failed", None, (), "it crashed"), TCP_LAB.name: LabGrade("not judged")}
    students = [StudentGrade("ada", "ada.html", "course", labs)]
    status, data, _, troubles = export("canvas", CANVAS_BOOK, students, "--provisional")
    assert (status, changed(CANVAS_BOOK, data)) == (1, {})
    assert "not written, ada, 03-udp-bandwidth: it was not judged" in troubles
    assert "not written, ada, 04-tcp: it was not judged" in troubles


def test_other_grades_are_replaced_where_one_says_so(export: Export) -> None:
    _, data, said, troubles = export("canvas", CANVAS_BOOK, a_class(), "--labs", "03", "--replace")
    assert changed(CANVAS_BOOK, data) == {CANVAS_UDP: {**UDP, "bob": "0"}}
    assert "replaced, bob, 03-udp-bandwidth: 8.00 by 0" in said
    assert "dan, 03-udp-bandwidth: 'EX' stands there" in troubles, "what is no number is never replaced"


def test_open_points_are_written_where_one_says_so(export: Export) -> None:
    _, data, _, _ = export("canvas", CANVAS_BOOK, a_class(), "--labs", "04", "--provisional")
    assert changed(CANVAS_BOOK, data) == {CANVAS_TCP: {**TCP, "bob": "15"}}


@pytest.mark.parametrize(
    ("platform", "data"),
    [
        ("canvas", CANVAS_BOOK.replace(b"5.00,10.00,20.00", b"5.00,15.00,20.00")),
        ("moodle", WORKSHEET.replace(b",10.00,", b",15.00,")),
        ("blackboard", BLACKBOARD.replace(b": 10 Score", b": 15 Score")),
    ],
)
def test_points_are_converted_where_one_says_so(platform: str, data: bytes, export: Export) -> None:
    students = a_class(numbers=True)
    status, filled, _, troubles = export(platform, data, students, "--labs", "03")
    assert (status, filled) == (1, b"")
    assert "03-udp-bandwidth is worth 10 points, and column " in troubles
    assert troubles.endswith("export it anew, or say --scale\n")
    _, filled, _, _ = export(platform, data, students, "--labs", "03", "--scale")
    (column,) = changed(data, filled).values()
    assert (column["ada"], column["juergen"]) == ("15", "11.25")


@pytest.mark.parametrize(
    ("platform", "data", "labs"),
    [
        ("moodle", GRADEBOOK, ()),
        ("moodle", WORKSHEET.replace(b"Maximum Grade", b"Note maximale"), ("--labs", "03")),
        ("canvas", CANVAS_BOOK.replace(b",10.00,20.00,", b",,,"), ()),
    ],
)
def test_what_the_file_does_not_say_the_worth_of_is_not_converted_and_said(
    platform: str, data: bytes, labs: Sequence[str], export: Export
) -> None:
    students = [a_student("Ada King", 10.0, known_as=(("moodle", "9001"), ("canvas", "101")))]
    status, filled, _, troubles = export(platform, data, students, *labs, "--scale")
    assert (status, filled) == (1, b"")
    assert "so nothing can be converted" in troubles
    status, filled, said, _ = export(platform, data, students, *labs)
    assert (status, [*changed(data, filled).values()]) == (0, [{"ada": "10"}])
    assert "it must be 10" in said


def test_a_column_is_named_when_it_is_called_otherwise(export: Export) -> None:
    book = SAMPLES["blackboard.xls"]
    _, data, _, _ = export("blackboard", book, a_class(), "--labs", "03=Lab 04: TCP, shared", "--scale")
    points = {"ada": 20, "juergen": 15, "bob": 0, "eve": 18, "kim1": 8, "kim2": 10, "dan": 12, "fay": 6}
    assert changed(book, data) == {BLACKBOARD_TCP: {name: str(number) for name, number in points.items()}}


@pytest.mark.parametrize(
    ("platform", "students", "words", "points", "said"),
    [
        ("canvas", [a_student("ada", 1.0, known_as=(("canvas", "102"),)), a_student("bob", 1.0)], (), {},
         "not found, ada: may be Ada King (ada) or Jürgen Müller (juergen)"),
        ("canvas", [a_student("ada", 1), a_student("Ada 2", 1, known_as=(("canvas", "101"),)), a_student("eve", 1)],
         (), {"eve": "1"}, "not found, ada: Ada King (ada) is another student's row as well"),
        ("canvas", [a_student("103", 1.0), a_student("S004", 1.0), a_student("S005", 1.0)], (),
         {"eve": "1", "kim1": "1"}, "not found, 103: no row of book.csv has that in SIS User ID"),
        ("canvas", [a_student("eve", 1.0), a_student("x", 1.0, known_as=(("moodle", "101"),))], (), {"eve": "1"},
         "not found, x: no row"),
        ("canvas", [a_student("101", 2.0), a_student("S004", 1.0)], (), None, "say which with --by"),
        ("canvas", [a_student("101", 2.0), a_student("S004", 1.0)], ("--by", "ID"), {"ada": "2"},
         "not found, S004: no row of book.csv has that in ID"),
        ("canvas", [a_student("ada", 3.0, known_as=(("canvas", "101"),)), a_student("S004", 2.0)],
         ("--by", "sis user id"), {"eve": "2"}, "not found, ada: no row of book.csv has that in SIS User ID"),
        ("canvas", [a_student("Ada King", 9.0)], ("--by", "student"), {"ada": "9"}, ""),
        ("canvas", [a_student("ada", 9.0, known_as=(("canvas", "500"),)), a_student("eve", 7.0)], (), {"eve": "7"},
         "not found, ada: no row of book.csv has Canvas's own number 500"),
        ("worksheet", [a_student("ada@uni.example", 9, known_as=(("moodle", "5"),)), a_student("eve@uni.example", 7)],
         (), {"ada": "9", "eve": "7"}, ""),
        ("worksheet", [a_student(name, 1.0) for name in ("Ada King", "Kim Lee", "Jürgen Müller")], (),
         {"ada": "1", "juergen": "1"}, "not found, Kim Lee: 2 rows of book.csv have that in the full name"),
        ("worksheet", [a_student("Ada King", 9.0, known_as=(("moodle", "500"), ("moodle", "700"))),
                       a_student("Jürgen Müller", 7.5), a_student("Cyd Smith", None, known_as=(("moodle", "701"),))],
         (), {"juergen": "7.5"}, "not found, Ada King: no row of book.csv has Moodle's own number 500 or 700"),
        ("worksheet", [a_student("Ada King", 9.0, known_as=(("moodle", "500"),))], ("--by", "Full name"),
         {"ada": "9"}, ""),
        ("worksheet", [a_student("Ada King", 9.0, known_as=(("moodle", "1"),))], (), None,
         "has none of the 1 students that were graded"),
        ("worksheet", [a_student("nobody", 9.0)], ("--by", "Email address"), None, "say it with --by"),
        # ada's number stands in bob's row, and most of the others would be found by their names
        ("gradebook", [a_student(name, 9.0) for name in ("S003", "Ada King", "Cyd Smith", "Jürgen Müller")],
         ("--replace", "--by", "ID NUMBER"), {"bob": "9"},
         "not found, Ada King: no row of book.csv has that in ID number"),
    ],
)  # fmt: skip
def test_nobody_is_guessed(
    platform: str,
    students: Sequence[StudentGrade],
    words: Sequence[str],
    points: dict[str, str] | None,
    said: str,
    export: Export,
) -> None:
    """`points` are those that were written; None where the whole file was refused."""
    data = {"canvas": CANVAS_BOOK, "worksheet": WORKSHEET, "gradebook": GRADEBOOK}[platform]
    platform = "canvas" if platform == "canvas" else "moodle"
    status, filled, _, troubles = export(platform, data, students, "--labs", "03", *words)
    assert status == bool(said)
    assert said in troubles
    if points is None:
        assert filled == b""
    else:
        assert [*changed(data, filled).values()] == ([points] if points else [])


@pytest.mark.parametrize(
    ("platform", "data", "words", "said"),
    [
        ("moodle", CANVAS_BOOK, (), "is an export of Canvas, not of Moodle: say --for canvas"),
        ("moodle", BLACKBOARD, (), "is an export of Blackboard, not of Moodle: say --for blackboard"),
        ("moodle", CANVAS_BOOK, ("--by", "SIS Login ID"), "is an export of Canvas, not of Moodle: say --for canvas"),
        ("canvas", BLACKBOARD, (), "is an export of Blackboard, not of Canvas: say --for blackboard"),
        ("blackboard", WORKSHEET, (), "is an export of Moodle, not of Blackboard: say --for moodle"),
        ("canvas", b"name,grade\nada,1\n", (), "its first row needs the columns Student, ID and Section"),
        ("canvas", b"", (), "is empty"),
        ("canvas", b"PK\x03\x04\x14\x00\x06\x00\x80\x81", (), "no text in UTF-8 or UTF-16"),
        ("canvas", CANVAS_BOOK.decode().encode("cp1252"), (), "do not save it with a spreadsheet"),
        ("blackboard", SAMPLES["blackboard.xls"][:-7], (), "no text in UTF-8 or UTF-16"),
        ("canvas", CANVAS_BOOK[:700], (), "line 5: 16 cells, and 17 in the first line; the file was cut or edited"),
        ("blackboard", BLACKBOARD[:-2], (), "line 11: a quotation mark is not closed"),
        ("moodle", GRADEBOOK.replace(b",4.50,-,,", rb',4.50,-,"a \"b\", c",', 1), (), "behind a backslash"),
        ("moodle", GRADEBOOK + b"Muted,\n,,,\n", (), "the file was cut or edited"),
        ("canvas", CANVAS_BOOK[: CANVAS_BOOK.index(b'"King')], (), "lists no student"),
        ("canvas", CANVAS_BOOK, ("--labs", "03=Lab 9"), "has no column 'Lab 9' for points, but 'Essay (7001)'"),
        ("canvas", CANVAS_BOOK, ("--labs", "03=Final Score"), "would make a new one"),
        ("canvas", CANVAS_BOOK, ("--labs", "03=Essay", "04=Essay"), "would go into the same column 'Essay (7001)'"),
        ("canvas", CANVAS_BOOK, ("--labs", "03", "03"), "03-udp-bandwidth is named twice"),
        ("canvas", CANVAS_BOOK, ("--labs", "03="), "names no column behind the ="),
        ("canvas", CANVAS_BOOK, ("--labs", "77"), "no graded labs are called 77: choose of 03-udp-bandwidth, 04-tcp"),
        ("canvas", CANVAS_BOOK, ("--by", "Login"), "has no column 'Login': choose of Student; ID;"),
        ("moodle", GRADEBOOK, ("--by", "E-mail"), "has no column 'E-mail': choose of First name;"),
        ("blackboard", BLACKBOARD, ("--by", "User"), "has no column 'User': choose of Last Name;"),
        ("canvas", CANVAS_BOOK.replace(b"Lab", b"Exam"), (), "name a column, --labs '03-udp-bandwidth=COLUMN'"),
        ("canvas", CANVAS_BOOK.replace(b"10.00", b"(read only)"), ("--labs", "03"), "is read only in Canvas"),
        ("canvas", CANVAS_BOOK.replace(b",8.00,", b',"8,5",'), (), "points with a comma and with a point"),
        ("canvas", CANVAS_BOOK.replace(b"Lab 04: TCP, shared", b"Lab 03: UDP bandwidth"), (), "has 2 columns called"),
        ("blackboard", BLACKBOARD, ("--labs", "03=Total"), "is computed by Blackboard from others"),
        ("blackboard", BLACKBOARD.replace(b"10 Score", b"10 Letter"), ("--labs", "03"), "let Blackboard show Score"),
        ("moodle", WORKSHEET, (), "book.csv is of one assignment: say which lab that is, as --labs 03-udp-bandwidth"),
        ("moodle", WORKSHEET, ("--labs", "03", "04"), "is of one assignment"),
        ("moodle", WORKSHEET.replace(b"Maximum Grade", b"Scale"), ("--labs", "03"), "is of a scale, not of points"),
        ("moodle", WORKSHEET.replace(b",10.00,", b",100.00,", 1), ("--labs", "03"), "is worth 10.00 and 100.00 points"),
        ("moodle", GRADEBOOK, ("--labs", "03=Assignment: Lab 03: UDP bandwidth (Feedback)"), "has no points in it"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_line_and_nothing_is_written(
    platform: str, data: bytes, words: Sequence[str], said: str, export: Export
) -> None:
    status, filled, out, troubles = export(platform, data, a_class(), *words)
    assert (status, filled, out, len(troubles.splitlines())) == (1, b"", "", 1)
    assert said in troubles


@pytest.mark.parametrize(
    ("platform", "data", "end", "words"),
    [
        ("moodle", GRADEBOOK, b",,,\n", ()),
        ("moodle", WORKSHEET, b",,,,,,,,,,\n", ("--labs", "03")),
        ("blackboard", BLACKBOARD, b'"","",""\n', ()),
        ("canvas", CANVAS_BOOK, b"\n\n", ()),
    ],
)
def test_an_empty_row_is_nobodys_and_stays(
    platform: str, data: bytes, end: bytes, words: Sequence[str], export: Export
) -> None:
    status, filled, said, troubles = export(platform, data + end, [a_student("Ada King", 10.0)], *words)
    assert (status, troubles) == (0, "")
    assert [*changed(data + end, filled).values()] == [{"ada": "10"}]
    assert "row " not in said


@pytest.mark.parametrize(
    ("platform", "old", "new", "said"),
    [
        ("canvas", b"Lab 04: TCP, shared", b"Lab 4 - TCP", "name a column, --labs '04-tcp=COLUMN'"),
        ("canvas", b"5.00,10.00,20.00", b"5.00,10.00,(read only)", "is read only in Canvas"),
        ("blackboard", b"20 Score]", b"20 Percentage]", "let Blackboard show Score"),
    ],
)
def test_a_lab_without_a_column_is_named(platform: str, old: bytes, new: bytes, said: str, export: Export) -> None:
    data = {"canvas": CANVAS_BOOK, "blackboard": BLACKBOARD}[platform].replace(old, new)
    status, filled, _, troubles = export(platform, data, [a_student("ada", 9.0, 20.0)])
    assert (status, [*changed(data, filled).values()]) == (1, [{"ada": "9"}])
    assert troubles.startswith("not written, 04-tcp: ")
    assert said in troubles
    assert export(platform, data, [a_student("ada", 9.0, 20.0)], "--labs", "03")[0] == 0
    assert export(platform, data, [a_student("ada", 9.0)])[0] == 0, "nobody handed it in"


def test_a_point_in_another_column_is_no_decimal_point(export: Export) -> None:
    data = SAMPLES["moodle-gradebook-de.csv"].replace(b";Networks;", b";4.1;")
    _, filled, _, _ = export("moodle", data, [a_student("ada@uni.example", 7.5)], "--labs", "03")
    assert [*changed(data, filled).values()] == [{"ada": "7,5"}]


def test_before_the_first_grade_what_columns_are_worth_tells_the_decimal_mark(export: Export) -> None:
    head = "Student;ID;SIS Login ID;Section;Lab 03: UDP bandwidth (7003)\n    Points Possible;;;;10,00\n"
    _, filled, _, _ = export("canvas", (head + "King, Ada;101;ada;A;\n").encode(), [a_student("ada", 7.5)])
    assert filled.decode() == head + "King, Ada;101;ada;A;7,5\n"


@pytest.mark.parametrize("name", ["\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "Ada\xa0King", "Ada \u202eKing"])
def test_names_with_signs_that_nobody_sees(name: str, export: Export) -> None:
    data = WORKSHEET.replace(b"Ada King", name.encode())
    _, filled, _, _ = export("moodle", data, [a_student(cleaned(name), 9.0)], "--labs", "03")
    assert changed(data, filled) == {"Grade": {"ada": "9"}}
