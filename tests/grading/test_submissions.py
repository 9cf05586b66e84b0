"""Whose is what: exports of learning platforms, by student."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.errors import LinklabError
from linklab.grading.submissions import Collected, collect, opened
from linklab.grading.unpack import Bounds
from tests.grading.made_class import as_zip, data, starter, write

A, B = b'{"a": 1}', b'{"b": 1}'
LAB00, LAB01 = data(starter()), data(starter("01-router-network"))


def _several(tmp_path: Path, downloads: Mapping[str, bytes], students: Sequence[str] | None = None) -> Collected:
    """What is in several archives, each of which is named."""
    (tmp_path / "work").mkdir(parents=True)
    write(tmp_path, downloads)
    return collect([tmp_path / name for name in downloads], tmp_path / "work", students)


def _collected(
    tmp_path: Path, files: Mapping[str, bytes], students: Sequence[str] | None = None, bounds: Bounds | None = None
) -> Collected:
    source, work = tmp_path / "in", tmp_path / "work"
    work.mkdir(parents=True)
    before = _digest(write(source, files))
    collected = collect([source], work, students)
    unpacked = {}
    for number, (student, one) in enumerate(collected.submissions.items()):
        place = work / str(number)
        place.mkdir()
        unpacked[student] = opened(one, place, bounds)
    collected = replace(collected, submissions=unpacked)
    assert _digest(source) == before, "what students handed in is not touched"
    return collected


def _digest(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def _files(collected: Collected) -> dict[str, set[str]]:
    return {student: {file.name for file in one.files} for student, one in collected.submissions.items()}


def _named(collected: Collected) -> list[str]:
    return sorted(line.partition(": ")[0] for line in collected.unmatched)


MOODLE = {
    "Ada King_123_assignsubmission_file_/x.ipynb": A,
    "Ada King_123_assignsubmission_onlinetext_/onlinetext.html": B,
    "Bob_124_assignsubmission_file/work.zip": as_zip({"x.ipynb": A}),
    "Ada King_99_assignsubmission_file_simpleperf.py": B,
}


def test_moodle(tmp_path: Path) -> None:
    assert _files(_collected(tmp_path, MOODLE)) == {
        "Ada King (123)": {"x.ipynb", "onlinetext.html"}, "Ada King (99)": {"simpleperf.py"},
        "Bob": {"work.zip/x.ipynb"},
    }  # fmt: skip


def test_the_platforms_numbers_of_a_student_are_kept(tmp_path: Path) -> None:
    files = {
        "0.zip": as_zip(_class_of(1, 2)), "1.zip": as_zip(_class_of(12)), "2.zip": as_zip(CANVAS),
        "3.zip": as_zip({"dan/x": A}),
    }  # fmt: skip
    found = _several(tmp_path, files, ["Ada King", "bob ray", "kingada", "loebob", "dan"]).submissions
    assert {student: set(one.known_as) for student, one in found.items()} == {
        "Ada King": {("moodle", "1"), ("moodle", "12")}, "bob ray": {("moodle", "2")},
        "kingada": {("canvas", "67")}, "loebob": {("canvas", "68")}, "dan": set(),
    }  # fmt: skip


CANVAS = {"kingada_67_89_03-udp.ipynb": A, "kingada_67_90_simpleperf-1.py": B, "loebob_LATE_68_91_x.ipynb": A}


def test_canvas(tmp_path: Path) -> None:
    assert _files(_collected(tmp_path, CANVAS)) == {
        "kingada": {"03-udp.ipynb", "simpleperf-1.py"}, "loebob": {"x.ipynb"},
    }  # fmt: skip


@pytest.mark.parametrize("export", [MOODLE, CANVAS])
def test_folders_around_all(tmp_path: Path, export: dict[str, bytes]) -> None:
    plain = _collected(tmp_path / "plain", export)
    wrapped = _collected(tmp_path / "wrapped", {f"all/spring/{name}": text for name, text in export.items()})
    assert _files(wrapped) == _files(plain)


def test_a_folder_alone_is_a_students_or_around_all_and_the_list_says_which(tmp_path: Path) -> None:
    files = {"spring/ada/x.ipynb": A, "spring/bob.zip": as_zip({"x.ipynb": A}), "spring/eve/x.ipynb": A}
    with pytest.raises(LinklabError, match="name spring itself, or give a list with --students"):
        _collected(tmp_path / "no list", files)
    assert set(_collected(tmp_path / "list", files, ["ada", "bob"]).submissions) == {"ada", "bob"}
    assert set(_collected(tmp_path / "one", files, ["spring", "ada"]).submissions) == {"spring"}


@pytest.mark.parametrize("students", [None, ["kingada", "loebob", "Ada King", "Bob"]])
@pytest.mark.parametrize("export", [MOODLE, CANVAS])
def test_a_stray_file_in_an_export_is_named(
    tmp_path: Path, export: dict[str, bytes], students: Sequence[str] | None
) -> None:
    plain = _collected(tmp_path / "plain", export, students)
    found = _collected(tmp_path / "stray", {f"spring/{name}": it for name, it in {**export, "x": A}.items()}, students)
    assert _files(found) == _files(plain)
    assert _named(found) == sorted([*_named(plain), "x"])


@pytest.mark.parametrize("students", [None, ["ada", "bob"]])
def test_a_stray_file_beside_folders_is_named(tmp_path: Path, students: Sequence[str] | None) -> None:
    found = _collected(tmp_path, {"ada/x.ipynb": A, "bob.zip": as_zip({"x": A}), "late.txt": A}, students)
    assert set(found.submissions) == {"ada", "bob"}
    assert _named(found) == ["late.txt"]


def _class_of(*numbers: int) -> dict[str, bytes]:
    names = ("Ada King", "Bob Ray")
    return {
        f"{name}_{number}_assignsubmission_file/x.ipynb": LAB00 for name, number in zip(names, numbers, strict=False)
    }


@pytest.mark.parametrize("students", [None, ["Ada King", "Bob Ray"]])
def test_an_export_for_each_assignment(tmp_path: Path, students: Sequence[str] | None) -> None:
    exports = {"NET-Lab 00-11": _class_of(1, 2), "NET-Lab 01-12": _class_of(12, 11), "NET-Lab 02-13": _class_of(21)}
    found = _several(tmp_path, {f"{name}.zip": as_zip(export) for name, export in exports.items()}, students)
    ada, bob = students or ("Ada King", "Bob Ray")
    assert {name: len(one.files) for name, one in found.submissions.items()} == {ada: 3, bob: 2}
    assert len({file.name for file in found.submissions[ada].files}) == 3, "each in a folder of its own"
    assert found.submissions[ada].came_as[0].startswith("NET-Lab 00-11")
    assert set(found.submissions[bob].known_as) == {("moodle", "2"), ("moodle", "11")}


def test_two_of_one_name_in_one_export_are_named_in_all(tmp_path: Path) -> None:
    two = {**_class_of(1), "Ada King_3_assignsubmission_file/x.ipynb": LAB00}
    files = {"0.zip": as_zip(two), "1.zip": as_zip(_class_of(12, 11))}
    found = _several(tmp_path / "list", files, ["Ada King", "Bob Ray"])
    assert set(found.submissions) == {"Bob Ray"}
    moodle = "assignsubmission_file"
    assert _named(found) == [f"0.zip/Ada King_1_{moodle}", f"0.zip/Ada King_3_{moodle}", f"1.zip/Ada King_12_{moodle}"]
    alone = _several(tmp_path / "no list", files)
    assert set(alone.submissions) == {"Ada King (1)", "Ada King (3)", "Ada King (12)", "Bob Ray"}


def test_canvas_numbers_are_the_same_in_all_exports(tmp_path: Path) -> None:
    assert _files(_several(tmp_path, {"a.zip": as_zip(CANVAS), "b.zip": as_zip(CANVAS)})) == {
        "kingada": {f"{name}.zip/{file}" for name in "ab" for file in ("03-udp.ipynb", "simpleperf-1.py")},
        "loebob": {"a.zip/x.ipynb", "b.zip/x.ipynb"},
    }


def test_what_students_packed_is_no_export(tmp_path: Path) -> None:
    """Nobody's archive may hold work under somebody else's name, whatever the list has."""
    files = {
        "bob.zip": as_zip(CANVAS), "kingada/x.ipynb": B,
        "eve/kingada_67_89_x.ipynb": B, "eve/loebob_68_91_x.ipynb": B,
    }  # fmt: skip
    found = _collected(tmp_path, files, ["bob", "kingada", "loebob"])
    assert set(found.submissions) == {"bob", "kingada"}
    assert _files(found)["kingada"] == {"x.ipynb"}
    assert _named(found) == ["eve"]


@pytest.mark.parametrize(
    "form",
    [{f"spring/{each}": it for each, it in CANVAS.items()}, {"kingada/x": A, "loebob.zip": as_zip({"x.ipynb": A})}],
)
def test_the_export_itself_may_be_a_zip_file(tmp_path: Path, form: dict[str, bytes]) -> None:
    assert set(_files(_several(tmp_path, {"export.zip": as_zip(form)}))) == {"kingada", "loebob"}


def test_a_folder_or_a_zip_file_for_each_student(tmp_path: Path) -> None:
    files = {"ada/labs/kingada_67_89_x.ipynb": A, "bob.zip": as_zip({"x.ipynb": A})}
    found = _files(_collected(tmp_path / "two", files))
    assert found == {"ada": {"labs/kingada_67_89_x.ipynb"}, "bob": {"bob.zip/x.ipynb"}}
    assert _files(_collected(tmp_path / "one", {"ada/x.ipynb": A})) == {"ada": {"x.ipynb"}}


def test_the_list_of_students_says_whose_it_is(tmp_path: Path) -> None:
    files = {**MOODLE, "ADA/x.ipynb": A, "cyd.zip": as_zip({"x": A}), "dan.ipynb": B, "eve/x.ipynb": A}
    found = _collected(tmp_path, files, ["ada", "124", "cyd", "dan", "99"])
    assert {student: set(one.came_as) for student, one in found.submissions.items()} == {
        "99": {"Ada King_99_assignsubmission_file_simpleperf.py"},
        "124": {"Bob_124_assignsubmission_file"},
        "ada": {"ADA"},
        "cyd": {"cyd.zip"},
    }  # fmt: skip
    of_ada = ["Ada King_123_assignsubmission_file_", "Ada King_123_assignsubmission_onlinetext_"]
    assert _named(found) == [*of_ada, "dan.ipynb", "eve"]
    assert any(
        line.startswith("Ada King_123_assignsubmission_file_: nobody on the list of students is called Ada King or 123")
        and line.endswith("put it into a folder called like the student")
        for line in found.unmatched
    )


@pytest.mark.parametrize(
    "name",
    ["ada lab01/x.ipynb", "00_ada.zip", "Ada King_1_assignsubmission_file/x.ipynb", "ada king/x.ipynb", "king/x"],
)
def test_a_part_of_a_name_is_not_the_student(tmp_path: Path, name: str) -> None:
    found = _collected(tmp_path, {name: as_zip({"x": A})}, ["ada", "king ada"])
    assert found.submissions == {}
    assert len(found.unmatched) == 1


@pytest.mark.parametrize("written", ["Ame\u0301lie", "AM\u00c9LIE"])
def test_case_and_unicode_forms_of_a_name_do_not_count(tmp_path: Path, written: str) -> None:
    files = {f"{written}/x.ipynb": A, "bob/x.ipynb": A}
    assert set(_collected(tmp_path, files, ["Am\u00e9lie", "bob"]).submissions) == {"Am\u00e9lie", "bob"}


def test_names_of_no_pattern_are_told_once_with_the_patterns(tmp_path: Path) -> None:
    with pytest.raises(LinklabError, match=r"Moodle: .*Canvas: .*Blackboard: .*a folder for each"):
        _collected(tmp_path, {"a.ipynb": A, "b.ipynb": B})


def test_blackboards_names_ask_for_a_list(tmp_path: Path) -> None:
    with pytest.raises(LinklabError, match="--students"):
        _collected(tmp_path, {f"Lab_{name}_attempt_2026-05-03-10-11-12_x.ipynb": A for name in ("ada", "bob")})


def test_another_platforms_file_in_a_download_is_named_with_the_platform(tmp_path: Path) -> None:
    found = _collected(tmp_path, {**_class_of(1, 2), "kingada_67_89_x.ipynb": A})
    assert set(found.submissions) == {"Ada King", "Bob Ray"}
    (line,) = found.unmatched
    assert line.startswith("kingada_67_89_x.ipynb: is not called as Moodle")


def test_of_blackboards_attempts_the_time_is_the_attempts(tmp_path: Path) -> None:
    files = {f"Lab_ada_attempt_2026-05-0{day}-10-11-12_x.ipynb": A for day in (3, 4, 5)}
    files["Lab_ada_attempt_2026-99-99-10-11-12_x.ipynb"] = A
    ada = _collected(tmp_path, files, ["ada"]).submissions["ada"]
    times = {file.name: file.modified_s for file in ada.files}
    assert times["Lab_ada_attempt_2026-05-04-10-11-12/x.ipynb"] - times[
        "Lab_ada_attempt_2026-05-03-10-11-12/x.ipynb"
    ] == pytest.approx(86400)
    assert len(times) == 4


TWO_OF_ONE_NAME = ("Ada King_1_assignsubmission_file", "Ada King_2_assignsubmission_file")


@pytest.mark.parametrize(
    ("files", "students", "named"),
    [
        pytest.param(
            {f"{name}/x.ipynb": LAB00 for name in TWO_OF_ONE_NAME}, ["Ada King"], list(TWO_OF_ONE_NAME),
            id="two of one name",
        ),
        pytest.param(
            {"kingada_67_89_x.ipynb": LAB00, "kingada_68_90_y.ipynb": LAB01}, ["kingada"],
            ["kingada_67_89_x.ipynb", "kingada_68_90_y.ipynb"], id="two of Canvas' numbers",
        ),
        pytest.param(
            {"Bob_124_assignsubmission_file/x.ipynb": A, "Cyd_124_assignsubmission_file/x.ipynb": B}, ["124", "125"],
            ["Bob_124_assignsubmission_file", "Cyd_124_assignsubmission_file"], id="two of one number",
        ),
        pytest.param(
            {"Bob_124_assignsubmission_file/x.ipynb": A}, ["bob", "124"], ["Bob_124_assignsubmission_file"],
            id="number and name are two students'",
        ),
    ],
)  # fmt: skip
def test_whose_cannot_be_told_is_named_and_nobodys(
    tmp_path: Path, files: Mapping[str, bytes], students: Sequence[str], named: list[str]
) -> None:
    found = _collected(tmp_path, files, students)
    assert found.submissions == {}
    assert _named(found) == named


def test_a_folder_called_like_the_student_says_which_of_two_is_meant(tmp_path: Path) -> None:
    files = {f"{name}/x.ipynb": B for name in TWO_OF_ONE_NAME} | {"Ada King/x.ipynb": A}
    found = _collected(tmp_path, files, ["Ada King"])
    assert found.submissions["Ada King"].came_as == ("Ada King",)
    assert _named(found) == list(TWO_OF_ONE_NAME)
    assert all("put what is Ada King's into a folder called Ada King" in line for line in found.unmatched)


@pytest.mark.parametrize("students", [None, ["ray-1", "ray-2"]])
def test_numbers_of_copies_are_no_ids(tmp_path: Path, students: Sequence[str] | None) -> None:
    files = {"ray-1.zip": as_zip({"x": A}), "ray-2.zip": as_zip({"x": A})}
    assert set(_collected(tmp_path, files, students).submissions) == {"ray-1", "ray-2"}


def test_without_a_list_two_of_one_name_are_two(tmp_path: Path) -> None:
    found = _collected(tmp_path, {f"{name}/x.ipynb": LAB00 for name in TWO_OF_ONE_NAME})
    assert _files(found) == {"Ada King (1)": {"x.ipynb"}, "Ada King (2)": {"x.ipynb"}}


@pytest.mark.parametrize(
    ("name", "students", "whose"),
    [
        ("Lab01_max_m_attempt_2026-05-03-10-11-12_lab.ipynb", ["m", "max", "max_m"], "max_m"),
        ("Lab01_max_m_attempt_2026-05-03-10-11-12.txt", ["max_m"], "max_m"),
        ("Lab01_eve_attempt_2026-05-03-10-11-12_bob.ipynb", ["bob"], None),
        ("Lab01_eve_attempt_2026-05-03-10-11-12_bob_67_assignsubmission_file_x.ipynb", ["bob", "67"], None),
        ("Lab01_eve_attempt_2026-05-03-10-11-12_bob_attempt_2026-05-03-10-11-12_x.ipynb", ["bob"], None),
        ("kingada_67_8910_lab01_bob.ipynb", ["aking1", "bob"], None),
        ("kingada_67_8910_bob_68_assignsubmission_file_x.ipynb", ["bob", "68"], None),
        ("kingada_LATE_67_8910_bob.ipynb", ["67", "bob"], "67"),
        ("kingada_67_text.html", ["kingada", "text"], "kingada"),
        ("Ada King_1_assignsubmission_file_bob.ipynb", ["bob"], None),
        ("Ada King_1_assignsubmission_file_x_bob_attempt_2026-05-03-10-11-12_x.ipynb", ["bob"], None),
        ("Ada King Smith_1_assignsubmission_file/x.ipynb", ["Ada King"], None),
        ("ada.zip", ["ada"], "ada"),
    ],
)
def test_the_id_stands_in_what_the_student_did_not_choose(
    tmp_path: Path, name: str, students: Sequence[str], whose: str | None
) -> None:
    content = as_zip({"x": A}) if name.endswith(".zip") else A
    found = _collected(tmp_path, {name: content}, students)
    assert list(found.submissions) == ([whose] if whose else [])
    assert len(found.unmatched) == (whose is None)


def test_blackboards_files_of_two_assignments_keep_apart(tmp_path: Path) -> None:
    when = "attempt_2026-05-03-10-11-12"
    files = {f"Lab 01_ada_{when}_x.py": A, f"Start here_ada_{when}_x.py": B, f"Start here_ada_{when}.txt": B}
    found = _collected(tmp_path, files, ["ada"])
    assert _files(found) == {
        "ada": {f"Lab 01_ada_{when}/x.py", f"Start here_ada_{when}/x.py", f"Start here_ada_{when}.txt"}
    }


def test_an_archive_in_a_zip_file_is_noted(tmp_path: Path) -> None:
    found = _collected(tmp_path, {"ada/1.zip": as_zip({"2.zip": as_zip({"x.ipynb": A}), "y.ipynb": A})})
    assert _files(found) == {"ada": {"1.zip/y.ipynb"}}
    assert found.submissions["ada"].notes == ("1.zip/2.zip is an archive in a zip file, and was not unpacked",)


def test_many_archives_share_one_allowance(tmp_path: Path) -> None:
    zeros = as_zip({"x.ipynb": bytes(600_000)})
    bounds = Bounds(total_bytes=1_000_000)
    found = _collected(tmp_path, {"ada/1.zip": zeros, "ada/2.zip": zeros, "bob/1.zip": zeros}, bounds=bounds)
    assert _files(found) == {"ada": {"1.zip/x.ipynb"}, "bob": {"1.zip/x.ipynb"}}
    assert "2.zip would fill more than" in found.submissions["ada"].notes[0]


def test_what_cannot_be_unpacked_is_a_note(tmp_path: Path) -> None:
    found = _collected(tmp_path, {"ada.zip": b"broken", "bob/x.tar.gz": b"r", "cyd.7z": b"7", "dan/x.ipynb": A})
    notes = {student: "\n".join(one.notes) for student, one in found.submissions.items()}
    assert notes["ada"].startswith("ada.zip cannot be unpacked")
    assert "hand in a zip file" in notes["bob"]
    assert "hand in a zip file" in notes["cyd"]
    assert notes["dan"] == ""


def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    source = write(tmp_path / "in", {"ada/x.ipynb": A, "bob/x.ipynb": A})
    (source / "ada" / "passwd.ipynb").symlink_to("/etc/passwd")
    (source / "cyd").symlink_to("/etc")
    os.mkfifo(source / "bob" / "pipe.ipynb")
    (tmp_path / "work").mkdir()
    found = collect([source], tmp_path / "work")
    assert _files(found) == {"ada": {"x.ipynb"}, "bob": {"x.ipynb"}}
    assert sorted(line.partition(":")[0] for line in found.unmatched) == ["ada/passwd.ipynb", "bob/pipe.ipynb", "cyd"]


def test_hostile_names_can_be_shown(tmp_path: Path) -> None:
    files = {"\x1b[31mred/x.ipynb": A, "a\nb.zip": as_zip({"x.ipynb": A}), "<script>/x.ipynb": B}
    source = write(tmp_path / "in", files)
    os.makedirs(os.fsencode(source) + b"/\xff\xfe")
    Path(os.fsdecode(os.fsencode(source) + b"/\xff\xfe/x.ipynb")).write_bytes(A)
    (tmp_path / "work").mkdir()
    found = collect([source], tmp_path / "work")
    assert len(found.submissions) == 4
    for student, one in found.submissions.items():
        assert student.isprintable()
        assert [file.path.is_file() for file in one.files] == [True]


def test_nothing_there_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.txt").write_text("x")
    for source, words in (
        ("empty", "holds no submission"),
        ("gone", "there is no"),
        ("x.txt", "neither a folder nor a zip"),
    ):
        with pytest.raises(LinklabError, match=words):
            collect([tmp_path / source], tmp_path)


def test_blackboards_name_ends_with_the_whole_id(tmp_path: Path) -> None:
    names = {
        f"Lab 03_{each}_attempt_2026-05-03-10-11-12_x.ipynb": A for each in ("ada", "bob", "van_ada", "12345", "12346")
    }
    found = _collected(tmp_path, names, ("ada", "bob", "12345", "12346"))
    assert set(found.submissions) == {"ada", "bob", "12345", "12346"}
    assert {file.name for file in found.submissions["ada"].files} == {"Lab 03_ada_attempt_2026-05-03-10-11-12/x.ipynb"}
    assert _named(found) == ["Lab 03_van_ada_attempt_2026-05-03-10-11-12_x.ipynb"]


OWN = r"(?P<student>[^/]+?)-(?P<number>\d+)/(?P<file>[^/]+)"


def test_a_pattern_of_the_instructors_own(tmp_path: Path) -> None:
    write(tmp_path / "in", {"all/ada-17/x.ipynb": A, "all/bob-18/y.ipynb": A, "all/x.txt": A})
    (tmp_path / "work").mkdir()
    found = collect([tmp_path / "in"], tmp_path / "work", ["ada", "18"], OWN)
    assert _files(found) == {"ada": {"x.ipynb"}, "18": {"y.ipynb"}}
    assert _named(found) == ["x.txt"]


@pytest.mark.parametrize(("pattern", "said"), [("(", "is no regular expression"), ("x", "has no group")])
def test_a_pattern_that_says_no_student_is_one_line(tmp_path: Path, pattern: str, said: str) -> None:
    with pytest.raises(LinklabError, match=said):
        collect([tmp_path], tmp_path, None, pattern)
