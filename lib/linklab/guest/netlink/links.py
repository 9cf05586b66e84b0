"""Links, addresses, routes, neighbours, VLANs and tunnels: the requests that make them, and what dumps of them say.

Numbers are those of linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h, linux/neighbour.h, linux/if_bridge.h (VLANs of
the Linux bridge, IEEE 802.1Q) and linux/if_tunnel.h (GRE tunnels that carry Ethernet: gretap).
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from linklab.guest.netlink import socket as netlink
from linklab.guest.netlink.socket import CREATE, EXCLUSIVE, REPLACE, Netlink
from linklab.network.state import Membership

Request = tuple[int, bytes, int]

_NEWLINK, _DELLINK, _GETLINK, _SETLINK, _GETNSID = 16, 17, 18, 19, 90
_NEWADDR, _DELADDR, _GETADDR = 20, 21, 22
_NEWROUTE, _DELROUTE, _GETROUTE = 24, 25, 26
_NEWNEIGH, _SETNEIGHTBL = 28, 67

_LINK = struct.Struct("=BxHiII")  # family, type, index, flags, mask of the flags to change
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MTU, _IFLA_LINK, _IFLA_MASTER, _IFLA_OPERSTATE = 1, 3, 4, 5, 10, 16
_IFLA_LINKINFO, _IFLA_AF_SPEC, _IFLA_NET_NS_FD, _IFLA_EXT_MASK, _IFLA_LINK_NETNSID = 18, 26, 28, 29, 37
_IFLA_GSO_MAX_SEGS = 40
_INFO_KIND, _INFO_DATA, _VETH_PEER, _BR_MCAST_SNOOPING = 1, 2, 1, 23
_IFF_UP = 1
_NO_COUNTERS = 8
_LOWER_LAYER_DOWN, _UNDECIDED = 3, (0, 2)  # RFC 2863: lowerLayerDown; unknown and down

_ADDRESS = struct.Struct("=BBBBI")  # family, prefix length, flags, scope, interface index
_IFA_ADDRESS, _IFA_LOCAL, _IFA_BROADCAST = 1, 2, 4
_NO_DAD = 0x02
_FAMILIES = (socket.AF_INET, socket.AF_INET6)

_ROUTE = struct.Struct("=BBBBBBBBI")  # family, prefix lengths of destination and source, tos, table, ...
_NEXT_HOP = struct.Struct("=HBBi")  # length with the attributes behind it, flags, weight, interface index
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_MULTIPATH, _RTA_TABLE = 1, 4, 5, 9, 15
_MAIN_TABLE, _BY_THE_KERNEL, _BY_STATIC, _UNICAST = 254, 2, 4, 1
_UNIVERSE, _LINK_SCOPE = 0, 253

_NEIGHBOUR = struct.Struct("=BxxxiHBB")  # family, interface index, state, flags, type
_NDA_DST, _NDA_LLADDR = 1, 2
_REACHABLE, _LEARNED_ELSEWHERE = 0x02, 0x10
_NDTA_NAME, _NDTA_PARAMETERS, _NDTPA_IFINDEX, _NDTPA_BASE_REACHABLE_TIME = 1, 6, 1, 4
_NEIGHBOUR_TABLES = {socket.AF_INET: "arp_cache", socket.AF_INET6: "ndisc_cache"}
REACHABLE_MS = 10**9
"""For how long a neighbour that has answered counts as reachable: longer than any lab."""

_BRIDGE_FAMILY, _WITH_VLANS = 7, 2
_VLAN_ID, _VLAN_PROTOCOL, _PROTOCOL_8021Q = 1, 5, b"\x81\x00"
_INET_CONF, _FORWARDING_SET = 1, struct.Struct("=I")  # of all settings of IPv4 at an interface, forwarding is the first
_BRIDGE_FLAGS, _BRIDGE_VLAN_INFO, _SELF = 0, 2, 2
_BR_VLAN_FILTERING, _BR_VLAN_DEFAULT_PVID = 7, 39
_VLAN_INFO = struct.Struct("=HH")  # flags, number
_PVID, _UNTAGGED = 2, 4

_GRE_LOCAL, _GRE_REMOTE, _GRE_PMTUDISC, _GRE_IGNORE_DF = 6, 7, 10, 19
_NSID, _NSID_OF_DESCRIPTOR = 1, 3
_FAMILY = struct.Struct("=Bxxx")


@dataclass(frozen=True)
class Device:
    """A network interface as the kernel has it.

    `alone`: the other end of its cable is not up or not there. `settling`: the kernel has not looked at the cable
    yet, which it does up to a second after a change; until then a bridge passes nothing on to this port.
    `kind` is what made it: ``veth``, ``vlan``, ``bridge``, ``gretap``, or nothing for the loopback interface.
    `vlan` is the VLAN (802.1Q) of an interface for one, on top of the interface of index `below`. `forwards`: IPv4
    packets that come in here are passed on. `tells_vlans_apart` is a bridge's setting. `tunnel` is what a tunnel's port
    knows of its tunnel.
    """

    index: int
    name: str
    mac: str
    mtu_bytes: int
    up: bool
    alone: bool
    settling: bool
    gso_max_segs: int
    kind: str
    below: int
    vlan: int | None
    forwards: bool
    tells_vlans_apart: bool
    tunnel: GreTunnel | None


@dataclass(frozen=True)
class RouteEntry:
    """A route of the main table by one next hop: a route of equal paths is an entry for each of them.

    `by_kernel`: made with an address, by nobody. A route that refuses packets (blackhole, unreachable) has no `index`,
    which is 0 then.
    """

    destination: str
    via: str | None
    index: int
    by_kernel: bool


@dataclass(frozen=True)
class GreTunnel:
    """The tunnel of a port that carries Ethernet. `namespace` is the number that this namespace gives the one in which
    the packets outside live; None: it is this one.
    """

    local: str
    remote: str
    fragments: bool
    namespace: int | None


def veth(
    name: str, mac: str | None, peer: str, peer_mac: str | None, peer_namespace: int, max_segments: int
) -> Request:
    """Make a cable: `name` here and `peer` in the namespace of that descriptor.

    `max_segments` bounds how many TCP segments one packet may carry, at both ends.
    """
    far = _LINK.pack(0, 0, 0, 0, 0) + _ends(peer, peer_mac, max_segments)
    far += netlink.number(_IFLA_NET_NS_FD, peer_namespace)
    info = netlink.nested(
        _IFLA_LINKINFO,
        netlink.text(_INFO_KIND, "veth"),
        netlink.nested(_INFO_DATA, netlink.attribute(_VETH_PEER, far)),
    )
    near = _ends(name, mac, max_segments)
    return _NEWLINK, _LINK.pack(0, 0, 0, 0, 0) + near + info, CREATE | EXCLUSIVE


def _ends(name: str, mac: str | None, max_segments: int) -> bytes:
    own = netlink.mac(_IFLA_ADDRESS, mac) if mac else b""
    return netlink.text(_IFLA_IFNAME, name) + own + netlink.number(_IFLA_GSO_MAX_SEGS, max_segments)


def bridge(name: str) -> Request:
    """Make a Linux bridge without ports.

    It floods multicast: a bridge that snoops joins a group itself, and its IGMP reports would be traffic.
    """
    data = netlink.nested(_INFO_DATA, netlink.attribute(_BR_MCAST_SNOOPING, b"\x00"))
    info = netlink.nested(_IFLA_LINKINFO, netlink.text(_INFO_KIND, "bridge"), data)
    return _NEWLINK, _LINK.pack(0, 0, 0, 0, 0) + netlink.text(_IFLA_IFNAME, name) + info, CREATE | EXCLUSIVE


def change(
    index: int,
    *,
    up: bool | None = None,
    mac: str | None = None,
    mtu_bytes: int | None = None,
    master: int | None = None,
    max_segments: int | None = None,
) -> Request:
    """Change those properties of an interface that are given; `master` is the index of the bridge that it joins."""
    body = _LINK.pack(0, 0, index, _IFF_UP if up else 0, 0 if up is None else _IFF_UP)
    if mac is not None:
        body += netlink.mac(_IFLA_ADDRESS, mac)
    for kind, value in ((_IFLA_MTU, mtu_bytes), (_IFLA_MASTER, master), (_IFLA_GSO_MAX_SEGS, max_segments)):
        if value is not None:
            body += netlink.number(kind, value)
    return _NEWLINK, body, 0


def remove(index: int) -> Request:
    """Remove an interface, of a cable both ends."""
    return _DELLINK, _LINK.pack(0, 0, index, 0, 0), 0


def add_address(index: int, address: str) -> Request:
    """Give an interface an address, ``"10.0.0.2/24"``; one of IPv6 at once, without asking whether another has it."""
    ip, length = _split(address)
    family = netlink.family_of(ip)
    body = _ADDRESS.pack(family, length, 0 if family == socket.AF_INET else _NO_DAD, 0, index)
    body += netlink.address(_IFA_LOCAL, ip) + netlink.address(_IFA_ADDRESS, ip)
    if family == socket.AF_INET and length < 31:
        body += netlink.address(_IFA_BROADCAST, str(ipaddress.IPv4Network(address, strict=False).broadcast_address))
    return _NEWADDR, body, CREATE | REPLACE


def remove_address(index: int, address: str) -> Request:
    """Remove an address."""
    ip, length = _split(address)
    return _DELADDR, _ADDRESS.pack(netlink.family_of(ip), length, 0, 0, index) + netlink.address(_IFA_LOCAL, ip), 0


def _split(address: str) -> tuple[str, int]:
    ip, _, length = address.partition("/")
    return ip, int(length or (128 if ":" in ip else 32))


def route(destination: str, via: str | None, index: int) -> Request:
    """Add a route, in place of one to the same destination; ``0.0.0.0/0`` or ``::/0`` is the default route."""
    return _NEWROUTE, _route(destination, via, index), CREATE | REPLACE


def remove_route(destination: str, via: str | None, index: int) -> Request:
    """Remove a route."""
    return _DELROUTE, _route(destination, via, index), 0


def _route(destination: str, via: str | None, index: int) -> bytes:
    network, length = _split(destination)
    scope = _UNIVERSE if via else _LINK_SCOPE
    body = _ROUTE.pack(netlink.family_of(network), length, 0, 0, _MAIN_TABLE, _BY_STATIC, scope, _UNICAST, 0)
    body += netlink.address(_RTA_DST, network) if length else b""
    body += netlink.address(_RTA_GATEWAY, via) if via else b""
    return body + netlink.number(_RTA_OIF, index)


def neighbour(index: int, address: str, mac: str) -> Request:
    """Add a neighbour that needs no ARP, or NDP for IPv6: that would be traffic in the midst of a measurement.

    It is no permanent one: ARP changes it where the address moves, and ``ip neigh flush`` removes it. The kernel keeps
    one table for all namespaces; entries marked as learned elsewhere do not count against its size.
    """
    body = _NEIGHBOUR.pack(netlink.family_of(address), index, _REACHABLE, _LEARNED_ELSEWHERE, 0)
    return _NEWNEIGH, body + netlink.address(_NDA_DST, address) + netlink.mac(_NDA_LLADDR, mac), CREATE | REPLACE


def keep_neighbours(index: int, family: socket.AddressFamily) -> Request:
    """Keep what an interface knows of its neighbours from going stale; to ask again would be traffic, too."""
    parameters = netlink.nested(
        _NDTA_PARAMETERS,
        netlink.number(_NDTPA_IFINDEX, index),
        netlink.attribute(_NDTPA_BASE_REACHABLE_TIME, struct.pack("=Q", REACHABLE_MS)),
    )
    return (
        _SETNEIGHTBL,
        struct.pack("=Bxxx", family) + netlink.text(_NDTA_NAME, _NEIGHBOUR_TABLES[family]) + parameters,
        REPLACE,
    )


def devices(kernel: Netlink) -> Iterator[Device]:
    """Yield all interfaces of the namespace."""
    for body in kernel.dump(_GETLINK, _LINK.pack(0, 0, 0, 0, 0) + netlink.number(_IFLA_EXT_MASK, _NO_COUNTERS)):
        _, _, index, flags, _ = _LINK.unpack_from(body)
        found = netlink.attributes(body, _LINK.size)
        info = netlink.attributes(found.get(_IFLA_LINKINFO, b""))
        kind, data = netlink.text_of(info.get(_INFO_KIND, b"")), netlink.attributes(info.get(_INFO_DATA, b""))
        yield Device(
            index=index,
            name=netlink.text_of(found[_IFLA_IFNAME]),
            mac=found.get(_IFLA_ADDRESS, b"").hex(":"),
            mtu_bytes=netlink.number_of(found[_IFLA_MTU]),
            up=bool(flags & _IFF_UP),
            alone=found[_IFLA_OPERSTATE][0] == _LOWER_LAYER_DOWN,
            settling=bool(flags & _IFF_UP) and found[_IFLA_OPERSTATE][0] in _UNDECIDED,
            gso_max_segs=netlink.number_of(found[_IFLA_GSO_MAX_SEGS]),
            kind=kind,
            below=netlink.number_of(found[_IFLA_LINK]) if _IFLA_LINK in found else 0,
            vlan=_vlan(data) if kind == "vlan" else None,
            forwards=_forwards(found),
            tells_vlans_apart=kind == "bridge" and data.get(_BR_VLAN_FILTERING, b"\0") != b"\0",
            tunnel=_tunnel(data, found) if kind == "gretap" and data else None,
        )


def _vlan(data: dict[int, bytes]) -> int | None:
    """Return the VLAN of an interface for one; None where its tags are another protocol's, such as 802.1ad."""
    if data.get(_VLAN_PROTOCOL, _PROTOCOL_8021Q) != _PROTOCOL_8021Q:
        return None
    return int(struct.unpack_from("=H", data[_VLAN_ID])[0])


