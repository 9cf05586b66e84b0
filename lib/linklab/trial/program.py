"""One confined program: started, listened to, ended, and what is known of it afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linklab.errors import LabError
from linklab.runtime import bwrap
from linklab.runtime import limits as program_limits

OUTPUT_BYTES = 512 * 1024
"""What a program may print on each of its two outputs before it is stopped."""
_READ = 64 * 1024
_LOOK_S = 0.1
_OUT_OF_CPU = (128 + signal.SIGXCPU, -signal.SIGXCPU)


@dataclass(frozen=True)
class Stage:
    """Where programs run: hosts by name, and what they get.

    ``files`` is a folder whose files each program finds copied in its own; ``python`` runs them, with ``packages``
    if that is not None. ``cgroups`` is a mounted cgroup2 file system, if there is one. ``scratch`` is an empty
    folder. ``entered`` makes the namespace of a host this thread's own. ``proc``: whether programs get a /proc.
    """

    files: Path
    scratch: Path
    python: str
    packages: Path | None
    cgroups: Path | None
    entered: Callable[[str], AbstractContextManager[Any]]
    limits: program_limits.Limits = field(default_factory=program_limits.Limits)
    proc: bool = True


class Program:
    """A program that runs on a host of the stage, and every process that it starts."""

    _numbers = 0

    def __init__(self, stage: Stage, host: str, words: list[str], clock: Callable[[], float]) -> None:
        """Starts it. Its clock gives the seconds that its record counts in."""
        Program._numbers += 1
        self._stage, self._clock = stage, clock
        self._loop = asyncio.get_running_loop()
        self.words, self.host = words, host
        self.printed: dict[str, list[tuple[float, str]]] = {"out": [], "err": []}
        self.status: int | None = None
        self.ended_s: float | None = None
        self.stopped = ""
        self.unconfined = False
        """Whether the sandbox could not be made, so that the program never ran."""
        self.breaches: list[str] = []
        self._sizes = {"out": 0, "err": 0}
        self._folder = stage.scratch / f"program{Program._numbers}"
        shutil.copytree(stage.files, self._folder)
        self._elsewhere = stage.scratch / f"elsewhere{Program._numbers}"
        self._elsewhere.mkdir()
        self._before = _listing(self._folder)
        self._cage = program_limits.Cage(stage.cgroups, f"program{Program._numbers}", stage.limits)
        self.started_s = clock()
        self._process = self._start()
        self._over = asyncio.Event()
        self._end = os.pidfd_open(self._process.pid)
        self._loop.add_reader(self._end, self._ended)
        for name, pipe in (("out", self._process.stdout), ("err", self._process.stderr)):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._loop.add_reader(pipe.fileno(), self._read, name, pipe.fileno())
        self._watch = None if stage.cgroups else self._loop.create_task(self._look())

    def _start(self) -> subprocess.Popen[bytes]:
        stage, cage = self._stage, self._cage
        user = program_limits.nobody()
        restrict = program_limits.restrict(stage.limits, user)
        if os.geteuid() == 0:
            for path in (self._folder, self._elsewhere, *self._folder.rglob("*")):
                os.chown(path, user, user)

        def before() -> None:
            cage.enter()
            restrict()

        self._report, report = os.pipe()
        words = bwrap.for_program(
            self._folder,
            stage.python,
            stage.packages,
            elsewhere=self._elsewhere,
            proc=stage.proc,
            more=["--json-status-fd", str(report)],
        )
        try:
            with stage.entered(self.host):
                return subprocess.Popen(
                    [*words, *program_limits.count_processes(stage.limits), stage.python, "-u", *self.words],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=bwrap.program_environment(),
                    cwd="/",
                    preexec_fn=before,
                    pass_fds=[report],
                    start_new_session=True,
                )
        except BlockingIOError:
            raise LabError("this machine has no room for another process: end what else runs on it") from None
        finally:
            os.close(report)

    @property
    def pid(self) -> int:
        """The process id of its bubblewrap, which is in the host's network namespace."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.ended_s is None

    async def _look(self) -> None:
        """Without control groups: looks now and then whether the program keeps to its limits."""
        limits = self._stage.limits
        while self.running:
            await asyncio.sleep(_LOOK_S)
            family = _family(self._process.pid)
            if len(family) > limits.processes:
                self._meet("processes")
            elif sum(map(_resident_mb, family)) > limits.memory_mb:
                self._meet("memory")

    def _meet(self, breach: str) -> None:
        if breach not in self.breaches:
            self.breaches.append(breach)
        self.stop(f"it met a limit: {breach}")

    def computes(self) -> bool:
        """Whether any of its processes computes just now, instead of waiting."""
        return any(_runs(pid) for pid in _family(self._process.pid))

    async def wait(self, timeout_s: float) -> bool:
        """Waits for its end, at most so long; whether it has ended."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), timeout_s)
        return not self.running

    def stop(self, why: str) -> None:
        """Ends it at once with all that it has started. `why` goes into the record, if it was still running."""
        if self.running:
            self.stopped = self.stopped or why
            self._cage.kill()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)

    async def finish(self) -> None:
        """Stops what is left of it, takes in its last words and cleans up after it."""
        self.stop("no longer needed")
        await self.wait(10.0)
        self.clean_up()

    def clean_up(self) -> None:
        """The same without waiting by the loop, which may be gone."""
        if self._watch is not None:
            self._watch.cancel()
        self.stop("interrupted")
        if self.running:
            self._process.wait()
            self._ended()
        self._cage.kill()
        if not self._folder.exists():
            return
        self.breaches += [name for name in self._cage.breaches() if name not in self.breaches]
        self.breaches += _changes(self._before, self._folder)
        if any(self._elsewhere.iterdir()):
            self.breaches.append("outside")
        self._cage.remove()
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.rmtree(self._elsewhere, ignore_errors=True)

    def _read(self, name: str, pipe: int) -> bool:
        """Takes in what is there; whether there may be more."""
        try:
            data = os.read(pipe, _READ)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(pipe)
            return False
        room = OUTPUT_BYTES - self._sizes[name]
        self._sizes[name] += len(data)
        if room > 0:
            self.printed[name].append((self._clock(), data[:room].decode(errors="replace")))
        if len(data) > room:
            self._meet("output")
        return True

    def _ended(self) -> None:
        if not self.running:
            return
        self.status = self._process.wait()
        told = os.read(self._report, _READ)
        os.close(self._report)
        # bubblewrap tells the program's status only where there was a program; killed, it tells nothing
        self.unconfined = not self.stopped and self.status > 0 and b"exit-code" not in told
        if self.status in _OUT_OF_CPU:
            self.breaches.append("cpu")
        self.ended_s = self._clock()
        for name, pipe in (("out", self._process.stdout), ("err", self._process.stderr)):
            assert pipe is not None
            while "output" not in self.breaches and self._read(name, pipe.fileno()):
                pass
            with contextlib.suppress(OSError, ValueError, RuntimeError):
                self._loop.remove_reader(pipe.fileno())
            pipe.close()
        with contextlib.suppress(RuntimeError):
            self._loop.remove_reader(self._end)
        os.close(self._end)
        self._over.set()

    def record(self) -> dict[str, Any]:
        """What is known of it, as JSON."""
        return {
            "words": self.words,
            "host": self.host,
            "started_s": self.started_s,
            "ended_s": None if self.stopped else self.ended_s,
            "status": None if self.stopped else self.status,
            "stopped": self.stopped,
            "breaches": self.breaches,
            "unconfined": self.unconfined,
            "out": self.printed["out"],
            "err": self.printed["err"],
        }


def _family(pid: int) -> list[int]:
    """The process and all below it."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                parents.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def _resident_mb(pid: int) -> float:
    """Its memory: the second number of /proc/PID/statm, in pages."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, IndexError, ValueError):
        return 0.0


def _runs(pid: int) -> bool:
    """Whether one of its threads is runnable."""
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            if stat.read_text().rpartition(")")[2].split()[0] == "R":
                return True
    return False


def _listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _changes(before: dict[str, bytes], folder: Path) -> list[str]:
    """What a program did to files that were there: a program that measures has no business with them."""
    try:
        left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}
        if any(name not in left for name in before):
            return ["deleted"]
        changed = any((folder / name).stat().st_size != len(data) for name, data in before.items())
    except OSError:
        return ["deleted"]
    return ["changed"] if changed else []
