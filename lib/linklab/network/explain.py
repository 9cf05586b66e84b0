"""What probably made a live network differ from the plan, in words that lead to the remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network
from typing import Final

from linklab.network.model import Shape
from linklab.network.routing import DEFAULT_DESTINATION, Route
from linklab.network.state import (
    Expected,
    ExpectedInterface,
    ExpectedNode,
    InterfaceState,
    Membership,
    NetworkState,
    NodeKind,
    NodeState,
    TunnelState,
)

_NETEM_DEFAULT_LIMIT: Final = 1000
_TC_RATE_STEP_MBPS: Final = 8e-6


@dataclass(frozen=True)
class NodePair:
    """An expected node, the one that is there, and the networks around both."""

    want: NodeState | ExpectedNode
    have: NodeState
    expected: Expected
    found: NetworkState

    @property
    def node(self) -> str:
        """The node's name."""
        return self.want.name

    @property
    def interface(self) -> None:
        """No interface: what is compared is the node's."""
        return None


@dataclass(frozen=True)
class InterfacePair:
    """An expected interface of ``node``, the one that is there, and the networks around both."""

    node: str
    want: InterfaceState | ExpectedInterface
    have: InterfaceState
    expected: Expected
    found: NetworkState

    @property
    def interface(self) -> str:
        """The interface's name."""
        return self.want.name

    def far(self) -> InterfaceState | None:
        """The interface that is really there at the other end of the link."""
        for peer in (self.have.peer, self.want.peer):
            if peer is not None and peer[1] is not None:
                return self.found.interface(peer[0], peer[1])
        return None


def missing_node(name: str, found: NetworkState) -> str:
    """Why a node is not there."""
    for node in found.nodes:
        if node.name.lower() == name.lower():
            return f"it is called {node.name} instead: names are case-sensitive"
    return "addHost or addSwitch was not called for it, or with another name"


def kind(pair: NodePair, want: NodeKind, have: NodeKind) -> str:
    """Why a host is a switch or the other way round."""
    right, wrong = ("addSwitch", "addHost") if want == "switch" else ("addHost", "addSwitch")
    return f"it was added with {wrong}: use {right}({pair.node!r})"


def missing_interface(pair: NodePair, want: InterfaceState | ExpectedInterface) -> str:
    """Why an interface is not there."""
    if want.peer is None:
        return "its link was not added, or the interface has another name"
    planned = {interface.name for interface in pair.want.interfaces or ()}
    for other in pair.have.interfaces:
        if other.peer and other.peer[0] == want.peer[0] and other.name not in planned:
            return (
                f"the link to {want.peer[0]} is there, but its interface is called {other.name}: "
                "give intfName1 or intfName2, or add the links in the plan's order"
            )
    return f"no addLink joins {pair.node} and {want.peer[0]}"


def extra_interface(interface: InterfaceState) -> str:
    """Why an interface is there that should not be."""
    if interface.peer is None:
        return "the plan has no such interface"
    return f"the plan has no such link to {interface.peer[0]}: an addLink too many, or another interface name"


def addresses(pair: InterfacePair, want: tuple[str, ...], have: tuple[str, ...]) -> str:
    """Why an interface has other addresses."""
    wanted = [IPv4Interface(address) for address in want]
    for live in map(IPv4Interface, have):
        for plan in wanted:
            if live.ip == plan.ip and live.network.prefixlen != plan.network.prefixlen:
                return f"the mask is /{live.network.prefixlen} instead of /{plan.network.prefixlen}"
    if not have:
        return (
            "no address was given to it: addHost(ip=...) sets only a node's first interface, "
            "for others give addLink params1 or params2={'ip': ...}"
        )
    if set(want) < set(have):
        return f"{' and '.join(sorted(set(have) - set(want)))} is there besides: remove it with ip address del"
    for node in pair.expected.nodes:
        for interface in node.interfaces or ():
            shared = set(interface.addresses or ()) & set(have)
            if shared and (node.name, interface.name) != (pair.node, pair.want.name):
                return (
                    f"{' and '.join(sorted(shared))} belongs to {interface.name} on {node.name}: "
                    "two addresses are swapped, or one was given twice"
                )
    if any(IPv4Interface(address).network == IPv4Network("10.0.0.0/8") for address in have):
        return "this is Mininet's own choice for a node without ip=: write ip= with address and prefix length"
    return "another address was typed in ip= or in ip address add"


