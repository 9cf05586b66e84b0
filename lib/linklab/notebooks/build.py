"""``linklab notebooks build [--check]``: makes all that students get of a kit, or says what is out of date.

A kit is a folder with ``solutions/`` and ``labs/``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import nbformat

from linklab.errors import LinklabError
from linklab.files import write_whole
from linklab.grade.choices import SEALED, seal
from linklab.notebooks.render import render
from linklab.notebooks.source import Cell, read_source
from linklab.notebooks.starters import SUFFIX, read_blocks, stage

_v4: Any = nbformat.v4

SOLUTIONS, LABS = "solutions", "labs"
CHOICES: Final = "-choices.toml"
"""What follows a lab's number in the name of the file with its questions to choose from (`linklab.grade.choices`)."""
_FULL_MARKS: Final = re.compile(r"(\d+ points?[:,] .+?)[.;:,]? (?:(?=\d+ points?[:,])|(?=Typical wrong))")


@dataclass(frozen=True)
class Built:
    """One generated file, relative to the kit's folder, and whether it was not as its source says."""

    path: Path
    stale: bool


def sources(root: Path) -> tuple[Path, ...]:
    """Return the sources of the labs below ``root``, in the labs' order. Raises LinklabError if there is none."""
    found = tuple(sorted((root / SOLUTIONS).glob("[0-9][0-9]-*.py")))
    if not found:
        raise LinklabError(f"no lab source solutions/NN-name.py in {root}: name the folder that holds solutions/")
    return found


def build_all(root: Path, check: bool = False) -> tuple[Built, ...]:
    """Make the instructors' and the students' notebook of each lab below ``root``, and the students' other files.

    The instructors' notebooks keep what cells showed (``linklab validate --update``) that are as before.
    ``check`` writes nothing. Either way the result lists every generated file, those that were (or are)
    out of date with ``stale`` set. Raises LinklabError if a source is not well formed, or if a notebook or
    a program lies there that no source makes: it would go to students unseen.
    """
    wanted = wanted_files(root)
    kinds = (SOLUTIONS, "*.ipynb"), (LABS, "*.ipynb"), (LABS, "*.py")
    present = {Path(folder, path.name) for folder, kind in kinds for path in (root / folder).glob(kind)}
    orphans = sorted(str(path) for path in present - set(wanted))
    if orphans:
        raise LinklabError(f"no source makes {', '.join(orphans)}: move it away, or add its source to solutions/")
    built = []
    for path, text in wanted.items():
        before = _read(root / path)
        if before is not None and path.match(f"{SOLUTIONS}/*.ipynb"):
            text = _with_outputs(text, before)
        stale = before != text
        if stale and not check:
            _write(root / path, text)
        built.append(Built(path, stale))
    return tuple(built)


def wanted_files(root: Path) -> dict[Path, str]:
    """Return all generated files of the kit in ``root`` as their sources say, by their place; nothing is written.

    Raises LinklabError if a source is not well formed.
    """
    wanted: dict[Path, str] = {}
    counts: dict[str, dict[str, tuple[str, ...]]] = {}
    starters = _starters(root)
    programs = {path.name: text for path, text in starters.items()}
    for source in sources(root):
        cells = read_source(source)
        wanted[Path(SOLUTIONS, f"{source.stem}.ipynb")] = render(cells, "solution")
        wanted[Path(LABS, f"{source.stem}.ipynb")] = render(cells, "student", programs)
        counts[source.name[:2]] = _counts(cells)
    return wanted | starters | _choices(root, counts)


def what_counts(answer: str) -> str:
    """Return what a model answer's rubric asks for all its points, in a line; empty where it says nothing of that."""
    rubric = " ".join(answer.partition("**Rubric.**")[2].split())
    found = _FULL_MARKS.match(rubric)
    return found[1] if found else ""


