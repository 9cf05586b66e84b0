"""``linklab validate``: proof before term that every solution can be done, and shows what its notebook shows.

nbval runs all cells of all notebooks, several at once, and compares what they show with what is stored, as an
instructor's ``pytest --nbval`` does. Here the notebooks are copies in folders of their own, so that a student's network
can lie beside them. Outputs are stored of the plain course network in user-mode Linux. On a student's network, and in
QEMU, whose digits are its own, the checks alone count.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import nbformat
import psutil
from rich.console import Console
from rich.table import Table

from linklab import options
from linklab.classroom import cell_reports
from linklab.classroom.roster import networks_of
from linklab.course import VARIABLE, write_variant
from linklab.errors import LinklabError
from linklab.headless.runner import how_many, read_book, write_book
from linklab.headless.workers import Worker, WorkerPool
from linklab.network import Network
from linklab.notebooks.build import SOLUTIONS, build_all
from linklab.notebooks.starters import SUFFIX
from linklab.progress import ProgressDisplay
from linklab.runtime import container
from linklab.runtime.backends import choose

_DEAD_S: Final = 5.0
"""nbval looks for its kernel's end ten times a second while it shuts it down; a busy machine gets some patience."""
_DIED: Final = "the notebook's kernel died"
_DESCRIPTION = """\
Runs all solutions with nbval, several at once, and compares what each cell shows with what its notebook stores. Says of
each cell that failed what it said, or where it differs. With a list of students, it runs them on the network of each,
or of the first --sample of them, and the checks alone count. Exit status: 0 if all passed, else 1."""


@dataclass(frozen=True)
class Failure:
    """A cell that failed: its id in the notebook, and the first line of what it said, or where its outputs differ."""

    cell: str
    said: str


@dataclass(frozen=True)
class Validated:
    """How one notebook went. ``network`` is the name of its course network; cells are those with code.

    ``outputs`` is what each cell showed, by id.
    """

    notebook: str
    network: str
    cells: int
    passed: int
    failures: tuple[Failure, ...]
    wall_s: float
    outputs: Mapping[str, list[Any]]

    @property
    def fine(self) -> bool:
        """Whether all cells were run and passed."""
        return not self.failures and self.cells == self.passed > 0


def notebooks_of(root: Path, names: Sequence[str] = ()) -> tuple[Path, ...]:
    """The solutions of the kit in ``root``, in order, or those that ``names`` mean.

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
    tell: Callable[[Validated], None] = lambda _: None,
) -> list[Validated]:
    """Runs every notebook on every network, ``jobs`` at once, and returns how each went, in order.

    ``networks`` has the variants by any key; None is the plain course network. On that one, ``compare`` has each cell
    fail that shows something else than the notebook stores. ``tell`` hears of each as soon as it is over. A notebook
    that crashes or hangs is a failure of that one. Ctrl-C ends all that run.
    """
    with tempfile.TemporaryDirectory(prefix="linklab-validate-") as place:
        starts = [
            partial(
                _Nbval, _prepared(Path(place, f"{number}-{notebook.stem}"), notebook, network),
                "course" if network is None else network.name, compare and network is None, cell_limit_s, tell,
            )
            for number, network in enumerate(networks.values())
            for notebook in notebooks
        ]  # fmt: skip
        pool = WorkerPool[_Nbval](jobs)
        found = [worker.validated for worker in pool.run(starts)]
        if pool.interrupted:
            raise KeyboardInterrupt
        return found


class _Nbval(Worker):
    """nbval at work on one notebook."""

    def __init__(
        self, notebook: Path, network: str, strict: bool, cell_limit_s: int, tell: Callable[[Validated], None]
    ) -> None:
        self._notebook, self._network, self._tell = notebook, network, tell
        self._died_s: float | None = None
        words = [sys.executable, "-P", "-m", "pytest", "-o", "addopts=", "-p", "no:cacheprovider"]
        words += ["-p", cell_reports.__name__, "--nbval" if strict else "--nbval-lax"]
        words += ["--nbval-current-env", f"--nbval-cell-timeout={cell_limit_s}"]
        words += [f"--rootdir={notebook.parent}", str(notebook)]
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        if container.chosen():  # what it says of this machine stands on the terminal, and not in the cells compared
            environment[container.VARIABLE] = "container"
        super().__init__(words, environment | {"PYTHONUNBUFFERED": "1"}, notebook.parent)

    def reason_to_end(self) -> str:
        """nbval would wait until a cell's limit for a kernel that has died."""
        if not _kernel_died(self.pid):
            self._died_s = None
            return ""
        # at its regular end the kernel is gone a moment before nbval is
        self._died_s = self._died_s or time.monotonic()
        return _DIED if time.monotonic() - self._died_s > _DEAD_S else ""

    def on_end(self) -> None:
        wall_s = time.monotonic() - self.began_s
        ended = self.end_reason or f"nbval ended with {self.how_it_ended}"
        self.validated = _read_reports(self._notebook, self._network, wall_s, ended)
        self._tell(self.validated)


