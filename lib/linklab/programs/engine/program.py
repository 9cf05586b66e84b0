"""One confined program: the engine starts it, listens to it, ends it, and records what it did."""

from __future__ import annotations

import asyncio
import base64
import codecs
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import stat
import struct
import subprocess
import termios
import tty
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.errors import LabError
from linklab.guest import limits as program_limits
from linklab.programs.engine import fork_server
from linklab.runtime import bwrap

OUTPUT_BYTES = 512 * 1024
"""Bytes that are kept of each of a program's two outputs."""
MOST_OUTPUT_BYTES = 8 * 1024 * 1024
"""Bytes that a program may print on an output before it is stopped: a long message ends by itself."""
KEPT_BYTES = 4 * 1024 * 1024
"""Bytes that are kept of a file that a program has written; of a longer file one byte more."""
BREACHES = {
    "cpu": "it used the processor without end, and was stopped",
    "memory": "it took more than 192 MB, and was ended",
    "processes": "it was held at 64 processes and threads",
    "killed": "the system ended it (status 137), as it does at a limit of processor time or memory",
    "output": "it printed more than 8 MB, and was stopped",
    "deleted": "files in its folder were gone afterwards (of a copy: yours are safe)",
    "changed": "files in its folder were changed afterwards (of a copy: yours are safe)",
    "outside": "files of it were found where programs leave their temporary files",
}
"""How a program met a limit, by the name that stands in its record."""
_READ = 64 * 1024
_LIMITS = program_limits.ProgramLimits()
_SCREEN = (50, 200)
_HOSTS = b"127.0.0.1 localhost\n127.0.1.1 sandbox\n"
"""The sandbox's /etc/hosts: a program finds its own host by name, and learns nothing of this machine."""
_OUT_OF_CPU = 128 + signal.SIGXCPU
_KILLED = 128 + signal.SIGKILL


@dataclass(frozen=True)
class Stage:
    """Where programs run: hosts by name, and what they get.

    Each program finds copies of the files in ``files`` in a folder of its own, which is made in ``scratch``. The
    ``server``'s ``python`` runs it, with ``packages`` if there are some. ``cgroups`` is a mounted cgroup2 file system.
    ``entered`` makes the namespace of a host this thread's own, and makes a host that the network does not have.
    """

    files: Path
    scratch: Path
    python: str
    server: socket.socket
    packages: Path | None
    cgroups: Path
    entered: Callable[[str], AbstractContextManager[Any]]


def unpack(folder: Path, files: dict[str, str]) -> None:
    """Write files (path in the folder: base64), with the folders that they lie in."""
    for name, data in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(data))