def state(pair: InterfacePair, want: bool, have: bool) -> str:
    """Why an interface is up or down."""
    wanted = "up" if want else "down"
    return f"it was never set {wanted}, or set otherwise since: ip link set {pair.interface} {wanted}"


def mtu(pair: InterfacePair, want_bytes: int, have_bytes: int) -> str:
    """Why an interface has another MTU."""
    far = pair.far()
    if far is not None and far.mtu_bytes == want_bytes:
        return f"the MTU was set on one side only: {far.name} at the other end has it"
    return f"set it on both ends: ip link set {pair.interface} mtu {want_bytes}"


def tunnel(pair: InterfacePair, want: TunnelState | None, have: TunnelState | None) -> str:
    """Why a tunnel's port is none, or of another tunnel, or an interface one."""
    if want is None:
        return "the plan has a cable there"
    if have is None:
        return f"no tunnel was made, or it is of another kind: ip -d link show {pair.interface}"
    if want.carrier != have.carrier:
        return f"it was made in another namespace: make it on {want.carrier}, then move it to the switch"
    return "it was made with other options: ip link add ... type gretap local ... remote ..."


def peer(pair: InterfacePair, want: tuple[str, str | None], have: tuple[str, str] | None) -> str:
    """Why an interface is joined to another one."""
    if have is None:
        return "the other end of its cable was not found among the nodes"
    if want[0] != have[0]:
        return f"its addLink joins {pair.node} to {have[0]} instead of {want[0]}"
    return f"the links of {want[0]} were added in another order, or with other interface names"


def offloads(pair: InterfacePair, want: tuple[str, ...], have: tuple[str, ...]) -> str:
    """Why offloads are on or off."""
    if set(have) - set(want):
        return (
            f"switch them off with ethtool -K {pair.interface} and ip link set {pair.interface} gso_max_segs 1: "
            "one packet in a queue can then be many times the MTU"
        )
    return f"switch them on with ethtool -K {pair.interface}"


def vlan(pair: InterfacePair, want: Membership | None, have: Membership | None) -> str:
    """Why an interface is in other VLANs."""
    if want is None:
        return "the plan has no VLANs there"
    have = have or Membership()
    if want.tagged and not want.untagged:
        lacking = sorted(set(want.tagged) - set(have.tagged))
        if lacking:
            names = ", ".join(map(str, lacking))
            return f"no frame leaves it with the tag of VLAN {names}: a trunk has each, and none of them untagged"
        if have.untagged is not None:
            return f"frames without a tag go to VLAN {have.untagged}: a trunk is to have none"
        more = sorted(set(have.tagged) - set(want.tagged))
        return f"the trunk lets VLAN {', '.join(map(str, more))} pass besides"
    if have.tagged:
        return "it is a trunk: an access port has one VLAN, and no tags"
    if have.untagged is None:
        return f"frames that come in there belong to no VLAN: VLAN {want.untagged} must be its pvid, and untagged"
    return (
        f"it is an access port of the wrong VLAN: whoever is behind {pair.interface} hears VLAN {have.untagged} instead"
    )


def forwarding(pair: NodePair, want: bool, have: bool) -> str:
    """Why a node forwards or does not."""
    if pair.have.kind == "switch":
        if want:
            return "gateways alone do not route: sysctl -w net.ipv4.ip_forward=1 on the switch"
        return "it routes between VLANs and is not to: sysctl -w net.ipv4.ip_forward=0 on the switch"
    if want:
        return "a router drops what is not for itself until sysctl -w net.ipv4.ip_forward=1"
    return "a host does not pass on packets of others: sysctl -w net.ipv4.ip_forward=0"


def congestion_control(pair: NodePair, want: str, have: str | None) -> str:
    """Why a host's congestion control is another one."""
    return f"the machine's default is in force: sysctl -w net.ipv4.tcp_congestion_control={want}"


