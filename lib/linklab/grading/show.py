"""What a person sees of a class that is being graded: which notebooks are judged, how many are left, how they went."""

from __future__ import annotations

from linklab.grading.names import cleaned
from linklab.grading.run import Done
from linklab.grading.store import Work
from linklab.headless.progress import Bars


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
    """A bar for all notebooks and one for each that is judged, for a terminal; gone in the end."""

    def __init__(self, notebooks: int) -> None:
        self._bars = Bars[tuple[str, str]](notebooks, f"0 of {notebooks}")
        self._of, self._at, self._failed = notebooks, 0, 0

    def __enter__(self) -> LiveProgress:
        self._bars.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.__exit__()

    def began(self, work: Work) -> None:
        """Adds its bar."""
        self._bars.add((work.student, work.lab.name), f"{work.student}, {work.lab.name}")

    def at_cell(self, work: Work, cell: int, cells: int) -> None:
        """Moves its bar by the cells that are done."""
        self._bars.move((work.student, work.lab.name), cell, cells)

    def ended(self, done: Done) -> None:
        """Takes its bar away."""
        self._failed += done.judged is None
        self._at += 1
        failed = f", {self._failed} not judged" if self._failed else ""
        self._bars.end((done.work.student, done.work.lab.name), f"{self._at} of {self._of}{failed}")
