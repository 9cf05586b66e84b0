"""``linklab validate``: proof before term that every solution can be done.

nbval runs all cells of all notebooks, several at once. It starts each notebook with this environment's Python, as an
instructor's ``pytest --nbval-lax`` does; here the notebooks are copies in folders of their own, so that a student's
network can lie beside them and nothing of the kit is touched.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import nbformat
import psutil
from rich.console import Console
from rich.table import Table
from rich.text import Text

from linklab import options
from linklab.classroom.roster import networks_of
from linklab.course import VARIABLE, write_variant
from linklab.errors import LinklabError
from linklab.headless.runner import how_many
from linklab.headless.workers import Worker, WorkerPool
from linklab.network import Network
from linklab.notebooks.build import SOLUTIONS
from linklab.notebooks.starters import SUFFIX
from linklab.progress import ProgressDisplay
from linklab.runtime.backends import choose

_nbformat: Any = nbformat
_APART_S: Final = 1.0
"""Between two starts: of kernels that start at one instant, two may be given the same port."""
_DEAD_S: Final = 5.0
"""nbval looks for its kernel's end ten times a second while it shuts it down; a busy machine gets some patience."""
_DIED: Final = "the notebook's kernel died"
_CELL: Final = re.compile(r"Cell (\d+)")
_ERROR: Final = re.compile(r"^\s*([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Timeout): .*)$", re.MULTILINE)
_COLOURS: Final = re.compile(r"(?:\x1b|#x1B)\[[0-9;]*m")
"""For terminals; the report cannot hold the escape character, and spells it."""
_DESCRIPTION = """\
Runs all solutions with nbval, several at once, and says of each cell that failed what it said. With a list of students,
it runs them on the network of each, or of the first --sample of them. Exit status: 0 if all passed, else 1."""

_LOG_COLUMNS = 160


@dataclass(frozen=True)
class Failure:
    """A cell that failed: its id in the notebook, and the first line of what it said."""

    cell: str
    said: str


@dataclass(frozen=True)
class Validated:
    """How one notebook went. ``network`` is the name of its course network; cells are those with code."""

    notebook: str
    network: str
    cells: int
    passed: int
    failures: tuple[Failure, ...]
    wall_s: float

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
    cell_limit_s: int = 900,
    tell: Callable[[Validated], None] = lambda _: None,
) -> list[Validated]:
    """Runs every notebook on every network, ``jobs`` at once, and returns how each went, in order.

    ``networks`` has the variants by any key; None is the plain course network. ``tell`` hears of each as soon as it is
    over. A notebook that crashes, hangs or cannot be read is a failure of that one. Ctrl-C ends all that run.
    """
    with tempfile.TemporaryDirectory(prefix="linklab-validate-") as place:
        starts = [
            partial(
                _Nbval, _prepared(Path(place, f"{number}-{notebook.stem}"), notebook, network),
                "course" if network is None else network.name, cell_limit_s, tell,
            )
            for number, network in enumerate(networks.values())
            for notebook in notebooks
        ]  # fmt: skip
        pool = WorkerPool[_Nbval](jobs, apart_s=_APART_S)
        found = [worker.validated for worker in pool.run(starts)]
        if pool.interrupted:
            raise KeyboardInterrupt
        return found


class _Nbval(Worker):
    """nbval at work on one notebook."""

    def __init__(self, notebook: Path, network: str, cell_limit_s: int, tell: Callable[[Validated], None]) -> None:
        self._notebook, self._network, self._tell = notebook, network, tell
        self._report = notebook.parent / "report.xml"
        self._lines: list[str] = []
        self._died_s: float | None = None
        words = [sys.executable, "-P", "-m", "pytest", "-v", "-o", "addopts=", "-p", "no:cacheprovider"]
        words += ["--nbval-lax", "--nbval-current-env", f"--nbval-cell-timeout={cell_limit_s}"]
        words += [f"--rootdir={notebook.parent}", f"--junitxml={self._report}", str(notebook)]
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        super().__init__(words, environment | {"PYTHONUNBUFFERED": "1"}, notebook.parent)

    def on_line(self, line: bytes) -> None:
        self._lines.append(line.decode(errors="replace"))

    def reason_to_end(self) -> str:
        """nbval would wait until a cell's limit for a kernel that has died."""
        if not _kernel_died(self.pid):
            self._died_s = None
            return ""
        # at its regular end the kernel is gone a moment before nbval is
        self._died_s = self._died_s or time.monotonic()
        return _DIED if time.monotonic() - self._died_s > _DEAD_S else ""

    def on_end(self) -> None:
        said = "\n".join([*self._lines, self.last_error_line, self.end_reason])
        wall_s = time.monotonic() - self.began_s
        self.validated = read_report(self._report, self._notebook, self._network, wall_s, said)
        self._tell(self.validated)