def missing_route(pair: NodePair, route: Route) -> str:
    """Why a route is not there."""
    have = pair.have
    interface = have.interface(route.interface)
    if interface is not None and not (interface.up and interface.addresses):
        return f"{route.interface} is down or has no address, so the kernel takes no route out of it"
    wanted = IPv4Network(route.destination)
    for other in have.routes:
        there = IPv4Network(other.destination)
        same_start = there.network_address == wanted.network_address and there.prefixlen > 0
        if same_start and route.destination != DEFAULT_DESTINATION:
            return f"there is one to {there}: the mask is /{there.prefixlen} instead of /{wanted.prefixlen}"
    if route.destination == DEFAULT_DESTINATION:
        return f"no default route was given: addHost(defaultRoute='via {route.via}'), or ip route add default"
    hint = f"add it: ip route add {route.destination} via {route.via}"
    if any(other.destination == DEFAULT_DESTINATION for other in have.routes):
        return f"its packets follow the default route instead; {hint}"
    return f"{have.name} drops packets to that subnet; {hint}"


def wrong_route(pair: NodePair, route: Route, there: Route) -> str:
    """Why a route leads elsewhere."""
    node, expected, found = pair.node, pair.expected, pair.found
    if there.via is None:
        return f"it has no next hop, so it takes the whole subnet for a neighbour: add via {route.via}"
    if there.via == route.via:
        return f"the next hop is right, the interface is not: use dev {route.interface}, or leave dev out"
    owner = _owner(there.via, found) or _owner(there.via, expected)
    target = _owner(route.via, expected) or _owner(route.via, found) if route.via else None
    if owner == node:
        return f"{there.via} is an address of {node} itself: name the other end of the link, {route.via}"
    if owner is not None and owner == target:
        return f"{there.via} is {owner}'s address on another link: name the one on the shared link, {route.via}"
    if owner is None:
        return f"no interface has the address {there.via}: the next hop is {route.via}"
    return f"{there.via} belongs to {owner}, and the shortest way goes over {target or route.via}"


def extra_route(route: Route, planned: set[str]) -> str:
    """Why a route is there that should not be."""
    if route.destination in planned:
        return "it is a second route to the same subnet: remove the one that is not in the plan"
    if route.destination == DEFAULT_DESTINATION:
        return "the plan has no default route here: remove it with ip route del default"
    return f"the plan has no such route: remove it with ip route del {route.destination}"


def _owner(ip: str, network: Expected) -> str | None:
    for node in network.nodes:
        for interface in node.interfaces or ():
            if any(address.partition("/")[0] == ip for address in interface.addresses or ()):
                return node.name
    return None


def same_rate(one: float | None, two: float | None) -> bool:
    """Equal within 0.1 %, or within the one byte per second that tc can express."""
    if one is None or two is None:
        return one is two
    return abs(one - two) <= max(0.001 * abs(one), _TC_RATE_STEP_MBPS)


def same_delay(one_ms: float, two_ms: float) -> bool:
    """Equal within 0.0001 ms, netem counts in ticks of 64 ns; none at all is another one."""
    return abs(one_ms - two_ms) <= 0.0001 and (one_ms == 0) == (two_ms == 0)


def same_loss(one_percent: float, two_percent: float) -> bool:
    """Equal within 0.001 % of themselves, netem keeps the loss as a 32-bit fraction; none at all is another one."""
    close = abs(one_percent - two_percent) <= max(1e-7, 1e-5 * abs(one_percent))
    return close and (one_percent == 0) == (two_percent == 0)


def rate(pair: InterfacePair, want_mbps: float | None, have_mbps: float | None) -> str:
    """Why the rate is another one."""
    far = pair.far()
    if want_mbps is None:
        return "bw= was given to a link that has no limit in the plan"
    if far is not None and same_rate(want_mbps, far.shape.rate_mbps):
        return _one_side_only(far)
    if have_mbps is None:
        return "HTB is not there: the kernel has no sch_htb, or the link was made without TCLink or without bw="
    if swapped := _swapped(pair):
        return swapped
    if any(same_rate(have_mbps * factor, want_mbps) for factor in (8, 1 / 8)):
        return "bits and bytes are mixed up: bw= is in Mbit/s"
    return "bw= of this link has another number: it is in Mbit/s"


