"""Links, addresses, routes and neighbours: the requests that make them, and what dumps of them say.

Numbers are those of linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h and linux/neighbour.h.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from linklab.emulation.netlink import codec
from linklab.emulation.netlink.channel import CREATE, EXCLUSIVE, REPLACE, Netlink

Request = tuple[int, bytes, int]

_NEWLINK, _DELLINK, _GETLINK = 16, 17, 18
_NEWADDR, _DELADDR, _GETADDR = 20, 21, 22
_NEWROUTE, _DELROUTE, _GETROUTE = 24, 25, 26
_NEWNEIGH, _SETNEIGHTBL = 28, 67

_LINK = struct.Struct("=BxHiII")  # family, type, index, flags, mask of the flags to change
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MTU, _IFLA_MASTER, _IFLA_OPERSTATE = 1, 3, 4, 10, 16
_IFLA_LINKINFO, _IFLA_NET_NS_FD, _IFLA_EXT_MASK, _IFLA_GSO_MAX_SEGS = 18, 28, 29, 40
_INFO_KIND, _INFO_DATA, _VETH_PEER, _BR_MCAST_SNOOPING = 1, 2, 1, 23
_IFF_UP = 1
_NO_COUNTERS = 8
_LOWER_LAYER_DOWN, _UNDECIDED = 3, (0, 2)  # RFC 2863: lowerLayerDown; unknown and down

_ADDRESS = struct.Struct("=BBBBI")  # family, prefix length, flags, scope, interface index
_IFA_ADDRESS, _IFA_LOCAL, _IFA_BROADCAST = 1, 2, 4

_ROUTE = struct.Struct("=BBBBBBBBI")  # family, prefix lengths of destination and source, tos, table, ...
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_TABLE = 1, 4, 5, 15
_MAIN_TABLE, _BY_THE_KERNEL, _BY_STATIC, _UNICAST = 254, 2, 4, 1
_UNIVERSE, _LINK_SCOPE = 0, 253

_NEIGHBOUR = struct.Struct("=BxxxiHBB")  # family, interface index, state, flags, type
_NDA_DST, _NDA_LLADDR = 1, 2
_REACHABLE, _LEARNED_ELSEWHERE = 0x02, 0x10
_NDTA_NAME, _NDTA_PARAMETERS, _NDTPA_IFINDEX, _NDTPA_BASE_REACHABLE_TIME = 1, 6, 1, 4
REACHABLE_MS = 10**9
"""For how long a neighbour that has answered counts as reachable: longer than any lab."""


@dataclass(frozen=True)
class Device:
    """A network interface as the kernel has it.

    `alone`: the other end of its cable is not up or not there. `settling`: the kernel has not looked at the cable
    yet, which it does up to a second after a change; until then a bridge passes nothing on to this port.
    `kind` is what made it: ``veth``, ``vlan``, ``bridge``, or nothing for the loopback interface.
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


@dataclass(frozen=True)
class RouteEntry:
    """A route of the main table. `by_kernel`: made with an address, by no one's wish. A route that refuses packets
    (blackhole, unreachable) has no `index`, which is 0 then.
    """

    destination: str
    via: str | None
    index: int
    by_kernel: bool


def veth(
    name: str, mac: str | None, peer: str, peer_mac: str | None, peer_namespace: int, max_segments: int
) -> Request:
    """A cable: `name` here and `peer` in the namespace of that descriptor.

    `max_segments` bounds how many TCP segments one packet may carry, at both ends.
    """
    far = _LINK.pack(0, 0, 0, 0, 0) + _ends(peer, peer_mac, max_segments)
    far += codec.number(_IFLA_NET_NS_FD, peer_namespace)
    info = codec.nested(
        _IFLA_LINKINFO,
        codec.text(_INFO_KIND, "veth"),
        codec.nested(_INFO_DATA, codec.attribute(_VETH_PEER, far)),
    )
    near = _ends(name, mac, max_segments)
    return _NEWLINK, _LINK.pack(0, 0, 0, 0, 0) + near + info, CREATE | EXCLUSIVE


