"""Send datagrams at a constant rate, and count those that arrive."""

from __future__ import annotations

import json
import random
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

from linklab.guest.programs.common import (
    SO_SNDBUFFORCE,
    TIMESPEC,
    act,
    enlarge,
    instant_in,
    receiver,
    sender_to,
    sleeper,
    stamp_ns,
    start_at,
)

_HEADER = struct.Struct("!8sI")  # mark, number
_MARK = b"LLcbr  1"
_WARM_MARK, _WARM_UP, _WARM_GAP_S = b"LLwarm 1", 3, 0.005
_LOOK_EVERY = 50
_LOOK_S = 0.02
_LIFE_S = 4.0


def instants(gap_ns: float, dither: bool, seed: str, begin_ns: int, end_ns: int) -> Iterator[int]:
    """Yield when each packet is to leave. The rate is kept exactly, whatever the dither."""
    dice = random.Random(seed)
    number = 0
    while (due_ns := begin_ns + number * gap_ns) < end_ns:
        yield int(due_ns + (dice.random() if dither else 0.0) * gap_ns)
        number += 1


def send(
    gate: str,
    later_ns: int,
    address: str,
    port: int,
    lasts_ns: int,
    payload_bytes: int,
    gap_ns: float,
    dither: bool,
    seed: str,
    window_s: tuple[float, float],
) -> None:
    """Send the flow's packets at their planned instants, so that a late packet makes no other one late.

    It prints how long the window was, from begin to end in seconds after the flow's start, until it was stopped.
    """
    sent, latest_ns, until_ns = 0, 0, lasts_ns
    sleep_until = sleeper()
    rest = bytes(payload_bytes - _HEADER.size)
    with sender_to(address) as sender:
        # what the queue of the interface has no room for is lost there: a sender that waited would keep no rate
        enlarge(sender, SO_SNDBUFFORCE, socket.SO_SNDBUF)
        sender.connect((address, port))
        for _ in range(_WARM_UP):
            # switches learn where everybody is, and Open vSwitch what to do with these flows, before it counts
            sender.send(_HEADER.pack(_WARM_MARK, 0) + rest)
            time.sleep(_WARM_GAP_S)
        begin_ns = start_at(gate, later_ns)
        try:
            for number, due_ns in enumerate(instants(gap_ns, dither, seed, begin_ns, begin_ns + lasts_ns)):
                sleep_until(due_ns)
                if number % _LOOK_EVERY == 0:
                    latest_ns = max(latest_ns, time.monotonic_ns() - due_ns)
                sender.send(_HEADER.pack(_MARK, number) + rest)
                sent += 1
        except KeyboardInterrupt:
            until_ns = min(lasts_ns, max(0, time.monotonic_ns() - begin_ns))
        except OSError as error:
            raise SystemExit(f"packet {sent} cannot be sent: {error.strerror}") from None
    length_s = min(window_s[1], until_ns / 1e9) - window_s[0]
    print(json.dumps({"sent_packets": sent, "latest_ms": latest_ns / 1e6, "window_s": length_s}))


def count(
    gate: str,
    later_ns: int,
    port: int,
    ip_version: int,
    lasts_ns: int,
    drain_ns: int,
    first_ns: int,
    last_ns: int,
) -> None:
    """Count the packets that arrive, all and within the window, by the kernel's time.

    It ends `drain_ns` after the flow; the window is from `first_ns` to `last_ns` after the flow's start.
    """
    arrivals_ns: list[int] = []
    seen: set[int] = set()
    with receiver(port, ip_version) as end:
        apart_ns = time.time_ns() - time.monotonic_ns()
        end.setblocking(False)
        print("ready", flush=True)
        try:
            for packet, ancillary in _arriving(end, gate, later_ns + lasts_ns + drain_ns):
                number = _HEADER.unpack_from(packet)[1]
                if number in seen:
                    raise SystemExit(f"packet {number} came twice: something on the path duplicates packets")
                seen.add(number)
                arrivals_ns.append(stamp_ns(ancillary) - apart_ns)
        except KeyboardInterrupt:
            pass
    begin_ns = (instant_in(gate) or 0) + later_ns
    inside = sum(first_ns <= arrived_ns - begin_ns < last_ns for arrived_ns in arrivals_ns)
    print(json.dumps({"received_packets": len(arrivals_ns), "inside_packets": inside}))


def _arriving(end: socket.socket, gate: str, lasts_ns: int) -> Iterator[tuple[bytes, list[Any]]]:
    """Yield packets with the times of their arrival, which the kernel keeps until they are fetched now and then."""
    space = socket.CMSG_SPACE(TIMESPEC.size)
    over, begin_ns, looks = False, None, 0
    while not over:
        begin_ns = instant_in(gate) if begin_ns is None else begin_ns
        over = begin_ns is not None and time.monotonic_ns() >= begin_ns + lasts_ns
        try:
            while True:
                packet, ancillary, _, _ = end.recvmsg(65535, space)
                if packet.startswith(_MARK):
                    yield packet, ancillary
        except BlockingIOError:
            if not over:
                time.sleep(_LOOK_S)
                looks += 1
                if looks % round(_LIFE_S / _LOOK_S) == 0:
                    print(flush=True)


if __name__ == "__main__":
    act(send, count)
