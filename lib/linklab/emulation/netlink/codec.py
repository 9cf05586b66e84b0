"""Netlink attributes, from and to bytes: pure functions (RFC 3549, section 2.2; linux/netlink.h)."""

from __future__ import annotations

import functools
import socket
import struct

_HEADER = struct.Struct("=HH")
_NESTED, _TYPE_MASK = 0x8000, 0x3FFF


def attribute(kind: int, value: bytes) -> bytes:
    """One attribute: length, kind, value, padded to four bytes."""
    length = _HEADER.size + len(value)
    return _HEADER.pack(length, kind) + value + bytes(-length % 4)


def nested(kind: int, *attributes: bytes) -> bytes:
    """An attribute that holds others."""
    return attribute(kind | _NESTED, b"".join(attributes))


def text(kind: int, value: str) -> bytes:
    """A string with its terminating zero."""
    return attribute(kind, value.encode() + b"\0")


def number(kind: int, value: int) -> bytes:
    """An unsigned number of 32 bits."""
    return attribute(kind, struct.pack("=I", value))


@functools.lru_cache(maxsize=4096)
def address(kind: int, value: str) -> bytes:
    """An IPv4 address."""
    return attribute(kind, socket.inet_aton(value))


@functools.lru_cache(maxsize=4096)
def mac(kind: int, value: str) -> bytes:
    """An Ethernet address, written ``02:00:00:00:00:01``."""
    return attribute(kind, bytes.fromhex(value.replace(":", "")))


def attributes(data: bytes, start: int = 0) -> dict[int, bytes]:
    """Kind and value of every attribute from `start` on; of several of one kind, the last."""
    found = {}
    unpack, last = _HEADER.unpack_from, len(data) - _HEADER.size
    while start <= last:
        length, kind = unpack(data, start)
        if length < 4:
            break
        found[kind & _TYPE_MASK] = data[start + 4 : start + length]
        start += (length + 3) & ~3
    return found


def text_of(value: bytes) -> str:
    """The string in an attribute."""
    return value.partition(b"\0")[0].decode(errors="replace")


def number_of(value: bytes) -> int:
    """The number of 32 bits in an attribute."""
    return int(struct.unpack_from("=I", value)[0])
