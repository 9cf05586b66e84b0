"""Networks with a name: two hosts to start with, the course network, the same with IPv6 beside IPv4, and the testbeds
of three published studies.

The MTU study (Lab 08), the multimedia study (Lab 09) and the switches study (Lab 10) built their testbeds of PCs and
switches; a function of each testbed gives it with other rates or sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final, TypeVar

from linklab.errors import NetworkError
from linklab.network.model import (
    AccessPort,
    End,
    Gateway,
    Host,
    Link,
    PlannedNode,
    Router,
    SubInterface,
    Subnet,
    Switch,
    SwitchVlans,
    TrunkPort,
    Tunnel,
    TunnelEnd,
    Vlans,
    interface_of,
    prefix_of,
)
from linklab.network.theory import ip_packet_bytes
from linklab.network.validation import Network
from linklab.units import ETHERNET_OVERHEAD_BYTES, GRE_OVERHEAD_BYTES

_AddressedT = TypeVar("_AddressedT", End, Gateway, SubInterface)

# --- Two hosts, and the course network

TWO_HOSTS: Final = Network(
    name="two-hosts",
    nodes=(Host("h1"), Host("h2")),
    links=(
        Link(
            End("h1", "h1-eth0", "10.0.0.1/24"),
            End("h2", "h2-eth0", "10.0.0.2/24"),
            rate_mbps=10,
            delay_ms=10,
            queue_packets=50,
        ),
    ),
    subnets=(Subnet("A", "10.0.0.0/24"),),
)
"""Two hosts and one link of 10 Mbit/s, 10 ms each way, a queue of 50 packets."""


def _to_switch(node: str, interface: str, address: str, switch: str, port: int) -> Link:
    return Link(End(node, interface, address), End(switch, f"{switch}-eth{port}"))


COURSE: Final = Network(
    name="course",
    nodes=(
        *(Host(f"h{number}") for number in range(1, 10)),
        Switch("s1"),
        Switch("s2"),
        *(Router(f"r{number}") for number in range(1, 5)),
    ),
    links=(
        _to_switch("h1", "h1-eth0", "10.0.0.2/24", "s1", 1),
        _to_switch("h2", "h2-eth0", "10.0.0.3/24", "s1", 2),
        _to_switch("h3", "h3-eth0", "10.0.0.4/24", "s1", 3),
        _to_switch("r1", "r1-eth0", "10.0.0.1/24", "s1", 4),
        Link(
            End("r1", "r1-eth1", "10.0.1.1/24"),
            End("r2", "r2-eth0", "10.0.1.2/24"),
            name="L1",
            rate_mbps=40,
            delay_ms=10,
            queue_packets=67,
        ),
        Link(End("r2", "r2-eth1", "10.0.2.1/24"), End("h7", "h7-eth0", "10.0.2.2/24")),
        Link(
            End("r2", "r2-eth2", "10.0.3.1/24"),
            End("r3", "r3-eth0", "10.0.3.2/24"),
            name="L2",
            rate_mbps=30,
            delay_ms=20,
            queue_packets=100,
        ),
        Link(End("r3", "r3-eth1", "10.0.4.1/24"), End("h8", "h8-eth0", "10.0.4.2/24")),
        _to_switch("h4", "h4-eth0", "10.0.5.2/24", "s2", 1),
        _to_switch("h5", "h5-eth0", "10.0.5.3/24", "s2", 2),
        _to_switch("h6", "h6-eth0", "10.0.5.4/24", "s2", 3),
        _to_switch("r3", "r3-eth2", "10.0.5.1/24", "s2", 4),
        Link(
            End("r3", "r3-eth3", "10.0.6.1/24"),
            End("r4", "r4-eth0", "10.0.6.2/24"),
            name="L3",
            rate_mbps=20,
            delay_ms=10,
            queue_packets=33,
        ),
        Link(End("r4", "r4-eth1", "10.0.7.1/24"), End("h9", "h9-eth0", "10.0.7.2/24")),
    ),
    subnets=(
        Subnet("A", "10.0.0.0/24"),
        Subnet("B", "10.0.1.0/24"),
        Subnet("C", "10.0.2.0/24"),
        Subnet("D", "10.0.3.0/24"),
        Subnet("F", "10.0.4.0/24"),
        Subnet("E", "10.0.5.0/24"),
        Subnet("G", "10.0.6.0/24"),
        Subnet("I", "10.0.7.0/24"),
    ),
)
"""The course network: nine hosts, two switches, and four routers in a row joined by L1, L2 and L3.

