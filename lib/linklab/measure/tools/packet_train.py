"""Packet trains: datagrams sent back to back, or with a chosen gap, and the time at which each one arrived.

The time of arrival is the kernel's (SO_TIMESTAMPNS), taken when the packet leaves the receiver's device: a receiver
that is busy does not move it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from linklab import schema
from linklab.errors import MeasurementError
from linklab.measure.flows import FlowOf
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, program_command
from linklab.schema import Range
from linklab.units import transmission_ms

_PROGRAM: Final = "packet_train.py"
_SILENCE_S: Final = 2.0
_FIRST_S: Final = 15.0
_SLOWEST_MBPS: Final = 0.1
"""A sender that a slower link holds back is taken for a broken one."""


@dataclass(frozen=True)
class TrainFlow(FlowOf["TrainResult"]):
    """`count` datagrams of `payload_bytes`, each sent `gap_us` after the one before; 0 sends them back to back.

    A gap is kept to a plan: packet i leaves at i * `gap_us` after the first, or as soon after that as it can. Raises
    MeasurementError for a count outside 2 to 65536, a payload too small for its number (12 bytes) or larger than
    IPv4 allows, or a gap that is negative or longer than 10 s.
    """

    tool_name: ClassVar[str] = "train"

    count: Annotated[int, Range(ge=2, le=65536)] = 50
    payload_bytes: Annotated[int, Range(ge=12, le=65507)] = 1448
    gap_us: Annotated[float, Range(ge=0, le=10e6)] = 0.0

    @property
    def lasts_s(self) -> float:
        """All gaps; how long the links take is not known."""
        return self.count * self.gap_us / 1e6

    @property
    def longest_s(self) -> float:
        """Latest time by which the sender must have ended."""
        return super().longest_s + self.count * transmission_ms(self.payload_bytes, _SLOWEST_MBPS) / 1000


@dataclass(frozen=True, repr=False)
class TrainResult(ToolResult):
    """When each packet of a train left and arrived, in seconds since the first one left; by sequence number.

    `departure_s` is when the sender gave the packet to its kernel. `arrival_s` is the receiving kernel's time, None
    for a packet that did not arrive. Both ends share one clock, so arrival less departure is the one-way delay.
    `duplicates` were not counted again. Raises MeasurementError without one time of each kind for each packet.
    """

    QUANTITY: ClassVar[str] = "throughput_mbps"

    flow: TrainFlow
    origin: Origin
    departure_s: tuple[float, ...]
    arrival_s: tuple[float | None, ...]
    duplicates: int

    def __post_init__(self) -> None:
        count = len(self.departure_s)
        if len(self.arrival_s) != count or not (count == self.flow.count or (self.interrupted and count)):
            raise MeasurementError(f"{self.flow.title} has not one time for each packet")

    @property
    def payload_bytes(self) -> int:
        """What each packet carried."""
        return self.flow.payload_bytes

    @property
    def sent(self) -> int:
        """How many packets were sent."""
        return len(self.arrival_s)

    @property
    def received(self) -> int:
        """How many arrived."""
        return self.sent - self.arrival_s.count(None)

    @property
    def arrivals_s(self) -> tuple[float, ...]:
        """The times of those that arrived, in the order in which they did."""
        return tuple(sorted(time_s for time_s in self.arrival_s if time_s is not None))

    @property
    def throughput_mbps(self) -> float | None:
        """The payload of the packets behind the first, over the time from the first to the last arrival."""
        arrivals_s = self.arrivals_s
        if len(arrivals_s) < 2 or arrivals_s[-1] == arrivals_s[0]:
            return None
        between_ms = transmission_ms(self.payload_bytes * (len(arrivals_s) - 1), 1.0)
        return between_ms / 1000 / (arrivals_s[-1] - arrivals_s[0])


@dataclass(frozen=True)
class _Printed:
    """What the sender and the receiver print: times of one clock."""

    departures_ns: tuple[int, ...]
    arrivals_ns: tuple[int | None, ...]
    duplicates: int


class PacketTrain(Tool[TrainFlow, TrainResult]):
    """Linklab's own sender and receiver."""

    flow = TrainFlow
    result = TrainResult
    waits_for_gate = True
    server_exits_after_client = True

    def server(self, job: Job[TrainFlow]) -> str:
        """Return the receiver's command."""
        flow = job.flow
        return program_command(
            _PROGRAM,
            "receive",
            port=job.port,
            ip_version=flow.ip_version,
            count=flow.count,
            payload_bytes=flow.payload_bytes,
            silence_s=_SILENCE_S + 2 * flow.gap_us / 1e6,
            first_s=_FIRST_S + flow.start_s,
        )

    def client(self, job: Job[TrainFlow]) -> str:
        """Return the sender's command."""
        flow = job.flow
        train = {"count": flow.count, "payload_bytes": flow.payload_bytes, "gap_ns": round(flow.gap_us * 1000)}
        return program_command(_PROGRAM, "send", **job.start, address=job.address, port=job.port, **train)

    def parse(self, job: Job[TrainFlow], origin: Origin) -> TrainResult:
        """Return what the two programs say as a result. Raises MeasurementError where no packet left."""
        flow = job.flow
        told = schema.load(_Printed, job.printed() | job.printed(server=True), f"what {flow.title} printed")
        left_ns = told.departures_ns
        if not left_ns:
            raise MeasurementError(f"{flow.title} was stopped before its first packet left: nothing was measured")
        departure_s = tuple((time_ns - left_ns[0]) / 1e9 for time_ns in left_ns)
        arrival_s = tuple(
            None if time_ns is None else (time_ns - left_ns[0]) / 1e9 for time_ns in told.arrivals_ns[: len(left_ns)]
        )
        return TrainResult(flow, origin, departure_s, arrival_s, told.duplicates, interrupted=job.interrupted)


PACKET_TRAIN: Final = PacketTrain()
