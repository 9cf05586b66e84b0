"""A relay between a client and a server that notes what passes, and can hold it back."""

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
# What waits in the relay has left the client but not reached the server: little, or clocks would differ by it.
_BUFFER = 64 * 1024


@dataclass
class Flow:
    """One direction of a connection. Times are those of arrival at the relay; of head and tail 8 KiB are kept."""

    size: int = 0
    first_s: float | None = None
    last_s: float | None = None
    forwarded_s: float | None = None
    closed_s: float | None = None
    reset: bool = False
    head: bytes = b""
    tail: bytes = b""

    def note(self, data: bytes, now_s: float) -> None:
        """Counts what has arrived."""
        self.first_s = now_s if self.first_s is None else self.first_s
        self.last_s = now_s
        self.size += len(data)
        self.head += data[: _KEPT_BYTES - len(self.head)]
        self.tail = (self.tail + data)[-_KEPT_BYTES:]

    def record(self) -> dict[str, Any]:
        """As JSON; bytes in base64."""
        kept = {name: base64.b64encode(getattr(self, name)).decode() for name in ("head", "tail")}
        return {**self.__dict__, "bytes": self.size, **kept}


@dataclass
class Connection:
    """A relayed connection: when it came, from which port, and its two directions."""

    accepted_s: float
    client_port: int
    relay_port: int = 0
    refused: bool = False
    up: Flow = field(default_factory=Flow)
    down: Flow = field(default_factory=Flow)

    def record(self) -> dict[str, Any]:
        """As JSON."""
        flows = {"up": self.up.record(), "down": self.down.record()}
        return {
            **{name: getattr(self, name) for name in ("accepted_s", "client_port", "relay_port", "refused")},
            **flows,
        }


class Relay:
    """Listens on a socket and carries every connection on to the server.

    ``answer_delay_s`` holds back all that the server says. ``pace_mbps`` bounds what all connections together carry
    up to the server, in Mbit/s of application data. Within ``hold_s`` (from, to; since the connection came) nothing is
    read from the client. ``connect`` makes a socket on the relay's host.
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
    ) -> None:
        self.connections: list[Connection] = []
        self._listener, self._target, self._socket, self._clock = listener, target, connect, clock
        self._delay_s, self._pace_mbps, self._hold_s = answer_delay_s, pace_mbps, hold_s
        self._free_s = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._sockets: list[socket.socket] = [listener]
        self._spawn(self._accept())

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, address = await loop.sock_accept(self._listener)
            self._sockets.append(client)
            note = Connection(self._clock(), address[1])
            self.connections.append(note)
            self._spawn(self._serve(client, note))

    async def _serve(self, client: socket.socket, note: Connection) -> None:
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
        note.relay_port = server.getsockname()[1]
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.gather(
            self._carry(client, server, note.up, self._wait_up(note)),
            self._carry(server, client, note.down, self._wait_down),
        )
        client.close()
        server.close()

    async def _carry(
        self, source: socket.socket, sink: socket.socket, flow: Flow, wait: Callable[[int], Awaitable[None]]
    ) -> None:
        """One direction; ``wait`` is given the number of bytes before they are passed on."""
        loop = asyncio.get_running_loop()
        try:
            while data := await loop.sock_recv(source, _READ):
                flow.note(data, self._clock())
                await wait(len(data))
                await loop.sock_sendall(sink, data)
                flow.forwarded_s = self._clock()
        except OSError as error:
            flow.reset = isinstance(error, ConnectionResetError)
        flow.closed_s = self._clock()
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def _wait_up(self, note: Connection) -> Callable[[int], Awaitable[None]]:
        async def wait(size: int) -> None:
            now_s = self._clock()
            if self._hold_s is not None and self._hold_s[0] <= now_s - note.accepted_s < self._hold_s[1]:
                await asyncio.sleep(note.accepted_s + self._hold_s[1] - now_s)
            if self._pace_mbps is not None:
                now_s = self._clock()
                self._free_s = max(self._free_s, now_s) + size * 8 / (self._pace_mbps * 1e6)
                await asyncio.sleep(self._free_s - now_s)

        return wait

    async def _wait_down(self, size: int) -> None:
        await asyncio.sleep(self._delay_s)

    def close(self) -> None:
        """Ends all connections."""
        for task in list(self._tasks):
            task.cancel()
        for one in self._sockets:
            one.close()


def listener(port: int) -> socket.socket:
    """A socket in the present namespace that a relay can take."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
    made.bind(("0.0.0.0", port))
    made.listen(64)
    made.setblocking(False)
    return made


def plain_socket() -> socket.socket:
    """A socket in the present namespace that can connect."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
    return made