def _forwards(device: dict[int, bytes]) -> bool:
    settings = netlink.attributes(netlink.attributes(device.get(_IFLA_AF_SPEC, b"")).get(socket.AF_INET, b""))
    return _INET_CONF in settings and _FORWARDING_SET.unpack_from(settings[_INET_CONF])[0] != 0


def _tunnel(data: dict[int, bytes], device: dict[int, bytes]) -> GreTunnel:
    return GreTunnel(
        local=socket.inet_ntoa(data[_GRE_LOCAL]),
        remote=socket.inet_ntoa(data[_GRE_REMOTE]),
        fragments=not data[_GRE_PMTUDISC][0] and bool(data.get(_GRE_IGNORE_DF, b"\0")[0]),
        namespace=netlink.number_of(device[_IFLA_LINK_NETNSID]) if _IFLA_LINK_NETNSID in device else None,
    )


def addresses(kernel: Netlink) -> Iterator[tuple[int, str]]:
    """Yield the interface's index and the address of every address, ``"10.0.0.2/24"``, IPv4 first.

    Link-local addresses of IPv6 are left out: nobody gives them, the kernel makes one for each interface.
    """
    for body in kernel.dump(_GETADDR, _ADDRESS.pack(socket.AF_UNSPEC, 0, 0, 0, 0)):
        family, prefix_length, _, scope, index = _ADDRESS.unpack_from(body)
        found = netlink.attributes(body, _ADDRESS.size)
        if family in _FAMILIES and (family, scope) != (socket.AF_INET6, _LINK_SCOPE):
            yield index, f"{netlink.address_in(found.get(_IFA_LOCAL) or found[_IFA_ADDRESS])}/{prefix_length}"


