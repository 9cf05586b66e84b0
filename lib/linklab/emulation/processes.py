"""Programs that run on in a lab while the notebook does something else."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import Any

from linklab.emulation.commands import node
from linklab.errors import LabError
from linklab.runtime.agent import Context

_CHUNK = 64 * 1024


@dataclass
class _Program:
    process: subprocess.Popen[bytes]
    open_fds: list[int] = field(default_factory=list)


def start(context: Context, name: str, words: str | list[str]) -> int:
    """Starts a program on a node, its output kept; the handle's number. A string goes through the shell."""
    host = node(context, name)
    argv = ["/bin/sh", "-c", words] if isinstance(words, str) else words
    try:
        process = host.popen(argv, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise LabError(f"{argv[0]} cannot be started on {name}: {error.strerror}") from None
    os.set_blocking(process.stdout.fileno(), False)
    table: dict[int, _Program] = context.state.setdefault("programs", {})
    number = len(table) + 1
    table[number] = _Program(process, [process.stdout.fileno()])
    return number


def read(context: Context, number: int, timeout_s: float | None, until: str) -> dict[str, Any]:
    """Waits for output (`until` = ``"output"``) or for the end (``"end"``), at most `timeout_s` of the lab's time.

    What was printed meanwhile, and the exit status once the program has ended.
    """
    program = context.state["programs"][number]
    pieces: list[bytes] = []
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    while program.open_fds:
        left = None if deadline is None else deadline - time.monotonic()
        piece = _read(program)
        if piece:
            pieces.append(piece)
            if until == "output":
                break
            continue
        if not program.open_fds or (left is not None and left <= 0):
            break
        context.poll(program.open_fds, left)
    status = None if program.open_fds else _status(context, program, deadline)
    return {"output": b"".join(pieces).decode(errors="replace"), "status": status}


def _read(program: _Program) -> bytes:
    """What is there now; closes the pipe at its end."""
    try:
        data = os.read(program.open_fds[0], _CHUNK)
    except BlockingIOError:
        return b""
    if not data:
        program.open_fds.clear()
    return data


def _status(context: Context, program: _Program, deadline: float | None) -> int | None:
    """The exit status: the program may close its output a moment before it ends."""
    ended = os.pidfd_open(program.process.pid) if program.process.poll() is None else None
    if ended is not None:
        with contextlib.closing(os.fdopen(ended, "rb", buffering=0)):
            context.poll([ended], None if deadline is None else deadline - time.monotonic())
    return program.process.poll()


def send_signal(context: Context, number: int, sign: int) -> None:
    """Sends a signal to the program and whatever it started."""
    program = context.state["programs"][number]
    if program.process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.process.pid, signal.Signals(sign))
