"""The parts of a network: nodes, subnets, the ends of links, links. Values only; nothing here is checked.

Checks need the whole network: they run when a :class:`linklab.network.model.Network` is made.
"""

from __future__ import annotations

from dataclasses import dataclass

from linklab.errors import NetworkError


@dataclass(frozen=True)
class Host:
    """An end system: it has addresses and does not forward packets for others."""

    name: str


@dataclass(frozen=True)
class Router:
    """A node with addresses that forwards IPv4 packets between its interfaces."""

    name: str


@dataclass(frozen=True)
class Switch:
    """A layer 2 bridge: it joins links into one broadcast domain and has no address."""

    name: str


Node = Host | Router | Switch


@dataclass(frozen=True)
class Subnet:
    """A named IPv4 prefix, such as ``Subnet("A", "10.0.0.0/24")``."""

    name: str
    prefix: str


@dataclass(frozen=True)
class Shape:
    """What one direction of a link does to packets, with the meaning of Mininet's TCLink.

    ``rate_mbps``: Mbit/s, 10**6 bits, counted on Ethernet frames by HTB; None means not limited.
    ``delay_ms`` and ``loss_percent``: added by netem to each packet, one way.
    ``queue_packets``: netem's limit; None means that no limit was asked for. netem stands *before* HTB
    in a TCLink, so the limit counts the packets that are under way in the delay as well.
    ``jitter_ms``: how far netem's random delays lie around ``delay_ms``; only a Mininet Topo asks for that.

    ``overhead_bytes`` makes the rate that of a cable: None leaves it to HTB, whose token bucket lets a frame that
    comes alone pass at once. With a number netem serialises: every frame, VLAN tag included, occupies the link for
    its bytes and so many more, one after the other; 24 is Ethernet's preamble, checksum and gap (IEEE 802.3).
    """

    rate_mbps: float | None = None
    delay_ms: float = 0.0
    loss_percent: float = 0.0
    queue_packets: int | None = None
    overhead_bytes: int | None = None
    jitter_ms: float = 0.0


@dataclass(frozen=True)
class End:
    """One end of a link: the interface on a node, and its address.

    ``address`` is written with its prefix length, ``"10.0.1.1/24"``; it is None on a switch.
    """

    node: str
    interface: str
    address: str | None = None


@dataclass(frozen=True)
class Link:
    """A cable between two ends, shaped alike in both directions.

    Rate, delay, loss, queue and overhead mean what they mean in :class:`Shape`. ``mtu_bytes`` is the largest IP
    packet that both interfaces take.
    """

    a: End
    b: End
    name: str = ""
    rate_mbps: float | None = None
    delay_ms: float = 0.0
    loss_percent: float = 0.0
    queue_packets: int | None = None
    mtu_bytes: int = 1500
    overhead_bytes: int | None = None

    @property
    def shape(self) -> Shape:
        """What each of the two directions does."""
        return Shape(self.rate_mbps, self.delay_ms, self.loss_percent, self.queue_packets, self.overhead_bytes)

    @property
    def ends(self) -> tuple[End, End]:
        """Both ends, ``a`` first."""
        return (self.a, self.b)

    @property
    def label(self) -> str:
        """What to call the link in a message: its name, or its nodes (``"h1-s1"``)."""
        return self.name or f"{self.a.node}-{self.b.node}"

    def other(self, node: str) -> End:
        """The end that is not on ``node``.

        Raises NetworkError if the link does not touch that node.
        """
        if node == self.a.node:
            return self.b
        if node == self.b.node:
            return self.a
        raise NetworkError(f"link {self.label} joins {self.a.node} and {self.b.node}, not {node}: name one of the two")
