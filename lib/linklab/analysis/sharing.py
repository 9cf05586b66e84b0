"""Compute how links are shared: max-min fair shares, shares in proportion, and the use that flows make of each link.

TCP tends to max-min shares. Constant rates get shares in proportion to what they offer: a full queue drops whatever
comes next, whoever sent it, so that over time every flow loses the same share of what it offers there (a fluid model).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from linklab.analysis.measured_paths import MeasuredPath, measured_path
from linklab.errors import MeasurementError, NetworkError
from linklab.network import Hop, Network, NetworkState, goodput_ceiling_mbps, path, path_mtu_bytes, payload_rate_mbps
from linklab.network.theory import as_fragmented, datagram_wire_bytes

_TIE = 1e-9


class Traffic(Protocol):
    """What is read of a flow that is to be measured. TCP and UDP flows may have ``streams``, UDP flows have a rate."""

    @property
    def source(self) -> str:
        """The node that sends."""
        ...

    @property
    def destination(self) -> str:
        """The node that receives."""
        ...

    @property
    def transport(self) -> Literal["tcp", "udp", "icmp", "none"]:
        """What its packets are."""
        ...


class RatedTraffic(Traffic, Protocol):
    """A constant rate of UDP payload, in Mbit/s, in datagrams of ``payload_bytes``."""

    @property
    def rate_mbps(self) -> float:
        """What is sent."""
        ...

    @property
    def payload_bytes(self) -> int:
        """Of each datagram."""
        ...


@dataclass(frozen=True)
class Load:
    """Traffic between two nodes: ``connections`` side by side, each with as much data as it can get.

    ``limit_mbps`` is the most that all of them together ask for, of application data; None means no limit.
    ``payload_bytes`` is the size of UDP's datagrams; None means TCP, in full segments. Headers follow from it.
    Raises MeasurementError for less than one connection, or a limit or a size that is not above 0.
    """

    source: str
    destination: str
    connections: int = 1
    limit_mbps: float | None = None
    payload_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.connections < 1:
            raise MeasurementError(f"connections is {self.connections}: a load has 1 or more")
        if self.limit_mbps is not None and not self.limit_mbps > 0:
            raise MeasurementError(f"limit_mbps is {self.limit_mbps}: give a rate above 0, or None for no limit")
        if self.payload_bytes is not None and not self.payload_bytes > 0:
            raise MeasurementError(f"payload_bytes is {self.payload_bytes}: give a size above 0, or None for TCP")

    @property
    def name(self) -> str:
        """``"h1-h4"``."""
        return f"{self.source}-{self.destination}"


@dataclass(frozen=True)
class Share:
    """What a load gets: application data in Mbit/s, in all and per connection.

    ``bottleneck`` is the hop that decides it, None where its own limit does. ``rivals`` is how many connections, its
    own included, that hop decides for.
    """

    load: Load
    path: MeasuredPath
    total_mbps: float
    bottleneck: Hop | None
    rivals: int

    @property
    def connection_mbps(self) -> float:
        """Per connection."""
        return self.total_mbps / self.load.connections


@dataclass(frozen=True)
class LinkUse:
    """How much of one direction of a rate-limited link is used, headers included, in Mbit/s."""

    link: str
    sender: str
    receiver: str
    rate_mbps: float
    used_mbps: float

    @property
    def share(self) -> float:
        """0 for idle, 1 for full."""
        return self.used_mbps / self.rate_mbps


def loads_of(flows: Iterable[Traffic]) -> tuple[Load, ...]:
    """Return the loads that measurements put on the network; pings are too small to count.

    Raises MeasurementError for UDP without a constant rate.
    """
    return tuple(_load_of(flow) for flow in flows if flow.transport in ("tcp", "udp"))


def _load_of(flow: Traffic) -> Load:
    streams = getattr(flow, "streams", 1)
    if flow.transport == "tcp":
        return Load(flow.source, flow.destination, streams)
    rate_mbps, payload_bytes = getattr(flow, "rate_mbps", None), getattr(flow, "payload_bytes", None)
    if rate_mbps is None or payload_bytes is None:
        kind = type(flow).__name__
        raise MeasurementError(
            f"a {kind} has no constant rate of datagrams of one size: give a UdpFlow or a ConstantRateFlow"
        )
    return Load(flow.source, flow.destination, streams, rate_mbps * streams, payload_bytes)


def max_min_shares(network: Network, loads: Sequence[Load], state: NetworkState | None = None) -> tuple[Share, ...]:
    """The max-min fair share of each load, in order, by progressive filling over the links of their paths.

    The rate of all connections grows alike; when a link is full, those on it stop there, and the rest go on
    (D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, 1992, section 6.5.2). Shares are of application data, and
    what a load takes of a link is that and its own headers (`goodput_ceiling_mbps`, `payload_rate_mbps`). A connection
    counts, not a host, because TCP shares by connection. Acknowledgements in the other direction are left out.

    Max-min is what flows of equal round trips and equal losses tend to; how near a finite measurement comes is for
    `linklab.analysis.expectation` to say. Raises NetworkError for a path that is not there, MeasurementError if a load
    has neither a limit nor a rate-limited link on its path.
    """
    paths = [measured_path(network, load.source, load.destination, state) for load in loads]
    crossing = [_limited_hops(each) for each in paths]
    hops = {direction_of(hop): hop for mine in crossing for hop in mine}
    free = {key: hop.link.rate_mbps or 0 for key, hop in hops.items()}
    takes = [
        {direction_of(hop): _taken_of_link(load, one, hop) * load.connections for hop in mine}
        for load, one, mine in zip(loads, paths, crossing, strict=True)
    ]
    rate = [0.0] * len(loads)
    decided: dict[int, tuple[str, str] | None] = {}
    while len(decided) < len(loads):
        going = [number for number in range(len(loads)) if number not in decided]
        room: dict[tuple[str, str], float] = {}
        for key in hops:
            taken = math.fsum(takes[number].get(key, 0.0) for number in going)
            if taken:
                room[key] = max(free[key], 0.0) / taken
        own = {
            number: limit / loads[number].connections - rate[number]
            for number in going
            if (limit := loads[number].limit_mbps) is not None
        }
        step = min([*room.values(), *own.values()], default=math.inf)
        if math.isinf(step):
            raise MeasurementError(
                f"nothing limits {loads[going[0]].name}: set rate_mbps on a link of its path, or limit_mbps"
            )
        for number in going:
            rate[number] += step
            for key, taken in takes[number].items():
                free[key] -= step * taken
        full = {key for key, space in room.items() if space <= step + _TIE}
        for number in going:
            if number in own and own[number] <= step + _TIE:
                decided[number] = None
            else:
                mine_full = [key for key in takes[number] if key in full]
                if mine_full:
                    decided[number] = mine_full[0]
    found = []
    for number, load in enumerate(loads):
        where = decided[number]
        rivals = sum(other.connections for at, other in enumerate(loads) if decided[at] == where)
        found.append(
            Share(
                load,
                paths[number],
                rate[number] * load.connections,
                None if where is None else hops[where],
                load.connections if where is None else rivals,
            )
        )
    return tuple(found)


def utilisation(
    network: Network,
    loads: Sequence[Load],
    throughput_mbps: Sequence[float] | None = None,
    state: NetworkState | None = None,
) -> tuple[LinkUse, ...]:
    """The use of each direction of each rate-limited link that a load crosses, in the network's order of links.

    ``throughput_mbps`` is the application data of each load, as measured; None takes the max-min shares. Headers are
    added, and what a cable adds: for TCP those of full segments, (M + 14) / (M - 52) of it is on a link of HTB's; for
    UDP those of its datagrams. Acknowledgements are left out.

    Raises as `max_min_shares`, and MeasurementError if there is not one throughput for each load.
    """
    if throughput_mbps is None:
        carried = [(share.load, share.path, share.total_mbps) for share in max_min_shares(network, loads, state)]
    elif len(throughput_mbps) != len(loads):
        raise MeasurementError(f"{len(throughput_mbps)} throughputs for {len(loads)} loads: give one for each")
    else:
        paths = [measured_path(network, load.source, load.destination, state) for load in loads]
        carried = list(zip(loads, paths, throughput_mbps, strict=True))
    used: dict[tuple[str, str], float] = {}
    hops: dict[tuple[str, str], Hop] = {}
    for load, measured, mbps in carried:
        for hop in _limited_hops(measured):
            used[direction_of(hop)] = used.get(direction_of(hop), 0.0) + mbps * _taken_of_link(load, measured, hop)
            hops[direction_of(hop)] = hop
    order = {link.label: number for number, link in enumerate(network.links)}
    return tuple(
        LinkUse(key[0], key[1], hops[key].into.node, hops[key].link.rate_mbps or math.inf, used[key])
        for key in sorted(used, key=lambda key: (order[key[0]], key[1]))
    )


def _limited_hops(measured: MeasuredPath) -> list[Hop]:
    return [hop for hop in as_fragmented(measured.forward.hops) if hop.link.rate_mbps is not None]


def _taken_of_link(load: Load, measured: MeasuredPath, hop: Hop) -> float:
    """Return how much of a link's rate a load takes for each Mbit/s of its application data: above 1, for headers."""
    if load.payload_bytes is not None:
        return (hop.link.rate_mbps or 0) / payload_rate_mbps(hop, load.payload_bytes)
    return (hop.link.rate_mbps or 0) / goodput_ceiling_mbps(hop, path_mtu_bytes(measured.forward))


