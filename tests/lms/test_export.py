"""``linklab export`` on samples of what platforms export, read back by the rules of their importers."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.grading.grades import LabGrade, StudentGrade
from linklab.lms.cells import decoded
from tests.lms import importers
from tests.lms.a_class import CANVAS, EXPORTS, PARTICIPANTS, ROWS, a_class, a_student, write
from tests.lms.a_class import TCP as TCP_LAB
from tests.lms.a_class import UDP as UDP_LAB

Run = Callable[..., tuple[int, bytes, str, str]]
GERMAN = {"grade": "Bewertung", "recordid": "ID", "lastmodifiedgrade": "Zuletzt geändert (Bewertung)",
          "hiddenuser": "Teilnehmer/in", "decsep": ","}  # fmt: skip
ENGLISH = {"grade": "Grade", "recordid": "Identifier", "lastmodifiedgrade": "Last modified (grade)",
           "hiddenuser": "Participant ", "decsep": "."}  # fmt: skip
SAMPLES = tuple(sorted(path.name for path in EXPORTS.iterdir() if path.suffix != ".md"))


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Exports the class into a sample: status, the file, what was said, and what is to be looked at."""

    def run(
        sample: str, *words: str, ending: str = "", numbers: bool = False, data: bytes | None = None
    ) -> tuple[int, bytes, str, str]:
        graded = write(tmp_path / "graded", *a_class(ending, numbers=numbers))
        book, output = tmp_path / sample, tmp_path / "filled"
        book.write_bytes((EXPORTS / sample).read_bytes() if data is None else data)
        platform = words[words.index("--for") + 1] if "--for" in words else sample.partition(".")[0].partition("-")[0]
        rest = () if "--for" in words else ("--for", platform)
        status = main(["export", str(graded), *rest, "--into", str(book), "--output", str(output), *words])
        told = capsys.readouterr()
        return status, output.read_bytes() if output.exists() else b"", told.out, told.err

    return run


def _table(sample: str, data: bytes) -> list[list[str]]:
    text, _, _ = decoded(data, sample)
    mark = (
        "\t"
        if sample.endswith("xls")
        else ";"
        if "semicolons" in sample or sample == "moodle-gradebook-de.csv"
        else ","
    )
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))


def _changed(sample: str, data: bytes) -> dict[str, dict[str, str]]:
    """What is other than in the sample: new cells by header and by the row's first cells."""
    before, after = _table(sample, (EXPORTS / sample).read_bytes()), _table(sample, data)
    assert [len(row) for row in before] == [len(row) for row in after]
    found: dict[str, dict[str, str]] = {}
    students = [row for row in before[1:] if row[0].strip() not in ("", "Points Possible")]
    for number, row in enumerate(before):
        for column, old in enumerate(row):
            if after[number][column] != old:
                found.setdefault(before[0][column], {})[ROWS[students.index(row)]] = after[number][column]
    return found


UDP = {"ada": "10", "juergen": "7.5", "eve": "9", "kim1": "4"}
TCP = {"ada": "20", "juergen": "12.25"}


