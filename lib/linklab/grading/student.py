"""Starts a student's kernel in its sandbox, has it run cell by cell, watches what it uses, and ends it.

This is the third place that confines (docs/sandbox.md): `linklab.runtime.bwrap` writes bubblewrap's words and sets
limits; this module decides what a notebook may see, and adds up what all of its processes use.
"""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from linklab import process_tree
from linklab.course import VARIABLE as VARIANT
from linklab.errors import LabError
from linklab.grading.room import Room
from linklab.grading.verdict import Limits
from linklab.guest import limits as process_limits
from linklab.guest.channel import Channel, ChannelClosed, ChannelTimeout
from linklab.runtime import bwrap, transport
from linklab.runtime.console import Console

_GIVEN: Final = "/run/linklab"
_MB: Final = 1024 * 1024
_START_S: Final = 120.0
_LOOK_S: Final = 0.5
_AFTER_INTERRUPT_S: Final = 8.0
_ADDRESS_SPACE_MB: Final = 16384
_KILL_S: Final = 10.0


@dataclass
class Ran:
    """The outcome of a cell that was run. `trouble` says in one line why it did not come to its end, if so."""

    outputs: list[Any] = field(default_factory=list)
    count: int | None = None
    cut: bool = False
    trouble: str = ""


class Student:
    """A student's kernel in its sandbox. It is gone once `death_reason` says why; a new one is to be started then."""

    def __init__(self, room: Room, limits: Limits, used_cpu_s: float = 0.0) -> None:
        """Start the kernel, and return when it is ready. Raises `LabError` where it does not start.

        `used_cpu_s` is the CPU time of the notebook's earlier kernels, which counts too.
        """
        self._limits, self._used_cpu_s = limits, used_cpu_s
        self.death_reason = ""
        self.cpu_s = used_cpu_s
        self._asked = 0
        console = Console()
        ours, theirs = socket.socketpair()
        self._ours = ours
        with theirs, contextlib.closing(console):  # what it has said stays to be read
            words, how = confinement(room, limits)
            words += [sys.executable, "-P", "-m", "linklab.grading.driver", str(theirs.fileno()), str(room.home)]
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=console.file,
                stderr=console.file,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                **how,
            )
        largest = limits.output_kb * 1024 * 8 + _MB
        self._driver = Channel(ours.fileno(), ours.fileno(), largest_bytes=largest)
        threading.Thread(target=self._watch, name="watch", daemon=True).start()
        try:
            self._driver.receive(_START_S)
        except (ChannelClosed, ChannelTimeout):
            self.end()
            why = console.tail() or "it said nothing"
            raise LabError(f"a submission's kernel does not start in its sandbox: {why}") from None

    def begin(self, code: str, *, hidden: bool = False, room_characters: int = 1_000_000) -> None:
        """Begin to run code; `finish` waits for its end. A `hidden` cell gives no outputs."""
        self._asked += 1
        message = {"id": self._asked, "code": code, "hidden": hidden, "room": room_characters}
        with contextlib.suppress(ChannelClosed, ChannelTimeout):  # it is gone, and `finish` says so
            self._driver.send(message, _START_S)

    def finish(self, timeout_s: float) -> Ran:
        """Wait for the code that was begun. After `timeout_s` interrupt it; if it goes on, end the kernel."""
        until = time.monotonic() + timeout_s
        late = False
        while not self.death_reason:
            try:
                message = self._driver.receive(max(0.0, until - time.monotonic()))
            except ChannelClosed:
                self._process_ended()
                break
            except ChannelTimeout:
                if late:
                    self.end(f"it was not done after {timeout_s:.0f} s and went on when it was interrupted")
                    break
                late, until = True, time.monotonic() + _AFTER_INTERRUPT_S
                self.interrupt()
                continue
            if message.get("id") == self._asked:
                ran = _ran(message)
                if message.get("dead"):
                    self.end("the kernel ended")
                    ran.trouble = self.death_reason
                elif late:
                    ran.trouble = f"it was not done after {timeout_s:.0f} s and was interrupted"
                return ran
        return Ran(trouble=self.death_reason)

    def interrupt(self) -> None:
        """Interrupt the running cell, as the page's stop button does."""
        with contextlib.suppress(ChannelClosed, ChannelTimeout):
            self._driver.send({"interrupt": True}, 1.0)

    def count_processes(self) -> int:
        """Return the number of processes in the sandbox."""
        return len(process_tree.alive(process_tree.below(self._process.pid)))

    def end(self, why: str = "it was ended") -> None:
        """End the kernel and all that it has started. A second call does nothing; the first reason counts."""
        self.death_reason = self.death_reason or why
        bwrap.end(self._process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_S)
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)

    def _process_ended(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self.end("all of it was ended from inside")

    def _watch(self) -> None:
        """End the kernel when all of its processes together use too much: Linux limits each process alone."""
        limits = self._limits
        while not self.death_reason and self._process.poll() is None:
            processes = process_tree.below(self._process.pid)
            self.cpu_s = max(self.cpu_s, self._used_cpu_s + process_tree.cpu_s(processes))
            used_mb = process_tree.memory_mb(processes)
            if used_mb > limits.memory_mb:
                self.end(f"it used more than {limits.memory_mb} MB of memory")
            elif self.cpu_s > limits.cpu_s:
                self.end(f"it used more than {limits.cpu_s} s of CPU time")
            time.sleep(_LOOK_S)


def _ran(message: dict[str, Any]) -> Ran:
    outputs, count = message.get("outputs"), message.get("count")
    return Ran(
        outputs if isinstance(outputs, list) else [],
        count if isinstance(count, int) and not isinstance(count, bool) and abs(count) < 10**9 else None,
        bool(message.get("cut")),
    )


def confinement(room: Room, limits: Limits) -> tuple[list[str], dict[str, Any]]:
    """Return the words before a program's own that confine it in a room, and the arguments of Popen with them."""
    how = {"env": _environment(room), "cwd": "/", "preexec_fn": _restricted(limits, room.user)}
    return _command(room, limits), how


def _command(room: Room, limits: Limits) -> list[str]:
    """Return the command that confines a program. It sees the system's programs, Linklab, its home and the lender."""
    more = ["--unshare-net", "--bind", str(room.scratch("tmp")), "/tmp", "--bind", str(room.scratch("shm")), "/dev/shm"]
    more += ["--dir", "/var/tmp", *bwrap.own_view(), "--ro-bind", str(room.given), _GIVEN]
    for name in ("protocols", "services", "fonts", "mime.types"):
        more += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    more += ["--bind", str(room.home), str(room.home)]  # by the name that it has in labs too
    image = room.image if room.image.exists() else None
    words = bwrap.for_program(room.home, sys.executable, more=more, image=image)
    return [*words, *process_limits.count_processes(_of_a_process(limits))]


def _of_a_process(limits: Limits) -> process_limits.ProgramLimits:
    return process_limits.ProgramLimits(
        memory_mb=limits.memory_mb,
        address_space_mb=_ADDRESS_SPACE_MB,
        processes=limits.processes // 4,
        open_files=1024,
        file_mb=limits.disk_mb,
        cpu_s=limits.cpu_s,
    )


def _environment(room: Room) -> dict[str, str]:
    given = room.given
    package = Path(__file__).resolve().parents[2]
    return bwrap.program_environment() | {
        "PATH": f"{Path(sys.executable).parent}:{bwrap.SYSTEM_PATH}",
        "PYTHONPATH": str(package),
        "USER": "student",
        "LOGNAME": "student",
        "TMPDIR": "/tmp",
        "IPYTHONDIR": "/tmp/ipython",
        "XDG_CACHE_HOME": "/tmp/cache",
        "XDG_RUNTIME_DIR": "/tmp/runtime",
        "JUPYTER_PLATFORM_DIRS": "1",
        "LINKLAB_SIMPLEPERF": f"{_GIVEN}/simpleperf.py",
        transport.VARIABLE: f"{_GIVEN}/{room.lender.name}",
        "LINKLAB_IMAGE": f"{_GIVEN}/{room.image.name}" if room.image.exists() else "",
        VARIANT: f"{_GIVEN}/variant.json" if (given / "variant.json").exists() else "",
    }


def _restricted(limits: Limits, user: int) -> Callable[[], None]:
    """Return a function that sets the limits of one process. `_watch` adds up all processes."""
    restrict = process_limits.restrict(_of_a_process(limits), user)
    data_bytes = limits.memory_mb * _MB

    def apply() -> None:
        # RLIMIT_DATA and not RLIMIT_AS: numpy's threads reserve what they never use
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))
        restrict()
        os.umask(0o022)

    return apply
