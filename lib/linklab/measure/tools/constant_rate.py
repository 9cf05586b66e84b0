"""Send UDP at a constant bit rate: each packet leaves at its planned instant, and a counter counts what arrives.

Planned instants are multiples of the gap. With dither each is shifted by a random part of the gap, from the lab's seed:
the rate stays exact, and no two flows keep in step. Without dither flows that share a full queue keep in step for ever,
and the first one gets all (S. Floyd, V. Jacobson: "On Traffic Phase Effects in Packet-Switched Gateways", 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from linklab.errors import MeasurementError
from linklab.measure.flows import FlowOf, Positive
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, link_rates_mbps, program_command
from linklab.schema import Range
from linklab.units import transmission_ms

if TYPE_CHECKING:
    from linklab.lab import Lab

_PROGRAM: Final = "constant_rate.py"
_DRAIN_NS: Final = 2_000_000_000
_LATE_S: Final = 0.011
"""A tick of the lab's kernel and a little. A busy switch in user space can keep a sender from the processor for so
long; the sender then sends late, and leaves nothing out."""
_LATE_SHARE: Final = 0.02
_LONGEST_S: Final = 600.0


@dataclass(frozen=True)
class ConstantRateFlow(FlowOf["ConstantRateResult"]):
    """Datagrams of `payload_bytes` at `rate_mbps` of payload (10**6 bits a second). `dither`: see the module.

    `window_s` are the seconds, from the flow's start, whose arrivals count for throughput: all by default. Raises
    MeasurementError for a rate that is not positive, a payload outside 16 to 1472 bytes, a duration outside 0 to
    600 s, or a window that does not lie in it.
    """

    tool_name: ClassVar[str] = "constant rate"

    rate_mbps: Positive
    duration_s: Annotated[float, Range(gt=0, le=_LONGEST_S)] = 10
    payload_bytes: Annotated[int, Range(ge=16, le=1472)] = 500
    dither: bool = True
    window_s: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window_s is not None and not 0 <= self.window_s[0] < self.window_s[1] <= self.duration_s:
            raise MeasurementError(
                f"window_s is {self.window_s}: choose two times from 0 to {self.duration_s:g} s, in order"
            )
        if self.source == self.destination:
            raise MeasurementError(f"a flow goes from {self.source} to itself: choose two hosts")

    @property
    def gap_ns(self) -> float:
        """The time from one packet to the next."""
        return transmission_ms(self.payload_bytes, self.rate_mbps) * 1e6

    @property
    def window(self) -> tuple[float, float]:
        """Begin and end of the time that counts, in seconds from the flow's start."""
        return self.window_s or (0.0, self.duration_s)


@dataclass(frozen=True, repr=False)
class ConstantRateResult(ToolResult):
    """The result of one flow. `inside_packets` arrived in the window, which was `window_s` long.

    `latest_ms`: how long after its planned instant the latest packet left, of those that were checked. Raises
    MeasurementError if the sender kept no constant rate, or was stopped before its window began.
    """

    QUANTITY: ClassVar[str] = "throughput_mbps"

    flow: ConstantRateFlow
    origin: Origin
    sent_packets: int
    received_packets: int
    inside_packets: int
    window_s: float
    latest_ms: float = 0.0

    def __post_init__(self) -> None:
        if self.latest_ms > 1000 * max(_LATE_S, _LATE_SHARE * self.flow.duration_s):
            raise MeasurementError(
                f"the sender of {self.flow.name} fell {self.latest_ms:.1f} ms behind its plan and kept no constant "
                "rate: ask for less at once"
            )
        if not self.window_s > 0:
            raise MeasurementError(f"{self.flow.title} was stopped before its window began: nothing was measured")

    @property
    def throughput_mbps(self) -> float:
        """Payload that arrived in the window, in Mbit/s."""
        return transmission_ms(self.inside_packets * self.flow.payload_bytes, 1.0) / 1000 / self.window_s

    @property
    def lost_packets(self) -> int:
        """How many were sent and never received."""
        return self.sent_packets - self.received_packets

    @property
    def loss_percent(self) -> float:
        """The share that never arrived."""
        return 100 * self.lost_packets / self.sent_packets if self.sent_packets else 0.0


class ConstantRate(Tool[ConstantRateFlow, ConstantRateResult]):
    """Linklab's own sender and counter."""

    flow = ConstantRateFlow
    result = ConstantRateResult
    waits_for_gate = True
    server_exits_after_client = True

    def check(self, lab: Lab, job: Job[ConstantRateFlow]) -> None:
        """Raise MeasurementError for a flow that its own link can never carry."""
        flow, rates = job.flow, link_rates_mbps(job.network, job.flow.source)
        if rates and flow.rate_mbps > max(rates):
            raise MeasurementError(
                f"{flow.name} is to send {flow.rate_mbps:g} Mbit/s, and {flow.source}'s link carries {max(rates):g}: "
                "choose a lower rate"
            )

    def server(self, job: Job[ConstantRateFlow]) -> str:
        """Return the counter's command."""
        lasts_ns, first_ns, last_ns = (round(edge_s * 1e9) for edge_s in (job.flow.duration_s, *job.flow.window))
        options = {"lasts_ns": lasts_ns, "drain_ns": _DRAIN_NS, "first_ns": first_ns, "last_ns": last_ns}
        place = {"port": job.port, "ip_version": job.flow.ip_version}
        return program_command(_PROGRAM, "count", **job.start, **place, **options)

    def client(self, job: Job[ConstantRateFlow]) -> str:
        """Return the sender's command. Each flow of a run has random numbers of its own."""
        flow = job.flow
        return program_command(
            _PROGRAM,
            "send",
            **job.start,
            address=job.address,
            port=job.port,
            lasts_ns=round(flow.duration_s * 1e9),
            payload_bytes=flow.payload_bytes,
            gap_ns=flow.gap_ns,
            dither=flow.dither,
            seed=f"{job.seed} {job.number}",
            window_s=flow.window,
        )


CONSTANT_RATE: Final = ConstantRate()