Only L1 to L3 are shaped; the links to hosts and switches are as fast as the machine. Addresses, rates,
delays and queues are those of the course report (chapter 3). Its eight subnets are named A to I: the report
has no H, and no letter for the subnet of h8, which is F here.
"""


# --- IPv6 beside IPv4


def dual_stack(network: Network) -> Network:
    """Return the network with an IPv6 address beside each IPv4 address, and an IPv6 prefix beside each subnet.

    Of 10.0.1.2/24 becomes 2001:db8:0:1::2/64, the numbers written as they were: the second and the third name the
    subnet, the last one the interface. 2001:db8::/32 is for examples (RFC 3849); programs prefer its addresses to those
    of IPv4, as they prefer any that is global (RFC 6724). Raises NetworkError for a prefix that is no /24.
    """

    def prefix(text: str) -> str:
        address, _, length = text.partition("/")
        if length != "24":
            raise NetworkError(f"{text} is no /24, which dual_stack needs: write the IPv6 addresses yourself, as ipv6=")
        _, second, third, _ = address.split(".")
        return f"2001:db8:{second}:{third}::"

    def ipv6(address: str) -> str:
        number = address.partition("/")[0].rpartition(".")[2]
        return str(interface_of(f"{prefix(address)}{number}/64"))

    def beside(end: _AddressedT) -> _AddressedT:
        return end if end.address is None else replace(end, ipv6=ipv6(end.address))

    vlans = network.vlans and Vlans(
        tuple(replace(plan, gateways=tuple(map(beside, plan.gateways))) for plan in network.vlans.switches),
        tuple(map(beside, network.vlans.subinterfaces)),
    )
    return replace(
        network,
        name=f"{network.name}-dual-stack",
        links=tuple(replace(link, a=beside(link.a), b=beside(link.b)) for link in network.links),
        subnets=network.subnets
        + tuple(Subnet(it.name, str(prefix_of(f"{prefix(it.prefix)}/64"))) for it in network.subnets),
        vlans=vlans,
    )


# --- The MTU study: two hosts across a switch, and two Mininet networks joined by a GRE tunnel
#
# The study calls the size of the whole frame, header and checksum with it, "MTU": 1518 is an IP packet of 1500 bytes,
# 4370 one of 4352 (FDDI), 7999 one of 7981 (802.11). Its numbers: studies/mtu/published.toml.

_MTU_LINK_MBPS: Final = 10.0


def mtu_direct(frame_bytes: int = 1518, link_mbps: float = _MTU_LINK_MBPS) -> Network:
    """Return two hosts and a switch. Both links have one rate, and an MTU that a frame of this size fills.

    Raises NetworkError for a frame without room for headers and a packet's number, and for what no link can be.
    """
    mtu = ip_packet_bytes(frame_bytes)
    return Network(
        "mtu-direct",
        (Host("h1"), Host("h2"), Switch("s1")),
        tuple(_link(_host_end(number), End("s1", f"s1-eth{number}"), link_mbps, mtu) for number in (1, 2)),
    )


def mtu_gre(
    frame_bytes: int = 1518, link_mbps: float = _MTU_LINK_MBPS, *, outside_mtu_bytes: int | None = None
) -> Network:
    """Return two PCs, each with a Mininet network of a host and a switch, and a GRE tunnel between them.

    The tunnel crosses a physical switch. ``frame_bytes`` is the hosts' frame; the PCs send 38 bytes more.
    ``outside_mtu_bytes`` is the MTU of the cables between the PCs. None makes it so large that the longer frame fits;
    if it is less, the PCs send each packet in fragments. All links have one rate. Raises NetworkError as `mtu_direct`.
    """
    mtu = ip_packet_bytes(frame_bytes)
    outside = mtu + GRE_OVERHEAD_BYTES if outside_mtu_bytes is None else outside_mtu_bytes
    tunnel = Tunnel(
        TunnelEnd("s1", "s1-gre1", "pc1"),
        TunnelEnd("s2", "s2-gre1", "pc2"),
        mtu_bytes=mtu,
        fragments=mtu + GRE_OVERHEAD_BYTES > outside,
    )
    inside = tuple(_link(_host_end(number), End(f"s{number}", f"s{number}-eth1"), link_mbps, mtu) for number in (1, 2))
    between = tuple(
        _link(End(f"pc{number}", f"pc{number}-eth0", f"192.168.1.{number}/24"), _port(number), link_mbps, outside)
        for number in (1, 2)
    )
    nodes = (Host("h1"), Switch("s1"), Host("pc1"), Switch("s3"), Host("pc2"), Switch("s2"), Host("h2"))
    return Network("mtu-gre", nodes, (*inside, *between), tunnels=(tunnel,))


def _host_end(number: int) -> End:
    return End(f"h{number}", f"h{number}-eth0", f"10.0.0.{number}/24")


def _port(number: int) -> End:
    return End("s3", f"s3-eth{number}")


def _link(a: End, b: End, rate_mbps: float, mtu_bytes: int) -> Link:
    return Link(a, b, rate_mbps=rate_mbps, mtu_bytes=mtu_bytes)


# --- The multimedia study: two hosts; two switches between them; two switches and two routers
#
# The study (figures 2 to 4 and 8) names nodes, interfaces and rates. It names no address and no queue, and sets no
# delay: addresses are ours. Its numbers: studies/video/published.toml.

_VIDEO_ACCESS_MBPS: Final = 100
"""The rate of the PCs' links in topologies 2 (figure 7) and 3 (section 3.4)."""
WAN: Final = "WAN"
"""The name of the link between the routers of topology 3."""
BETWEEN_SWITCHES: Final = "between"
"""The name of the link between the switches of topology 2."""
VIDEO_RUNS_MBPS: Final = {1: (1000,), 2: (10, 100), 3: (2, 4, 8)}
"""The rates of each topology's link of interest in the study's six runs (section 3.4)."""


