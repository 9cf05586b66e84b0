"""A running lab's door for `linklab shell`: another terminal of the same user can run commands in it.

The door is an abstract Unix socket. It has no file that could be left behind, its name says whose it is, and only
processes of the same user are let in.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

Run = Callable[[str, str, Callable[[str], None], Callable[[], bool]], None]
"""Runs a command on a node: ``run(node, command, show, stop)``; `show` gets output, `stop` says when to end it."""

_PREFIX = "linklab-lab"


def open_door(name: str, nodes: Callable[[], list[str]], run: Run) -> socket.socket:
    """Listens in a thread of its own until the socket returned is closed."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    number = 1
    while True:
        try:
            door.bind(f"\0{_PREFIX}-{os.getuid()}-{os.getpid()}-{number}-{name}")
            break
        except OSError:
            number += 1
    door.listen()
    threading.Thread(target=_serve, args=(door, nodes, run), name="linklab-door", daemon=True).start()
    return door


def _serve(door: socket.socket, nodes: Callable[[], list[str]], run: Run) -> None:
    while True:
        try:
            visitor, _ = door.accept()
        except OSError:
            return
        _, uid, _ = struct.unpack("3i", visitor.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if uid != os.getuid():
            visitor.close()
            continue
        threading.Thread(target=_welcome, args=(visitor, nodes, run), daemon=True).start()


def _welcome(visitor: socket.socket, nodes: Callable[[], list[str]], run: Run) -> None:
    def say(**message: object) -> None:
        visitor.sendall(json.dumps(message).encode() + b"\n")

    def gone_or_interrupted() -> bool:
        return bool(select.select([visitor], [], [], 0)[0])

    with visitor, visitor.makefile() as lines, contextlib.suppress(OSError, ValueError):
        say(nodes=nodes())
        for line in lines:
            wish = json.loads(line)
            if "command" not in wish:
                continue
            error = None
            try:
                run(wish["node"], wish["command"], lambda text: say(output=text), gone_or_interrupted)
            except KeyboardInterrupt:
                pass
            except Exception as failure:
                error = str(failure)
            say(done=True, error=error)


def running_labs() -> dict[str, str]:
    """The doors of this user's running labs: a short name for people, and the address."""
    found = {}
    for line in Path("/proc/net/unix").read_text().splitlines():
        address = line.rpartition(" ")[2]
        if address.startswith(f"@{_PREFIX}-{os.getuid()}-"):
            _, _, _, pid, number, name = address.split("-", 5)
            found[f"{name} (process {pid}, {number})"] = "\0" + address[1:]
    return found


class Visit:
    """A visit to a running lab through its door."""

    def __init__(self, address: str) -> None:
        """Raises OSError where the lab is gone."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(address)
        self._lines = self._socket.makefile()
        self.nodes: list[str] = json.loads(next(self._lines))["nodes"]

    def run(self, node: str, command: str) -> Iterator[str]:
        """The output of a command as it comes. Raises RuntimeError with the reason where it could not be run."""
        self._send(node=node, command=command)
        while True:
            try:
                message = json.loads(next(self._lines))
            except KeyboardInterrupt:
                self._send(interrupt=True)
                continue
            if "output" in message:
                yield message["output"]
            if "done" in message:
                if message["error"]:
                    raise RuntimeError(message["error"])
                return

    def _send(self, **message: object) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def close(self) -> None:
        """Leaves; the lab goes on."""
        self._socket.close()
