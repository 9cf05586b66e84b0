"""``linklab report [NOTEBOOK...]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.files import write_whole

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_DESCRIPTION = """\
Makes one HTML file of your executed notebooks: points, checks with what to do where they failed, networks, tables,
figures, your answers, and what is open. It needs no other file, no network and no script, and can be printed. With
--pdf there is a PDF file beside it, made by Chromium."""


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``report`` to the command line; `run` takes what it parsed."""
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
    parser.add_argument("--pdf", action="store_true", help="a PDF file too; needs Chromium")


def run(arguments: argparse.Namespace) -> int:
    """Makes the portfolio; gives the exit status. Raises LinklabError or OSError for the caller to print."""
    # what takes long to load is not needed for --help
    from linklab.errors import LinklabError
    from linklab.report import chromium, gather
    from linklab.report.page import page

    output: Path = arguments.output
    pdf = output.with_suffix(".pdf")
    if arguments.pdf and pdf == output:
        raise LinklabError(f"{output} is the page's name, and the PDF file's too: say --output portfolio.html")
    notebooks: list[Path] = arguments.notebooks or gather.default_notebooks(Path())
    if output.resolve() in {path.resolve() for path in notebooks}:
        raise LinklabError(f"{output} is one of the notebooks: say another file with --output")
    portfolio = gather.portfolio_of(notebooks, arguments.name.strip())
    _write(output, page(portfolio))
    for lab in portfolio.labs:
        for note in lab.notes if lab.executed else ("It was never executed.",):
            print(f"{lab.file}: {note}", file=sys.stderr)
    points, of = sum(lab.points for lab in portfolio.labs), sum(lab.max_points for lab in portfolio.labs)
    print(f"{output}: {_counted(len(portfolio.labs))}, {points:g} of {of:g} points", flush=True)
    if arguments.pdf:
        chromium.print_pdf(output, pdf, chromium.find())
        print(pdf)
    return 0


def _counted(labs: int) -> str:
    return "1 lab" if labs == 1 else f"{labs} labs"


def _write(path: Path, text: str) -> None:
    """Writes the page. Raises LinklabError where it cannot be written."""
    from linklab.errors import LinklabError

    try:
        write_whole(path, text)
    except OSError as error:
        raise LinklabError(f"{path} cannot be written ({error.strerror}): say another file with --output") from None