class ConfinedProgram:
    """A program that runs on a host of the stage, and every process that it starts."""

    _numbers = 0

    def __init__(
        self,
        stage: Stage,
        side: str,
        host: str,
        words: list[str],
        clock: Callable[[], float],
        given: dict[str, str] | None = None,
        keep: str = "",
    ) -> None:
        """Start it. ``side`` is its part in the scene; the record counts in the seconds of ``clock``.

        It alone finds the files ``given`` (path: base64) in its folder. The record keeps what it writes to the file
        ``keep`` there.
        """
        ConfinedProgram._numbers += 1
        self._stage, self._clock = stage, clock
        self._loop = asyncio.get_running_loop()
        self.side, self.words, self.host = side, words, host
        self.printed: dict[str, list[tuple[float, str]]] = {"out": [], "err": []}
        self.status: int | None = None
        self.ended_s: float | None = None
        self.stopped = ""
        self.unconfined = False
        """Whether the sandbox could not be made, so that the program never ran."""
        self.breaches: list[str] = []
        self._sizes = {"out": 0, "err": 0}
        self._folder = stage.scratch / f"program{ConfinedProgram._numbers}"
        shutil.copytree(stage.files, self._folder)
        unpack(self._folder, given or {})
        self._keep = keep
        self._kept: bytes | None = None
        self._elsewhere = stage.scratch / f"elsewhere{ConfinedProgram._numbers}"
        self._elsewhere.mkdir()
        self._before = _listing(self._folder)
        self._cage = program_limits.Cage(stage.cgroups, f"program{ConfinedProgram._numbers}", _LIMITS)
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in self.printed}
        self._screens: dict[str, int] = {}
        self.started_s = clock()
        self._process = self._start()
        self._over = asyncio.Event()
        self._end = os.pidfd_open(self._process.pid)
        self._loop.add_reader(self._end, self._ended)
        for name, screen in self._screens.items():
            self._loop.add_reader(screen, self._read, name, screen)

    def _start(self) -> subprocess.Popen[bytes]:
        stage = self._stage
        user = program_limits.nobody()
        for path in (self._folder, self._elsewhere, *self._folder.rglob("*")):
            os.chown(path, user, user)

        self._report, report = os.pipe()
        told, status = os.pipe()
        asks, holder = socket.socketpair()
        hosts = _filled_pipe(_HOSTS)
        terminals = {name: _terminal() for name in self.printed}
        words = bwrap.for_program(
            self._folder,
            stage.python,
            stage.packages,
            elsewhere=self._elsewhere,
            more=["--json-status-fd", str(status), "--ro-bind-data", str(hosts), "/etc/hosts"],
        )
        files = told, asks.fileno(), terminals["out"][1], terminals["err"][1], report
        try:
            with stage.entered(self.host):
                process = subprocess.Popen(
                    # not preexec_fn: that would fork this process, which is large
                    ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *words, fork_server.HOLDER],
                    stdin=holder.fileno(),
                    stdout=holder.fileno(),
                    stderr=subprocess.DEVNULL,
                    env=bwrap.program_environment(),
                    cwd="/",
                    pass_fds=[status, hosts],
                    start_new_session=True,
                )
            bounds = program_limits.bounds(_LIMITS)
            fork_server.run_program(stage.server, self.words, bwrap.HOME, self._cage.entrance, user, bounds, files)
        except BlockingIOError:
            raise LabError("this machine has no room for another process: end what else runs on it") from None
        finally:
            asks.close()
            holder.close()
            for end in (told, status, report, hosts, *(end for _, end in terminals.values())):
                os.close(end)
        self._screens = {name: screen for name, (screen, _) in terminals.items()}
        return process

    @property
    def pid(self) -> int:
        """The process id of its bubblewrap, which is in the host's network namespace."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.ended_s is None

    def _meet(self, breach: str) -> None:
        if breach not in self.breaches:
            self.breaches.append(breach)
        self.stop(f"it met a limit: {breach}")

    def computes(self) -> bool:
        """Return True if any of its processes computes just now, and does not wait."""
        return any(_runs(pid) for pid in self._cage.processes())

    async def wait(self, timeout_s: float) -> bool:
        """Wait for its end, at most so long; return whether it has ended."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), timeout_s)
        return not self.running

    def stop(self, why: str) -> None:
        """End it at once with all that it has started. The record says `why`, if it was still running."""
        if self.running:
            self.stopped = self.stopped or why
            self._cage.kill()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)

    async def finish(self) -> None:
        """Stop what is left of it, take in its last words, and clean up after it."""
        self.stop("no longer needed")
        await self.wait(10.0)
        self.clean_up()

    def clean_up(self) -> None:
        """Stop the program and clean up after it without the event loop, which may be gone."""
        self.stop("interrupted")
        if self.running:
            self._process.wait()
            self._ended()
        self._cage.kill()
        if not self._folder.exists():
            return
        if self._keep:
            self._kept = plain_file(self._folder / self._keep, KEPT_BYTES)
        met = self._cage.breaches()
        if "memory" in met and "killed" in self.breaches:  # that is what it was killed for
            self.breaches.remove("killed")
        self.breaches += [name for name in met if name not in self.breaches]
        self.breaches += _changes(self._before, self._folder)
        if not _untouched(self._elsewhere):
            self.breaches.append("outside")
        self._cage.remove()
        remove_folder(self._folder)
        remove_folder(self._elsewhere)

    def _read(self, name: str, screen: int) -> bool:
        """Read what the program has printed; return whether there may be more."""
        try:
            data = os.read(screen, _READ)
        except BlockingIOError:
            return False
        except OSError:  # nobody has the other end any more
            data = b""
        if not data:
            self._loop.remove_reader(screen)
            return False
        room = OUTPUT_BYTES - self._sizes[name]
        self._sizes[name] += len(data)
        if room > 0:
            self._take_in(name, self._decoders[name].decode(data[:room]))
        if self._sizes[name] > MOST_OUTPUT_BYTES:
            self._meet("output")
        return True

    def _take_in(self, name: str, text: str) -> None:
        """Keep what was printed. What came in one moment is one piece."""
        printed, now_s = self.printed[name], self._clock()
        if printed and printed[-1][0] == now_s:
            printed[-1] = (now_s, printed[-1][1] + text)
        elif text:
            printed.append((now_s, text))

    def _ended(self) -> None:
        if not self.running:
            return
        self._process.wait()
        # the server tells a status only where there was a program; of one that was stopped nobody asks
        told = [] if self.stopped else os.read(self._report, _READ).split()
        os.close(self._report)
        self.unconfined = not self.stopped and len(told) != 2
        self.status = int(told[1]) if len(told) == 2 else None
        if self.status == _OUT_OF_CPU:
            self.breaches.append("cpu")
        elif self.status == _KILLED:
            self.breaches.append("killed")
        self.ended_s = self._clock()
        for name, screen in self._screens.items():
            while "output" not in self.breaches and self._read(name, screen):
                pass
            with contextlib.suppress(OSError, ValueError, RuntimeError):
                self._loop.remove_reader(screen)
            os.close(screen)
            self._take_in(name, self._decoders[name].decode(b"", final=True))
        with contextlib.suppress(RuntimeError):
            self._loop.remove_reader(self._end)
        os.close(self._end)
        self._over.set()

    def record(self) -> dict[str, Any]:
        """Return what it did, as JSON."""
        return {
            "side": self.side,
            "words": self.words,
            "started_s": self.started_s,
            "ended_s": None if self.stopped else self.ended_s,
            "status": None if self.stopped else self.status,
            "stopped": self.stopped,
            "breaches": self.breaches,
            "unconfined": self.unconfined,
            "out": self.printed["out"],
            "err": self.printed["err"],
            "kept": None if self._kept is None else base64.b64encode(self._kept).decode(),
        }


