"""Compute how links are shared: max-min fair shares, shares in proportion, and the use that flows make of each link.

TCP tends to max-min shares. Constant rates get shares in proportion to what they offer: a full queue drops whatever
comes next, whoever sent it, so that over time every flow loses the same share of what it offers there (a fluid model).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from linklab.analysis.measured_paths import MeasuredPath, measured_path
from linklab.errors import MeasurementError, NetworkError
from linklab.measure import Flow, PingFlow, UdpFlow
from linklab.network import Hop, Network, NetworkState, goodput_ceiling_mbps, path
from linklab.network.theory import wire_bytes

_TIE = 1e-9


@dataclass(frozen=True)
class Load:
    """Traffic between two nodes: ``connections`` side by side, each with as much data as it can get.

    ``limit_mbps`` is the most that all of them together ask for, of application data; None means no limit.
    Raises MeasurementError for less than one connection or a limit that is not above 0.
    """

    source: str
    destination: str
    connections: int = 1
    limit_mbps: float | None = None

    def __post_init__(self) -> None:
        if self.connections < 1:
            raise MeasurementError(f"connections is {self.connections}: a load has 1 or more")
        if self.limit_mbps is not None and not self.limit_mbps > 0:
            raise MeasurementError(f"limit_mbps is {self.limit_mbps}: give a rate above 0, or None for no limit")

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


def loads_of(flows: Iterable[Flow]) -> tuple[Load, ...]:
    """The loads that measurements put on the network; pings are too small to count."""
    return tuple(
        Load(flow.source, flow.destination, flow.streams, flow.rate_mbps * flow.streams)
        if isinstance(flow, UdpFlow)
        else Load(flow.source, flow.destination, flow.streams)
        for flow in flows
        if not isinstance(flow, PingFlow)
    )


def max_min_shares(network: Network, loads: Sequence[Load], state: NetworkState | None = None) -> tuple[Share, ...]:
    """The max-min fair share of each load, in order, by progressive filling over the links of their paths.

    The rate of all connections grows alike; when a link is full, those on it stop there, and the rest go on
    (D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, 1992, section 6.5.2). Shares are of TCP's application
    data: of each link's rate the part that `goodput_ceiling_mbps` leaves after headers. A connection counts, not a
    host, because TCP shares by connection. Acknowledgements in the other direction are left out.

    Max-min is what flows of equal round trips and equal losses tend to; how near a finite measurement comes is for
    `linklab.analysis.expectation` to say. Raises NetworkError for a path that is not there, MeasurementError if a load
    has neither a limit nor a rate-limited link on its path.
    """
    paths = [measured_path(network, load.source, load.destination, state) for load in loads]
    crossing = [_limited_hops(each) for each in paths]
    hops = {_key(hop): hop for mine in crossing for hop in mine}
    free = {key: goodput_ceiling_mbps(hop.link.rate_mbps or 0, hop.link.mtu_bytes) for key, hop in hops.items()}
    rate = [0.0] * len(loads)
    decided: dict[int, tuple[str, str] | None] = {}
    while len(decided) < len(loads):
        going = [number for number in range(len(loads)) if number not in decided]
        room: dict[tuple[str, str], float] = {}
        for key in hops:
            count = sum(loads[number].connections for number in going if hops[key] in crossing[number])
            if count:
                room[key] = max(free[key], 0.0) / count
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
            for hop in crossing[number]:
                free[_key(hop)] -= step * loads[number].connections
        full = {key for key, space in room.items() if space <= step + _TIE}
        for number in going:
            if number in own and own[number] <= step + _TIE:
                decided[number] = None
            else:
                mine = [_key(hop) for hop in crossing[number] if _key(hop) in full]
                if mine:
                    decided[number] = mine[0]
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

    ``throughput_mbps`` is the application data of each load, as measured; None takes the max-min shares. Headers of
    full segments are added: (M + 14) / (M - 52) of it is on the link. Acknowledgements are left out.

    Raises as `max_min_shares`, and MeasurementError if there is not one throughput for each load.
    """
    if throughput_mbps is None:
        carried = [(share.path, share.total_mbps) for share in max_min_shares(network, loads, state)]
    elif len(throughput_mbps) != len(loads):
        raise MeasurementError(f"{len(throughput_mbps)} throughputs for {len(loads)} loads: give one for each")
    else:
        paths = [measured_path(network, load.source, load.destination, state) for load in loads]
        carried = list(zip(paths, throughput_mbps, strict=True))
    used: dict[tuple[str, str], float] = {}
    hops: dict[tuple[str, str], Hop] = {}
    for each, mbps in carried:
        for hop in _limited_hops(each):
            rate = hop.link.rate_mbps or math.inf
            used[_key(hop)] = used.get(_key(hop), 0.0) + mbps * rate / goodput_ceiling_mbps(rate, hop.link.mtu_bytes)
            hops[_key(hop)] = hop
    order = {link.label: number for number, link in enumerate(network.links)}
    return tuple(
        LinkUse(key[0], key[1], hops[key].into.node, hops[key].link.rate_mbps or math.inf, used[key])
        for key in sorted(used, key=lambda key: (order[key[0]], key[1]))
    )


