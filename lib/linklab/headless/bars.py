"""Bars in a terminal: one for each notebook that runs, one for all of them; gone in the end."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

Key = TypeVar("Key", bound=Hashable)


class Bars(Generic[Key]):
    """Bars of so many notebooks, each known by a key. Shown from ``with`` on."""

    def __init__(self, notebooks: int, at: str = "", *, visible: bool = True, console: Console | None = None) -> None:
        """``at`` stands behind the bar of all notebooks, which is ``visible`` or not. ``console``: else the screen."""
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[at]}"),
            TimeElapsedColumn(),
            console=console or Console(),
            transient=True,
        )
        self._tasks: dict[Key, TaskID] = {}
        self._all = self._progress.add_task("all notebooks", total=notebooks, at=at, visible=visible)

    def __enter__(self) -> Bars[Key]:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def add(self, key: Key, name: str, at: str = "") -> None:
        """Adds a notebook's bar, with its name and what stands behind it."""
        self._tasks[key] = self._progress.add_task(escape(name), total=None, at=at)

    def move(self, key: Key, cell: int, cells: int) -> None:
        """Moves a notebook's bar by the cells that are done before this one."""
        self._progress.update(self._tasks[key], completed=cell - 1, total=cells, at=f"cell {cell} of {cells}")

    def end(self, key: Key, at: str) -> None:
        """Takes a notebook's bar away, and says how all are."""
        self._progress.remove_task(self._tasks.pop(key))
        self._progress.update(self._all, advance=1, at=at)
