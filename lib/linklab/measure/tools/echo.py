"""Round-trip times of UDP as the switches study takes them: many exchanges, both stamps of one machine, averaged.

A datagram goes to the other end and comes back, and then the next one goes. The time of all of them, from one clock,
divided by their number is the mean round trip: no two clocks need agree (the study's section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, Final, Literal

from linklab.errors import MeasurementError
from linklab.measure.flows import FlowOf, refuse_outside
from linklab.measure.results import Origin, Result, Row
from linklab.measure.tool import PYTHON, Job, Tool, in_lab
from linklab.units import ETHERNET_MTU_BYTES, IPV4_HEADER_BYTES, IPV6_HEADER_BYTES, UDP_HEADER_BYTES

PAYLOAD_BYTES: Final = (12, ETHERNET_MTU_BYTES - IPV4_HEADER_BYTES - UDP_HEADER_BYTES)
"""Room for a number, and no more than fits an MTU of 1500 bytes over IPv4: a fragment would be a packet of its own."""
_PROGRAM: Final = "echo.py"
_COUNT: Final = (1, 100_000)
_LONGEST_WAIT_S: Final = 60


@dataclass(frozen=True)
class EchoFlow(FlowOf["EchoResult"]):
    """`count` exchanges of datagrams of `payload_bytes`, after `warm_up` that do not count.

    `wait_s`: what has not come back then is lost. `address` is the destination's, where it has not one IPv4 address
    alone; an IPv6 address makes the exchange one of IPv6. Raises MeasurementError for a payload outside 12 to 1472
    bytes (1452 over IPv6), a count outside 1 to 100000, or a wait that is not positive.
    """

    tool_name: ClassVar[str] = "echo"

    count: int = 100
    payload_bytes: int = 100
    warm_up: int = 2
    wait_s: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        least, most = PAYLOAD_BYTES
        most -= IPV6_HEADER_BYTES - IPV4_HEADER_BYTES if self.ip_version == 6 else 0
        refuse_outside("payload_bytes", self.payload_bytes, (least, most))
        refuse_outside("count", self.count, _COUNT)
        refuse_outside("warm_up", self.warm_up, (0, _COUNT[1]))
        if not 0 < self.wait_s <= _LONGEST_WAIT_S:
            raise MeasurementError(f"wait_s is {self.wait_s}: choose more than 0 and at most {_LONGEST_WAIT_S} s")

    @property
    def ip_version(self) -> Literal[4, 6]:
        """Return 6 if `address` is an IPv6 address, else 4."""
        return 6 if self.address and ":" in self.address else 4

    @property
    def lasts_s(self) -> float:
        """Not known before: an exchange takes as long as the network does."""
        return 0.0

    @property
    def longest_s(self) -> float:
        """When it has ended for sure, even if every exchange is lost."""
        return super().longest_s + (self.count + self.warm_up) * self.wait_s


@dataclass(frozen=True)
class EchoResult(Result):
    """Round trips in ms, one for each exchange, None for one that was lost.

    `total_ms` is the time of all exchanges together, waits for lost ones included; `end_s` is when they were over,
    since the start of all flows of the run (in results of version 1 on the lab's clock). Raises MeasurementError
    without one time for each exchange.
    """

    KIND: ClassVar[str] = "echo"
    QUANTITY: ClassVar[str] = "rtt_mean_ms"
    UNIT: ClassVar[str] = "ms"

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

    def rows(self) -> list[Row]:
        """Return a row for each exchange."""
        return [{"packet": number, "rtt_ms": rtt_ms} for number, rtt_ms in enumerate(self.rtt_ms, 1)]


class Echo(Tool[EchoFlow, EchoResult]):
    """Two programs of ours; who answers does so until it is ended."""

    flow = EchoFlow
    result = EchoResult
    probe = PYTHON
    exact = True

    def server(self, job: Job[EchoFlow]) -> str:
        """Return the command of who answers."""
        return in_lab(_PROGRAM, "answer", job.flow.ip_version, job.port)

    def client(self, job: Job[EchoFlow]) -> str:
        """Return the command of who asks."""
        flow = job.flow
        words = (job.gate, job.later_ns, job.address, job.port, flow.count, flow.payload_bytes)
        return in_lab(_PROGRAM, "ask", *words, flow.wait_s, flow.warm_up)

    def parse(self, job: Job[EchoFlow], origin: Origin) -> EchoResult:
        """Return what the program printed as a result. Raises MeasurementError for what it never says."""
        said, flow = job.parse_json(), job.flow
        try:
            rtt_ms = tuple(None if time_ns is None else int(time_ns) / 1e6 for time_ns in said["rtts_ns"])
            total_ms = (said["end_ns"] - said["begin_ns"]) / 1e6
            end_s = (said["end_ns"] - said["start_ns"]) / 1e9 + flow.start_s
            return EchoResult(flow, origin, rtt_ms, total_ms, end_s, interrupted=job.interrupted)
        except (KeyError, TypeError, ValueError) as wrong:
            raise MeasurementError(f"{flow.title} gave no times that can be read: {wrong}") from None


ECHO: Final = Echo()