def routes(kernel: Netlink) -> Iterator[RouteEntry]:
    """Yield all routes of the main table, those of IPv4 first."""
    for body in kernel.dump(_GETROUTE, _ROUTE.pack(socket.AF_UNSPEC, 0, 0, 0, 0, 0, 0, 0, 0)):
        family, length, _, _, table, protocol, *_ = _ROUTE.unpack_from(body)
        if family not in _FAMILIES:
            continue
        found = netlink.attributes(body, _ROUTE.size)
        if netlink.number_of(found[_RTA_TABLE]) != _MAIN_TABLE if _RTA_TABLE in found else table != _MAIN_TABLE:
            continue
        every = bytes(4 if family == socket.AF_INET else 16)
        destination = f"{netlink.address_in(found.get(_RTA_DST, every))}/{length}"
        for via, index in _next_hops(found):
            yield RouteEntry(destination, via, index, by_kernel=protocol == _BY_THE_KERNEL)


def _next_hops(route: dict[int, bytes]) -> Iterator[tuple[str | None, int]]:
    """Yield address and interface's index of each next hop of a route."""
    several = route.get(_RTA_MULTIPATH, b"")
    if not several:
        yield _gateway(route), netlink.number_of(route[_RTA_OIF]) if _RTA_OIF in route else 0
    while several:
        length, _, _, index = _NEXT_HOP.unpack_from(several)
        yield _gateway(netlink.attributes(several[:length], _NEXT_HOP.size)), index
        several = several[(length + 3) & ~3 :]


