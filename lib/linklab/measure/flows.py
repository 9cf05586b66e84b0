"""What is to be measured: one frozen value per measurement, with the tool's words for it.

A flow goes from one node to another. Where the destination has several addresses, `address` says which one is meant.
`start_s` lets a flow begin so much later than the others that are measured with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from linklab.errors import MeasurementError
from linklab.network.state import CONGESTION_CONTROL

Transport = Literal["tcp", "udp", "icmp"]
"""What a flow's packets are: what differs in their headers, and in how they share a link."""
_LARGEST_COUNT = 65535
_PING_PAYLOAD_BYTES = (16, 65507)
_UDP_PAYLOAD_BYTES = (16, 65507)
_LONGEST_S = 86400
_MOST_STREAMS = 128
_MOST_CONNECTIONS = 5


@dataclass(frozen=True)
class PingFlow:
    """ICMP echo requests, one every `interval_s`. `payload_bytes` 56 makes IP packets of 84 bytes.

    Raises MeasurementError for more requests than ICMP has sequence numbers (65535), for an interval that is not
    positive, or for a payload too small to carry a time stamp (16 bytes) or larger than IPv4 allows.
    """

    transport: ClassVar[Transport] = "icmp"

    source: str
    destination: str
    count: int = 25
    interval_s: float = 0.2
    payload_bytes: int = 56
    address: str | None = None
    start_s: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.count <= _LARGEST_COUNT:
            raise MeasurementError(f"count is {self.count}: choose 1 to {_LARGEST_COUNT} pings")
        _refuse_not_positive("interval_s", self.interval_s)
        low, high = _PING_PAYLOAD_BYTES
        if not low <= self.payload_bytes <= high:
            raise MeasurementError(f"payload_bytes is {self.payload_bytes}: choose {low} to {high}")
        _refuse_start(self.start_s)

    def words(self, address: str) -> list[str]:
        """The command. ``-n``: names of addresses are not asked for, which would take the resolver's time-outs."""
        return [
            *("ping", "-n", "-c", str(self.count), "-i", f"{self.interval_s:g}", "-s", str(self.payload_bytes)),
            address,
        ]

    @property
    def longest_s(self) -> float:
        """When ping has ended for sure: it waits 10 s for the last answer."""
        return self.start_s + self.count * self.interval_s + 30


@dataclass(frozen=True)
class TcpFlow:
    """A bulk transfer by iperf3 over TCP, `streams` connections side by side.

    `congestion` is set and not left to the machine, because defaults differ. Raises MeasurementError for a duration
    outside 0 to 86400 s or a number of streams outside 1 to 128 (iperf3's own limits).
    """

    transport: ClassVar[Transport] = "tcp"

    source: str
    destination: str
    duration_s: float = 25
    streams: int = 1
    congestion: str = CONGESTION_CONTROL
    address: str | None = None
    start_s: float = 0.0

    def __post_init__(self) -> None:
        _refuse_duration(self.duration_s)
        _refuse_streams(self.streams)
        _refuse_start(self.start_s)

    def words(self, address: str, port: int) -> list[str]:
        """The client's command."""
        return [*_client(self.duration_s, self.streams, address, port), "-C", self.congestion]

    @property
    def longest_s(self) -> float:
        """When the client has ended for sure, a broken one included."""
        return self.start_s + self.duration_s + 60


