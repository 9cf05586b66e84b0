"""``linklab export`` on samples of what platforms export, read back by the rules of their importers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.grade import Check
from linklab.grading.grades import LabGrade, StudentGrade
from linklab.grading.model import Judged
from linklab.grading.names import cleaned
from linklab.lms.cells import decoded
from linklab.report.model import Graded
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
    status, data, said, troubles = run("canvas.csv", "--labs", "03", "--replace")
    assert _changed("canvas.csv", data)["Lab 03: UDP bandwidth (7003)"] == {**UDP, "bob": "0"}
    assert "replaced, bob, 03-udp-bandwidth: 8.00 by 0" in said
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


def _export(folder: Path, platform: str, data: bytes, *words: str) -> tuple[int, bytes]:
    """Export what stands in ``graded`` into such a gradebook: the status, and what was written."""
    book, output = folder / "book.csv", folder / "filled"
    book.write_bytes(data)
    command = ["export", str(folder / "graded"), "--for", platform, "--into", str(book), "--output", str(output)]
    return main([*command, *words]), output.read_bytes() if output.exists() else b""


GRADEBOOK = (EXPORTS / "moodle-gradebook.csv").read_bytes()


@pytest.mark.parametrize(
    ("platform", "data", "labs"),
    [
        ("moodle", GRADEBOOK, ()),
        ("moodle", WORKSHEET.replace(b"Maximum Grade", b"Note maximale"), ("--labs", "03")),
        ("canvas", CANVAS_BYTES.replace(b",10.00,20.00,", b",,,"), ()),
    ],
)
def test_what_the_file_does_not_say_the_worth_of_is_not_converted_and_said(
    platform: str, data: bytes, labs: Sequence[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "graded", a_student("Ada King", 10.0, known_as=(("moodle", "9001"), ("canvas", "101"))))
    assert _export(tmp_path, platform, data, *labs, "--scale") == (1, b"")
    assert "book.csv does not say how many points" in (told := capsys.readouterr().err)
    assert "so nothing can be converted" in told
    status, filled = _export(tmp_path, platform, data, *labs)
    assert (status, b"10" in filled) == (0, True)
    told = capsys.readouterr().out
    assert "book.csv does not say what 03-udp-bandwidth is worth in" in told
    assert "it must be 10" in told


@pytest.mark.parametrize(
    ("platform", "data", "end", "words"),
    [
        ("moodle", GRADEBOOK, b",,,\n", ()),
        ("moodle", GRADEBOOK, b"Muted,\n,,,\n", ()),
        ("moodle", WORKSHEET, b",,\r\n", ("--labs", "03")),
        ("moodle", WORKSHEET, b",,,,,,,,,,\r\n", ("--labs", "03")),
        ("blackboard", BLACKBOARD, b",,\n", ()),
        ("blackboard", BLACKBOARD, b'"","",""\n', ()),
    ],
)
def test_an_empty_row_is_nobodys(
    platform: str, data: bytes, end: bytes, words: Sequence[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "graded", a_student("Ada King", 10.0))
    status, filled = _export(tmp_path, platform, data + end, *words)
    told = capsys.readouterr()
    if b"Muted" in end:
        assert "the file was cut or edited" in told.err
    else:
        assert (status, told.err) == (0, "")
        assert filled.endswith(end)
        assert "row " not in told.out
        assert ("is worth in" in told.out) == (data == GRADEBOOK), "the worksheet still says what it is worth"


def test_rows_that_say_another_worth_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "graded", a_student("Ada King", 10.0))
    data = WORKSHEET.replace(b",10.00,", b",100.00,", 1)
    assert _export(tmp_path, "moodle", data, "--labs", "03") == (1, b"")
    assert "says that it is worth 10.00 and 100.00 points: export it anew" in capsys.readouterr().err


def test_by_a_column_no_name_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ada's number stands in Bob's row, and most of the others would be found by their names."""
    write(tmp_path / "graded", *(a_student(name, 9.0) for name in ("S003", "Ada King", "Cyd Smith", "Jürgen Müller")))
    status, filled = _export(tmp_path, "moodle", GRADEBOOK, "--labs", "03", "--replace", "--by", "ID NUMBER")
    told = capsys.readouterr()
    assert status == 1
    assert "found by ID number: 1" in told.out
    assert "not found, Ada King: no row of book.csv has that in ID number" in told.err
    assert list(_changed("moodle-gradebook.csv", filled)) == ["Assignment: Lab 03: UDP bandwidth (Real)"]
    assert _changed("moodle-gradebook.csv", filled)["Assignment: Lab 03: UDP bandwidth (Real)"] == {"bob": "9"}


