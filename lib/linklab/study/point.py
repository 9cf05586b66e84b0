"""One point of a study: a level of each factor, and which repeat. And what was measured there. Values only."""

from __future__ import annotations

import math
from dataclasses import dataclass

from linklab.errors import MeasurementError

Level = str | int | float
"""What a factor can be set to."""


@dataclass(frozen=True)
class Metric:
    """A quantity that a study measures. ``unit`` is ``"Mbit/s"``, ``"ms"``, ...; ``"1"`` for a ratio or a count."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Measured:
    """One value of a metric. ``of`` says of what, where there are several (``"h1-h2"``); ``number`` which one of a
    series (a packet's number).
    """

    metric: str
    value: float
    of: str = ""
    number: int | None = None


@dataclass(frozen=True)
class Point:
    """A level of each factor, in the study's order of factors; ``repeat`` counts from 1."""

    study: str
    levels: tuple[tuple[str, Level], ...]
    repeat: int = 1

    def __getitem__(self, factor: str) -> Level:
        """The level of a factor. Raises MeasurementError for one that the study has not."""
        for name, level in self.levels:
            if name == factor:
                return level
        known = ", ".join(name for name, _ in self.levels)
        raise MeasurementError(f"study {self.study} has no factor {factor!r}: choose one of {known}")

    def number(self, factor: str) -> float:
        """The level of a factor that is a number. Raises MeasurementError where it is none."""
        level = self[factor]
        if isinstance(level, str) or not math.isfinite(level):
            raise MeasurementError(f"{factor} is {level!r}, which is no number: write one")
        return float(level)

    def whole(self, factor: str) -> int:
        """The level of a factor that is a whole number. Raises MeasurementError where it is none."""
        level = self[factor]
        if not isinstance(level, int):
            raise MeasurementError(f"{factor} is {level!r}, which is no whole number: write one")
        return level

    def text(self, factor: str) -> str:
        """The level of a factor as text."""
        return str(self[factor])

    @property
    def seed(self) -> int:
        """The seed of the point's lab: its level of a factor ``seed``, else its repeat, so that repeats are independent
        samples. Raises MeasurementError for a level that is no whole number.
        """
        return self.whole("seed") if "seed" in dict(self.levels) else self.repeat

    @property
    def combination(self) -> str:
        """The levels, for people: ``"frame_bytes=1518 rates=10/10"``."""
        return " ".join(f"{name}={level}" for name, level in self.levels)

    def __str__(self) -> str:
        return f"{self.combination}, repeat {self.repeat}"


def refuse_rows(rows: object, metrics: tuple[Metric, ...]) -> None:
    """Raises MeasurementError, in one line, for rows that a study's table cannot hold."""
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Measured) for row in rows):
        raise MeasurementError("the measurement gave no list of Measured: let it return [Measured(metric, value), ...]")
    if not rows:
        raise MeasurementError("the measurement gave no row at all: let it raise where it cannot measure")
    known = {metric.name for metric in metrics}
    seen = set()
    for row in rows:
        if row.metric not in known:
            raise MeasurementError(f"the measurement gave {row.metric!r}, which is no metric of this study: declare it")
        if isinstance(row.value, bool) or not isinstance(row.value, int | float) or not math.isfinite(row.value):
            raise MeasurementError(f"the measurement gave {row.value!r} for {row.metric}: a finite number is needed")
        key = (row.metric, row.of, row.number)
        if key in seen:
            raise MeasurementError(f"the measurement gave {row.metric} twice: tell the values apart by of= or number=")
        seen.add(key)
