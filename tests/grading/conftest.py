"""A class around a pretended judge, to be graded as often as a test asks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from linklab.grading.grade import grade
from linklab.grading.grades import ClassGrade
from linklab.grading.judges import ClassProgress, Crew, Verdicts
from linklab.grading.kit import Kit, read_kit
from linklab.grading.student_work import Order
from linklab.grading.verdict import Verdict
from linklab.grading.work import Work
from tests.grading.made_class import LAB, data, write
from tests.notebooks.run_notebook import ROOT

COMMAND = (sys.executable, str(Path(__file__).with_name("pretended_judge.py")))


class Watcher(ClassProgress):
    """Remembers what it was told, and shows nothing."""

    def __init__(self) -> None:
        super().__init__(1)
        self.began_at: list[str] = []
        self.ended_at: list[str] = []
        self.cells: list[tuple[str, int, int]] = []

    def began(self, work: Work) -> None:
        """One began."""
        self.began_at.append(work.student)

    def at_cell(self, work: Work, cell: int, cells: int) -> None:
        """One is at a cell."""
        self.cells.append((work.student, cell, cells))

    def ended(self, work: Work, verdict: Verdict) -> None:
        """One is over."""
        self.ended_at.append(work.student)


class PretendedClass:
    """A folder with submissions, graded as often as asked."""

    def __init__(self, folder: Path, kit: Kit, log: Path) -> None:
        self.source, self.output, self._kit, self._log = folder / "in", folder / "out", kit, log
        self.order = Order(kit, (LAB,))
        self.grace_s = 60.0
        self.said: list[str] = []
        self.watcher = Watcher()

    def hand_in(self, student: str, book: Any, **files: bytes) -> None:
        """A student's notebook, and files beside it."""
        write(self.source / student, {f"{LAB}.ipynb": data(book), **files})

    def grade(self) -> ClassGrade:
        """Grades what was handed in."""
        self._log.unlink(missing_ok=True)

        def judge(works: Sequence[Work]) -> Verdicts:
            self.watcher = Watcher()
            return Crew(2, self.watcher, COMMAND, grace_s=self.grace_s).run(works)

        return grade([self.source], self.output, self.order, judge, self.said.append)

    @property
    def judged(self) -> int:
        """How many notebooks were judged the last time."""
        return len(self._log.read_text().splitlines()) if self._log.exists() else 0


@pytest.fixture(scope="session")
def kit() -> Kit:
    """The kit's labs."""
    return read_kit(ROOT)


@pytest.fixture
def group(tmp_path: Path, kit: Kit, monkeypatch: pytest.MonkeyPatch) -> PretendedClass:
    """A class that has handed in nothing yet."""
    monkeypatch.setenv("PRETENDED_LOG", str(tmp_path / "log"))
    return PretendedClass(tmp_path, kit, tmp_path / "log")
