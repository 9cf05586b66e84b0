"""Make VLANs and tunnels, and read tunnels back.

VLANs: on the Linux bridge by netlink, on Open vSwitch in its database; sub-interfaces on routers. Tunnels between
switches are made when the nodes are there and the switches not yet started.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from itertools import combinations

from mininet.net import Mininet
from mininet.node import Node, OVSSwitch

from linklab.errors import LabError
from linklab.guest.mininet_parts import ONE_SEGMENT, LabIntf
from linklab.guest.namespace import SEGMENTATION_OFFLOADS, Namespace, namespace_of, set_sysctl
from linklab.guest.netlink import links
from linklab.guest.switches import UserOVS
from linklab.guest.topo import link_options
from linklab.network import Link, Network, TunnelState
from linklab.network.model import Gateway, SwitchVlans
from linklab.units import VLAN_TAG_BYTES

_GATEWAY_MAC = "02:00:5e:00:{0:02x}:{1:02x}"
"""Open vSwitch would choose one at random; an address that follows from the VLAN is the same in every lab."""
Places = dict[tuple[str, str], TunnelState]
"""Each tunnel port by its node and interface."""


def make_vlans(net: Mininet, network: Network) -> None:
    """Give switches their VLANs and routers their sub-interfaces. Raises `LabError` with the kernel's reason."""
    if network.vlans is None:
        return
    try:
        for plan in network.vlans.switches:
            switch = net[plan.switch]
            if isinstance(switch, OVSSwitch):
                _ovs_vsctl([word for part in _ovs_words(plan) for word in ("--", *part)])
            else:
                _set_bridge(switch, plan)
            for gateway in plan.gateways:
                _address(namespace_of(switch), plan.gateway_interface(gateway), gateway.address)
            if plan.gateways:
                with namespace_of(switch).entered():
                    set_sysctl("ipv4.ip_forward", "1")
        for sub in network.vlans.subinterfaces:
            owner = next(end.node for link in network.links for end in link.ends if end.interface == sub.parent)
            there = namespace_of(net[owner])
            there.kernel.ask(*links.vlan_device(sub.name, there.index(sub.parent), sub.vlan, ONE_SEGMENT))
            _address(there, sub.name, sub.address)
        for link in network.links:
            _count_tags(net, network, link)
    except OSError as error:
        raise LabError(f"the VLANs of {network.name} cannot be made: {error.strerror}") from error


def _set_bridge(switch: Node, plan: SwitchVlans) -> None:
    there = namespace_of(switch)
    bridge = there.index(switch.name)
    requests = [links.filter_vlans(bridge)]
    requests += [links.access_port(there.index(port.interface), port.vlan) for port in plan.access]
    requests += [links.trunk_vlan(there.index(it.interface), number) for it in plan.trunks for number in it.vlans]
    for gateway in plan.gateways:
        requests.append(links.bridge_vlan(bridge, gateway.vlan))
        requests.append(links.vlan_device(plan.gateway_interface(gateway), bridge, gateway.vlan, ONE_SEGMENT))
    there.kernel.ask_all(requests)


def _ovs_words(plan: SwitchVlans) -> Iterator[list[str]]:
    """Yield the commands of ovs-vsctl for a switch."""
    for port in plan.access:
        yield ["set", "port", port.interface, "vlan_mode=access", f"tag={port.vlan}"]
    for trunk in plan.trunks:
        yield ["set", "port", trunk.interface, "vlan_mode=trunk", f"trunks={','.join(map(str, trunk.vlans))}"]
    for gateway in plan.gateways:
        name = plan.gateway_interface(gateway)
        yield ["add-port", plan.switch, name, "vlan_mode=access", f"tag={gateway.vlan}"]
        yield ["set", "interface", name, "type=internal", f'mac="{_mac(gateway)}"']


def _mac(gateway: Gateway) -> str:
    return _GATEWAY_MAC.format(*divmod(gateway.vlan, 256))