@pytest.mark.parametrize("sample", ["canvas.csv", "canvas-semicolons.csv", "canvas-names.csv"])
@pytest.mark.parametrize("numbers", [False, True])
def test_canvas(sample: str, numbers: bool, run: Run) -> None:
    status, data, said, troubles = run(sample, numbers=numbers)
    comma = "semicolons" in sample
    shown = {name: text.replace(".", ",") if comma else text for name, text in UDP.items()}
    assert _changed(sample, data) == {
        "Lab 03: UDP bandwidth (7003)": shown,
        "Lab 04: TCP, shared (7004)": {"ada": "20", "juergen": "12,25" if comma else "12.25"},
    }
    students = {*CANVAS.values(), "199"}
    before = importers.canvas((EXPORTS / sample).read_bytes(), {}, students)
    before |= {(CANVAS["dan"], "7003"): "EX", (CANVAS["fay"], "7003"): "N/A"}
    assert importers.canvas((EXPORTS / sample).read_bytes(), before, students) == {}
    assert importers.canvas(data, before, students) == {
        (CANVAS[name], number): points for number, lab in (("7003", UDP), ("7004", TCP)) for name, points in lab.items()
    }
    assert status == 1
    lines = troubles.splitlines()
    assert [line for line in lines if line.startswith("not found")] == [
        f"not found, gus: no row of {sample} has that in SIS Login ID"
    ]
    assert (
        f"not written, bob, 03-udp-bandwidth: {'8,00' if comma else '8.00'} stands there, and 0 were graded" in troubles
    )
    assert "not written, bob, 04-tcp: 2 points are still open" in troubles
    assert "not written, dan, 03-udp-bandwidth: 'EX' stands there" in troubles
    assert "not written, fay, 03-udp-bandwidth: 'N/A' stands there" in troubles
    assert len(lines) == 5
    assert f"{'Canvas' if numbers else 'SIS Login ID'}" in said
    assert "03-udp-bandwidth, into 'Lab 03: UDP bandwidth (7003)': 4 written, 1 as they were, 1 not handed in" in said
    assert "and not graded: Hal Hall (hal)" in said
    assert "and not graded: Test Student (2f1a0c77e0b1)" in said


@pytest.mark.parametrize(("sample", "words"), [("moodle-worksheet.csv", ENGLISH), ("moodle-worksheet-de.csv", GERMAN)])
def test_moodle_s_worksheet(sample: str, words: dict[str, str], run: Run) -> None:
    _, data, said, troubles = run(sample, "--labs", "03", numbers=True)
    shown = {name: text.replace(".", words["decsep"]) for name, text in UDP.items()}
    assert _changed(sample, data) == {words["grade"]: {**shown, "fay": "3"}}
    before = {PARTICIPANTS["bob"]: "8.00", PARTICIPANTS["kim2"]: "5.00", PARTICIPANTS["hal"]: "3.00"}
    locked = {PARTICIPANTS["dan"]}
    assert importers.moodle_worksheet((EXPORTS / sample).read_bytes(), words, before, locked, 10) == {}
    assert importers.moodle_worksheet(data, words, before, locked, 10) == {
        PARTICIPANTS[name]: float(points) for name, points in {**UDP, "fay": "3"}.items()
    }
    assert "found by Moodle's own number: 9" in said
    assert "not written, dan, 03-udp-bandwidth: Moodle says that this grade cannot be changed" in troubles
    assert "not found, gus" in troubles


@pytest.mark.parametrize(
    ("sample", "who", "column", "delimiter", "decsep"),
    [
        ("moodle-gradebook.csv", "Email address", "Assignment: Lab 03: UDP bandwidth (Real)", ",", "."),
        ("moodle-gradebook-de.csv", "E-Mail-Adresse", "Aufgabe: Lab 03: UDP bandwidth (Punkte)", ";", ","),
    ],
)
def test_moodle_s_gradebook(sample: str, who: str, column: str, delimiter: str, decsep: str, run: Run) -> None:
    _, data, said, _ = run(sample, ending="@UNI.example")
    found = importers.moodle_gradebook(data, delimiter, who, column, decsep)
    points = {
        "ada": 10,
        "juergen": 7.5,
        "bob": 8,
        "eve": 9,
        "kim1": 4,
        "kim2": 5,
        "dan": 6,
        "fay": 3,
        "hal": 3,
        "cyd": None,
    }
    assert found == {f"{name}@uni.example": value for name, value in points.items()}
    assert f"found by {who}: 9" in said
    assert len(_changed(sample, data)) == 2, "the columns of two labs"


