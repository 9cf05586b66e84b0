"""How a client reaches a lab in user-mode Linux that it has started (`UserModeLab`), or one that somebody lends it
(`BorrowedLab`).

Where :data:`VARIABLE` names a Unix socket, labs are borrowed there: a notebook that is graded runs where no guest can
be started. Its requests go over the socket to the judge (:mod:`linklab.grading.broker`), who starts guests, hands
requests on and answers back as they are.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from linklab import errors, process_tree
from linklab.errors import LabEnded, LabError
from linklab.guest.channel import Channel, ChannelClosed, ChannelTimeout, ClientEnd, Message
from linklab.runtime.backends import Kind, guest_memory_mb
from linklab.runtime.console import Console
from linklab.runtime.user_mode import launch

VARIABLE: Final = "LINKLAB_LABS"
"""The environment variable that names the lender's socket."""
BOOT_LIMIT_S: Final = 30.0
LONGER_S: Final = 30.0
"""How much longer than asked a borrower waits: the lender looks on the wall clock too, and says what is wrong."""
_WRITE_LIMIT_S = 60.0
_ALLOW_PTRACE = "allow ptrace here, which kernel.yama.ptrace_scope=3 or a container's seccomp profile forbids"


@dataclass(frozen=True)
class LabFacts:
    """What is known of a lab when it has booted. `clock_s` is its own clock then."""

    kind: Kind
    kernel_release: str
    clock_s: float
    memory_mb: int


class Transport(Protocol):
    """The way to a lab that has booted: messages over `channel`, and what a client needs to know and to do besides."""

    @property
    def channel(self) -> ClientEnd:
        """Where messages go and come."""

    @property
    def about(self) -> LabFacts:
        """What is known of the lab."""

    @property
    def running(self) -> bool:
        """Say whether the lab can still be asked."""

    @property
    def group_pid(self) -> int:
        """The process group of the lab on this machine; 0 where it has none here."""

    def resume(self) -> None:
        """Let the lab's time pass."""

    def pause(self) -> None:
        """Stop the lab's time, where that is possible."""

    def force_interrupt(self) -> None:
        """Have a lab that computes see what arrived."""

    def cpu_s(self) -> float:
        """Return how long the lab's processes have had a core so far; 0 where that cannot be seen from here."""

    def killed_for_memory(self, answer: Message) -> list[str]:
        """Return the programs that were ended since the last answer because the lab's memory was full."""

    def console_tail(self) -> str:
        """Return the last lines that the guest's kernel or the tools around it wrote, as one line."""

    def hang_up(self) -> None:
        """End the lab, or give it back, and return when it is gone. A request that waits for an answer is woken."""

    def close(self) -> None:
        """Give back what the connection took. Only after `hang_up`, and when no request runs."""


class OwnLab:
    """What labs have in common whose processes this one has started. `pid` is that of the first of them."""

    pid: int
    console: Console

    def cpu_s(self) -> float:
        """Return how long the lab's processes have had a core so far, in seconds."""
        return process_tree.tree_cpu_s(self.pid)

    def killed_for_memory(self, answer: Message) -> list[str]:
        """Return those that the guest's kernel told of on the console."""
        return self.console.killed_for_memory()

    def console_tail(self) -> str:
        """Return the console's last lines."""
        return self.console.tail()


