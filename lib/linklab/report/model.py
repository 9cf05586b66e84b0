"""Define a portfolio as data. HTML in it is safe; texts are the notebooks' own, and the page escapes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from markupsafe import Markup as Safe

from linklab.grade.check import Check, Surprise

Kind = Literal["check", "free text"]
_NETWORK: Final = re.compile(r"Network( [^:\n]{1,80})?: ")
Status = Literal["passed", "failed", "inconclusive", "not run", "no result", "answered", "not answered"]


@dataclass(frozen=True)
class Graded:
    """A graded cell: `points` are what it has now, `max_points` what it is worth.

    `checks` are empty where the cell kept none: then `trouble` is the error that it stopped with, if it did. The points
    of a free text are the instructor's to give, and so is a `comment` on any cell. `surprises` are what was predicted
    of what this cell measured.
    """

    cell_id: str
    kind: Kind
    title: str
    status: Status
    points: float
    max_points: float
    checks: tuple[Check, ...] = ()
    trouble: str = ""
    surprises: tuple[Surprise, ...] = ()
    comment: str = ""

    @property
    def open_points(self) -> float:
        """Points that wait: for another measurement, or for the instructor."""
        return self.max_points if self.status in ("inconclusive", "answered") else 0.0


@dataclass(frozen=True)
class ShownImage:
    """An image: its data as an address, what it shows in words, and how wide it wants to be, if it says so."""

    address: str
    alt: str
    width_pixels: int | None = None

    @property
    def is_network(self) -> bool:
        """Return True if it is the drawing of a network (`linklab.show.network`), by its words."""
        return _NETWORK.match(self.alt) is not None


@dataclass(frozen=True)
class Code:
    """The student's work in an answer cell."""

    cell_id: str
    source: str


@dataclass(frozen=True)
class FreeText:
    """A question and the student's answer, both as safe HTML; no answer where none was written."""

    graded: Graded
    question: Safe
    answer: Safe | None


Item = ShownImage | Safe | Code | FreeText | Graded
"""What stands in a section: an image, HTML (what a cell shows, or a note of the student's own), an answer in code, a
free text, or a check at its place among the student's work.
"""


@dataclass(frozen=True)
class Section:
    """What stands under one heading of the notebook."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Facts:
    """What a notebook was run with, as far as it says so: empty where it does not."""

    run_at: str = ""
    linklab: str = ""
    kind: str = ""
    kernel: str = ""
    tools: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class LabRecord:
    """One lab: what was run with what, the graded cells, and all that it shows.

    `executed` of its `cells` with code were run. `notes` are what a reader must know before trusting it.
    """

    file: str
    title: str
    facts: Facts
    cells: int
    executed: int
    graded: tuple[Graded, ...]
    network: ShownImage | None
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Points of the checks that passed."""
        return sum(it.points for it in self.graded)

    @property
    def max_points(self) -> float:
        """What all graded cells are worth, free texts included."""
        return sum(it.max_points for it in self.graded)

    def open_points(self, kind: Kind) -> float:
        """Points that wait for another measurement, or (of free texts) for the instructor."""
        return sum(it.open_points for it in self.graded if it.kind == kind)

    @property
    def surprises(self) -> tuple[Surprise, ...]:
        """All that was predicted and then measured."""
        return tuple(surprise for it in self.graded for surprise in it.surprises)

    @property
    def texts(self) -> tuple[FreeText, ...]:
        """The student's own words, answered or not, in order."""
        return tuple(it for section in self.sections for it in section.items if isinstance(it, FreeText))

    @property
    def work(self) -> tuple[Section, ...]:
        """The sections without the student's own words and without verdicts, which stand elsewhere."""
        rest = [
            Section(one.title, tuple(it for it in one.items if not isinstance(it, FreeText | Graded)))
            for one in self.sections
        ]
        return tuple(section for section in rest if section.items)


@dataclass(frozen=True)
class Portfolio:
    """All labs of a student, and where and when it was put together (`machine`: by name, in words)."""

    student: str
    made_at: str
    linklab: str
    machine: tuple[tuple[str, str], ...]
    labs: tuple[LabRecord, ...]
