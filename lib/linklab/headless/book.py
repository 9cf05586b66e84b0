"""Notebooks as files: reading them, which of their cells run, and which failed."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat

from linklab.errors import LabError


def read_book(notebook: Path) -> nbformat.NotebookNode:
    """The notebook in a file. Raises `LabError` where there is none."""
    try:
        book: nbformat.NotebookNode = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    except OSError as error:
        why = "there is no notebook" if isinstance(error, FileNotFoundError) else f"{error.strerror}:"
        raise LabError(f"{why} {notebook}") from None
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        raise LabError(f"{notebook} is not a notebook: {reason}") from None
    return book


def write_book(book: nbformat.NotebookNode, path: Path) -> None:
    """Writes a notebook at one stroke: no half of it is ever there. Raises OSError."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        nbformat.write(book, fresh)  # type: ignore[no-untyped-call]
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def copy_path(notebook: Path, output: Path) -> Path:
    """Where the executed copy will be; makes the folder. Raises `LabError` where that is the notebook itself."""
    copy = output / notebook.name
    if copy.resolve() == notebook.resolve():
        raise LabError(f"{copy} would be overwritten by its executed copy: say another folder with --output")
    output.mkdir(parents=True, exist_ok=True)
    return copy


def refuse_same_names(notebooks: list[Path]) -> None:
    """Raises `LabError` where two copies would have one name."""
    names = [notebook.name for notebook in notebooks]
    for name in names:
        if names.count(name) > 1:
            raise LabError(f"two notebooks are called {name}, and their copies too: run one after the other")


def runs(cell: nbformat.NotebookNode) -> bool:
    """Whether this cell has code to run."""
    return cell.cell_type == "code" and bool(cell.source.strip())


def label(book: nbformat.NotebookNode, index: int) -> str:
    """How a cell is named to people: its place, counted from 1, and its id."""
    return f"cell {index + 1} ({book.cells[index].get('id', 'no id')})"


def failures(book: nbformat.NotebookNode) -> list[str]:
    """A line for each cell that raised, those left out whose tag says that they shall."""
    return [
        f"{label(book, index)}: {output.ename}: {(output.evalue.splitlines() or [''])[0]}"
        for index, cell in enumerate(book.cells)
        if cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", [])
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