class UserModeLab(OwnLab):
    """A guest in user mode that this process has started, and that ends with it."""

    def __init__(self, kind: Kind, folder: Path | None, *, untrusted: bool, seed: int, reads: Iterable[Path]) -> None:
        """Start the lab and return when its agent answers.

        Raises `LabError` with the last lines of the console where it does not come up.
        """
        self._group = 0
        memory_mb = guest_memory_mb()
        launched = launch(kind, folder, list(reads), untrusted=untrusted, memory_mb=memory_mb, seed=seed)
        self._supervisor, self.console, info = launched.supervisor, launched.console, launched.info_fd
        self.pid = self._supervisor.pid
        self._lifeline, self._ours = launched.lifeline, launched.ours
        _started_labs.add(self)
        ours = self._ours.fileno()
        self.channel = Channel(ours, ours, write_limit_s=_WRITE_LIMIT_S)
        try:
            ready = self.channel.receive(BOOT_LIMIT_S)
            self._group = json.loads(os.read(info, 4096))["child-pid"]
        except (ChannelClosed, ChannelTimeout) as failure:
            tail = self.console_tail()
            self._end()
            # where bubblewrap itself failed, no guest ran
            kind_of_error = LabError if tail.startswith("bwrap:") else LabEnded
            how = "did not answer" if isinstance(failure, ChannelTimeout) else "ended while starting"
            mend = _ALLOW_PTRACE if kind.traced and "ptrace" in tail else "linklab doctor tells what is missing"
            raise kind_of_error(f"the lab {how}: {tail or 'its console is empty'} ({mend})") from None
        except BaseException:
            self._end()
            raise
        finally:
            os.close(info)
        self.about = LabFacts(kind, ready["kernel"], ready["clock_s"], memory_mb)
        self._traces = bool(self._group) and _traces(self._group)
        self.pause()

    def _end(self) -> None:
        self.hang_up()
        self.close()

    @property
    def running(self) -> bool:
        """Say whether its supervisor lives."""
        return self._supervisor.poll() is None

    @property
    def group_pid(self) -> int:
        """The process group of the guest, which the supervisor made."""
        return self._group

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
        if self._group and self.running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                (os.kill if self._traces else os.killpg)(self._group, number)

    def force_interrupt(self) -> None:
        """Have a guest that computes see what arrived. Its kernel runs when the program calls it, when time passes, or
        when SIGALRM comes to the program, which is a process here.
        """
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    state, parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
                    if state == "R" and int(parent) == self._group and _bears_alarm(folder):
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


class BorrowedLab:
    """A lab on the lender's side, to be used as one's own. `number` is what the lender calls it."""

    group_pid = 0

    def __init__(self, lender: str, wall_limit_s: float, seed: int) -> None:
        """Ask for a lab and return when it answers. Raises `LabError` where the lender gives none."""
        self._ours = connected(lender)
        self.channel = Channel(self._ours.fileno(), self._ours.fileno())
        try:
            self.channel.send({"want": "lab", "wall_limit_s": wall_limit_s, "seed": str(seed)})
            ready = self.channel.receive(2 * BOOT_LIMIT_S + LONGER_S)
            if "error" in ready:
                raise errors.BY_NAME.get(ready["kind"], LabError)(ready["error"])
            self.number = int(ready["number"])
            lent = Kind(ready["name"])
            self.about = LabFacts(lent, ready["kernel"], ready["clock_s"], ready["memory_mb"])
        except (ChannelClosed, ChannelTimeout):
            self._ours.close()
            raise LabError("no lab could be had here: the lender did not answer") from None
        except BaseException:
            self._ours.close()
            raise

    @property
    def running(self) -> bool:
        """True: a lab that has ended is told of in the next answer."""
        return True

    def resume(self) -> None:
        """Do nothing: the lender does."""

    def pause(self) -> None:
        """Do nothing: the lender does."""

    def force_interrupt(self) -> None:
        """Do nothing: the lender does."""

    def cpu_s(self) -> float:
        """Return 0: the lender knows, and says so."""
        return 0.0

    def killed_for_memory(self, answer: Message) -> list[str]:
        """Return those that the answer tells of."""
        return [str(program) for program in answer.get("killed", [])]

    def console_tail(self) -> str:
        """Return nothing: the lender has it, and says what is of use."""
        return ""

    def hang_up(self) -> None:
        """Give the lab back, which ends it."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        self._ours.close()


def connected(lender: str) -> socket.socket:
    """Return a connection to the lender. Raises `LabError` where nobody is there."""
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        ours.connect(lender)
    except OSError as error:
        ours.close()
        raise LabError(f"no lab could be had here: {lender}: {error.strerror}") from None
    return ours


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
