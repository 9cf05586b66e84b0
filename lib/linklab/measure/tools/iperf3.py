"""iperf3 over TCP and over UDP: flows, results, and what it prints with ``--json``, read. Pure.

It is iperf3 3.12, which labs have. Both ends' reports are needed: the client knows what was sent, the server what
arrived and when. iperf3 exits with 0 although it could not connect; the report's ``error`` tells.
"""

from __future__ import annotations

import contextlib
import shlex
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from linklab.errors import LabError, MeasurementError
from linklab.measure.flows import FlowOf, PayloadBytes, WholeSeconds
from linklab.measure.results import Origin, Sample, Stream, ToolResult
from linklab.measure.tool import FlowT, Job, ResultT, Tool, link_rates_mbps
from linklab.network.state import CONGESTION_CONTROL
from linklab.schema import Range

if TYPE_CHECKING:
    from linklab.lab import Lab

Streams = Annotated[int, Range(ge=1, le=128)]
_LEAST_MBPS = 1e-6
_SENT_AT_LEAST = 0.95
_BUSY_PERCENT = 50.0


@dataclass(frozen=True)
class TcpFlow(FlowOf["TcpResult"]):
    """A bulk transfer by iperf3 over TCP, `streams` connections side by side.

    `congestion` is set and not left to the machine, because defaults differ. Raises MeasurementError for a duration
    outside 0 to 86400 s or a number of streams outside 1 to 128 (iperf3's own limits), and where no link
    has a rate, so that the lab's clock and not the network held the transfer back.
    """

    tool_name: ClassVar[str] = "TCP"

    duration_s: WholeSeconds = 25
    streams: Streams = 1
    congestion: str = CONGESTION_CONTROL


@dataclass(frozen=True)
class UdpFlow(FlowOf["UdpResult"]):
    """Datagrams by iperf3 at a constant rate, `streams` senders side by side.

    `rate_mbps` is of the *payload*, for each stream, in 10**6 bits a second: iperf3's ``-b`` counts what it gives to
    the socket, not the headers. `payload_rate_mbps` converts a link's rate. Each datagram carries `payload_bytes`.
    Raises MeasurementError as `TcpFlow`, and for a rate that is less than one bit a second, which iperf3 takes for
    none at all, and then sends as fast as it can.
    """

    tool_name: ClassVar[str] = "UDP"

    rate_mbps: Annotated[float, Range(ge=_LEAST_MBPS, le=1e9)]
    duration_s: WholeSeconds = 10
    streams: Streams = 1
    payload_bytes: PayloadBytes = 1448


@dataclass(frozen=True, repr=False)
class TcpResult(ToolResult):
    """A bulk transfer over TCP. Everything is of the receiver, except `retransmitted_segments`.

    `throughput_mbps` is the application's data (goodput), all streams together, over `duration_s`: the receiver's
    own time, which begins with the test and ends when the sender's end has arrived, up to a full queue later. If a flow
    was stopped, they are those of its whole intervals.
    """

    QUANTITY: ClassVar[str] = "throughput_mbps"

    flow: TcpFlow
    origin: Origin
    throughput_mbps: float
    received_bytes: int
    duration_s: float
    retransmitted_segments: int
    congestion: str
    streams: tuple[Stream, ...]
    samples: tuple[Sample, ...]


@dataclass(frozen=True, repr=False)
class UdpResult(ToolResult):
    """Datagrams at a constant rate. `throughput_mbps` is the payload at the receiver, all streams together.

    `lost_packets` is what was sent less what arrived: iperf3's own count sees only gaps, and misses what is lost
    after the last one that arrives. `jitter_ms` is RFC 3550's estimate. `sent_mbps` is the payload as it was sent. If a
    flow was stopped, `throughput_mbps` and `duration_s` are those of its whole intervals, and all packets count.
    """

    QUANTITY: ClassVar[str] = "throughput_mbps"

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