def delay(pair: InterfacePair, want_ms: float, have_ms: float) -> str:
    """Why the delay is another one."""
    far_ms = far.shape.delay_ms if (far := pair.far()) else None
    if cause := _absent_or_one_sided(pair, "delay=", want_ms, have_ms, far_ms, same_delay) or _swapped(pair):
        return cause
    if any(same_delay(have_ms * factor, want_ms) for factor in (2, 0.5)):
        return "the delay counts for one direction: a round trip has it twice"
    if any(same_delay(have_ms * factor, want_ms) for factor in (1000, 0.001)):
        return f"the unit is another one: write delay='{want_ms:g}ms'"
    return "delay= of this link has another number"


def jitter(pair: InterfacePair, want_ms: float, have_ms: float) -> str:
    """Why the jitter is another one."""
    far_ms = far.shape.jitter_ms if (far := pair.far()) else None
    cause = _absent_or_one_sided(pair, "jitter=", want_ms, have_ms, far_ms, same_delay)
    return cause or "jitter= of this link has another number"


def loss(pair: InterfacePair, want_percent: float, have_percent: float) -> str:
    """Why the loss is another one."""
    far_percent = far.shape.loss_percent if (far := pair.far()) else None
    cause = _absent_or_one_sided(pair, "loss=", want_percent, have_percent, far_percent, same_loss)
    return cause or "loss= of this link has another number: it is in percent"


def queue(pair: InterfacePair, want_packets: int, have_packets: int | None) -> str:
    """Why the queue is another one."""
    far = pair.far()
    if far is not None and want_packets == far.shape.queue_packets:
        return _one_side_only(far)
    if have_packets is None:
        return _without_netem(pair.have.shape, "max_queue_size=")
    if swapped := _swapped(pair):
        return swapped
    if have_packets == _NETEM_DEFAULT_LIMIT:
        return "netem's own limit is in force: max_queue_size= was not given"
    return "max_queue_size= of this link has another number: it is in packets"


def overhead(pair: InterfacePair, want_bytes: int | None, have_bytes: int | None) -> str:
    """Why a frame's overhead is another one."""
    if want_bytes is None:
        return "the rate is to be HTB's, and is netem's"
    return "the rate is to be netem's, which serialises frames as a cable does, and with this overhead for each"


def _absent_or_one_sided(
    pair: InterfacePair,
    argument: str,
    want: float,
    have: float,
    far: float | None,
    same: Callable[[float, float], bool],
) -> str | None:
    """What can be wrong with each number that netem is given: it is on a link without, on one side, or on none."""
    if want == 0:
        return f"{argument} was given to a link that has none in the plan"
    if far is not None and same(want, far) and (other := pair.far()):
        return _one_side_only(other)
    if have == 0:
        return _without_netem(pair.have.shape, argument)
    return None


def _one_side_only(far: InterfaceState) -> str:
    return f"it is set on one side only: {far.name}, the other end of this link, has it as planned"


def _without_netem(have: Shape, argument: str) -> str:
    # netem always has a limit, so a limit that was read back shows that netem is there.
    if have.queue_packets is not None:
        return f"netem is there, but the link was made without {argument}"
    return f"the link was made without {argument} or TCLink, or the kernel has no netem (sch_netem)"


def _swapped(pair: InterfacePair) -> str | None:
    have = pair.have.shape
    for node in pair.expected.nodes:
        for interface in node.interfaces or ():
            other = interface.shape
            if (
                other is not None
                and other.rate_mbps is not None
                and same_rate(other.rate_mbps, have.rate_mbps)
                and same_delay(other.delay_ms, have.delay_ms)
                and other.queue_packets in (None, have.queue_packets)
            ):
                return f"{interface.name} on {node.name} is to have this shape: two links are swapped or alike"
    return None
