"""The programs that lie beside a student's notebook, for checks that run them: copies, in a folder of the judge's."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from linklab.grading.room import Room

_LARGEST_BYTES: Final = 1_000_000
_MOST: Final = 40


@contextlib.contextmanager
def beside(room: Room) -> Iterator[Path]:
    """A folder with the Python files that lie in the student's home now; it is the present folder meanwhile.

    What is no plain file, or large, is left out: the student's side may have put anything there.
    """
    folder = Path(tempfile.mkdtemp(dir=room.own))
    before = Path.cwd()
    try:
        for name in sorted(os.listdir(room.home))[:1000]:
            if name.endswith(".py") and len(list(folder.iterdir())) < _MOST:
                data = _plain(room.home / name)
                if data is not None:
                    (folder / name).write_bytes(data)
        os.chdir(folder)
        yield folder
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def _plain(path: Path) -> bytes | None:
    """A plain file's content; no link is followed, and nothing is waited for."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST_BYTES:
            return None
        return os.read(number, _LARGEST_BYTES)
    finally:
        os.close(number)
