"""``linklab report [NOTEBOOK...]``: read executed notebooks and write one page of them."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.errors import LinklabError
from linklab.files import write_whole

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from linklab.report.model import LabRecord, Portfolio

_DESCRIPTION = """\
Makes one HTML file of your executed notebooks: points, checks with what to do where they failed, networks, tables,
figures, your answers, and what is open. It needs no other file, no network and no script. For a PDF file, print it in
your browser."""


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``report`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser(
        "report", help="your portfolio, from your executed notebooks", description=_DESCRIPTION
    )
    parser.add_argument(
        "notebooks", nargs="*", type=Path, metavar="NOTEBOOK", help="default: all notebooks in labs, or in this folder"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("portfolio.html"), metavar="FILE", help="default: %(default)s"
    )
    parser.add_argument("--name", default="", metavar="NAME", help="your name, for the first page")


def run(arguments: argparse.Namespace) -> int:
    """Make the portfolio; return the exit status. Raises LinklabError or OSError for the caller to print."""
    from linklab.report.page import page  # what takes long to load is not needed for --help

    output: Path = arguments.output
    notebooks: list[Path] = arguments.notebooks or _default_notebooks()
    if output.resolve() in {path.resolve() for path in notebooks}:
        raise LinklabError(f"{output} is one of the notebooks: say another file with --output")
    portfolio = _portfolio_of(notebooks, arguments.name.strip())
    try:
        write_whole(output, page(portfolio))
    except OSError as error:
        raise LinklabError(f"{output} cannot be written ({error.strerror}): say another file with --output") from None
    for lab in portfolio.labs:
        for note in lab.notes if lab.executed else ("It was never executed.",):
            print(f"{lab.file}: {note}", file=sys.stderr)
    points, of = sum(lab.points for lab in portfolio.labs), sum(lab.max_points for lab in portfolio.labs)
    labs = "1 lab" if len(portfolio.labs) == 1 else f"{len(portfolio.labs)} labs"
    waiting = sum(lab.open_points("free text") for lab in portfolio.labs)
    more = f", and up to {waiting:g} that the instructor gives" if waiting else ""
    print(f"{output}: {labs}, {points:g} of {of:g} points{more}")
    return 0


def _default_notebooks() -> list[Path]:
    """Return the notebooks in ``labs``, or else in this folder, in order. Raises LinklabError if there is none."""
    place = Path("labs") if Path("labs").is_dir() else Path()
    found = sorted(place.glob("*.ipynb"))
    if not found:
        raise LinklabError(f"there is no notebook in {place.resolve()}: go to your labs, or name the notebooks")
    return found


def _portfolio_of(paths: Sequence[Path], student: str) -> Portfolio:
    """Return the portfolio of these notebooks, each once, in this order.

    Raises LinklabError for a file that is missing or no notebook, and where none of them was ever executed.
    """
    from linklab import __version__
    from linklab.options import cores
    from linklab.record import processor
    from linklab.report.model import Portfolio

    once = {path.resolve(): path for path in paths}
    labs = tuple(_read_lab(path) for path in once.values())
    if not any(lab.executed for lab in labs):
        names = ", ".join(str(path) for path in once.values())
        raise LinklabError(
            f"nothing of {names} was ever executed: run it in JupyterLab and save it, or `linklab run` it"
        )
    count, memory_gb = cores(), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    machine = (
        ("Machine", f"{processor()}, {count} core{'' if count == 1 else 's'}, {memory_gb:.1f} GB of memory"),
        ("System", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"),
    )
    made_at = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Portfolio(student, made_at, __version__, machine, labs)


def _read_lab(path: Path) -> LabRecord:
    """Return a notebook as a part of a portfolio. Raises LinklabError for what is missing or no notebook."""
    import nbformat

    from linklab.headless.runner import read_book
    from linklab.report.notebook import lab_of

    book = read_book(path)
    try:
        nbformat.validate(book)
    except nbformat.ValidationError as error:
        reason = str(error).splitlines()[0][:100]
        raise LinklabError(f"{path} is not a notebook: {reason}; open it in JupyterLab and save it again") from None
    return lab_of(book, path.name, datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC))
