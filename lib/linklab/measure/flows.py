"""The base classes of flows. A flow says what to measure: from which node to which, how, and when.

Each tool's own flow stands in its module (`linklab.measure.tools`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from linklab import schema
from linklab.errors import MeasurementError
from linklab.network.model import version_of
from linklab.schema import Range
from linklab.units import IpVersion

LONGEST_S = 86400
"""A day."""
Seconds = Annotated[float, Range(gt=0, le=LONGEST_S)]
WholeSeconds = Annotated[float, Range(ge=1, le=LONGEST_S, multiple_of=1)]
Positive = Annotated[float, Range(gt=0, le=1e9)]
PayloadBytes = Annotated[int, Range(ge=16, le=65507)]
"""Payload of a UDP datagram or a ping: from the size of a time stamp to what IPv4 allows."""
GRACE_S = 60
"""How long after its planned end a client may still run before it counts as broken."""
_SHORTEST_S = 0.01
"""Shortest time between two samples."""

ResultT_co = TypeVar("ResultT_co", covariant=True)


@dataclass(frozen=True)
class FlowOf(Generic[ResultT_co]):
    """A flow whose measurement gives a result of this type.

    `address` chooses one of the destination's addresses if it has several, and with it the version of IP. Without it
    that is the only one of IPv4; ``lab["h4"].ipv6`` is the one of IPv6. The flow begins `start_s` after the start
    of all flows. Raises MeasurementError for a field that its type and range do not allow.
    """

    tool_name: ClassVar[str]
    """What people call it: ``"ping"``, ``"TCP"``."""

    source: str
    destination: str
    address: str | None = field(default=None, kw_only=True)
    start_s: Annotated[float, Range(ge=0, le=LONGEST_S)] = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        schema.check_fields(self)

    @property
    def ip_version(self) -> IpVersion:
        """The version of IP of its packets: 6 if `address` is an IPv6 address, else 4."""
        return version_of(self.address) if self.address else 4

    @property
    def lasts_s(self) -> float:
        """Planned duration in seconds: its `duration_s` if it has one, else 0 (not known)."""
        return float(getattr(self, "duration_s", 0.0))

    @property
    def longest_s(self) -> float:
        """Latest time by which the client must have ended, in seconds since the start of all flows."""
        return self.start_s + self.lasts_s + GRACE_S

    @property
    def name(self) -> str:
        """Source and destination: ``"h1-h4"``."""
        return f"{self.source}-{self.destination}"

    @property
    def title(self) -> str:
        """The flow's name for people: ``"ping h1-h4"``."""
        return f"{self.tool_name} {self.name}"


@dataclass(frozen=True)
class Sampler(FlowOf[ResultT_co]):
    """A flow that sends nothing: it takes a sample of something every `interval_s`, from its start and before its end.

    Raises MeasurementError also for an interval above the duration.
    """

    duration_s: Seconds = 10
    interval_s: Annotated[float, Range(ge=_SHORTEST_S, le=LONGEST_S)] = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.interval_s > self.duration_s:
            raise MeasurementError(f"interval_s is {self.interval_s}: choose at most {self.duration_s:g}, its duration")


Flow = FlowOf[Any]
"""A flow of any tool."""
