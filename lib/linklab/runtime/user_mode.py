"""A lab in user-mode Linux: started, confined, stopped while nobody asks it, and ended with this process."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from linklab.errors import LabEnded, LabError
from linklab.guest.boot import DATE_S
from linklab.guest.channel import Channel, ChannelClosed, ChannelTimeout
from linklab.runtime import bwrap, container
from linklab.runtime.backends import ENVIRONMENT, Kind, guest_memory_mb
from linklab.runtime.console import Console
from linklab.runtime.image.find import installed_packages, library, refuse_damaged, run_inside
from linklab.runtime.transport import BOOT_LIMIT_S, LabFacts, OwnLab

_EARLY = ("PYTHONHASHSEED", "GLIBC_TUNABLES")
"""What has to be there when a guest's first program starts."""
_WRITE_LIMIT_S = 60.0
_ALLOW_PTRACE = "allow ptrace here, which kernel.yama.ptrace_scope=3 or a container's seccomp profile forbids"


class UserModeLab(OwnLab):
    """A guest in user mode that this process has started, and that ends with it."""

    def __init__(self, kind: Kind, folder: Path | None, *, untrusted: bool, seed: int, reads: Iterable[Path]) -> None:
        """Start the lab and return when its agent answers.

        Raises `LabError` where nothing can confine the lab, and with the last lines of the console where it does not
        come up.
        """
        memory_mb = guest_memory_mb()
        self.console = Console()
        self._lifeline, lifeline_theirs = socket.socketpair()
        self._ours, theirs = socket.socketpair()
        info, info_theirs = os.pipe()  # gives the process id of the lab's first process as JSON
        try:
            with lifeline_theirs, theirs, os.fdopen(info_theirs, "wb"):
                fds = lifeline_theirs.fileno(), theirs.fileno(), info_theirs
                self._supervisor = _start(
                    kind, folder, list(reads), fds, self.console, untrusted=untrusted, memory_mb=memory_mb, seed=seed
                )
        except BaseException:
            for end in (self.console, self._lifeline, self._ours):
                end.close()
            os.close(info)
            raise
        self.pid = self._supervisor.pid
        _started_labs.add(self)
        ours = self._ours.fileno()
        self.channel = Channel(ours, ours, write_limit_s=_WRITE_LIMIT_S)
        try:
            ready = self.channel.receive(BOOT_LIMIT_S)
            self.group_pid = json.loads(os.read(info, 4096))["child-pid"]
        except (ChannelClosed, ChannelTimeout) as failure:
            tail = self.console_tail()
            self.end()
            assert kind.image is not None
            refuse_damaged(kind.image)
            # where bubblewrap itself failed, no guest ran
            kind_of_error = LabError if tail.startswith("bwrap:") else LabEnded
            how = "did not answer" if isinstance(failure, ChannelTimeout) else "ended while starting"
            mend = _ALLOW_PTRACE if kind.traced and "ptrace" in tail else "linklab doctor tells what is missing"
            raise kind_of_error(f"the lab {how}: {tail or 'its console is empty'} ({mend})") from None
        except BaseException:
            self.end()
            raise
        finally:
            os.close(info)
        self.about = LabFacts(kind, ready["kernel"], ready["clock_s"], memory_mb)
        self._traces = _traces(self.group_pid)
        self.pause()

    @property
    def running(self) -> bool:
        """Whether its supervisor lives."""
        return self._supervisor.poll() is None

    def resume(self) -> None:
        """Send SIGCONT to the guest."""
        self._signal(signal.SIGCONT)

    def pause(self) -> None:
        """Send SIGSTOP to the guest."""
        self._signal(signal.SIGSTOP)

    def _signal(self, number: signal.Signals) -> None:
        """Signal the guest's processes; a kernel that traces its programs gets it alone, or it would take it for
        theirs.
        """
        if self.running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                (os.kill if self._traces else os.killpg)(self.group_pid, number)

    def force_interrupt(self) -> None:
        """Have a guest that computes see what arrived. Its kernel runs when the program calls it, when time passes, or
        when SIGALRM comes to the program, which is a process here.
        """
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    state, parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
                    if state == "R" and int(parent) == self.group_pid and _bears_alarm(folder):
                        os.kill(int(folder.name), signal.SIGALRM)

    def hang_up(self) -> None:
        """End the lab and everything it made."""
        with contextlib.suppress(OSError):
            # wakes a request of another thread; after close alone it would go on with a number that others reuse
            self._ours.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._lifeline.shutdown(socket.SHUT_RDWR)  # a child that was forked may hold it too
        self._lifeline.close()
        try:
            self._supervisor.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()

    def close(self) -> None:
        """Close the channel and the console."""
        self._ours.close()
        self.console.close()


_started_labs: weakref.WeakSet[UserModeLab] = weakref.WeakSet()


def _let_go() -> None:
    """Close labs' sockets in a forked child: a lab ends with its process, not with the last of the children."""
    for lab in list(_started_labs):
        lab._lifeline.close()
        lab._ours.close()


os.register_at_fork(after_in_child=_let_go)