def video_network(
    topology: int, link_mbps: float, *, queue_packets: int | None = None, loss_percent: float = 0.0
) -> Network:
    """Return one of the study's three topologies; its one link of interest has `link_mbps`.

    That link joins the two hosts (1), the two switches (2) or the two routers (3). `queue_packets` and `loss_percent`
    are that link's (see `linklab.network.Shape`); the study has none.

    Raises NetworkError for a topology other than 1, 2 and 3, and for values that no link can have.
    """
    name = f"video-{topology}-{link_mbps:g}"
    if topology == 1:
        one, two = End("h1", "h1-eth0", "10.0.0.1/24"), End("h2", "h2-eth0", "10.0.0.2/24")
        link = Link(one, two, "", link_mbps, 0.0, loss_percent, queue_packets)
        return Network(name, (Host("h1"), Host("h2")), (link,))
    if topology == 2:
        nodes = (Host("h1"), Host("h2"), Switch("s1"), Switch("s2"))
        middle = End("s1", "s1-eth2"), End("s2", "s2-eth2")
        links = (
            Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("s1", "s1-eth1"), rate_mbps=_VIDEO_ACCESS_MBPS),
            Link(*middle, BETWEEN_SWITCHES, link_mbps, 0.0, loss_percent, queue_packets),
            Link(End("s2", "s2-eth1"), End("h2", "h2-eth0", "10.0.0.2/24"), rate_mbps=_VIDEO_ACCESS_MBPS),
        )
        return Network(name, nodes, links)
    if topology == 3:
        routed = (Host("h1"), Host("h2"), Switch("s1"), Switch("s2"), Router("r1"), Router("r2"))
        wan = End("r1", "r1-eth1", "10.0.1.1/24"), End("r2", "r2-eth1", "10.0.1.2/24")
        routed_links = (
            Link(End("h1", "h1-eth0", "10.0.0.2/24"), End("s1", "s1-eth2"), rate_mbps=_VIDEO_ACCESS_MBPS),
            Link(End("s1", "s1-eth1"), End("r1", "r1-eth2", "10.0.0.1/24"), rate_mbps=_VIDEO_ACCESS_MBPS),
            Link(*wan, WAN, link_mbps, 0.0, loss_percent, queue_packets),
            Link(End("r2", "r2-eth2", "10.0.2.1/24"), End("s2", "s2-eth1"), rate_mbps=_VIDEO_ACCESS_MBPS),
            Link(End("s2", "s2-eth2"), End("h2", "h2-eth0", "10.0.2.2/24"), rate_mbps=_VIDEO_ACCESS_MBPS),
        )
        return Network(name, routed, routed_links)
    raise NetworkError(f"the multimedia study has no topology {topology!r}: choose 1, 2 or 3")


# --- The switches study: a layer-3 switch, a router on a stick, and a link that several senders fill
#
# PC1 to PC4 of the study are h1 to h4, the receiver T of its fairness testbed is t1. Its numbers:
# studies/switches/published.toml.

SWITCH_QUEUE_PACKETS: Final = 100
"""The queue of every interface. The study does not say it; a switch's port holds some dozens to hundreds of frames."""
_VLANS: Final = (10, 20)
_SUBNETS: Final = (Subnet("VLAN 10", "10.0.10.0/24"), Subnet("VLAN 20", "10.0.20.0/24"))
_GATEWAYS: Final = (Gateway(10, "10.0.10.254/24"), Gateway(20, "10.0.20.254/24"))
_FOUR_HOSTS: Final = {"h1": 10, "h2": 10, "h3": 20, "h4": 20}
_MOST_SENDERS: Final = 252
"""A subnet has 254 addresses: the gateway takes the last one, and the receiver the one after the senders."""


