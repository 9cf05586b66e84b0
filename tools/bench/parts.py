"""The parts of the benchmark, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from linklab.errors import LinklabError
from tools.bench import (
    fidelity,
    fidelity_report,
    labs,
    overhead,
    search_report,
    simpleperf,
    speed,
    speed_report,
    starts,
    starts_report,
    switches,
)
from tools.bench.findings import Findings, Keep, Record, Say
from tools.bench.settings import Settings


@dataclass(frozen=True)
class Part:
    """A part: what measures it, and what makes findings of its records."""

    name: str
    title: str
    measure: Callable[[Settings, Say, Keep], None]
    report: Callable[[Sequence[Record], Settings], Findings]


PARTS = (
    Part(fidelity.NAME, fidelity.TITLE, fidelity.measure, fidelity_report.report),
    Part(starts.NAME, starts.TITLE, starts.measure, starts_report.report),
    Part(switches.NAME, switches.TITLE, switches.measure, switches.report),
    Part(speed.NAME, speed.TITLE, speed.measure, speed_report.report),
    Part(simpleperf.NAME, simpleperf.TITLE, simpleperf.measure, simpleperf.report),
    Part(search_report.NAME, search_report.TITLE, search_report.measure, search_report.report),
    Part(labs.NAME, labs.TITLE, labs.measure, labs.report),
    Part(overhead.NAME, overhead.TITLE, overhead.measure, overhead.report),
)


def chosen(names: Sequence[str]) -> tuple[Part, ...]:
    """The parts of these names, in the order of `PARTS`; all for none. Raises `LinklabError` for an unknown name."""
    known = [part.name for part in PARTS]
    for name in names:
        if name not in known:
            raise LinklabError(f"the benchmark has no part {name!r}: it has {', '.join(known)}")
    return tuple(part for part in PARTS if not names or part.name in names)
