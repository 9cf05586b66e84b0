"""What constant rates get of full links: queues that serve who comes first, and lose of all alike. A fluid model.

A queue that is full drops whatever comes next, whoever sent it. Over time every flow then loses the same share of
what it offers there, so each gets a part of the link in proportion to what it offers (compare max-min shares in
`linklab.analysis.sharing`, which TCP tends to).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linklab.errors import NetworkError
from linklab.network import Hop, Network, path
from linklab.network.theory import wire_bytes

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
    """What arrives of an offer, in Mbit/s of payload. `losses` are the shares lost at each full link on its way."""

    offer: Offer
    throughput_mbps: float
    losses: tuple[tuple[str, float], ...]


def proportional(network: Network, offers: Sequence[Offer]) -> tuple[Served, ...]:
    """What arrives of each offer, in their order.

    A link direction to which more is offered than it carries lets ``rate / offered`` of everything pass; what was
    lost before is not offered any more. Exact for long runs of rates that keep no step with each other; queues add
    and take away at the begin and end. Raises NetworkError for ways that do not exist, or links that are no cables.
    """
    ways = [path(network, offer.source, offer.destination).hops for offer in offers]
    passing: dict[str, float] = {}
    for _ in range(_ROUNDS):
        offered: dict[str, float] = {}
        rates: dict[str, float] = {}
        for offer, hops in zip(offers, ways, strict=True):
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
    return tuple(_served(offer, hops, passing) for offer, hops in zip(offers, ways, strict=True))


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
