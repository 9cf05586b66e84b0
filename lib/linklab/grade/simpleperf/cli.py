"""``linklab check FILE``."""

from __future__ import annotations

import argparse
import html
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linklab.errors import LinklabError
from linklab.grade.simpleperf.steps import STEPS

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from linklab.grade.simpleperf.report import Report

STATUS: Final = {"passed": 0, "failed": 1, "inconclusive": 3}
USAGE: Final = 2
_DESCRIPTION = """\
Checks whether a program does what simpleperf is to do: black box, over real sockets, confined to a copy of its file in
a lab of its own. It learns first how the program writes, then judges what it does. Exit status: 0 if all checks passed,
1 if one failed, 3 if none failed but some were inconclusive, 2 if there is nothing to check."""


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``check`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("check", help="check a simpleperf program, step by step", description=_DESCRIPTION)
    parser.add_argument("file", type=Path, metavar="FILE", help="the program, a Python file")
    parser.add_argument(
        "--step", action="append", choices=list(STEPS), help="only this one (may be given several times)"
    )
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the report there as JSON")
    parser.add_argument("--html", type=Path, metavar="PATH", help="also write the report there as a page")
    parser.add_argument(
        "--where",
        choices=["auto", "lab", "loopback"],
        default="auto",
        help="auto takes a lab on virtual time where there is one; on loopback timing may come out inconclusive",
    )


def run(arguments: argparse.Namespace) -> int:
    """Checks and prints; gives the exit status."""
    # what takes long to load is not needed for --help
    from rich.console import Console

    from linklab.grade import simpleperf

    told = Console(stderr=True)
    try:
        for path in filter(None, (arguments.json, arguments.html)):
            if not path.resolve().parent.is_dir():
                raise LinklabError(f"{path} cannot be written: there is no folder {path.parent}")
        with told.status(f"checking {arguments.file} ...") as status:

            def tell(what: str) -> None:
                status.update(f"checking {arguments.file}: {what} ...")

            report = simpleperf.check(arguments.file, arguments.step, arguments.where, tell)
    except LinklabError as error:
        print(f"linklab: {error}", file=sys.stderr)
        return USAGE
    show(report, Console())
    if arguments.json:
        arguments.json.write_text(json.dumps(report.to_json(), indent=2) + "\n")
    if arguments.html:
        arguments.html.write_text(page(report))
    return STATUS[report.outcome]


def page(report: Report) -> str:
    """The report as a page of its own."""
    title = html.escape(f"{report.file}: simpleperf checks")
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f'<body style="font-family:sans-serif">{report._repr_html_()}</body></html>\n'
    )


def show(report: Report, console: object) -> None:
    """Prints tables: one for each step."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    assert isinstance(console, Console)
    marks = {
        "passed": ("\u2713 passed", "green"),
        "failed": ("\u2717 failed", "red"),
        "inconclusive": ("? open", "blue"),
    }
    for name, result in report.results.items():
        heading = f"{name}: {result.title}   {result.points:g} of {result.max_points:g} points"
        table = Table(
            title=Text(heading, style="bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0)
        )
        for title in ("", "what was checked", "what was found"):
            table.add_column(title)
        for check in result.checks:
            mark, colour = marks[check.outcome]
            lines = [check.reason or check.found or check.expected]
            if not check.passed and check.expected:
                lines.append(f"expected: {check.expected}")
            if check.hint:
                lines.append(f"hint: {check.hint}")
            table.add_row(Text(mark, style=colour), Text(check.description), Text("\n".join(lines)))
        console.print(table)
        console.print()
    line = f"{report.file}: {report.points:g} of {report.max_points:g} points, checked {report.where}"
    if report.whole.open_points:
        line += f"; {report.whole.open_points:g} open"
    console.print(Text(line, style="bold"))
    if report.mistakes:
        console.print(Text(f"Probable mistakes: {', '.join(report.mistakes)}"))
