"""The program to check: read once, copied, never run where it lies."""

from __future__ import annotations

import ast
import base64
import sys
from dataclasses import dataclass
from pathlib import Path

from linklab.errors import LinklabError
from linklab.measure.program_file import packages_folder

_FILE_BYTES = 200_000
_ALL_BYTES = 2_000_000
_FILES = 30


@dataclass(frozen=True)
class Submission:
    """A program, with the small files beside it. ``name`` is that of the program's file."""

    name: str
    files: dict[str, bytes]
    python: str
    packages: str | None

    def encoded(self) -> dict[str, str]:
        """The files in base64."""
        return {name: base64.b64encode(data).decode() for name, data in self.files.items()}


def read(path: Path) -> Submission:
    """Reads a program. Raises LinklabError, in one line, where there is none."""
    if path.is_dir():
        raise LinklabError(f"{path} is a folder: name the Python file in it")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LinklabError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > _FILE_BYTES:
        raise LinklabError(f"{path} has {len(data)} bytes: a program of more than {_FILE_BYTES} is not checked")
    if not data.strip():
        raise LinklabError(f"{path} is empty: write the program first")
    _refuse_broken(path, data)
    files = {path.name: data}
    for other in sorted(path.resolve().parent.glob("*.py")):
        if other.name != path.name and other.is_file() and _fits(other, files):
            files[other.name] = other.read_bytes()
    return Submission(path.name, files, _python(), packages_folder(files))


def _refuse_broken(path: Path, data: bytes) -> None:
    try:
        ast.parse(data, filename=path.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        raise LinklabError(f"{path} is not Python that can run: {where}{what}") from None


def _fits(other: Path, files: dict[str, bytes]) -> bool:
    try:
        size = other.stat().st_size
    except OSError:
        return False
    return size <= _FILE_BYTES and len(files) < _FILES and size + sum(map(len, files.values())) <= _ALL_BYTES


def _python() -> str:
    """The interpreter itself: a virtual environment's would first read all that is installed there."""
    return str(Path(sys.executable).resolve())
