"""``linklab run NOTEBOOK...``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import options
from linklab.signals import INTERRUPTED

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from linklab.headless.runner import Outcome

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
    """Add ``run`` to the command line; `run` takes what it parsed."""
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
    """Run the notebooks; return the exit status. Raises `LabError` for the caller to print, before any is begun."""
    # what takes long to load is not needed for --help
    from linklab.headless.runner import (
        NotebookLimits,
        NotebookWorker,
        copy_path,
        how_many,
        read_book,
        refuse_same_names,
        run_notebooks,
    )
    from linklab.headless.workers import WorkerPool
    from linklab.progress import ProgressDisplay
    from linklab.runtime.backends import need_system

    need_system()
    notebooks: list[Path] = arguments.notebooks
    _refuse_studies(notebooks)
    jobs = how_many(arguments.jobs, len(notebooks))
    refuse_same_names(notebooks)
    for notebook in notebooks:
        read_book(notebook)
        copy_path(notebook, arguments.output)
    limits = NotebookLimits(
        arguments.cell_limit_s, arguments.notebook_limit_s, arguments.cpu_limit_s, arguments.memory_mb
    )
    began_s = time.monotonic()
    pool = WorkerPool[NotebookWorker](jobs)
    with ProgressDisplay(len(notebooks), "notebooks") as display:
        outcomes = run_notebooks(pool, notebooks, arguments.output, limits, display)
    _print_outcomes(outcomes, jobs, time.monotonic() - began_s)
    if pool.interrupted:
        return INTERRUPTED
    return 0 if all(outcome.verdict == "passed" for outcome in outcomes) else 1


def _refuse_studies(notebooks: list[Path]) -> None:
    """Raise `LabError` where a name is that of a study: another command runs those."""
    missing = [notebook for notebook in notebooks if not notebook.exists()]
    if not missing:
        return  # all studies take half a second to load
    from linklab.errors import LabError
    from linklab.study.catalogue import studies

    for notebook in missing:
        if str(notebook) in studies():
            raise LabError(f"{notebook} is a study and no notebook: linklab study run {notebook}")


def _print_outcomes(outcomes: list[Outcome], jobs: int, wall_s: float) -> None:
    """Print how each notebook went, in the order given: failures on standard error, verdicts on standard output."""
    for outcome in outcomes:
        for failure in outcome.failures:
            print(f"{outcome.notebook}: {failure}", file=sys.stderr, flush=True)
        print(f"{outcome.notebook}: {_in_words(outcome)}", flush=True)
    if len(outcomes) > 1:
        counts = Counter(outcome.verdict for outcome in outcomes)
        words = ", ".join(
            f"{counts[verdict]} {verdict}"
            for verdict in ("passed", "FAILED", "stopped", "not begun")
            if counts[verdict]
        )
        print(f"{len(outcomes)} notebooks, {jobs} at once: {words}; {wall_s:.1f} s")


def _in_words(outcome: Outcome) -> str:
    if outcome.verdict == "not begun":
        return outcome.verdict
    cells = f"{outcome.of_cells} cells"
    if outcome.cells < outcome.of_cells:
        cells = f"{outcome.cells} of {cells}"
    where = f"copy in {outcome.copy}" if outcome.copy.is_file() else "no copy"
    return f"{outcome.verdict}, {cells}, {outcome.wall_s:.1f} s, {where}"
