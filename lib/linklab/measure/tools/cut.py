"""Cut a cable, or all cables of a node, at an instant of a run, and heal it at another one.

A cut stands in the list of a run's flows, and its result in the run's results. It sends nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from linklab.errors import MeasurementError
from linklab.measure.events.network import CableOutage
from linklab.measure.flows import FlowOf, Seconds
from linklab.measure.results import Origin, ToolResult
from linklab.measure.tool import Job, Tool, program_command
from linklab.network import NetworkState

if TYPE_CHECKING:
    from linklab.lab import Lab

_PROGRAM: Final = "cut.py"


@dataclass(frozen=True)
class Cut(FlowOf["CutResult"]):
    """Cut all cables between two nodes, or all cables of one node (`destination` is left out), at `start_s`.

    After `duration_s` the cables are healed; also where the run is stopped. A cut sets the interfaces at both ends
    down, as somebody does who configures them: both nodes notice at once, and Linux removes the routes. (To take the
    carrier alone, by which Linux keeps its routes, set the interface at the other end down.) A `silent` cut loses all
    frames, and no interface notices: a switch between the two nodes could fail so. Healed interfaces get back the
    routes that were typed or built with the network.

    Raises MeasurementError for a duration outside 0 to 86400 s.
    """

    tool_name: ClassVar[str] = "cut"

    destination: str = ""
    duration_s: Seconds = 10
    silent: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "destination", self.destination or self.source)
        super().__post_init__()

    @property
    def name(self) -> str:
        """The cable's two nodes, or the node: ``"r1-r2"``."""
        return self.source if self.source == self.destination else f"{self.source}-{self.destination}"


@dataclass(frozen=True, repr=False)
class CutResult(ToolResult):
    """When the cables were cut and healed, by the lab's clock (`Lab.now`), and the interfaces at their ends."""

    QUANTITY: ClassVar[str] = "outage_ms"

    flow: Cut
    origin: Origin
    cut_at_s: float
    healed_at_s: float
    interfaces: tuple[str, ...]

    @property
    def outage_ms(self) -> float:
        """How long the cables were cut, in ms."""
        return 1000 * (self.healed_at_s - self.cut_at_s)

    @property
    def outage(self) -> CableOutage:
        """What was cut, and when."""
        cut_ns, healed_ns = round(1e9 * self.cut_at_s), round(1e9 * self.healed_at_s)
        return CableOutage(
            tuple(dict.fromkeys((self.flow.source, self.flow.destination))),
            cut_ns,
            healed_ns,
            self.interfaces,
            self.flow.silent,
        )


class Cuts(Tool[Cut, CutResult]):
    """Linklab's own program, which acts on the interfaces at both ends."""

    flow = Cut
    result = CutResult
    needs_address = False
    waits_for_gate = True

    def check(self, lab: Lab, job: Job[Cut]) -> None:
        """Raise MeasurementError where no cable joins the two nodes."""
        if not ends_of(job.network, job.flow):
            one, other = job.flow.source, job.flow.destination
            what = f"no cable joins {one} and {other}" if one != other else f"{one} has no cable"
            raise MeasurementError(
                f"{what}: cut a cable between two neighbours, or all cables of a node with Cut({one!r})"
            )

    def prepare(self, lab: Lab, job: Job[Cut]) -> None:
        """Find a process in the namespace of each node that has an end of a cable."""
        super().prepare(lab, job)
        ends = ends_of(job.network, job.flow)
        shells = {node: int(lab[node].cmd("echo $$")) for node, _ in ends}
        job.extra = [(shells[node], interface) for node, interface in ends]

    def client(self, job: Job[Cut]) -> str:
        """Return the command that cuts and heals."""
        flow = job.flow
        lasts_ns = round(flow.duration_s * 1e9)
        return program_command(_PROGRAM, "cut", **job.start, lasts_ns=lasts_ns, silent=flow.silent, ends=job.extra)


CUTS: Final = Cuts()


def ends_of(network: NetworkState, cut: Cut) -> list[tuple[str, str]]:
    """Return node and interface of both ends of each cable that a cut is about."""
    found = []
    node = network.node(cut.source)
    for interface in node.interfaces if node else ():
        if interface.peer is not None and cut.destination in (cut.source, interface.peer[0]):
            found += [(cut.source, interface.name), interface.peer]
    return found