@pytest.mark.parametrize("sample", ["blackboard.xls", "blackboard.csv"])
def test_blackboard(sample: str, run: Run) -> None:
    _, data, said, troubles = run(sample)
    assert _changed(sample, data) == {
        "Lab 03: UDP bandwidth [Total Pts: 10 Score] |6003": {**UDP, "fay": "3"},
        "Lab 04: TCP, shared [Total Pts: 20 Score] |6004": TCP,
    }
    found = importers.blackboard(data, {"6001": "", "6003": "", "6004": ""}, set(ROWS))
    assert found["ada", "6003"] == "10", "an attempt that needed grading has its points"
    assert found["dan", "6003"] == "In Progress"
    assert "found by Username: 9" in said
    assert "dan, 03-udp-bandwidth: 'In Progress' stands there" in troubles


@pytest.mark.parametrize("sample", SAMPLES)
def test_all_else_is_the_same_bytes_and_twice_changes_nothing_more(sample: str, run: Run) -> None:
    words = ("--labs", "03") if "worksheet" in sample else ()
    ending = "@uni.example" if "gradebook" in sample else ""
    original = (EXPORTS / sample).read_bytes()
    _, once, _, _ = run(sample, *words, ending=ending, numbers=True)
    _, twice, said, _ = run(sample, *words, ending=ending, numbers=True, data=once)
    assert once == twice
    assert ": 0 written" in said
    assert once != original
    new = [cells for column in _changed(sample, once).values() for cells in column.values()]
    assert len(once) - len(original) <= sum(len(text) + 2 for text in new) * 2, "nothing was quoted or ended otherwise"


@pytest.mark.parametrize("sample", ["canvas.csv", "blackboard.csv", "blackboard.xls"])
def test_empty_lines_at_the_end_stay(sample: str, run: Run) -> None:
    lines = "\r\n\n".encode("utf-16-le" if sample.endswith("xls") else "utf-8")
    _, plain, _, _ = run(sample)
    assert run(sample, data=(EXPORTS / sample).read_bytes() + lines)[1] == plain + lines


def test_half_a_hundredth_is_no_other_grade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded, first, second = write(tmp_path / "graded", a_student("ada", 0.125)), tmp_path / "1", tmp_path / "2"
    for into, output in ((EXPORTS / "canvas.csv", first), (first, second)):
        words = ["--for", "canvas", "--into", str(into), "--output", str(output), "--labs", "03"]
        assert main(["export", str(graded), *words]) == 0, capsys.readouterr().err
    assert first.read_bytes() == second.read_bytes()


def test_what_was_not_judged_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labs = {UDP_LAB.name: LabGrade("judge failed", None, (), "it crashed"), TCP_LAB.name: LabGrade("not judged")}
    graded = write(tmp_path / "graded", StudentGrade("ada", "ada.html", "course", labs))
    words = ["--for", "canvas", "--into", str(EXPORTS / "canvas.csv"), "--output", str(tmp_path / "filled")]
    assert main(["export", str(graded), *words, "--provisional"]) == 1
    told = capsys.readouterr().err
    assert "not written, ada, 03-udp-bandwidth: it was not judged" in told
    assert "not written, ada, 04-tcp: it was not judged" in told
    assert (tmp_path / "filled").read_bytes() == CANVAS_BYTES


def test_other_grades_are_replaced_where_one_says_so(run: Run) -> None:
    status, data, _, troubles = run("canvas.csv", "--labs", "03", "--replace")
    assert _changed("canvas.csv", data)["Lab 03: UDP bandwidth (7003)"] == {**UDP, "bob": "0"}
    assert "replaced, bob, 03-udp-bandwidth: 8.00 by 0" in troubles
    assert "dan, 03-udp-bandwidth: 'EX' stands there" in troubles, "what is no number is never replaced"
    assert status == 1


def test_open_points_are_written_where_one_says_so(run: Run) -> None:
    _, data, _, _ = run("canvas.csv", "--labs", "04", "--provisional")
    assert _changed("canvas.csv", data) == {"Lab 04: TCP, shared (7004)": {**TCP, "bob": "15"}}


