"""``linklab validate``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import options

if TYPE_CHECKING:
    from linklab.classroom.validate import Validated

_DESCRIPTION = """\
Runs all solutions with nbval, several at once, and says of each cell that failed what it said. With a list of students,
it runs them on the network of each, or of the first --sample of them. Exit status: 0 if all passed, else 1."""

_LOG_COLUMNS = 160


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``validate`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("validate", help="prove that all solutions can be done", description=_DESCRIPTION)
    parser.add_argument("labs", nargs="*", metavar="LAB", help="numbers or names, as 03 (default: all)")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder of solutions/ (default: here)")
    parser.add_argument("--students", type=Path, metavar="FILE", help="one id a line: on the network of each")
    parser.add_argument("--secret", type=Path, metavar="FILE", help="the course secret, with --students")
    parser.add_argument(
        "--sample", type=options.count, metavar="N", help="only on the networks of the first N students"
    )
    parser.add_argument("--jobs", type=options.count, metavar="N", help="notebooks at once (default: one a core)")
    parser.add_argument("--clock", choices=["virtual", "real"], default="virtual", help="default: %(default)s")
    parser.add_argument(
        "--cell-limit-s", type=options.seconds, default=900, metavar="S", help="for a cell; default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> int:
    """Validates and prints a table; gives the exit status. Raises LinklabError before anything is run."""
    from rich.console import Console

    from linklab.classroom.roster import networks_of
    from linklab.classroom.validate import notebooks_of, validate
    from linklab.errors import LinklabError
    from linklab.headless.pool import how_many
    from linklab.network import Network
    from linklab.runtime.backends import choose

    choose(arguments.clock)  # raises with the fix where this clock cannot be had
    if (arguments.students is None) != (arguments.secret is None):
        raise LinklabError("--students and --secret go together: give both, or none")
    if arguments.sample and arguments.students is None:
        raise LinklabError("--sample is of students: give --students FILE and --secret FILE as well")
    networks: dict[str, Network | None] = {"": None}
    if arguments.students is not None:
        networks = dict(networks_of(arguments.students, arguments.secret))
        networks = dict(list(networks.items())[: arguments.sample])
    notebooks = notebooks_of(arguments.root, arguments.labs)
    jobs = how_many(arguments.jobs, len(notebooks) * len(networks))
    began_s = time.monotonic()
    # a log has no width of its own; the last column says what to mend
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _LOG_COLUMNS)
    with console.status(f"{len(notebooks)} notebooks on {len(networks)} networks, {jobs} at once ..."):
        found = validate(
            notebooks, networks, jobs=jobs, clock=arguments.clock, cell_limit_s=arguments.cell_limit_s, tell=_tell
        )
    students = [student for student in networks for _ in notebooks]
    _print(console, found, students)
    good = sum(one.fine for one in found)
    print(f"{len(found)} notebooks, {jobs} at once: {good} passed, {len(found) - good} FAILED; "
          f"{time.monotonic() - began_s:.0f} s")  # fmt: skip
    return 0 if good == len(found) else 1


def _tell(one: Validated) -> None:
    """A line for logs; a terminal has the status line."""
    if not sys.stdout.isatty():
        print(f"{one.notebook} ({one.network}): {'passed' if one.fine else 'FAILED'}", flush=True)


def _print(console: object, found: list[Validated], students: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    assert isinstance(console, Console)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    several = len({one.network for one in found}) > 1 or any(students)
    for heading in ("lab", *(("student", "network") if several else ())):
        table.add_column(heading, no_wrap=True)
    for heading in ("cells", "passed", "failed", "seconds"):
        table.add_column(heading, justify="right")
    table.add_column("first failed cell, and what it said", overflow="fold")
    for one, student in zip(found, students, strict=True):
        said = f"{one.failures[0].cell}: {one.failures[0].said}" if one.failures else ""
        numbers = (str(one.cells), str(one.passed), str(len(one.failures)), f"{one.wall_s:.0f}")
        table.add_row(one.notebook, *((student, one.network) if several else ()), *numbers, Text(said))
    console.print(table)
    for one, student in zip(found, students, strict=True):
        for failure in one.failures[1:]:
            where = f"{one.notebook}{f' ({student})' if student else ''}"
            print(f"{where}, also {failure.cell}: {failure.said}")
