"""The parts of networks as pure data: nodes, links, subnets, VLANs and tunnels, and the Topology that they form.

Nothing here is validated. A :class:`linklab.network.Network` is a topology that :mod:`linklab.network.validation` has
checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network, ip_interface, ip_network
from typing import Any

from linklab.errors import NetworkError
from linklab.units import ETHERNET_MTU_BYTES, GRE_OVERHEAD_BYTES, IpVersion


@lru_cache(4096)  # who follows packets asks for the same few addresses often
def interface_of(text: str) -> IPv4Interface | IPv6Interface:
    """Parse an address with its prefix length, such as ``10.0.1.1/24``. Raises ValueError for anything else."""
    return ip_interface(text)


@lru_cache(4096)
def prefix_of(text: str) -> IPv4Network | IPv6Network:
    """Parse a prefix such as ``10.0.1.0/24``. Raises ValueError for anything else."""
    return ip_network(text)


def version_of(text: str) -> IpVersion:
    """Return of which version of IP an address or a prefix is."""
    return 6 if ":" in text else 4


def _lists_become_tuples(thing: object) -> None:
    """Turn lists in a frozen data class into tuples, so that it can be hashed whichever a user wrote."""
    for name, value in list(vars(thing).items()):
        if isinstance(value, list):
            object.__setattr__(thing, name, tuple(value))


@dataclass(frozen=True)
class Host:
    """An end system: it has addresses and does not forward packets for others."""

    name: str


@dataclass(frozen=True)
class Router:
    """A node with addresses that forwards IP packets between its interfaces."""

    name: str


@dataclass(frozen=True)
class Switch:
    """A layer 2 bridge: it joins links into one broadcast domain and has no address."""

    name: str


PlannedNode = Host | Router | Switch
"""A node as a network describes it. A running node is a `linklab.Node`, and one read back is a `NodeState`."""


@dataclass(frozen=True)
class Subnet:
    """A named prefix, such as ``Subnet("A", "10.0.0.0/24")``. One of IPv6 may have the name of one of IPv4."""

    name: str
    prefix: str


@dataclass(frozen=True)
class Shape:
    """What one direction of a link does to packets, with the meaning of Mininet's TCLink.

    ``rate_mbps``: HTB limits Ethernet frames to this rate in Mbit/s (10**6 bits); None means not limited.
    ``delay_ms`` and ``loss_percent``: netem delays and drops packets, one way.
    ``queue_packets``: netem's limit; None means that no limit was asked for, or that none was read back. netem stands
    *before* HTB in a TCLink, so the limit also counts the packets that netem is delaying. Where `tc` has put a pfifo in
    netem's place, its limit is read back.
    ``jitter_ms``: how far netem's random delays lie around ``delay_ms``; only a Mininet Topo can ask for it.

    ``overhead_bytes`` makes the link behave like a cable. With None HTB limits the rate, and its token bucket lets a
    lone frame pass at once. With a number netem serialises: every frame, VLAN tag included, occupies the link for its
    bytes and this many more, one after the other; 24 is Ethernet's preamble, checksum and gap (IEEE 802.3).
    """

    rate_mbps: float | None = None
    delay_ms: float = 0.0
    loss_percent: float = 0.0
    queue_packets: int | None = None
    overhead_bytes: int | None = None
    jitter_ms: float = 0.0


class _Addressed:
    """What has an address of IPv4, and may have one of IPv6 beside it.

    Both are written with their prefix length, ``"10.0.1.1/24"`` and ``"2001:db8:0:1::1/64"``. The link-local address,
    which the kernel makes wherever there is IPv6, is never written.
    """

    address: str | None
    ipv6: str | None

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses, that of IPv4 first, in the order in which a lab is read back."""
        return tuple(it for it in (self.address, self.ipv6) if it is not None)


@dataclass(frozen=True)
class End(_Addressed):
    """One end of a link: the interface on a node, and its addresses; on a switch they are None."""

    node: str
    interface: str
    address: str | None = None
    ipv6: str | None = None

    @property
    def parsed(self) -> IPv4Interface | IPv6Interface:
        """The parsed address, with its ``ip`` and its ``network``. Raises NetworkError if the end has none."""
        if self.address is None:
            raise NetworkError(f"{self.interface} on {self.node} has no address: ask for an interface that has one")
        return interface_of(self.address)


