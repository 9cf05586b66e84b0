"""``linklab study list | show | run | page | template | import | keep``."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import options
from linklab.signals import INTERRUPTED

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from linklab.progress import ProgressDisplay
    from linklab.study.declare import Study
    from linklab.study.runner import StudyProgress

_OUTPUT = Path("study-results")
_PAGES = Path("docs/studies")
_DESCRIPTION = """\
Carries out studies: every combination of their factors' levels, several labs at once, with one table in the end. What
is measured already is not measured again, also after Ctrl-C or a crash: give the same command again."""
_PAGE = """\
Makes a page's Markdown and pictures from tables: of full runs (NAME), of runs with levels of your own (NAME --set ...),
or of your own pages and studies (PAGE.py, FILE.py:STUDY). See docs/studies/your-own.md."""
_RUN = """\
Writes NAME.csv (the table), NAME.json (what was measured, on which networks, with which versions) and NAME.run.json
(date, machine, wall time, failures). Exit status: 0 if all points were measured, 1 if any failed, 130 after Ctrl-C,
which ends all labs and keeps what is done."""


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``study`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser(
        "study", help="carry out a study: all combinations of its factors, in one table", description=_DESCRIPTION
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="study_command")
    commands.add_parser("list", help="the studies there are")
    show = commands.add_parser("show", help="factors, levels and metrics of a study")
    carry_out = commands.add_parser("run", help="carry out a study, or go on with it", description=_RUN)
    page = commands.add_parser(
        "page", help="make pages from tables: from tables, measured and published", description=_PAGE
    )
    template = commands.add_parser("template", help="the empty table of a study, to fill in with numbers of your own")
    captures = commands.add_parser("import", help="turn captures of a test of your own into rows of a study's table")
    keep = commands.add_parser("keep", help="put tables that pages are made from where they are kept, compressed")
    for each in (show, carry_out, template, captures):
        each.add_argument("name", metavar="NAME", help="see linklab study list; FILE.py:STUDY is one of your own")
    page.add_argument("names", nargs="*", metavar="NAME",
                      help="a page, a study, PAGE.py or FILE.py:STUDY; default: all pages")  # fmt: skip
    keep.add_argument("names", nargs="*", metavar="NAME", help="default: the studies of all pages")
    for each in (show, carry_out, page, template):
        each.add_argument("--short", action="store_true", help="the quick look: fewer levels and repeats")
    for each in (show, carry_out, page, template, captures):
        each.add_argument("--set", action="extend", nargs="+", default=[], metavar="FACTOR=LEVEL,LEVEL", dest="levels",
                          help="levels of your own instead of the study's; other factors keep theirs")  # fmt: skip
    for each in (page, keep):
        each.add_argument("--from", type=Path, default=_OUTPUT, metavar="DIR", dest="tables",
                          help="where the studies' tables lie; default: %(default)s")  # fmt: skip

    carry_out.add_argument(
        "--jobs", type=options.count, metavar="N", help="labs at once, at most 4 a core (default: one a core)"
    )
    carry_out.add_argument(
        "--dask", metavar="ADDRESS", help="measure on the workers of this Dask scheduler: tcp://host:8786"
    )
    carry_out.add_argument("--output", type=Path, metavar="DIR", help=f"default: {_OUTPUT}/NAME")
    only = "only points with it; may be given several times"
    carry_out.add_argument("--only", action="append", default=[], metavar="FACTOR=LEVEL", help=only)
    carry_out.add_argument("--again", action="store_true", help="measure again what is measured already")

    page.add_argument("--beside", action="append", default=[], metavar="FILE.csv",
                      help="numbers of your own hardware, for comparison (linklab study template)")  # fmt: skip
    page.add_argument("--output", type=Path, metavar="DIR",
                      help=f"default: {_PAGES}, and {_OUTPUT}/pages for what is your own")  # fmt: skip
    template.add_argument("--output", type=Path, metavar="FILE.csv", help="default: standard output")
    captures.add_argument("--sent", type=Path, required=True, metavar="FILE.pcap", help="captured at the sender")
    captures.add_argument("--received", type=Path, required=True, metavar="FILE.pcap", help="captured at the receiver")
    captures.add_argument("--output", type=Path, required=True, metavar="FILE.csv",
                          help="made, or added to as one more repeat")  # fmt: skip
    keep.add_argument("--output", type=Path, default=_PAGES / "data", metavar="DIR", help="default: %(default)s")


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked for; return the exit status. Raises `LinklabError` for the caller to print."""
    # what takes long to load is not needed for --help
    from linklab.study.catalogue import selection, studies, study_by_name, with_own_levels

    if arguments.study_command == "list":
        width = max(map(len, studies()))
        for name, study in studies().items():
            print(f"{name:{width}}  {study.title} ({len(study.points())} points)")
        return 0
    if arguments.study_command == "page":
        return _pages(arguments)
    if arguments.study_command == "keep":
        return _keep(arguments)
    study = study_by_name(arguments.name)
    settings = selection(arguments.levels, "--set")
    if arguments.study_command == "import":
        return _import(study, settings, arguments)
    study = with_own_levels(study.short_form() if arguments.short else study, settings)
    if arguments.study_command == "show":
        _show(study)
        return 0
    if arguments.study_command == "template":
        return _template(study, arguments.output)
    return _run(study, arguments)


def _pages(arguments: argparse.Namespace) -> int:
    from linklab.study.catalogue import pages
    from linklab.study.notebook import write_page

    names = arguments.names or list(pages())
    for name in names:
        page, files, is_published = _page(name, arguments)
        default = _PAGES if is_published else _OUTPUT / "pages"
        written = write_page(page, files, arguments.output or default)
        pictures = len(written) - 1
        print(f"page: {written[0]}, with {pictures} picture{'' if pictures == 1 else 's'}")
    return 0


