"""The programs that lie beside a student's notebook, for checks that run them: copies, in a folder of the judge's."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from linklab.grading.room import Room
from linklab.programs.engine.program import plain_file

_LARGEST_BYTES: Final = 1_000_000
_MOST: Final = 40


@contextlib.contextmanager
def student_files(room: Room) -> Iterator[Path]:
    """A folder with the Python files that lie in the student's home now; it is the present folder meanwhile.

    What is no plain file, or large, is left out: the student's side may have put anything there.
    """
    folder = Path(tempfile.mkdtemp(dir=room.own))
    before = Path.cwd()
    try:
        for name in sorted(os.listdir(room.home))[:1000]:
            if name.endswith(".py") and len(list(folder.iterdir())) < _MOST:
                data = plain_file(room.home / name, _LARGEST_BYTES)
                if data is not None and len(data) <= _LARGEST_BYTES:
                    (folder / name).write_bytes(data)
        os.chdir(folder)
        yield folder
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)
