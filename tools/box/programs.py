"""How the box's tool runs a program: it ends well, or its last words are the error."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError

REPOSITORY: Final = Path(__file__).resolve().parents[2]
STUDENT: Final = 1000
"""The number of the first user of a laptop, and of the user vagrant in a box."""


class BoxError(LinklabError):
    """A box cannot be made or tried here, or the trial found something that does not work."""


def run(*words: str | Path, log: Path | None = None, text: str = "", settings: Mapping[str, str] | None = None) -> str:
    """Run a program with `text` as its input and return its standard output, or write all that it says to `log`.

    Raises `BoxError` with its last line when it fails.
    """
    opened = log.open("ab") if log else subprocess.PIPE
    done = subprocess.run(
        words, input=text.encode(), stdout=opened, stderr=opened, env={**os.environ, **(settings or {})}, check=False
    )
    if done.returncode != 0:
        said = log.read_text(errors="replace") if log else done.stderr.decode(errors="replace")
        raise BoxError(f"{words[0]} failed, its last words: {(said.strip().splitlines() or ['none'])[-1]}")
    return "" if log else done.stdout.decode()


def require(programs: Mapping[str, str]) -> None:
    """Raise `BoxError` with the packages of those programs that this machine lacks, or where we are not root."""
    if os.geteuid() != 0:
        raise BoxError("root is needed, who may make a file system of Debian's packages: put sudo before the command")
    lacking = sorted({package for program, package in programs.items() if shutil.which(program) is None})
    if lacking:
        raise BoxError(f"programs are missing: sudo apt-get install {' '.join(lacking)}")


def copy_kit(target: Path) -> None:
    """Copy the kit as git knows it (new files too, ignored ones not); an ordinary user owns the copy."""
    listed = run("git", "-C", REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = [name for name in listed.split("\0") if name and (REPOSITORY / name).is_file()]
    for name in names:
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, place)
    give((target, *target.rglob("*")))


def give(paths: Iterable[Path]) -> None:
    """Make the student the owner of these files."""
    for path in paths:
        os.chown(path, STUDENT, STUDENT, follow_symlinks=False)