def _gateway(found: dict[int, bytes]) -> str | None:
    return netlink.address_in(found[_RTA_GATEWAY]) if _RTA_GATEWAY in found else None


def filter_vlans(bridge: int) -> Request:
    """Make a bridge filter by VLAN; none of its ports is in a VLAN then."""
    data = netlink.nested(
        _INFO_DATA,
        netlink.attribute(_BR_VLAN_FILTERING, b"\x01"),
        netlink.attribute(_BR_VLAN_DEFAULT_PVID, struct.pack("=H", 0)),
    )
    info = netlink.nested(_IFLA_LINKINFO, netlink.text(_INFO_KIND, "bridge"), data)
    return _NEWLINK, _LINK.pack(0, 0, bridge, 0, 0) + info, 0


def access_port(index: int, vlan: int) -> Request:
    """Put a port into a VLAN; its frames have no tags."""
    return _member(index, vlan, _PVID | _UNTAGGED)


def trunk_vlan(index: int, vlan: int) -> Request:
    """Make a port carry a VLAN, with tags."""
    return _member(index, vlan, 0)


def bridge_vlan(index: int, vlan: int) -> Request:
    """Make the bridge itself a member of a VLAN, for an address of the switch's own."""
    return _member(index, vlan, 0, _SELF)


def _member(index: int, vlan: int, flags: int, whom: int = 0) -> Request:
    parts = [netlink.attribute(_BRIDGE_FLAGS, struct.pack("=H", whom))] if whom else []
    parts.append(netlink.attribute(_BRIDGE_VLAN_INFO, _VLAN_INFO.pack(flags, vlan)))
    return _SETLINK, _LINK.pack(_BRIDGE_FAMILY, 0, index, 0, 0) + netlink.nested(_IFLA_AF_SPEC, *parts), 0


