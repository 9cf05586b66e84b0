"""Measure round-trip times of UDP as the switches study does: by the time of many exchanges, and one clock.

A datagram goes to the other end and comes back, then the next one goes. The time of all exchanges divided by their
number is the mean round trip. One machine takes all times, so no two clocks need to agree (the study's section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, ClassVar, Final

from linklab.errors import MeasurementError
from linklab.measure.flows import FlowOf
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, program_command
from linklab.schema import Range
from linklab.units import ETHERNET_MTU_BYTES, IPV4_HEADER_BYTES, IPV6_HEADER_BYTES, UDP_HEADER_BYTES

_MOST_BYTES: Final = ETHERNET_MTU_BYTES - IPV4_HEADER_BYTES - UDP_HEADER_BYTES
"""What fits an MTU of 1500 bytes over IPv4: a fragment would be a packet of its own."""
_PROGRAM: Final = "echo.py"
_MOST: Final = 100_000


@dataclass(frozen=True)
class EchoFlow(FlowOf["EchoResult"]):
    """`count` exchanges of datagrams of `payload_bytes`, after `warm_up` that do not count.

    `wait_s`: what has not come back then is lost. Raises MeasurementError for a payload outside 12 to 1472 bytes (1452
    over IPv6), a count outside 1 to 100000, or a wait that is not positive.
    """

    tool_name: ClassVar[str] = "echo"

    count: Annotated[int, Range(ge=1, le=_MOST)] = 100
    payload_bytes: Annotated[int, Range(ge=12, le=_MOST_BYTES)] = 100
    warm_up: Annotated[int, Range(ge=0, le=_MOST)] = 2
    wait_s: Annotated[float, Range(gt=0, le=60)] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        most_bytes = _MOST_BYTES - (IPV6_HEADER_BYTES - IPV4_HEADER_BYTES)
        if self.ip_version == 6 and self.payload_bytes > most_bytes:
            raise MeasurementError(f"payload_bytes is {self.payload_bytes}: choose at most {most_bytes} over IPv6")

    @property
    def longest_s(self) -> float:
        """Latest time by which it must have ended, even if every exchange is lost."""
        return super().longest_s + (self.count + self.warm_up) * self.wait_s


@dataclass(frozen=True, repr=False)
class EchoResult(ToolResult):
    """Round trips in ms, one for each exchange, None for one that was lost.

    `total_ms` is the time of all exchanges together, waits for lost ones included; `end_s` is when they were over,
    since the start of all flows of the run. Raises MeasurementError without one time for each exchange.
    """

    QUANTITY: ClassVar[str] = "rtt_mean_ms"

    flow: EchoFlow
    origin: Origin
    rtt_ms: tuple[float | None, ...]
    total_ms: float
    end_s: float

    def __post_init__(self) -> None:
        count = len(self.rtt_ms)
        if not (count == self.flow.count or (self.interrupted and count)):
            raise MeasurementError(f"{self.flow.title} has not one time for each exchange")

    @property
    def lost(self) -> int:
        """How many exchanges had no answer."""
        return self.rtt_ms.count(None)

    @property
    def rtt_mean_ms(self) -> float:
        """As the study has it: the time of all, divided by their number; where some were lost, the mean of the others.

        Raises MeasurementError if all were lost.
        """
        mean_ms = self.headline
        if mean_ms is None:
            raise MeasurementError(f"no exchange between {self.flow.source} and {self.flow.destination} was answered")
        return mean_ms

    @property
    def headline(self) -> float | None:
        """The mean round trip; None if all were lost."""
        answered = [time_ms for time_ms in self.rtt_ms if time_ms is not None]
        if not answered:
            return None
        return fmean(answered) if self.lost else self.total_ms / len(answered)


class Echo(Tool[EchoFlow, EchoResult]):
    """Linklab's own server, which answers until it is ended, and client."""

    flow = EchoFlow
    result = EchoResult
    waits_for_gate = True

    def server(self, job: Job[EchoFlow]) -> str:
        """Return the server's command."""
        return program_command(_PROGRAM, "answer", ip_version=job.flow.ip_version, port=job.port)

    def client(self, job: Job[EchoFlow]) -> str:
        """Return the client's command."""
        flow = job.flow
        exchanges = {name: getattr(flow, name) for name in ("count", "payload_bytes", "wait_s", "warm_up")}
        return program_command(_PROGRAM, "ask", **job.start, address=job.address, port=job.port, **exchanges)


ECHO: Final = Echo()
