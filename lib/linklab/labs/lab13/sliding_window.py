"""Send numbered packets through a window as textbooks do it: by go-back-N or by selective repeat, timeout fixed.

Each packet and each answer begins with words that say what it is, for whoever looks at it on its way. The lab runs this
file as a program: its argument is JSON data, the ``action`` and its options.
Source: J. Kurose and K. Ross, "Computer Networking", sections 3.4.3 and 3.4.4.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable

GO_BACK_N = "go-back-N"


def data_words(number: int, copy: int) -> bytes:
    """Return the first bytes of a packet of data: 16, for numbers below 100."""
    return f"packet {number:2d}, try {copy}".encode()


def answer(kind: str, port: int) -> None:
    """Acknowledge packets until this program is ended. Of go-back-N an answer says which packet comes next."""
    needed = 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("", port))
        print("ready", flush=True)
        while True:
            packet, sender = server.recvfrom(65535)
            number = int(packet[7:9])
            if kind == GO_BACK_N:
                needed += number == needed
                server.sendto(f"needs packet {needed:2d}".encode(), sender)
            else:
                server.sendto(f"has packet {number:2d}".encode(), sender)


def send(kind: str, address: str, port: int, window: int, count: int, timeout_s: float, payload_bytes: int) -> None:
    """Send packets 1 to `count`; end when all are acknowledged.

    When a packet is overdue, go-back-N sends it and all packets behind it again, selective repeat that one alone.
    """
    copies = dict.fromkeys(range(1, count + 1), 0)
    due_s: dict[int, float] = {}  # packets that are sent and not acknowledged
    acknowledged: set[int] = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((address, port))
        while len(acknowledged) < count:
            now_s = time.monotonic()
            late = {number for number in due_s if due_s[number] <= now_s}
            if late and kind == GO_BACK_N:
                late = set(due_s)
            first = min(copies.keys() - acknowledged)
            new = {number for number in range(first, min(first + window, count + 1)) if not copies[number]}
            for number in sorted(late | new):
                copies[number] += 1
                due_s[number] = now_s + timeout_s
                sender.send(data_words(number, copies[number]).ljust(payload_bytes, b"\0"))
            sender.settimeout(max(1e-6, min(due_s.values()) - time.monotonic()))
            try:
                word, _, number_named = sender.recv(65535).split()
            except TimeoutError:
                continue
            named = int(number_named)
            acknowledged |= set(range(1, named)) if word == b"needs" else {named}
            due_s = {number: at_s for number, at_s in due_s.items() if number not in acknowledged}


if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    actions: dict[str, Callable[..., None]] = {"answer": answer, "send": send}
    actions[options.pop("action")](**options)
