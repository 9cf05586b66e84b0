"""Declare a study as data: testbed, factors with levels, measurement, repeats, and metrics with units."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from sysconfig import get_path
from traceback import extract_tb
from typing import Final, get_args

from linklab.errors import LinklabError, MeasurementError
from linklab.lab import Lab
from linklab.lab_group import Labs
from linklab.network import Network, by_name
from linklab.units import SwitchName

COLUMNS: Final = ("repeat", "of", "number", "metric", "value", "unit")
"""The columns of a study's table behind those of its factors."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
_SHORT: Final = "-short"
BRIDGE: Final = "bridge"
OPENFLOW: Final = "openflow"
SWITCHES: Final = (*get_args(SwitchName), OPENFLOW)
"""The levels of a factor ``switch``: kinds of switches that learn by themselves, or ``"openflow"``, Open vSwitch with
its own learning controller. A level ``"openflow:COMMAND"`` starts another controller.
"""
_LEARNING: Final = "ovs-testcontroller ptcp:6653"

Level = str | int | float
"""A value of a factor."""


@dataclass(frozen=True)
class Metric:
    """A quantity that a study measures. ``unit`` is ``"Mbit/s"``, ``"ms"``, ...; ``"1"`` for a ratio or a count."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Measured:
    """One value of a metric. If a point has several, ``of`` says what each belongs to (``"h1-h2"``), and ``number`` is
    its place in a series (a packet's number).
    """

    metric: str
    value: float
    of: str = ""
    number: int | None = None


@dataclass(frozen=True)
class Point:
    """One measurement of a study: a level of each factor, in the study's order; ``repeat`` counts from 1."""

    study: str
    levels: tuple[tuple[str, Level], ...]
    repeat: int = 1

    def __getitem__(self, factor: str) -> Level:
        """Return the level of a factor. Raises MeasurementError for an unknown factor."""
        for name, level in self.levels:
            if name == factor:
                return level
        known = ", ".join(name for name, _ in self.levels)
        raise MeasurementError(f"study {self.study} has no factor {factor!r}: choose one of {known}")

    def number(self, factor: str) -> float:
        """Return a factor's level as a number. Raises MeasurementError if it is no number."""
        level = self[factor]
        if isinstance(level, str) or not math.isfinite(level):
            raise MeasurementError(f"{factor} is {level!r}, which is no number: write one")
        return float(level)

    def whole(self, factor: str) -> int:
        """Return a factor's level as a whole number. Raises MeasurementError if it is none."""
        level = self[factor]
        if not isinstance(level, int):
            raise MeasurementError(f"{factor} is {level!r}, which is no whole number: write one")
        return level

    def text(self, factor: str) -> str:
        """Return a factor's level as text."""
        return str(self[factor])

    @property
    def combination(self) -> str:
        """The levels, for people: ``"frame_bytes=1518 rates=10/10"``."""
        return " ".join(f"{name}={level}" for name, level in self.levels)

    def __str__(self) -> str:
        return f"{self.combination}, repeat {self.repeat}"


@dataclass(frozen=True)
class Testbed:
    """A network, the kind of its switches, and the command line of an OpenFlow controller.

    The controller runs in the folder in which the study was started. With a controller, hosts ask for each other's
    addresses (ARP), and a switch asks the controller what to do with a flow's first packet.
    """

    network: Network
    switch: SwitchName = "bridge"
    controller: str | None = None

    @classmethod
    def on(cls, network: Network, switch: Level) -> Testbed:
        """Return the testbed with a level of a factor ``switch``: see `SWITCHES`.

        Raises MeasurementError for any other level.
        """
        kind, _, command = str(switch).partition(":")
        if kind == OPENFLOW and (command.strip() or switch == OPENFLOW):
            return cls(network, "ovs", command.strip() or _LEARNING)
        for name in get_args(SwitchName):
            if switch == name:
                return cls(network, name)
        raise MeasurementError(f"switch is {switch!r}: choose one of {', '.join(SWITCHES)} or openflow:COMMAND")

    __test__ = False
    """Keeps pytest from taking the class for a test because of its name."""


Measurement = Callable[[Lab, Point], Sequence[Measured]] | Callable[[Labs, Point], Sequence[Measured]]
Selection = Mapping[str, Sequence[Level]]


@dataclass(frozen=True)
class Study:
    """A study, as data; `linklab.study.run` carries it out.

    ``testbed``: the name of a network in the catalogue, or a function that returns a Network or Testbed for a point.
    With None the study measures this machine: its measurement gets `linklab.lab_group.Labs` in place of a lab, to
    start labs with, and its points are measured one after the other.
    ``factors``: the levels of each factor by name. All their combinations are measured ``repeats`` times, apart from
    points for which ``belongs`` returns False. Each point has a fresh lab, whose seed is the number of the repeat (or
    what ``seed`` returns for the point): repeats are independent samples, and another run of the study draws the same
    ones. A setting that does not change is a factor with one level.
    ``measurement``: a function at the top level of a module; it takes the running lab and the point, and raises a
    `LinklabError` if it cannot measure. ``short``: fewer levels for a quick look, ``short_repeats`` times.
    ``command`` carries the study out from a terminal. ``files`` names factors whose levels can also be paths of files,
    relative to the current folder. ``from_captures`` computes the metrics of a test elsewhere from two capture files,
    of its sender and its receiver; it raises a MeasurementError if they do not suffice.

    Raises MeasurementError for a study that cannot be carried out.
    """

    name: str
    title: str
    testbed: str | Callable[[Point], Network | Testbed] | None
    factors: Mapping[str, Sequence[Level]]
    measurement: Measurement
    metrics: Sequence[Metric]
    repeats: int = 1
    belongs: Callable[[Point], bool] | None = None
    short: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    short_repeats: int = 1
    source: str = ""
    command: str = ""
    seed: Callable[[Point], int] | None = None
    files: Sequence[str] = ()
    from_captures: Callable[[Point, Path, Path], Sequence[Measured]] | None = None

    def __post_init__(self) -> None:
        if not self.command:
            object.__setattr__(self, "command", f"linklab study run {self.name}")
        for problem in _problems(self):
            raise MeasurementError(f"study {self.name!r}: {problem}")

    def seed_of(self, point: Point) -> int:
        """Return the seed of a point's lab: what ``seed`` says, else the point's repeat."""
        return point.repeat if self.seed is None else self.seed(point)

    def points(self) -> tuple[Point, ...]:
        """Return all points: the last factor changes fastest, and repeats follow each other.

        Raises MeasurementError if no combination belongs to the study.
        """
        points = [
            Point(self.name, tuple(zip(self.factors, levels, strict=True)), number + 1)
            for levels in product(*self.factors.values())
            for number in range(self.repeats)
        ]
        with in_one_line(f"study {self.name}: its belongs failed"):
            belonging = tuple(point for point in points if self.belongs is None or self.belongs(point))
        if not belonging:
            raise MeasurementError(f"study {self.name}: no combination of its levels belongs to it")
        return belonging

    def place(self, point: Point) -> Testbed | None:
        """Return the testbed of a point. Raises MeasurementError, which names the point, if there can be none."""
        if self.testbed is None:
            return None
        which = f"study {self.name}, {point.combination}"
        try:
            made = by_name(self.testbed) if isinstance(self.testbed, str) else self.testbed(point)
        except LinklabError as error:
            raise MeasurementError(f"{which}: {error}") from None
        except (Exception, SystemExit) as error:  # a mistake in the function of who wrote the study
            raise MeasurementError(f"{which}: its testbed failed: {raised(error)}") from error
        testbed = made if isinstance(made, Testbed) else Testbed(made)
        if (problem := next(_testbed_problems(testbed), None)) is not None:
            raise MeasurementError(f"{which}: {problem}")
        return testbed

    def levels_of(self, factor: str) -> Sequence[Level]:
        """Return the levels of a factor. Raises MeasurementError for an unknown factor."""
        if factor not in self.factors:
            raise MeasurementError(
                f"study {self.name} has no factor {factor!r}: choose one of {', '.join(self.factors)}"
            )
        return self.factors[factor]

    def select(self, only: Selection) -> tuple[Point, ...]:
        """Return the points that have one of the given levels of each factor in `only`; levels are compared as texts.

        Raises MeasurementError for an unknown factor or level, or if no point is left.
        """
        chosen = {factor: {str(level) for level in wanted} for factor, wanted in only.items()}
        for factor, wanted in chosen.items():
            known = [str(level) for level in self.levels_of(factor)]
            if unknown := sorted(wanted.difference(known)):
                raise MeasurementError(
                    f"study {self.name} has no {factor}={unknown[0]}: choose one of {', '.join(known)}"
                )
        points = tuple(
            point for point in self.points() if all(str(point[factor]) in it for factor, it in chosen.items())
        )
        if not points:
            asked = " ".join(f"{factor}={level}" for factor, wanted in only.items() for level in wanted)
            raise MeasurementError(f"study {self.name} has no point with {asked}: linklab study show {self.name}")
        return points

    def with_levels(self, **levels: Sequence[Level]) -> Study:
        """Return the same study with other levels of some factors. Raises MeasurementError for an unknown factor."""
        for factor in levels:
            self.levels_of(factor)
        return replace(self, factors={**self.factors, **levels})

    def short_form(self) -> Study:
        """Return the study's short form, for a quick look; its name ends in ``-short``."""
        return replace(
            self.with_levels(**self.short),
            name=self.name + _SHORT,
            repeats=self.short_repeats,
            short={},
            command=f"{self.command} --short",
        )


@contextmanager
def in_one_line(what: str) -> Iterator[None]:
    """Inside the block, an exception of an author's function becomes a MeasurementError that begins with `what`."""
    try:
        yield
    except LinklabError:
        raise
    except (Exception, SystemExit) as error:
        raise MeasurementError(f"{what}: {raised(error)}") from error


_OTHERS: Final = (Path(__file__).parents[1], *map(Path, map(get_path, ("stdlib", "purelib", "platlib"))))


def is_own(file: Path) -> bool:
    """Return whether a file of code belongs to the author of a study: neither to Linklab nor to a library."""
    return not str(file).startswith("<") and not any(map(file.is_relative_to, _OTHERS))


def raised(error: BaseException) -> str:
    """Return in one line what was raised, with the file and line of the author's own code."""
    frames = [frame for frame in extract_tb(error.__traceback__) if is_own(Path(frame.filename))]
    what = " ".join(f"{type(error).__name__}: {error}".removesuffix(": ").split())
    return f"{what} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else what


def _testbed_problems(testbed: Testbed) -> Iterator[str]:
    """Yield what is wrong with a testbed that an author's function returned."""
    network, switch, controller = (getattr(testbed, name) for name in ("network", "switch", "controller"))
    if not isinstance(network, Network):
        yield f"its testbed is {_shown(network)}: let it return a Network, or a Testbed of one"
    if switch not in get_args(SwitchName):
        yield f"the switch of its testbed is {switch!r}: choose one of {', '.join(get_args(SwitchName))}"
    if controller is None:
        return
    if not isinstance(controller, str) or not controller.strip():
        yield f"the controller of its testbed is {controller!r}: write its command line, as a text, or None"
        return
    try:
        shlex.split(controller)
    except ValueError as error:
        yield f"the controller of its testbed is {controller!r}: {error}"


def _shown(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _problems(study: Study) -> Iterator[str]:
    if not _NAME.fullmatch(study.name):
        yield "its name names files: write it with small letters, digits, '-' and '_'"
    if study.testbed is not None and not isinstance(study.testbed, str) and not callable(study.testbed):
        yield f"its testbed is {_shown(study.testbed)}: give the name of a network, or a function that returns one"
    if not study.factors:
        yield "it has no factors: give at least one, with one level"
    for factor, levels in (*study.factors.items(), *study.short.items()):
        yield from _factor_problems(factor, levels)
    for factor in study.files:
        if factor not in study.factors:
            yield f"it has files for a factor {factor!r}, which it has not"
    for factor in study.short:
        if factor not in study.factors:
            yield f"its short form has a factor {factor!r} that the study has not"
    for what, repeats in (("repeats", study.repeats), ("short_repeats", study.short_repeats)):
        if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
            yield f"{what} is {repeats!r}: choose 1 or more"
    names = [metric.name for metric in study.metrics]
    if not names or len(set(names)) < len(names):
        yield "its metrics are none, or two have one name"
    for metric in study.metrics:
        if not metric.unit or not metric.meaning:
            yield f"metric {metric.name} has no unit or no meaning: say both; the unit of a ratio is '1'"
    qualified = getattr(study.measurement, "__qualname__", "<none>")
    if "<" in qualified or "." in qualified:
        yield "its measurement is no function of the top level of a module or notebook: write it with def, there"


def _factor_problems(factor: str, levels: Sequence[Level]) -> Iterator[str]:
    if not factor.isidentifier() or factor in COLUMNS:
        yield f"a factor cannot be called {factor!r}: write a Python name other than {', '.join(COLUMNS)}"
    if isinstance(levels, str) or not levels:
        yield f"factor {factor} has no levels: give a tuple of at least one"
        return
    for level in levels:
        if isinstance(level, bool) or not isinstance(level, str | int | float):
            yield f"factor {factor} has the level {level!r}: a level is a text or a number"
        elif isinstance(level, str) and (not level.isprintable() or not level):
            yield f"factor {factor} has the level {level!r}: a text has no line breaks"
    if len({str(level) for level in levels}) < len(levels):
        yield f"factor {factor} has a level twice: {', '.join(map(str, levels))}"


def refuse_rows(rows: object, metrics: tuple[Metric, ...]) -> None:
    """Raise MeasurementError, in one line, for rows that a study's table cannot hold."""
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
