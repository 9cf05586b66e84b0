"""Runs a generated program over loopback, without the check: what its client does, and what passes to its server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..runner import LOOPBACK, Server, environment, free_port
from . import Generated

PATIENCE_S: Final = 60.0


@dataclass
class Carried:
    """What one connection carried to the server: bytes, and when the first and the last of them came."""

    size: int = 0
    first_s: float = 0.0
    last_s: float = 0.0


@dataclass
class Done:
    """How a client ended, what it printed, and what its connections carried; ``late``: it was ended after its time."""

    status: int
    output: str
    errors: str
    carried: list[Carried] = field(default_factory=list)
    late: bool = False

    @property
    def size(self) -> int:
        """Bytes carried by all connections."""
        return sum(one.size for one in self.carried)


class Counter:
    """Listens, passes every connection on to a server, and counts what it carries there."""

    def __init__(self, target: int) -> None:
        self.carried: list[Carried] = []
        self._target = target
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            note = Carried()
            self.carried.append(note)
            try:
                server = socket.create_connection((LOOPBACK, self._target))
            except OSError:
                client.close()
                continue
            threading.Thread(target=_carry, args=(client, server, note), daemon=True).start()
            threading.Thread(target=_carry, args=(server, client, None), daemon=True).start()

    def close(self) -> None:
        """Take no further connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def _carry(source: socket.socket, sink: socket.socket, note: Carried | None) -> None:
    try:
        while data := source.recv(65536):
            if note is not None:
                note.last_s = time.monotonic()
                note.first_s = note.first_s or note.last_s
                note.size += len(data)
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        sink.close()


class Driven:
    """A program with its server running, whose clients are counted."""

    def __init__(self, program: Generated, path: Path, server: Server) -> None:
        self.program, self.path, self.server = program, path, server

    def amount(self, number: int, unit: str) -> list[str]:
        """Return the words that ask for so much, in the program's own form."""
        match self.program.choices["num"]:
            case "bare":
                return ["-n", str(number), "-f", unit]
            case "spaced":
                return ["-n", f"{number} {unit}"]
            case "any case":
                return ["-n", f"{number}{unit.lower()}"]
            case _:
                return ["-n", f"{number}{unit}"]

    def client(self, *words: str, patience_s: float = PATIENCE_S) -> Done:
        """Run a client against the server to its end."""
        counter = Counter(self.server.port)
        done = run(self.path, "-c", "-I", LOOPBACK, "-p", str(counter.port), *words, patience_s=patience_s)
        counter.close()
        done.carried = counter.carried
        return done


@contextmanager
def driven(program: Generated, folder: Path) -> Iterator[Driven]:
    """Start the program's server in the folder, for the length of a with statement."""
    path = program.write(folder)
    with Server(path, folder, "-f", "KB") as server:
        yield Driven(program, path, server)


def run(path: Path, *words: str, patience_s: float = PATIENCE_S) -> Done:
    """Run the program to its end, or end it when its time is over."""
    process = subprocess.Popen(
        [sys.executable, str(path), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=path.parent,
        env={**environment(), "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True,
    )
    late = False
    try:
        output, errors = process.communicate(timeout=patience_s)
    except subprocess.TimeoutExpired:
        late = True
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
    return Done(process.returncode, output, errors, late=late)


def unused_port() -> str:
    """Return a port where nothing listens."""
    return str(free_port())