def _counts(cells: Iterable[Cell]) -> dict[str, tuple[str, ...]]:
    """Return what counts in each written answer, by its name, and before it in those above it without code between."""
    counts: dict[str, tuple[str, ...]] = {}
    answers: tuple[str, ...] = ()
    for cell in cells:
        if cell.cell_type == "code":
            answers = ()
        elif cell.kind == "reflect":
            answers = (*answers, what_counts(cell.text))
            counts[cell.cell_id.removeprefix("reflect-")] = answers
    return counts


def _choices(root: Path, counts: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[Path, str]:
    """Return the sealed questions of each lab that has some, by place. ``counts`` says what counts in written answers,
    by the lab's number and the answer's name.

    They lie in the package, if it is the one that comes with this kit. Raises LinklabError where questions are not well
    formed.
    """
    sealed = {}
    for path in sorted((root / SOLUTIONS).glob(f"[0-9][0-9]{CHOICES}")):
        folder = Path("lib/linklab/labs", f"lab{path.name[:2]}")
        if (root / folder).is_dir():
            try:
                sealed[folder / SEALED] = seal(path.read_text(encoding="utf-8"), counts.get(path.name[:2]))
            except LinklabError as error:
                raise LinklabError(f"{path.name}: {error}") from error
    return sealed


def _starters(root: Path) -> dict[Path, str]:
    """Return what students get beside their notebooks, by its place. Raises LinklabError where it cannot be made."""
    starters = {}
    for path in sorted((root / SOLUTIONS).glob(f"*{SUFFIX}")):
        finished = path.with_suffix("")
        try:
            text = stage(finished.read_text(encoding="utf-8"), read_blocks(path.read_text(encoding="utf-8")))
            if finished.suffix == ".py":
                compile(text, finished.name, "exec")
        except FileNotFoundError:
            raise LinklabError(f"{path.name} has no {finished.name} beside it: add the finished file") from None
        except (LinklabError, SyntaxError) as error:
            raise LinklabError(f"{path.name}: {error}") from error
        starters[Path(LABS, finished.name)] = text
    return starters


def _with_outputs(text: str, before: str) -> str:
    """Return a notebook with the outputs that its code had in an earlier state of it, as far as it is the same."""
    try:
        shown = {(cell.id, cell.source): cell for cell in _v4.reads(before).cells if cell.cell_type == "code"}
    except (ValueError, AttributeError, LookupError):  # somebody has written into it: it is made anew
        return text
    book = _v4.reads(text)
    for cell in book.cells:
        if cell.cell_type == "code" and (earlier := shown.get((cell.id, cell.source))):
            cell.outputs, cell.execution_count = earlier.outputs, earlier.execution_count
    return f"{_v4.writes(book)}\n"


def _read(path: Path) -> str | None:
    # newline="" keeps a file with other line ends from looking the same.
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text, path.stat().st_mode if path.exists() else 0o644)


def add_parser(subparsers: Any) -> None:
    """Add ``notebooks`` to the subparsers of an argparse parser; :func:`run` takes what it parsed."""
    parser = subparsers.add_parser("notebooks", help="make the labs' notebooks from their sources")
    actions = parser.add_subparsers(dest="action", required=True)
    build = actions.add_parser("build", help="make labs/ and solutions/*.ipynb from the sources in solutions/")
    build.add_argument("--check", action="store_true", help="write nothing; exit 1 if something is out of date")
    build.add_argument("--root", type=Path, default=Path(), help="the folder of solutions/ and labs/ (default: here)")


def run(args: argparse.Namespace) -> int:
    """Build or check; print what changed. Returns 1 if a check found something out of date, else 0.

    Raises LinklabError as `build_all`.
    """
    built = build_all(args.root, check=args.check)
    stale = [file.path for file in built if file.stale]
    for path in stale:
        print(f"{path} is out of date: run `linklab notebooks build`" if args.check else f"made {path}")
    if not stale:
        print(f"{len(built)} files are up to date")
    return 1 if args.check and stale else 0