def _kernel_died(pid: int) -> bool:
    """Whether all children of a process have ended, and it has not noticed."""
    try:
        children = psutil.Process(pid).children()
        return bool(children) and all(child.status() == psutil.STATUS_ZOMBIE for child in children)
    except psutil.NoSuchProcess:
        return False


def read_report(report: Path, notebook: Path, network: str, wall_s: float, said: str) -> Validated:
    """What nbval's report says of a notebook. Where there is none, the last line of what was said is the failure."""
    cells: list[str] = []
    try:
        book = _nbformat.read(notebook, as_version=4)
        cells += [cell.id for cell in book.cells if cell.cell_type == "code"]
        cases = list(ElementTree.parse(report).iter("testcase"))
    except Exception as error:
        lines = [row for row in said.splitlines() if row.strip()]
        why = lines[-1] if lines else f"{type(error).__name__}: {error}"
        begun = [int(number) for row in lines if "::" in row for number in _CELL.findall(row)]
        where = cells[begun[-1]] if why == _DIED and begun and begun[-1] < len(cells) else "the notebook"
        passed = sum(row.rstrip().endswith("]") and "PASSED" in row for row in lines)
        return Validated(notebook.stem, network, len(cells), passed, (Failure(where, why),), wall_s)
    failures, passed = [], 0
    for case in cases:
        trouble = [found for kind in ("failure", "error") for found in case.findall(kind)]
        if trouble:
            failures.append(Failure(_cell(case.get("name", ""), cells), _first_line(trouble[0])))
        else:
            passed += 1
    if not cases:
        failures.append(Failure("the notebook", "nbval ran no cell of it"))
    return Validated(notebook.stem, network, len(cells), passed, tuple(failures), wall_s)


def _cell(name: str, cells: Sequence[str]) -> str:
    """nbval counts the cells with code, from 0; people find a cell by its id."""
    found = _CELL.search(name)
    number = int(found[1]) if found else -1
    return cells[number] if 0 <= number < len(cells) else name


def _first_line(trouble: ElementTree.Element) -> str:
    """The exception's own first line; without one, what nbval says of the cell."""
    text = _COLOURS.sub("", trouble.text or trouble.get("message") or "")
    before, _, after = text.rpartition("Traceback")
    if found := _ERROR.search(after if before else text):
        return found[1].strip()
    if found := re.search(r"^Cell \d+: (.+)$", text, re.MULTILINE):
        return found[1].strip()
    lines = [row.strip() for row in text.splitlines() if row.strip()]
    return lines[-1] if lines else "it failed and said nothing"


def _prepared(folder: Path, notebook: Path, network: Network | None) -> Path:
    """A copy of the notebook with the finished programs of its kit beside it, and a network if it has one."""
    folder.mkdir()
    shutil.copy(notebook, folder)
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
    parser.add_argument("--jobs", type=options.count, metavar="N", help="notebooks at once (default: one a core)")
    parser.add_argument(
        "--cell-limit-s", type=options.seconds, default=900, metavar="S", help="for a cell; default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> int:
    """Validates and prints a table; gives the exit status. Raises LinklabError before anything is run."""
    choose()  # raises with the fix where labs cannot run here
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
    with ProgressDisplay(None, "notebooks") as display:
        display.expect(len(notebooks) * len(networks), done=0)

        def tell(one: Validated) -> None:
            display.count(failed=not one.fine)
            display.line(f"{one.notebook} ({one.network}): {'passed' if one.fine else 'FAILED'}")

        found = validate(notebooks, networks, jobs=jobs, cell_limit_s=arguments.cell_limit_s, tell=tell)
    students = [student for student in networks for _ in notebooks]
    _print(found, students)
    good = sum(one.fine for one in found)
    print(f"{len(found)} notebooks, {jobs} at once: {good} passed, {len(found) - good} FAILED; "
          f"{time.monotonic() - began_s:.0f} s")  # fmt: skip
    return 0 if good == len(found) else 1


def _print(found: list[Validated], students: list[str]) -> None:
    # a log has no width of its own; the last column says what to mend
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _LOG_COLUMNS)
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
