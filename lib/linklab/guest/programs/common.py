"""What the programs of this folder share: options, the gate, sleep, large buffers, times of arrival."""

from __future__ import annotations

import ctypes
import fcntl
import json
import socket
import struct
import sys
import time
from collections.abc import Callable

SO_RCVBUFFORCE, SO_SNDBUFFORCE = 33, 32
SO_TIMESTAMPNS = 35
"""Python's socket module does not name it before 3.14 (asm-generic/socket.h)."""
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
"""By the version of IP."""
TIMESPEC = struct.Struct("@qq")
_TIMEVAL = struct.Struct("@ll")
_BUFFER_BYTES = 1 << 26
_ABSOLUTE = 1
_HEARTBEAT_NS = 4_000_000_000


def act(*actions: Callable[..., None]) -> None:
    """Call the one of these functions that the program's argument names, with the options in it."""
    options = json.loads(sys.argv[1])
    {action.__name__: action for action in actions}[options.pop("action")](**options)


def start_at(gate: str, later_ns: int) -> int:
    """Say that this client is ready, wait for the gate, print the time of day at the start, and return when to start,
    on the monotonic clock. Both are whole ns: seconds since 1970 as a float are known to 0.24 us.

    The gate is a file that somebody holds locked. When it is let go it holds the instant at which all start.
    """
    with open(gate) as lock:
        print("ready", flush=True)
        fcntl.flock(lock, fcntl.LOCK_SH)
        begin_ns = int(lock.read()) + later_ns
    print(time.time_ns() - time.monotonic_ns() + begin_ns, flush=True)
    return begin_ns


def instant_in(gate: str) -> int | None:
    """Return the instant at which all start, once the gate is open; None before. For servers."""
    with open(gate) as file:  # pathlib would load urllib, in each program of each flow
        text = file.read()
    return int(text) if text else None


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("rest_ns", ctypes.c_long))


def sleeper() -> Callable[[int], None]:
    """Return a sleep until an instant of the monotonic clock, in ns.

    It asks no clock: on virtual time questions cost time.
    """
    sleep = ctypes.CDLL(None).clock_nanosleep
    until = _Timespec()
    place = ctypes.byref(until)

    def sleep_until(due_ns: int) -> None:
        until.seconds, until.rest_ns = divmod(due_ns, 1_000_000_000)
        sleep(time.CLOCK_MONOTONIC, _ABSOLUTE, place, None)

    return sleep_until


def sender_to(address: str) -> socket.socket:
    """Return a UDP socket of an address's version of IP, not connected yet."""
    return socket.socket(FAMILIES[6 if ":" in address else 4], socket.SOCK_DGRAM)


def receiver(port: int, ip_version: int, *, stamps: bool = True) -> socket.socket:
    """Return a UDP socket at this port with a large buffer, which is told the time of each arrival."""
    end = socket.socket(FAMILIES[ip_version], socket.SOCK_DGRAM)
    enlarge(end, SO_RCVBUFFORCE, socket.SO_RCVBUF)
    if stamps:
        end.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    end.bind(("", port))
    return end


def enlarge(end: socket.socket, forced: int, asked: int) -> None:
    """Give a socket a large buffer."""
    try:
        end.setsockopt(socket.SOL_SOCKET, forced, _BUFFER_BYTES)
    except OSError:  # not root: as much as the machine allows
        end.setsockopt(socket.SOL_SOCKET, asked, _BUFFER_BYTES)


def wait_at_most(end: socket.socket, seconds: float) -> None:
    """Set the socket's time-out in the kernel: Python's own looks at the clock for each packet."""
    whole_s = int(seconds)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.pack(whole_s, int((seconds - whole_s) * 1e6)))


def stamp_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    """Return when the kernel took a packet from the device, on the clock of the day."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, rest_ns = TIMESPEC.unpack(data)
            return int(seconds * 1_000_000_000 + rest_ns)
    raise SystemExit("the kernel gave a packet without the time of its arrival (SO_TIMESTAMPNS)")


class Heartbeat:
    """Prints an empty line every few seconds as long as packets go. It looks at no clock of its own."""

    def __init__(self) -> None:
        self._said_ns: int | None = None

    def beat(self, now_ns: int) -> None:
        """Take the time that the caller has read anyway, and print the line if it is due."""
        if self._said_ns is None:
            self._said_ns = now_ns
        elif now_ns - self._said_ns >= _HEARTBEAT_NS:
            self._said_ns = now_ns
            print(flush=True)
