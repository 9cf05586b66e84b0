"""VLANs of the Linux bridge and VLAN devices (IEEE 802.1Q): the requests that make them, and what dumps of them say.

Numbers are those of linux/if_bridge.h, linux/if_link.h and linux/rtnetlink.h.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from linklab.emulation.netlink import codec
from linklab.emulation.netlink.channel import CREATE, EXCLUSIVE, Netlink
from linklab.emulation.netlink.links import Request
from linklab.network.state import Membership

_NEWLINK, _GETLINK, _SETLINK = 16, 18, 19
_BRIDGE_FAMILY = 7
_LINK = struct.Struct("=BxHiII")
_ATTRIBUTE = struct.Struct("=HH")
_IFLA_IFNAME, _IFLA_LINK, _IFLA_MASTER, _IFLA_LINKINFO = 3, 5, 10, 18
_IFLA_AF_SPEC, _IFLA_EXT_MASK, _IFLA_GSO_MAX_SEGS = 26, 29, 40
_INFO_KIND, _INFO_DATA, _VLAN_ID = 1, 2, 1
_BRIDGE_FLAGS, _BRIDGE_VLAN_INFO, _SELF = 0, 2, 2
_BR_VLAN_FILTERING, _BR_VLAN_DEFAULT_PVID = 7, 39
_VLAN_INFO = struct.Struct("=HH")  # flags, number
_PVID, _UNTAGGED = 2, 4
_WITH_VLANS = 2
_TYPE_MASK = 0x3FFF


@dataclass(frozen=True)
class VlanDevice:
    """An interface for one VLAN of the interface of index `below`."""

    index: int
    name: str
    below: int
    vlan: int


def filtering(bridge: int) -> Request:
    """The bridge, of that index, tells VLANs apart from now on; none of its ports is in one."""
    data = codec.nested(
        _INFO_DATA,
        codec.attribute(_BR_VLAN_FILTERING, b"\x01"),
        codec.attribute(_BR_VLAN_DEFAULT_PVID, struct.pack("=H", 0)),
    )
    info = codec.nested(_IFLA_LINKINFO, codec.text(_INFO_KIND, "bridge"), data)
    return _NEWLINK, _LINK.pack(0, 0, bridge, 0, 0) + info, 0


def access_port(index: int, vlan: int) -> Request:
    """The port is in the VLAN, and its frames have no tags."""
    return _member(index, vlan, _PVID | _UNTAGGED)


def trunk_vlan(index: int, vlan: int) -> Request:
    """The port carries the VLAN, with tags."""
    return _member(index, vlan, 0)


def bridge_vlan(index: int, vlan: int) -> Request:
    """The bridge itself, not a port of it, hears the VLAN: for an address of the switch's own."""
    return _member(index, vlan, 0, _SELF)


def _member(index: int, vlan: int, flags: int, whom: int = 0) -> Request:
    parts = [codec.attribute(_BRIDGE_FLAGS, struct.pack("=H", whom))] if whom else []
    parts.append(codec.attribute(_BRIDGE_VLAN_INFO, _VLAN_INFO.pack(flags, vlan)))
    return _SETLINK, _LINK.pack(_BRIDGE_FAMILY, 0, index, 0, 0) + codec.nested(_IFLA_AF_SPEC, *parts), 0


def device(name: str, below: int, vlan: int, max_segments: int) -> Request:
    """An interface for one VLAN on top of another interface."""
    data = codec.nested(_INFO_DATA, codec.attribute(_VLAN_ID, struct.pack("=H", vlan)))
    info = codec.nested(_IFLA_LINKINFO, codec.text(_INFO_KIND, "vlan"), data)
    body = _LINK.pack(0, 0, 0, 0, 0) + codec.text(_IFLA_IFNAME, name) + codec.number(_IFLA_LINK, below)
    return _NEWLINK, body + codec.number(_IFLA_GSO_MAX_SEGS, max_segments) + info, CREATE | EXCLUSIVE


def devices(kernel: Netlink) -> Iterator[VlanDevice]:
    """All VLAN devices of the namespace."""
    for body in kernel.dump(_GETLINK, _LINK.pack(0, 0, 0, 0, 0)):
        found = codec.attributes(body, _LINK.size)
        kind, data = _info(found)
        if kind == "vlan":
            (vlan,) = struct.unpack_from("=H", data[_VLAN_ID])
            below = codec.number_of(found[_IFLA_LINK])
            yield VlanDevice(_LINK.unpack_from(body)[2], codec.text_of(found[_IFLA_IFNAME]), below, vlan)


def memberships(kernel: Netlink) -> dict[int, Membership]:
    """By index, what the ports of bridges that tell VLANs apart are, and those bridges themselves."""
    apart = {
        _LINK.unpack_from(body)[2]
        for body in kernel.dump(_GETLINK, _LINK.pack(0, 0, 0, 0, 0))
        for kind, data in [_info(codec.attributes(body, _LINK.size))]
        if kind == "bridge" and data.get(_BR_VLAN_FILTERING, b"\0")[0]
    }
    found: dict[int, Membership] = {}
    asked = _LINK.pack(_BRIDGE_FAMILY, 0, 0, 0, 0) + codec.number(_IFLA_EXT_MASK, _WITH_VLANS)
    for body in kernel.dump(_GETLINK, asked) if apart else ():
        index = _LINK.unpack_from(body)[2]
        about = codec.attributes(body, _LINK.size)
        master = codec.number_of(about[_IFLA_MASTER]) if _IFLA_MASTER in about else index
        if master in apart:
            found[index] = _membership(about.get(_IFLA_AF_SPEC, b""))
    return found


def _membership(spec: bytes) -> Membership:
    """Each VLAN is an attribute of the same kind, so `codec.attributes` would keep the last alone."""
    untagged, tagged = None, []
    start = 0
    while start + _ATTRIBUTE.size <= len(spec):
        length, kind = _ATTRIBUTE.unpack_from(spec, start)
        if length < _ATTRIBUTE.size:
            break
        if kind & _TYPE_MASK == _BRIDGE_VLAN_INFO:
            flags, number = _VLAN_INFO.unpack_from(spec, start + _ATTRIBUTE.size)
            if flags & _PVID:
                untagged = number
            if not flags & _UNTAGGED:
                tagged.append(number)
        start += (length + 3) & ~3
    return Membership(untagged, tuple(sorted(tagged)))


def _info(found: dict[int, bytes]) -> tuple[str, dict[int, bytes]]:
    """The kind of a device, and what its kind has to say."""
    info = codec.attributes(found.get(_IFLA_LINKINFO, b""))
    return codec.text_of(info.get(_INFO_KIND, b"")), codec.attributes(info.get(_INFO_DATA, b""))
