"""Sample the state of a node's TCP connections while other flows send, by ss of iproute2.

Tried on the output of iproute2 6.1 and 6.15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, Final

from linklab.errors import MeasurementError
from linklab.measure.flows import Sampler
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, samples, sampling

_ENDS: Final = re.compile(r"^([A-Z][\w-]+)\s+\d+\s+\d+\s+(\S+)\s+(\S+)")
_FIELD: Final = re.compile(r"(?<!\S)(cwnd|ssthresh|rtt|retrans):([\d./]+)")


@dataclass(frozen=True)
class SocketsFlow(Sampler["SocketsResult"]):
    """The TCP connections of `source` to `destination`, sampled every `interval_s`. It sends nothing itself.

    Raises MeasurementError for a duration outside 0 to 86400 s, or an interval below 0.01 s.
    """

    tool_name: ClassVar[str] = "sockets"


@dataclass(frozen=True)
class SocketSample:
    """One connection at one moment, `at_s` after the first sample.

    `cwnd_segments` and `ssthresh_segments` are in segments; the threshold is None before the first loss. `rtt_ms` is
    TCP's smoothed round trip (RFC 6298), `retransmitted_segments` counts since the connection began.
    """

    connection: str
    at_s: float
    cwnd_segments: int
    ssthresh_segments: int | None
    rtt_ms: float
    retransmitted_segments: int


@dataclass(frozen=True, repr=False)
class SocketsResult(ToolResult):
    """All samples, in their order; none if there was no connection."""

    QUANTITY: ClassVar[str] = "rtt_mean_ms"

    flow: SocketsFlow
    origin: Origin
    samples: tuple[SocketSample, ...]

    @property
    def rtt_mean_ms(self) -> float | None:
        """The mean of the smoothed round trips."""
        return fmean(sample.rtt_ms for sample in self.samples) if self.samples else None

    @property
    def busiest(self) -> tuple[SocketSample, ...]:
        """The samples of the connection with the largest window: of iperf3's two, the one that carries data."""
        largest = max(self.samples, key=lambda sample: sample.cwnd_segments, default=None)
        return tuple(sample for sample in self.samples if largest and sample.connection == largest.connection)


class Sockets(Tool[SocketsFlow, SocketsResult]):
    """ss, run at every interval by Linklab's own program."""

    flow = SocketsFlow
    result = SocketsResult
    version_command = "ss -V"
    waits_for_gate = True

    def client(self, job: Job[SocketsFlow]) -> str:
        """Return the command that samples ss."""
        return sampling(job, "ss", "-Htin", "dst", job.address)

    def parse(self, job: Job[SocketsFlow], origin: Origin) -> SocketsResult:
        """Return all samples. Raises MeasurementError for what ss never prints."""
        found = tuple(sample for at_s, printed in samples(job) for sample in _read(at_s, printed))
        return SocketsResult(job.flow, origin, found, interrupted=job.interrupted)


SOCKETS: Final = Sockets()


def _read(at_s: float, printed: str) -> Iterator[SocketSample]:
    """Read lines in pairs: a connection's ends, and its values."""
    connection = ""
    for line in printed.splitlines():
        if ends := _ENDS.match(line):
            # a connection that is being opened or closed has no round trip
            connection = f"{ends[2]}-{ends[3]}" if ends[1] == "ESTAB" else ""
        elif not line.startswith(("\t", " ")) and line:
            raise MeasurementError(f"ss printed a line that is not known: {line.strip()[:100]!r}")
        elif connection and (found := dict(_FIELD.findall(line))):
            if not {"cwnd", "rtt"} <= set(found):
                raise MeasurementError(f"ss printed a line that is not known: {line.strip()[:100]!r}")
            threshold, retransmitted = found.get("ssthresh"), found.get("retrans", "0/0").rpartition("/")[2]
            yield SocketSample(
                connection,
                at_s,
                int(found["cwnd"]),
                None if threshold is None else int(threshold),
                float(found["rtt"].partition("/")[0]),
                int(retransmitted),
            )