@dataclass(frozen=True)
class Link:
    """A cable between two ends, with the same ``shape`` in both directions.

    It is made with the fields of :class:`Shape`, as in ``Link(one, two, rate_mbps=10, delay_ms=5)``, or with a whole
    ``shape``. ``mtu_bytes`` is the largest IP packet that both interfaces send.
    """

    a: End
    b: End
    name: str
    shape: Shape
    mtu_bytes: int

    def __init__(
        self,
        a: End,
        b: End,
        name: str = "",
        rate_mbps: float | None = None,
        delay_ms: float = 0.0,
        loss_percent: float = 0.0,
        queue_packets: int | None = None,
        mtu_bytes: int = ETHERNET_MTU_BYTES,
        overhead_bytes: int | None = None,
        *,
        shape: Shape | None = None,
    ) -> None:
        fields = Shape(rate_mbps, delay_ms, loss_percent, queue_packets, overhead_bytes)
        if shape is not None and fields != Shape():
            raise NetworkError(
                "a link takes a shape or its fields, not both: for another shape, link.reshaped(delay_ms=5)"
            )
        vars(self).update(a=a, b=b, name=name, shape=fields if shape is None else shape, mtu_bytes=mtu_bytes)

    def reshaped(self, **fields: Any) -> Link:
        """Return the link with other fields of its shape: ``link.reshaped(delay_ms=5)``."""
        return replace(self, shape=replace(self.shape, **fields))

    @property
    def rate_mbps(self) -> float | None:
        """Rate in Mbit/s; None means not limited."""
        return self.shape.rate_mbps

    @property
    def delay_ms(self) -> float:
        """Delay in ms, one way."""
        return self.shape.delay_ms

    @property
    def loss_percent(self) -> float:
        """Packets that netem drops at random, in percent."""
        return self.shape.loss_percent

    @property
    def queue_packets(self) -> int | None:
        """Limit of the queue, in packets; None means that none was asked for."""
        return self.shape.queue_packets

    @property
    def overhead_bytes(self) -> int | None:
        """What each frame takes on a cable besides its bytes; None for a link that is limited by HTB."""
        return self.shape.overhead_bytes

    @property
    def ends(self) -> tuple[End, End]:
        """Both ends, ``a`` first."""
        return (self.a, self.b)

    @property
    def label(self) -> str:
        """The link in a message: its name, or else its nodes (``"h1-s1"``)."""
        return self.name or f"{self.a.node}-{self.b.node}"

    def other(self, node: str) -> End:
        """Return the end that is not on ``node``.

        Raises NetworkError if the link does not touch that node.
        """
        if node == self.a.node:
            return self.b
        if node == self.b.node:
            return self.a
        raise NetworkError(f"link {self.label} joins {self.a.node} and {self.b.node}, not {node}: name one of the two")


@dataclass(frozen=True)
class AccessPort:
    """A switch's port in one VLAN: frames have no tag on the cable, and belong to ``vlan`` inside the switch."""

    interface: str
    vlan: int


@dataclass(frozen=True)
class TrunkPort:
    """A switch's port in several VLANs: each frame has the tag of its VLAN; frames of other VLANs do not pass."""

    interface: str
    vlans: tuple[int, ...]

    def __post_init__(self) -> None:
        _lists_become_tuples(self)


@dataclass(frozen=True)
class Gateway(_Addressed):
    """A switch's own address in a VLAN (a "switch virtual interface"). A switch with two routes between VLANs."""

    vlan: int
    address: str
    ipv6: str | None = None


@dataclass(frozen=True)
class SwitchVlans:
    """The VLANs of one switch (IEEE 802.1Q) and their ports. With ``gateways`` it is a layer-3 switch."""

    switch: str
    vlans: tuple[int, ...]
    access: tuple[AccessPort, ...] = ()
    trunks: tuple[TrunkPort, ...] = ()
    gateways: tuple[Gateway, ...] = ()

    def __post_init__(self) -> None:
        _lists_become_tuples(self)

    def gateway_interface(self, gateway: Gateway) -> str:
        """Return the name of the gateway's interface: ``"s1.10"``."""
        return f"{self.switch}.{gateway.vlan}"

    def vlans_of(self, interface: str) -> tuple[int, ...]:
        """Return the VLANs that a port carries."""
        for port in self.access:
            if port.interface == interface:
                return (port.vlan,)
        for trunk in self.trunks:
            if trunk.interface == interface:
                return trunk.vlans
        return ()


@dataclass(frozen=True)
class SubInterface(_Addressed):
    """A router's or host's interface for one VLAN of a trunk (``parent`` is its end of the link)."""

    parent: str
    vlan: int
    address: str
    ipv6: str | None = None

    @property
    def name(self) -> str:
        """Its usual name in Linux: ``"r1-eth0.10"``."""
        return f"{self.parent}.{self.vlan}"


@dataclass(frozen=True)
class Vlans:
    """All VLANs of a network: those of its switches, and the sub-interfaces at the other ends of trunks.

    A switch that has no :class:`SwitchVlans` is one broadcast domain.
    """

    switches: tuple[SwitchVlans, ...]
    subinterfaces: tuple[SubInterface, ...] = ()

    def __post_init__(self) -> None:
        _lists_become_tuples(self)

    def of_switch(self, name: str) -> SwitchVlans | None:
        """Return the VLANs of a switch, or None if it has none."""
        return next((each for each in self.switches if each.switch == name), None)

    def subinterfaces_of(self, parent: str) -> tuple[SubInterface, ...]:
        """Return the sub-interfaces on an interface."""
        return tuple(each for each in self.subinterfaces if each.parent == parent)


