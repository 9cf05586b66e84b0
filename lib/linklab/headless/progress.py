"""What a person sees of notebooks that run: how far each is, and in the end how each went."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Generic, TypeVar, get_args

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from linklab.headless.pool import Outcome, Verdict

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


class PlainProgress:
    """A line when a notebook begins its first and its last cell, for logs and pipes; one when it is over, if many."""

    def __init__(self, notebooks: int) -> None:
        self._many = notebooks > 1

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()

    def began(self, notebook: Path) -> None:
        """Nothing is said: the first cell is near."""

    def at_cell(self, notebook: Path, cell: int, cells: int) -> None:
        """Says it of the first cell and the last."""
        if cell in (1, cells):
            print(f"{notebook.name}: cell {cell} of {cells}", flush=True)

    def ended(self, outcome: Outcome) -> None:
        """Says how it went; the lines that say why come with all the others in the end."""
        if self._many:
            print(f"{outcome.notebook.name}: {outcome.verdict}", flush=True)


class LiveProgress:
    """A bar for each notebook that runs and one for all, for a terminal; gone in the end."""

    def __init__(self, notebooks: int) -> None:
        self._bars = Bars[Path](notebooks, visible=notebooks > 1)
        self._failed = 0

    def __enter__(self) -> LiveProgress:
        self._bars.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.__exit__()

    def began(self, notebook: Path) -> None:
        """Adds its bar."""
        self._bars.add(notebook, notebook.name, "starts")

    def at_cell(self, notebook: Path, cell: int, cells: int) -> None:
        """Moves its bar by the cells that are done."""
        self._bars.move(notebook, cell, cells)

    def ended(self, outcome: Outcome) -> None:
        """Takes its bar away."""
        self._failed += outcome.verdict == "FAILED"
        self._bars.end(outcome.notebook, f"{self._failed} failed" if self._failed else "")


def print_outcomes(outcomes: list[Outcome], jobs: int, wall_s: float) -> None:
    """How each notebook went, in the order given: what failed on standard error, the verdict on standard output."""
    for outcome in outcomes:
        for failure in outcome.failures:
            print(f"{outcome.notebook}: {failure}", file=sys.stderr, flush=True)
        print(f"{outcome.notebook}: {_how_it_went(outcome)}", flush=True)
    if len(outcomes) > 1:
        counts = Counter(outcome.verdict for outcome in outcomes)
        words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in get_args(Verdict) if counts[verdict])
        print(f"{len(outcomes)} notebooks, {jobs} at once: {words}; {wall_s:.1f} s")


def _how_it_went(outcome: Outcome) -> str:
    if outcome.verdict == "not begun":
        return outcome.verdict
    cells = f"{outcome.of_cells} cells"
    if outcome.cells < outcome.of_cells:
        cells = f"{outcome.cells} of {cells}"
    where = f"copy in {outcome.copy}" if outcome.copy.is_file() else "no copy"
    return f"{outcome.verdict}, {cells}, {outcome.wall_s:.1f} s, {where}"
