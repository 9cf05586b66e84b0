"""The verdict on one student's work for one lab: the judge writes it, the class's tables and pages show it.

It is data of `linklab.schema`: ``verdict.json`` beside the judged notebook, and a lab of a student in ``grades.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from linklab.report.model import Graded

State = Literal["judged", "not handed in", "not judged", "judge failed", "not read"]


@dataclass(frozen=True)
class Limits:
    """What one submission's notebook may use: real time in all and for a cell, CPU time, memory, disk, output."""

    wall_s: int = 1200
    cell_s: int = 600
    cpu_s: int = 900
    memory_mb: int = 1536
    processes: int = 128
    disk_mb: int = 256
    output_kb: int = 2048


@dataclass(frozen=True)
class Verdict:
    """One lab of one student. ``notes`` are for the student too, ``for_the_instructor`` are not."""

    lab: str
    state: State = "not judged"
    network: str = ""
    """The name of the network that the lab ran on."""
    cells: tuple[Graded, ...] = ()
    """Each graded cell, in order; none where nothing was judged."""
    ended: str = ""
    """Why not all of it was judged, in one line: a limit, a judge that failed, files that cannot be read."""
    notes: tuple[str, ...] = ()
    """What was missing, changed or not used of what was handed in."""
    for_the_instructor: tuple[str, ...] = ()
    """What the submission tried, a line each."""
    tries: Mapping[str, int] = field(default_factory=dict)
    """The try at which the student's choices were right, by check cell, where it was not the first."""
    wall_s: float = 0.0
    virtual_s: float = 0.0
    begun_at: str = ""
    """When its judging was ordered: it tells a judge's verdict from an earlier one."""
    cache_key: str = ""
    """The digest of all that the verdict rests on (`linklab.grading.work`)."""
    limits: Limits = field(default_factory=Limits)

    @property
    def points(self) -> float:
        """Points of the cells that passed."""
        return sum(cell.points for cell in self.cells)

    @property
    def max_points(self) -> float:
        """Points if all passed and all texts were good."""
        return sum(cell.max_points for cell in self.cells)

    @property
    def open_points(self) -> float:
        """Points that wait for another run, or for the instructor."""
        return sum(cell.open_points for cell in self.cells)
