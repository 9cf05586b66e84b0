"""Lends labs to a student's kernel; the judge keeps a handle on each.

The kernel asks over a Unix socket (:mod:`linklab.runtime.transport`). Each lab is a real one: a guest on virtual time
that sees no more of this machine than it needs. The broker hands on requests and answers unread: only the guest
unpickles. The same socket takes one connection for values (:mod:`linklab.grading.answer`).
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from linklab.errors import LabError, LinklabError
from linklab.guest.channel import Channel, ChannelClosed, ChannelTimeout
from linklab.lab import Lab, names_of
from linklab.runtime.backends import Kind, guest_memory_mb, whole_seed
from linklab.runtime.client import LabProcess

LABS_AT_MOST: Final = 8
"""How many labs one notebook may have at once: Lab 10 has six of them."""
_CONNECTIONS_AT_MOST: Final = 24
_HELLO_S: Final = 20.0
_FREE_S: Final = 20.0
"""Seconds that a new lab waits for one that was just given back."""
_DIGITS_AT_MOST: Final = 20


class JudgeLab(Lab):
    """The judge's handle on a lab that a student's kernel has borrowed. It lets no visitor in and ends nothing."""

    def __init__(self, process: LabProcess, number: int) -> None:
        self.process, self.name, self.network = process, f"lab {number}", None
        self.not_checked = ()
        self._names = names_of(process)

    def stop(self) -> None:
        """Do nothing: the student ends this lab."""


class Broker:
    """Lends labs to one student's kernel until it is closed."""

    def __init__(self, address: Path, kind: Kind, folder: Path, wall_limit_s: float) -> None:
        """Listen at `address`. Labs may write into `folder`, and each request may take `wall_limit_s`."""
        self._kind, self._folder, self._wall_limit_s = kind, folder, wall_limit_s
        self._numbers = itertools.count(1)
        self._processes: dict[int, LabProcess] = {}
        self._seen: dict[int, JudgeLab] = {}
        self._room = threading.Semaphore(LABS_AT_MOST)
        self._connections: set[socket.socket] = set()
        self._guard = threading.Lock()
        self._closed = False
        self.values: queue.Queue[Channel] = queue.Queue()
        """Connections for values, the newest last."""
        self.virtual_s = 0.0
        """How much time passed in labs that have ended."""
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(address))
        address.chmod(0o666)  # who may come near is the folder's to say
        self._listener.listen(_CONNECTIONS_AT_MOST)
        threading.Thread(target=self._accept, name="broker", daemon=True).start()

    def lab(self, number: object) -> JudgeLab:
        """Return the judge's handle on a lab. Raises `LabError` where no lab of that number runs."""
        with self._guard:
            process = self._processes.get(number) if isinstance(number, int) else None
        if not isinstance(number, int) or process is None:
            raise LabError("this lab was never started here, or has ended")
        if number not in self._seen:
            self._seen[number] = JudgeLab(process, number)
        return self._seen[number]

    def end_labs(self) -> None:
        """End all labs that run now."""
        with self._guard:
            processes = list(self._processes.values())
        for process in processes:
            process.stop()

    def close(self) -> None:
        """End all labs, and lend no more. A second call does nothing."""
        with self._guard:
            self._closed = True
            connections = list(self._connections)
        for connection in (self._listener, *connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.end_labs()
        until = time.monotonic() + _FREE_S
        while self._processes and time.monotonic() < until:  # each is taken off the list by its own thread
            time.sleep(0.01)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._guard:
                full = self._closed or len(self._connections) >= _CONNECTIONS_AT_MOST
                if not full:
                    self._connections.add(connection)
            if full:
                connection.close()
                continue
            threading.Thread(target=self._serve, args=(connection,), name="lent lab", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        channel = Channel(connection.fileno(), connection.fileno(), write_limit_s=self._wall_limit_s)
        kept = False
        try:
            wish = channel.receive(_HELLO_S)
            if wish.get("want") == "values":
                kept = True
                channel.connection = connection  # type: ignore[attr-defined]  # to live as long as the channel
                self.values.put(channel)
            elif wish.get("want") == "lab":
                self._lend(channel, wish)
        except (ChannelClosed, ChannelTimeout, OSError):
            pass
        finally:
            if not kept:
                with self._guard:
                    self._connections.discard(connection)
                connection.close()

    def _lend(self, channel: Channel, wish: dict[str, Any]) -> None:
        if not self._room.acquire(timeout=_FREE_S):
            error = LabError(f"{LABS_AT_MOST} labs run already, the most at once here: stop one first")
            channel.send(_told(error), _HELLO_S)
            return
        try:
            self._with_lab(channel, wish)
        finally:
            self._room.release()

    def _with_lab(self, channel: Channel, wish: dict[str, Any]) -> None:
        limit = wish.get("wall_limit_s")
        asked_s = limit if isinstance(limit, int | float) and limit > 0 else self._wall_limit_s
        try:
            process = LabProcess.spawn(
                self._kind, self._folder, min(asked_s, self._wall_limit_s), untrusted=True, seed=_seed_of(wish)
            )
        except LinklabError as error:
            channel.send(_told(error), _HELLO_S)
            return
        number = next(self._numbers)
        began_s = process.clock_s
        with self._guard:
            self._processes[number] = process
            ended = self._closed
        try:
            if ended:
                return
            channel.send(
                {
                    "number": number, "name": process.kind.name, "clock_s": began_s,
                    "kernel": process.kernel_release, "memory_mb": guest_memory_mb(),
                },
                _HELLO_S,
            )  # fmt: skip
            while True:
                self._hand_on(channel, process, channel.receive())
        finally:
            process.stop()
            with self._guard:
                self._processes.pop(number, None)
                self.virtual_s += process.clock_s - began_s

    def _hand_on(self, channel: Channel, process: LabProcess, request: dict[str, Any]) -> None:
        if "interrupt" in request:
            return  # it came too late
        asked = {"pickle": request.get("pickle")}
        number = request.get("id")

        def tell(event: Any) -> None:
            channel.send({"id": number, "event": event}, self._wall_limit_s)

        try:
            answer, _ = process.relay(asked, tell, _interrupted(channel))
        except KeyboardInterrupt:
            answer = {"interrupted": True}
        except LinklabError as error:
            answer = _told(error)
        channel.send({**answer, "id": number, "clock_s": process.clock_s}, self._wall_limit_s)


def _told(error: LinklabError) -> dict[str, Any]:
    """Return an error as the borrower's side raises it again."""
    return {"error": str(error), "kind": type(error).__name__}


def _seed_of(wish: dict[str, Any]) -> int:
    """Return the seed that a borrower asks for. Raise `LabError` for what is none."""
    seed = wish.get("seed", "0")
    number = isinstance(seed, str) and seed.isascii() and seed.isdigit() and len(seed) <= _DIGITS_AT_MOST
    return whole_seed(int(str(seed)) if number else seed)


def _interrupted(channel: Channel) -> Callable[[], bool]:
    """Return a function that tells whether the student's side has interrupted the running request, or is gone."""

    def asked() -> bool:
        try:
            return channel.waiting_interrupt() is not None
        except ChannelClosed:
            return True

    return asked
