"""The program to check: read once, copied, never run where it lies."""

from __future__ import annotations

import ast
import base64
import sys
from dataclasses import dataclass
from pathlib import Path

from linklab.errors import LinklabError
from linklab.measure.program_file import LARGEST_FILE_BYTES, packages_folder, with_modules


class ProgramError(LinklabError):
    """A student's program cannot be tried: it is missing, empty, too large, or not Python."""


@dataclass(frozen=True)
class SubmittedProgram:
    """A program, with the modules that it may import. ``name`` is its file's; ``files`` go by their paths."""

    name: str
    files: dict[str, bytes]
    python: str
    packages: str | None

    def encoded(self) -> dict[str, str]:
        """The files in base64."""
        return {name: base64.b64encode(data).decode() for name, data in self.files.items()}


def read(path: Path) -> SubmittedProgram:
    """Reads a program. Raises ProgramError, in one line, where there is none."""
    if path.is_dir():
        raise ProgramError(f"{path} is a folder: name the Python file in it")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ProgramError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > LARGEST_FILE_BYTES:
        raise ProgramError(f"{path} has {len(data)} bytes: a program of more than {LARGEST_FILE_BYTES} is not checked")
    if not data.strip():
        raise ProgramError(f"{path} is empty: write the program first")
    _refuse_broken(path, data)
    files = with_modules(path, data)
    return SubmittedProgram(path.name, files, interpreter(), packages_folder(files))


def _refuse_broken(path: Path, data: bytes) -> None:
    try:
        ast.parse(data, filename=path.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        raise ProgramError(f"{path} is not Python that can run: {where}{what}") from None


def interpreter() -> str:
    """The interpreter itself: a virtual environment's would first read all that is installed there."""
    return str(Path(sys.executable).resolve())
