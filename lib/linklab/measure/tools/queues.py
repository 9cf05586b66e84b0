"""Sample the length of a queue while other flows send, by tc of iproute2.

Tried on the output of iproute2 6.1 and 6.15.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar, Final

from linklab.errors import MeasurementError
from linklab.measure.flows import Sampler
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, last_line, samples, sampling

if TYPE_CHECKING:
    from linklab.lab import Lab

_PRINTED: Final = re.compile(
    r"qdisc .*\n Sent \d+ bytes \d+ pkt \(dropped (\d+), .*\n backlog (\d+)([KM]?)b (\d+)p .*\n"
    r"(?: .*\n|qdisc .*\n|\n)*"
)
_MARKS: Final = re.compile(r"\b(?:ecn_mark|marked|marks)((?: +\d+)+)")
"""CoDel and fq_codel say the first, RED the second; CAKE the third, with a number for each of its tins."""
_BYTES: Final = {"": 1, "K": 1024, "M": 1024**2}
"""tc's units: 46 frames of 1514 bytes are 68Kb. Its JSON has all bytes, but takes other virtual time than its text."""


@dataclass(frozen=True)
class QueueFlow(Sampler["QueueResult"]):
    """The queue in which packets of `source` to `destination` wait, sampled every `interval_s`. It sends nothing.

    It belongs to the interface by which `source`, mostly a router, sends to `destination`: ``QueueFlow("r1", "h3")``.
    Raises MeasurementError for a duration outside 0 to 86400 s, or an interval below 0.01 s.
    """

    tool_name: ClassVar[str] = "queue"


@dataclass(frozen=True)
class QueueSample:
    """A queue at one moment, `at_s` after the first sample.

    `packets` and `bytes` are what it holds: with netem those in flight on its link as well. tc rounds `bytes` that are
    within 16 of a multiple of 1024, or within 1024 of one of 1024^2. `dropped_packets` counts since the network was
    built.
    """

    at_s: float
    packets: int
    bytes: int
    dropped_packets: int


@dataclass(frozen=True, repr=False)
class QueueResult(ToolResult):
    """All samples, in their order.

    `discipline` describes the innermost queue, which holds the packets, as tc printed it in the last sample:
    ``"fq_codel 10: parent 5:1 limit 10240p ..."``. `marked_packets` is how many packets it marked from the first sample
    to the last (ECN, RFC 3168); 0 if it does not count them.
    """

    QUANTITY: ClassVar[str] = "mean_packets"

    flow: QueueFlow
    origin: Origin
    samples: tuple[QueueSample, ...]
    discipline: str = ""
    marked_packets: int = 0

    @property
    def mean_packets(self) -> float | None:
        """The mean number of packets in the queue."""
        return fmean(sample.packets for sample in self.samples) if self.samples else None


class Queues(Tool[QueueFlow, QueueResult]):
    """tc, run at every interval by Linklab's own program."""

    flow = QueueFlow
    result = QueueResult
    version_command = "tc -V"
    waits_for_gate = True

    def prepare(self, lab: Lab, job: Job[QueueFlow]) -> None:
        """Ask the kernel by which interface it would send. Raises MeasurementError if there is no path."""
        super().prepare(lab, job)
        route = lab[job.flow.source].cmd(f"LC_ALL=C ip -o route get {shlex.quote(job.address)}")
        interface = re.search(r" dev (\S+)", route)
        if interface is None:
            raise MeasurementError(f"{job.flow.title} failed: {last_line(route)}")
        job.extra = interface[1]

    def client(self, job: Job[QueueFlow]) -> str:
        """Return the command that samples tc."""
        return sampling(job, "tc", "-s", "qdisc", "show", "dev", job.extra)

    def parse(self, job: Job[QueueFlow], origin: Origin) -> QueueResult:
        """Return all samples. Raises MeasurementError for what tc never prints."""
        taken = samples(job)
        (_, before), (kind, after) = (_innermost(taken[it][1]) if taken else ("", 0) for it in (0, -1))
        return QueueResult(
            job.flow,
            origin,
            tuple(_sample(at_s, printed) for at_s, printed in taken),
            kind,
            after - before,
            interrupted=job.interrupted,
        )


QUEUES: Final = Queues()


def _innermost(printed: str) -> tuple[str, int]:
    """Read what the last queue that tc prints is, and how many packets it has marked since it was made."""
    queues = re.findall(r"(?m)^qdisc (.*\n(?: .*\n|\n)*)", printed)
    kind, _, counts = queues[-1].partition("\n") if queues else ("", "", "")
    marks = _MARKS.search(counts)
    return kind.strip(), sum(map(int, marks[1].split())) if marks else 0


def _sample(at_s: float, printed: str) -> QueueSample:
    """Read one sample from the first queue that tc prints: it is the root, and counts the packets of those below."""
    found = _PRINTED.fullmatch(printed)
    if found is None:
        raise MeasurementError(f"tc printed what is not known: {last_line(printed)[:100]!r}")
    return QueueSample(at_s, int(found[4]), int(found[2]) * _BYTES[found[3]], int(found[1]))
