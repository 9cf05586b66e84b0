"""What Labs 11 and 12 share, others in part: networks with one bottleneck, into which r1-eth2 sends, and their runs.

All delay lies on other links, so the bottleneck's queue holds waiting packets alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from linklab.grade.measured import first_between, state_of_run
from linklab.grade.questions import Slip, Value, stated
from linklab.grade.wanted import Field, Others, Wanted, at_least, exactly, refuse_another_network, require_shape
from linklab.measure import ConstantRateFlow, QueueResult, Run, TcpFlow, TcpResult, UdpFlow
from linklab.network import End, Host, Link, Network, Router, Shape, Subnet
from linklab.network.variants import derived_name, first_octets

Pair = tuple[str, str]
Cable = tuple[tuple[str, int], tuple[str, int], Mapping[str, Any]]
"""A link's two interfaces with the last numbers of their addresses, and the other arguments of `Link`."""
_NODE, _INTERFACE = "r1", "r1-eth2"


def derived(course: Network, name: str, cables: Mapping[str, Cable]) -> Network:
    """Return a network derived from a course network. Its name tells the variant.

    ``cables`` are by the name of their subnet. Addresses begin with the course network's two numbers; the third one
    counts the subnets. A node is a router if its name begins with r, leaf or spine, else a host.
    """
    start = first_octets(course)

    def end(interface: str, last: int, third: int) -> End:
        return End(interface.partition("-")[0], interface, f"{start}.{third}.{last}/24")

    links = tuple(
        Link(end(*one, third), end(*two, third), **more) for third, (one, two, more) in enumerate(cables.values(), 1)
    )
    nodes = sorted({end.node for link in links for end in link.ends})
    return Network(
        name=derived_name(course, name),
        nodes=tuple(Router(node) if node.startswith(("r", "leaf", "spine")) else Host(node) for node in nodes),
        links=links,
        subnets=tuple(Subnet(subnet, f"{start}.{third}.0/24") for third, subnet in enumerate(cables, 1)),
    )


def full_queue_rtt(key: object, what: str, idle_ms: float, queue_packets: int, packet_ms: float) -> Value:
    """Ask students to predict the round trip, in ms, of a packet that finds the bottleneck's queue full."""
    wait_ms = queue_packets * packet_ms
    waits = "a packet that finds the queue full waits for all packets before it"
    slips = (
        Slip(idle_ms, "that is the round trip of an idle path", waits),
        Slip(wait_ms, "that is the time in the queue alone", "add the links' delays"),
        Slip(idle_ms / 2 + wait_ms, "that has the delay of one direction only", "a round trip has two directions"),
        Slip(idle_ms + 2 * wait_ms, "that counts the queue twice", "the answer returns through an empty queue"),
        Slip(idle_ms + wait_ms / 8, "that takes bytes for bits", "a frame of 1514 bytes has 12,112 bits"),
    )
    return Value(key, what, stated(idle_ms + wait_ms, "ms", "delays, and a full queue"), waits, slips)


# --- Runs


def transfer(ends: Pair, control: str, duration_s: float) -> Wanted[TcpResult]:
    """Want one connection of TCP from the start, with this congestion control, for so long or longer."""
    fields = (
        exactly("congestion", control),
        exactly("streams", 1, "omit streams="),
        exactly("start_s", 0.0, "omit start_s="),
        at_least("duration_s", duration_s),
    )
    return Wanted(TcpFlow, ends, fields)


NO_OTHER_TRANSFER: Final[Others] = dict.fromkeys(
    (TcpFlow, UdpFlow, ConstantRateFlow), "leave it out: it takes a share of the bottleneck"
)
_RESTART: Final = (
    "start the lab again; then replace only the queue under class 5:1: tc qdisc replace ... parent 5:1 ..."
)
_UNCHANGED: Final = (
    Field("rate_mbps", bool, _RESTART),
    exactly("delay_ms", 0.0, _RESTART),
    exactly("loss_percent", 0.0, _RESTART),
)


def require_same_bottleneck(what: str, run: Run, network: Network, *fields: Field) -> None:
    """Refuse a run that was measured on another network, or through another bottleneck.

    The bottleneck has a rate, but neither a delay nor a loss; ``fields`` are what else must be there.
    """
    refuse_another_network(what, state_of_run(run), network)
    require_shape(what, state_of_run(run), End(_NODE, _INTERFACE), (*_UNCHANGED, *fields))


def planned(name: str, value: float | None, step: str) -> Field:
    """Want a number as the network plans it, as closely as a kernel keeps it."""
    return Field(name, lambda found: math.isclose(found or 0.0, value or 0.0, rel_tol=1e-3, abs_tol=1e-3), step)


def bottleneck_of(run: Run) -> Shape | None:
    """Return what the bottleneck did to packets, as it was read back before the run."""
    state = state_of_run(run)
    face = None if state is None else state.interface(_NODE, _INTERFACE)
    return None if face is None else face.shape


def samples_of_queue(run: Run) -> QueueResult | None:
    """Return the samples of the queue in which a run's first transfer waits; None without any."""
    sampled = (it for it in run.of(QueueResult) if it.samples)
    return first_between(sampled, _NODE, run.of(TcpResult)[0].flow.destination)
