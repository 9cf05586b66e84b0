"""What Labs 06 and 07 share: numbers, programs, figures and words of several flows at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from linklab.analysis import Load
from linklab.course import course_network, is_variant
from linklab.errors import MeasurementError
from linklab.grade.measured import connections_of, expectations, throughput_of, transfers
from linklab.lab import Lab
from linklab.labs import NOTHING
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.measure import Repeats, Run, SimpleperfFlow, run
from linklab.show import throughput

if TYPE_CHECKING:
    from linklab.show.figure import Drawing


def rates_mbps(run: Run | None) -> dict[str, float]:
    """Return what each flow of a run carried, in Mbit/s, by pair: ``{"h1-h4": 14.2, ...}``. Empty without a run."""
    if run is None:
        return {}
    return {name: throughput_of(run, name) or 0.0 for name in [it.flow.name for it in transfers(run)]}


def mean_connections_mbps(runs: Repeats | None) -> dict[str, list[float]]:
    """Return what each connection carried in Mbit/s, by pair: means over all runs. Empty without runs."""
    return mean_connections(runs.runs if runs is not None else ())


def mean_connections(runs: Sequence[Run]) -> dict[str, list[float]]:
    """Return what each connection carried in Mbit/s, by pair: means over these runs."""
    each_run = [connections_of(run) for run in runs]
    return {
        name: [fmean(rates) for rates in zip(*(run[name] for run in each_run), strict=True)]
        for name in (each_run[0] if each_run else {})
    }


def own_parallel_simpleperf(lab: Lab, file: str | Path = "simpleperf.py") -> str | None:
    """Return the student's ``file`` if it works and opens two connections with ``-P``, else None."""
    program = own_simpleperf(lab, file)
    if program is None:
        return None
    try:
        run(lab, SimpleperfFlow("h1", "h4", duration_s=2, streams=2, program=program))
    except MeasurementError as error:
        print(f"Your program cannot open two connections with -P, so Linklab's own measures: {str(error).rstrip('.')}.")
        return None
    return program


# --- What figures and tables share. Where nothing is measured yet, one line says so.


def throughput_figure(run: Run | None, flows_of_it: Sequence[Load]) -> Drawing | str:
    """Draw the throughput of each connection of a run over time, with the fair share and what the link carries."""
    if run is None:
        return NOTHING
    found = expectations(run, course_network(), flows_of_it)
    (ceiling, *others) = [whole.high for whole in found.sums.values()]
    if others:
        return throughput(transfers(run))
    fair_mbps = found.loads[0].share.connection_mbps
    return throughput(transfers(run), ceiling_mbps=ceiling, fair_mbps=fair_mbps, together=True)


def report_heading(heading: str) -> str:
    """Return a heading over the report's numbers; it says where the report's network is not the student's."""
    return f"{heading} (course network)" if is_variant() else heading


def three_digits(index: object) -> str | None:
    """Return an index with three digits: tables show two, which are too few."""
    return f"{index:.3f}" if isinstance(index, float | int) else None
