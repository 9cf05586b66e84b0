"""Runs a simpleperf as its users do: processes, sockets and what they print. Everything stays on loopback."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from tests.support.ports import free_port

REFERENCE: Final = Path(__file__).parents[2] / "solutions" / "simpleperf.py"
LOOPBACK: Final = "127.0.0.1"
PATIENCE_S: Final = 60.0
"""Far more than anything here takes on a slow machine: reaching it means that it never comes."""

_ROW: Final = re.compile(r"^(\S+:\d+) +(\d+\.\d) - (\d+\.\d) +(\d+) (B|KB|MB) +(\d+\.\d\d) Mbps$")


@dataclass(frozen=True)
class Row:
    """A row of the reference's tables."""

    name: str
    start_s: float
    end_s: float
    amount: int
    unit: str
    rate_mbps: float


def rows(output: str) -> list[Row]:
    """All rows in the output, in order. A line that is no row of the reference's format is left out."""
    found = [_ROW.match(line) for line in output.splitlines()]
    return [
        Row(one[1], float(one[2]), float(one[3]), int(one[4]), one[5], float(one[6]))
        for one in found
        if one is not None
    ]


def listens(port: int) -> bool:
    """Whether a socket listens on the port. Asks the kernel: a connection for a try would count as a client."""
    entries = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(int(entry[1].rpartition(":")[2], 16) == port and entry[3] == "0A" for entry in entries)


def command(program: Path, *arguments: str) -> list[str]:
    """The words that run the program with this Python."""
    return [sys.executable, str(program), *arguments]


def environment() -> dict[str, str]:
    """Output comes at once, and in the same words everywhere."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", "LC_ALL": "C.UTF-8"}


def run(program: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program to its end. Raises subprocess.TimeoutExpired if it does not come to one."""
    return subprocess.run(
        command(program, *arguments),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(),
        cwd=cwd,
        check=False,
    )


def run_client(program: Path, port: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program's client against a server on loopback."""
    return run(program, "-c", "-I", LOOPBACK, "-p", str(port), *arguments)


class Server:
    """The program's server on a free port of loopback, for the length of a with statement."""

    def __init__(self, program: Path, folder: Path, *arguments: str, port: int | None = None) -> None:
        self.port = free_port() if port is None else port
        self._output, self._errors = folder / f"server-{self.port}.out", folder / f"server-{self.port}.err"
        self._command = command(program, "-s", "-b", LOOPBACK, "-p", str(self.port), *arguments)

    def __enter__(self) -> Server:
        with self._output.open("w") as output, self._errors.open("w") as errors:
            # A shell in the background leaves Ctrl-C ignored, and children would inherit that.
            self.process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=environment(),
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                start_new_session=True,
            )
        deadline = time.monotonic() + PATIENCE_S
        while not listens(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__(None, None, None)
                raise AssertionError(f"{self._command} does not listen: {self.output}{self.errors}")
            time.sleep(0.02)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # also what it has started, which may outlive it and hold its port
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def output(self) -> str:
        """What it has printed so far."""
        return self._output.read_text()

    @property
    def errors(self) -> str:
        """What it has printed on its standard error so far."""
        return self._errors.read_text()

    def wait_for(self, pattern: str, times: int = 1, *, errors: bool = False) -> str:
        """The output (or the errors) once the pattern is in it so many times. Raises AssertionError if it never is."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            text = self.errors if errors else self.output
            if len(re.findall(pattern, text, re.MULTILINE)) >= times:
                return text
            if time.monotonic() > deadline:
                raise AssertionError(f"no {times} x {pattern!r} in:\n{self.output}\n{self.errors}")
            time.sleep(0.02)

    def wait_for_rows(self, count: int) -> list[Row]:
        """The rows, once there are so many."""
        return rows(self.wait_for(r" Mbps$", count))

    def interrupt(self) -> int:
        """Press Ctrl-C and return the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)


def reset(connection: socket.socket) -> None:
    """Close with RST instead of FIN, as a process does whose host loses it."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
