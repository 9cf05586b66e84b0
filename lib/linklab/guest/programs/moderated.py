"""Switch frames between two network cards whose interrupts are held back. Runs inside a lab, by itself.

``HOW PORT PORT INTERVAL_NS RATE_BPS OVERHEAD_BYTES`` hands every frame from one port to the other until it is ended.
A card tells the processor of frames that have come and of frames that have left. HOW ``throttled``: never twice within
the interval, what happens meanwhile waits (a counter that begins with each interrupt). ``ticking``: only at instants
that are an interval apart, whenever the last one was; the second card's lie half an interval after the first one's.
"""

from __future__ import annotations

import select
import socket
import sys
import time

_ETH_P_ALL = 3
_SOL_PACKET, _PACKET_IGNORE_OUTGOING = 263, 23
"""Python's socket module names neither (linux/socket.h, linux/if_packet.h)."""
_NEVER = 1 << 62


class Card:
    """A network card: frames that have come, when those that left are gone, and when it interrupted last."""

    def __init__(self, name: str, interval_ns: int, rate_bps: int, overhead_bytes: int, phase_ns: int | None) -> None:
        """`phase_ns` is where its instants lie; None for a card that is throttled and does not tick."""
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        self.socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        self.socket.bind((name, 0))
        self.socket.setblocking(False)
        self._interval_ns, self._rate_bps, self._overhead_bytes = interval_ns, rate_bps, overhead_bytes
        self._phase_ns = phase_ns
        self.waiting: list[bytes] = []
        self._event_ns = self._last_ns = -_NEVER
        self._gone_ns: list[int] = []
        self._free_ns = 0

    def take(self, now_ns: int) -> None:
        """Take the frames that have come."""
        while True:
            try:
                self.waiting.append(self.socket.recv(65535))
            except BlockingIOError:
                return
            if len(self.waiting) == 1:
                self._event_ns = now_ns

    def next_ns(self) -> int:
        """Return when the card will interrupt, if nothing else happens."""
        events = ([self._event_ns] if self.waiting else []) + self._gone_ns[:1]
        if not events:
            return _NEVER
        if self._phase_ns is None or not self._interval_ns:
            return max(min(events), self._last_ns + self._interval_ns)
        since_ns = min(events) - self._phase_ns
        return min(events) + -since_ns % self._interval_ns

    def interrupt(self, now_ns: int) -> list[bytes]:
        """Interrupt: return the frames that have come."""
        self._last_ns = now_ns
        self._gone_ns = [gone_ns for gone_ns in self._gone_ns if gone_ns > now_ns]
        frames, self.waiting = self.waiting, []
        return frames

    def send(self, frame: bytes, now_ns: int) -> None:
        """Send a frame; the card interrupts after the link has serialised it."""
        self.socket.send(frame)
        lasts_ns = (len(frame) + self._overhead_bytes) * 8_000_000_000 // self._rate_bps
        self._free_ns = max(self._free_ns, now_ns) + lasts_ns
        self._gone_ns.append(self._free_ns)


def main(how: str, names: list[str], interval_ns: int, rate_bps: int, overhead_bytes: int) -> None:
    """Hand frames on until this program is ended."""
    phases_ns = (0, interval_ns // 2) if how == "ticking" else (None, None)
    one, two = (
        Card(name, interval_ns, rate_bps, overhead_bytes, phase_ns)
        for name, phase_ns in zip(names, phases_ns, strict=True)
    )
    print("ready", flush=True)
    others = {one: two, two: one}
    while True:
        due_ns = min(one.next_ns(), two.next_ns())
        left_s = None if due_ns == _NEVER else max(0.0, (due_ns - time.monotonic_ns()) / 1e9)
        readable, _, _ = select.select([one.socket, two.socket], [], [], left_s)
        now_ns = time.monotonic_ns()
        for card, other in others.items():
            if card.socket in readable:
                card.take(now_ns)
            if card.next_ns() <= now_ns:
                for frame in card.interrupt(now_ns):
                    other.send(frame, now_ns)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:4], *map(int, sys.argv[4:7]))
