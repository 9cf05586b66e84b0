"""A netlink socket (requests, acknowledgements, dumps), and netlink's attributes, from and to bytes.

RFC 3549, section 2.2; linux/netlink.h.
"""

from __future__ import annotations

import functools
import os
import socket
import struct
from collections.abc import Iterator

_HEADER = struct.Struct("=IHHII")
REQUEST, ACK, REPLACE, EXCLUSIVE, CREATE = 0x01, 0x04, 0x100, 0x200, 0x400
_DUMP, _DUMP_INTERRUPTED = 0x300, 0x10
_ERROR, _DONE = 2, 3
_CAPPED, _EXTENDED_ACK = 0x100, 0x200
_SOL_NETLINK, _EXT_ACK = 270, 11
_MESSAGE_ATTRIBUTE = 1
_BUFFER_BYTES = 1 << 20
# One send holds as many requests as leave room in the socket's receive buffer if every one of them is refused.
_BATCH_MESSAGES = 128
ATTRIBUTE = struct.Struct("=HH")
_NESTED, TYPE_MASK = 0x8000, 0x3FFF


class Netlink:
    """A socket to the kernel's network configuration, of the namespace in which it is made, wherever it is used."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.setsockopt(_SOL_NETLINK, _EXT_ACK, 1)
        self._number = 0

    def ask(self, kind: int, body: bytes, flags: int = 0) -> None:
        """Send one request to the kernel. Raises OSError with the kernel's own words, or the error's name."""
        self.ask_all([(kind, body, flags)])

    def ask_all(self, requests: list[tuple[int, bytes, int]]) -> None:
        """Send many requests to the kernel, in order; the rest too when one fails. Raises OSError for the first."""
        failure: OSError | None = None
        for start in range(0, len(requests), _BATCH_MESSAGES):
            *batch, last = requests[start : start + _BATCH_MESSAGES]
            messages = [self._message(kind, body, flags) for kind, body, flags in batch]
            messages.append(self._message(last[0], last[1], last[2] | ACK))
            self._socket.send(b"".join(messages))
            for kind, number, flags, body in self._answers(self._number - len(batch)):
                if kind == _ERROR:
                    failure = failure or _failure(kind, flags, body)
                if number == self._number:  # those before it are answered only where they fail
                    break
        if failure is not None:
            raise failure

    def dump(self, kind: int, body: bytes) -> list[bytes]:
        """Return the bodies of all that the kernel has of a kind, as they were at one moment. Raises OSError.

        A list that was changed while the kernel was sending it is asked for again.
        """
        while (found := self._dump(kind, body)) is None:
            pass
        return found

    def _dump(self, kind: int, body: bytes) -> list[bytes] | None:
        """Return the bodies of one dump; None if the list was changed while the kernel was sending it."""
        self._socket.send(self._message(kind, body, _DUMP))
        found: list[bytes] = []
        mixed = False
        for kind, _, flags, answer in self._answers(self._number):
            mixed = mixed or bool(flags & _DUMP_INTERRUPTED)
            if kind in (_DONE, _ERROR):
                failure = _failure(kind, flags, answer)
                if failure is not None or kind == _ERROR:
                    raise failure or OSError("the kernel acknowledged a question")
                break
            found.append(answer)
        return None if mixed else found

    def question(self, kind: int, body: bytes) -> bytes:
        """Return the body of the one answer to a question that is no dump. Raises OSError."""
        self._socket.send(self._message(kind, body, 0))
        found, _, flags, answer = next(self._answers(self._number))
        if found != _ERROR:
            return answer
        raise _failure(found, flags, answer) or OSError("the kernel acknowledged a question")

    def _answers(self, first: int) -> Iterator[tuple[int, int, int, bytes]]:
        """Return what the kernel answers to the requests from number `first` on.

        Older answers are left over where Ctrl-C interrupted who was reading them.
        """
        while True:
            for message in _messages(self._socket.recv(_BUFFER_BYTES)):
                if message[1] >= first:
                    yield message

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _message(self, kind: int, body: bytes, flags: int) -> bytes:
        self._number += 1
        header = _HEADER.pack(_HEADER.size + len(body), kind, REQUEST | flags, self._number, 0)
        return header + body + bytes(-len(body) % 4)


def _messages(data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield kind, number, flags and body of each message in what was received."""
    start = 0
    while start + _HEADER.size <= len(data):
        length, kind, flags, number, _ = _HEADER.unpack_from(data, start)
        yield kind, number, flags, data[start + _HEADER.size : start + length]
        start += (length + 3) & ~3


def _failure(kind: int, flags: int, body: bytes) -> OSError | None:
    """Return what an error message, or the end of a dump, says; None where all went well."""
    (number,) = struct.unpack_from("=i", body)
    if number == 0:
        return None
    words = os.strerror(-number)
    if flags & _EXTENDED_ACK:
        start = 4
        if kind == _ERROR:  # the request comes back in front of the attributes, whole unless it is capped
            (length,) = struct.unpack_from("=I", body, 4)
            start += _HEADER.size if flags & _CAPPED else (length + 3) & ~3
        words = text_of(attributes(body, start).get(_MESSAGE_ATTRIBUTE, b"")) or words
    return OSError(-number, words)


def attribute(kind: int, value: bytes) -> bytes:
    """Return an attribute: length, kind, value, padded to four bytes."""
    length = ATTRIBUTE.size + len(value)
    return ATTRIBUTE.pack(length, kind) + value + bytes(-length % 4)


def nested(kind: int, *attributes: bytes) -> bytes:
    """Return an attribute that holds others."""
    return attribute(kind | _NESTED, b"".join(attributes))


def text(kind: int, value: str) -> bytes:
    """Return a string with its terminating zero."""
    return attribute(kind, value.encode() + b"\0")


def number(kind: int, value: int) -> bytes:
    """Return an unsigned number of 32 bits."""
    return attribute(kind, struct.pack("=I", value))


def family_of(address: str) -> socket.AddressFamily:
    """Return the family of an address or a prefix, as the kernel numbers it."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def address_in(data: bytes) -> str:
    """Return the address in an attribute, in the kernel's spelling."""
    return socket.inet_ntop(socket.AF_INET if len(data) == 4 else socket.AF_INET6, data)


@functools.lru_cache(maxsize=4096)
def address(kind: int, value: str) -> bytes:
    """Return an address of either version of IP."""
    return attribute(kind, socket.inet_pton(family_of(value), value))


@functools.lru_cache(maxsize=4096)
def mac(kind: int, value: str) -> bytes:
    """Return an Ethernet address, written ``02:00:00:00:00:01``."""
    return attribute(kind, bytes.fromhex(value.replace(":", "")))


def attributes(data: bytes, start: int = 0) -> dict[int, bytes]:
    """Return every attribute from `start` on by its kind; of several of one kind, the last."""
    found = {}
    unpack, last = ATTRIBUTE.unpack_from, len(data) - ATTRIBUTE.size
    while start <= last:
        length, kind = unpack(data, start)
        if length < 4:
            break
        found[kind & TYPE_MASK] = data[start + 4 : start + length]
        start += (length + 3) & ~3
    return found


def text_of(value: bytes) -> str:
    """Return the string in an attribute."""
    return value.partition(b"\0")[0].decode(errors="replace")


def number_of(value: bytes) -> int:
    """Return the number of 32 bits in an attribute."""
    return int(struct.unpack_from("=I", value)[0])
