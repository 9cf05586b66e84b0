"""``linklab validate``: proof before term that every solution can be done, and shows what its notebook shows.

All cells of all notebooks are run, several notebooks at once, and what they show is compared with what is stored, as an
instructor's ``pytest --nbval`` does. Here the notebooks are copies in folders of their own, so that a student's network
can lie beside them. Outputs are stored of the plain course network in user-mode Linux. On a student's network, and in
QEMU, whose digits are its own, the checks alone count.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from linklab import options
from linklab.classroom.roster import networks_of
from linklab.classroom.stored_outputs import differences, store
from linklab.course import VARIABLE, write_variant
from linklab.errors import LinklabError
from linklab.files import temporary_folder
from linklab.headless.runner import NotebookLimits, NotebookWorker, how_many, read_book, write_book
from linklab.headless.workers import WorkerPool
from linklab.network import Network
from linklab.notebooks.build import SOLUTIONS, build_all
from linklab.notebooks.starters import SUFFIX
from linklab.progress import ProgressDisplay
from linklab.runtime import container
from linklab.runtime.backends import choose
from linklab.runtime.image.find import library

_EXECUTED: Final = "executed"
_DAY_S: Final = 86_400
_MEMORY_MB: Final = 4096
_DESCRIPTION = """\
Runs all solutions, several at once, and compares what each cell shows with what its notebook stores. Says of each cell
that failed what it said, or where it differs. With a list of students, it runs them on the network of each, or of the
first --sample of them, and the checks alone count. Exit status: 0 if all passed, else 1."""


@dataclass(frozen=True)
class Validated:
    """How one notebook went. ``network`` is the name of its course network; cells are those with code.

    ``failures`` has a line for each failed cell; ``executed`` is the notebook with what its cells showed, None where it
    was not run.
    """

    notebook: str
    network: str
    cells: int
    passed: int
    failures: tuple[str, ...]
    wall_s: float
    executed: Any

    @property
    def fine(self) -> bool:
        """Whether all cells were run and passed."""
        return not self.failures and self.cells == self.passed > 0


def notebooks_of(root: Path, names: Sequence[str] = ()) -> tuple[Path, ...]:
    """Return the solutions of the kit in ``root``, in order, or those that ``names`` mean.

    Raises LinklabError where there are none.
    """
    found = tuple(sorted((root / SOLUTIONS).glob("[0-9][0-9]-*.ipynb")))
    if not found:
        raise LinklabError(f"no notebook solutions/NN-name.ipynb in {root}: name the folder that holds solutions/")
    chosen = options.chosen([name.removesuffix(".ipynb") for name in names], [path.stem for path in found])
    return tuple(path for path in found if path.stem in chosen)


def validate(
    notebooks: Sequence[Path],
    networks: Mapping[str, Network | None],
    *,
    jobs: int,
    compare: bool = True,
    cell_limit_s: int = 900,
) -> list[Validated]:
    """Run every notebook on every network, ``jobs`` at once, show how far it is, and return how each went, in order.

    ``networks`` has the variants by any key; None is the plain course network. On that one, ``compare`` has each cell
    fail that shows something else than the notebook stores. A notebook that crashes or hangs is a failure of that one.
    Ctrl-C ends all that run.
    """
    limits = NotebookLimits(cell_limit_s, _DAY_S, _DAY_S, _MEMORY_MB)
    with (
        temporary_folder() as place,
        ProgressDisplay(len(notebooks) * len(networks), "notebooks") as display,
    ):
        starts = [
            partial(
                _Validation, _prepared(place / f"{number}-{notebook.stem}", notebook, network), network,
                limits, display, compare=compare and network is None,
            )
            for number, network in enumerate(networks.values())
            for notebook in notebooks
        ]  # fmt: skip
        pool = WorkerPool[_Validation](jobs)
        found = [worker.validated() for worker in pool.run(starts)]
        if pool.interrupted:
            raise KeyboardInterrupt
        return found


class _Validation(NotebookWorker):
    """One notebook on one network: it is run, and what it shows is compared with what it stores."""

    def __init__(
        self,
        notebook: Path,
        network: Network | None,
        limits: NotebookLimits,
        display: ProgressDisplay,
        *,
        compare: bool,
    ) -> None:
        self._stored, self._compare = notebook, compare
        self._network = "course" if network is None else network.name
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        if container.chosen():  # what it says of this machine stands on the terminal, and not in the cells compared
            environment[container.VARIABLE] = "container"
        super().__init__(
            notebook, notebook.parent / _EXECUTED, limits, display,
            name=f"{notebook.stem} ({self._network})", as_nbval=True, environment=environment,
        )  # fmt: skip

    def other_failures(self) -> Iterable[str]:
        if not self._compare or not self._copy.exists():
            return ()
        return differences(read_book(self._stored), read_book(self._copy))

    def validated(self) -> Validated:
        """Return how it went, once the process has ended."""
        one = self.outcome
        cells = sum(cell.cell_type == "code" for cell in read_book(self._stored).cells)
        executed = read_book(self._copy) if self._copy.exists() else None
        passed = max(0, one.cells - len(one.failures))
        return Validated(self._stored.stem, self._network, cells, passed, one.failures, one.wall_s, executed)


def store_outputs(notebook: Path, executed: Any) -> None:
    """Write what each cell of the executed notebook showed into the notebook's file."""
    book = read_book(notebook)
    store(executed, book)
    write_book(book, notebook)