@pytest.mark.parametrize(("platform", "column"), [("moodle", "E-mail"), ("canvas", "Login"), ("blackboard", "User")])
def test_a_column_that_is_not_there_is_named(
    platform: str, column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "graded", a_student("ada", 9.0))
    data = {"moodle": GRADEBOOK, "canvas": CANVAS_BYTES, "blackboard": BLACKBOARD}[platform]
    assert _export(tmp_path, platform, data, "--by", column) == (1, b"")
    assert f"book.csv has no column {column!r}: choose of " in capsys.readouterr().err


def test_who_has_another_number_is_not_found_by_the_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Her namesake is in the worksheet, and she left the course."""
    gone = a_student("Ada King", 9.0, known_as=(("moodle", "500"), ("moodle", "700")))
    here = a_student("Jürgen Müller", 7.5, known_as=(("moodle", "9002"),))
    never = a_student("Cyd Smith", None, known_as=(("moodle", "701"),))
    write(tmp_path / "graded", gone, here, never)
    status, filled = _export(tmp_path, "moodle", WORKSHEET, "--labs", "03")
    assert (status, _changed("moodle-worksheet.csv", filled)) == (1, {"Grade": {"juergen": "7.5"}})
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "not found, Ada King: no row of book.csv has Moodle's own number 500 or 700; if it is the right file, "
        "find students otherwise with --by"
    ]
    status, filled = _export(tmp_path, "moodle", WORKSHEET, "--labs", "03", "--by", "Full name")
    assert _changed("moodle-worksheet.csv", filled) == {"Grade": {"ada": "9", "juergen": "7.5"}}
    assert status == 0


def test_the_worksheet_of_another_assignment_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"Ada King": "1", "Jürgen Müller": "2"}
    write(tmp_path / "graded", *(a_student(name, 9.0, known_as=(("moodle", n),)) for name, n in names.items()))
    assert _export(tmp_path, "moodle", WORKSHEET, "--labs", "03") == (1, b"")
    assert "has none of the 2 students that were graded" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("platform", "old", "new", "said"),
    [
        ("canvas", b"Lab 04: TCP, shared", b"Lab 4 - TCP", "no column of book.csv is called so"),
        ("canvas", b"5.00,10.00,20.00", b"5.00,10.00,(read only)", "is read only in Canvas"),
        ("blackboard", b"20 Score]", b"20 Percentage]", "shows Percentage"),
    ],
)
def test_a_lab_without_a_column_is_named(
    platform: str, old: bytes, new: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "graded", a_student("ada", 9.0, 20.0))
    data = {"canvas": CANVAS_BYTES, "blackboard": BLACKBOARD}[platform].replace(old, new)
    status, filled = _export(tmp_path, platform, data)
    told = capsys.readouterr().err
    assert (status, filled != data) == (1, True)
    assert told.startswith("not written, 04-tcp: ")
    assert said in told
    assert _export(tmp_path, platform, data, "--labs", "03")[0] == 0
    write(tmp_path / "graded", a_student("ada", 9.0))
    assert _export(tmp_path, platform, data)[0] == 0, "nobody handed it in"


@pytest.mark.parametrize("platform", ["canvas", "nbgrader", "gradescope"])
@pytest.mark.parametrize("named", ["", "grades.json"])
def test_what_was_graded_is_not_written_over(
    platform: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded, book = write(tmp_path / "graded"), tmp_path / "book.csv"
    (graded / "by-hand.csv").write_text("marks of three evenings")
    book.write_bytes(CANVAS_BYTES)
    command = [
        "export",
        str(graded / named),
        "--for",
        platform,
        *(["--into", str(book)] if platform == "canvas" else []),
    ]
    for output in (graded / named, graded / "by-hand.csv", graded / "grades.json", graded / "grades.csv"):
        assert main([*command, "--output", str(output)]) == 1
        assert "--output would write over what was graded: name another file" in capsys.readouterr().err
    assert sorted(path.name for path in graded.iterdir()) == ["by-hand.csv", "grades.json"]
    assert (graded / "by-hand.csv").read_text() == "marks of three evenings"
    for _ in range(2):
        main([*command, "--output", str(graded / "new")])
        assert (graded / "new").exists()


def test_a_point_in_another_column_is_no_decimal_point(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "graded", a_student("ada@uni.example", 7.5))
    german = (EXPORTS / "moodle-gradebook-de.csv").read_bytes().replace(b";Networks;", b";4.1;")
    status, filled = _export(tmp_path, "moodle", german, "--labs", "03")
    assert (status, b";7,5;" in filled) == (0, True), capsys.readouterr().err
    mixed = german.replace(b"8,00", b"8.25", 1)
    assert _export(tmp_path, "moodle", mixed, "--labs", "03")[0] == 1
    assert "has points with a comma and with a point" in capsys.readouterr().err


@pytest.mark.parametrize(
    "said",
    [r'"use \"b\" here, ""c"""', r'"a \\" b"', r'"a \" in C:\"', r'"\\\"""x"', r'"\"', '"' + "\\" * 5000 + '" b"'],
)
def test_moodle_s_quotation_mark_behind_a_backslash(said: str, tmp_path: Path) -> None:
    """PHP's fputcsv does not double it, so that a cell with one is no longer CSV."""
    write(tmp_path / "graded", a_student("ada@uni.example", 10.0), a_student("eve@uni.example", 9.0))
    data = GRADEBOOK.replace(b"ada@uni.example,4.50,-,,", f"ada@uni.example,4.50,-,{said},".encode())
    assert data != GRADEBOOK
    status, filled = _export(tmp_path, "moodle", data, "--labs", "03")
    assert status == 0
    assert f"ada@uni.example,4.50,10,{said},".encode() in filled
    assert b"eve@uni.example,4.50,9,," in filled


