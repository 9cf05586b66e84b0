"""Single values and series of a study's table, which repeats agree on."""

from __future__ import annotations

from collections.abc import Sequence

from linklab.errors import MeasurementError
from linklab.study.write_page import Row


class Values:
    """A table that is asked for what is at given levels."""

    def __init__(self, study: str, rows: Sequence[Row]) -> None:
        self._study, self._rows = study, rows

    def one(self, metric: str, **levels: object) -> float:
        """The value of a metric at these levels, the first repeat's. Raises MeasurementError where there is none."""
        for row in self._rows:
            if row["metric"] == metric and row["number"] is None and _at(row, levels):
                return float(row["value"])
        raise MeasurementError(
            f"the table of study {self._study} has no {metric} at {_told(levels)}: linklab study run {self._study}"
        )

    def series(self, metric: str, **levels: object) -> list[tuple[int, float]]:
        """Number and value of each of a series, the first repeat's; empty where there is none."""
        return [
            (int(row["number"]), float(row["value"]))
            for row in self._rows
            if row["metric"] == metric and row["number"] is not None and row["repeat"] == 1 and _at(row, levels)
        ]

    def spread(self, metric: str) -> float:
        """By how much repeats of a metric differ, at most."""
        found: dict[tuple[object, ...], list[float]] = {}
        for row in self._rows:
            if row["metric"] == metric:
                key = tuple(value for name, value in row.items() if name not in ("repeat", "value"))
                found.setdefault(key, []).append(float(row["value"]))
        return max((max(values) - min(values) for values in found.values()), default=0.0)


def interval(mean: float, least: float, largest: float) -> str:
    """``"9.5 (6.7 to 9.9)"``, with as many digits as tell."""
    return f"{_short(mean)} ({_short(least)} to {_short(largest)})"


def _short(value: float) -> str:
    return f"{value:.4g}" if abs(value) >= 5e-5 else "0"


def _at(row: Row, levels: dict[str, object]) -> bool:
    # a table that was read from a file may have numbers as texts where a factor has both
    return all(str(row[name]) == str(level) for name, level in levels.items())


def _told(levels: dict[str, object]) -> str:
    return " ".join(f"{name}={level}" for name, level in levels.items())
