"""The lock of what is kept in the cache."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.lock import locked


def test_who_comes_second_says_so_and_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, inside = tmp_path / "cache" / "lock", []

    def second() -> None:
        with locked(path, "waiting for the other"):
            inside.append("second")

    waiting = threading.Thread(target=second)
    with locked(path, "nobody waits here"):
        waiting.start()
        waiting.join(0.2)
        inside.append("first")
    waiting.join()
    assert inside == ["first", "second"]
    assert capsys.readouterr().err == "waiting for the other\n"


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match=r"^cannot write to .*file .*set XDG_CACHE_HOME"), locked(tmp_path / "file/lock"):
        pass
