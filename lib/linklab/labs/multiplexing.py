"""What Labs 06 and 07 need of several flows at once."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from linklab.errors import MeasurementError
from linklab.grade.runs import connections_of, name_of, pings, throughput_of, transfers
from linklab.lab import Lab
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.measure import AtOnce, Repeats, SimpleperfFlow, run


def rates_mbps(run: AtOnce | None) -> dict[str, float]:
    """What each flow of a run carried, in Mbit/s, by pair: ``{"h1-h4": 14.2, ...}``. Empty if there is no run."""
    if run is None:
        return {}
    return {name: throughput_of(run, name) or 0.0 for name in map(name_of, transfers(run))}


def connections_mbps(run: AtOnce | None) -> dict[str, list[float]]:
    """What each connection of each flow carried, in Mbit/s, by pair. Empty if there is no run."""
    return {} if run is None else connections_of(run)


def mean_connections_mbps(runs: Repeats | None) -> dict[str, list[float]]:
    """What each connection of each flow carried in Mbit/s, by pair: means over all runs. Empty if there are none."""
    each_run = [connections_mbps(run) for run in runs.runs] if runs is not None else []
    return {
        name: [fmean(rates) for rates in zip(*(run[name] for run in each_run), strict=True)]
        for name in (each_run[0] if each_run else {})
    }


def mean_rtt_ms(run: AtOnce | None) -> dict[str, float]:
    """The mean round trip of each flow's pings in ms, by pair. Empty if there is no run."""
    found = {} if run is None else {name: result.rtt_mean_ms for name, result in pings(run).items()}
    return {name: value for name, value in found.items() if value is not None}


def own_parallel_simpleperf(lab: Lab, file: str | Path = "simpleperf.py") -> str | None:
    """As `own_simpleperf`, for who needs ``-P``: the student's ``file`` if it opens two connections, else None."""
    program = own_simpleperf(lab, file)
    if program is None:
        return None
    try:
        run(lab, SimpleperfFlow("h1", "h4", duration_s=2, streams=2, program=program))
    except MeasurementError as error:
        print(f"For -P it is Linklab's own after all: {str(error).rstrip('.')}.")
        return None
    return program
