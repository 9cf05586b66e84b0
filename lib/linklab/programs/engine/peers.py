"""Play a TCP client that misbehaves on purpose, and a listener that never answers."""

from __future__ import annotations

import asyncio
import base64
import socket
import struct
from collections.abc import Callable
from typing import Any

_CONNECT_S = 10.0
_SEND_S = 30.0


async def play(
    made: socket.socket, target: tuple[str, int], steps: list[list[Any]], clock: Callable[[], float]
) -> list[dict[str, Any]]:
    """Do the steps one after the other on one connection, up to the first that fails; return what came of each.

    The connection stays open unless a step closes it: its end is news to the server, and a scene of its own.

    ``["connect"]``, ``["send", base64, times]``, ``["sleep", seconds]``, ``["receive", seconds, bytes]`` (until so
    many bytes, the end or the time), ``["shutdown"]``, ``["reset"]``, ``["close"]``.
    """
    made.setblocking(False)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    records = []
    for step in steps:
        record: dict[str, Any] = {"step": step[0], "began_s": clock()}
        records.append(record)
        try:
            await _step(made, target, step, record)
        except (OSError, TimeoutError) as error:
            record["error"] = type(error).__name__
        record["s"] = clock()
        if "error" in record:
            break
    return records


async def _step(made: socket.socket, target: tuple[str, int], step: list[Any], record: dict[str, Any]) -> None:
    loop = asyncio.get_running_loop()
    match step:
        case ["connect"]:
            await asyncio.wait_for(loop.sock_connect(made, target), _CONNECT_S)
        case ["send", data, times]:
            await asyncio.wait_for(loop.sock_sendall(made, base64.b64decode(data) * times), _SEND_S)
        case ["sleep", seconds]:
            await asyncio.sleep(seconds)
        case ["receive", seconds, size]:
            await _receive(made, seconds, size, record)
        case ["shutdown"]:
            made.shutdown(socket.SHUT_WR)
        case ["reset"]:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            made.close()
        case ["close"]:
            made.close()
        case _:
            raise ValueError(f"no such step: {step}")


async def _receive(made: socket.socket, seconds: float, size: int, record: dict[str, Any]) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    data, record["end"], record["late"] = b"", False, False
    try:
        while len(data) < size and not record["end"]:
            piece = await asyncio.wait_for(loop.sock_recv(made, 4096), max(0.001, deadline - loop.time()))
            data += piece
            record["end"] = not piece
    except TimeoutError:
        record["late"] = True
    finally:
        record["data"] = base64.b64encode(data).decode()


class SilentListener:
    """Accepts each connection where no program should connect, and reads nothing of it: who sends is soon held up.

    ``connections`` says when each came, in seconds of the scene.
    """

    def __init__(self, listening: socket.socket, clock: Callable[[], float]) -> None:
        self.connections: list[float] = []
        self.address, self.port = listening.getsockname()
        self._clock = clock
        self._sockets = [listening]
        self._task = asyncio.get_running_loop().create_task(self._accept(listening))

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listening)
            self._sockets.append(client)
            self.connections.append(self._clock())

    def close(self) -> None:
        """End all connections."""
        self._task.cancel()
        for one in self._sockets:
            one.close()

    def record(self) -> dict[str, Any]:
        """Return what connected, as JSON."""
        return {"address": self.address, "port": self.port, "connections": self.connections}