def _kernel_died(pid: int) -> bool:
    """Whether all children of a process have ended, and it has not noticed."""
    try:
        children = psutil.Process(pid).children()
        return bool(children) and all(child.status() == psutil.STATUS_ZOMBIE for child in children)
    except psutil.NoSuchProcess:
        return False


def _read_reports(notebook: Path, network: str, wall_s: float, ended: str) -> Validated:
    """Return how a notebook went. Why it has ended early is the failure of the cell that was running."""
    cells = [cell.id for cell in read_book(notebook).cells if cell.cell_type == "code"]
    report = notebook.with_name(cell_reports.FILE)
    # nbval may have been killed in the middle of a line
    rows = report.read_text("utf-8").split("\n")[:-1] if report.exists() else []
    reports = [json.loads(row) for row in rows]
    failures = [Failure(report["cell"], report["failure"]) for report in reports if report["failure"]]
    passed = len(reports) - len(failures)
    if len(reports) < len(cells):
        failures.append(Failure(cells[len(reports)], ended))
    outputs = {report["cell"]: report["outputs"] for report in reports}
    return Validated(notebook.stem, network, len(cells), passed, tuple(failures), wall_s, outputs)


def store_outputs(notebook: Path, outputs: Mapping[str, list[Any]]) -> None:
    """Writes what each cell showed into the notebook, and nothing for one whose output nbval is told to ignore."""
    book = read_book(notebook)
    for number, cell in enumerate((cell for cell in book.cells if cell.cell_type == "code"), 1):
        shown = [] if "nbval-ignore-output" in cell.metadata.get("tags", ()) else outputs[cell.id]
        cell.execution_count, cell.outputs = number, list(map(nbformat.from_dict, shown))
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    write_book(book, notebook)


def _prepared(folder: Path, notebook: Path, network: Network | None) -> Path:
    """A copy of the notebook with the finished programs of its kit beside it, and a network if it has one.

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
    """Adds ``validate`` to the command line; `run` takes what it parsed."""
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
    """Validates and prints a table; gives the exit status. Raises LinklabError before anything is run."""
    exact = choose().name == "guest"  # raises with the fix where labs cannot run here
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
    began_s = time.monotonic()
    with ProgressDisplay(None, "notebooks") as display:
        display.expect(len(notebooks) * len(networks), done=0)

        def tell(one: Validated) -> None:
            display.count(failed=not one.fine)
            display.line(f"{one.notebook} ({one.network}): {'passed' if one.fine else 'FAILED'}")

        found = validate(
            notebooks, networks, jobs=jobs, compare=exact and not arguments.update,
            cell_limit_s=arguments.cell_limit_s, tell=tell,
        )  # fmt: skip
    if arguments.update:
        for notebook, one in zip(notebooks, found, strict=True):
            if one.fine:
                store_outputs(notebook, one.outputs)
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
            print(f"{where}, cell {failure.cell}: {failure.said}")