def l3_switch(rate_mbps: float) -> Network:
    """Return h1 and h2 in VLAN 10, h3 and h4 in VLAN 20, and a switch that routes between them (the study's figure 1).

    Raises NetworkError for a rate that no link can have.
    """
    return _routed_by_switch(f"l3-switch-{rate_mbps:g}", _FOUR_HOSTS, rate_mbps)


def router_on_a_stick(rate_mbps: float) -> Network:
    """Return the same hosts and VLANs, and a router with one cable, an 802.1Q trunk of both VLANs (figure 6).

    Raises NetworkError for a rate that no link can have.
    """
    plan = SwitchVlans("s1", _VLANS, _access(_FOUR_HOSTS), (TrunkPort("s1-eth5", _VLANS),))
    trunk = Link(
        End("r1", "r1-eth0"),
        End("s1", "s1-eth5"),
        name="trunk",
        rate_mbps=rate_mbps,
        queue_packets=SWITCH_QUEUE_PACKETS,
        overhead_bytes=ETHERNET_OVERHEAD_BYTES,
    )
    subs = tuple(SubInterface("r1-eth0", gateway.vlan, gateway.address) for gateway in _GATEWAYS)
    nodes: tuple[PlannedNode, ...] = (*map(Host, _FOUR_HOSTS), Switch("s1"), Router("r1"))
    links = (*_cables(_FOUR_HOSTS, rate_mbps), trunk)
    return Network(f"router-on-a-stick-{rate_mbps:g}", nodes, links, _SUBNETS, vlans=Vlans((plan,), subs))


def fairness(rate_mbps: float, senders: int, queue_packets: int = SWITCH_QUEUE_PACKETS) -> Network:
    """Return senders in VLAN 10 and the receiver t1 in VLAN 20, whose link all fill (figure 12).

    Raises NetworkError for a number of senders outside 2 to 252, or a rate or queue that no link can have.
    """
    if senders not in range(2, _MOST_SENDERS + 1):
        raise NetworkError(
            f"the fairness testbed has 2 to {_MOST_SENDERS} senders, not {senders!r}: choose such a number"
        )
    members = {f"h{number}": 10 for number in range(1, senders + 1)} | {"t1": 20}
    return _routed_by_switch(f"fairness-{senders}-{rate_mbps:g}", members, rate_mbps, queue_packets)


def _routed_by_switch(
    name: str, members: dict[str, int], rate_mbps: float, queue_packets: int = SWITCH_QUEUE_PACKETS
) -> Network:
    """Return hosts, each in its VLAN, at one switch that routes between the VLANs."""
    plan = SwitchVlans("s1", _VLANS, _access(members), gateways=_GATEWAYS)
    nodes: tuple[PlannedNode, ...] = (*map(Host, members), Switch("s1"))
    return Network(name, nodes, _cables(members, rate_mbps, queue_packets), _SUBNETS, vlans=Vlans((plan,)))


def _access(members: dict[str, int]) -> tuple[AccessPort, ...]:
    return tuple(AccessPort(f"s1-eth{port}", vlan) for port, vlan in enumerate(members.values(), 1))


def _cables(members: dict[str, int], rate_mbps: float, queue_packets: int = SWITCH_QUEUE_PACKETS) -> tuple[Link, ...]:
    return tuple(
        Link(
            End(host, f"{host}-eth0", f"10.0.{vlan}.{port}/24"),
            End("s1", f"s1-eth{port}"),
            rate_mbps=rate_mbps,
            queue_packets=queue_packets,
            overhead_bytes=ETHERNET_OVERHEAD_BYTES,
        )
        for port, (host, vlan) in enumerate(members.items(), 1)
    )


# --- All of them by name


class _Catalogue(Mapping[str, Network]):
    """Networks by their names. The testbeds are made when one is first asked for: a guest needs none."""

    @cached_property
    def _networks(self) -> dict[str, Network]:
        networks = (
            TWO_HOSTS,
            COURSE,
            mtu_direct(),
            mtu_gre(),
            *(video_network(topology, rate) for topology, rates in VIDEO_RUNS_MBPS.items() for rate in rates),
            *(
                network
                for rate in (10, 100)
                for network in (l3_switch(rate), router_on_a_stick(rate), fairness(rate, 2), fairness(rate, 3))
            ),
            dual_stack(COURSE),
        )
        return {network.name: network for network in networks}

    def __getitem__(self, name: str) -> Network:
        return self._networks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._networks)

    def __len__(self) -> int:
        return len(self._networks)


CATALOGUE: Final[Mapping[str, Network]] = _Catalogue()
"""All networks with a name."""


def by_name(name: str) -> Network:
    """Return the network called ``name``. Raises NetworkError, listing the names, if there is none."""
    if name not in CATALOGUE:
        raise NetworkError(f"no network is called {name!r}: choose one of {', '.join(CATALOGUE)}")
    return CATALOGUE[name]
