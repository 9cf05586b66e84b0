"""What was measured: immutable values with units in their names, and a JSON form that loads again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from linklab.measure.flows import PingFlow, SimpleperfFlow, TcpFlow, UdpFlow
from linklab.measure.trust import Fidelity, Machine
from linklab.network import NetworkState


@dataclass(frozen=True)
class Origin:
    """Where a result comes from: the tool as it names itself, the lab's clock and kernel.

    `network` is the network as it was read back right before, `machine` what the lab ran on, `linklab` the version,
    `started_at` the machine's date (ISO 8601, UTC). `virtual_s` is how long the run took by the lab's clock, and
    `wall_s` on the wall, `seed` where the lab's random numbers come from. `patched`: whether a guest's kernel has all
    of Linklab's changes, without which digits may differ from lab to lab. They are None in results of an earlier
    Linklab.
    """

    tool: str
    clock: str
    kernel: str
    network: NetworkState | None = None
    machine: Machine | None = None
    linklab: str | None = None
    started_at: str | None = None
    virtual_s: float | None = None
    wall_s: float | None = None
    seed: int | None = None
    patched: bool | None = None


@dataclass(frozen=True)
class _Stored:
    """`fidelity` is what was seen of machine and network meanwhile. `interrupted`: it was stopped before its end, and
    says only what had been measured until then.
    """

    KIND: ClassVar[str]
    VERSION: ClassVar[int] = 2
    """1 had neither `fidelity` nor `interrupted`, an `Origin` of three fields, and no `start_s` of flows."""

    fidelity: Fidelity | None = field(default=None, kw_only=True)
    interrupted: bool = field(default=False, kw_only=True)

    def to_json(self) -> dict[str, Any]:
        """As JSON data, with its kind and the version of its form; `linklab.measure.load_result` reads it."""
        data = {"measurement": self.KIND, "version": self.VERSION, **asdict(self)}
        network: NetworkState | None = data["origin"]["network"] and self.__dict__["origin"].network
        data["origin"]["network"] = network and network.to_json()
        return data


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


@dataclass(frozen=True)
class SimpleperfResult(_Stored):
    """A bulk transfer by the course's simpleperf, as the program tells it.

    `throughput_mbps` is what the server says of all connections together, which is what arrived.
    `client_throughput_mbps` is the client's own total. `received_bytes` is the server's amount, with as many digits as
    it prints (whole MB unless it is told otherwise); None where it says none. `streams` and `samples` are the
    client's rows, one stream per connection; there are no samples without ``-i``. `said` is all that the client
    printed, and `server_said` the server.
    """

    KIND: ClassVar[str] = "simpleperf"

    flow: SimpleperfFlow
    origin: Origin
    throughput_mbps: float
    client_throughput_mbps: float
    received_bytes: int | None
    streams: tuple[Stream, ...]
    samples: tuple[Sample, ...]
    said: str
    server_said: str


Result = PingResult | TcpResult | UdpResult | SimpleperfResult
