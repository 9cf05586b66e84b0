"""What the tables of studies `video` and `picture` say, looked up. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linklab.errors import MeasurementError

Row = Mapping[str, Any]
_LEVELS = ("repeat", "of", "number", "metric", "value", "unit")


class Values:
    """The rows of one table, by metric and levels. Levels that are not named may be any, as long as one is left."""

    def __init__(self, study: str, rows: Sequence[Row]) -> None:
        """Raises MeasurementError for a table without rows."""
        if not rows:
            raise MeasurementError(f"the table of study {study} is empty: linklab study run {study}")
        self.study = study
        self._factors = [name for name in rows[0] if name not in _LEVELS]
        self._by_metric: dict[str, list[Row]] = {}
        for row in rows:
            self._by_metric.setdefault(row["metric"], []).append(row)

    def all(self, metric: str, **levels: object) -> list[Row]:
        """The rows of a metric at some levels (or ``number``, ``repeat``).

        Raises MeasurementError where there is none.
        """
        found = self._found(metric, levels)
        if not found:
            asked = " ".join(f"{name}={level}" for name, level in levels.items())
            raise MeasurementError(
                f"the table of study {self.study} has no {metric} at {asked}: run study {self.study} without --only"
            )
        return found

    def one(self, metric: str, **levels: object) -> float:
        """The value of a summary (a metric without a number), the mean of its repeats.

        Raises MeasurementError where there is none, or the levels leave several combinations.
        """
        found = self.all(metric, **{"number": None, **levels})
        if len({tuple(row[name] for name in self._factors) for row in found}) > 1:
            raise MeasurementError(
                f"{metric} of study {self.study} is asked for without saying at which levels: {levels}"
            )
        return float(sum(row["value"] for row in found) / len(found))

    def has(self, metric: str, **levels: object) -> bool:
        """Whether there is such a row."""
        return bool(self._found(metric, levels))

    def numbered(self, metric: str, **levels: object) -> list[float]:
        """A series, by number, of the first repeat. Raises MeasurementError where there is none."""
        rows = [row for row in self.all(metric, repeat=1, **levels) if row["number"] is not None]
        return [row["value"] for row in sorted(rows, key=lambda row: row["number"])]

    def unequal(self) -> list[str]:
        """The metrics whose repeats differ, if only in the last digit."""
        found: dict[tuple[object, ...], set[float]] = {}
        for metric, rows in self._by_metric.items():
            for row in rows:
                key = (metric, row["number"], *(row[name] for name in self._factors))
                found.setdefault(key, set()).add(row["value"])
        return sorted({str(key[0]) for key, values in found.items() if len(values) > 1})

    def _found(self, metric: str, levels: Mapping[str, object]) -> list[Row]:
        rows = self._by_metric.get(metric, [])
        return [row for row in rows if all(row[name] == level for name, level in levels.items())]
