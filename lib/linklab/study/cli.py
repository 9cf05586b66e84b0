"""``linklab study list | show NAME | run NAME | page NAME``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linklab import options

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from linklab.study.declare import Study
    from linklab.study.runner import Progress

INTERRUPTED = 130  # the shell's status for a program ended by SIGINT
_OUTPUT = Path("study-results")
_PAGES = Path("docs/studies")
_DESCRIPTION = """\
Carries out studies: every combination of their factors' levels, several labs at once, with one table in the end. What
is measured already is not measured again, also after Ctrl-C or a crash: give the same command again."""
_RUN = """\
Writes NAME.csv (the table), NAME.json (what was measured, on which networks, with which versions) and NAME.run.json
(date, machine, wall time, failures). Exit status: 0 if all points were measured, 1 if any failed, 130 after Ctrl-C,
which ends all labs and keeps what is done."""


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``study`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser(
        "study", help="carry out a study: all combinations of its factors, in one table", description=_DESCRIPTION
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="study_command")
    commands.add_parser("list", help="the studies there are")
    show = commands.add_parser("show", help="factors, levels and metrics of a study")
    carry_out = commands.add_parser("run", help="carry out a study, or go on with it", description=_RUN)
    for each in (show, carry_out):
        each.add_argument("name", metavar="NAME", help="see: linklab study list")
        each.add_argument("--short", action="store_true", help="the quick look: fewer levels and repeats")
    carry_out.add_argument(
        "--jobs", type=options.count, metavar="N", help="labs at once, at most 4 a core (default: one a core)"
    )
    carry_out.add_argument("--output", type=Path, metavar="DIR", help=f"default: {_OUTPUT}/NAME")
    only = "only points with it; may be given several times"
    carry_out.add_argument("--only", action="append", default=[], metavar="FACTOR=LEVEL", help=only)
    carry_out.add_argument("--again", action="store_true", help="measure again what is measured already")
    carry_out.add_argument(
        "--clock",
        choices=["virtual", "real"],
        default="virtual",
        help="default: %(default)s; real measures one at a time",
    )
    carry_out.add_argument("--parquet", action="store_true", help="write NAME.parquet too (needs pyarrow)")

    page = commands.add_parser("page", help="published and measured side by side, from tables of full runs")
    page.add_argument("names", nargs="*", metavar="NAME", help="default: all pages")
    tables = "where the studies' folders lie; default: %(default)s"
    page.add_argument("--from", type=Path, default=_OUTPUT, metavar="DIR", dest="tables", help=tables)
    page.add_argument("--output", type=Path, default=_PAGES, metavar="DIR", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> int:
    """Does what was asked for; gives the exit status. Raises `LinklabError` for the caller to print."""
    # what takes long to load is not needed for --help
    from linklab.study.catalogue import STUDIES, study_by_name

    if arguments.study_command == "list":
        width = max(map(len, STUDIES))
        for name, study in STUDIES.items():
            print(f"{name:{width}}  {study.title} ({len(study.points())} points)")
        return 0
    if arguments.study_command == "page":
        return _page(arguments)
    study = study_by_name(arguments.name)
    if arguments.short:
        study = study.short_form()
    if arguments.study_command == "show":
        _show(study)
        return 0
    return _run(study, arguments)


def _page(arguments: argparse.Namespace) -> int:
    from linklab.study.catalogue import PAGES, page_of
    from linklab.study.page import Page, make_page, read_tables, write_page
    from linklab.study.table import read_table
    from linklab.study.write_page import write_chapters

    for name in arguments.names or PAGES:
        page = page_of(name)
        if isinstance(page, Page):
            files = write_page(page.name, make_page(page, read_tables(page, arguments.tables)), arguments.output)
        else:
            make, studies = page
            rows = {study.name: list(read_table(study, arguments.tables)) for study in studies}
            files = write_chapters(make(rows), arguments.output)
        print(f"page: {files[0]}, with {len(files) - 1} pictures")
    return 0


def _show(study: Study) -> None:
    print(f"{study.name}: {study.title}")
    if study.source:
        print(f"source: {study.source}")
    points = study.points()
    print(f"{len(points)} points: {len(points) // study.repeats} combinations, each measured {study.repeats} times")
    print("factors:")
    for factor, levels in study.factors.items():
        print(f"  {factor}: {', '.join(map(str, levels))}")
    print("metrics:")
    for metric in study.metrics:
        print(f"  {metric.name} ({metric.unit}): {metric.meaning}")
    print(f"measurement: {study.measurement.__module__}:{study.measurement.__qualname__}")


def _run(study: Study, arguments: argparse.Namespace) -> int:
    from linklab.runtime.backends import need_linux
    from linklab.signals import interrupted_once
    from linklab.study.runner import run as carry_out

    need_linux()
    output: Path = arguments.output or _OUTPUT / study.name
    show = _Live() if sys.stdout.isatty() else _Lines()
    try:
        with interrupted_once(), show:
            table = carry_out(
                study,
                output,
                jobs=arguments.jobs,
                clock=arguments.clock,
                only=_selection(arguments.only),
                again=arguments.again,
                parquet=arguments.parquet,
                on_progress=show.tell,
            )
    except KeyboardInterrupt:
        print(f"interrupted: what is done stands in {output}, and the same command goes on from there")
        return INTERRUPTED
    print(f"table: {table.files[0]} ({len(table)} rows), about it: {table.files[1]}")
    for missing in table.missing:
        print(f"linklab: {missing.point} failed: {missing.reason}", file=sys.stderr)
    return 1 if table.missing else 0


def _selection(texts: list[str]) -> dict[str, list[str]]:
    from linklab.errors import MeasurementError

    only: dict[str, list[str]] = {}
    for text in texts:
        factor, equals, level = text.partition("=")
        if not (factor and equals and level):
            raise MeasurementError(f"--only {text} names no level: write --only FACTOR=LEVEL, as in --only rates=10/10")
        only.setdefault(factor, []).append(level)
    return only


class _Lines:
    """A line for each point, for logs and pipes."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()

    def tell(self, progress: Progress) -> None:
        """Says how far it is."""
        for line in _words(progress):
            print(f"[{time.monotonic() - self._began_s:5.0f} s] {line}", flush=True)


class _Live:
    """A bar for a terminal; failures stay above it."""

    def __init__(self) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: tuple[Any, ...] = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left:"))
        self._bar = Progress(*columns, TimeRemainingColumn(), TextColumn("{task.description}"))
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> _Live:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tell(self, progress: Progress) -> None:
        """Moves the bar."""
        if progress.point is None or progress.reason:
            for line in _words(progress):
                self._bar.console.print(line, highlight=False, markup=False)
        point = str(progress.point or "")
        self._bar.update(self._task, completed=progress.done, total=progress.total, description=point)


def _words(progress: Progress) -> list[str]:
    if progress.point is not None:
        how = f" FAILED: {progress.reason}" if progress.reason else ""
        return [f"{progress.done} of {progress.total}: {progress.point}{how}"]
    lines = [f"{progress.done} of {progress.total} points are done already"] if progress.done else []
    if progress.damaged:
        lines.append(f"{progress.damaged} files of points are damaged: these points are measured again")
    return lines or [f"{progress.total} points to measure"]
