"""What a person sees of a class that is being graded: which notebooks are judged, how many are left, how they went."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from linklab.grading.names import cleaned
from linklab.grading.run import Done
from linklab.grading.store import Work


def outcome(done: Done) -> str:
    """How one notebook went, in a few words."""
    if done.judged is None:
        return f"NOT JUDGED: {done.trouble}"
    judged = done.judged
    still = f", {judged.open_points:g} open" if judged.open_points else ""
    early = f"; {cleaned(judged.ended)}" if judged.ended else ""
    return f"{judged.points:g} of {judged.max_points:g} points{still}{early}"


class PlainProgress:
    """A line for each notebook that is over, for logs and pipes."""

    def __init__(self, notebooks: int) -> None:
        self._of, self._at = notebooks, 0

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is to be ended."""

    def began(self, work: Work) -> None:
        """Nothing is said until it is over."""

    def at_cell(self, work: Work, cell: int, cells: int) -> None:
        """Nothing is said until it is over."""

    def ended(self, done: Done) -> None:
        """Says how it went, and how many are over."""
        self._at += 1
        print(f"{self._at}/{self._of} {done.work.student}, {done.work.lab.name}: {outcome(done)}", flush=True)


class LiveProgress:
    """A bar for all notebooks and a line for each that runs, for a terminal; gone in the end."""

    def __init__(self, notebooks: int) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[at]}"), TimeElapsedColumn(),
            console=Console(), transient=True,
        )  # fmt: skip
        self._failed = 0
        self._tasks: dict[tuple[str, str], TaskID] = {}
        self._of, self._at = notebooks, 0
        self._all = self._progress.add_task("all notebooks", total=notebooks, at=f"0 of {notebooks}")

    def __enter__(self) -> LiveProgress:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def began(self, work: Work) -> None:
        """Adds its line."""
        name = escape(f"{work.student}, {work.lab.name}")
        self._tasks[work.student, work.lab.name] = self._progress.add_task(name, total=None, at="")

    def at_cell(self, work: Work, cell: int, cells: int) -> None:
        """Moves its bar by the cells that are done."""
        task = self._tasks[work.student, work.lab.name]
        self._progress.update(task, completed=cell - 1, total=cells, at=f"cell {cell} of {cells}")

    def ended(self, done: Done) -> None:
        """Takes its line away."""
        self._progress.remove_task(self._tasks.pop((done.work.student, done.work.lab.name)))
        self._failed += done.judged is None
        self._at += 1
        failed = f", {self._failed} not judged" if self._failed else ""
        self._progress.update(self._all, advance=1, at=f"{self._at} of {self._of}{failed}")