def vlan_device(name: str, below: int, vlan: int, max_segments: int) -> Request:
    """Make an interface for one VLAN on top of another interface."""
    data = netlink.nested(_INFO_DATA, netlink.attribute(_VLAN_ID, struct.pack("=H", vlan)))
    info = netlink.nested(_IFLA_LINKINFO, netlink.text(_INFO_KIND, "vlan"), data)
    body = _LINK.pack(0, 0, 0, 0, 0) + netlink.text(_IFLA_IFNAME, name) + netlink.number(_IFLA_LINK, below)
    return _NEWLINK, body + netlink.number(_IFLA_GSO_MAX_SEGS, max_segments) + info, CREATE | EXCLUSIVE


def memberships(kernel: Netlink, bridges: set[int]) -> dict[int, Membership]:
    """Return by index what the ports of these bridges are, and the bridges themselves."""
    found: dict[int, Membership] = {}
    asked = _LINK.pack(_BRIDGE_FAMILY, 0, 0, 0, 0) + netlink.number(_IFLA_EXT_MASK, _WITH_VLANS)
    for body in kernel.dump(_GETLINK, asked) if bridges else ():
        index = _LINK.unpack_from(body)[2]
        about = netlink.attributes(body, _LINK.size)
        master = netlink.number_of(about[_IFLA_MASTER]) if _IFLA_MASTER in about else index
        if master in bridges:
            found[index] = _membership(about.get(_IFLA_AF_SPEC, b""))
    return found


