"""ping of iputils: its flow, its result, and what it prints, read. Pure."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from linklab.errors import MeasurementError
from linklab.measure.flows import FlowOf, PayloadBytes, Positive
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, last_line
from linklab.schema import Range

_ANSWER_S = 10
"""How long ping waits for the last answer."""
_REPLY = re.compile(r"\d+ bytes from \S+: icmp_seq=(\d+) ttl=\d+ time=([\d.]+) ms( \(DUP!\))?")
_COUNTS = re.compile(
    r"^(\d+) packets transmitted, (\d+) received,(?: \+(\d+) duplicates,)?(?: \+\d+ corrupted,)?(?: \+(\d+) errors,)?"
    r" [\d.]+% packet loss, time \d+ms$",
    re.MULTILINE,
)
_SUMMARY = re.compile(r"^rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms", re.MULTILINE)


@dataclass(frozen=True)
class PingFlow(FlowOf["PingResult"]):
    """ICMP echo requests, one every `interval_s`. `payload_bytes` 56 makes IP packets of 84 bytes.

    Raises MeasurementError for more requests than ICMP has sequence numbers (65535), for an interval that is not
    positive, or for a payload too small to carry a time stamp (16 bytes) or larger than IPv4 allows.
    """

    tool_name: ClassVar[str] = "ping"

    count: Annotated[int, Range(ge=1, le=65535)] = 25
    interval_s: Positive = 0.2
    payload_bytes: PayloadBytes = 56

    @property
    def lasts_s(self) -> float:
        """The time of all requests."""
        return self.count * self.interval_s

    @property
    def longest_s(self) -> float:
        """Latest time by which ping must have ended: it waits for the last answer."""
        return self.start_s + self.lasts_s + 3 * _ANSWER_S


@dataclass(frozen=True, repr=False)
class PingResult(ToolResult):
    """What ping said.

    `rtt_ms` has one round trip per packet sent, None for one that was not answered, so that series stay aligned.
    ping prints a single one with three digits only (60.0, 143); the four summary values have a microsecond's, and
    count duplicates in. They are None when nothing was answered.
    """

    QUANTITY: ClassVar[str] = "rtt_mean_ms"

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


class Ping(Tool[PingFlow, PingResult]):
    """ping of iputils: no server, and all that it prints is the client's."""

    flow = PingFlow
    result = PingResult
    version_command = "ping -V"

    def client(self, job: Job[PingFlow]) -> str:
        """Return the command. ``-n``: names of addresses are not asked for, which would take the resolver's time."""
        flow = job.flow
        words = ("ping", "-n", "-c", str(flow.count), "-i", f"{flow.interval_s:g}", "-s", str(flow.payload_bytes))
        return f"exec env LC_ALL=C {shlex.join([*words, job.address])}"

    def parse(self, job: Job[PingFlow], origin: Origin) -> PingResult:
        """Read ping's whole output; of a flow that was stopped, that of the requests until then, without the last
        if it has no answer yet.

        Raises MeasurementError with ping's own words where it did not run to its summary, and naming the line or the
        contradiction where the output is not one that is known: what cannot be read is never counted as lost.
        """
        text, flow = job.stdout, job.flow
        counts = _COUNTS.search(text)
        if counts is None:
            raise MeasurementError(f"ping from {flow.source} to {flow.destination} did not work: {_last_words(text)}")
        sent, received = int(counts[1]), int(counts[2])
        rtt_ms: list[float | None] = [None] * sent
        for line in text.splitlines():
            if " bytes from " not in line:
                continue
            reply = _REPLY.fullmatch(line.strip())
            if reply is None:
                raise MeasurementError(f"ping printed a line that is not known: {line.strip()!r}")
            number = int(reply[1])
            if not 1 <= number <= sent:
                raise MeasurementError(f"ping printed icmp_seq={number} of {sent} packets: its output is not known")
            if reply[3] is None:
                rtt_ms[number - 1] = float(reply[2])
        if job.interrupted and rtt_ms and rtt_ms[-1] is None:
            rtt_ms.pop()  # its answer may have been under way
        answered = len(rtt_ms) - rtt_ms.count(None)
        if answered != received:
            raise MeasurementError(f"ping counted {received} answers and printed {answered}: its output is incomplete")
        summary = _SUMMARY.search(text)
        if (summary is None) != (received == 0):
            raise MeasurementError(f"ping's summary of {received} answers cannot be read: {_last_words(text)}")
        low, mean, high, deviation = map(float, summary.groups()) if summary else (None,) * 4
        duplicates, errors = int(counts[3] or 0), int(counts[4] or 0)
        summary_ms = (low, mean, high, deviation)
        return PingResult(flow, origin, tuple(rtt_ms), *summary_ms, duplicates, errors, interrupted=job.interrupted)


PING: Final = Ping()


def _last_words(text: str) -> str:
    return last_line(text) or "it printed nothing"
