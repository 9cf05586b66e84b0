"""Serve web objects, and load pages of them one after another."""

from __future__ import annotations

import json
import socket
import threading
import time

from linklab.guest.programs.common import FAMILIES, act, sleeper, start_at

_ENOUGH = 1 << 16


def serve(port: int, ip_version: int, object_bytes: int) -> None:
    """Answer each request by HTTP/1.0 with so many bytes, and close, until it is ended."""
    head = f"HTTP/1.0 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {object_bytes}\r\n\r\n"
    answer = head.encode() + bytes(object_bytes)
    with socket.create_server(("", port), family=FAMILIES[ip_version], backlog=64) as server:
        print("ready", flush=True)
        while True:
            client, _ = server.accept()
            threading.Thread(target=_answer, args=(client, answer), daemon=True).start()


def _answer(client: socket.socket, answer: bytes) -> None:
    """Answer one request; a client that sends none holds up nobody."""
    with client:
        asked = b""
        while b"\r\n\r\n" not in asked:
            more = client.recv(_ENOUGH)
            if not more:
                return
            asked += more
        client.sendall(answer)


def load(
    gate: str,
    later_ns: int,
    address: str,
    port: int,
    objects: int,
    duration_s: float,
    pause_s: float,
    wait_s: float,
) -> None:
    """Load pages of `objects`, with a pause after each. The last one that has begun in time is loaded to its end."""
    sleep_until = sleeper()
    begin_s: list[float] = []
    page_ms: list[float] = []
    begin_ns = start_at(gate, later_ns)
    sleep_until(begin_ns)
    due_ns, over_ns = begin_ns, begin_ns + round(duration_s * 1e9)
    try:
        while due_ns < over_ns:
            sleep_until(due_ns)
            before_ns = time.monotonic_ns()
            for number in range(objects):
                _object(address, port, number, wait_s)
            after_ns = time.monotonic_ns()
            begin_s.append((before_ns - begin_ns) / 1e9)
            page_ms.append((after_ns - before_ns) / 1e6)
            due_ns = after_ns + round(pause_s * 1e9)
    except KeyboardInterrupt:
        pass  # whole pages count
    print(json.dumps({"begin_s": begin_s, "page_ms": page_ms}))


def _object(address: str, port: int, number: int, wait_s: float) -> None:
    """Fetch one object over a connection of its own, to the last byte."""
    with socket.create_connection((address, port), timeout=wait_s) as server:
        server.sendall(f"GET /{number} HTTP/1.0\r\nHost: {address}\r\n\r\n".encode())
        answer = b""
        while more := server.recv(_ENOUGH):
            answer += more
    head, _, body = answer.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    if not lengths or len(body) != int(lengths[0]):
        raise SystemExit(f"object {number} came with {len(body)} bytes, which are not all")


if __name__ == "__main__":
    act(serve, load)
