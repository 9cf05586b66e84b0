"""What all flows have in common. A flow says what is to be measured: from which node to which, how, and when.

Each tool's own flow stands in its module (`linklab.measure.tools`). Where the destination has several addresses,
`address` says which one is meant. `start_s` lets a flow start so much later than the others that are measured with it.
"""

from __future__ import annotations

import math
import typing
from dataclasses import dataclass, field, fields
from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar, Generic, TypeVar

from linklab.errors import MeasurementError, quoted

LONGEST_S = 86400
PAYLOAD_BYTES = (16, 65507)
"""Of a UDP datagram or a ping: room for a time stamp, and what IPv4 allows at most."""
GRACE_S = 60
"""A client that has not ended so long after its time is broken."""
_SHORTEST_S = 0.01
"""Between two looks."""

ResultT_co = TypeVar("ResultT_co", covariant=True)


@dataclass(frozen=True)
class FlowOf(Generic[ResultT_co]):
    """A flow whose measurement gives such a result.

    Numbers of other libraries, as numpy's, become Python's. Raises MeasurementError for what is not the number or the
    text that it should be, and for a `start_s` outside 0 to 86400.
    """

    tool_name: ClassVar[str]
    """What people call it: ``"ping"``, ``"TCP"``."""

    source: str
    destination: str
    address: str | None = field(default=None, kw_only=True)
    start_s: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        own: Any = type(self)
        for name, kind in _plain_fields(own).items():
            object.__setattr__(self, name, _plain(name, getattr(self, name), kind))
        if not 0 <= self.start_s <= LONGEST_S:
            raise MeasurementError(f"start_s is {self.start_s}: choose 0 to {LONGEST_S} s after the others")

    @property
    def lasts_s(self) -> float:
        """How long it takes from its start, as planned; what is still in a queue comes later."""
        raise NotImplementedError

    @property
    def longest_s(self) -> float:
        """When its client has ended for sure, a broken one included, in seconds since the start of all."""
        return self.start_s + self.lasts_s + GRACE_S

    @property
    def name(self) -> str:
        """The pair: ``"h1-h4"``."""
        return f"{self.source}-{self.destination}"

    @property
    def title(self) -> str:
        """The flow's name for people: ``"ping h1-h4"``."""
        return f"{self.tool_name} {self.name}"


@dataclass(frozen=True)
class Sampler(FlowOf[ResultT_co]):
    """A flow that sends nothing: it looks at something for `duration_s`, every `interval_s`.

    Raises MeasurementError for a duration outside 0 to 86400 s, or an interval below 0.01 s or above the duration.
    """

    duration_s: float = 10
    interval_s: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.duration_s <= LONGEST_S:
            raise MeasurementError(f"duration_s is {self.duration_s}: choose more than 0 and at most {LONGEST_S}")
        if not _SHORTEST_S <= self.interval_s <= self.duration_s:
            raise MeasurementError(
                f"interval_s is {self.interval_s}: choose {_SHORTEST_S} to {self.duration_s:g}, its duration"
            )

    @property
    def lasts_s(self) -> float:
        """The time for which it looks."""
        return self.duration_s


Flow = FlowOf[Any]
"""A flow of any tool."""


@cache
def _plain_fields(flow: type[FlowOf[Any]]) -> dict[str, Any]:
    """The kind of each number, text and pair of numbers of such flows, by its name; each may be one with None."""
    try:
        wanted = typing.get_type_hints(flow)
    except NameError:  # of a flow of somebody's own, whose names are there for the type checker alone
        return {}
    plain = (float, int, str, tuple[float, float])
    kinds = {one.name: wanted[one.name] for one in fields(flow)}
    return {name: kind for name, kind in kinds.items() if kind in plain or any(kind == (one | None) for one in plain)}


def _plain(name: str, value: Any, kind: Any) -> Any:
    if type(None) in typing.get_args(kind):
        return None if value is None else _plain(name, value, typing.get_args(kind)[0])
    if kind is str:
        if not isinstance(value, str):
            raise MeasurementError(f"{name} is {quoted(value)}: give a text, in quotes")
        return value
    if kind is int:
        return whole_number(name, value)
    if kind is float:
        return any_number(name, value)
    if not isinstance(value, list | tuple) or len(value) != len(typing.get_args(kind)):
        raise MeasurementError(f"{name} is {quoted(value)}: choose two numbers, as (2, 8)")
    return tuple(any_number(name, one) for one in value)


def any_number(name: str, value: Any) -> float:
    """Return what was given for a number as a number of Python's, whole ones as int. Raises MeasurementError."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise MeasurementError(f"{name} is {quoted(value)}: choose a number")
    return int(value) if isinstance(value, Integral) else float(value)


def whole_number(name: str, value: Any) -> int:
    """Return what was given for a whole number as one of Python's. Raises MeasurementError."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise MeasurementError(f"{name} is {quoted(value)}: choose a whole number")
    return int(value)


def refuse_duration(duration_s: float, name: str = "duration_s") -> None:
    """Raise MeasurementError unless that is a number of whole seconds from 1 to 86400."""
    if not 0 < duration_s <= LONGEST_S or duration_s != int(duration_s):
        raise MeasurementError(f"{name} is {duration_s}: choose whole seconds from 1 to {LONGEST_S}")


def refuse_not_positive(name: str, value: float) -> None:
    """Raise MeasurementError unless that is a number above 0."""
    if not (isinstance(value, int | float) and value > 0 and math.isfinite(value)):
        raise MeasurementError(f"{name} is {value}: choose a number above 0")


def refuse_outside(name: str, value: int, bounds: tuple[int, int]) -> None:
    """Raise MeasurementError unless that is a whole number within the bounds, both included."""
    low, high = bounds
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise MeasurementError(f"{name} is {value!r}: choose {low} to {high}")
