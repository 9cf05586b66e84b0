"""Whether a kernel is fit for labs, found out by booting it and doing in it what labs do."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from linklab.errors import LabError
from linklab.runtime.kernel import guest
from linklab.runtime.kernel.programs import end_group, environment, find_program, signal_group

GUEST_MEMORY_MB = 128
WALL_LIMIT_S = 180.0
_TOLERANCE_MS = 0.1
_PREFIX = "linklab-verify-"
_TAIL_LINES = 6
_KEPT_LINES = 1000


class KernelUnfit(LabError):
    """The kernel, and not the machine around it, is why no lab can run on it."""


@dataclass(frozen=True)
class Verification:
    """What a kernel showed: its release, the delay it gave a frame of 10 ms, and how long all took in wall
    time.
    """

    release: str
    delay_ms: float
    wall_s: float


def verify_kernel(path: Path, seccomp: bool, wall_limit_s: float = WALL_LIMIT_S) -> Verification:
    """Boots a kernel in virtual time, and checks that a sleep of hours passes at once, that netem under HTB
    delays a frame on a veth pair by what it should, that bridge, VLAN, network namespaces, overlay and cubic
    are there, and that it ends by itself.

    Raises `KernelUnfit` in one line, with the end of the guest's console, when it does not, and `LabError`
    when the machine lacks what it takes to find out.
    """
    for program in ("ip", "tc"):
        if find_program(program) is None:
            raise LabError("a kernel is verified with ip and tc, which are missing: sudo apt-get install iproute2")
    if not os.access(path, os.X_OK):
        raise LabError(f"{path} may not be run: is its disk mounted noexec?")
    started = time.monotonic()
    console, in_time = _boot(path, seccomp, wall_limit_s)
    wall_s = time.monotonic() - started
    found = next((json.loads(line.split(guest.MARK, 1)[1]) for line in console if guest.MARK in line), None)
    if not in_time:
        raise KernelUnfit(f"{path} hung: it did not end within {wall_limit_s:.0f} s{_tail(console)}")
    if found is None:
        raise KernelUnfit(f"{path} ended before its check was done{_tail(console)}")
    if "failed" in found:
        raise KernelUnfit(f"{path} lacks something that labs need: {found['failed']}")
    if abs(found["delay_ms"] - guest.DELAY_MS) > _TOLERANCE_MS or found["slept_s"] < guest.SLEEP_S:
        raise KernelUnfit(
            f"{path} does not keep virtual time: a frame delayed by {guest.DELAY_MS} ms took {found['delay_ms']:.3f} ms"
        )
    if "cubic" not in found["congestion_control"]:
        raise KernelUnfit(f"{path} lacks TCP's congestion control cubic")
    return Verification(found["release"], found["delay_ms"], wall_s)


def boot_command(path: Path, seccomp: bool, folder: Path) -> list[str]:
    """The command line of the guest. ``folder`` takes the guest's own files, and holds the program that it
    runs.
    """
    parameters = [
        f"mem={GUEST_MEMORY_MB}M",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "quiet",
    ]
    parameters += ["con=null", "con0=null,fd:1", "ssl=null", "time-travel=inf-cpu", f"uml_dir={folder}/"]
    if seccomp:
        parameters.append("seccomp=on")
    # A panic of the guest ends it at once; otherwise it would wait for the wall-time limit.
    parameters.append("panic=-1")
    return [str(path), *parameters, f"init={_python()}", "--", "-I", "-S", f"{folder}/guest.py"]


def _python() -> str:
    """A Python whose path may stand in a kernel's command line, which has no way to write a space."""
    path = os.path.realpath(sys.executable)
    return path if " " not in path else "/usr/bin/python3"


def _boot(path: Path, seccomp: bool, wall_limit_s: float) -> tuple[list[str], bool]:
    """Runs the guest; gives what it wrote, and whether it ended by itself."""
    wrapping = ["setpriv", "--pdeathsig", "KILL"] if find_program("setpriv") else []
    with scratch_folder() as folder:
        shutil.copy(guest.__file__, folder / "guest.py")
        try:
            process = subprocess.Popen(
                [*wrapping, *boot_command(path, seccomp, folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=environment() | {"TMPDIR": str(folder)},
                start_new_session=True,
            )
        except OSError as error:
            raise LabError(f"{path} cannot be started ({error.strerror})") from error
        out_of_time = threading.Event()

        def stop() -> None:
            out_of_time.set()
            signal_group(process.pid, signal.SIGKILL)

        timer = threading.Timer(wall_limit_s, stop)
        timer.start()
        console: deque[str] = deque(maxlen=_KEPT_LINES)
        try:
            assert process.stdout is not None
            console.extend(line.rstrip() for line in process.stdout)
        finally:
            timer.cancel()
            timer.join()
            end_group(process, grace_s=0)
            if process.stdout:
                process.stdout.close()
        return list(console), not out_of_time.is_set()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A private folder with a short path, in memory where possible; removed at the end.

    One that a killed process left behind is known by its lock, which is free, and is removed at the next
    call.
    """
    parent = _scratch_parent()
    for left in parent.glob(f"{_PREFIX}*"):
        _remove_if_left(left)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _scratch_parent() -> Path:
    """Where the guest's memory may lie: writable, room for it, and not mounted noexec (its code runs from
    there).
    """
    for parent in (Path("/dev/shm"), Path(tempfile.gettempdir())):
        with suppress(OSError):
            place = os.statvfs(parent)
            room = place.f_bavail * place.f_frsize > GUEST_MEMORY_MB * 2**20
            if room and not place.f_flag & os.ST_NOEXEC and os.access(parent, os.W_OK):
                return parent
    raise LabError(
        f"no place for a guest's memory: free {GUEST_MEMORY_MB} MB in /dev/shm or in {tempfile.gettempdir()}"
    )


def _remove_if_left(folder: Path) -> None:
    with suppress(OSError):
        lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def _tail(console: list[str]) -> str:
    said = [line.strip() for line in console if line.strip()]
    # What follows a panic is a dump of registers.
    panic = next((number for number, line in enumerate(said) if "panic" in line), len(said))
    said = said[: panic + 1]
    return f"; its console ends: {' | '.join(said[-_TAIL_LINES:])}" if said else "; its console is empty"