def _ends(name: str, mac: str | None, max_segments: int) -> bytes:
    own = codec.mac(_IFLA_ADDRESS, mac) if mac else b""
    return codec.text(_IFLA_IFNAME, name) + own + codec.number(_IFLA_GSO_MAX_SEGS, max_segments)


def bridge(name: str) -> Request:
    """A Linux bridge without ports.

    It floods multicast: a bridge that snoops joins a group itself, and its IGMP reports would be traffic.
    """
    data = codec.nested(_INFO_DATA, codec.attribute(_BR_MCAST_SNOOPING, b"\x00"))
    info = codec.nested(_IFLA_LINKINFO, codec.text(_INFO_KIND, "bridge"), data)
    return _NEWLINK, _LINK.pack(0, 0, 0, 0, 0) + codec.text(_IFLA_IFNAME, name) + info, CREATE | EXCLUSIVE


def change(
    index: int,
    *,
    up: bool | None = None,
    mac: str | None = None,
    mtu_bytes: int | None = None,
    master: int | None = None,
    max_segments: int | None = None,
) -> Request:
    """Changes what is given of an interface; `master` is the index of the bridge that it joins."""
    body = _LINK.pack(0, 0, index, _IFF_UP if up else 0, 0 if up is None else _IFF_UP)
    if mac is not None:
        body += codec.mac(_IFLA_ADDRESS, mac)
    for kind, value in ((_IFLA_MTU, mtu_bytes), (_IFLA_MASTER, master), (_IFLA_GSO_MAX_SEGS, max_segments)):
        if value is not None:
            body += codec.number(kind, value)
    return _NEWLINK, body, 0


def remove(index: int) -> Request:
    """Removes an interface, of a cable both ends."""
    return _DELLINK, _LINK.pack(0, 0, index, 0, 0), 0


def add_address(index: int, address: str) -> Request:
    """Gives an interface an address, ``"10.0.0.2/24"``."""
    ip, length = _split(address)
    body = _ADDRESS.pack(socket.AF_INET, length, 0, 0, index)
    body += codec.address(_IFA_LOCAL, ip) + codec.address(_IFA_ADDRESS, ip)
    if length < 31:
        body += codec.address(_IFA_BROADCAST, str(ipaddress.IPv4Network(address, strict=False).broadcast_address))
    return _NEWADDR, body, CREATE | REPLACE


def remove_address(index: int, address: str) -> Request:
    """Takes an address away."""
    ip, length = _split(address)
    return _DELADDR, _ADDRESS.pack(socket.AF_INET, length, 0, 0, index) + codec.address(_IFA_LOCAL, ip), 0


def _split(address: str) -> tuple[str, int]:
    ip, _, length = address.partition("/")
    return ip, int(length or 32)


def route(destination: str, via: str | None, index: int) -> Request:
    """A route, in place of one to the same destination; ``0.0.0.0/0`` is the default route."""
    return _NEWROUTE, _route(destination, via, index), CREATE | REPLACE


def remove_route(destination: str, via: str | None, index: int) -> Request:
    """Takes a route away."""
    return _DELROUTE, _route(destination, via, index), 0


def _route(destination: str, via: str | None, index: int) -> bytes:
    network, length = _split(destination)
    scope = _UNIVERSE if via else _LINK_SCOPE
    body = _ROUTE.pack(socket.AF_INET, length, 0, 0, _MAIN_TABLE, _BY_STATIC, scope, _UNICAST, 0)
    body += codec.address(_RTA_DST, network) if length else b""
    body += codec.address(_RTA_GATEWAY, via) if via else b""
    return body + codec.number(_RTA_OIF, index)