def _ovs_vsctl(words: list[str]) -> str:
    done = subprocess.run(["ovs-vsctl", *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["no reason"]
        raise LabError(f"Open vSwitch refuses the VLANs: {said[-1]}")
    return done.stdout


def _address(there: Namespace, name: str, address: str) -> None:
    """Give an interface its address, bring it up, and switch its offloads off."""
    index = there.index(name)
    there.kernel.ask_all([links.change(index, up=True, max_segments=ONE_SEGMENT), links.add_address(index, address)])
    for offload in SEGMENTATION_OFFLOADS:
        there.set_offload(name, offload, False)


def _count_tags(net: Mininet, network: Network, link: Link) -> None:
    """Add 4 bytes a frame to the shape of trunks whose queues see no tags, so that the rate counts them."""
    assert network.vlans is not None
    if link.overhead_bytes is None:
        return
    for end in link.ends:
        node = net[end.node]
        plan = network.vlans.of_switch(end.node)
        trunk = plan is not None and any(it.interface == end.interface for it in plan.trunks)
        if (trunk or network.vlans.subinterfaces_of(end.interface)) and tags_unseen(node, end.interface):
            options = {**link_options(link), "overhead_bytes": link.overhead_bytes + VLAN_TAG_BYTES}
            shape = {name: options[name] for name in _SHAPE if name in options}
            node.nameToIntf[end.interface].config(**shape)


_SHAPE = ("bw", "delay", "loss", "max_queue_size", "overhead_bytes")


def tags_unseen(node: Node, interface: str) -> bool:
    """Return whether the queue of a trunk's interface sees frames without their tags.

    The kernel carries a tag beside the frame, and puts it in after the queue. Open vSwitch in user space writes whole
    frames, and so does an interface that has no room for a tag beside them (ethtool: tx-vlan-offload).
    """
    if isinstance(node, UserOVS):
        return False
    return isinstance(node, OVSSwitch) or not node.inNamespace or namespace_of(node).carries_tags(interface)


def make_tunnels(net: Mininet, network: Network) -> None:
    """Make the network's tunnels. Raises `LabError` with the kernel's words where it refuses."""
    for tunnel in network.tunnels:
        for mine, theirs in (tunnel.ends, tunnel.ends[::-1]):
            switch = net[mine.switch]
            local, remote = (network.address_of(end.carrier) for end in (mine, theirs))
            inside, outside = namespace_of(switch), namespace_of(net[mine.carrier])
            try:
                # made where its packets leave, and moved to where its frames come from: the kernel remembers both
                outside.kernel.ask(
                    *links.gretap(
                        mine.interface, net.randMac(), tunnel.mtu_bytes, local, remote, fragments=tunnel.fragments
                    )
                )
                outside.kernel.ask(*links.move(outside.index(mine.interface), inside.number))
            except OSError as error:
                raise LabError(
                    f"tunnel {tunnel.label} cannot be made on {mine.carrier}: {error.strerror}; the lab's kernel needs "
                    "GRE that carries Ethernet (CONFIG_NET_IPGRE)"
                ) from None
            LabIntf(mine.interface, node=switch)


def tunnels_of(net: Mininet) -> Places:
    """Return all tunnel ports of switches, as the kernel has them."""
    switches: list[Node] = list(net.switches)
    if not switches:
        return {}
    there = namespace_of(switches[0])
    found = {device.name: device.tunnel for device in links.devices(there.kernel) if device.tunnel}
    if not found:
        return {}
    carriers = {links.namespace_number(there.kernel, namespace_of(host).number): host.name for host in net.hosts}
    return {
        (node.name, name): TunnelState(
            tunnel.local,
            tunnel.remote,
            None if tunnel.namespace is None else carriers.get(tunnel.namespace),
            tunnel.fragments,
        )
        for node in switches
        for name in node.nameToIntf
        if (tunnel := found.get(name))
    }


def pairs(places: Places) -> Iterable[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield the two ports of each tunnel: the local address of one is the remote address of the other."""
    for (place, one), (other_place, other) in combinations(places.items(), 2):
        if (one.local, one.remote) == (other.remote, other.local):
            yield place, other_place