def direction_of(hop: Hop) -> tuple[str, str]:
    """Return the link's name and the node that sends into it: each direction has a queue of its own."""
    return hop.link.label, hop.out.node


_ROUNDS = 100
_WHOLE = 1 - 1e-9


@dataclass(frozen=True)
class Served:
    """What arrives of a flow, in Mbit/s of payload. `losses` are the shares lost at each full link on its path."""

    flow: RatedTraffic
    throughput_mbps: float
    losses: tuple[tuple[str, float], ...]


def proportional(network: Network, flows: Sequence[RatedTraffic]) -> tuple[Served, ...]:
    """Return what arrives of each flow, in their order.

    A link direction to which more is offered than it carries lets ``rate / offered`` of everything pass; what was
    lost before is not offered any more. Exact for long runs of rates that keep no step with each other; queues add
    and take away at the begin and end. Raises NetworkError for paths that do not exist, or links that are no cables.
    """
    paths = [as_fragmented(path(network, flow.source, flow.destination).hops) for flow in flows]
    passing: dict[str, float] = {}
    for _ in range(_ROUNDS):
        offered: dict[str, float] = {}
        rates: dict[str, float] = {}
        for flow, hops in zip(flows, paths, strict=True):
            left = flow.rate_mbps
            for hop in hops:
                name = _direction(hop)
                rates[name] = _rate(hop)
                on_wire = left * datagram_wire_bytes(hop.link, flow.payload_bytes, hop.tagged) / flow.payload_bytes
                offered[name] = offered.get(name, 0.0) + on_wire
                left *= passing.get(name, 1.0)
        new = {name: min(1.0, rates[name] / offered[name]) for name in offered}
        if new == passing:
            break
        passing = new
    return tuple(_served(flow, hops, passing) for flow, hops in zip(flows, paths, strict=True))


def _served(flow: RatedTraffic, hops: Sequence[Hop], passing: dict[str, float]) -> Served:
    rate, losses = flow.rate_mbps, []
    for hop in hops:
        share = passing[_direction(hop)]
        rate *= share
        if share < _WHOLE:
            losses.append((hop.link.label, 1 - share))
    return Served(flow, rate, tuple(losses))


def _direction(hop: Hop) -> str:
    """A link is used in one direction by what leaves at this interface of this node."""
    return f"{hop.out.node} {hop.out.interface}"


def _rate(hop: Hop) -> float:
    if hop.link.rate_mbps is None or hop.link.overhead_bytes is None:
        raise NetworkError(f"link {hop.link.label} is no cable with a rate: set rate_mbps and overhead_bytes")
    return hop.link.rate_mbps
