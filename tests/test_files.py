"""Files are written at one stroke, and the cache has a lock."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.files import draft_folder, locked, need_room, temporary_folder, write_or_keep, write_whole


@pytest.mark.parametrize(("content", "kept"), [("ü\r\n\n", "ü\r\n\n".encode()), (b"\x00\xff", b"\x00\xff"), ("", b"")])
def test_a_file_has_what_was_written(tmp_path: Path, content: str | bytes, kept: bytes) -> None:
    path = tmp_path / "a file"
    path.write_text("older and longer")
    write_whole(path, content)
    assert path.read_bytes() == kept
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("mode", "becomes"), [(None, 0o640), (0o600, 0o600), (0o644, 0o644)])
def test_its_permissions_are_as_asked_or_as_of_any_file(tmp_path: Path, mode: int | None, becomes: int) -> None:
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", "text", mode)
    finally:
        assert os.umask(mask) == 0o027
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == becomes


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_older_file_stays_where_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    def full(_: int) -> None:
        raise fault

    path = tmp_path / "file"
    path.write_text("older")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(type(fault)):
        write_whole(path, "newer")
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_who_comes_second_says_so_and_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, inside = tmp_path / "cache" / "lock", []

    def second() -> None:
        with locked(path, "waiting for the other"):
            inside.append("second")

    waiting = threading.Thread(target=second)
    with locked(path, "nobody waits here"):
        waiting.start()
        said = ""
        while not said:
            said = capsys.readouterr().err
        inside.append("first")
    waiting.join()
    assert inside == ["first", "second"]
    assert said + capsys.readouterr().err == "waiting for the other\n"


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match=r"^cannot write to .*file .*set XDG_CACHE_HOME"), locked(tmp_path / "file/lock"):
        pass


_WRITER = """
import os, signal, sys
from pathlib import Path
from linklab import files

place, what, killed = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "killed"

def end(*_):
    if killed:
        os.kill(os.getpid(), signal.SIGKILL)

if what == "file":
    os.fsync = end
    files.write_whole(place / "file", "text")
else:
    with files.draft_folder(place / "folder") if what == "folder" else files.temporary_folder() as made:
        (made / "inside").write_text("text")
        end()
"""


@pytest.mark.parametrize("what", ["file", "folder", "temporary"])
def test_the_next_process_removes_what_a_killed_one_left_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def write(fate: str) -> None:
        words = [sys.executable, "-c", _WRITER, str(tmp_path), what, fate]
        subprocess.run(words, env=os.environ | {"TMPDIR": str(tmp_path)}, check=False)

    for users_own in ("linklab.toml", ".linklab.unfinished", "linklab-tmp-x.git"):
        (tmp_path / users_own).mkdir()
    os.mkfifo(tmp_path / "linklab-tmp-aaaaaaaa")
    there = set(tmp_path.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_folder() as ours, draft_folder(tmp_path / "other") as ours_too:
        there |= {ours, ours_too}
        write("killed")
        assert len(set(tmp_path.iterdir()) - there) == 1
        write("to its end")
        assert set(tmp_path.iterdir()) == there | ({tmp_path / "file"} if what == "file" else set())
    assert set(tmp_path.iterdir()) <= (there - {ours, ours_too}) | {tmp_path / "file"}


@pytest.mark.parametrize("what", ["folder", "temporary"])
def test_ctrl_c_while_a_folder_is_removed_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    remove = shutil.rmtree

    def pressed(path: Path, ignore_errors: bool) -> None:
        signal.raise_signal(signal.SIGINT)
        remove(path, ignore_errors)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shutil, "rmtree", pressed)
    with pytest.raises(KeyboardInterrupt), draft_folder(tmp_path / "it") if what == "folder" else temporary_folder():
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_kept_elsewhere_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    with pytest.raises(LabError, match=r"gone/book\.ipynb cannot be written \(No such .*: move it") as it:
        write_or_keep(tmp_path / "gone" / "book.ipynb", "computed")
    (kept,) = elsewhere.iterdir()
    assert kept.read_text() == "computed"
    assert str(kept) in str(it.value)
    write_or_keep(tmp_path / "book.ipynb", "computed")
    assert (tmp_path / "book.ipynb").read_text() == "computed"


def test_the_error_of_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device.*/file") as it:
        write_whole(tmp_path / "file", "text")
    assert it.value.filename == str(tmp_path / "file")
    with pytest.raises(OSError, match=r"No space left on device.*/folder"), draft_folder(tmp_path / "folder"):
        full(0)


def test_room_is_tried_before_work_begins(tmp_path: Path) -> None:
    need_room(tmp_path)
    assert list(tmp_path.iterdir()) == []
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(LabError, match=f"{tmp_path} cannot be written to .*, or choose another folder"):
            need_room(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
