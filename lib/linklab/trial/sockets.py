"""Who listens in a network namespace, as the kernel tells, and who may."""

from __future__ import annotations

import socket
from pathlib import Path

_LISTEN = "0A"  # linux/include/net/tcp_states.h


def listening(process: int | str) -> list[tuple[str, int]]:
    """Address and port of each TCP socket that listens in the namespace of a process (a number, or "thread-self");
    [] once that is gone.
    """
    found = []
    for table in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN:
                address, _, port = fields[1].rpartition(":")
                found.append((_address(address), int(port, 16)))
    return found


def allow_every_port() -> None:
    """Let ordinary users bind ports below 1024 too, in this thread's namespace: programs run as root in Mininet."""
    Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")


def _address(text: str) -> str:
    """The kernel prints an address as words in the machine's byte order (x86 and ARM: little)."""
    words = [bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8)]
    packed = b"".join(words)
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    return socket.inet_ntop(family, packed)
