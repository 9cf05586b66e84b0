"""Rooms for submissions: bounded, gone with the process that made them, and nothing but what is meant to be in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.grading.room import Room, lay_files, student_files
from tests.grading.sandbox import ROOM, confined, in_a_room


def test_a_full_home_is_full_and_leaves_the_judge_room() -> None:
    said, _ = in_a_room("""
try:
    (room.home / "much").write_bytes(bytes(8_000_000))
except OSError as error:
    print(error.strerror)
(room.own / "notes").write_bytes(bytes(8_000_000))
print((room.own / "notes").stat().st_size)
""")
    assert said.splitlines() == ["No space left on device", "8000000"]


def test_a_warning_of_the_dynamic_linker_is_not_bubblewrap_s_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_room("")  # skipped where there are no rooms at all
    monkeypatch.setenv("LD_PRELOAD", "/none/libnone.so")
    try:
        assert in_a_room("print('made')")[0] == "made"
    except pytest.skip.Exception as refused:
        pytest.fail(str(refused))


def test_many_small_files_end_somewhere() -> None:
    made = confined("""
import json, os
made = {}
for folder in (".", "/tmp", "/dev/shm"):
    try:
        for made[folder] in range(50_000):
            os.close(os.open(f"{folder}/{made[folder]}", os.O_CREAT))
    except OSError:
        pass
print(json.dumps(list(made.values())))
""")
    assert max(made) < 20_000


def test_a_temporary_folder_of_the_student_s_side_leaves_the_student_s_files() -> None:
    """What looks like a folder that a killed process left is the judge's room."""
    assert "controller.py" in confined("""
import json, os
from linklab.files import temporary_folder
open("controller.py", "w").close()
with temporary_folder():
    pass
print(json.dumps(os.listdir()))
""")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's submissions run as users of their own")
def test_no_two_judges_run_submissions_as_the_same_user() -> None:
    alike = "import os; os.getpid = lambda: 4321\n" + ROOM + "print(room.user, flush=True); sys.stdin.read()"
    words = [sys.executable, "-P", "-c", alike]
    with (
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as two,
    ):
        users = [judge.stdout and judge.stdout.readline() and judge.stdout.readline() for judge in (one, two)]
    assert all(users)
    assert users[0] != users[1]


def test_nobody_else_sees_the_room() -> None:
    said, base = in_a_room("""
(room.home / "answer").write_text("mine")
outside = ["nsenter", "--mount=/proc/1/ns/mnt", "ls", str(room.base)] if os.geteuid() == 0 else ["true"]
print(subprocess.run(outside, capture_output=True, text=True).stdout)
room.remove()
""")
    assert said == ""
    assert not base.exists()


def test_a_room_of_a_process_that_was_killed_holds_nothing() -> None:
    _, base = in_a_room("(room.home / 'x').write_bytes(b'x')\nos.kill(os.getpid(), 9)", status=-9)
    assert list(base.iterdir()) == []
    base.rmdir()


def made(base: Path) -> Room:
    """A room of plain folders, for what needs no more."""
    for name in ("home", "given", "own"):
        (base / name).mkdir()
    return Room(base, base / "home", base / "given", base / "own", os.geteuid())


def test_the_home_holds_the_submissions_files_and_no_solution(tmp_path: Path) -> None:
    program = tmp_path / "x.py"
    program.write_text("print(1)\n")
    room = made(tmp_path)
    lay_files(room, {"simpleperf.py": program}, "")
    assert [path.name for path in room.home.iterdir()] == ["simpleperf.py"]
    given = [path for path in room.given.rglob("*") if path.is_file()]
    assert all(b"### BEGIN SOLUTION" not in path.read_bytes() for path in given)
    assert b"import argparse" not in (room.given / "simpleperf.py").read_bytes()


def test_only_plain_small_programs_come_beside_the_judge(tmp_path: Path) -> None:
    room = made(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("not yours")
    (room.home / "simpleperf.py").write_text("print(1)\n")
    (room.home / "link.py").symlink_to(secret)
    (room.home / "large.py").write_bytes(bytes(2_000_000))
    (room.home / "folder.py").mkdir()
    (room.home / "notes.txt").write_text("no program")
    os.mkfifo(room.home / "pipe.py")
    before = Path.cwd()
    with student_files(room) as folder:
        assert Path.cwd() == folder
        assert [path.name for path in folder.iterdir()] == ["simpleperf.py"]
    assert Path.cwd() == before
    assert list(room.own.iterdir()) == []
