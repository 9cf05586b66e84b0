"""Compute how links are shared: max-min fair shares, shares in proportion, and fairness.

TCP tends to max-min shares. Constant rates get shares in proportion to what they offer: a full queue drops whatever
comes next, whoever sent it, so that over time every flow loses the same share of what it offers there (a fluid model).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linklab.analysis.measured_paths import MeasuredPath, measured_path
from linklab.errors import MeasurementError, NetworkError
from linklab.network import Hop, Network, NetworkState, goodput_ceiling_mbps, path, path_mtu_bytes
from linklab.network.theory import as_fragmented, hop_datagram_bytes

if TYPE_CHECKING:
    from linklab.measure import ConstantRateFlow

_TIE = 1e-9


@dataclass(frozen=True)
class Load:
    """A load of TCP between two nodes: ``connections`` side by side, each sends as much as it can, in full segments.

    Raises MeasurementError for less than one connection.
    """

    source: str
    destination: str
    connections: int = 1

    def __post_init__(self) -> None:
        if self.connections < 1:
            raise MeasurementError(f"connections is {self.connections}: a load has 1 or more")

    @property
    def name(self) -> str:
        """``"h1-h4"``."""
        return f"{self.source}-{self.destination}"


@dataclass(frozen=True)
class Share:
    """The share of a load: application data in Mbit/s, of all connections and of each.

    ``bottleneck`` is the hop that decides it. ``rivals`` is how many connections, its own included, that hop decides
    for.
    """

    load: Load
    path: MeasuredPath
    total_mbps: float
    bottleneck: Hop
    rivals: int

    @property
    def connection_mbps(self) -> float:
        """The share of one connection, in Mbit/s."""
        return self.total_mbps / self.load.connections


def max_min_shares(network: Network, loads: Sequence[Load], state: NetworkState | None = None) -> tuple[Share, ...]:
    """Return the max-min fair share of each load, in order, by progressive filling over the links of their paths.

    The rate of all connections grows alike; when a link is full, those on it stop there, and the rest go on
    (D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, 1992, section 6.5.2). Shares are of application data, and
    what a load takes of a link is that and its own headers (`goodput_ceiling_mbps`). A connection counts, not a host,
    because TCP shares by connection. Acknowledgements in the other direction are left out.

    Max-min is what flows of equal round trips and equal losses tend to; how near a finite measurement comes is for
    `linklab.analysis.expectation` to say. Raises NetworkError for a path that is not there, MeasurementError if a load
    has no rate-limited link on its path.
    """
    paths = [measured_path(network, load.source, load.destination, state) for load in loads]
    crossing = [_limited_hops(each) for each in paths]
    hops = {direction_of(hop): hop for mine in crossing for hop in mine}
    free = {key: hop.link.rate_mbps or 0 for key, hop in hops.items()}
    takes = [
        {direction_of(hop): _taken_of_link(one, hop) * load.connections for hop in mine}
        for load, one, mine in zip(loads, paths, crossing, strict=True)
    ]
    rate = [0.0] * len(loads)
    decided: dict[int, tuple[str, str]] = {}
    while len(decided) < len(loads):
        going = [number for number in range(len(loads)) if number not in decided]
        room: dict[tuple[str, str], float] = {}
        for key in hops:
            taken = math.fsum(takes[number].get(key, 0.0) for number in going)
            if taken:
                room[key] = max(free[key], 0.0) / taken
        step = min(room.values(), default=math.inf)
        if math.isinf(step):
            raise MeasurementError(f"nothing limits {loads[going[0]].name}: set rate_mbps on a link of its path")
        for number in going:
            rate[number] += step
            for key, taken in takes[number].items():
                free[key] -= step * taken
        full = {key for key, space in room.items() if space <= step + _TIE}
        for number in going:
            mine_full = [key for key in takes[number] if key in full]
            if mine_full:
                decided[number] = mine_full[0]
    found = []
    for number, load in enumerate(loads):
        where = decided[number]
        rivals = sum(other.connections for at, other in enumerate(loads) if decided[at] == where)
        found.append(Share(load, paths[number], rate[number] * load.connections, hops[where], rivals))
    return tuple(found)


def _limited_hops(measured: MeasuredPath) -> list[Hop]:
    return [hop for hop in as_fragmented(measured.forward.hops) if hop.link.rate_mbps is not None]


def _taken_of_link(measured: MeasuredPath, hop: Hop) -> float:
    """Return how much of a link's rate a load takes for each Mbit/s of its application data: above 1, for headers."""
    return (hop.link.rate_mbps or 0) / goodput_ceiling_mbps(hop, path_mtu_bytes(measured.forward))