class _Iperf3(Tool[FlowT, ResultT]):
    """A server for each test, which ends with it, and a client."""

    version_command = "iperf3 --version"
    server_exits_after_client = True

    def server(self, job: Job[FlowT]) -> str:
        """Return the server's command.

        A guest has one processor, and iperf3's client polls at the end of a test: on a machine of its own the server
        would read meanwhile what still arrives. So here it comes before all others.
        """
        return f"exec env LC_ALL=C chrt --fifo 1 iperf3 --json -s -1 -p {job.port}"

    def listens(self, lab: Lab, job: Job[FlowT], said: str, patience_s: float) -> bool:
        """Return whether the server listens at its port."""
        return listens_at(lab, job, patience_s)

    def no_server(self, job: Job[FlowT], said: str, status: int | None) -> MeasurementError:
        """Return the error for a server that does not listen."""
        what = "ended" if status is not None else "does not listen"
        return MeasurementError(
            f"the iperf3 server on {job.flow.destination} {what}; it said: {said.strip() or 'nothing'}"
        )


class Tcp(_Iperf3[TcpFlow, TcpResult]):
    """iperf3 over TCP."""

    flow = TcpFlow
    result = TcpResult

    def client(self, job: Job[TcpFlow]) -> str:
        """Return the client's command."""
        return _client(job.flow, job, "-C", job.flow.congestion)

    def parse(self, job: Job[TcpFlow], origin: Origin) -> TcpResult:
        """Read both ends' reports of a TCP test; of one that was stopped, what they say until then.

        Raises MeasurementError with iperf3's own error, or naming what is missing in a report that is not known.
        """
        from linklab.measure.tools import iperf3_reports as reports

        sent, received = reports.both_reports(job, reports.TcpSent)
        total = reports.arrived(received)
        if not job.interrupted:
            _refuse_unlimited(job, total.mbps, received.busy_percent)
        return TcpResult(
            job.flow,
            origin,
            throughput_mbps=total.mbps,
            received_bytes=total.bytes,
            duration_s=total.seconds,
            retransmitted_segments=sent.retransmits,
            congestion=sent.congestion,
            streams=tuple(
                Stream(reports.arrived(received, number).mbps, reports.samples(received, number))
                for number in range(len(received.streams))
            ),
            samples=reports.samples(received),
            interrupted=job.interrupted,
        )


class Udp(_Iperf3[UdpFlow, UdpResult]):
    """iperf3 over UDP."""

    flow = UdpFlow
    result = UdpResult

    def client(self, job: Job[UdpFlow]) -> str:
        """Return the client's command. The rate is in bits: iperf3 reads ``M`` as 10**6, but prints it otherwise."""
        rate = str(round(job.flow.rate_mbps * 1e6))
        return _client(job.flow, job, "-u", "-b", rate, "-l", str(job.flow.payload_bytes))

    def reordered(self, job: Job[UdpFlow]) -> int:
        """Return what the server counted."""
        from linklab.measure.tools import iperf3_reports as reports

        with contextlib.suppress(MeasurementError):  # a report that cannot be read gives no result either
            return reports.reordered(job.server_stdout)
        return 0

    def parse(self, job: Job[UdpFlow], origin: Origin) -> UdpResult:
        """Read both ends' reports of a UDP test; of one that was stopped, what they say until then.

        Raises MeasurementError with iperf3's own error, naming what is missing in a report that is not known, or where
        more arrived than was sent (something duplicates packets).
        """
        from linklab.measure.tools import iperf3_reports as reports

        sent, received = reports.both_reports(job, reports.UdpSent)
        total, timed, payload_bytes = received.total, reports.arrived(received), job.flow.payload_bytes
        arrived, rest = divmod(total.bytes, payload_bytes)
        result = UdpResult(
            job.flow,
            origin,
            throughput_mbps=timed.mbps,
            sent_mbps=sent.bits_per_second / 1e6,
            duration_s=timed.seconds,
            sent_packets=sent.packets,
            received_packets=arrived,
            out_of_order_packets=sum(stream.received.out_of_order for stream in received.streams),
            jitter_ms=total.jitter_ms or 0.0,
            streams=tuple(
                Stream(_mean_mbps(samples), samples)
                for number in range(len(received.streams))
                if (samples := reports.samples(received, number))
            ),
            samples=reports.samples(received),
            interrupted=job.interrupted,
        )
        if rest:
            raise MeasurementError(
                f"iperf3 received {total.bytes} bytes in datagrams of {payload_bytes}: some were cut"
            )
        if not job.interrupted:
            _refuse_slow_sender(result)
        if result.lost_packets < 0:
            raise MeasurementError(
                f"iperf3 sent {result.sent_packets} datagrams and received {arrived}: something on the way duplicates "
                "packets, and loss cannot be told"
            )
        return result


