"""Proof before term that every solution can be done: nbval runs all cells of all notebooks, several at once.

nbval starts each notebook with this environment's Python, as an instructor's ``pytest --nbval-lax`` does; here the
notebooks are copies in folders of their own, so that a student's network can lie beside them and nothing of the kit is
touched.
"""

from __future__ import annotations

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

from linklab.course import VARIABLE, write_variant
from linklab.errors import LinklabError
from linklab.headless.supervisor import Supervisor, Worker
from linklab.network import Network
from linklab.notebooks.build import SOLUTIONS
from linklab.notebooks.starters import SUFFIX

_nbformat: Any = nbformat
_APART_S: Final = 1.0
"""Between two starts: of kernels that start at one instant, two may be given the same port."""
_DEAD_S: Final = 18.0
_DIED: Final = "the notebook's kernel died"
_CELL: Final = re.compile(r"Cell (\d+)")
_ERROR: Final = re.compile(r"^\s*([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Timeout): .*)$", re.MULTILINE)
_COLOURS: Final = re.compile(r"(?:\x1b|#x1B)\[[0-9;]*m")
"""For terminals; the report cannot hold the escape character, and spells it."""


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
    """The solutions of the kit in ``root``, in order, or those whose names begin as one of ``names``.

    Raises LinklabError where there are none.
    """
    found = tuple(sorted((root / SOLUTIONS).glob("[0-9][0-9]-*.ipynb")))
    if not found:
        raise LinklabError(f"no notebook solutions/NN-name.ipynb in {root}: name the folder that holds solutions/")
    chosen = tuple(path for path in found if not names or path.name.startswith(tuple(names)))
    unknown = [name for name in names if not any(path.name.startswith(name) for path in found)]
    if unknown:
        raise LinklabError(f"no lab is called {unknown[0]}: choose of {', '.join(path.stem for path in found)}")
    return chosen


def validate(
    notebooks: Sequence[Path],
    networks: Mapping[str, Network | None],
    *,
    jobs: int,
    clock: str = "virtual",
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
                "course" if network is None else network.name, clock, cell_limit_s, tell,
            )
            for number, network in enumerate(networks.values())
            for notebook in notebooks
        ]  # fmt: skip
        supervisor = Supervisor[_Nbval](jobs, apart_s=_APART_S)
        found = [worker.validated for worker in supervisor.run(starts)]
        if supervisor.interrupted:
            raise KeyboardInterrupt
        return found


class _Nbval(Worker):
    """nbval at work on one notebook."""

    def __init__(
        self, notebook: Path, network: str, clock: str, cell_limit_s: int, tell: Callable[[Validated], None]
    ) -> None:
        self._notebook, self._network, self._tell = notebook, network, tell
        self._report = notebook.parent / "report.xml"
        self._lines: list[str] = []
        self._died_s: float | None = None
        words = [sys.executable, "-P", "-m", "pytest", "-v", "-o", "addopts=", "-p", "no:cacheprovider"]
        words += ["--nbval-lax", "--nbval-current-env", f"--nbval-cell-timeout={cell_limit_s}"]
        words += [f"--rootdir={notebook.parent}", f"--junitxml={self._report}", str(notebook)]
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        super().__init__(words, environment | {"LINKLAB_CLOCK": clock, "PYTHONUNBUFFERED": "1"}, notebook.parent)

    def heard(self, line: bytes) -> None:
        self._lines.append(line.decode(errors="replace"))

    def beyond(self) -> str:
        """nbval would wait until a cell's limit for a kernel that has died."""
        if not _kernel_died(self.pid):
            self._died_s = None
            return ""
        # at its regular end the kernel is gone a moment before nbval is
        self._died_s = self._died_s or time.monotonic()
        return _DIED if time.monotonic() - self._died_s > _DEAD_S else ""

    def over(self) -> None:
        said = "\n".join([*self._lines, self.last_words, self.ended_for])
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
