"""The lock of what is kept in the cache."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.lock import locked


def test_who_comes_second_waits_or_is_told(tmp_path: Path) -> None:
    path, inside = tmp_path / "cache" / "lock", []

    def second() -> None:
        with locked(path):
            inside.append("second")

    waiting = threading.Thread(target=second)
    with locked(path) as first:
        assert first is not None
        with locked(path, wait=False) as nothing:
            assert nothing is None
        waiting.start()
        waiting.join(0.2)
        inside.append("first")
    waiting.join()
    assert inside == ["first", "second"]
    with locked(path, wait=False) as free:
        assert free is not None


def test_a_program_that_has_the_descriptor_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path) as lock:
        assert lock is not None
        program = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lock])
    with locked(path, wait=False) as held:
        assert held is None
    program.communicate()
    with locked(path, wait=False) as free:
        assert free is not None


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match=r"^cannot write to .*file .*set XDG_CACHE_HOME"), locked(tmp_path / "file/lock"):
        pass
