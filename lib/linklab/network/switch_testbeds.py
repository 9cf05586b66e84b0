"""The testbeds of the switches study: a layer-3 switch, a router on a stick, and a link that several senders fill.

Their names are those of the PCs in the study: PC1 to PC4 are h1 to h4, the receiver T of the fairness testbed is t1.
See `linklab.published.switches`, figures 1, 6 and 12. The VLANs are 10 and 20.
"""

from __future__ import annotations

from typing import Final

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
    Vlans,
)
from linklab.network.validation import Network
from linklab.units import ETHERNET_OVERHEAD_BYTES

QUEUE_PACKETS: Final = 100
"""Of every interface. The study does not say; a switch's port has room for some dozens to hundreds of frames."""
VLANS: Final = (10, 20)
_SUBNETS: Final = (Subnet("VLAN 10", "10.0.10.0/24"), Subnet("VLAN 20", "10.0.20.0/24"))
_GATEWAYS: Final = (Gateway(10, "10.0.10.254/24"), Gateway(20, "10.0.20.254/24"))
_FOUR_HOSTS: Final = {"h1": 10, "h2": 10, "h3": 20, "h4": 20}
_MOST_SENDERS: Final = 252
"""A subnet has 254 addresses: the gateway has the last one, and the receiver the one after the senders'."""


def l3_switch(rate_mbps: float, queue_packets: int = QUEUE_PACKETS) -> Network:
    """h1 and h2 in VLAN 10, h3 and h4 in VLAN 20, and a switch that routes between them (the study's figure 1).

    Raises NetworkError for a rate or queue that no link can have.
    """
    return _routed_by_switch(f"l3-switch-{rate_mbps:g}", _FOUR_HOSTS, rate_mbps, queue_packets)


def router_on_a_stick(rate_mbps: float, queue_packets: int = QUEUE_PACKETS) -> Network:
    """The same hosts and VLANs, and a router with one cable, an 802.1Q trunk of both VLANs (the study's figure 6).

    Raises NetworkError for a rate or queue that no link can have.
    """
    plan = SwitchVlans("s1", VLANS, _access(_FOUR_HOSTS), (TrunkPort("s1-eth5", VLANS),))
    trunk = Link(
        End("r1", "r1-eth0"),
        End("s1", "s1-eth5"),
        name="trunk",
        rate_mbps=rate_mbps,
        queue_packets=queue_packets,
        overhead_bytes=ETHERNET_OVERHEAD_BYTES,
    )
    subs = tuple(SubInterface("r1-eth0", gateway.vlan, gateway.address) for gateway in _GATEWAYS)
    nodes: tuple[PlannedNode, ...] = (*map(Host, _FOUR_HOSTS), Switch("s1"), Router("r1"))
    links = (*_cables(_FOUR_HOSTS, rate_mbps, queue_packets), trunk)
    return Network(f"router-on-a-stick-{rate_mbps:g}", nodes, links, _SUBNETS, vlans=Vlans((plan,), subs))


def fairness(rate_mbps: float, senders: int, queue_packets: int = QUEUE_PACKETS) -> Network:
    """Return senders in VLAN 10 and the receiver t1 in VLAN 20, whose link all fill (the paper's figure 12).

    Raises NetworkError for a number of senders outside 2 to 252, or a rate or queue that no link can have.
    """
    if senders not in range(2, _MOST_SENDERS + 1):
        raise NetworkError(
            f"the fairness testbed has 2 to {_MOST_SENDERS} senders, not {senders!r}: choose such a number"
        )
    members = {f"h{number}": 10 for number in range(1, senders + 1)} | {"t1": 20}
    return _routed_by_switch(f"fairness-{senders}-{rate_mbps:g}", members, rate_mbps, queue_packets)


def _routed_by_switch(name: str, members: dict[str, int], rate_mbps: float, queue_packets: int) -> Network:
    """Hosts, each in its VLAN, at one switch that routes between the VLANs."""
    plan = SwitchVlans("s1", VLANS, _access(members), gateways=_GATEWAYS)
    nodes: tuple[PlannedNode, ...] = (*map(Host, members), Switch("s1"))
    return Network(name, nodes, _cables(members, rate_mbps, queue_packets), _SUBNETS, vlans=Vlans((plan,)))


def _access(members: dict[str, int]) -> tuple[AccessPort, ...]:
    return tuple(AccessPort(f"s1-eth{port}", vlan) for port, vlan in enumerate(members.values(), 1))


def _cables(members: dict[str, int], rate_mbps: float, queue_packets: int) -> tuple[Link, ...]:
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


SWITCH_TESTBEDS: Final = tuple(
    network
    for rate in (10, 100)
    for network in (l3_switch(rate), router_on_a_stick(rate), fairness(rate, 2), fairness(rate, 3))
)
"""All of them, at the study's two rates."""
