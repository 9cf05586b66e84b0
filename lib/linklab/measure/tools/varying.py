"""Have a link's rate follow a trace during a run.

A varying link stands in the list of a run's flows, and its result in the run's results. It sends nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from linklab.errors import MeasurementError
from linklab.guest import varying
from linklab.measure.flows import FlowOf, Seconds
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import IN_LAB, Job, Tool, program_command
from linklab.network import NetworkState, Shape
from linklab.network.traces import Trace, capacity_mbps
from linklab.schema import Range
from linklab.units import BITS_PER_BYTE

if TYPE_CHECKING:
    from linklab.lab import Lab

_PROGRAM: Final = Path(varying.__file__)


@dataclass(frozen=True)
class Varying(FlowOf["VaryingResult"]):
    """What `source` sends to its neighbour `destination` leaves at the instants of a trace, for `duration_s`.

    At each instant up to 1500 bytes of IP packets leave, as in mahimahi; an instant at which nothing waits is lost.
    The trace begins at `start_s`, and repeats. Packets keep the link's delay. `queue_packets` is how many packets of
    1500 bytes may wait for their instant, without those on the way; of what comes then nothing is taken. ARP does not
    wait. The other direction stays as it is: give another `Varying` for it. At the end the link is as before, and what
    still waits is lost.

    Raises MeasurementError for a duration outside 0 to 3600 s, or a queue outside 1 to 100000 packets.
    """

    tool_name: ClassVar[str] = "varying"

    trace: Trace
    duration_s: Annotated[Seconds, Range(le=3600)] = 10
    queue_packets: Annotated[int, Range(ge=1, le=100_000)] = 1000

    @property
    def name(self) -> str:
        """The link's two nodes: ``"r1-r2"``."""
        return f"{self.source}-{self.destination}"


@dataclass(frozen=True, repr=False)
class VaryingResult(ToolResult):
    """What the trace let go from `began_at_s` to `ended_at_s`, by the lab's clock (`Lab.now`).

    `interface` is the one that followed it. `passed_bytes` are those of the IP packets that the queue took,
    `passed_packets` these packets, and `dropped_packets` those that it did not take.
    """

    QUANTITY: ClassVar[str] = "used_percent"

    flow: Varying
    origin: Origin
    began_at_s: float
    ended_at_s: float
    interface: str
    passed_bytes: int
    passed_packets: int
    dropped_packets: int

    @property
    def lasted_s(self) -> float:
        """How long the link followed the trace, in seconds."""
        return self.ended_at_s - self.began_at_s

    @property
    def capacity_mbps(self) -> float:
        """The mean capacity meanwhile, in Mbit/s of IP packets."""
        return capacity_mbps(self.flow.trace, 0, 1000 * self.lasted_s)

    @property
    def passed_mbps(self) -> float:
        """The mean rate of the packets that the queue took, in Mbit/s of IP packets."""
        return self.passed_bytes * BITS_PER_BYTE / self.lasted_s / 1e6

    @property
    def used_percent(self) -> float:
        """The share of the capacity that was used, in percent."""
        return 100 * self.passed_mbps / self.capacity_mbps if self.capacity_mbps else 0.0


class VaryingLinks(Tool[Varying, VaryingResult]):
    """Linklab's own program, which acts on the interface of `source`."""

    flow = Varying
    result = VaryingResult
    needs_address = False
    waits_for_gate = True
    own_program = _PROGRAM

    def check(self, lab: Lab, job: Job[Varying]) -> None:
        """Raise MeasurementError where no cable joins the two nodes, or where it cannot follow a trace."""
        _, shape = end_of(job.network, job.flow)
        of = job.flow.name
        if shape.rate_mbps is None or shape.overhead_bytes is not None:
            raise MeasurementError(f"{of} has no token bucket: give the link rate_mbps, and no overhead_bytes")
        if shape.loss_percent or shape.jitter_ms:
            raise MeasurementError(f"{of} loses or delays packets at random: give the link no loss and no jitter")

    def prepare(self, lab: Lab, job: Job[Varying]) -> None:
        """Find a process in the node's namespace, and put the trace into the lab."""
        super().prepare(lab, job)
        interface, shape = end_of(job.network, job.flow)
        trace = f"{IN_LAB}/trace-{job.number}"
        lab.write_file(trace, "".join(f"{at_ms}\n" for at_ms in job.flow.trace.opportunities_ms).encode())
        shell = int(lab[job.flow.source].cmd("echo $$"))
        job.extra = {"end": (shell, interface), "delay_ns": round(shape.delay_ms * 1e6), "trace": trace}

    def client(self, job: Job[Varying]) -> str:
        """Return the command that has the interface follow the trace."""
        flow = job.flow
        lasts_ns = round(flow.duration_s * 1e9)
        return program_command(
            _PROGRAM.name, "vary", **job.start, lasts_ns=lasts_ns, queue_packets=flow.queue_packets, **job.extra
        )


VARYING: Final = VaryingLinks()


def end_of(network: NetworkState, flow: Varying) -> tuple[str, Shape]:
    """Return the interface by which `source` sends to `destination`, and its shape.

    Raises MeasurementError where not one cable joins them.
    """
    node = network.node(flow.source)
    found = [it for it in (node.interfaces if node else ()) if it.peer and it.peer[0] == flow.destination]
    if len(found) != 1:
        what = "no cable joins" if not found else f"{len(found)} cables join"
        raise MeasurementError(
            f"{what} {flow.source} and {flow.destination}: give two neighbours, the one that sends first"
        )
    return found[0].name, found[0].shape
