"""Show how far long work is: bars on a terminal, lines in a pipe or a log."""

from __future__ import annotations

import sys
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

_ESTIMATE_PERIOD_S: Final = 3600.0
"""The time left is estimated from the speed of the last hour: one part of the work may take many minutes."""


class ProgressDisplay:
    """Show work that has many parts: a bar for all of them, and one for each part that runs.

    Used with ``with``; afterwards the bars are gone. Lines that are printed meanwhile stay above the bars.
    """

    def __init__(self, total: int | None, parts: str, trouble: str = "failed") -> None:
        """Take the number of parts (None: `expect` says it later) and their name in the plural.

        ``trouble`` is said of the parts that failed. Where ``total`` is 1, the part's own bar is the only one.
        """
        self.total, self.done = total, 0
        self._failed, self._trouble = 0, trouble
        self._has_bars = sys.stdout.isatty()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            _TimeLeft(),
            TextColumn("{task.fields[status]}", markup=False),
            console=Console(),
            transient=True,
            speed_estimate_period=_ESTIMATE_PERIOD_S,
            disable=not self._has_bars,
        )
        self._all = self._progress.add_task(f"all {parts}", total=total, visible=total != 1, status="", is_whole=True)
        self._bars: dict[str, TaskID] = {}
        self._show()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def expect(self, total: int, done: int) -> None:
        """Set how many parts there are, and how many of them were done before."""
        self.total, self.done = total, done
        self._show()

    def begin(self, name: str, status: str = "") -> None:
        """Add a bar for a part that begins, with what stands behind the bar. No two parts have the same name."""
        self._bars[name] = self._progress.add_task(name, total=None, status=status, is_whole=False)

    def move(self, name: str, cell: int, cells: int) -> None:
        """Move a notebook's bar to the cell that begins: number `cell`, from 1, of `cells`."""
        self._progress.update(self._bars[name], completed=cell - 1, total=cells, status=f"cell {cell} of {cells}")

    def end(self, name: str, *, failed: bool) -> None:
        """Take away the bar of a part that has ended, and count the part."""
        self._progress.remove_task(self._bars.pop(name))
        self.count(failed=failed)

    def count(self, *, failed: bool, latest: str = "") -> None:
        """Count a part that has ended; ``latest`` stands behind the bar of all parts."""
        self.done += 1
        self._failed += failed
        self._show(latest)

    def line(self, text: str) -> None:
        """Print a line where there are no bars."""
        if not self._has_bars:
            print(text, flush=True)

    def _show(self, latest: str = "") -> None:
        if self.total is None:
            return
        status = f"{self.done} of {self.total}"
        if self._failed:
            status += f", {self._failed} {self._trouble}"
        if latest:
            status += f": {latest}"
        self._progress.update(self._all, completed=self.done, total=self.total, status=status)


class _TimeLeft(TimeRemainingColumn):
    """The time left for all parts. Nothing for one part: its cells take very different times."""

    def render(self, task: Task) -> Text:
        return Text.assemble("left: ", super().render(task)) if task.fields["is_whole"] else Text()
