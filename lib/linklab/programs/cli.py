"""``linklab check FILE``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linklab.errors import LinklabError

if TYPE_CHECKING:
    from argparse import _SubParsersAction
    from collections.abc import Callable

    from linklab.programs.checks import Report

STATUS: Final = {"passed": 0, "failed": 1, "inconclusive": 3, "broken": 4}
USAGE: Final = 2
_COLUMNS_AT_MOST: Final = 110
_COLOURS: Final = {"passed": "green", "failed": "red", "inconclusive": "blue"}
_DESCRIPTION = """\
Checks whether a program does what a lab asks of it, simpleperf unless --lab says otherwise: black box, over real
sockets, confined to a copy of its file in a lab of its own. Each check that failed says what was seen and what to do;
one that waits names the check that must pass first. Exit status: 0 if all checks passed; 1
if one failed; 2 if there is nothing to check; 3 if none failed, but some were inconclusive; 4 if none failed, but the
check itself broke, which is no fault of the program."""


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``check`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("check", help="check a lab's program, step by step", description=_DESCRIPTION)
    parser.add_argument("file", type=Path, metavar="FILE", help="the program: Python, or for lab 13 any that runs")
    parser.add_argument(
        "--lab",
        choices=["02", "13"],
        default="02",
        help="whose program: simpleperf (02), reliable transport (13)",
    )
    parser.add_argument("--step", action="append", metavar="STEP", help="only this one (may be given several times)")


def run(arguments: argparse.Namespace) -> int:
    """Check a program and print the report; return the exit status."""
    # what takes long to load is not needed for --help
    from rich.console import Console

    told = Console(stderr=True)
    try:
        with told.status(f"checking {arguments.file} ...") as status:

            def tell(what: str) -> None:
                status.update(f"checking {arguments.file}: {what} ...")

            report = _checked(arguments, tell)
    except LinklabError as error:
        print(f"linklab: {error}", file=sys.stderr)
        return USAGE
    show(report, Console())
    return STATUS[report.status]


def _checked(arguments: argparse.Namespace, tell: Callable[[str], None]) -> Report:
    """Check the program of the lab that was named. Raises LinklabError where there is nothing to check."""
    from linklab.programs import reliable, simpleperf

    check = simpleperf.check if arguments.lab == "02" else reliable.check
    return check(arguments.file, arguments.step, tell)


def show(report: Report, console: object) -> None:
    """Print the report in as many columns as there are, but no lines too long to read."""
    from rich.console import Console
    from rich.text import Text

    from linklab.grade.render import SIGNS

    assert isinstance(console, Console)
    for said in report.lines(min(console.width, _COLUMNS_AT_MOST)):
        outcome = next((name for name, sign in SIGNS.items() if said.lstrip().startswith(f"{sign} ")), None)
        console.print(Text(said, style=_COLOURS[outcome] if outcome else ""), soft_wrap=True)
