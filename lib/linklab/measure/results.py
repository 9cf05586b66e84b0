"""What was measured: immutable values with units in their names, and a JSON form that loads again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from linklab.measure.flows import PingFlow, TcpFlow, UdpFlow


@dataclass(frozen=True)
class Origin:
    """Where a result comes from: the tool as it names itself, the lab's clock and kernel."""

    tool: str
    clock: str
    kernel: str


@dataclass(frozen=True)
class _Stored:
    KIND: ClassVar[str]
    VERSION: ClassVar[int] = 1

    def to_json(self) -> dict[str, Any]:
        """As JSON data, with its kind and the version of its form; `linklab.measure.load_result` reads it."""
        return {"measurement": self.KIND, "version": self.VERSION, **asdict(self)}


@dataclass(frozen=True)
class PingResult(_Stored):
    """What ping said.

    `rtt_ms` has one round trip per packet sent, None for one that was not answered, so that series stay aligned.
    ping prints a single one with three digits only (60.0, 143); the four summary values have a microsecond's, and
    count duplicates in. They are None when nothing was answered.
    """

    KIND: ClassVar[str] = "ping"

    flow: PingFlow
    origin: Origin
    rtt_ms: tuple[float | None, ...]
    rtt_min_ms: float | None
    rtt_mean_ms: float | None
    rtt_max_ms: float | None
    rtt_deviation_ms: float | None
    duplicates: int
    icmp_errors: int

    @property
    def sent_packets(self) -> int:
        """How many requests were sent."""
        return len(self.rtt_ms)

    @property
    def lost_packets(self) -> int:
        """How many were not answered."""
        return self.rtt_ms.count(None)

    @property
    def loss_percent(self) -> float:
        """The share that was not answered."""
        return 100 * self.lost_packets / self.sent_packets if self.rtt_ms else 0.0


@dataclass(frozen=True)
class Sample:
    """One interval at the receiver, counted from its start. `lost_packets` and `jitter_ms` are UDP's."""

    start_s: float
    end_s: float
    throughput_mbps: float
    lost_packets: int | None = None
    jitter_ms: float | None = None


@dataclass(frozen=True)
class Stream:
    """One of several connections or senders of a flow, at the receiver."""

    throughput_mbps: float
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class TcpResult(_Stored):
    """A bulk transfer over TCP. Everything is of the receiver, except `retransmitted_segments`.

    `throughput_mbps` is the application's data (goodput), all streams together, over `duration_s`: the receiver's
    own time, which begins with the test and ends when the sender's end has arrived, up to a full queue later.
    """

    KIND: ClassVar[str] = "tcp"

    flow: TcpFlow
    origin: Origin
    throughput_mbps: float
    received_bytes: int
    duration_s: float
    retransmitted_segments: int
    congestion: str
    streams: tuple[Stream, ...]
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class UdpResult(_Stored):
    """Datagrams at a constant rate. `throughput_mbps` is the payload at the receiver, all streams together.

    `lost_packets` is what was sent less what arrived: iperf3's own count sees only gaps, and misses what is lost
    after the last one that arrives. `jitter_ms` is RFC 3550's estimate. `sent_mbps` is the payload as it was sent.
    """

    KIND: ClassVar[str] = "udp"

    flow: UdpFlow
    origin: Origin
    throughput_mbps: float
    sent_mbps: float
    duration_s: float
    sent_packets: int
    received_packets: int
    out_of_order_packets: int
    jitter_ms: float
    streams: tuple[Stream, ...]
    samples: tuple[Sample, ...]

    @property
    def lost_packets(self) -> int:
        """How many did not arrive."""
        return self.sent_packets - self.received_packets

    @property
    def loss_percent(self) -> float:
        """The share that did not arrive."""
        return 100 * self.lost_packets / self.sent_packets if self.sent_packets else 0.0


Result = PingResult | TcpResult | UdpResult