def neighbour(index: int, address: str, mac: str) -> Request:
    """A neighbour that needs no ARP: that would be traffic in the midst of a measurement.

    It is no permanent one: ARP changes it where the address moves, and ``ip neigh flush`` removes it. The kernel keeps
    one table for all namespaces; entries marked as learned elsewhere do not count against its size.
    """
    body = _NEIGHBOUR.pack(socket.AF_INET, index, _REACHABLE, _LEARNED_ELSEWHERE, 0)
    return _NEWNEIGH, body + codec.address(_NDA_DST, address) + codec.mac(_NDA_LLADDR, mac), CREATE | REPLACE


def keep_neighbours(index: int) -> Request:
    """What this interface knows of its neighbours does not go stale; to ask again would be traffic, too."""
    parameters = codec.nested(
        _NDTA_PARAMETERS,
        codec.number(_NDTPA_IFINDEX, index),
        codec.attribute(_NDTPA_BASE_REACHABLE_TIME, struct.pack("=Q", REACHABLE_MS)),
    )
    return (
        _SETNEIGHTBL,
        struct.pack("=Bxxx", socket.AF_INET) + codec.text(_NDTA_NAME, "arp_cache") + parameters,
        REPLACE,
    )


def devices(kernel: Netlink) -> Iterator[Device]:
    """All interfaces of the namespace."""
    for body in kernel.dump(_GETLINK, _LINK.pack(0, 0, 0, 0, 0) + codec.number(_IFLA_EXT_MASK, _NO_COUNTERS)):
        _, _, index, flags, _ = _LINK.unpack_from(body)
        found = codec.attributes(body, _LINK.size)
        yield Device(
            index=index,
            name=codec.text_of(found[_IFLA_IFNAME]),
            mac=found.get(_IFLA_ADDRESS, b"").hex(":"),
            mtu_bytes=codec.number_of(found[_IFLA_MTU]),
            up=bool(flags & _IFF_UP),
            alone=found[_IFLA_OPERSTATE][0] == _LOWER_LAYER_DOWN,
            settling=bool(flags & _IFF_UP) and found[_IFLA_OPERSTATE][0] in _UNDECIDED,
            gso_max_segs=codec.number_of(found[_IFLA_GSO_MAX_SEGS]),
            kind=codec.text_of(codec.attributes(found.get(_IFLA_LINKINFO, b"")).get(_INFO_KIND, b"")),
        )


def addresses(kernel: Netlink) -> Iterator[tuple[int, str]]:
    """Interface index and address of every IPv4 address, ``"10.0.0.2/24"``."""
    for body in kernel.dump(_GETADDR, _ADDRESS.pack(socket.AF_INET, 0, 0, 0, 0)):
        _, prefix_length, _, _, index = _ADDRESS.unpack_from(body)
        found = codec.attributes(body, _ADDRESS.size)
        yield index, f"{socket.inet_ntoa(found.get(_IFA_LOCAL) or found[_IFA_ADDRESS])}/{prefix_length}"


def routes(kernel: Netlink) -> Iterator[RouteEntry]:
    """All IPv4 routes of the main table."""
    for body in kernel.dump(_GETROUTE, _ROUTE.pack(socket.AF_INET, 0, 0, 0, 0, 0, 0, 0, 0)):
        _, length, _, _, table, protocol, *_ = _ROUTE.unpack_from(body)
        found = codec.attributes(body, _ROUTE.size)
        if codec.number_of(found[_RTA_TABLE]) != _MAIN_TABLE if _RTA_TABLE in found else table != _MAIN_TABLE:
            continue
        yield RouteEntry(
            destination=f"{socket.inet_ntoa(found.get(_RTA_DST, bytes(4)))}/{length}",
            via=socket.inet_ntoa(found[_RTA_GATEWAY]) if _RTA_GATEWAY in found else None,
            index=codec.number_of(found[_RTA_OIF]) if _RTA_OIF in found else 0,
            by_kernel=protocol == _BY_THE_KERNEL,
        )
