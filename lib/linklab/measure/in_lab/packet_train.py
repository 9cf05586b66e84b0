"""A packet train's two ends. It runs inside a lab, by itself: it imports nothing of Linklab.

``send ADDRESS PORT COUNT PAYLOAD_BYTES GAP_NS`` sends; ``receive COUNT PAYLOAD_BYTES SILENCE_S FIRST_S`` waits for the
train on a port that it names first. Each prints one line of JSON at its end, and an empty one now and then while the
train goes on: who waits for it need not know how long it takes.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time

_MARK = b"LLtrain1"
_HEADER = struct.Struct("!8sI")
_SO_TIMESTAMPNS = 35
"""Python's socket module does not name it before 3.14 (asm-generic/socket.h)."""
_SO_RCVBUFFORCE = 33
_TIMESPEC = struct.Struct("@qq")
_TIMEVAL = struct.Struct("@ll")
_BUFFER_BYTES = 1 << 26
_SIGN_OF_LIFE_NS = 4_000_000_000
_LEAD_NS = 5_000_000


class _Life:
    """Says now and then that packets still go. It looks at no clock: on virtual time a look moves the clock on."""

    def __init__(self) -> None:
        self._said_ns: int | None = None

    def sign(self, now_ns: int) -> None:
        if self._said_ns is None:
            self._said_ns = now_ns
        elif now_ns - self._said_ns >= _SIGN_OF_LIFE_NS:
            self._said_ns = now_ns
            print(flush=True)


def send(address: str, port: int, count: int, payload_bytes: int, gap_ns: int) -> None:
    """Sends the train. Gaps are kept to a plan of instants, so that a late packet makes no other one late.

    On virtual time looks at the clock cost time, up to 16 us each. So a train without gaps looks once for each packet,
    which is about what sending one costs a computer; a train with gaps looks as often before its first packet as before
    all others, and sleeps before that.
    """
    packets = [_HEADER.pack(_MARK, number).ljust(payload_bytes, b"\0") for number in range(count)]
    departures_ns = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((address, port))
        if gap_ns:
            time.sleep(_LEAD_NS / 1e9)
        begin_ns, life = time.monotonic_ns() + (_LEAD_NS if gap_ns else 0), _Life()
        for number, packet in enumerate(packets):
            if gap_ns and (early_ns := begin_ns + number * gap_ns - time.monotonic_ns()) > 0:
                time.sleep(early_ns / 1e9)
            departures_ns.append(time.time_ns())
            sender.send(packet)
            life.sign(departures_ns[-1])
    print(json.dumps(departures_ns), flush=True)


def receive(count: int, payload_bytes: int, silence_s: float, first_s: float) -> None:
    """Takes the train: until all have come, or none for `silence_s` (the first one has `first_s`)."""
    arrivals_ns: dict[int, int] = {}
    duplicates = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        try:
            receiver.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        except OSError:  # not root: as much as the machine allows
            receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        receiver.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        receiver.bind(("0.0.0.0", 0))
        print(receiver.getsockname()[1], flush=True)
        _wait_at_most(receiver, first_s)
        life = _Life()
        while len(arrivals_ns) < count:
            try:
                packet, ancillary, _, _ = receiver.recvmsg(payload_bytes + 1, socket.CMSG_SPACE(_TIMESPEC.size))
            except BlockingIOError:
                break
            if len(packet) != payload_bytes or not packet.startswith(_MARK):
                continue
            if not arrivals_ns:
                _wait_at_most(receiver, silence_s)
            number = _HEADER.unpack_from(packet)[1]
            duplicates += number in arrivals_ns
            arrivals_ns.setdefault(number, _stamp_ns(ancillary))
            life.sign(arrivals_ns[number])
    print(json.dumps({"arrivals_ns": [arrivals_ns.get(it) for it in range(count)], "duplicates": duplicates}))


def _wait_at_most(receiver: socket.socket, seconds: float) -> None:
    """The kernel watches the time: Python's own time-out looks at the clock for each packet."""
    whole_s = int(seconds)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.pack(whole_s, int((seconds - whole_s) * 1e6)))


def _stamp_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    """When the kernel took the packet from the device."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
            seconds, rest_ns = _TIMESPEC.unpack(data)
            return int(seconds * 1_000_000_000 + rest_ns)
    raise SystemExit("the kernel gave a packet without the time of its arrival (SO_TIMESTAMPNS)")


if __name__ == "__main__":
    end, *words = sys.argv[1:]
    if end == "send":
        send(words[0], *map(int, words[1:]))
    else:
        receive(int(words[0]), int(words[1]), float(words[2]), float(words[3]))
