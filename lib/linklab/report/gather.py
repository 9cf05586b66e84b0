"""Which notebooks a portfolio is made of, and reading them."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Sequence
from pathlib import Path

import nbformat

from linklab import __version__
from linklab.errors import LinklabError
from linklab.headless.runner import read_book
from linklab.options import cores
from linklab.record import processor
from linklab.report.lab import lab_of
from linklab.report.model import LabRecord, Portfolio


def default_notebooks(folder: Path) -> list[Path]:
    """A folder's labs in their order: those in its ``labs``, or in itself. Raises LinklabError if it has none."""
    place = folder / "labs" if (folder / "labs").is_dir() else folder
    found = sorted(place.glob("*.ipynb"))
    if not found:
        raise LinklabError(f"there is no notebook in {place.resolve()}: go to your labs, or name the notebooks")
    return found


def read_lab(path: Path) -> LabRecord:
    """A notebook as part of a portfolio. Raises LinklabError for what is missing or no notebook."""
    book = read_book(path)
    try:
        nbformat.validate(book)
    except nbformat.ValidationError as error:
        reason = str(error).splitlines()[0][:100]
        raise LinklabError(f"{path} is not a notebook: {reason}; open it in JupyterLab and save it again") from None
    saved_at = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC)
    return lab_of(book, path.name, saved_at)


def portfolio_of(paths: Sequence[Path], student: str) -> Portfolio:
    """The portfolio of these notebooks, each once, in this order.

    Raises LinklabError for a file that is missing or no notebook, and where none of them was ever executed.
    """
    once = {path.resolve(): path for path in paths}
    labs = tuple(read_lab(path) for path in once.values())
    if not any(lab.executed for lab in labs):
        names = ", ".join(str(path) for path in once.values())
        raise LinklabError(
            f"nothing of {names} was ever executed: run it in JupyterLab and save it, or `linklab run` it"
        )
    made_at = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Portfolio(student, made_at, __version__, about_machine(), labs)


def about_machine() -> tuple[tuple[str, str], ...]:
    """This machine in words, by name."""
    count = cores()
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    name = processor()
    return (
        ("Machine", f"{name}, {count} core{'' if count == 1 else 's'}, {memory_gb:.1f} GB of memory"),
        ("System", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"),
    )