@dataclass(frozen=True)
class TunnelEnd:
    """A tunnel's port on a switch, and the host or router that sends and receives the tunnel's packets.

    The packets outside have the first address of the ``carrier``.
    """

    switch: str
    interface: str
    carrier: str


@dataclass(frozen=True)
class Tunnel:
    """A tunnel that carries Ethernet frames between two switches in GRE packets between two carriers.

    A host or router, the *carrier*, sends the frames that enter at one switch as GRE packets to the other carrier: a PC
    whose Mininet switch has a GRE port. This is Ethernet in GRE (RFC 2784, protocol type 0x6558 of RFC 1701), which
    Linux calls gretap.

    ``mtu_bytes`` is the largest IP packet inside. If ``fragments`` is True, carriers cut packets that are too large for
    their own links into fragments; otherwise they refuse them.
    """

    a: TunnelEnd
    b: TunnelEnd
    name: str = ""
    mtu_bytes: int = ETHERNET_MTU_BYTES - GRE_OVERHEAD_BYTES
    fragments: bool = False

    @property
    def ends(self) -> tuple[TunnelEnd, TunnelEnd]:
        """Both ends, ``a`` first."""
        return (self.a, self.b)

    @property
    def label(self) -> str:
        """The tunnel in a message: its name, or else its switches."""
        return self.name or f"{self.a.switch}-{self.b.switch}"

    @property
    def link(self) -> Link:
        """The tunnel as frames see it: a cable between two switches."""
        a, b = (End(end.switch, end.interface) for end in self.ends)
        return Link(a, b, name=self.name, mtu_bytes=self.mtu_bytes)


@dataclass(frozen=True)
class Topology:
    """Nodes, links, subnets, tunnels and VLANs as pure data. A :class:`linklab.network.Network` is a valid topology.

    If ``subnets`` is empty, the masks of the addresses say what the subnets are. Otherwise it is the addressing plan,
    which every address must fit. ``tunnels`` join switches over links of other nodes, ``vlans`` divides switches.
    """

    name: str
    nodes: tuple[PlannedNode, ...]
    links: tuple[Link, ...]
    subnets: tuple[Subnet, ...] = ()
    tunnels: tuple[Tunnel, ...] = ()
    vlans: Vlans | None = None

    def __post_init__(self) -> None:
        _lists_become_tuples(self)

    @property
    def hosts(self) -> tuple[Host, ...]:
        """The hosts, in the order of ``nodes``."""
        return tuple(node for node in self.nodes if isinstance(node, Host))

    @property
    def routers(self) -> tuple[Router, ...]:
        """The routers, in the order of ``nodes``."""
        return tuple(node for node in self.nodes if isinstance(node, Router))

    @property
    def switches(self) -> tuple[Switch, ...]:
        """The switches, in the order of ``nodes``."""
        return tuple(node for node in self.nodes if isinstance(node, Switch))

    @property
    def switch_names(self) -> frozenset[str]:
        """The names of the switches."""
        return frozenset(switch.name for switch in self.switches)

    @property
    def has_ipv6(self) -> bool:
        """True if an interface has an address of IPv6."""
        return any(end.ipv6 for link in self.links for end in link.ends)

    def node(self, name: str) -> PlannedNode:
        """Return the node called ``name``. Raises NetworkError if there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        known = ", ".join(node.name for node in self.nodes)
        raise NetworkError(f"network {self.name} has no node {name!r}: choose one of {known}")

    def link(self, name: str) -> Link:
        """Return the link called ``name``. A link without a name is called by its nodes, as in ``"h1-s1"``.

        Raises NetworkError if there is none, or if two nameless links join the same nodes.
        """
        found = [link for link in self.links if link.label == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise NetworkError(f"network {self.name} has {len(found)} links {name}: give each a name of its own")
        known = ", ".join(link.label for link in self.links)
        raise NetworkError(f"network {self.name} has no link {name!r}: choose one of {known}")

    def ends_of(self, name: str) -> tuple[End, ...]:
        """Return the ends (interfaces) on the node called ``name``, in the order of ``links``.

        Raises NetworkError if there is no such node.
        """
        self.node(name)
        return tuple(end for link in self.links for end in link.ends if end.node == name)

    def address_of(self, name: str, ip_version: IpVersion = 4) -> str:
        """Return the first address of a host or router, without its prefix length: ``"10.0.0.2"``.

        Raises NetworkError if there is no such node, if it is a switch, or if it has none of that version of IP.
        """
        if self.node(name) in self.switches:
            raise NetworkError(f"{name} is a switch and has no address: ask for a host or a router")
        for address in (it for end in self.ends_of(name) for it in end.addresses if version_of(it) == ip_version):
            return address.partition("/")[0]
        raise NetworkError(f"{name} has no IPv{ip_version} address: dual_stack(network) gives one to every interface")
