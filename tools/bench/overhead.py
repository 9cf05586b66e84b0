"""Overhead as a study of this machine: what a lab costs before and between measurements, in real time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

import nbformat

from linklab.errors import LabError
from linklab.guest import lab_api
from linklab.lab_group import Labs
from linklab.network import COURSE
from linklab.runtime.backends import choose
from linklab.runtime.client import LabProcess
from linklab.study.claims import Tables
from linklab.study.declare import Measured, Metric, Point, Study
from linklab.study.page import Grid
from tools.bench.page import bench_page

_EMPTY_CELLS: Final = 10
_ROUND_TRIPS: Final = 200


def _boot(labs: Labs) -> float:
    began_s = time.perf_counter()
    process = _booted(labs)
    took_s = time.perf_counter() - began_s
    labs.stop(process)
    return took_s


def _message(labs: Labs) -> float:
    process = _booted(labs)
    process.call(lab_api.now)  # imports what it needs
    took_s = []
    for _ in range(_ROUND_TRIPS):
        began_s = time.perf_counter()
        process.call(lab_api.now)
        took_s.append(time.perf_counter() - began_s)
    labs.stop(process)
    return median(took_s)


def _booted(labs: Labs) -> LabProcess:
    process = LabProcess.spawn(choose("guest"), labs.folder, labs.wall_limit_s)
    labs.watch(process)
    return process


def _first_ping(labs: Labs) -> float:
    began_s = time.perf_counter()
    lab = labs.start(COURSE)
    said = lab["h1"].cmd(f"ping -n -c 1 {COURSE.address_of('h4')}")
    took_s = time.perf_counter() - began_s
    labs.stop(lab)
    if " 0% packet loss" not in said:
        raise LabError(f"the first ping was not answered: {' '.join(said.split())}")
    return took_s


def _python(program: str) -> float:
    return _process("-c", program)


def _notebook(labs: Labs) -> float:
    cells = [nbformat.v4.new_code_cell("pass", id=f"cell-{number}") for number in range(_EMPTY_CELLS)]  # type: ignore[no-untyped-call]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    with TemporaryDirectory() as folder:
        notebook = Path(folder) / "empty.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), notebook)  # type: ignore[no-untyped-call]
        return _process("-m", "linklab", "run", str(notebook), "--output", f"{folder}/out")


def _process(*words: str) -> float:
    """Return how long Python runs. Raises LabError with its last line if it fails."""
    began_s = time.perf_counter()
    done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise LabError(f"python {words[0]} failed: {(done.stdout.strip().splitlines() or ['no output'])[-1]}")
    return time.perf_counter() - began_s


EMPTY_PYTHON, A_NOTEBOOK = "python with an empty program", f"linklab run of a notebook with {_EMPTY_CELLS} empty cells"
TIMED: Final[dict[str, Callable[[Labs], float]]] = {
    "boot, from nothing to the first answer of the agent in the guest": _boot,
    "linklab.start of the course network to the first answered ping, boot included": _first_ping,
    f"a message and its answer, median of {_ROUND_TRIPS}": _message,
    EMPTY_PYTHON: lambda labs: _python(""),
    "python that imports linklab and looks up linklab.start": lambda labs: _python("import linklab; linklab.start"),
    A_NOTEBOOK: _notebook,
}


def measure(labs: Labs, point: Point) -> list[Measured]:
    """Take the time once."""
    return [Measured("wall_ms", 1000 * TIMED[point.text("what")](labs))]


STUDY: Final = Study(
    name="overhead",
    title="Overhead: boot, messages, notebooks",
    testbed=None,
    factors={"what": tuple(TIMED)},
    measurement=measure,
    metrics=(Metric("wall_ms", "ms", "real time"),),
    repeats=5,
    short_repeats=2,
    source="what README promises",
)


def overhead_grid(tables: Tables) -> Grid:
    """Return the times, and what a notebook adds to plain Python."""
    found = {str(what): values for (what,), values in tables["overhead"].each("wall_ms", "what").items()}
    cells = [
        (what, str(it.count), *map(_ms, (median(it.values), it.low, it.high))) for what, it in found.items()
    ]  # fmt: skip
    added_ms = median(found[A_NOTEBOOK].values) - median(found[EMPTY_PYTHON].values)
    cells.append(("what that notebook takes more than python", "-", _ms(added_ms), "-", "-"))
    return Grid(("what", "repeats", "median (ms)", "least (ms)", "most (ms)"), tuple(cells))


def _ms(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


PAGE: Final = bench_page(STUDY, {"Real time": overhead_grid})
