"""Where untrusted programs run: their own folder to write, a Python to read, limits, and nothing else.

The second place that writes bubblewrap's command line (the first is :mod:`linklab.runtime.confine`, for whole labs).
A program here sees no home, no file of the user, none of the lab's processes; only the network namespace it was
started in. Standard library only: this is loaded inside labs too.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.errors import LabError

_FIRST_USER, _USERS = 62400, 2000
"""Whom untrusted programs run as where this process may choose (see `nobody`): nothing else has these numbers."""
HOME = "/home/student"
"""Where the program finds its folder."""
PACKAGES = "/opt/packages"
"""Where it finds the installed Python packages, if it gets any."""
PUBLIC_PLACES = ("/tmp", "/var/tmp", "/dev/shm")
_MB = 1024 * 1024
_SHARED_MB = 64


@dataclass(frozen=True)
class Limits:
    """What one program may use, with all processes that it starts.

    ``cpu_s`` bounds nothing on virtual time, where computing takes no time: there the lab's caller looks on its own
    clock.
    """

    memory_mb: int = 192
    address_space_mb: int = 1536
    processes: int = 64
    open_files: int = 128
    file_mb: int = 8
    cpu_s: int = 30


def command(
    folder: Path,
    python: str,
    packages: Path | None = None,
    *,
    elsewhere: Path | None = None,
    proc: bool = True,
    more: Sequence[str] = (),
) -> list[str]:
    """bubblewrap's words, to stand before the program's own. ``folder`` is writable, and is called `HOME`.

    So are the places where anybody may write on other machines, if ``elsewhere`` is given: they are this one folder,
    and what is found in it afterwards tells of a program that does not keep to its own.
    ``python`` is the interpreter, which is shown with all of its prefix. ``packages`` are shown as `PACKAGES`.
    Without ``proc`` there is no /proc: a kernel refuses a new one where the present one is partly covered, as it is
    in many containers. ``more`` are bubblewrap's words for what else is to be seen. Raises LabError where bubblewrap
    is missing.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise LabError("bubblewrap is missing, which keeps programs off your files: sudo apt-get install bubblewrap")
    words = [program, "--die-with-parent", "--new-session", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"]
    words += ["--cap-drop", "ALL", *system_programs()]
    for place in ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf", "/etc/hosts"):
        words += ["--ro-bind-try", place, place]
    prefix = Path(python).resolve().parents[1]
    if not prefix.is_relative_to("/usr"):
        words += ["--ro-bind", str(prefix), str(prefix)]
    if packages is not None:
        words += ["--ro-bind", str(packages), PACKAGES, "--setenv", "PYTHONPATH", PACKAGES]
    words += ["--proc", "/proc"] if proc else []
    words += ["--dev", "/dev", "--size", str(_SHARED_MB * _MB), "--tmpfs", "/dev/shm"]
    for place in PUBLIC_PLACES if elsewhere is not None else ():
        words += ["--bind", str(elsewhere), place]
    words += [*more, "--bind", str(folder), HOME, "--chdir", HOME, "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*words, "--"]


def system_programs() -> list[str]:
    """bubblewrap's words for the system's programs, to be read where they lie."""
    words = ["--ro-bind", "/usr", "/usr"]
    for place in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(place):
            words += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            words += ["--ro-bind", place, place]
    return words


def environment() -> dict[str, str]:
    """All that the program finds in its environment. Python writes each line at once, also into a pipe."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": HOME,
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "200",  # else argparse and table makers fold their lines
        "TMPDIR": HOME,
    }


def nobody() -> int:
    """User and group of the untrusted programs that root starts in this process namespace: root is spared by limits.

    A number of its own, since the kernel counts the processes of one user together: a program that forks without end
    would otherwise leave those that are tried beside it none.
    """
    return _FIRST_USER + os.stat("/proc/self/ns/pid").st_ino % _USERS


def restrict(limits: Limits, user: int) -> Callable[[], None]:
    """What a child does before it becomes bubblewrap: takes the limits upon itself, and stops being root.

    Who was root is ``user`` then, and that one's group.
    """
    bounds = {
        resource.RLIMIT_AS: limits.address_space_mb * _MB,
        resource.RLIMIT_NPROC: limits.processes * 4,  # counts all programs of one user; the cage counts each
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_FSIZE: limits.file_mb * _MB,
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_CORE: 0,
    }
    as_root = os.geteuid() == 0

    def apply() -> None:
        for number, bound in bounds.items():
            resource.setrlimit(number, (bound, bound))
        if as_root:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    return apply


class Cage:
    """A control group for one program, where this process may make one; otherwise it only counts nothing.

    It bounds the memory and the number of processes of the program and all that it starts, and tells whether a
    bound was met. ``root`` is a mounted cgroup2 file system, or None.
    """

    def __init__(self, root: Path | None, name: str, limits: Limits) -> None:
        self.folder = None if root is None else root / name
        if self.folder is not None:
            self.folder.mkdir()
            (self.folder / "pids.max").write_text(str(limits.processes))
            (self.folder / "memory.max").write_text(str(limits.memory_mb * _MB))

    def enter(self) -> None:
        """Moves the calling process in: for the child, before it stops being root."""
        if self.folder is not None:
            (self.folder / "cgroup.procs").write_text("0")

    def kill(self) -> None:
        """Ends all that is inside at once, so that nothing can fork away from the blow."""
        if self.folder is not None:
            with contextlib.suppress(OSError):
                (self.folder / "cgroup.kill").write_text("1")

    def breaches(self) -> list[str]:
        """Which bounds were met: "memory", "processes"."""
        if self.folder is None:
            return []
        found = []
        for name, file, event in (("memory", "memory.events", "oom_kill"), ("processes", "pids.events", "max")):
            with contextlib.suppress(OSError):
                counts = dict(line.split() for line in (self.folder / file).read_text().splitlines())
                if int(counts.get(event, 0)):
                    found.append(name)
        return found

    def remove(self) -> None:
        """Takes it away, once nothing is inside."""
        if self.folder is not None:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
