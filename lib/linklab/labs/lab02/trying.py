"""Run a student's simpleperf from a notebook: on this machine's loopback, or between two hosts of a lab.

Each function prints the commands that it runs, so that a student can run them by hand as well (``linklab shell h1`` in
a terminal). It prints a program's errors too: they are no errors of the notebook.
"""

from __future__ import annotations

import contextlib
import itertools
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from linklab.errors import LabError, LinklabError
from linklab.guest.listening import listens
from linklab.lab import Lab
from linklab.measure.simpleperf_rows import intervals, total_mbps
from linklab.program import Program

__all__ = ["Server", "alone", "between", "intervals", "loopback", "serving", "total_mbps"]

FILE: Final = "simpleperf.py"
FIRST_PORT: Final = 8088
LIMIT_S: Final = 60.0
"""How long a program may take: twice simpleperf's own 25 s, and more."""
_START_S = 10.0
_LAST_WORDS_S = 0.5
_LOOPBACK = "127.0.0.1"
_ports = itertools.count(FIRST_PORT)


@contextlib.contextmanager
def serving(lab: Lab, host: str, port: int | None = None) -> Iterator[Server]:
    """Run the program's server on a host for the length of a ``with`` statement, and print its output then.

    Without ``port`` each server gets one of its own, for a server that forgot SO_REUSEADDR cannot use one again. A
    server that does not listen says why in what is printed.
    """
    server = Server(lab, host, next(_ports) if port is None else port)
    try:
        server.wait_listening()
        yield server
    finally:
        server.end()


class Server:
    """A running server: it listens at ``address`` and ``port``; ``client`` starts a client that connects to it."""

    def __init__(self, lab: Lab, host: str, port: int) -> None:
        self._lab, self._host = lab, host
        self.address, self.port = lab[host].address, port
        self.program = _started(lab, host, ["-s", "-b", self.address, *_port_words(port)])

    def wait_listening(self) -> None:
        """Wait until the server listens or has ended, 10 s at most."""
        deadline_s = self._lab.now() + _START_S
        while self.program.poll() is None and self._lab.now() < deadline_s:
            with contextlib.suppress(LabError):
                self._lab[self._host].wait_listening(self.port, 0.05)
                return

    def client(self, host: str, flags: str = "") -> Iterator[str]:
        """Start a client on a host, and yield its lines as they come. After `LIMIT_S` end it, and say so."""
        words = ["-c", "-I", self.address, *_port_words(self.port), *shlex.split(flags)]
        return _lines(self._lab, _started(self._lab, host, words))

    def end(self) -> None:
        """End the server, and print its output."""
        # its last row comes after the client's end
        with contextlib.suppress(LabError):
            self.program.wait(_LAST_WORDS_S)
        self.program.terminate()
        print(f"\n--- the server on {self._host} said:\n{self.program.output.rstrip()}")


def between(lab: Lab, client: str, server: str, flags: str = "", *, port: int | None = None) -> None:
    """Transfer between two hosts of the lab, and print the output of client and server."""
    with serving(lab, server, port) as running:
        for line in running.client(client, flags):
            print(line, flush=True)


def alone(lab: Lab, host: str, flags: str = "") -> None:
    """Run the program by itself on a host, and print its output and its exit status."""
    program = _started(lab, host, shlex.split(flags))
    for line in _lines(lab, program):
        print(line)
    print(f"(exit status {program.returncode})")


def loopback(flags: str = "") -> None:
    """Transfer over this machine's loopback, in real time, and print the output of client and server.

    Raises LinklabError if there is no such file.
    """
    if not Path(FILE).is_file():
        raise LinklabError(f"there is no {FILE} next to this notebook: copy it again from the folder labs")
    port = _free_port()
    with _process(["-s", "-b", _LOOPBACK, "-p", str(port)]) as server:
        deadline_s = time.monotonic() + _START_S
        while server.poll() is None and not listens("self", port) and time.monotonic() < deadline_s:
            time.sleep(0.02)
        with _process(["-c", "-I", _LOOPBACK, "-p", str(port), *shlex.split(flags)]) as client:
            try:
                print(client.communicate(timeout=LIMIT_S)[0].rstrip())
            except subprocess.TimeoutExpired:
                print(f"the client still ran after {LIMIT_S:g} s, so it was ended")
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(_LAST_WORDS_S)
        server.terminate()
        print(f"\n--- the server said:\n{server.communicate()[0].rstrip()}")


def _port_words(port: int) -> list[str]:
    return [] if port == FIRST_PORT else ["-p", str(port)]


def _started(lab: Lab, host: str, words: Sequence[str]) -> Program:
    command = shlex.join(["python3", FILE, *words])
    print(f"{host}$ {command}", flush=True)
    # unbuffered: a program that does not flush its lines would show them all at its end
    return lab[host].popen(f"exec env PYTHONUNBUFFERED=1 {command}")


def _lines(lab: Lab, program: Program) -> Iterator[str]:
    deadline_s, rest = lab.now() + LIMIT_S, ""
    while (left_s := deadline_s - lab.now()) > 0:
        text = program.read(left_s)
        *lines, rest = (rest + text).split("\n")
        yield from lines
        if not text and program.returncode is not None:
            break
    else:
        program.terminate()
        rest += f"the program still ran after {LIMIT_S:g} s, so it was ended"
    if rest:
        yield rest


@contextlib.contextmanager
def _process(words: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    print(f"$ {shlex.join(['python3', FILE, *words])}", flush=True)
    process = subprocess.Popen(
        [sys.executable, "-u", FILE, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        return int(probe.getsockname()[1])
