"""A running lab's door for `linklab shell`: another terminal of the same user can run commands in it.

The door is an abstract Unix socket. It has no file that could be left behind, its name says whose it is, and each
side lets in only the same user: the kernel tells both who the other one is.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import re
import select
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from linklab.errors import LabError

Run = Callable[[str, str, Callable[[str], None], Callable[[], bool]], None]
"""Runs a command on a node: ``run(node, command, show, stop)``; `show` gets output, `stop` says when to end it."""

SILENCE_LIMIT_S = 300.0
_PREFIX = "linklab-lab"
_LISTENING = 0x10000  # __SO_ACCEPTCON in the flags of /proc/net/unix
_NAME_CHARACTERS = 40  # an abstract address has room for 107 bytes
_CLOSE_LIMIT_S = 5.0
_numbers = itertools.count(1)


class Door:
    """A lab's door while it is open. `address` is what `Visit` takes."""

    def __init__(self, listener: socket.socket, address: str, waiter: threading.Thread) -> None:
        self._listener, self.address, self._waiter = listener, address, waiter

    def close(self) -> None:
        """Nobody can come in any more. Calling it twice does no harm."""
        with contextlib.suppress(OSError):
            # close alone does not wake the thread that waits in accept, and its socket would stay open
            self._listener.shutdown(socket.SHUT_RDWR)
        if threading.current_thread() is not self._waiter:  # a forgotten lab ends in whichever thread runs
            self._waiter.join(_CLOSE_LIMIT_S)
        self._listener.close()


def open_door(name: str, nodes: Callable[[], list[str]], run: Run, *, silence_limit_s: float = SILENCE_LIMIT_S) -> Door:
    """Lets visitors in, in a thread of its own, until the door is closed.

    `nodes` gives the names of the nodes, none once the lab has ended.
    A visitor's command that is silent for `silence_limit_s` of real time is ended: while it runs the notebook
    waits, and a lab that is silent for longer still is taken for hung and ended whole.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:_NAME_CHARACTERS]
    while True:
        address = f"\0{_PREFIX}-{os.getuid()}-{os.getpid()}-{next(_numbers)}-{plain}"
        try:
            listener.bind(address)
            break
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    listener.listen()
    waiter = threading.Thread(
        target=_serve, args=(listener, nodes, run, silence_limit_s), name="linklab-door", daemon=True
    )
    waiter.start()
    return Door(listener, address, waiter)


def _serve(listener: socket.socket, nodes: Callable[[], list[str]], run: Run, silence_limit_s: float) -> None:
    while True:
        try:
            visitor, _ = listener.accept()
        except OSError:
            return
        if _owner(visitor) != os.getuid():
            visitor.close()
            continue
        threading.Thread(target=_welcome, args=(visitor, nodes, run, silence_limit_s), daemon=True).start()


def _owner(connected: socket.socket) -> int:
    """The user at the other end."""
    _, uid, _ = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(uid)


def _welcome(visitor: socket.socket, nodes: Callable[[], list[str]], run: Run, silence_limit_s: float) -> None:
    lines = _Lines(visitor)
    with visitor, contextlib.suppress(OSError, ValueError, KeyError):
        lines.say(nodes=nodes())
        while (wish := lines.hear()) is not None:
            if "command" in wish:  # else an interrupt that came when the command was done already
                error = _carry_out(wish, lines, run, silence_limit_s)
                lines.say(done=True, error=error, ended=not nodes())


def _carry_out(wish: dict[str, Any], lines: _Lines, run: Run, silence_limit_s: float) -> str | None:
    """Runs a visitor's command; what went wrong, as a line for people, or None."""
    heard_at, silent_too_long = time.monotonic(), False

    def show(text: str) -> None:
        nonlocal heard_at
        heard_at = time.monotonic()
        with contextlib.suppress(OSError):  # a visitor who is gone; `stop` sees it, and the command is ended in order
            lines.say(output=text)

    def stop() -> bool:
        nonlocal silent_too_long
        silent_too_long = time.monotonic() - heard_at > silence_limit_s
        return silent_too_long or lines.waiting()

    try:
        run(wish["node"], wish["command"], show, stop)
    except KeyboardInterrupt:
        pass
    except Exception as failure:
        return str(failure)
    if silent_too_long:
        return f"it was silent for {silence_limit_s:g} s and was ended, because the notebook waits: put & behind it"
    return None


def running_labs() -> dict[str, str]:
    """The doors of this user's running labs, the newest last: a short name for people, and the address."""
    found = []
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if not fields[-1].startswith(f"@{_PREFIX}-{os.getuid()}-") or not int(fields[3], 16) & _LISTENING:
            continue
        _, _, _, pid, number, name = fields[-1].split("-", 5)
        found.append((_started_at(pid), int(number), f"{name} (process {pid}, {number})", "\0" + fields[-1][1:]))
    return {name: address for _, _, name, address in sorted(found)}


def _started_at(pid: str) -> int:
    """When a process was started, in clock ticks since boot; 0 for one that is gone or not ours to see."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0


class Visit:
    """A visit to a running lab through its door."""

    def __init__(self, address: str) -> None:
        """Raises `LabError` where the lab is gone, or is another user's."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lines = _Lines(self._socket)
        try:
            self._socket.connect(address)
            # whoever came first may take a name, so a name does not say whose the door is
            welcome = self._lines.hear() if _owner(self._socket) == os.getuid() else {}
        except OSError:
            welcome = None
        if not welcome or not welcome["nodes"]:
            self._socket.close()
            why = "is another user's" if welcome == {} else "has just ended: start it again in the notebook"
            raise LabError(f"the lab {why}")
        self.nodes: list[str] = welcome["nodes"]

    def run(self, node: str, command: str, show: Callable[[str], None]) -> None:
        """Runs a command; `show` gets its output as it comes.

        Ctrl-C ends the command. Raises KeyboardInterrupt at the second Ctrl-C, after which the visit is over;
        `RuntimeError` with the reason where the command could not be run; `LabError` when the lab has ended.
        """
        self._lines.say(node=node, command=command)
        with self._interruptible():
            while (message := self._lines.hear()) is not None:
                if "output" in message:
                    show(message["output"])
                if "done" in message:
                    if message["ended"]:
                        raise LabError(message["error"] or "the lab has ended")
                    if message["error"]:
                        raise RuntimeError(message["error"])
                    return
        raise LabError("the lab has ended")

    @contextlib.contextmanager
    def _interruptible(self) -> Any:
        """Passes Ctrl-C on. As an exception it could come between two bytes of a message and lose the rest."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        asked = False

        def interrupt(number: int, frame: FrameType | None) -> None:
            nonlocal asked
            if asked:
                raise KeyboardInterrupt
            asked = True
            with contextlib.suppress(OSError):  # the lab is gone, and hear() says so
                self._lines.say(interrupt=True)

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def close(self) -> None:
        """Leaves; the lab goes on."""
        self._socket.close()


class _Lines:
    """JSON messages over a socket, a line each."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket, self._rest = connected, b""

    def say(self, **message: object) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def hear(self) -> dict[str, Any] | None:
        """The next message, or None when the other side is gone."""
        while b"\n" not in self._rest:
            try:
                data = self._socket.recv(65536)
            except ConnectionError:
                return None
            if not data:
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def waiting(self) -> bool:
        """Whether the other side has said something, or has gone."""
        return bool(self._rest) or bool(select.select([self._socket], [], [], 0)[0])
