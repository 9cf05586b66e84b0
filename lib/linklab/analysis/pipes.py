"""A way as a pipe: what its bottleneck, its queue and its round trip are, for the model of TCP."""

from __future__ import annotations

from typing import Final

from linklab.analysis.cubic import Pipe
from linklab.analysis.way import Way
from linklab.errors import NetworkError
from linklab.network import Hop, Link, bottleneck, queueing_delay_ms

KERNEL_QUEUE_PACKETS: Final = 1000
"""netem's own limit, and the queue of a network device, where none was asked for."""
_MOST_INFLOW: Final = 2.0


def bottleneck_hop(it: Way) -> Hop:
    """The first hop with the lowest rate. Raises NetworkError if no link there is rate-limited."""
    narrow = bottleneck(it.there)
    return next(hop for hop in it.there.hops if hop.link is narrow)


def pipe_of(it: Way, hop: Hop | None = None) -> Pipe:
    """The way as ``hop`` sees it, its bottleneck unless given. Raises NetworkError if that hop has no rate."""
    hop = bottleneck_hop(it) if hop is None else hop
    rate_mbps = hop.link.rate_mbps
    if rate_mbps is None:
        raise NetworkError(f"link {hop.link.label} has no rate, so it is no bottleneck: set rate_mbps")
    upstream = [before.link.rate_mbps for before in it.there.hops[: it.there.hops.index(hop)] if before.link.rate_mbps]
    return Pipe(
        packet_ms=queueing_delay_ms(hop.link, 1),
        base_ms=max(it.rtt_floor_ms, _least_round_trip_ms(it)),
        delay_ms=hop.link.delay_ms,
        limit_packets=limit_packets(hop.link),
        inflow=min([_MOST_INFLOW, *(rate / rate_mbps for rate in upstream)]),
    )


def limit_packets(link: Link) -> int:
    """The queue limit that counts: the link's, or what the kernel has by itself."""
    return KERNEL_QUEUE_PACKETS if link.queue_packets is None else link.queue_packets


def full_queue_share_ms(link: Link) -> float:
    """How much a full queue of a link adds to a round trip, in ms: see `linklab.network.queueing_delay_ms`.

    netem's limit counts packets in the delay line, so this is the queue's own time less the link's delay.
    """
    return max(0.0, queueing_delay_ms(link, limit_packets(link)) - link.delay_ms)


def _least_round_trip_ms(it: Way) -> float:
    """Serialisation of one full frame at each limited link: the round trip of a path without delays."""
    return sum(queueing_delay_ms(link, 1) for link in it.there.links if link.rate_mbps)