@dataclass(frozen=True)
class UdpFlow:
    """Datagrams by iperf3 at a constant rate, `streams` senders side by side.

    `rate_mbps` is of the *payload*, for each stream, in 10**6 bits a second: iperf3's ``-b`` counts what it gives to
    the socket, not the headers. `linklab.network.payload_rate_mbps` converts a link's rate. Each datagram carries
    `payload_bytes`.
    Raises MeasurementError as `TcpFlow`, and for a rate that is not positive.
    """

    transport: ClassVar[Transport] = "udp"

    source: str
    destination: str
    rate_mbps: float
    duration_s: float = 10
    streams: int = 1
    payload_bytes: int = 1448
    address: str | None = None
    start_s: float = 0.0

    def __post_init__(self) -> None:
        _refuse_duration(self.duration_s)
        _refuse_streams(self.streams)
        _refuse_not_positive("rate_mbps", self.rate_mbps)
        low, high = _UDP_PAYLOAD_BYTES
        if not low <= self.payload_bytes <= high:
            raise MeasurementError(f"payload_bytes is {self.payload_bytes}: choose {low} to {high}")
        _refuse_start(self.start_s)

    def words(self, address: str, port: int) -> list[str]:
        """The client's command. The rate is in bits: iperf3 reads ``M`` as 10**6, but prints it otherwise."""
        rate = str(round(self.rate_mbps * 1e6))
        return [
            *_client(self.duration_s, self.streams, address, port),
            *("-u", "-b", rate, "-l", str(self.payload_bytes)),
        ]

    @property
    def longest_s(self) -> float:
        """When the client has ended for sure, a broken one included."""
        return self.start_s + self.duration_s + 60


@dataclass(frozen=True)
class SimpleperfFlow:
    """A bulk transfer by the course's simpleperf, `streams` connections side by side.

    `program` is the file; None is Linklab's own reference. It prints a row each `interval_s` whole seconds, or with
    None only its totals, which a program that does not know ``-i`` yet can do too. ``-P`` is left away for one
    connection. Raises MeasurementError for a duration or an interval that is not whole seconds, or a number of
    connections outside 1 to 5.
    """

    transport: ClassVar[Transport] = "tcp"

    source: str
    destination: str
    duration_s: float = 25
    streams: int = 1
    interval_s: float | None = 1
    program: str | Path | None = None
    address: str | None = None
    start_s: float = 0.0

    def __post_init__(self) -> None:
        _refuse_duration(self.duration_s)
        if not 1 <= self.streams <= _MOST_CONNECTIONS:
            raise MeasurementError(f"streams is {self.streams}: simpleperf opens 1 to {_MOST_CONNECTIONS}")
        if self.interval_s is not None:
            _refuse_duration(self.interval_s, "interval_s")
        if self.program is not None:
            object.__setattr__(self, "program", str(self.program))
        _refuse_start(self.start_s)

    def server_words(self, file: str, address: str, port: int) -> list[str]:
        """The server's command, for a copy of the program at `file`."""
        return ["python3", file, "-s", "-b", address, "-p", str(port)]

    def words(self, file: str, address: str, port: int) -> list[str]:
        """The client's command."""
        words = ["python3", file, "-c", "-I", address, "-p", str(port), "-t", f"{self.duration_s:g}"]
        words += [] if self.interval_s is None else ["-i", f"{self.interval_s:g}"]
        return words if self.streams == 1 else [*words, "-P", str(self.streams)]

    @property
    def longest_s(self) -> float:
        """When the client has ended for sure, a broken one included."""
        return self.start_s + self.duration_s + 60


Flow = PingFlow | TcpFlow | UdpFlow | SimpleperfFlow


def due_s(flow: Flow) -> float:
    """When a flow should have ended, in seconds since the start of all; what is still in a queue comes later."""
    return flow.start_s + (flow.count * flow.interval_s if isinstance(flow, PingFlow) else flow.duration_s)


def _client(duration_s: float, streams: int, address: str, port: int) -> list[str]:
    words = ["iperf3", "--json", "-c", address, "-p", str(port), "-t", f"{duration_s:g}"]
    return words if streams == 1 else [*words, "-P", str(streams)]


def _refuse_duration(duration_s: float, name: str = "duration_s") -> None:
    if not 0 < duration_s <= _LONGEST_S or duration_s != int(duration_s):
        raise MeasurementError(f"{name} is {duration_s}: choose whole seconds from 1 to {_LONGEST_S}")


def _refuse_start(start_s: float) -> None:
    if not 0 <= start_s <= _LONGEST_S:
        raise MeasurementError(f"start_s is {start_s}: choose 0 to {_LONGEST_S} s after the others")


def _refuse_streams(streams: int) -> None:
    if not 1 <= streams <= _MOST_STREAMS:
        raise MeasurementError(f"streams is {streams}: choose 1 to {_MOST_STREAMS}")


def _refuse_not_positive(name: str, value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise MeasurementError(f"{name} is {value}: it must be a number above 0")
