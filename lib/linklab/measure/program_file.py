"""A student's program as a file: read with what lies beside it, brought into the lab, run there."""

from __future__ import annotations

import ast
import base64
import hashlib
import marshal
import os
import shlex
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.errors import MeasurementError

if TYPE_CHECKING:
    from linklab.lab import Lab

REFERENCE = Path(os.environ.get("LINKLAB_SIMPLEPERF") or Path(__file__).parents[3] / "solutions" / "simpleperf.py")
"""The simpleperf that Linklab's own checkout holds, or that LINKLAB_SIMPLEPERF names: where work is graded there is no
checkout."""
_LARGEST_FILE_BYTES = 200_000
_MOST_FILES = 30


@dataclass(frozen=True)
class Brought:
    """A program's copy in the lab. `file` is its path there, `packages` where those that it imports are installed."""

    title: str
    file: str
    packages: str | None

    def command(self, words: Sequence[str]) -> str:
        """The words, in a shell; unbuffered, for a program that does not flush its lines would tell all at its end."""
        path = f" PYTHONPATH={shlex.quote(self.packages)}" if self.packages else ""
        return f"exec env PYTHONUNBUFFERED=1{path} {shlex.join(words)}"


def bring(lab: Lab, program: str | Path | None) -> Brought:
    """Copies a program, or with None the reference, into the lab. Raises MeasurementError where there is none."""
    files = program_files(program)
    name = next(iter(files))
    folder = f"/tmp/linklab-simpleperf-{_digest(files.values())}"
    for each, data in files.items():
        lab.write_file(f"{folder}/{each}", data)
    whose = f"{name} of Linklab" if program is None else name
    return Brought(f"{whose} (SHA-256 {_digest([files[name]])})", f"{folder}/{name}", packages_folder(files))


def program_files(program: str | Path | None) -> Mapping[str, bytes]:
    """The program, by its file's name, and the Python files beside it, which it may import.

    Raises MeasurementError where there is none, or where it is none.
    """
    path = REFERENCE if program is None else Path(program)
    if not path.is_file():
        if program is None:
            raise MeasurementError("this Linklab comes without its simpleperf.py: name yours with program=")
        raise MeasurementError(f"there is no program {path}: write it first (Lab 02), or leave program= away")
    files = {path.name: _bytes(path)}
    if program is None:
        return files
    for other in sorted(path.resolve().parent.glob("*.py")):
        small = other.is_file() and other.stat().st_size <= _LARGEST_FILE_BYTES
        if small and other.name != path.name and len(files) < _MOST_FILES:
            try:
                files[other.name] = other.read_bytes()
            except PermissionError:
                continue  # a program that imports it fails in its own words
    return files


def sealed(program: Path) -> str:
    """Linklab's own simpleperf as a program that runs and cannot be read: it is the solution of Lab 02.

    It runs with this version of Python alone.
    """
    code = base64.b64encode(marshal.dumps(compile(program.read_text("utf-8"), program.name, "exec", optimize=2)))
    return f"import base64, marshal\nexec(marshal.loads(base64.b64decode({code!r})))\n"


def packages_folder(files: Mapping[str, bytes]) -> str | None:
    """Where installed packages lie, if the first file imports any: to look there slows each start."""
    own = {name.removesuffix(".py") for name in files}
    try:
        tree = ast.parse(next(iter(files.values())))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # Python will say so itself
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    folder = sysconfig.get_paths()["purelib"]
    return folder if names - own - sys.stdlib_module_names and Path(folder).is_dir() else None


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MeasurementError(f"{path} cannot be read: {error.strerror}") from None
    if not data.strip() or len(data) > _LARGEST_FILE_BYTES:
        raise MeasurementError(f"{path} has {len(data)} bytes: that is no simpleperf (Lab 02)")
    return data


def _digest(pieces: Iterable[bytes]) -> str:
    return hashlib.sha256(b"\0".join(pieces)).hexdigest()[:12]
