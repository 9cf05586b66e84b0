"""Students' pages go back: in Moodle's zip file, and in a folder for each student."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from linklab.cli import main
from tests.lms.a_class import EXPORTS, NUMBERS, POINTS, TCP, UDP, a_class, a_student, write

WORKSHEET = str(EXPORTS / "moodle-worksheet.csv")


def files_moodle_takes(path: Path) -> dict[str, tuple[str, str]]:
    """What Moodle makes of a zip file of feedback: file names and contents, by participant's number.

    As ``is_valid_filename_for_import`` and ``import_zip_files`` of ``mod/assign/feedback/file/importziplib.php`` do.
    """
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            person, number, kind, plugin, file = name.split("_", 4)
            assert (kind, plugin) == ("assignsubmission", "file")
            assert person
            assert number.isdigit()
            assert not file.startswith((".", "~"))
            assert "/" not in name
            found[number] = (file, archive.read(name).decode())
    return found


@pytest.mark.parametrize("numbers", [True, False])
def test_moodle_gets_pages_by_the_numbers_in_its_worksheet(numbers: bool, tmp_path: Path) -> None:
    pages, words = tmp_path / "pages.zip", ["--into", WORKSHEET, "--output", str(tmp_path / "filled.csv")]
    by = [] if numbers else ["--id", "Email address"]
    graded = write(tmp_path / "graded", *a_class("" if numbers else "@uni.example", numbers=numbers))
    main(["export", str(graded), "--labs", "03", *words, *by, "--feedback", str(pages)])
    ending = "" if numbers else "@uni.example"
    assert files_moodle_takes(pages) == {
        dict(NUMBERS[name])["moodle"]: ("03-udp-bandwidth.html", f"for {name}{ending} alone")
        for name, (points, _) in POINTS.items()
        if name in NUMBERS and points is not None
    }


def test_a_name_with_what_parts_moodles_names_keeps_its_number(tmp_path: Path) -> None:
    graded = write(tmp_path / "graded", a_student("a_b c", 1.0, known_as=NUMBERS["ada"]))
    words = ["--into", WORKSHEET, "--output", str(tmp_path / "filled.csv"), "--feedback", str(tmp_path / "pages.zip")]
    assert main(["export", str(graded), "--labs", "03", *words]) == 0
    assert [*files_moodle_takes(tmp_path / "pages.zip")] == ["9001"]


def test_a_folder_for_each_student_needs_no_gradebook(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    assert main(["export", str(write(tmp_path / "graded")), "--feedback", str(folder)]) == 1, "bob's wait"
    assert (folder / "ada" / UDP.name / f"{UDP.name}.html").read_text() == "for ada alone"
    assert not (folder / "cyd").exists(), "nothing was handed in"
    assert [path.name for path in (folder / "bob").iterdir()] == [UDP.name], "points of the other lab are open"
    assert main(["export", str(tmp_path / "graded"), "--provisional", "--feedback", str(folder)]) == 0
    assert (folder / "bob" / TCP.name).is_dir()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "needs, with --into, Moodle's grading worksheet"),
        (["--into", str(EXPORTS / "canvas.csv"), "--output", "x"], "needs, with --into, Moodle's grading worksheet"),
    ],
)
def test_where_pages_have_no_way_back(
    words: Sequence[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "graded")
    assert main(["export", "graded", *words, "--feedback", "pages.zip"]) == 1
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["graded"]