def _membership(spec: bytes) -> Membership:
    """Read a port's VLANs: all are attributes of one kind, of which `netlink.attributes` would keep the last."""
    untagged, tagged, out = None, [], []
    start = 0
    while start + netlink.ATTRIBUTE.size <= len(spec):
        length, kind = netlink.ATTRIBUTE.unpack_from(spec, start)
        if length < netlink.ATTRIBUTE.size:
            break
        if kind & netlink.TYPE_MASK == _BRIDGE_VLAN_INFO:
            flags, number = _VLAN_INFO.unpack_from(spec, start + netlink.ATTRIBUTE.size)
            if flags & _PVID:
                untagged = number
            if not flags & _UNTAGGED:
                tagged.append(number)
            elif not flags & _PVID:
                out.append(number)
        start += (length + 3) & ~3
    return Membership(untagged, tuple(sorted(tagged)), tuple(sorted(out)))


def gretap(name: str, mac: str, mtu_bytes: int, local: str, remote: str, *, fragments: bool) -> Request:
    """Make a tunnel's port between two addresses of this namespace's network.

    With `fragments` routers may cut the packets outside in pieces, also where the packet inside forbids it, as Linux
    does for UDP: ``ip link`` calls the two settings nopmtudisc and ignore-df.
    """
    data = netlink.nested(
        _INFO_DATA,
        netlink.address(_GRE_LOCAL, local),
        netlink.address(_GRE_REMOTE, remote),
        netlink.attribute(_GRE_PMTUDISC, bytes([not fragments])),
        netlink.attribute(_GRE_IGNORE_DF, bytes([fragments])),
    )
    body = _LINK.pack(0, 0, 0, 0, 0) + netlink.text(_IFLA_IFNAME, name) + netlink.mac(_IFLA_ADDRESS, mac)
    body += netlink.number(_IFLA_MTU, mtu_bytes)
    return (
        _NEWLINK,
        body + netlink.nested(_IFLA_LINKINFO, netlink.text(_INFO_KIND, "gretap"), data),
        CREATE | EXCLUSIVE,
    )


def move(index: int, namespace: int) -> Request:
    """Move an interface to the namespace of that descriptor. A tunnel's packets stay in the one it was made in."""
    return _NEWLINK, _LINK.pack(0, 0, index, 0, 0) + netlink.number(_IFLA_NET_NS_FD, namespace), 0


def namespace_number(kernel: Netlink, namespace: int) -> int | None:
    """Return the number that this namespace gives the one of that descriptor; None where it has none yet."""
    body = kernel.question(_GETNSID, _FAMILY.pack(0) + netlink.number(_NSID_OF_DESCRIPTOR, namespace))
    (number,) = struct.unpack("=i", netlink.attributes(body, _FAMILY.size)[_NSID])
    return None if number < 0 else int(number)