@pytest.mark.parametrize("name", ["\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "Ada\xa0King", "Ada \u202eKing"])
def test_names_with_signs_that_nobody_sees(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "graded", a_student(cleaned(name), 9.0))
    data = WORKSHEET.replace(b"Ada King", name.encode())
    status, filled = _export(tmp_path, "moodle", data, "--labs", "03")
    assert status == 0, capsys.readouterr().err
    assert _table("book.csv", filled)[1][4] == "9"


def test_what_could_not_be_decided_is_told_apart_from_what_waits_for_the_instructor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check("the rate", "inconclusive", "the judge crashed", "try again")
    cells = (Graded("check-rate", "check", "Lab 03, the rate", "inconclusive", 0.0, 10.0, (check,)),)
    labs = {UDP_LAB.name: LabGrade("judged", Judged(UDP_LAB.name, "course", cells))}
    write(tmp_path / "graded", StudentGrade("ada", "ada.html", "course", labs), a_student("bob", 1.0, 15.0))
    _export(tmp_path, "canvas", CANVAS_BYTES)
    told = capsys.readouterr().err
    assert (
        "ada, 03-udp-bandwidth: 10 points are still open, for a check was inconclusive (index.html says why): "
        "remove the student's folder in judged/ and run linklab grade, or say --provisional" in told
    )
    assert "bob, 04-tcp: 2 points are still open: grade by-hand.csv and run linklab grade, or say --provisional" in told


@pytest.mark.parametrize("platform", ["canvas", "nbgrader", "gradescope"])
def test_what_was_left_aside_is_named(platform: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded = write(tmp_path / "graded", a_student("ada", 9.0))
    data = json.loads((graded / "grades.json").read_text())
    (graded / "grades.json").write_text(json.dumps({**data, "unmatched": ["who_1.ipynb: nobody on the list"]}))
    into = ["--into", str(EXPORTS / "canvas.csv"), "--labs", "03"] if platform == "canvas" else []
    assert main(["export", str(graded), "--for", platform, *into, "--output", str(tmp_path / "out")]) == 0
    assert "not graded, who_1.ipynb: nobody on the list\n" in capsys.readouterr().out


def test_an_address_names_who_handed_in_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Moodle's number is that of another assignment; in Canvas there is one number for all of them."""
    numbers = (("moodle", "500"), ("canvas", "500"))
    students = (a_student("ada@uni.example", 9.0, known_as=numbers), a_student("eve@uni.example", 7.0))
    write(tmp_path / "graded", *students)
    status, filled = _export(tmp_path, "moodle", WORKSHEET, "--labs", "03")
    assert (status, _changed("moodle-worksheet.csv", filled)) == (0, {"Grade": {"ada": "9", "eve": "7"}})
    write(tmp_path / "graded", a_student("ada", 9.0, known_as=numbers), a_student("eve", 7.0))
    status, filled = _export(tmp_path, "canvas", CANVAS_BYTES, "--labs", "03")
    assert (status, list(_changed("canvas.csv", filled).values())) == (1, [{"eve": "7"}])
    assert "not found, ada: no row of book.csv has Canvas's own number 500" in capsys.readouterr().err


def test_by_the_column_of_full_names(tmp_path: Path) -> None:
    write(tmp_path / "graded", a_student("Ada King", 9.0))
    status, filled = _export(tmp_path, "canvas", CANVAS_BYTES, "--labs", "03", "--by", "student")
    assert (status, list(_changed("canvas.csv", filled).values())) == (0, [{"ada": "9"}])


def test_before_the_first_grade_what_columns_are_worth_tells_the_decimal_mark(tmp_path: Path) -> None:
    write(tmp_path / "graded", a_student("ada", 7.5))
    head = "Student;ID;SIS Login ID;Section;Lab 03: UDP bandwidth (7003)\n    Points Possible;;;;10,00\n"
    _, filled = _export(tmp_path, "canvas", (head + '"King, Ada";101;ada;A;\n').encode())
    assert filled.decode() == head + '"King, Ada";101;ada;A;7,5\n'
