"""A listener where no program should connect: who does is noted, read to the end, and not answered."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

_READ = 64 * 1024


class Listener:
    """Accepts every connection to a socket. ``connections`` are ``{"s", "bytes"}``: when each came, what it sent."""

    def __init__(self, listening: socket.socket, clock: Callable[[], float]) -> None:
        self.connections: list[dict[str, Any]] = []
        self.address, self.port = listening.getsockname()
        self._clock = clock
        self._sockets = [listening]
        self._tasks = {asyncio.get_running_loop().create_task(self._accept(listening))}

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listening)
            self._sockets.append(client)
            note = {"s": self._clock(), "bytes": 0}
            self.connections.append(note)
            self._tasks.add(loop.create_task(self._read(client, note)))

    @staticmethod
    async def _read(client: socket.socket, note: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        try:
            while data := await loop.sock_recv(client, _READ):
                note["bytes"] += len(data)
        except ConnectionError:
            pass
        client.close()

    def close(self) -> None:
        """Ends all connections."""
        for task in self._tasks:
            task.cancel()
        for one in self._sockets:
            one.close()

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {"address": self.address, "port": self.port, "connections": self.connections}
