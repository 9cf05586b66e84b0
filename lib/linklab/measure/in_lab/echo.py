"""A UDP echo: who asks and who answers. It runs inside a lab, by itself: it imports nothing of Linklab.

``answer IP_VERSION`` (4 or 6) sends every datagram back, on a port that it names first. ``ask ADDRESS PORT COUNT
PAYLOAD_BYTES WAIT_S WARM_UP BEGIN_NS`` exchanges datagrams one after the other, from that instant on (0: at once), and
prints one line of JSON: all stamps are of this one clock.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time

_HEADER = struct.Struct("!8sI")
_MARK = b"LLecho 1"
_FAMILIES = {"4": socket.AF_INET, "6": socket.AF_INET6}


def answer(family: socket.AddressFamily) -> None:
    """Send every datagram back until ended."""
    with socket.socket(family, socket.SOCK_DGRAM) as server:
        server.bind(("", 0))
        print(server.getsockname()[1], flush=True)
        while True:
            packet, sender = server.recvfrom(65535)
            server.sendto(packet, sender)


def ask(address: str, port: int, count: int, payload_bytes: int, wait_s: float, warm_up: int, begin_ns: int) -> None:
    """The stamps before the first exchange and after the last, and those of each between."""
    rest = bytes(payload_bytes - _HEADER.size)
    rtts_ns: list[int | None] = []
    with socket.socket(_FAMILIES["6" if ":" in address else "4"], socket.SOCK_DGRAM) as client:
        client.connect((address, port))
        client.settimeout(wait_s)
        time.sleep(max(0, begin_ns - time.monotonic_ns()) / 1e9)
        for number in range(warm_up):
            _exchange(client, _HEADER.pack(_MARK, number) + rest)
        packets = [_HEADER.pack(_MARK, warm_up + number) + rest for number in range(count)]
        first_ns = before_ns = time.monotonic_ns()
        for packet in packets:
            answered = _exchange(client, packet)
            after_ns = time.monotonic_ns()
            rtts_ns.append(after_ns - before_ns if answered else None)
            before_ns = after_ns
    print(json.dumps({"begin_ns": first_ns, "end_ns": before_ns, "rtts_ns": rtts_ns}))


def _exchange(client: socket.socket, packet: bytes) -> bool:
    """Whether this packet, and no late one before it, came back."""
    client.send(packet)
    while True:
        try:
            if client.recv(65535) == packet:
                return True
        except TimeoutError:
            return False


if __name__ == "__main__":
    end, *words = sys.argv[1:]
    if end == "answer":
        answer(_FAMILIES[words[0]])
    else:
        ask(words[0], int(words[1]), int(words[2]), int(words[3]), float(words[4]), *map(int, words[5:7]))
