"""``linklab run NOTEBOOK...``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import options

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_INTERRUPTED = 130  # the shell's status for a program ended by SIGINT
_DESCRIPTION = """\
Runs notebooks from top to bottom without a page, several at once, and keeps the executed copies. The cells after a
failing one are run too. Exit status: 0 if all passed, 1 if any failed, 130 after Ctrl-C, which ends all notebooks with
their labs and keeps what was executed until then."""
_LIMITS = """\
A notebook beyond a limit is ended with its labs and reported; the others go on. CPU time and memory are those of the
notebook's Python, its labs and all that they started, together, looked at every 2 seconds; shared memory counts once.
In between, an allocation by which a single process would pass --memory-mb fails at once (MemoryError in a cell). The
memory inside a lab is bounded by the lab itself: what takes more is ended there."""


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``run`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser(
        "run", help="run notebooks without a page, several at once", description=_DESCRIPTION
    )
    parser.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK")
    jobs = "notebooks at once, at most 4 a core (default: one a core, fewer where memory is short)"
    parser.add_argument("--jobs", type=options.count, metavar="N", help=jobs)
    parser.add_argument("--output", type=Path, default=Path("executed"), metavar="DIR", help="default: %(default)s")
    limits = parser.add_argument_group("limits", _LIMITS)
    for name, kind, default, metavar, what in (
        ("--cell-limit-s", options.seconds, 900, "S", "a cell that takes longer ends its notebook"),
        ("--notebook-limit-s", options.seconds, 3600, "S", "real time for a whole notebook"),
        ("--cpu-limit-s", options.seconds, 3600, "S", "CPU time for a whole notebook"),
        ("--memory-mb", options.megabytes, 2048, "MB", "memory for a whole notebook"),
    ):
        limits.add_argument(name, type=kind, default=default, metavar=metavar, help=f"{what}; default: %(default)s")


def run(arguments: argparse.Namespace) -> int:
    """Runs the notebooks; gives the exit status. Raises `LabError` for the caller to print, before any is begun."""
    # what takes long to load is not needed for --help
    from linklab.headless import progress
    from linklab.headless.execute import copy_path, read_book, refuse_same_names
    from linklab.headless.pool import Limits, Pool, how_many
    from linklab.runtime.backends import need_system

    need_system()
    notebooks: list[Path] = arguments.notebooks
    _refuse_studies(notebooks)
    jobs = how_many(arguments.jobs, len(notebooks))
    refuse_same_names(notebooks)
    for notebook in notebooks:
        read_book(notebook)
        copy_path(notebook, arguments.output)
    limits = Limits(arguments.cell_limit_s, arguments.notebook_limit_s, arguments.cpu_limit_s, arguments.memory_mb)
    began_s = time.monotonic()
    shown = progress.LiveProgress if sys.stdout.isatty() else progress.PlainProgress
    with shown(len(notebooks)) as watcher:
        pool = Pool(notebooks, arguments.output, jobs, limits, watcher)
        outcomes = pool.run()
    progress.print_outcomes(outcomes, jobs, time.monotonic() - began_s)
    if pool.interrupted:
        return _INTERRUPTED
    return 0 if all(outcome.verdict == "passed" for outcome in outcomes) else 1


def _refuse_studies(notebooks: list[Path]) -> None:
    """A study is run too, by a command of its own, which goes on where it ended."""
    missing = [notebook for notebook in notebooks if not notebook.exists()]
    if not missing:
        return  # all studies take half a second to load
    from linklab.errors import LabError
    from linklab.study.catalogue import STUDIES

    for notebook in missing:
        if str(notebook) in STUDIES:
            raise LabError(f"{notebook} is a study and no notebook: linklab study run {notebook}")