def _page(name: str, arguments: argparse.Namespace) -> tuple[str, dict[str, str], bool]:
    """Return the name and the files of a page, and whether it is one of Linklab's as published."""
    from linklab.errors import MeasurementError
    from linklab.study.catalogue import (
        claims_about,
        is_in_file,
        pages,
        selection,
        studies,
        study_by_name,
        with_own_levels,
    )
    from linklab.study.notebook import PageRequest, read_beside, run_page
    from linklab.study.overview import overview, overview_name
    from linklab.study.table import read_table

    given = PageRequest(arguments.tables, arguments.beside, arguments.short)
    if name.endswith(".py"):
        if arguments.levels:
            raise MeasurementError(f"{name} is a page, and --set gives levels to a study: {name}:STUDY")
        page, files = run_page(Path(name), given)
        return page.name, files, False
    if name in pages() and not (arguments.levels or arguments.short):
        page, files = run_page(pages()[name], given)
        return page.name, files, not page.hardware
    if not is_in_file(name) and name not in studies():
        raise MeasurementError(f"no page is called {name!r}: choose one of {', '.join(pages())}, or a study")
    base = study_by_name(name)
    study = with_own_levels(base.short_form() if arguments.short else base, selection(arguments.levels, "--set"))
    # judges ask for the table by the name that the study has in the catalogue
    ours = read_table(study, arguments.tables)
    beside = read_beside([base], arguments.beside)
    return overview_name(study), overview(base.name, ours, beside, claims_about(base)), False


def _keep(arguments: argparse.Namespace) -> int:
    from linklab.study.catalogue import studies, study_by_name
    from linklab.study.table import keep, read_table

    for study in [study_by_name(name) for name in arguments.names] or studies().values():
        print(f"kept: {keep(read_table(study, arguments.tables), arguments.output)}")
    return 0


def _template(study: Study, output: Path | None) -> int:
    from linklab.study.table import template

    if output is None:
        print(template(study), end="")
    else:
        output.write_text(template(study), "utf-8")
        print(f"template: {output}: fill in the column value; rows without one are left out")
    return 0


def _import(study: Study, settings: dict[str, list[str]], arguments: argparse.Namespace) -> int:
    from linklab.study.table import add_to_csv, import_captures

    table = import_captures(study, settings, arguments.sent, arguments.received)
    repeat = add_to_csv(table, arguments.output)
    print(f"table: {arguments.output}, {len(table)} rows more, as repeat {repeat}")
    return 0


def _show(study: Study) -> None:
    print(f"{study.name}: {study.title}")
    if study.source:
        print(f"source: {study.source}")
    points = study.points()
    combinations = len({point.levels for point in points})
    print(f"{len(points)} points: {combinations} combinations, each measured up to {study.repeats} times")
    print("factors:")
    for factor, levels in study.factors.items():
        print(f"  {factor}: {', '.join(map(str, levels))}")
    print("metrics:")
    for metric in study.metrics:
        print(f"  {metric.name} ({metric.unit}): {metric.meaning}")
    print(f"measurement: {study.measurement.__module__}:{study.measurement.__qualname__}")


def _run(study: Study, arguments: argparse.Namespace) -> int:
    from linklab.dask_run import Cluster
    from linklab.errors import LinklabError
    from linklab.progress import ProgressDisplay
    from linklab.runtime.backends import need_system
    from linklab.signals import interrupted_once
    from linklab.study.catalogue import selection
    from linklab.study.runner import run as carry_out

    need_system()
    if arguments.jobs is not None and arguments.dask is not None:
        raise LinklabError("--jobs is for this machine, and --dask measures on others: leave one of them away")
    output: Path = arguments.output or _OUTPUT / study.name
    began_s = time.monotonic()
    try:
        with (
            Cluster(arguments.dask) if arguments.dask else nullcontext() as cluster,
            interrupted_once(),
            ProgressDisplay(None, "points") as display,
        ):
            table = carry_out(
                study,
                output,
                jobs=arguments.jobs,
                only=selection(arguments.only, "--only"),
                again=arguments.again,
                on_progress=lambda progress: _show_progress(display, progress, time.monotonic() - began_s),
                cluster=cluster,
            )
    except KeyboardInterrupt:
        print(f"interrupted: what is done stands in {output}, and the same command goes on from there")
        return INTERRUPTED
    print(f"table: {table.files[0]} ({len(table)} rows), about it: {table.files[1]}")
    for missing in table.missing:
        print(f"linklab: {missing.point} failed: {missing.reason}", file=sys.stderr)
    return 1 if table.missing else 0


def _show_progress(display: ProgressDisplay, progress: StudyProgress, passed_s: float) -> None:
    """Move the bar, and print a line; above bars stand only the first line and those of points that failed."""
    if progress.point is None:
        display.expect(progress.total, progress.done)
    else:
        display.count(failed=bool(progress.reason), latest=str(progress.point))
    for words in _words(progress):
        line = f"[{passed_s:5.0f} s] {words}"
        if progress.point is None or progress.reason:
            print(line, flush=True)
        else:
            display.line(line)


def _words(progress: StudyProgress) -> list[str]:
    if progress.point is not None:
        how = f" FAILED: {progress.reason}" if progress.reason else ""
        return [f"{progress.done} of {progress.total}: {progress.point}{how}"]
    lines = [f"{progress.done} of {progress.total} points are done already"] if progress.done else []
    if progress.damaged:
        lines.append(f"{progress.damaged} files of points are damaged: these points are measured again")
    return lines or [f"{progress.total} points to measure"]
