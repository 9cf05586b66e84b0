"""Where a program is tried: in a lab of its own on virtual time, or, where time does not matter, on loopback."""

from __future__ import annotations

import contextlib
import json
import platform
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from linklab import lab as labs
from linklab.errors import LabError
from linklab.network import Network
from linklab.programs.engine import in_lab
from linklab.programs.submission import SubmittedProgram
from linklab.runtime import bwrap, container
from linklab.runtime.backends import choose

STALL_CPU_S: Final = 7.0
"""A scene that has cost a lab so much computing makes no progress: ordinary ones cost 1 to 2.6 s."""
STALL_STARTS: Final = 8.0
"""The same on a slow processor, in starts of the lab: an ordinary scene costs up to twice what a start costs."""
_WALL_SHARE: Final = 12.0
"""On a busy machine a scene may last so many times that many seconds by the wall's clock."""
_GRACE_S: Final = 2.0
_ROOT = "/run/trial"
_SCRATCH_BYTES = 48 * 1024 * 1024


class Place(ABC):
    """A place where one program is tried. On a ``virtual`` clock waiting costs nothing: it jumps while all wait."""

    virtual: bool

    @property
    @abstractmethod
    def title(self) -> str:
        """Where the program runs, and by which Python, for reports."""

    def play(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Play a scene (`linklab.programs.engine.scene`) and return its record.

        A scene that fails is played once more in a place made anew. Raises LabError where it fails there too.
        """
        try:
            return self._play(plan)
        except LabError:
            self.close()
            return self._play(plan)

    @abstractmethod
    def _play(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Play a scene; make the place first where there is none."""

    @abstractmethod
    def close(self) -> None:
        """End it, with everything in it. The next scene makes it anew."""


class LabPlace(Place):
    """A lab with this network on virtual time, which starts with its first scene. Raises LabError where none can.

    ``started`` is called with each lab before its first scene.
    """

    virtual = True

    def __init__(
        self, program: SubmittedProgram, network: Network, started: Callable[[labs.Lab], object] = lambda _: None
    ) -> None:
        choose()
        self._program, self._network, self._prepared = program, network, started
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lab: labs.Lab | None = None
        self._limit_s = STALL_CPU_S
        self._python = ""

    @property
    def title(self) -> str:
        """As `Place.title`."""
        return f"in a lab on virtual time{self._python and f', by Python {self._python}'}"

    def _started(self) -> labs.Lab:
        if self._lab is None:
            self._folder = tempfile.TemporaryDirectory(prefix="linklab-check-")
            # inside a container's walls students try their own programs, and nobody is graded
            untrusted = not container.chosen()
            # traced: relay and record are in the guest too, and who becomes its kernel could write them anew
            self._lab = labs.start(self._network, folder=self._folder.name, untrusted=untrusted, traced=True)
            hosts = [host.name for host in self._network.hosts]
            packages = self._program.packages is not None
            self._python = self._lab.process.call(in_lab.prepare, hosts, self._program.encoded(), packages)
            self._prepared(self._lab)
            self._limit_s = max(STALL_CPU_S, STALL_STARTS * self._lab.process.cpu_s())
        return self._lab

    def _play(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Play a scene. After one that stalled the next one gets a fresh lab."""
        if self._lab is not None and not self._lab.process.running:
            # it died between two scenes: that is no stall of this one's
            self.close()
        process = self._started().process
        watch = _Watch(process.cpu_s, self._limit_s, process.stop)
        try:
            record: dict[str, Any] = process.call(in_lab.play, plan, on_event=watch.hear, stop=watch.stalled)
        except (LabError, KeyboardInterrupt) as ended:
            if not watch.fired and (process.running or isinstance(ended, KeyboardInterrupt)):
                raise
            # the program has taken the whole lab along, or the limit was over before the scene began
            self.close()
            return _lost(watch)
        finally:
            watch.done()
        if record["stalled"]:
            self.close()
            if not watch.fired:
                raise KeyboardInterrupt
            if watch.is_late:
                record["by"] = []
        return record

    def close(self) -> None:
        """As `Place.close`."""
        if self._lab is not None:
            self._lab.stop()
            self._lab = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _lost(watch: _Watch) -> dict[str, Any]:
    """Return the record of a scene that was lost with its lab. It says only which programs ran."""
    return {
        "server": None,
        "listening": [],
        "alive": False,
        "restarted": None,
        "acts": [],
        "relay": [],
        "datagrams": None,
        "listeners": [],
        "stalled": True,
        "by": [] if watch.is_late else watch.running,
        "end_s": 0.0,
    }


class _Watch:
    """Watches how much a lab computes for one request: its own clock cannot tell, for it stands still meanwhile."""

    def __init__(self, cpu_s: Callable[[], float], limit_s: float, end: Callable[[], None]) -> None:
        """Begin. ``cpu_s`` tells how many seconds the lab has computed so far, and fewer once it has ended.

        ``end`` ends the lab: a program that only computes leaves the guest no moment to hear anything else.
        """
        self._cpu_s, self._limit_s, self._end = cpu_s, limit_s, end
        self._from_s = cpu_s()
        self._spent_s = 0.0
        self._began_s = time.monotonic()
        self.fired = False
        self.is_late = False
        """Whether it was the wall's clock that ended the scene: then this machine was busy, and no program to blame."""
        self.running: list[str] = []
        self._timer: threading.Timer | None = None

    def hear(self, running: list[str]) -> None:
        """Keep whose programs run now, "server" or "client"."""
        self.running = running

    def stalled(self) -> bool:
        """Return True once the lab has computed, or the scene has lasted, too long."""
        self._spent_s = max(self._spent_s, self._cpu_s() - self._from_s)
        took_s = time.monotonic() - self._began_s
        if not self.fired and (self._spent_s > self._limit_s or took_s > _WALL_SHARE * self._limit_s):
            self.fired = True
            self.is_late = self._spent_s <= self._limit_s
            self._timer = threading.Timer(_GRACE_S, self._end)
            self._timer.daemon = True
            self._timer.start()
        return self.fired

    def done(self) -> None:
        """Stop watching when the request has been answered."""
        if self._timer is not None:
            self._timer.cancel()


class LoopbackPlace(Place):
    """Loopback in namespaces of its own, in real time: there a program starts in a tenth of the time that a lab takes.

    Each host has an address of its own below 127.0.0.0/8. Raises LabError where namespaces cannot be had.
    """

    virtual = False

    def __init__(self, program: SubmittedProgram) -> None:
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._start()

    @property
    def title(self) -> str:
        """As `Place.title`."""
        return f"on this machine's loopback, by Python {platform.python_version()}"

    def _start(self) -> subprocess.Popen[bytes]:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it has no name and lives as long as the process
        process = self._process = subprocess.Popen(
            [*_words(), sys.executable, "-S", "-m", "linklab.programs.engine.on_loopback"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
            cwd="/",
        )
        program = self._program
        try:
            self._ask(
                process,
                {"root": _ROOT, "files": program.encoded(), "python": program.python, "packages": program.packages},
            )
        except BaseException:
            self.close()
            raise
        return process

    def _play(self, plan: dict[str, Any]) -> dict[str, Any]:
        return self._ask(self._process or self._start(), plan)

    def _ask(self, process: subprocess.Popen[bytes], message: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer:
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines()
            raise LabError(f"programs cannot be tried on loopback here: {said[-1] if said else 'no reason was given'}")
        found: dict[str, Any] = json.loads(answer)
        return found

    def close(self) -> None:
        """As `Place.close`."""
        process, self._process = self._process, None
        if process is None:
            return
        bwrap.end(process)
        process.wait()
        for pipe in (process.stdin, process.stdout, self._errors):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # of what it did not take any more
                    pipe.close()


def _words() -> list[str]:
    library = Path(__file__).resolve().parents[2]
    words = [
        *bwrap.program("programs"),
        "--die-with-parent",
        "--unshare-net",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
    ]
    words += [*bwrap.system_view(), *bwrap.own_view(), *bwrap.program_view(), "--dev", "/dev", "--proc", "/proc"]
    words += ["--size", str(_SCRATCH_BYTES), "--tmpfs", "/run", "--dir", _ROOT]
    words += ["--chmod", "0755", "/run", "--chmod", "0755", _ROOT, "--remount-ro", "/"]
    path = ":".join([str(library), *filter(None, sys.path)])
    return [*words, "--setenv", "PYTHONPATH", path, "--setenv", "PYTHONDONTWRITEBYTECODE", "1", "--"]
