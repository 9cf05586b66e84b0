"""A relay for UDP: it notes each datagram, and loses, repeats and delays them as a plan says, always alike."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Direction = Literal["up", "down"]
"""``up`` is from the sender to the receiver."""
MOST: Final = 20_000
"""How many datagrams of a direction the relay notes. It counts those beyond them, a flood, and drops them."""
_MOST_SENDERS: Final = 64
_TWICE_S: Final = 0.001
_READ: Final = 65_536


@dataclass(frozen=True)
class Impairments:
    """What the relay does to datagrams. Shares are of 1; each datagram's draw comes from ``seed`` and its number.

    The share ``loss`` is lost in each direction. Of those that pass, the share ``twice`` passes again 1 ms later, and
    the share ``late`` only after ``late_s``, so that others overtake it. ``lost`` are the numbers of datagrams, from 1,
    that are lost in each direction whatever is drawn. From datagram ``silent_from`` of the sender on everything is lost
    for ``silent_s`` in the directions of ``silent``. From datagram ``late_from`` of the sender on each answer is
    late that would pass once and in time.
    """

    loss: float = 0.0
    twice: float = 0.0
    late: float = 0.0
    late_s: float = 0.0
    seed: int = 0
    lost: dict[str, list[int]] = field(default_factory=dict)
    silent_from: int = 0
    silent_s: float = 0.0
    silent: tuple[str, ...] = ("up", "down")
    late_from: int = 0

    def fate(self, direction: Direction, number: int) -> str:
        """Return what becomes of datagram ``number`` of a direction: "passed", "lost", "twice" or "late"."""
        if number in self.lost.get(direction, ()):
            return "lost"
        draw = random.Random(f"linklab datagrams {self.seed} {direction} {number}")
        losing, doubling, delaying = draw.random(), draw.random(), draw.random()
        if losing < self.loss:
            return "lost"
        if doubling < self.twice:
            return "twice"
        return "late" if delaying < self.late else "passed"


class DatagramRelay:
    """Carries the datagrams of a sender on to the receiver, and the answers back.

    Each address that sends gets a socket of its own towards the receiver (of which the last 64 are kept), so an answer
    finds the way back to who asked. ``connect`` makes one. ``notes`` are ``[second, bytes, digest, fate]`` for each
    datagram, as it arrived here.
    """

    def __init__(
        self,
        listening: socket.socket,
        target: tuple[str, int],
        connect: Callable[[], socket.socket],
        clock: Callable[[], float],
        impairments: Impairments,
    ) -> None:
        self.notes: dict[Direction, list[list[Any]]] = {"up": [], "down": []}
        self.flooded = {"up": 0, "down": 0}
        self._listening, self._target, self._socket, self._clock = listening, target, connect, clock
        self._impairments = impairments
        self._silent_s: float | None = None
        self._ways: dict[tuple[str, int], socket.socket] = {}
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(listening, self._from_sender)

    def _from_sender(self) -> None:
        try:
            data, address = self._listening.recvfrom(_READ)
        except OSError:
            return
        way = self._ways.get(address) or self._new_way(address)
        self._note("up", data, lambda: _send(way, data, self._target))

    def _new_way(self, address: tuple[str, int]) -> socket.socket:
        if len(self._ways) == _MOST_SENDERS:
            self._forget(next(iter(self._ways)))
        way = self._ways[address] = self._socket()
        way.setblocking(False)
        self._loop.add_reader(way, self._from_receiver, way, address)
        return way

    def _from_receiver(self, way: socket.socket, address: tuple[str, int]) -> None:
        try:
            data = way.recv(_READ)
        except OSError:  # nobody listens there (ICMP), as on any host
            return
        self._note("down", data, lambda: _send(self._listening, data, address))

    def _note(self, direction: Direction, data: bytes, forward: Callable[[], None]) -> None:
        notes, now_s = self.notes[direction], self._clock()
        if len(notes) == MOST:
            self.flooded[direction] += 1
            return
        number = len(notes) + 1
        fate = self._impairments.fate(direction, number)
        if fate == "passed" and direction == "down" and 0 < self._impairments.late_from <= len(self.notes["up"]):
            fate = "late"
        fate = "silent" if self._is_silent(direction, number, now_s) else fate
        digest = hashlib.blake2b(data, digest_size=6).hexdigest()
        notes.append([now_s, len(data), digest, fate])
        if fate in ("passed", "twice"):
            forward()
        if fate == "twice":
            self._loop.call_later(_TWICE_S, forward)
        elif fate == "late":
            self._loop.call_later(self._impairments.late_s, forward)

    def _is_silent(self, direction: Direction, number: int, now_s: float) -> bool:
        set_up = self._impairments
        if direction == "up" and number == set_up.silent_from:
            self._silent_s = now_s
        begun_s = self._silent_s
        return begun_s is not None and direction in set_up.silent and now_s < begun_s + set_up.silent_s

    def _forget(self, address: tuple[str, int]) -> None:
        way = self._ways.pop(address)
        self._loop.remove_reader(way)
        way.close()

    def close(self) -> None:
        """Close all sockets."""
        for address in list(self._ways):
            self._forget(address)
        self._loop.remove_reader(self._listening)
        self._listening.close()

    def record(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"up": self.notes["up"], "down": self.notes["down"], "flooded": self.flooded, "silent_s": self._silent_s}


def _send(way: socket.socket, data: bytes, address: tuple[str, int]) -> None:
    with contextlib.suppress(OSError):  # the buffer is full or nobody listens: that is what UDP does
        way.sendto(data, address)


def listener(port: int) -> socket.socket:
    """Return a UDP socket in the present namespace, bound to a port."""
    made = plain_socket()
    made.bind(("0.0.0.0", port))
    made.setblocking(False)
    return made


def plain_socket() -> socket.socket:
    """Return a UDP socket in the present namespace."""
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
