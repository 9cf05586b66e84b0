"""Describe a path in both directions, with every link as it is in that direction: planned, or read back from a lab."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import fsum

from linklab.errors import NetworkError
from linklab.network import Hop, Link, Network, NetworkState, Path, Route, path
from linklab.network.theory import packet_ms, path_mtu_bytes
from linklab.units import IpVersion


@dataclass(frozen=True)
class MeasuredPath:
    """The path of a flow's packets, ``forward``, and that of the answers, ``reverse``.

    The links of each carry the rate, delay and queue of the interface that sends in that direction, so the two may
    differ, in the network and on one link.
    """

    forward: Path
    reverse: Path

    @property
    def source(self) -> str:
        """The node where it starts."""
        return self.forward.node_names[0]

    @property
    def destination(self) -> str:
        """The node where it ends."""
        return self.forward.node_names[-1]

    @property
    def name(self) -> str:
        """``"h1-h4"``."""
        return f"{self.source}-{self.destination}"

    @property
    def rtt_floor_ms(self) -> float:
        """The delays of all links in both directions: the round trip of a lone small packet (propagation)."""
        return fsum(link.delay_ms for link in (*self.forward.links, *self.reverse.links))

    def unloaded_rtt_ms(self, packet_bytes: int) -> tuple[float, float]:
        """Return the least and the most time of a lone IP packet's round trip in ms, with an answer of the same size.

        Links with ``overhead_bytes`` are cables, and serialise it for sure. HTB's token bucket lets a lone packet pass
        at once where it is full, so that serialisation there is in the most alone. Raises NetworkError for a packet
        over the path's MTU.
        """
        mtu_bytes = min(map(path_mtu_bytes, (self.forward, self.reverse)))
        if packet_bytes > mtu_bytes:
            raise NetworkError(f"a packet of {packet_bytes} bytes is over the MTU of the path: choose {mtu_bytes}")
        hops = [hop for hop in (*self.forward.hops, *self.reverse.hops) if hop.link.rate_mbps is not None]
        cables = fsum(packet_ms(hop, packet_bytes) for hop in hops if hop.link.overhead_bytes is not None)
        buckets = fsum(packet_ms(hop, packet_bytes) for hop in hops if hop.link.overhead_bytes is None)
        return self.rtt_floor_ms + cables, self.rtt_floor_ms + cables + buckets


def measured_path(
    network: Network,
    source: str,
    destination: str,
    state: NetworkState | None = None,
    ip_version: IpVersion = 4,
) -> MeasuredPath:
    """Return the path from ``source`` to the first address of ``destination``, and the reverse path.

    Without ``state`` every link is as planned. With it, what was read back counts: shapes and MTUs of the interfaces
    on the path, in each direction apart, and the routing tables.

    Raises NetworkError if there is no path, or if an interface of it is missing in ``state``.
    """
    tables: Mapping[str, tuple[Route, ...]] | None = None
    if state is not None:
        tables = {node.name: node.routes for node in state.nodes}
    forward = path(network, source, destination, tables, ip_version)
    reverse = path(network, destination, source, tables, ip_version)
    if state is None:
        return MeasuredPath(forward, reverse)
    return MeasuredPath(_as_read(forward, state), _as_read(reverse, state))


def _as_read(planned: Path, state: NetworkState) -> Path:
    return Path(planned.node_names, tuple(replace(hop, link=_link_as_read(hop, state)) for hop in planned.hops))


def _link_as_read(hop: Hop, state: NetworkState) -> Link:
    out = state.interface(hop.out.node, hop.out.interface)
    into = state.interface(hop.into.node, hop.into.interface)
    if out is None or into is None:
        missing = hop.out if out is None else hop.into
        raise NetworkError(
            f"{missing.interface} of {missing.node} is not there, so nothing can be expected of the path: "
            "build the network as planned, or read it again"
        )
    return replace(hop.link, shape=out.shape, mtu_bytes=min(out.mtu_bytes, into.mtu_bytes))
