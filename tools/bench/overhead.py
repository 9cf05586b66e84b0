"""Overhead: what the lab costs before and between measurements, in real seconds."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat

from linklab.errors import LabError
from linklab.guest import lab_api
from linklab.network import COURSE
from tools.bench.part import Crew, Findings, Keep, Record, Say, Settings, Table, having, median

NAME, TITLE = "overhead", "Overhead: boot, messages, notebooks"
_EMPTY_CELLS = 10
_ROUND_TRIPS = 200
BOOT, ANSWER, MESSAGE, PING = "boot", "start", "message", "ping"
PYTHON, NOTEBOOK, LOADED = "python", "notebook", "import"
_WHAT = {
    BOOT: "boot: from nothing to the first answer of the agent in the guest",
    ANSWER: "linklab.start of the course network to the first answered ping, boot included",
    MESSAGE: f"a message and its answer (median of {_ROUND_TRIPS})",
    PYTHON: "python with an empty program",
    LOADED: "python that imports linklab and looks up linklab.start",
    NOTEBOOK: f"linklab run of a notebook with {_EMPTY_CELLS} cells that do nothing",
}


def measure(settings: Settings, say: Say, keep: Keep) -> None:
    """A record for each time taken; all kinds in turn, so that a machine that changes its pace changes it for all."""
    repeats = min(settings.repeats, 2 if settings.quick else 5)
    with Crew(settings.folder) as crew, TemporaryDirectory() as folder:
        notebook = Path(folder) / "empty.ipynb"
        _write_notebook(notebook)
        timed: dict[str, Callable[[], float]] = {
            BOOT: lambda: _boot(crew),
            MESSAGE: lambda: _message(crew),
            ANSWER: lambda: _first_ping(crew),
            PYTHON: lambda: _process([sys.executable, "-c", ""], folder),
            LOADED: lambda: _process([sys.executable, "-c", "import linklab; linklab.start"], folder),
            NOTEBOOK: lambda: _process(
                [sys.executable, "-m", "linklab", "run", str(notebook), "--output", f"{folder}/out"], folder
            ),
        }
        for repeat in range(1, repeats + 1):
            for what, function in timed.items():
                say(f"{what}, repeat {repeat} of {repeats}")
                keep({"what": what, "repeat": repeat, "wall_s": function()})


def _boot(crew: Crew) -> float:
    began_s = time.perf_counter()
    process = crew.boot()
    took_s = time.perf_counter() - began_s
    crew.stop(process)
    return took_s


def _message(crew: Crew) -> float:
    process = crew.boot()
    try:
        process.call(lab_api.now)  # imports what it needs
        took_s = []
        for _ in range(_ROUND_TRIPS):
            began_s = time.perf_counter()
            process.call(lab_api.now)
            took_s.append(time.perf_counter() - began_s)
    finally:
        crew.stop(process)
    return median(took_s)


def _first_ping(crew: Crew) -> float:
    began_s = time.perf_counter()
    lab = crew.start(COURSE)
    try:
        said = lab["h1"].cmd(f"ping -n -c 1 {COURSE.address_of('h4')}")
        took_s = time.perf_counter() - began_s
    finally:
        crew.stop(lab)
    if " 0% packet loss" not in said:
        raise LabError(f"the first ping was not answered: {' '.join(said.split())}")
    return took_s


def _process(words: list[str], folder: str) -> float:
    """How long a program runs. Raises `LabError` with its last line if it fails."""
    began_s = time.perf_counter()
    # its own session: an interrupt is ours to pass on, by ending it
    done = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        said, _ = done.communicate()
    except BaseException:
        done.terminate()
        done.communicate()
        raise
    if done.returncode != 0:
        raise LabError(f"{' '.join(words[1:4])} failed: {(said.strip().splitlines() or ['no output'])[-1]}")
    return time.perf_counter() - began_s


def _write_notebook(path: Path) -> None:
    cells = [nbformat.v4.new_code_cell("pass", id=f"cell-{number}") for number in range(_EMPTY_CELLS)]  # type: ignore[no-untyped-call]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)  # type: ignore[no-untyped-call]


def report(records: Sequence[Record], settings: Settings) -> Findings:
    """The times, medians with their range, and what a notebook adds to plain Python. Pure."""
    rows = []
    for what, words in _WHAT.items():
        times_s = [record["wall_s"] for record in having(records, what=what)]
        if times_s:
            rows.append((words, str(len(times_s)), *(_ms(f(times_s)) for f in (median, min, max))))
    notebook, python = ([r["wall_s"] for r in having(records, what=what)] for what in (NOTEBOOK, PYTHON))
    if notebook and python:
        rows.append(
            ("a notebook's overhead: the last less plain python", "", _ms(median(notebook) - median(python)), "", "")
        )
    table = Table("Wall time, in ms", ("what", "repeats", "median", "least", "most"), tuple(rows))
    return Findings((table,) if rows else ())


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2f}" if seconds < 0.1 else f"{1000 * seconds:.0f}"
