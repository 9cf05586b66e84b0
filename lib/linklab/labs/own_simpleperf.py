"""Which simpleperf a lab measures with: the student's own where it works, else Linklab's."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from linklab.course import course_network
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import SimpleperfFlow, run
from linklab.network import goodput_ceiling_mbps, path

_TRIAL_S: Final = 2
_TRIAL_PAIR: Final = ("h1", "h4")
_LEAST_SHARE: Final = 1 / 3
"""Least share of the ceiling. The reference reaches nine tenths in two seconds; MByte/s would be an eighth."""
_DIGITS: Final = 1.005
"""Largest ratio to the ceiling: a program may print one decimal only."""


def own_simpleperf(lab: Lab, file: str | Path = "simpleperf.py") -> str | None:
    """Return the student's ``file`` if it works in this lab, else None, as ``SimpleperfFlow(program=...)`` takes it.

    It works if a transfer of 2 s from h1 to h4 of the course network gives rows that can be read, each second and in
    the end, no more than the path carries and no less than a third of that. One line says which program it is, and
    why not the student's.
    """
    trouble = _trouble(lab, Path(file))
    if trouble is None:
        print(f"Measuring with your own {file}.")
        return str(file)
    print(f"Measuring with Linklab's own simpleperf: {trouble}.")
    return None


def _trouble(lab: Lab, file: Path) -> str | None:
    if not file.is_file():
        return f"there is no {file} here (Lab 02)"
    ceiling_mbps = goodput_ceiling_mbps(path(course_network(), *_TRIAL_PAIR))
    try:
        tried = run(lab, SimpleperfFlow(*_TRIAL_PAIR, duration_s=_TRIAL_S, program=file))
    except MeasurementError as error:
        return f"with your {file}, {str(error).rstrip('.')}"
    rate_mbps = tried.throughput_mbps
    said = f"your {file} reports {rate_mbps:g} Mbit/s from {_TRIAL_PAIR[0]} to {_TRIAL_PAIR[1]}"
    if rate_mbps > _DIGITS * ceiling_mbps:
        return f"{said}, but the path carries at most {ceiling_mbps:.4g}"
    if rate_mbps < _LEAST_SHARE * ceiling_mbps:
        return f"{said}, but the path carries up to {ceiling_mbps:.4g} (does it report bytes instead of bits?)"
    return None
