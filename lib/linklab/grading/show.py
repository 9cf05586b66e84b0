"""Show how far the grading of a class is: which notebooks are judged now, how many are left, how each went."""

from __future__ import annotations

from linklab.grading.names import cleaned
from linklab.grading.run import Done
from linklab.grading.store import Work
from linklab.progress import ProgressDisplay


def outcome(done: Done) -> str:
    """Say how one notebook went, in a few words."""
    if done.judged is None:
        return f"NOT JUDGED: {done.trouble}"
    judged = done.judged
    still = f", {judged.open_points:g} open" if judged.open_points else ""
    early = f"; {cleaned(judged.ended)}" if judged.ended else ""
    return f"{judged.points:g} of {judged.max_points:g} points{still}{early}"


class ClassProgress(ProgressDisplay):
    """The `linklab.grading.run.Watcher` that shows each notebook that is being judged, and says how it went."""

    def __init__(self, notebooks: int) -> None:
        """Take the number of notebooks to be judged."""
        super().__init__(notebooks, "notebooks", trouble="not judged")

    def began(self, work: Work) -> None:
        """Add the notebook's bar."""
        self.begin(_name(work))

    def at_cell(self, work: Work, cell: int, cells: int) -> None:
        """Move the notebook's bar."""
        self.move(_name(work), cell, cells)

    def ended(self, done: Done) -> None:
        """Take the notebook's bar away, and say how it went and how many are over."""
        self.end(_name(done.work), failed=done.judged is None)
        self.line(f"{self.done}/{self.total} {_name(done.work)}: {outcome(done)}")


def _name(work: Work) -> str:
    return f"{work.student}, {work.lab.name}"
