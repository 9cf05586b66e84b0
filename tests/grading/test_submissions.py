"""Whose is what: exports of learning platforms, by student."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.classroom.roster import read_students
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
    return collect([tmp_path / name for name in downloads], tmp_path / "work", _list(students))


def _list(students: Sequence[str] | None) -> dict[str, tuple[str, ...]] | None:
    """A list of students who have no other names."""
    return None if students is None else dict.fromkeys(students, ())


def _collected(
    tmp_path: Path, files: Mapping[str, bytes], students: Sequence[str] | None = None, bounds: Bounds | None = None
) -> Collected:
    source, work = tmp_path / "in", tmp_path / "work"
    work.mkdir(parents=True)
    before = _digest(write(source, files))
    collected = collect([source], work, _list(students))
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
CANVAS = {"kingada_67_89_03-udp.ipynb": A, "kingada_67_90_simpleperf-1.py": B, "loebob_LATE_68_91_x.ipynb": A}
TWO_OF_ONE_NAME = ("Ada King_1_assignsubmission_file", "Ada King_2_assignsubmission_file")
WHEN = "attempt_2026-05-03-10-11-12"
CASES = [
    pytest.param(
        MOODLE, None,
        {"Ada King (123)": {"x.ipynb", "onlinetext.html"}, "Ada King (99)": {"simpleperf.py"},
         "Bob": {"work.zip/x.ipynb"}}, [],
        id="Moodle's",
    ),
    pytest.param(
        CANVAS, None, {"kingada": {"03-udp.ipynb", "simpleperf-1.py"}, "loebob": {"x.ipynb"}}, [], id="Canvas'"
    ),
    pytest.param(
        {f"Lab 03_{each}_{WHEN}_x.ipynb": A for each in ("ada", "bob", "van_ada", "12345", "12346")},
        ["ada", "bob", "12345", "12346"],
        {each: {f"Lab 03_{each}_{WHEN}/x.ipynb"} for each in ("ada", "bob", "12345", "12346")},
        [f"Lab 03_van_ada_{WHEN}_x.ipynb"],
        id="Blackboard's, the whole id",
    ),
    pytest.param(
        {f"Lab 01_ada_{WHEN}_x.py": A, f"Start here_ada_{WHEN}_x.py": B, f"Start here_ada_{WHEN}.txt": B}, ["ada"],
        {"ada": {f"Lab 01_ada_{WHEN}/x.py", f"Start here_ada_{WHEN}/x.py", f"Start here_ada_{WHEN}.txt"}}, [],
        id="two of Blackboard's assignments",
    ),
    pytest.param(
        {"ada/labs/kingada_67_89_x.ipynb": A, "bob.zip": as_zip({"x.ipynb": A})}, None,
        {"ada": {"labs/kingada_67_89_x.ipynb"}, "bob": {"bob.zip/x.ipynb"}}, [],
        id="a folder or a zip file for each student",
    ),
    pytest.param({"ada/x.ipynb": A}, None, {"ada": {"x.ipynb"}}, [], id="one student's folder"),
    pytest.param(
        {"spring/ada/x.ipynb": A, "spring/bob.zip": as_zip({"x.ipynb": A}), "spring/eve/x.ipynb": A}, ["ada", "bob"],
        {"ada": {"x.ipynb"}, "bob": {"bob.zip/x.ipynb"}}, ["eve"],
        id="a folder around those of the list",
    ),
    pytest.param(
        {"spring/ada/x.ipynb": A, "spring/eve/x.ipynb": A}, ["spring", "ada"],
        {"spring": {"ada/x.ipynb", "eve/x.ipynb"}}, [],
        id="a folder that is on the list",
    ),
    *(
        pytest.param(
            {"ada/x.ipynb": A, "bob.zip": as_zip({"x": A}), "late.txt": A}, students,
            {"ada": {"x.ipynb"}, "bob": {"bob.zip/x"}}, ["late.txt"],
            id=f"a stray file beside folders, {students}",
        )
        for students in (None, ["ada", "bob"])
    ),
    *(
        pytest.param(
            {"ray-1.zip": as_zip({"x": A}), "ray-2.zip": as_zip({"x": A})}, students,
            {"ray-1": {"ray-1.zip/x"}, "ray-2": {"ray-2.zip/x"}}, [],
            id=f"numbers of copies are no ids, {students}",
        )
        for students in (None, ["ray-1", "ray-2"])
    ),
    pytest.param(
        {**MOODLE, "ADA/x.ipynb": A, "cyd.zip": as_zip({"x": A}), "dan.ipynb": B, "eve/x.ipynb": A},
        ["ada", "124", "cyd", "dan", "99"],
        {"ada": {"x.ipynb"}, "124": {"work.zip/x.ipynb"}, "cyd": {"cyd.zip/x"}, "99": {"simpleperf.py"}},
        ["Ada King_123_assignsubmission_file_", "Ada King_123_assignsubmission_onlinetext_", "dan.ipynb", "eve"],
        id="names and numbers of the list",
    ),
    pytest.param(  # nobody's archive may hold work under somebody else's name, whatever the list has
        {"bob.zip": as_zip(CANVAS), "kingada/x.ipynb": B, "eve/kingada_67_89_x.ipynb": B,
         "eve/loebob_68_91_x.ipynb": B}, ["bob", "kingada", "loebob"],
        {"bob": {f"bob.zip/{name}" for name in CANVAS}, "kingada": {"x.ipynb"}}, ["eve"],
        id="what students packed is no export",
    ),
    pytest.param(
        {f"{name}/x.ipynb": LAB00 for name in TWO_OF_ONE_NAME}, ["Ada King"], {}, list(TWO_OF_ONE_NAME),
        id="two of one name are nobody's",
    ),
    pytest.param(
        {**{f"{name}/x.ipynb": B for name in TWO_OF_ONE_NAME}, "Ada King/x.ipynb": A}, ["Ada King"],
        {"Ada King": {"x.ipynb"}}, list(TWO_OF_ONE_NAME),
        id="a folder says which of two is meant",
    ),
    pytest.param(
        {"kingada_67_89_x.ipynb": LAB00, "kingada_68_90_y.ipynb": LAB01}, ["kingada"], {},
        ["kingada_67_89_x.ipynb", "kingada_68_90_y.ipynb"], id="two of Canvas' numbers are nobody's",
    ),
    pytest.param(
        {"Bob_124_assignsubmission_file/x.ipynb": A, "Cyd_124_assignsubmission_file/x.ipynb": B}, ["124", "125"], {},
        ["Bob_124_assignsubmission_file", "Cyd_124_assignsubmission_file"], id="two of one number are nobody's",
    ),
    pytest.param(
        {"Bob_124_assignsubmission_file/x.ipynb": A}, ["bob", "124"], {}, ["Bob_124_assignsubmission_file"],
        id="number and name of two students are nobody's",
    ),
    pytest.param(
        {"Ada King_1_assignsubmission_file/x.ipynb": A, "Bob Ray_2_assignsubmission_file/x.ipynb": A,
         "kingada_67_89_x.ipynb": A}, None,
        {"Ada King": {"x.ipynb"}, "Bob Ray": {"x.ipynb"}}, ["kingada_67_89_x.ipynb"],
        id="another platform's file",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("files", "students", "whose", "nobodys"), CASES)
def test_each_file_is_its_students_or_named_as_nobodys(
    tmp_path: Path,
    files: Mapping[str, bytes],
    students: Sequence[str] | None,
    whose: dict[str, set[str]],
    nobodys: list[str],
) -> None:
    found = _collected(tmp_path, files, students)
    assert _files(found) == whose
    assert _named(found) == nobodys


@pytest.mark.parametrize("students", [None, ["kingada", "loebob", "Ada King", "Bob"]])
@pytest.mark.parametrize("export", [MOODLE, CANVAS])
def test_folders_around_an_export_change_nothing_and_a_stray_file_is_named(
    tmp_path: Path, export: dict[str, bytes], students: Sequence[str] | None
) -> None:
    plain = _collected(tmp_path / "plain", export, students)
    inside = {f"all/spring/{name}": content for name, content in {**export, "x": A}.items()}
    found = _collected(tmp_path / "inside", inside, students)
    assert _files(found) == _files(plain)
    assert _named(found) == sorted([*_named(plain), "x"])


@pytest.mark.parametrize(
    ("name", "students", "whose"),
    [
        (f"Lab01_max_m_{WHEN}_lab.ipynb", ["m", "max", "max_m"], "max_m"),
        (f"Lab01_max_m_{WHEN}.txt", ["max_m"], "max_m"), (f"Lab01_eve_{WHEN}_bob.ipynb", ["bob"], None),
        (f"Lab01_eve_{WHEN}_bob_67_assignsubmission_file_x.ipynb", ["bob", "67"], None),
        (f"Lab01_eve_{WHEN}_bob_{WHEN}_x.ipynb", ["bob"], None),
        ("kingada_67_8910_lab01_bob.ipynb", ["aking1", "bob"], None),
        ("kingada_67_8910_bob_68_assignsubmission_file_x.ipynb", ["bob", "68"], None),
        ("kingada_LATE_67_8910_bob.ipynb", ["67", "bob"], "67"),
        ("kingada_67_text.html", ["kingada", "text"], "kingada"),
        ("Ada King_1_assignsubmission_file_bob.ipynb", ["bob"], None),
        (f"Ada King_1_assignsubmission_file_x_bob_{WHEN}_x.ipynb", ["bob"], None),
        ("Ada King Smith_1_assignsubmission_file/x.ipynb", ["Ada King"], None), ("ada.zip", ["ada"], "ada"),
        ("ada lab01/x.ipynb", ["ada"], None), ("00_ada.zip", ["ada"], None),
        ("ada king/x.ipynb", ["ada", "king ada"], None), ("king/x", ["king ada"], None),
        ("Ame\u0301lie/x.ipynb", ["Am\u00e9lie"], "Am\u00e9lie"),
        ("AM\u00c9LIE/x.ipynb", ["Am\u00e9lie"], "Am\u00e9lie"),
    ],
)  # fmt: skip
def test_the_id_stands_whole_in_what_the_student_did_not_choose(
    tmp_path: Path, name: str, students: Sequence[str], whose: str | None
) -> None:
    content = as_zip({"x": A}) if name.endswith(".zip") else A
    found = _collected(tmp_path, {name: content}, students)
    assert list(found.submissions) == ([whose] if whose else [])
    assert len(found.unmatched) == (whose is None)


@pytest.mark.parametrize(
    ("files", "pattern", "said"),
    [
        ({"a.ipynb": A, "b.ipynb": B}, "", r"Moodle: .*Canvas: .*Blackboard: .*a folder for each"),
        ({f"Lab_{name}_{WHEN}_x.ipynb": A for name in ("ada", "bob")}, "", "--students"),
        ({"spring/ada/x": A, "spring/eve/x": A}, "", "name spring itself, or give a list with --students"),
        ({}, "", "holds no submission"), ({}, "(", "is no regular expression"), ({}, "x", "has no group"),
    ],
)  # fmt: skip
def test_a_download_that_cannot_be_sorted_is_one_line(
    tmp_path: Path, files: Mapping[str, bytes], pattern: str, said: str
) -> None:
    for folder in ("in", "work"):
        (tmp_path / folder).mkdir()
    with pytest.raises(LinklabError, match=said):
        collect([write(tmp_path / "in", files)], tmp_path / "work", None, pattern)


def test_what_is_no_download_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("x")
    for source, said in (("gone", "there is no"), ("x.txt", "neither a folder nor a zip")):
        with pytest.raises(LinklabError, match=said):
            collect([tmp_path / source], tmp_path)


def test_the_platforms_numbers_of_a_student_are_kept(tmp_path: Path) -> None:
    files = {
        "0.zip": as_zip(_class_of(1, 2)), "1.zip": as_zip(_class_of(12)), "2.zip": as_zip(CANVAS),
        "3.zip": as_zip({"dan/x": A, "eve.zip": as_zip({"x": A})}),
    }  # fmt: skip
    found = _several(tmp_path, files, ["Ada King", "bob ray", "kingada", "loebob", "dan", "eve"]).submissions
    assert {student: set(one.known_as) for student, one in found.items()} == {
        "Ada King": {("moodle", "1"), ("moodle", "12")}, "bob ray": {("moodle", "2")},
        "kingada": {("canvas", "67")}, "loebob": {("canvas", "68")}, "dan": set(), "eve": set(),
    }  # fmt: skip


def _class_of(*numbers: int) -> dict[str, bytes]:
    names = ("Ada King", "Bob Ray")
    return {
        f"{name}_{number}_assignsubmission_file/x.ipynb": LAB00 for name, number in zip(names, numbers, strict=False)
    }


def test_two_of_one_name_are_told_apart_by_the_numbers_on_the_list(tmp_path: Path) -> None:
    (tmp_path / "students").write_text("bob\nkim.1 = 12, 31\nkim.2 = 13, 32\n")
    (tmp_path / "work").mkdir()
    names = {"00": ("12", "13"), "01": ("31", "32", "40")}
    for lab, numbers in names.items():
        files = {f"Kim Lee_{number}_assignsubmission_file_/{number}.py": A for number in numbers}
        write(tmp_path, {f"{lab}.zip": as_zip(files)})
    downloads = [tmp_path / f"{lab}.zip" for lab in names]
    found = collect(downloads, tmp_path / "work", read_students(tmp_path / "students"))
    whose = {one: [member.parts[-1] for member in each.files] for one, each in found.submissions.items()}
    assert whose == {"kim.1": ["12.py", "31.py"], "kim.2": ["13.py", "32.py"]}
    assert _named(found) == ["01.zip/Kim Lee_40_assignsubmission_file_"]


@pytest.mark.parametrize("students", [None, ["Ada King", "Bob Ray"]])
def test_an_export_for_each_assignment(tmp_path: Path, students: Sequence[str] | None) -> None:
    exports = {"NET-Lab 00-11": _class_of(1, 2), "NET-Lab 01-12": _class_of(12, 11), "NET-Lab 02-13": _class_of(21)}
    found = _several(tmp_path, {f"{name}.zip": as_zip(export) for name, export in exports.items()}, students)
    ada, bob = students or ("Ada King", "Bob Ray")
    assert {name: len(one.files) for name, one in found.submissions.items()} == {ada: 3, bob: 2}
    assert len({file.name for file in found.submissions[ada].files}) == 3, "each in a folder of its own"
    assert found.submissions[ada].came_as[0].startswith("NET-Lab 00-11")


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


def test_of_blackboards_attempts_the_time_is_the_attempts(tmp_path: Path) -> None:
    files = {f"Lab_ada_attempt_2026-05-0{day}-10-11-12_x.ipynb": A for day in (3, 4, 5)}
    files["Lab_ada_attempt_2026-99-99-10-11-12_x.ipynb"] = A
    ada = _collected(tmp_path, files, ["ada"]).submissions["ada"]
    times = {file.name: file.modified_s for file in ada.files}
    assert times["Lab_ada_attempt_2026-05-04-10-11-12/x.ipynb"] - times[
        "Lab_ada_attempt_2026-05-03-10-11-12/x.ipynb"
    ] == pytest.approx(86400)
    assert len(times) == 4


def test_many_archives_share_one_allowance(tmp_path: Path) -> None:
    zeros = as_zip({"x.ipynb": bytes(600_000)})
    bounds = Bounds(total_bytes=1_000_000)
    found = _collected(tmp_path, {"ada/1.zip": zeros, "ada/2.zip": zeros, "bob/1.zip": zeros}, bounds=bounds)
    assert _files(found) == {"ada": {"1.zip/x.ipynb"}, "bob": {"1.zip/x.ipynb"}}
    assert "2.zip would fill more than" in found.submissions["ada"].notes[0]


def test_what_cannot_be_unpacked_is_a_note(tmp_path: Path) -> None:
    nested = as_zip({"2.zip": as_zip({"x.ipynb": A}), "y.ipynb": A})
    files = {"ada.zip": b"broken", "bob/x.tar.gz": b"r", "cyd.7z": b"7", "dan/x.ipynb": A, "eve/1.zip": nested}
    found = _collected(tmp_path, files)
    notes = {student: "\n".join(one.notes) for student, one in found.submissions.items()}
    assert notes["ada"].startswith("ada.zip cannot be unpacked")
    assert "hand in a zip file" in notes["bob"]
    assert "hand in a zip file" in notes["cyd"]
    assert notes["dan"] == ""
    assert notes["eve"] == "1.zip/2.zip is an archive in a zip file, and was not unpacked"
    assert _files(found)["eve"] == {"1.zip/y.ipynb"}


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


OWN = r"(?P<student>[^/]+?)-(?P<number>\d+)/(?P<file>[^/]+)"


def test_a_pattern_of_the_instructors_own(tmp_path: Path) -> None:
    write(tmp_path / "in", {"all/ada-17/x.ipynb": A, "all/bob-18/y.ipynb": A, "all/x.txt": A})
    (tmp_path / "work").mkdir()
    found = collect([tmp_path / "in"], tmp_path / "work", _list(["ada", "18"]), OWN)
    assert _files(found) == {"ada": {"x.ipynb"}, "18": {"y.ipynb"}}
    assert _named(found) == ["x.txt"]