def _limited_hops(measured: MeasuredPath) -> list[Hop]:
    return [hop for hop in measured.forward.hops if hop.link.rate_mbps is not None]


def _key(hop: Hop) -> tuple[str, str]:
    return hop.link.label, hop.out.node


_ROUNDS = 100
_WHOLE = 1 - 1e-9


@dataclass(frozen=True)
class Offer:
    """A constant rate of UDP payload, in Mbit/s, in datagrams of `payload_bytes`."""

    source: str
    destination: str
    rate_mbps: float
    payload_bytes: int


@dataclass(frozen=True)
class Served:
    """What arrives of an offer, in Mbit/s of payload. `losses` are the shares lost at each full link on its path."""

    offer: Offer
    throughput_mbps: float
    losses: tuple[tuple[str, float], ...]


def proportional(network: Network, offers: Sequence[Offer]) -> tuple[Served, ...]:
    """What arrives of each offer, in their order.

    A link direction to which more is offered than it carries lets ``rate / offered`` of everything pass; what was
    lost before is not offered any more. Exact for long runs of rates that keep no step with each other; queues add
    and take away at the begin and end. Raises NetworkError for paths that do not exist, or links that are no cables.
    """
    paths = [path(network, offer.source, offer.destination).hops for offer in offers]
    passing: dict[str, float] = {}
    for _ in range(_ROUNDS):
        offered: dict[str, float] = {}
        rates: dict[str, float] = {}
        for offer, hops in zip(offers, paths, strict=True):
            left = offer.rate_mbps
            for hop in hops:
                name = _direction(hop)
                rates[name] = _rate(hop)
                on_wire = left * wire_bytes(network, hop.link, offer.payload_bytes) / offer.payload_bytes
                offered[name] = offered.get(name, 0.0) + on_wire
                left *= passing.get(name, 1.0)
        new = {name: min(1.0, rates[name] / offered[name]) for name in offered}
        if new == passing:
            break
        passing = new
    return tuple(_served(offer, hops, passing) for offer, hops in zip(offers, paths, strict=True))


def _served(offer: Offer, hops: Sequence[Hop], passing: dict[str, float]) -> Served:
    rate, losses = offer.rate_mbps, []
    for hop in hops:
        share = passing[_direction(hop)]
        rate *= share
        if share < _WHOLE:
            losses.append((hop.link.label, 1 - share))
    return Served(offer, rate, tuple(losses))


def _direction(hop: Hop) -> str:
    """A link is used in one direction by what leaves at this interface of this node."""
    return f"{hop.out.node} {hop.out.interface}"


def _rate(hop: Hop) -> float:
    if hop.link.rate_mbps is None or hop.link.overhead_bytes is None:
        raise NetworkError(f"link {hop.link.label} is no cable with a rate: set rate_mbps and overhead_bytes")
    return hop.link.rate_mbps
