"""What students get, and the proof that nothing in it gives anything away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import nbformat

from linklab.course import FILE
from linklab.errors import LinklabError
from linklab.notebooks import starters
from linklab.notebooks.build import LABS, SOLUTIONS, wanted_files
from linklab.notebooks.leaks import leaks, leaks_of_program
from linklab.notebooks.regions import MARKERS
from linklab.settings import FILE as SETTINGS
from linklab.settings import number

_nbformat: Any = nbformat
_STARTER_MARKS: Final = ("<<<<<<<", ">>>>>>>")


@dataclass(frozen=True)
class Contents:
    """All that students get of a kit, by name (``given``), and the instructors' notebooks (``solved``).

    What is for reading (``labs/*.md``: the glossary) comes along as it is.
    How many hints the instructor gives is in the
    settings too.
    """

    root: Path
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
        return cls(root, given, solved)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, by their paths, into a folder, which is made where it is missing."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


class Scanner:
    """Searches students' folders, as they lie on the disk, for what gives anything away. Equal files are read once."""

    def __init__(self, contents: Contents, secret: bytes | None = None) -> None:
        self._contents, self._secret = contents, secret
        self._known: dict[tuple[str, bytes], tuple[str, ...]] = {}

    def scan(self, folder: Path, *, variant: bool = False) -> tuple[str, ...]:
        """Return what a folder gives away or lacks, a line for each finding.

        A finding is a file that does not belong there or is missing; in a notebook a marker, an output, a line of a
        solution; in what the notebook of an added lab imports a marker, or a line of its solution;
        in a program a line of its finished form that a step asks for; a link; and the course secret anywhere.
        ``variant``: a file with the student's own network belongs there too.
        """
        return tuple(self._findings(folder, variant))

    def _findings(self, folder: Path, variant: bool) -> Iterator[str]:
        wanted = set(self._contents.given) | ({FILE} if variant else set())
        present = {str(path.relative_to(folder)): path for path in folder.rglob("*") if not path.is_dir()}
        yield from (f"{name}: does not belong there" for name in sorted(set(present) - wanted))
        yield from (f"{name}: is missing" for name in sorted(wanted - set(present)))
        for name, path in sorted(present.items()):
            if path.is_symlink():
                yield f"{name}: is a link to somewhere else"
                continue
            data = path.read_bytes()
            if (name, data) not in self._known:
                self._known[name, data] = tuple(self._of_file(name, data))
            yield from self._known[name, data]

    def _of_file(self, name: str, data: bytes) -> Iterator[str]:
        if self._secret and self._secret in data:
            yield f"{name}: holds the course secret"
        if name in self._contents.solved:
            books = (data.decode(), self._contents.solved[name])
            book, solution = (_nbformat.reads(text, as_version=4) for text in books)
            yield from (f"{name}, {finding}" for finding in leaks(solution, book))
        elif name.endswith(".py") and name in self._contents.given:
            finished = self._contents.root / SOLUTIONS / name
            yield from (f"{name}: {finding}" for finding in _program_findings(finished, data.decode()))


def _program_findings(finished: Path, given: str) -> Iterator[str]:
    marks = (*_STARTER_MARKS, *MARKERS)
    yield from (f"holds the mark {row.strip()}" for row in given.splitlines() if row.strip() in marks)
    recipe = finished.with_name(finished.name + starters.SUFFIX)
    text = finished.read_text(encoding="utf-8")
    blocks = starters.read_blocks(recipe.read_text(encoding="utf-8"))
    yield from leaks_of_program(text, blocks)
    if given != starters.stage(text, blocks):
        yield "is not the starter that its source makes"


def refuse_findings(findings: Mapping[str, tuple[str, ...]]) -> None:
    """Raises LinklabError with the first finding, if there is one; the keys say whose folder it is."""
    for whose, found in findings.items():
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            where = f"{whose}: " if whose else ""
            raise LinklabError(f"nothing was released, for it would give something away: {where}{found[0]}{more}")