def _prepared(folder: Path, notebook: Path, network: Network | None) -> Path:
    """Copy the notebook, the finished programs of its kit, and a network if it has one, into a folder.

    The notebooks of the labs before it lie there too: its end shows how sure students were in all labs so far.
    """
    folder.mkdir()
    for each in notebook.parent.glob("[0-9][0-9]-*.ipynb"):
        if each.name <= notebook.name:
            shutil.copy(each, folder)
    for recipe in notebook.parent.glob(f"*{SUFFIX}"):
        shutil.copy(recipe.with_suffix(""), folder)
    if network is not None:
        write_variant(network, folder)
    return folder / notebook.name


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``validate`` to the command line; `run` takes what it parsed."""
    parser = subparsers.add_parser("validate", help="prove that all solutions can be done", description=_DESCRIPTION)
    parser.add_argument("labs", nargs="*", metavar="LAB", help="numbers or names, as 03 (default: all)")
    parser.add_argument("--root", type=Path, default=Path(), help="the folder of solutions/ (default: here)")
    parser.add_argument("--students", type=Path, metavar="FILE", help="one id a line: on the network of each")
    parser.add_argument("--secret", type=Path, metavar="FILE", help="the course secret, with --students")
    parser.add_argument(
        "--sample", type=options.count, metavar="N", help="only on the networks of the first N students"
    )
    parser.add_argument("--update", action="store_true", help="build the notebooks, and store what their cells show")
    parser.add_argument("--jobs", type=options.count, metavar="N", help="notebooks at once (default: one a core)")
    parser.add_argument(
        "--cell-limit-s", type=options.seconds, default=900, metavar="S", help="for a cell; default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> int:
    """Validate, print a table, and return the exit status. Raises LinklabError before anything is run."""
    kind = choose()  # raises with the fix where labs cannot run here
    exact = kind.name == "guest"
    if (arguments.students is None) != (arguments.secret is None):
        raise LinklabError("--students and --secret go together: give both, or none")
    if arguments.sample and arguments.students is None:
        raise LinklabError("--sample is of students: give --students FILE and --secret FILE as well")
    networks: dict[str, Network | None] = {"": None}
    if arguments.students is not None:
        networks = dict(networks_of(arguments.students, arguments.secret))
        networks = dict(list(networks.items())[: arguments.sample])
    if arguments.update and not (exact and arguments.students is None):
        raise LinklabError("outputs are stored of the plain course network in user-mode Linux: run --update there")
    built = build_all(arguments.root, check=not arguments.update)
    if not arguments.update and (stale := [str(file.path) for file in built if file.stale]):
        raise LinklabError(f"{', '.join(stale)}: not what its source makes: run `linklab validate --update`")
    notebooks = notebooks_of(arguments.root, arguments.labs)
    if not exact:
        print("Labs run in QEMU here, whose digits are its own: the checks alone count, and no outputs are compared.")
    jobs = how_many(arguments.jobs, len(notebooks) * len(networks))
    if kind.image:
        library(kind.image)  # made by the first lab otherwise, and the second notebook would show that it waits for it
    began_s = time.monotonic()
    found = validate(
        notebooks, networks, jobs=jobs, compare=exact and not arguments.update, cell_limit_s=arguments.cell_limit_s
    )
    if arguments.update:
        for notebook, one in zip(notebooks, found, strict=True):
            if one.fine:
                store_outputs(notebook, one.executed)
    students = [student for student in networks for _ in notebooks]
    _print(found, students)
    good = sum(one.fine for one in found)
    print(f"{len(found)} notebooks, {jobs} at once: {good} passed, {len(found) - good} FAILED; "
          f"{time.monotonic() - began_s:.0f} s")  # fmt: skip
    return 0 if good == len(found) else 1


def _print(found: list[Validated], students: list[str]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    several = len({one.network for one in found}) > 1 or any(students)
    for heading in ("lab", *(("student", "network") if several else ())):
        table.add_column(heading, no_wrap=True)
    for heading in ("cells", "passed", "failed", "seconds"):
        table.add_column(heading, justify="right")
    for one, student in zip(found, students, strict=True):
        numbers = (str(one.cells), str(one.passed), str(len(one.failures)), f"{one.wall_s:.0f}")
        table.add_row(one.notebook, *((student, one.network) if several else ()), *numbers)
    Console(highlight=False).print(table)
    for one, student in zip(found, students, strict=True):
        for failure in one.failures:
            where = f"{one.notebook}{f' ({student})' if student else ''}"
            print(f"{where}, {failure}")