TCP: Final = Tcp()
UDP: Final = Udp()


def listens_at(lab: Lab, job: Job[Any], patience_s: float, protocol: Literal["tcp", "udp"] = "tcp") -> bool:
    """Return whether a program listens at the job's port of its destination, within so much of the lab's time."""
    with contextlib.suppress(LabError):
        lab[job.flow.destination].wait_listening(job.port, patience_s, protocol)
        return True
    return False


def _client(flow: TcpFlow | UdpFlow, job: Job[Any], *more: str) -> str:
    words = ["iperf3", "--json", "-c", job.address, "-p", str(job.port), "-t", f"{flow.duration_s:g}"]
    words += [] if flow.streams == 1 else ["-P", str(flow.streams)]
    return f"exec env LC_ALL=C {shlex.join([*words, *more])}"


def _refuse_slow_sender(result: UdpResult) -> None:
    """Raise MeasurementError where iperf3 sent less than it was asked for and no link of the sender's is to blame.

    iperf3 reads the clock about twelve times for each datagram, and on virtual time each reading takes 250 ns: above
    some 330,000 datagrams a second the next one is due before the last is sent.
    """
    flow = result.flow
    wanted_mbps = flow.rate_mbps * flow.streams
    if result.sent_mbps >= _SENT_AT_LEAST * wanted_mbps:
        return
    rates = link_rates_mbps(result.origin.network, flow.source) if result.origin.network else []
    if any(rate_mbps * _SENT_AT_LEAST < wanted_mbps for rate_mbps in rates):
        return  # a queue of its own held the sender back
    raise MeasurementError(
        f"iperf3 from {flow.source} sent {result.sent_mbps:.4g} of the {wanted_mbps:g} Mbit/s that it was asked for: "
        f"on virtual time it cannot send {1e6 * wanted_mbps / 8 / flow.payload_bytes:,.0f} datagrams a second; choose "
        "larger ones (payload_bytes=), or send at a constant rate with a ConstantRateFlow"
    )


def _refuse_unlimited(job: Job[TcpFlow], throughput_mbps: float, busy_percent: float) -> None:
    """Raise MeasurementError where no link has a rate, so that the steps of the lab's clock bounded the transfer."""
    limited = any(link_rates_mbps(job.network, node.name) for node in job.network.nodes)
    if busy_percent >= _BUSY_PERCENT and not limited:
        raise MeasurementError(
            f"TCP from {job.flow.source} to {job.flow.destination} came to {throughput_mbps:.4g} Mbit/s, and the lab's "
            "clock held it back, not its links: give a link a rate (up to 1000 Mbit/s)"
        )


def _mean_mbps(samples: tuple[Sample, ...]) -> float:
    """Return the mean over the whole time: for UDP the end of a server's report has no rates of single streams."""
    length_s = samples[-1].end_s - samples[0].start_s
    return fsum(sample.throughput_mbps * (sample.end_s - sample.start_s) for sample in samples) / length_s
