"""iperf 2 over UDP: its flow, its result, and the line that its server prints, read. Pure."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from linklab.errors import MeasurementError
from linklab.measure.flows import FlowOf, WholeSeconds
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, last_line
from linklab.measure.tools.iperf3 import listens_at
from linklab.schema import Range

if TYPE_CHECKING:
    from linklab.lab import Lab

_UNITS: Final = {"": 2**-20, "K": 2**-10, "M": 1, "G": 2**10}
_RATES: Final = {"": 1e-6, "K": 1e-3, "M": 1, "G": 1e3}
_REPORT: Final = re.compile(
    r"^\[ +\d+\] +0\.0+- *[\d.]+ sec +([\d.]+) ([KMG]?)Bytes +([\d.]+) ([KMG]?)bits/sec +([\d.]+) ms"
    r" +(\d+)/ *(\d+) \(.*\)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Iperf2Flow(FlowOf["Iperf2Result"]):
    """Datagrams by iperf 2: ``iperf -u -b 25M`` has `asked_mibps` 25, which is 26.2 Mbit/s of payload.

    Each datagram carries 1470 bytes. The server prints no report of a flow that lost everything, which is an error.
    """

    tool_name: ClassVar[str] = "iperf 2"

    asked_mibps: Annotated[float, Range(ge=0.001, le=1000)]
    duration_s: WholeSeconds = 10


@dataclass(frozen=True, repr=False)
class Iperf2Result(ToolResult):
    """What the server printed in its last line, `line`, with its digits.

    `transfer_mib` is what it calls MBytes: 1024 * 1024 bytes of payload that arrived.
    """

    QUANTITY: ClassVar[str] = "throughput_mbps"

    flow: Iperf2Flow
    origin: Origin
    line: str
    transfer_mib: float
    throughput_mbps: float
    jitter_ms: float
    lost_packets: int
    sent_packets: int

    @property
    def loss_percent(self) -> float:
        """The share that did not arrive."""
        return 100 * self.lost_packets / self.sent_packets if self.sent_packets else 0.0


class Iperf2(Tool[Iperf2Flow, Iperf2Result]):
    """iperf 2: a server for each test, which ends with it, and a client."""

    flow = Iperf2Flow
    result = Iperf2Result
    version_command = "iperf --version 2>&1"
    server_exits_after_client = True

    def server(self, job: Job[Iperf2Flow]) -> str:
        """Return the server's command."""
        return f"exec env LC_ALL=C iperf -s -u -P 1 -p {job.port}"

    def listens(self, lab: Lab, job: Job[Iperf2Flow], said: str, patience_s: float) -> bool:
        """Return whether the server listens at its port."""
        return listens_at(lab, job, patience_s, "udp")

    def client(self, job: Job[Iperf2Flow]) -> str:
        """Return the client's command."""
        words = ("iperf", "-c", job.address, "-p", str(job.port), "-u", "-b", f"{job.flow.asked_mibps:.10g}M")
        return f"exec env LC_ALL=C {shlex.join([*words, '-t', f'{job.flow.duration_s:g}'])}"

    def parse(self, job: Job[Iperf2Flow], origin: Origin) -> Iperf2Result:
        """Read the server's last line. Raises MeasurementError where there is none, as in a flow that was stopped."""
        found = _REPORT.search(job.server_stdout)
        if found is None:
            said = last_line(job.stdout) or "nothing"
            raise MeasurementError(f"the server of {job.flow.title} printed no report; the client said: {said}")
        arrived, of_bytes, rate, of_bits, jitter, lost, total = found.groups()
        return Iperf2Result(
            job.flow,
            origin,
            line=found[0],
            transfer_mib=float(arrived) * _UNITS[of_bytes],
            throughput_mbps=float(rate) * _RATES[of_bits],
            jitter_ms=float(jitter),
            lost_packets=int(lost),
            sent_packets=int(total),
            interrupted=job.interrupted,
        )


IPERF2: Final = Iperf2()
