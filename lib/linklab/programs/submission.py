"""A program that a student has written: read once, and run as a copy, never where it lies."""

from __future__ import annotations

import ast
import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.programs.imports import LARGEST_FILE_BYTES, imports_packages, with_modules

_LARGEST_BINARY_BYTES: Final = 2_000_000
_RUN: Final = "import os, sys; os.chmod(sys.argv[1], 0o755); os.execv('./' + sys.argv[1], sys.argv[1:])"


class ProgramError(LinklabError):
    """A student's program cannot be tried: it is missing, empty, too large, or not Python."""


@dataclass(frozen=True)
class SubmittedProgram:
    """A program, with the modules that it may import. ``name`` is its file's; ``files`` go by their paths; ``packages``
    says whether it imports installed ones.
    """

    name: str
    files: dict[str, bytes]
    packages: bool

    def encoded(self) -> dict[str, str]:
        """Return the files in base64."""
        return {name: base64.b64encode(data).decode() for name, data in self.files.items()}


def read(path: Path) -> SubmittedProgram:
    """Read a Python program and the modules that it imports. Raises ProgramError, in one line, where there is none."""
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
    return SubmittedProgram(path.name, files, imports_packages(files))


def read_any(path: Path) -> SubmittedProgram:
    """Read a program: Python, a script that names its interpreter (``#!``), or one that is compiled for Linux.

    Raises ProgramError, in one line, where there is none.
    """
    try:
        data = path.read_bytes() if not path.is_dir() else b""
    except OSError:
        data = b""
    if _is_python(path.name, data):
        return read(path)
    if len(data) > _LARGEST_BINARY_BYTES:
        most = _LARGEST_BINARY_BYTES
        raise ProgramError(f"{path} has {len(data)} bytes: a program of more than {most} is not checked")
    return SubmittedProgram(path.name, {path.name: data}, False)


def command(program: SubmittedProgram, *words: str) -> list[str]:
    """Return the words with which Python runs a program: itself, or what it becomes."""
    is_python = _is_python(program.name, program.files[program.name])
    return [program.name, *words] if is_python else ["-c", _RUN, program.name, *words]


def _is_python(name: str, data: bytes) -> bool:
    return name.endswith(".py") or not data.startswith((b"#!", b"\x7fELF"))


def _refuse_broken(path: Path, data: bytes) -> None:
    try:
        ast.parse(data, filename=path.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        raise ProgramError(f"{path} is not Python that can run: {where}{what}") from None
