"""Datagrams at constant rates: who sends and who counts. It runs inside a lab, and imports nothing of Linklab.

``count FILE`` names a port and counts what arrives there until the time in FILE is over; ``send FILE`` sends the flows
in FILE. Both print one line of JSON at their end. FILE is JSON, written by `linklab.measure.tools.constant_rate`.
"""

from __future__ import annotations

import ctypes
import heapq
import json
import random
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_HEADER = struct.Struct("!8sII")  # mark, flow, number
_MARK = b"LLcbr  1"
_SO_TIMESTAMPNS = 35
"""Python's socket module does not name it before 3.14 (asm-generic/socket.h)."""
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 32, 33
_TIMESPEC = struct.Struct("@qq")
_WARM_MARK, _WARM_UP, _WARM_GAP_S = b"LLwarm 1", 3, 0.005
_ABSOLUTE = 1
_LOOK_EVERY = 50
_LOOK_S = 0.02
_BUFFER_BYTES = 1 << 26


def instants(flow: dict[str, Any], begin_ns: int, end_ns: int) -> Iterator[tuple[int, int, int]]:
    """When each packet of a flow is to leave: (time, flow, number). The rate is kept exactly, whatever the dither."""
    dice = random.Random(flow["seed"])
    number, gap_ns = 0, flow["gap_ns"]
    while (due_ns := begin_ns + number * gap_ns) < end_ns:
        shift = dice.random() if flow["dither"] else 0.0
        yield int(due_ns + shift * gap_ns), flow["flow"], number
        number += 1


def send(plan: dict[str, Any]) -> None:
    """Sends all flows of one machine at their planned instants, so that a late packet makes no other one late."""
    flows = {flow["flow"]: flow for flow in plan["flows"]}
    begin_ns, end_ns = plan["begin_ns"], plan["end_ns"]
    sockets = {}
    for number, flow in flows.items():
        sockets[number] = sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # what the queue of the interface has no room for is lost there: a sender that waited would keep no rate
        _large(sender, _SO_SNDBUFFORCE, socket.SO_SNDBUF)
        sender.connect((flow["address"], flow["port"]))
    rest = {number: bytes(flow["payload_bytes"] - _HEADER.size) for number, flow in flows.items()}
    sent = dict.fromkeys(flows, 0)
    for number in list(flows) * _WARM_UP:
        # switches learn where everybody is, and Open vSwitch what to do with these flows, before it counts
        sockets[number].send(_WARM_MARK + rest[number])
        time.sleep(_WARM_GAP_S)
    if time.monotonic_ns() > begin_ns:
        raise SystemExit("the senders were not ready when they were to begin: the machine is too busy")
    latest_ns = 0
    sleep_until = _sleeper()
    # dithered packets of one flow stay in order; heapq.merge needs no more
    packets = heapq.merge(*(instants(it, begin_ns, end_ns) for it in flows.values()))
    for position, (due_ns, flow_number, number) in enumerate(packets):
        sleep_until(due_ns)
        if position % _LOOK_EVERY == 0:
            latest_ns = max(latest_ns, time.monotonic_ns() - due_ns)
        try:
            sockets[flow_number].send(_HEADER.pack(_MARK, flow_number, number) + rest[flow_number])
        except OSError as error:
            raise SystemExit(f"flow {flow_number} cannot be sent: {error.strerror}") from None
        sent[flow_number] += 1
    print(json.dumps({"sent": {str(number): count for number, count in sent.items()}, "late_ns": latest_ns}))


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("rest_ns", ctypes.c_long))


def _sleeper() -> Callable[[int], None]:
    """A sleep until an instant of the monotonic clock. It asks no clock: on virtual time questions cost time."""
    sleep = ctypes.CDLL(None).clock_nanosleep
    until = _Timespec()
    place = ctypes.byref(until)

    def sleep_until(due_ns: int) -> None:
        until.seconds, until.rest_ns = divmod(due_ns, 1_000_000_000)
        sleep(time.CLOCK_MONOTONIC, _ABSOLUTE, place, None)

    return sleep_until


def count(plan: dict[str, Any]) -> None:
    """Counts the packets of each flow that arrive, all and within the window, by the kernel's time."""
    first_ns, last_ns = plan["window_ns"]
    over_ns = plan["over_ns"]
    received: dict[int, int] = {}
    inside: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        _large(receiver, _SO_RCVBUFFORCE, socket.SO_RCVBUF)
        receiver.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        receiver.bind(("0.0.0.0", plan["port"]))
        apart_ns = time.time_ns() - time.monotonic_ns()
        receiver.setblocking(False)
        print("ready", flush=True)
        space = socket.CMSG_SPACE(_TIMESPEC.size)
        for packet, ancillary in _arriving(receiver, over_ns, space):
            _, flow, number = _HEADER.unpack_from(packet)
            if (flow, number) in seen:
                raise SystemExit(f"packet {number} of flow {flow} came twice: something on the way duplicates packets")
            seen.add((flow, number))
            arrived_ns = _stamp_ns(ancillary) - apart_ns
            received[flow] = received.get(flow, 0) + 1
            if first_ns <= arrived_ns < last_ns:
                inside[flow] = inside.get(flow, 0) + 1
    print(json.dumps({"received": received, "inside": inside}))


def _arriving(receiver: socket.socket, over_ns: int, space: int) -> Iterator[tuple[bytes, list[Any]]]:
    """What has arrived, looked for now and then: the kernel keeps the packets, and the times of their arrival."""
    over = False
    while not over:
        over = time.monotonic_ns() >= over_ns
        try:
            while True:
                packet, ancillary, _, _ = receiver.recvmsg(65535, space)
                if packet.startswith(_MARK):
                    yield packet, ancillary
        except BlockingIOError:
            if not over:
                time.sleep(_LOOK_S)


def _large(end: socket.socket, forced: int, asked: int) -> None:
    try:
        end.setsockopt(socket.SOL_SOCKET, forced, _BUFFER_BYTES)
    except OSError:  # not root: as much as the machine allows
        end.setsockopt(socket.SOL_SOCKET, asked, _BUFFER_BYTES)


def _stamp_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    """When the kernel took the packet from the device."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
            seconds, rest_ns = _TIMESPEC.unpack(data)
            return int(seconds * 1_000_000_000 + rest_ns)
    raise SystemExit("the kernel gave a packet without the time of its arrival (SO_TIMESTAMPNS)")


if __name__ == "__main__":
    what, file = sys.argv[1:]
    (send if what == "send" else count)(json.loads(Path(file).read_text("utf-8")))
