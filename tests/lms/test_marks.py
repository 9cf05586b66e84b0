"""nbgrader's export, made by nbgrader itself, and its table."""

from __future__ import annotations

import csv
import datetime
import io
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin

from linklab.cli import main
from linklab.grading.grades import LabGrade
from linklab.lms.marks import NBGRADER_COLUMNS, read_marks
from tests.lms.a_class import EXPORTS, UDP_POINTS, a_class, a_student, write
from tests.lms.a_class import UDP as UDP_LAB


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class in nbgrader's own database, exported by its own plugin. It looks for alembic on PATH."""
    folder = tmp_path_factory.mktemp("nbgrader")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        return _export(folder)


def _export(folder: Path) -> Path:
    file = folder / "grades.csv"
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        for lab, most in (("03-udp-bandwidth", 10.0), ("04-tcp", 20.0)):
            gradebook.add_assignment(lab, duedate="2026-11-02 12:00")
            gradebook.add_notebook("nb", lab)
            gradebook.add_grade_cell("check", "nb", lab, max_score=most, cell_type="code")
        names = {"ada": ("Ada", "King"), "bob": ('Bob "Bobby"', "O'Neil, Jr."), "juergen": ("Jürgen", "Müller")}
        for login, (first, last) in {**names, "cyd": ("Cyd", "Smith"), "eve": ("", "")}.items():
            gradebook.add_student(login, first_name=first, last_name=last, email=f"{login}@uni.example")
        for login, points in {"ada": 10.0, "bob": 6.5, "juergen": 0.0, "eve": 0.0}.items():
            time = None if login == "eve" else datetime.datetime(2026, 11, 1, 10, 37)
            gradebook.add_submission("03-udp-bandwidth", login, timestamp=time)
            gradebook.find_grade("check", "nb", "03-udp-bandwidth", login).manual_score = points
        gradebook.db.commit()
        plugin = CsvExportPlugin()
        plugin.to = str(file)
        plugin.export(gradebook)
    return file


def test_what_nbgrader_exported_goes_into_a_gradebook(
    exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, output = exported, tmp_path / "filled.csv"
    assert tuple(file.read_text("utf-8").splitlines()[0].split(",")) == NBGRADER_COLUMNS
    words = ["--into", str(EXPORTS / "blackboard.csv"), "--output", str(output)]
    names = ["--labs", "03=Lab 03: UDP bandwidth", "04=Lab 04: TCP, shared"]
    assert main(["export", str(file), "--for", "blackboard", *words, *names]) == 1
    told = capsys.readouterr()
    assert "bob, 03-udp-bandwidth: 8.00 stands there, and 6.5 were graded" in told.err
    assert (
        "into 'Lab 03: UDP bandwidth [Total Pts: 10 Score] |6003': 2 written, 0 as they were, 2 not handed in"
        in told.out
    )
    rows = list(csv.reader(io.StringIO(output.read_text("utf-8-sig"))))
    points = {row[2]: row[9] for row in rows[1:]}
    assert (points["ada"], points["juergen"], points["eve"], points["bob"]) == ("10", "0", "", "8.00")
    moodle = ["--for", "moodle", "--into", str(EXPORTS / "moodle-gradebook.csv"), "--output", str(output)]
    main(["export", str(file), *moodle, "--labs", "03=Assignment: Lab 03: UDP bandwidth (Real)"])
    assert "found by Email address: 5" in capsys.readouterr().out


def test_a_damaged_export_of_nbgrader_is_one_line(
    exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = exported.read_text("utf-8")
    words = ["--for", "canvas", "--into", str(EXPORTS / "canvas.csv"), "--output", str(tmp_path / "filled")]
    for broken, said in (
        (text.replace(",10.0\n", ",\n", 1), "are no points"),
        (text.rstrip("\n").rpartition(",")[0].rpartition(",")[0], "9 fields instead of 11"),
        (text.replace("max_score", "maximum"), "nor what nbgrader export writes"),
    ):
        (tmp_path / "broken.csv").write_text(broken, "utf-8")
        assert main(["export", str(tmp_path / "broken.csv"), *words]) == 1
        told = capsys.readouterr().err
        assert said in told
        assert len(told.splitlines()) == 1
    assert not (tmp_path / "filled").exists()


def test_nbgrader_s_table_has_its_own_columns_and_reads_back(tmp_path: Path) -> None:
    graded, output = write(tmp_path / "graded", *a_class("@uni.example")), tmp_path / "grades.csv"
    assert main(["export", str(graded), "--for", "nbgrader", "--output", str(output)]) == 0
    rows = list(csv.DictReader(io.StringIO(output.read_text("utf-8"))))
    assert tuple(rows[0]) == NBGRADER_COLUMNS
    assert len(rows) == 2 * 10
    udp = {row["student_id"]: row for row in rows if row["assignment"] == "03-udp-bandwidth"}
    assert float(udp["ada@uni.example"]["score"]) == float(udp["ada@uni.example"]["raw_score"]) == 10
    assert udp["ada@uni.example"]["email"] == "ada@uni.example"
    assert float(udp["cyd@uni.example"]["score"]) == 0
    assert udp["cyd@uni.example"]["max_score"] == "10.0"
    back = read_marks(output)
    assert back.max_points == {"03-udp-bandwidth": 10, "04-tcp": 20}
    points = {one.student: one.marks["03-udp-bandwidth"].points for one in back.students}
    assert points == {f"{name}@uni.example": UDP_POINTS.get(name, 0.0) for name in (*UDP_POINTS, "cyd")}


def test_what_was_not_judged_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waits = replace(a_student("ada", 3.0), labs={UDP_LAB.name: LabGrade("not judged")})
    words = ["export", str(write(tmp_path / "graded", waits)), "--for", "nbgrader"]
    assert main([*words, "--output", str(tmp_path / "x.csv")]) == 1
    said = "written with 0 points, ada, 03-udp-bandwidth: it was not judged: run linklab grade again\n"
    assert capsys.readouterr().err == said
