"""Data stored in notebook outputs for reports, and facts about a run.

JSON among a cell's outputs, for `linklab report`: Jupyter's pages show nothing for a type that they do not know, and
keep it with the notebook. How much virtual time the labs of a run went through. On what processor it was.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

RESULT_MIME: Final = "application/vnd.linklab.result+json"
"""The checks of a question: `linklab.grade.Result.to_json`, and the Linklab that made it under ``linklab``."""
LAB_MIME: Final = "application/vnd.linklab.lab+json"
"""What a lab ran on: ``linklab``, ``kind``, ``kernel``."""
PROGRESS_MIME: Final = "application/vnd.linklab.progress+json"
"""With the list of what is done (`linklab.grade.progress`), which is for the page alone: nothing but the version."""
PAGE_MIME: Final = "application/vnd.linklab.page+json"
"""With what else is for the page alone: the version, and with an explanation (`linklab.grade.written`) the answers that
opened it: ``opened_by``, texts by the names of their cells."""
FOR_THE_PAGE: Final = frozenset((PROGRESS_MIME, PAGE_MIME))
"""Outputs with these stand in no report and in no feedback."""
RUNS_MIME: Final = "application/vnd.linklab.runs+json"
"""With the picture of recorded runs (`linklab.show.network`): ``packets`` has a digest of the packets of each run."""
TEXT_STUB: Final = "*Write your answer here. (Enter opens this cell, Shift+Enter closes it.)*"
"""What students find in place of a model answer."""
TALLY_VARIABLE: Final = "LINKLAB_TALLY"
"""The environment variable that names the file into which the labs of a run write how long they lived."""


def entries(data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the dictionaries in a list of stored data, which anybody may have written; none where there is no list."""
    found = data.get(name)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def opened_by(outputs: object) -> dict[str, str]:
    """Return the answers in words that opened an explanation among a cell's outputs, by the names of their cells."""
    found: dict[str, str] = {}
    for output in outputs if isinstance(outputs, list) else []:
        data = output.get("data") if isinstance(output, dict) else None
        shown = data.get(PAGE_MIME) if isinstance(data, dict) else None
        answers = shown.get("opened_by") if isinstance(shown, dict) else None
        found |= {
            name: it for name, it in (answers if isinstance(answers, dict) else {}).items() if isinstance(it, str)
        }
    return found


def text(entry: Mapping[str, Any], name: str) -> str:
    """Return a text of stored data, empty where there is none."""
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def add_to_cell(bundle: dict[str, Any]) -> None:
    """Add data, by type, to the outputs of the cell that runs; does nothing outside of a notebook."""
    if (shell := kernels_shell()) is not None:
        shell.display_pub.publish(bundle)


def kernels_shell() -> Any:
    """Return IPython's shell in a notebook's kernel; None where no kernel runs this."""
    # a program that has not loaded IPython is not run by it
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if getattr(shell, "kernel", None) is not None else None


def somebody_watches() -> bool:
    """Return True in the kernel of a page. Jupyter's server names the notebook to kernels of its own only."""
    return kernels_shell() is not None and "JPY_SESSION_NAME" in os.environ


def cells_run() -> list[str] | None:
    """Return the source of each cell that this kernel has run, last the one that runs; None outside of a notebook.

    It is empty where the kernel is told to keep no history, as by nbval.
    """
    shell = kernels_shell()
    return [str(source).strip() for source in shell.user_ns.get("In", ())][1:] if shell is not None else None


def tally(virtual_s: float) -> None:
    """Add a lab's life by its own clock to the file that LINKLAB_TALLY names, if it names one.

    Where that is not possible it is left out: these are statistics, for which no lab is to fail.
    """
    path = os.environ.get(TALLY_VARIABLE)
    if path:
        with contextlib.suppress(OSError), open(path, "a", encoding="ascii") as file:
            file.write(f"{virtual_s:.9f}\n")


def tallied_s(path: Path) -> float:
    """Return the sum of what labs wrote there, 0.0 if none did."""
    return sum(map(float, path.read_text("ascii").split())) if path.exists() else 0.0


def processor() -> str:
    """Return the processor's name, or its architecture where the system knows no name."""
    told = Path("/proc/cpuinfo")
    return (cpu_model(told.read_text("utf-8")) if told.is_file() else platform.processor()) or platform.machine()


def cpu_model(cpuinfo: str) -> str:
    """Return the processor's name in /proc/cpuinfo, empty where there is none. Pure."""
    names = [line.partition(":")[2].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return names[0] if names else ""