def test_points_are_converted_where_one_says_so(run: Run) -> None:
    data = (EXPORTS / "canvas.csv").read_bytes().replace(b"5.00,10.00,20.00", b"5.00,15.00,20.00")
    status, filled, _, troubles = run("canvas.csv", data=data)
    assert (status, filled) == (1, b"")
    assert "03-udp-bandwidth is worth 10 points, and column 'Lab 03: UDP bandwidth (7003)' of canvas.csv 15" in troubles
    _, filled, _, _ = run("canvas.csv", "--scale", data=data)
    assert _table("canvas.csv", filled)[4][7] == "11.25"


def test_a_worksheet_says_what_its_assignment_is_worth(run: Run) -> None:
    data = WORKSHEET.replace(b",10.00,", b",20.00,")
    status, filled, _, troubles = run("moodle-worksheet.csv", "--labs", "03", numbers=True, data=data)
    assert (status, filled) == (1, b"")
    assert "03-udp-bandwidth is worth 10 points, and column 'Grade' of moodle-worksheet.csv 20: give it 10" in troubles
    _, filled, _, _ = run("moodle-worksheet.csv", "--labs", "03", "--scale", numbers=True, data=data)
    assert _table("moodle-worksheet.csv", filled)[2][4] == "15"


def test_a_column_is_named_when_it_is_called_otherwise(run: Run) -> None:
    _, data, _, _ = run("blackboard.xls", "--labs", "03=Lab 04: TCP, shared", "--scale")
    assert _changed("blackboard.xls", data) == {
        "Lab 04: TCP, shared [Total Pts: 20 Score] |6004":
            {"ada": "20", "juergen": "15", "bob": "0", "eve": "18", "kim1": "8", "kim2": "10", "dan": "12", "fay": "6"}
    }  # fmt: skip


def test_students_of_one_name_get_nothing_by_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded = write(tmp_path / "graded", *(a_student(name, 1.0) for name in ("Ada King", "Kim Lee", "Jürgen Müller")))
    book = tmp_path / "book.csv"
    book.write_bytes((EXPORTS / "moodle-worksheet.csv").read_bytes())
    words = ["--for", "moodle", "--into", str(book), "--output", str(tmp_path / "filled"), "--labs", "03"]
    assert main(["export", str(graded), *words]) == 1
    told = capsys.readouterr()
    assert "not found, Kim Lee: 2 rows of book.csv have that in the full name" in told.err
    assert "found by the full name: 2" in told.out
    found = _changed("moodle-worksheet.csv", (tmp_path / "filled").read_bytes())
    assert found == {"Grade": {"ada": "1", "juergen": "1"}}


