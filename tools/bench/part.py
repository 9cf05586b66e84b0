"""What a part of the benchmark is made of: what it measures under, its labs, its records, and what it finds."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, TypeVar

from linklab.lab import Lab
from linklab.lab_group import Labs
from linklab.runtime.backends import KindName, choose
from linklab.runtime.client import LabProcess
from linklab.study.declare import Point
from linklab.units import SwitchName

Record = dict[str, Any]
"""One thing measured, as JSON data: what it was measured under, and numbers with their units in the keys."""
Say = Callable[[str], None]
"""Takes a line of progress."""
Keep = Callable[[Record], None]
"""Takes a record as soon as it is measured."""


def seed_level(point: Point) -> int:
    """Return the seed of a point's lab where it is a factor: repeats then differ by nothing but the machine."""
    return point.whole("seed")


class Verdict(StrEnum):
    """What the records say of a claim. ``not measured``: they do not suffice, as after Ctrl-C."""

    MET = "met"
    NOT_MET = "NOT MET"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Claim:
    """Something promised, the verdict on it, and the numbers that the verdict rests on."""

    text: str
    verdict: Verdict
    numbers: str

    @classmethod
    def judged(cls, text: str, met: bool | None, numbers: str) -> Claim:
        """A claim whose condition holds, does not hold, or (None) could not be looked at."""
        verdicts = {True: Verdict.MET, False: Verdict.NOT_MET, None: Verdict.NOT_MEASURED}
        return cls(text, verdicts[met], numbers or "nothing was measured")


@dataclass(frozen=True)
class Table:
    """Rows under headings that carry the units; cells are text, made for reading."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """The tables and claims of one part."""

    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = field(default=())


class Part(Protocol):
    """A part: what measures it, and what makes findings of its records."""

    @property
    def name(self) -> str:
        """What --only calls it."""

    @property
    def title(self) -> str:
        """Its heading."""

    @property
    def measure(self) -> Callable[[Settings, Say, Keep], None]:
        """What keeps a record of each thing measured."""

    @property
    def report(self) -> Callable[[Sequence[Record], Settings], Findings]:
        """What makes tables and verdicts of the records. Pure."""


@dataclass(frozen=True)
class OwnPart:
    """A part with functions of its own."""

    name: str
    title: str
    measure: Callable[[Settings, Say, Keep], None]
    report: Callable[[Sequence[Record], Settings], Findings]


def having(records: Sequence[Record], **values: Any) -> list[Record]:
    """The records in which every key has the value given."""
    return [record for record in records if all(record.get(key) == value for key, value in values.items())]


@dataclass(frozen=True)
class Settings:
    """The amounts of one run; durations in the lab's own seconds."""

    quick: bool = False
    repeats: int = 10
    """How often fidelity is measured under each condition; the other parts derive theirs from it."""
    folder: Path = Path("bench-results")
    """What labs may write to: an empty folder of the benchmark's own."""
    cores: int = 1
    earlier: tuple[Record, ...] = ()
    """Fidelity's records of an earlier benchmark, to compare with."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of nodes (hosts and switches) of the chains and trees."""
        return (10, 50) if self.quick else (10, 50, 100, 200)

    def start_repeats(self, nodes: int) -> int:
        """How often a network of this size is started."""
        most = 1 if nodes >= 100 or self.quick else (2 if nodes >= 50 else 3)
        return min(self.repeats, most)

    @property
    def course_repeats(self) -> int:
        """How often the course network is started."""
        return min(self.repeats, 2 if self.quick else 5)

    @property
    def case_s(self) -> int:
        """How long each flow of the five test cases lasts: 25 s in the report they come from."""
        return 3 if self.quick else 25

    @property
    def speed_s(self) -> int:
        """How long each load of the speed part lasts."""
        return 3 if self.quick else 10


def settings(quick: bool, repeats: int | None, folder: Path, earlier: Sequence[Record] = ()) -> Settings:
    """The settings of one run; `repeats` None leaves them to `quick`."""
    return Settings(quick, repeats or (2 if quick else 10), folder, len(os.sched_getaffinity(0)), tuple(earlier))


def median(values: Sequence[float]) -> float:
    """The middle value. Raises ValueError for none."""
    if not values:
        raise ValueError("there is no median of nothing")
    return float(statistics.median(values))


def growth_exponent(sizes: Sequence[float], times_s: Sequence[float]) -> float:
    """The exponent b of ``time = a * size ** b``, fitted by least squares to the logarithms.

    1 is linear growth, 2 quadratic. Raises ValueError for fewer than two different sizes, or values not above 0.
    """
    if len(sizes) != len(times_s) or len(set(sizes)) < 2 or min(*sizes, *times_s) <= 0:
        raise ValueError(f"no growth can be fitted to sizes {sizes} and times {times_s}")
    return float(statistics.linear_regression([*map(math.log, sizes)], [*map(math.log, times_s)]).slope)


def range_text(values: Sequence[float], decimals: int) -> str:
    """``min..max``, or one number where both print alike, or ``-`` for nothing."""
    if not values:
        return "-"
    low, high = f"{min(values):.{decimals}f}", f"{max(values):.{decimals}f}"
    return low if low == high else f"{low}..{high}"


def seconds_text(values: Sequence[float]) -> str:
    """The median in seconds with three digits, ``-`` for nothing."""
    if not values:
        return "-"
    middle = median(values)
    return f"{middle:.0f}" if middle >= 100 else f"{middle:#.3g}"


Item = TypeVar("Item")
Given = TypeVar("Given")
_WALL_LIMIT_S = 1200.0


class Crew(Labs):
    """Labs in guests, which end when it ends itself; none of the benchmark's writes into their folder."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where labs may write; each gets it whole."""
        super().__init__(folder, _WALL_LIMIT_S, "the benchmark")

    def start(
        self,
        network: Any,
        switch: SwitchName = "bridge",
        kind: KindName | None = "guest",
        seed: int = 0,
        controller: str | None = None,
    ) -> Lab:
        """A lab in a guest, as `linklab.start` makes it. Raises `LabError`."""
        return super().start(network, switch, kind, seed, controller)

    def boot(self) -> LabProcess:
        """A lab process without a network. Raises `LabError`."""
        process = LabProcess.spawn(choose("guest"), self.folder, _WALL_LIMIT_S)
        self.watch(process)
        return process

    def side_by_side(self, function: Callable[[Item], Given], items: Iterable[Item], workers: int) -> list[Given]:
        """Calls `function` with each item, `workers` of them at a time; what the calls gave, in order.

        Raises the first failure, or KeyboardInterrupt, once every lab has been ended and every call has returned.
        """
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(function, item) for item in items]
            try:
                return [future.result() for future in futures]
            except BaseException:
                for future in futures:
                    future.cancel()
                self.end()
                wait(futures)
                raise

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