def direction_of(hop: Hop) -> tuple[str, str]:
    """Return the link's name and the node that sends into it: each direction has a queue of its own."""
    return hop.link.label, hop.out.node


_ROUNDS = 100
_WHOLE = 1 - 1e-9


@dataclass(frozen=True)
class Served:
    """The payload of a flow that arrives, in Mbit/s. `losses` has the share lost at each full link on its path."""

    flow: ConstantRateFlow
    throughput_mbps: float
    losses: tuple[tuple[str, float], ...]


def proportional(network: Network, flows: Sequence[ConstantRateFlow]) -> tuple[Served, ...]:
    """Return what arrives of each flow, in their order.

    A link direction to which more is offered than it carries lets ``rate / offered`` of everything pass; what was
    lost before is not offered any more. Exact for long runs of rates that keep no step with each other; queues add
    and take away at the begin and end. Raises NetworkError for paths that do not exist, or links that are no cables.
    """
    paths = [
        as_fragmented(path(network, flow.source, flow.destination, ip_version=flow.ip_version).hops) for flow in flows
    ]
    passing: dict[tuple[str, str], float] = {}
    for _ in range(_ROUNDS):
        offered: dict[tuple[str, str], float] = {}
        rates = {direction_of(hop): _cable_mbps(hop) for hops in paths for hop in hops}
        for flow, hops in zip(flows, paths, strict=True):
            left = flow.rate_mbps
            for hop in hops:
                on_wire = left * hop_datagram_bytes(hop, flow.payload_bytes) / flow.payload_bytes
                offered[direction_of(hop)] = offered.get(direction_of(hop), 0.0) + on_wire
                left *= passing.get(direction_of(hop), 1.0)
        new = {key: min(1.0, rates[key] / offered[key]) for key in offered}
        if new == passing:
            break
        passing = new
    found = []
    for flow, hops in zip(flows, paths, strict=True):
        shares = [(hop.link.label, passing[direction_of(hop)]) for hop in hops]
        losses = tuple((label, 1 - share) for label, share in shares if share < _WHOLE)
        found.append(Served(flow, math.prod([flow.rate_mbps, *(share for _, share in shares)]), losses))
    return tuple(found)


def _cable_mbps(hop: Hop) -> float:
    if hop.link.rate_mbps is None or hop.link.overhead_bytes is None:
        raise NetworkError(f"link {hop.link.label} is no cable with a rate: set rate_mbps and overhead_bytes")
    return hop.link.rate_mbps


def jain_index(values: Sequence[float]) -> float:
    """Return Jain's fairness index of the n values x: ``(sum of x)**2 / (n * sum of x**2)``.

    1 where all have the same; 1/n where one has everything; k/n where k of n have the same and the others
    nothing. The unit does not matter, nor does the order. (R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of
    Fairness and Discrimination for Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984.)

    What counts as a taker is for the caller to say: the index per connection and per host are two numbers.

    Raises MeasurementError for no values, a value that is negative or not finite, or nothing but zeros.
    """
    if not len(values):
        raise MeasurementError("Jain's index of no values is not defined: give one throughput per flow")
    for value in values:
        if not (math.isfinite(value) and value >= 0):
            raise MeasurementError(f"Jain's index takes amounts of 0 and more, and one is {value}: correct it")
    largest = max(values)
    if largest == 0:
        raise MeasurementError("Jain's index of nothing but zeros is not defined: did any flow carry data?")
    # scaled first, for squares of very large or small numbers leave the range of a float
    parts = [value / largest for value in values]
    return math.fsum(parts) ** 2 / (len(parts) * math.fsum(part * part for part in parts))
