"""Let `linklab shell` attach to a running lab: another terminal of the same user can run commands in it.

A lab listens at an abstract Unix socket. It has no file that could be left behind, its name says whose it is, and each
side lets in only the same user: the kernel tells both who the other one is.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from linklab.errors import LabEnded, LabError
from linklab.guest.channel import Channel, ChannelClosed, ChannelTimeout
from linklab.signals import Held

Run = Callable[[str, str, Callable[[], bool]], Iterator[str]]
"""Runs a command on a node: ``run(node, command, stop)`` yields output as it comes, and "" now and then; `stop` says
when to end the command. Closed early, it ends the command too."""

_PREFIX = "linklab-lab"
_NAME = re.compile(rf"@{_PREFIX}-(\d+)-(\d+)-(\d+)-(.*)")
_LISTENING = 0x10000  # __SO_ACCEPTCON in the flags of /proc/net/unix
_NAME_CHARACTERS = 40  # an abstract address has room for 107 bytes
_CLOSE_LIMIT_S = 5.0
_WELCOME_LIMIT_S = 300.0
_LOOK_UP_S = 0.2
_numbers = itertools.count(1)


class VisitorListener:
    """The socket at which a lab accepts visitors. `address` is what `Visit` takes."""

    def __init__(self, listener: socket.socket, address: str, waiter: threading.Thread | None) -> None:
        self._listener, self.address, self._waiter = listener, address, waiter

    def close(self) -> None:
        """Stop accepting visitors. Calling it twice does no harm."""
        with contextlib.suppress(OSError):
            # close alone does not wake the thread that waits in accept, and its socket would stay open
            self._listener.shutdown(socket.SHUT_RDWR)
        # a forgotten lab ends in whichever thread runs
        if self._waiter is not None and self._waiter is not threading.current_thread():
            self._waiter.join(_CLOSE_LIMIT_S)
        self._listener.close()


def listen(name: str, nodes: Callable[[], list[str]], run: Run) -> VisitorListener:
    """Accept visitors in a thread of its own, until the listener is closed.

    `nodes` gives the names of the nodes, none once the lab has ended. Each visitor is served in a thread of its own, so
    one who stops reading keeps nobody waiting. Abstract sockets are Linux's: elsewhere nobody can come in.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if sys.platform != "linux":
        return VisitorListener(listener, "", None)
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
    waiter = threading.Thread(target=_accept, args=(listener, nodes, run), name="linklab-attach", daemon=True)
    waiter.start()
    return VisitorListener(listener, address, waiter)


def _accept(listener: socket.socket, nodes: Callable[[], list[str]], run: Run) -> None:
    while True:
        try:
            visitor, _ = listener.accept()
        except OSError:
            return
        if _owner(visitor) != os.getuid():
            visitor.close()
            continue
        threading.Thread(target=_welcome, args=(visitor, nodes, run), daemon=True).start()


def _owner(connected: socket.socket) -> int:
    """Return the user at the other end."""
    _, uid, _ = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(uid)


def _welcome(visitor: socket.socket, nodes: Callable[[], list[str]], run: Run) -> None:
    channel = Channel(visitor.fileno(), visitor.fileno())
    with visitor, contextlib.suppress(ChannelClosed):
        channel.send({"nodes": nodes()})
        while True:
            request = channel.receive()
            if "command" in request:  # else an interrupt that came when the command was done already
                error = _carry_out(str(request.get("node")), str(request["command"]), channel, run)
                channel.send({"error": error, "ended": not nodes()})


def _carry_out(node: str, command: str, channel: Channel, run: Run) -> str | None:
    """Run a visitor's command; return what went wrong, as a line for people, or None. Raises `ChannelClosed` where the
    visitor has left, and the command has been ended.
    """

    def stop() -> bool:
        return channel.waiting_interrupt() is not None

    try:
        with closing(run(node, command, stop)) as pieces:  # type: ignore[type-var]
            for piece in pieces:
                if piece:
                    channel.send({"output": piece})
    except ChannelClosed:
        raise
    except (Exception, KeyboardInterrupt) as failure:
        return str(failure)
    return None


def running_labs(folder: Path) -> dict[str, str]:
    """Return the labs that this user's processes in a folder, or below it, run: a short name for people, and the
    address. The newest is the last.
    """
    found = []
    for line in Path("/proc/net/unix").read_text(errors="replace").splitlines()[1:]:
        fields = line.split(maxsplit=7)
        name = _NAME.fullmatch(fields[7]) if len(fields) == 8 else None
        # anybody may take any name: one of another form is not a lab's
        if name is None or int(name[1]) != os.getuid() or not int(fields[3], 16) & _LISTENING:
            continue
        if not _runs_in(name[2], folder):
            continue
        found.append(
            (_started_at(name[2]), int(name[3]), f"{name[4]} (process {name[2]}, {name[3]})", "\0" + fields[7][1:])
        )
    return {name: address for _, _, name, address in sorted(found)}


def _runs_in(pid: str, folder: Path) -> bool:
    """Return whether a process of this user has its working folder there."""
    try:
        return Path(f"/proc/{pid}/cwd").resolve(strict=True).is_relative_to(folder.resolve())
    except OSError:  # it has ended, or is not ours to see
        return False


def _started_at(pid: str) -> int:
    """Return when a process was started, in clock ticks since boot; 0 for one that is gone or not ours to see."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0


class Visit:
    """A visit to a running lab."""

    def __init__(self, address: str) -> None:
        """Raise `LabError` where the lab is gone, or is another user's."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        welcome: dict[str, Any] | None = None
        with contextlib.suppress(OSError, ChannelClosed, ChannelTimeout):
            self._socket.connect(address)
            # whoever came first may take a name, so a name does not say whose the lab is
            if _owner(self._socket) != os.getuid():
                self._socket.close()
                raise LabError("the lab is another user's")
            self._channel = Channel(self._socket.fileno(), self._socket.fileno())
            welcome = self._channel.receive(_WELCOME_LIMIT_S)
        if not welcome or not welcome.get("nodes"):
            self._socket.close()
            raise LabEnded("the lab has just ended: start it again in the notebook")
        self.nodes: list[str] = welcome["nodes"]

    def run(self, node: str, command: str, show: Callable[[str], None]) -> None:
        """Run a command; `show` gets its output as it comes.

        Ctrl-C ends the command. Raises KeyboardInterrupt at the second Ctrl-C, after which the visit is over;
        `RuntimeError` with the reason where the command could not be run; `LabEnded` when the lab has ended.
        """
        told, done = False, None
        try:
            with Held() as held:
                self._channel.send({"node": node, "command": command})
                while done is None:
                    message = None
                    with contextlib.suppress(ChannelTimeout):
                        message = self._channel.receive(_LOOK_UP_S)
                    try:
                        if message is None:
                            held.let_through()
                        elif "output" in message:
                            held.let_through(partial(show, message["output"]))
                        else:
                            done = message
                    except KeyboardInterrupt:
                        if told:
                            raise
                        told = True
                        self._channel.send({"interrupt": True})
        except ChannelClosed:
            raise LabEnded("the lab has ended") from None
        except KeyboardInterrupt:
            if done is None:
                raise
        assert done is not None
        if done["ended"]:
            raise LabEnded(done["error"] or "the lab has ended")
        if done["error"]:
            raise RuntimeError(done["error"])

    def close(self) -> None:
        """Leave; the lab goes on."""
        self._socket.close()