def _start(
    kind: Kind,
    folder: Path | None,
    reads: Sequence[Path],
    fds: tuple[int, int, int],
    console: Console,
    *,
    untrusted: bool,
    memory_mb: int,
    seed: int,
) -> subprocess.Popen[bytes]:
    """Start the supervisor with the lab below it. ``fds`` are its ends of lifeline, channel and info.

    Raises `LabError` where nothing can confine the lab.
    """
    assert kind.image is not None
    lifeline, channel, info = fds
    own, memory = container.own_folder(memory_mb, untrusted=untrusted) or (None, "")
    private = bwrap.PRIVATE if own is None else str(own)
    text = json.dumps(_options(folder, reads, private, seed))
    options_fd = os.memfd_create("options")
    try:
        os.write(options_fd, text.encode())
        os.lseek(options_fd, 0, os.SEEK_SET)
        options: dict[str, Any] = {"channel": channel}
        if folder is not None and not untrusted:  # the judge's tmpfs and RLIMIT_FSIZE bound untrusted code
            options["writes"] = str(folder)
        command = _command(kind, channel, private, memory_mb, seed)
        parts = {
            "image": kind.image.root,
            "linux": kind.image.kernel,
            "library": library(kind.image),
            "packages": installed_packages(),
        }
        if own is not None:
            container.link_parts(own, text, parts)
            options |= {"argv": command, "info": info, "folder": private}
            options["environment"] = {"TMPDIR": memory}
        else:
            words = bwrap.for_guest(folder, reads, parts, options_fd, info, memory_mb)
            if os.geteuid() == 0:
                words += run_inside(Path(bwrap.PRIVATE, "image"), *bwrap.WITHOUT_RIGHTS)
            options["argv"] = words + command
        supervisor = str(Path(__file__).with_name("supervisor.py"))
        return subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor, str(lifeline), json.dumps(options)],
            stdin=subprocess.DEVNULL,
            stdout=console.file,
            stderr=console.file,
            pass_fds=[lifeline, options_fd, channel, info],
            start_new_session=True,
            cwd="/",
        )
    except BaseException:
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)
        raise
    finally:
        os.close(options_fd)


def _command(kind: Kind, channel_fd: int, private: str, memory_mb: int, seed: int) -> list[str]:
    """Return the guest's own command. ``private`` is the folder of what it is made of and of its own files; ``seed`` is
    for the kernel's random numbers.
    """
    assert kind.image is not None
    return [
        f"{private}/linux",
        f"mem={memory_mb}M",
        "root=/dev/root",
        "rootfstype=hostfs",
        f"rootflags={private}/image",
        "ro",
        # quiet and con=null: a boot log on the console costs time; errors still come on standard output
        "con=null",
        "con0=null,fd:1",
        f"linklab={channel_fd}",
        "quiet",
        f"uml_dir={private}/",
        "panic=-1",
        "bonding.max_bonds=0",
        "time-travel=inf-cpu",
        f"time-travel-start={DATE_S * 10**9}",
        "norandmaps",
        f"random.seed={seed}",
        f"seccomp={'off' if kind.traced else 'auto'}",
        # what the kernel does not know becomes the environment of its first program
        *(f"{name}={ENVIRONMENT[name]}" for name in _EARLY),
        f"init={kind.image.python}",
        "--",
        "-S",
        "/usr/lib/linklab/init.py",
        private,
    ]


def _options(folder: Path | None, reads: Sequence[Path], private: str, seed: int) -> dict[str, Any]:
    """Return what the guest's first program (`linklab.guest.init`) reads, and tells the agent."""
    return {
        "seed": str(seed),
        "environment": ENVIRONMENT,
        "reads": [_name_inside(path) for path in reads],
        "packages": f"{private}/packages",
        "folder": _name_inside(folder) if folder else None,
    }


def _name_inside(path: Path) -> str:
    """Return a path as a guest's Python has it, whose locale is UTF-8: names are bytes, in whatever locale is here."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def _traces(kernel: int) -> bool:
    """Say whether a guest's kernel, a process here, runs its programs under ptrace: as it was told, or because it
    found no other way (`seccomp=auto`). By seccomp it learns from SIGCHLD that one has ended.
    """
    try:
        return not _catches(Path(f"/proc/{kernel}/status").read_text("utf-8", "replace"), signal.SIGCHLD)
    except OSError:  # it has ended
        return False


def _bears_alarm(folder: Path) -> bool:
    """Say whether SIGALRM does no more to the process of /proc/PID than to interrupt it: it is traced, or has a
    handler.
    """
    status = (folder / "status").read_text("utf-8", "replace")
    return _field(status, "TracerPid") != "0" or _catches(status, signal.SIGALRM)


def _catches(status: str, number: signal.Signals) -> bool:
    """Say whether a process has a handler for a signal, by its /proc/PID/status."""
    return bool(int(_field(status, "SigCgt"), 16) >> (number - 1) & 1)


def _field(status: str, name: str) -> str:
    return status.partition(f"\n{name}:")[2].split()[0]