@pytest.mark.parametrize(
    ("students", "said"),
    [
        (
            (a_student("ada", 1.0, known_as=(("canvas", "102"),)), a_student("bob", 1.0)),
            "not found, ada: may be Ada King (ada) or Jürgen Müller (juergen)",
        ),
        (
            (a_student("ada", 1.0), a_student("Ada 2", 1.0, known_as=(("canvas", "101"),)), a_student("bob", 1.0)),
            "not found, ada: Ada King (ada) is another student's row as well",
        ),
        ((a_student("103", 1.0), a_student("S004", 1.0), a_student("S005", 1.0)), "not found, 103: no row"),
        ((a_student("bob", 1.0), a_student("x", 1.0, known_as=(("moodle", "101"),))), "not found, x: no row"),
    ],
)
def test_nobody_is_guessed(
    students: Sequence[object], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded = write(tmp_path / "graded", *students)  # type: ignore[arg-type]
    words = ["--for", "canvas", "--into", str(EXPORTS / "canvas.csv"), "--output", str(tmp_path / "filled")]
    assert main(["export", str(graded), *words, "--labs", "03"]) == 1
    assert said in capsys.readouterr().err


def test_two_columns_that_say_otherwise_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded = write(tmp_path / "graded", a_student("101", 2.0), a_student("S004", 1.0))
    words = [
        "--for",
        "canvas",
        "--into",
        str(EXPORTS / "canvas.csv"),
        "--output",
        str(tmp_path / "filled"),
        "--labs",
        "03",
    ]
    assert main(["export", str(graded), *words]) == 1
    assert "say which with --by" in capsys.readouterr().err
    assert not (tmp_path / "filled").exists()
    assert main(["export", str(graded), *words, "--by", "ID"]) == 1
    assert _changed("canvas.csv", (tmp_path / "filled").read_bytes()) == {"Lab 03: UDP bandwidth (7003)": {"ada": "2"}}


def test_by_a_column_is_by_that_column_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbered = a_student("ada", 3.0, known_as=(("canvas", "101"),))
    graded = write(tmp_path / "graded", numbered, a_student("S003", 1.0), a_student("S004", 2.0))
    words = ["--for", "canvas", "--into", str(EXPORTS / "canvas.csv"), "--output", str(tmp_path / "filled")]
    assert main(["export", str(graded), *words, "--labs", "03", "--by", "SIS User ID"]) == 1
    assert "not found, ada: no row of canvas.csv has that in SIS User ID" in capsys.readouterr().err
    assert _changed("canvas.csv", (tmp_path / "filled").read_bytes()) == {"Lab 03: UDP bandwidth (7003)": {"eve": "2"}}


CANVAS_BYTES = (EXPORTS / "canvas.csv").read_bytes()
BLACKBOARD = (EXPORTS / "blackboard.csv").read_bytes()
WORKSHEET = (EXPORTS / "moodle-worksheet.csv").read_bytes()


@pytest.mark.parametrize(
    ("platform", "data", "words", "said"),
    [
        ("moodle", CANVAS_BYTES, (), "is an export of Canvas, not of Moodle: say --for canvas"),
        ("moodle", BLACKBOARD, (), "is an export of Blackboard, not of Moodle: say --for blackboard"),
        ("moodle", CANVAS_BYTES, ("--by", "SIS Login ID"), "is an export of Canvas, not of Moodle: say --for canvas"),
        ("canvas", BLACKBOARD, (), "is an export of Blackboard, not of Canvas: say --for blackboard"),
        ("blackboard", WORKSHEET, (), "is an export of Moodle, not of Blackboard: say --for moodle"),
        ("canvas", b"name,grade\nada,1\n", (), "its first row needs the columns Student, ID and Section"),
        ("canvas", b"", (), "is empty"),
        ("canvas", b"PK\x03\x04\x14\x00\x06\x00\x80\x81", (), "no text in UTF-8 or UTF-16"),
        ("canvas", CANVAS_BYTES.decode().encode("cp1252"), (), "do not save it with a spreadsheet"),
        ("blackboard", (EXPORTS / "blackboard.xls").read_bytes()[:-7], (), "no text in UTF-8 or UTF-16"),
        ("canvas", CANVAS_BYTES[:700], (), "line 5: 16 cells, and 17 in the first line; the file was cut or edited"),
        ("blackboard", BLACKBOARD[:-2], (), "line 11: a quotation mark is not closed"),
        ("canvas", CANVAS_BYTES[: CANVAS_BYTES.index(b'"King')], (), "lists no student"),
        ("canvas", CANVAS_BYTES, ("--labs", "03=Lab 9"), "has no column 'Lab 9' for points, but 'Essay (7001)'"),
        ("canvas", CANVAS_BYTES, ("--labs", "03=Final Score"), "would make a new one"),
        ("canvas", CANVAS_BYTES, ("--labs", "03=Essay", "04=Essay"), "would go into the same column 'Essay (7001)'"),
        ("canvas", CANVAS_BYTES, ("--labs", "03", "03"), "03-udp-bandwidth is named twice"),
        ("canvas", CANVAS_BYTES, ("--labs", "03="), "names no column behind the ="),
        ("canvas", CANVAS_BYTES, ("--labs", "0"), "no graded labs are called 0: choose of 03-udp-bandwidth, 04-tcp"),
        ("canvas", CANVAS_BYTES, ("--labs", "77"), "no graded labs are called 77"),
        ("canvas", CANVAS_BYTES, ("--by", "Login"), "has no column 'Login': choose of Student; ID;"),
        ("canvas", CANVAS_BYTES.replace(b"Lab", b"Exam"), (), "no column of book.csv is called like a lab"),
        ("canvas", CANVAS_BYTES.replace(b",80.00", b",(read only)").replace(b"10.00", b"(read only)"),
         ("--labs", "03=Lab 03: UDP bandwidth"), "is read only in Canvas"),
        ("canvas", CANVAS_BYTES.replace(b",8.00,", b',"8,5",'), (), "points with a comma and with a point"),
        ("canvas", CANVAS_BYTES.replace(b"Lab 04: TCP, shared", b"Lab 03: UDP bandwidth"), (), "has 2 columns called"),
        ("blackboard", BLACKBOARD, ("--labs", "03=Total"), "is computed by Blackboard from others"),
        ("blackboard", BLACKBOARD.replace(b"10 Score", b"10 Percentage"), ("--labs", "03=Lab 03: UDP bandwidth"),
         "shows Percentage: let Blackboard show Score"),
        ("moodle", WORKSHEET, (), "book.csv is of one assignment: say which lab that is, as --labs 03-udp-bandwidth"),
        ("moodle", WORKSHEET, ("--labs", "03", "04"), "is of one assignment"),
        ("moodle", WORKSHEET.replace(b"Maximum Grade", b"Scale"), ("--labs", "03"), "is of a scale, not of points"),
        ("moodle", (EXPORTS / "moodle-gradebook.csv").read_bytes(),
         ("--labs", "03=Assignment: Lab 03: UDP bandwidth (Feedback)"), "has no points in it"),
        ("moodle", WORKSHEET, ("--labs", "03", "--by", "Email address"), "has none of the 10 students"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_line_and_nothing_is_written(
    platform: str, data: bytes, words: Sequence[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded, book = write(tmp_path / "graded"), tmp_path / "book.csv"
    book.write_bytes(data)
    command = ["export", str(graded), "--for", platform, "--into", str(book), "--output", str(tmp_path / "filled")]
    assert main([*command, *words]) == 1
    told = capsys.readouterr()
    assert said in told.err
    assert len(told.err.splitlines()) == 1
    assert told.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.csv", "graded"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone", "--for", "canvas", "--into", "book.csv", "--output", "x"], "there is no gone"),
        (["graded", "--for", "canvas", "--output", "x"], "--for canvas needs --into"),
        (["graded", "--for", "canvas", "--into", "gone.csv", "--output", "x"], "there is no gone.csv"),
        (["graded", "--for", "canvas", "--into", "book.csv", "--output", "book.csv"], "is the gradebook itself"),
        (["book.csv", "--for", "canvas", "--into", "book.csv", "--output", "x"], "is neither linklab grade's"),
        (["broken.json", "--for", "canvas", "--into", "book.csv", "--output", "x"], "is not what linklab grade writes"),
        (["graded", "--for", "nbgrader", "--into", "book.csv", "--output", "x"], "leave --into away"),
        (["graded", "--for", "gradescope", "--scale", "--output", "x"], "leave --scale away"),
        (["graded", "--for", "gradescope", "--labs", "03=x", "--output", "x"], "name the labs alone"),
        (["graded", "--for", "gradescope", "--output", "book.csv"], "is a file: name a folder"),
        (["twice", "--for", "nbgrader", "--output", "x"], "has 'ADA ' twice"),
    ],
)
def test_wrong_words_are_one_line_and_nothing_is_written(
    words: Sequence[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "graded")
    write(tmp_path / "twice", a_student("ada", 1.0), a_student("ADA ", 2.0))
    (tmp_path / "book.csv").write_bytes(CANVAS_BYTES)
    (tmp_path / "broken.json").write_text('{"linklab_grades": 2}')
    assert main(["export", *words]) == 1
    told = capsys.readouterr()
    assert said in told.err
    assert len(told.err.splitlines()) == 1
    assert not (tmp_path / "x").exists()
    assert (tmp_path / "book.csv").read_bytes() == CANVAS_BYTES
