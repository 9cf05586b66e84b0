"""Exchange UDP datagrams: a client sends one after the other, a server sends each back. All stamps are of one clock."""

from __future__ import annotations

import json
import select
import socket
import struct
import time

from linklab.guest.programs.common import FAMILIES, act, sender_to, sleeper, start_at

_HEADER = struct.Struct("!8sI")
_MARK = b"LLecho 1"


def answer(ip_version: int, port: int) -> None:
    """Send datagrams back until this program is ended."""
    with socket.socket(FAMILIES[ip_version], socket.SOCK_DGRAM) as server:
        server.bind(("", port))
        print("ready", flush=True)
        while True:
            packet, sender = server.recvfrom(65535)
            server.sendto(packet, sender)


def ask(
    gate: str, later_ns: int, address: str, port: int, count: int, payload_bytes: int, wait_s: float, warm_up: int
) -> None:
    """Exchange datagrams, one after the other."""
    rest = bytes(payload_bytes - _HEADER.size)
    rtt_ms: list[float | None] = []
    wait_ns = round(wait_s * 1e9)
    sleep_until = sleeper()
    with sender_to(address) as client:
        client.connect((address, port))
        client.settimeout(wait_s)
        begin_ns = start_at(gate, later_ns)
        first_ns = before_ns = begin_ns
        try:
            sleep_until(begin_ns)
            for number in range(warm_up):  # whose instants nobody asks for: only all waits together are bounded
                _exchange(client, _HEADER.pack(_MARK, number) + rest, begin_ns + (number + 1) * wait_ns)
            packets = [_HEADER.pack(_MARK, warm_up + number) + rest for number in range(count)]
            first_ns = before_ns = time.monotonic_ns()
            for packet in packets:
                answered = _exchange(client, packet, before_ns + wait_ns)
                after_ns = time.monotonic_ns()
                rtt_ms.append((after_ns - before_ns) / 1e6 if answered else None)
                before_ns = after_ns
        except KeyboardInterrupt:
            pass  # what came until now is what there is
    total_ms, end_s = (before_ns - first_ns) / 1e6, (before_ns - begin_ns) / 1e9 + later_ns / 1e9
    print(json.dumps({"rtt_ms": rtt_ms, "total_ms": total_ms, "end_s": end_s}))


def _exchange(client: socket.socket, packet: bytes, until_ns: int) -> bool:
    """Return whether this packet, and no late one before it, came back by `until_ns`.

    The socket's own time-out bounds the first wait: on virtual time a question to the clock costs time.
    """
    client.send(packet)
    try:
        while client.recv(65535) != packet:
            left_s = (until_ns - time.monotonic_ns()) / 1e9
            if left_s <= 0 or not select.select([client], [], [], left_s)[0]:
                return False
    except TimeoutError:
        return False
    return True


if __name__ == "__main__":
    act(answer, ask)
