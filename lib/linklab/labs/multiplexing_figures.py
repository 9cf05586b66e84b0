"""What the figures of Labs 06 and 07 share. Where nothing is measured yet, one line says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from linklab.analysis import (
    Load,
    LoadExpectation,
)
from linklab.course import course_network, is_variant
from linklab.grade.runs import expectations, transfers
from linklab.measure import AtOnce
from linklab.show import flows
from linklab.show.figure import Drawing

NOTHING: Final = "Nothing is measured yet: run the cells above first."


def throughput_figure(run: AtOnce | None, flows_of_it: Sequence[Load]) -> Drawing | str:
    """Throughput over time of each connection of a run, with the fair share of one and what the link carries."""
    if run is None:
        return NOTHING
    found = expectations(run, course_network(), flows_of_it)
    (ceiling, *others) = [whole.high for whole in found.sums.values()]
    if others:
        return flows(transfers(run), together=False)
    return flows(transfers(run), ceiling_mbps=ceiling, fair_mbps=found.loads[0].share.connection_mbps)


def report_heading(heading: str) -> str:
    """A heading over the report's numbers, which says so where its network is not the student's."""
    return f"{heading} (course network)" if is_variant() else heading


def three_digits(index: object) -> str | None:
    """An index for reading: two digits, as tables have them, are too few."""
    return f"{index:.3f}" if isinstance(index, float | int) else None


def expected_loads(run: AtOnce, flows_of_it: Sequence[Load]) -> tuple[LoadExpectation, ...]:
    """Return what theory expects of each flow of a run."""
    return expectations(run, course_network(), flows_of_it).loads
