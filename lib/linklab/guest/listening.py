"""Find the open ports of a network namespace in /proc/PID/net (proc(5))."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final

_OPEN: Final = {"tcp": "0A", "udp": "07"}
"""The state of a socket that waits for somebody (linux/include/net/tcp_states.h): LISTEN, and CLOSE for UDP."""


def listening(process: int | str, protocol: str = "tcp") -> list[tuple[str, int]]:
    """Return address and port of each listening socket in the network namespace of a process.

    The process is a number, "self" or "thread-self", the protocol "tcp" or "udp". Once it is gone the list is empty.
    """
    found = []
    for table in (protocol, f"{protocol}6"):
        try:
            lines = Path(f"/proc/{process}/net/{table}").read_text("ascii").splitlines()[1:]
        except OSError:  # the process is gone, or the kernel has no IPv6
            continue
        for fields in map(str.split, lines):
            if fields[3] == _OPEN[protocol]:
                address, _, port = fields[1].rpartition(":")
                found.append((address_of(address), int(port, 16)))
    return found


def listens(process: int | str, port: int, protocol: str = "tcp") -> bool:
    """Return whether a socket listens on the port in the network namespace of a process."""
    return any(port == each for _, each in listening(process, protocol))


def address_of(text: str) -> str:
    """Return an address that the kernel printed as words in the machine's byte order (x86 and ARM: little)."""
    packed = b"".join(bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8))
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)
