"""What the switches studies' tables hold, as numbers by levels: for verdicts, tables and figures. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.published.switches_study import proportional_shares

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
RTT: Final = "switches-rtt"
INTERRUPTS: Final = "switches-interrupts"
THROUGHPUT: Final = "switches-throughput"
FAIRNESS: Final = "switches-fairness"
USER: Final = "ovs-user"
"""The one kind of switch outside the kernel; the study's software switches were both inside."""
_FAIRNESS_KEY: Final = ("switch", "rate_mbps", "offered_percent", "seed")


def values(rows: Iterable[Row], metric: str, by: Sequence[str], **levels: Any) -> dict[tuple[Any, ...], float]:
    """The mean of a metric at the given levels, by the levels of the factors in `by`.

    Raises MeasurementError if there is none.
    """
    found: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        if row["metric"] == metric and all(row[name] == level for name, level in levels.items()):
            found.setdefault(tuple(row[name] for name in by), []).append(row["value"])
    if not found:
        asked = " ".join(f"{name}={level}" for name, level in levels.items())
        raise MeasurementError(f"the tables lack {metric} at {asked}: run the studies of the switches without --only")
    return {key: sum(each) / len(each) for key, each in found.items()}


def spreads(found: Mapping[tuple[Any, ...], float]) -> dict[tuple[Any, ...], float]:
    """Between kinds of switch (the first part of each key), relative to the least, by the rest of the key."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for key, value in found.items():
        groups.setdefault(key[1:], []).append(value)
    several = {key: max(each) / min(each) - 1 for key, each in groups.items() if len(each) > 1 and min(each) > 0}
    if not several:
        raise MeasurementError(
            "the tables have one kind of switch only: run the studies of the switches without --only"
        )
    return several


def in_kernel(found: Mapping[tuple[Any, ...], float]) -> dict[tuple[Any, ...], float]:
    """Those of switches in the kernel; the kind of switch is the first part of each key."""
    return {key: value for key, value in found.items() if key[0] != USER}


def named(key: Iterable[Any]) -> str:
    """Levels, for people: ``"ovs, 100, 750"``."""
    return ", ".join(map(str, key))


def deviations(rows: Sequence[Row], **levels: Any) -> dict[tuple[Any, ...], float]:
    """How far the shares of each run are from being in proportion to what is offered: the largest relative deviation
    of a sender's part of the sum, by switch, rate, setting and seed.
    """
    shares = values(rows, "share_mbps", (*_FAIRNESS_KEY, "of"), **levels)
    runs: dict[tuple[Any, ...], dict[str, float]] = {}
    for key, share in shares.items():
        runs.setdefault(key[:-1], {})[key[-1]] = share
    found = {}
    for key, parts in runs.items():
        offered = tuple(float(part) for part in key[2].split("/"))
        fair = proportional_shares(offered, 100)
        total = sum(parts.values())
        if total <= 0:
            raise MeasurementError(f"nothing arrived in a fairness run ({named(key)}): the testbed does not work")
        found[key] = max(
            abs(parts[f"h{number}"] / total / (part / sum(fair)) - 1) for number, part in enumerate(fair, 1)
        )
    return found
