"""What students get of a kit, and the scan for what must not be in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.notebooks.build import LABS, SOLUTIONS, wanted_files
from linklab.notebooks.regions import MARKERS
from linklab.settings import FILE as SETTINGS
from linklab.settings import number

_MARKS: Final = (*MARKERS, "<<<<<<<", ">>>>>>>")
"""What stands around solutions in the sources of notebooks and of programs, and nowhere else."""


@dataclass(frozen=True)
class Contents:
    """All that students get of a kit, by name (``given``), and the instructors' notebooks (``solved``).

    What is for reading (``labs/*.md``: the glossary) comes along as it is. How many hints the instructor gives is in
    the settings.
    """

    given: Mapping[str, bytes]
    solved: Mapping[str, str]

    @classmethod
    def of(cls, root: Path) -> Contents:
        """Return the contents of the kit in ``root``, made anew from its sources, whatever lies in ``labs/``.

        Raises LinklabError where a source is not well formed.
        """
        wanted = wanted_files(root)
        given = {path.name: text.encode() for path, text in wanted.items() if path.parent == Path(LABS)}
        solved = {path.name: text for path, text in wanted.items() if path.parent == Path(SOLUTIONS)}
        given |= {path.name: path.read_bytes() for path in sorted((root / LABS).glob("*.md"))}
        if (hints := number("hints", root)) is not None:
            given[SETTINGS] = f"hints = {hints}\n".encode()
        return cls(given, solved)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, by their names, into a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def refuse_leaks(folder: Path, secret: bytes | None = None) -> None:
    """Raise LinklabError if a file below ``folder`` holds a mark of solutions, or the course secret."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        held = [f"the mark {mark}" for mark in _MARKS if mark.encode() in data]
        held += ["the course secret"] if secret and secret in data else []
        if held:
            where = path.relative_to(folder)
            raise LinklabError(f"nothing was released, for it would give something away: {where} holds {held[0]}")
