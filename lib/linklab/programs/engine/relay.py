"""A relay for TCP between a client and a server: it notes what passes, and can hold it back."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

_KEPT_BYTES = 8192
_READ = 16 * 1024
_BUFFER = 64 * 1024
"""Bytes that may wait in the relay: they have left the client and not reached the server, as both clocks show."""
BULK_BYTES = 8000
"""A client sends less than this to introduce itself: beyond it its data has begun."""
_WAITING = 64
"""How many connections may wait for accept()."""
_AHEAD = 64
"""How many pieces of what a server says may be held back at once."""
_EACH_ARRIVAL = 40
_ARRIVALS = 2000
_ARRIVAL_S = 0.02
Wait = Callable[[int, float], Awaitable[None]]
"""Waits until a piece may be passed on, given its size and when it arrived."""


class Arrivals:
    """How many bytes had arrived when: the first as they came, then two of each short while, up to the last."""

    def __init__(self) -> None:
        self.entries: list[tuple[float, int]] = []
        self._apart_s = _ARRIVAL_S

    def add(self, now_s: float, size: int) -> None:
        """Note that ``size`` bytes have arrived by now. The first and the last of each short while stay."""
        entries = self.entries
        if len(entries) > _EACH_ARRIVAL and now_s - entries[-2][0] < self._apart_s:
            entries[-1] = (now_s, size)
            return
        entries.append((now_s, size))
        if len(entries) > _ARRIVALS:
            self._apart_s *= 2
            self.entries = entries[:_EACH_ARRIVAL] + entries[_EACH_ARRIVAL:-1:2] + entries[-1:]


@dataclass
class RelayedStream:
    """One direction of a connection. Times are those of arrival at the relay; of head and tail 8 KiB are kept.

    ``closed_s`` is when its sender closed it, with a reset if ``reset``; None if it never did.
    """

    size: int = 0
    last_s: float | None = None
    forwarded_s: float | None = None
    closed_s: float | None = None
    reset: bool = False
    head: bytes = b""
    tail: bytes = b""
    arrivals: Arrivals = field(default_factory=Arrivals)

    def note(self, data: bytes, now_s: float) -> None:
        """Count what has arrived."""
        self.last_s = now_s
        self.size += len(data)
        self.head += data[: _KEPT_BYTES - len(self.head)]
        self.tail = (self.tail + data)[-_KEPT_BYTES:]
        self.arrivals.add(now_s, self.size)

    def close(self, now_s: float, *, reset: bool) -> None:
        """Note that its sender has closed it. What is seen first of that counts."""
        if self.closed_s is None:
            self.closed_s, self.reset = now_s, reset

    def record(self) -> dict[str, Any]:
        """Return it as JSON; bytes in base64."""
        kept = {name: base64.b64encode(getattr(self, name)).decode() for name in ("head", "tail")}
        return {**self.__dict__, "bytes": self.size, **kept, "arrivals": self.arrivals.entries}


@dataclass
class RelayedConnection:
    """A connection that was relayed: when it came, when its bulk of data began, and its two directions."""

    accepted_s: float
    refused: bool = False
    bulk_s: float | None = None
    up: RelayedStream = field(default_factory=RelayedStream)
    down: RelayedStream = field(default_factory=RelayedStream)

    def record(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**self.__dict__, "up": self.up.record(), "down": self.down.record()}


class Relay:
    """Accepts connections on a socket and carries each on to the server.

    A connection's bulk begins when more than `BULK_BYTES` have come up. What the two say to each other before is not
    delayed. Within ``hold_s`` (from, to, since the bulk began) the relay reads nothing from the client, or no more than
    ``held_mbps``, and it holds back what the server says by ``answer_delay_s``, or closes the connection in its place
    with ``cuts_answer``. ``pace_mbps`` bounds what all connections together carry up to the server, in Mbit/s of
    application data. Until
    ``deaf_s`` the relay's host answers no SYN, so that to connect takes a client a second or more. ``connect`` makes a
    socket on that host.
    """

    def __init__(
        self,
        listener: socket.socket,
        target: tuple[str, int],
        connect: Callable[[], socket.socket],
        clock: Callable[[], float],
        *,
        answer_delay_s: float = 0.0,
        pace_mbps: float | None = None,
        hold_s: tuple[float, float] | None = None,
        held_mbps: float | None = None,
        cuts_answer: bool = False,
        deaf_s: float = 0.0,
    ) -> None:
        self.connections: list[RelayedConnection] = []
        self._listener, self._target, self._socket, self._clock = listener, target, connect, clock
        self._delay_s, self._pace_mbps, self._hold_s, self._held_mbps = answer_delay_s, pace_mbps, hold_s, held_mbps
        self._cuts_answer, self._deaf_s = cuts_answer, deaf_s
        self._free_s = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._ups: list[asyncio.Task[None]] = []
        self._sockets: list[socket.socket] = [listener]
        self._spawn(self._accept())

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _be_deaf(self) -> None:
        """Keep the queue of those that wait for accept() full: the kernel drops what SYNs come then."""
        loop = asyncio.get_running_loop()
        self._listener.listen(0)
        with self._socket() as waiting:
            waiting.setblocking(False)
            await loop.sock_connect(waiting, self._listener.getsockname())
            await asyncio.sleep(self._deaf_s - self._clock())
            (await loop.sock_accept(self._listener))[0].close()
        self._listener.listen(_WAITING)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        if self._deaf_s:
            await self._be_deaf()
        while True:
            client, _ = await loop.sock_accept(self._listener)
            self._sockets.append(client)
            note = RelayedConnection(self._clock())
            self.connections.append(note)
            self._spawn(self._serve(client, note))

    async def _serve(self, client: socket.socket, note: RelayedConnection) -> None:
        loop = asyncio.get_running_loop()
        server = self._socket()
        server.setblocking(False)
        self._sockets.append(server)
        try:
            await loop.sock_connect(server, self._target)
        except OSError:
            note.refused = True
            client.close()
            server.close()
            return
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        up = self._spawn(self._carry(client, server, note.up, note.down, self._wait_up(note)))
        self._ups.append(up)
        down = self._carry(server, client, note.down, note.up, self._wait_down(note), ahead=_AHEAD)
        await asyncio.gather(up, down)
        client.close()
        server.close()

    async def _carry(
        self,
        source: socket.socket,
        sink: socket.socket,
        flow: RelayedStream,
        opposite: RelayedStream,
        wait: Wait,
        ahead: int = 1,
    ) -> None:
        """Carry one direction; ``wait`` is given each piece's size and time of arrival before it is passed on.

        Up to ``ahead`` pieces are read while an earlier one waits; with 1, nothing but what is passed on next.
        """
        room = asyncio.Semaphore(ahead)
        read: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        reading = self._spawn(self._read(source, flow, room, read))
        loop = asyncio.get_running_loop()
        while True:
            arrived_s, data = await read.get()
            if not data:
                break
            try:
                await wait(len(data), arrived_s)
                await loop.sock_sendall(sink, data)
            except OSError as error:
                # the kernel tells of a reset once: here, then, and not to who reads the opposite way
                opposite.close(self._clock(), reset=isinstance(error, ConnectionResetError))
                break
            flow.forwarded_s = self._clock()
            room.release()
        reading.cancel()
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    async def _read(
        self,
        source: socket.socket,
        flow: RelayedStream,
        room: asyncio.Semaphore,
        read: asyncio.Queue[tuple[float, bytes]],
    ) -> None:
        """Read one direction to its end, as far as there is room; the end is a piece without bytes."""
        loop = asyncio.get_running_loop()
        data = b"first"
        while data:
            await room.acquire()
            try:
                data = await loop.sock_recv(source, _READ)
            except OSError:
                data = b""
                flow.close(self._clock(), reset=True)
            now_s = self._clock()
            if data:
                flow.note(data, now_s)
            else:
                flow.close(now_s, reset=False)  # what was seen of it first counts
            read.put_nowait((now_s, data))

    def _wait_up(self, note: RelayedConnection) -> Wait:
        async def wait(size: int, _: float) -> None:
            now_s, pace_mbps = self._clock(), self._pace_mbps
            if note.bulk_s is None and note.up.size > BULK_BYTES:
                note.bulk_s = now_s
            if note.bulk_s is not None and self._hold_s is not None:
                begin_s, end_s = (note.bulk_s + since_s for since_s in self._hold_s)
                if begin_s <= now_s < end_s and self._held_mbps is not None:
                    pace_mbps = self._held_mbps
                elif begin_s <= now_s < end_s:
                    await asyncio.sleep(end_s - now_s)
            if pace_mbps is not None:
                now_s = self._clock()
                self._free_s = max(self._free_s, now_s) + size * 8 / (pace_mbps * 1e6)
                await asyncio.sleep(self._free_s - now_s)

        return wait

    def _wait_down(self, note: RelayedConnection) -> Wait:
        async def wait(_: int, arrived_s: float) -> None:
            if note.bulk_s is not None and arrived_s >= note.bulk_s:
                if self._cuts_answer:
                    raise ConnectionAbortedError
                await asyncio.sleep(max(0.0, arrived_s + self._delay_s - self._clock()))

        return wait

    async def drain(self, patience_s: float) -> None:
        """Wait until all that clients have sent has been read, up to the end of each: they may be gone by then."""
        if self._ups:
            await asyncio.wait(self._ups, timeout=patience_s)

    def close(self) -> None:
        """End all connections."""
        for task in list(self._tasks):
            task.cancel()
        for one in self._sockets:
            one.close()


def listener(port: int, address: str = "0.0.0.0") -> socket.socket:
    """Return a socket in the present namespace that listens, for a relay or a listener."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
    made.bind((address, port))
    made.listen(_WAITING)
    made.setblocking(False)
    return made


def plain_socket() -> socket.socket:
    """Return a socket in the present namespace that can connect."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
    return made
