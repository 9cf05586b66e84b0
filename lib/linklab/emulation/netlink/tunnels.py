"""GRE tunnels that carry Ethernet (gretap): made, and read back. Numbers are those of linux/if_tunnel.h."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from linklab.emulation.netlink import codec
from linklab.emulation.netlink.channel import CREATE, EXCLUSIVE, Netlink
from linklab.emulation.netlink.links import Request

_NEWLINK, _GETLINK, _GETNSID = 16, 18, 90
_LINK = struct.Struct("=BxHiII")
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MTU, _IFLA_LINKINFO, _IFLA_NET_NS_FD, _IFLA_LINK_NETNSID = 1, 3, 4, 18, 28, 37
_INFO_KIND, _INFO_DATA = 1, 2
_GRE_LOCAL, _GRE_REMOTE, _GRE_PMTUDISC, _GRE_IGNORE_DF = 6, 7, 10, 19
_NSID, _NSID_OF_DESCRIPTOR = 1, 3
_FAMILY = struct.Struct("=Bxxx")


@dataclass(frozen=True)
class GreDevice:
    """A tunnel's port as the kernel has it. `namespace` is the number that this namespace gives the one in which the
    packets outside live; None: it is this one.
    """

    index: int
    local: str
    remote: str
    fragments: bool
    namespace: int | None


def gretap(name: str, mac: str, mtu_bytes: int, local: str, remote: str, *, fragments: bool) -> Request:
    """A tunnel's port between two addresses of this namespace's network.

    With `fragments` the packets outside may be cut in pieces, also where the one inside says that it must not be
    (as UDP's of Linux do): both of Linux's switches, nopmtudisc and ignore-df.
    """
    data = codec.nested(
        _INFO_DATA,
        codec.address(_GRE_LOCAL, local),
        codec.address(_GRE_REMOTE, remote),
        codec.attribute(_GRE_PMTUDISC, bytes([not fragments])),
        codec.attribute(_GRE_IGNORE_DF, bytes([fragments])),
    )
    body = _LINK.pack(0, 0, 0, 0, 0) + codec.text(_IFLA_IFNAME, name) + codec.mac(_IFLA_ADDRESS, mac)
    body += codec.number(_IFLA_MTU, mtu_bytes)
    return (
        _NEWLINK,
        body + codec.nested(_IFLA_LINKINFO, codec.text(_INFO_KIND, "gretap"), data),
        CREATE | EXCLUSIVE,
    )


def move(index: int, namespace: int) -> Request:
    """Moves an interface to the namespace of that descriptor. A tunnel's packets stay in the network it was made in."""
    return _NEWLINK, _LINK.pack(0, 0, index, 0, 0) + codec.number(_IFLA_NET_NS_FD, namespace), 0


def gre_devices(kernel: Netlink) -> Iterator[GreDevice]:
    """The ports of all tunnels that carry Ethernet and end in this namespace."""
    for body in kernel.dump(_GETLINK, _LINK.pack(0, 0, 0, 0, 0)):
        _, _, index, _, _ = _LINK.unpack_from(body)
        found = codec.attributes(body, _LINK.size)
        info = codec.attributes(found.get(_IFLA_LINKINFO, b""))
        if codec.text_of(info.get(_INFO_KIND, b"")) != "gretap" or _INFO_DATA not in info:
            continue
        data = codec.attributes(info[_INFO_DATA])
        yield GreDevice(
            index=index,
            local=socket.inet_ntoa(data[_GRE_LOCAL]),
            remote=socket.inet_ntoa(data[_GRE_REMOTE]),
            fragments=not data[_GRE_PMTUDISC][0] and bool(data.get(_GRE_IGNORE_DF, b"\0")[0]),
            namespace=codec.number_of(found[_IFLA_LINK_NETNSID]) if _IFLA_LINK_NETNSID in found else None,
        )


def namespace_number(kernel: Netlink, namespace: int) -> int | None:
    """What number this namespace gives the one of that descriptor; None where it has none yet."""
    body = kernel.question(_GETNSID, _FAMILY.pack(0) + codec.number(_NSID_OF_DESCRIPTOR, namespace))
    (number,) = struct.unpack("=i", codec.attributes(body, _FAMILY.size)[_NSID])
    return None if number < 0 else int(number)