def _terminal() -> tuple[int, int]:
    """Return both ends of a pseudo-terminal, that of a reader and that of a program.

    Programs write each line at once and whole only to a terminal. Into a pipe Python writes in blocks, or unbuffered
    the text of a print and the end of its line apart, so that lines of threads run together that nobody sees torn.
    Raw, so that nothing is changed on the way.
    """
    screen, end = os.openpty()
    tty.setraw(end)
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", *_SCREEN, 0, 0))
    os.set_blocking(screen, False)
    return screen, end


def environment(packages: bool) -> dict[str, str]:
    """Return what a program finds in its environment: Python buffers as at any terminal, one that shows plain text."""
    found = bwrap.program_environment() | {"PWD": bwrap.HOME}
    del found["PYTHONUNBUFFERED"]
    found |= {"PYTHONPATH": bwrap.PACKAGES} if packages else {}
    return {**found, "TERM": "dumb", "NO_COLOR": "1", "LINES": str(_SCREEN[0])}


def _filled_pipe(data: bytes) -> int:
    """Return the end to read of a pipe that holds so little data."""
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    return reader


def _runs(pid: int) -> bool:
    """Return True if one of a process's threads is runnable."""
    for thread in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            if thread.read_text().rpartition(")")[2].split()[0] == "R":
                return True
    return False


def _listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _changes(before: dict[str, bytes], folder: Path) -> list[str]:
    """Return what a program did to the files that it found: it is to leave them as they are."""
    root = folder.resolve()
    try:
        for name, data in before.items():
            file = root / name
            if file.resolve() != file or not file.is_file():
                return ["deleted"]
            if file.stat().st_size != len(data):
                return ["changed"]
    except (OSError, RuntimeError):  # a link that leads to itself
        return ["deleted"]
    return []


def plain_file(path: Path, most_bytes: int) -> bytes | None:
    """Return what a program has written to a file, and one byte more than ``most_bytes`` of a longer one.

    None if that is no plain file: no link of its is followed, and nothing is waited for.
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    with os.fdopen(number, "rb") as file:
        return file.read(most_bytes + 1)


def _untouched(folder: Path) -> bool:
    """Return True if a folder is as empty as it was made, and open to its owner."""
    try:
        return not any(folder.iterdir())
    except OSError:
        return False


def remove_folder(folder: Path) -> None:
    """Remove a folder and all in it, however deep a program has nested it, and whatever rights it took away.

    Folders in folders are moved to the top first, so no path becomes long, and no call nests.
    """
    moved = 0
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
        while inner := _emptied(folder):
            for path in inner:
                path.chmod(0o700)
                for below in _emptied(path):
                    moved += 1
                    below.chmod(0o700)
                    below.rename(folder / f"moved{moved}.{os.getpid()}")
                path.rmdir()
        folder.rmdir()


def _emptied(folder: Path) -> list[Path]:
    """Remove what is no folder from a folder; return the folders that are left in it."""
    folders = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            else:
                os.unlink(entry.path)
    return folders


def prepare_host() -> None:
    """Let ordinary users bind ports below 1024 in this thread's namespace, as root may.

    What TCP learns of a path it forgets with the connection: no scene shall hang on those before it.
    """
    Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")
    Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")
