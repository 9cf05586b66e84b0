"""Lab 19's network, derived from a course network; the traces of its link; and a window that never changes."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from linklab.course import course_network
from linklab.labs.bottlenecks import Cable, derived
from linklab.measure import Varying
from linklab.network import Network
from linklab.network.traces import Trace, generated
from linklab.programs import congestion
from linklab.programs.congestion import ControlledFlow, path
from linklab.programs.submission import read
from linklab.show.cell_view import tell

__all__ = ["CONTROLS", "TRACES", "fixed", "link", "steady", "the_network", "tried"]

ENDS: Final = ("h1", "h2")
LINK: Final = ("r1", "h2")
"""The link that follows a trace, in this direction."""
CONTROLS: Final = ("reno", "cubic", "bbr")
TRACES: Final[dict[str, Trace]] = {trace.name.partition("-")[0]: trace for trace in congestion.PUBLIC}
"""The public traces, by the name of their kind."""
SMALL_PACKETS: Final = 5
LARGE_PACKETS: Final = 60
_FIXED: Final = """
class Controller:
    def on_acknowledgement(self, now_ms, rtt_ms, acknowledged_packets, in_flight_packets):
        pass

    def on_loss(self, now_ms, sent_ms, lost_packets, in_flight_packets):
        pass

    def on_timeout(self, now_ms, in_flight_packets):
        pass

    def may_fly(self, now_ms):
        return {packets}
"""


def the_network() -> Network:
    """Return the contest's path with the student's own addresses: a sender, a router with a queue, and a receiver."""
    short = {"rate_mbps": path.RATE_MBPS, "delay_ms": path.DELAY_MS, "queue_packets": path.QUEUE_PACKETS}
    cables: dict[str, Cable] = {
        "A": (("h1-eth0", 2), ("r1-eth0", 1), {}),
        "B": (("r1-eth1", 1), ("h2-eth0", 2), short),
    }
    return derived(course_network(), "cell", cables)


def steady() -> Trace:
    """Return the student's own trace of one rate, which depends on the rate of the course network's L2."""
    return _steady(round(course_network().link("L2").rate_mbps or 0))


@cache
def _steady(seed: int) -> Trace:
    return generated("steady", seed, congestion.SECONDS)


def link(trace: Trace) -> Varying:
    """Return what has the lab's link follow a trace, in a list of flows."""
    return Varying(*LINK, trace, congestion.SECONDS, queue_packets=path.QUEUE_PACKETS)


def fixed(packets: int) -> ControlledFlow:
    """Run a controller whose window is always so many packets on the trace `steady`, and return what it did."""
    ((flow,),) = congestion.played(_FIXED.format(packets=int(packets)).encode(), [steady()])
    return flow


def tried(file: str | Path) -> dict[str, ControlledFlow]:
    """Run a controller on each of the public traces, and return what it did, by the trace's name.

    The same program is run once: what it does is the same each time. Raises LinklabError where there is none.
    """
    return {name: _flows(_text(file), trace)[0] for name, trace in TRACES.items()}


def copies(file: str | Path, count: int = 2) -> tuple[ControlledFlow, ...]:
    """Run so many copies of a controller on the trace `steady`. Raises as `tried`."""
    return _flows(_text(file), steady(), count)


def _text(file: str | Path) -> bytes:
    program = read(Path(file))
    return program.files[program.name]


@cache
def _flows(controller: bytes, trace: Trace, count: int = 1) -> tuple[ControlledFlow, ...]:
    tell(f"the trace {trace.name}")
    (flows,) = congestion.played(controller, [trace], copies=count)
    return flows


def gap_s(trace: Trace) -> tuple[float, float]:
    """Return the longest time in which a trace lets no packet go: its begin and its end, in seconds."""
    begin_ms, end_ms = max(pairwise(trace.opportunities_ms), key=lambda it: it[1] - it[0])
    return begin_ms / 1000, end_ms / 1000
