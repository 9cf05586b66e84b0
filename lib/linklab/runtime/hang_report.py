"""Who waits for what in a lab that gives no answer, from /proc, in one line for people."""

from __future__ import annotations

import contextlib
import os
import platform
import traceback
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from types import FrameType

_AT_MOST = 4
_WORDS_AT_MOST = 50
_FRAMES = 3
_LINKLAB = str(Path(__file__).parents[1]) + os.sep
_CONTEXT = str(Path(__file__).with_name("context.py"))  # which loads this module, so that it is not imported here
_IN_SHELL = "mininet:"  # the last word of a node's shell, with the node's name

# x86-64's numbers, as /proc/PID/syscall has them; elsewhere a program "waits"
_ON_A_FILE = {
    0: "to read from", 1: "to write to", 19: "to read from", 20: "to write to", 43: "in accept on", 288: "in accept on",
    42: "in connect on", 44: "to send on", 46: "to send on", 45: "to receive on", 47: "to receive on",
    72: "for a lock on", 73: "for a lock on", 2: "to open", 257: "to open",
}  # fmt: skip
_OPENS = (2, 257)
_READS = (0, 19)
_FUTEX = 202
_OTHERWISE = {
    7: "in poll", 271: "in poll", 23: "in select", 270: "in select", 232: "in epoll", 281: "in epoll",
    61: "for a child", 247: "for a child", _FUTEX: "for a lock", 34: "for a signal", 130: "for a signal",
    128: "for a signal", 35: "in sleep", 230: "in sleep",
}  # fmt: skip
_SELECTS = (7, 271, 23, 270, 232, 281)
_TABLES = ("tcp", "tcp6", "udp", "udp6")
_LISTENS = "0A"


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    state: str
    words: tuple[str, ...]

    @property
    def is_shell_of(self) -> str:
        """The node whose shell it is, or nothing."""
        last = self.words[-1]
        return last.removeprefix(_IN_SHELL) if last.startswith(_IN_SHELL) else ""

    @property
    def name(self) -> str:
        text = " ".join((os.path.basename(self.words[0]), *self.words[1:]))
        return text if len(text) <= _WORDS_AT_MOST else text[: _WORDS_AT_MOST - 3] + "..."


def who_waits(frame: FrameType | None) -> str:
    """Where the function of the request is (`frame`), and what the programs wait for that wait for no other program.

    Shells of nodes that wait for their next command, and the agent with process 1, are left out.
    """
    processes = {process.pid: process for process in _processes()}
    parents = {process.parent for process in processes.values()}
    nodes = {_namespace(process.pid): process.is_shell_of for process in processes.values() if process.is_shell_of}
    ends = [
        process
        for process in processes.values()
        if process.pid not in parents and process.pid not in (1, os.getpid()) and not process.is_shell_of
    ]
    # those that compute first, those that only sleep last, the youngest of each first
    ends.sort(key=lambda process: (process.state != "R", _syscall(process.pid)[:1] in ([35], [230]), -process.pid))
    said = [_place(frame)] if frame is not None else []
    for process in ends[:_AT_MOST]:
        node = nodes.get(_namespace(process.pid), "")
        where = f"pid {process.pid} on {node}" if node else f"pid {process.pid}"
        said.append(f"{process.name!r} ({where}) {_what(process, processes)}")
    if len(ends) > _AT_MOST:
        said.append(f"and {len(ends) - _AT_MOST} programs more")
    return "; ".join(filter(None, said)) or "no program runs in it"


def _place(frame: FrameType) -> str:
    """Where the function is: the call that the notebook knows, and the last ones before the one that waits."""
    calls = list(traceback.extract_stack(frame))
    of_context = [number for number, call in enumerate(calls) if call.filename == _CONTEXT]
    calls = list(dropwhile(lambda call: call.filename.startswith(_LINKLAB), calls[max(of_context, default=-1) + 1 :]))
    steps = [f"{call.name} ({os.path.basename(call.filename)}:{call.lineno})" for call in calls]
    if len(steps) > _FRAMES:
        steps = [steps[0], "...", *steps[1 - _FRAMES :]]
    return f"the function is in {' > '.join(steps)}" if steps else ""


def _processes() -> list[_Process]:
    """All that have a command line: the kernel's own have none."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                words = (folder / "cmdline").read_text("utf-8", "replace").rstrip("\0").split("\0")
                if words != [""]:
                    found.append(_Process(int(folder.name), int(fields[1]), fields[0], tuple(words)))
    return found


def _namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return ""


def _syscall(pid: int) -> list[int]:
    """The number of the system call that a process waits in, and its arguments; nothing where that is not told.

    Of threads, the first one that does not wait for another.
    """
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            words = (thread / "syscall").read_text("ascii").split()
            call = [int(word, 0) for word in words] if len(words) > 3 and platform.machine() == "x86_64" else []
            if call and (not found or found[0] == _FUTEX):
                found = call
    return found


def _what(process: _Process, processes: dict[int, _Process]) -> str:
    if process.state == "R":
        return "computes"
    if process.state == "T":
        return "is stopped"
    number, *arguments = _syscall(process.pid) or [-1, -1]
    if number in _OPENS:
        return "waits to open a file, which a FIFO does until its other end is opened"
    if number in _ON_A_FILE:
        return f"waits {_ON_A_FILE[number]} {_file(process.pid, arguments[0], number in _READS, processes)}"
    ports = _listening(process.pid) if number in _SELECTS else ""
    return f"waits {_OTHERWISE[number]}{ports}" if number in _OTHERWISE else "waits"


def _file(pid: int, fd: int, reads: bool, processes: dict[int, _Process]) -> str:
    """What one of a process's files is."""
    try:
        name = os.readlink(f"/proc/{pid}/fd/{fd}")
    except OSError:
        return f"its file {fd}"
    if name.startswith("pipe:"):
        other = _other_end(name, pid, reads, processes)
        return f"a pipe whose other end {other} has" if other else "a pipe whose other end nobody else has"
    if name.startswith("socket:"):
        return _sockets(pid).get(name[len("socket:[") : -1], "a socket")
    return f"its terminal {name}" if name.startswith("/dev/pts/") else name


def _other_end(pipe: str, pid: int, reads: bool, processes: dict[int, _Process]) -> str:
    """Another process that has the pipe open for what `pid` does not do with it."""
    for other in sorted(processes, reverse=True):
        if other == pid:
            continue
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{other}/fd"):
                if os.readlink(f"/proc/{other}/fd/{fd}") != pipe:
                    continue
                flags = Path(f"/proc/{other}/fdinfo/{fd}").read_text("ascii").split("flags:")[1].split()[0]
                if (int(flags, 8) & os.O_ACCMODE != os.O_RDONLY) == reads:
                    return "this function" if other == os.getpid() else f"{processes[other].name!r} (pid {other})"
    return ""


def _sockets(pid: int) -> dict[str, str]:
    """The sockets of a process's namespace by their inode: ``TCP port 5001``."""
    found = {}
    for table in _TABLES:
        for fields in _rows(pid, table):
            kind, port = table[:3].upper(), int(fields[1].rpartition(":")[2], 16)
            far = int(fields[2].rpartition(":")[2], 16)
            found[fields[9]] = f"{kind} port {port}" + (f", connected to port {far}" if far else "")
    return found


def _listening(pid: int) -> str:
    """On which ports a process listens, with a comma before, or nothing."""
    own = set()
    with contextlib.suppress(OSError):
        own = {os.readlink(f"/proc/{pid}/fd/{fd}")[len("socket:[") : -1] for fd in os.listdir(f"/proc/{pid}/fd")}
    ports = {
        f"{table[:3].upper()} {int(fields[1].rpartition(':')[2], 16)}"
        for table in _TABLES
        for fields in _rows(pid, table)
        if fields[9] in own and (fields[3] == _LISTENS or table.startswith("udp"))
    }
    return f", listens on {', '.join(sorted(ports))}" if ports else ""


def _rows(pid: int, table: str) -> list[list[str]]:
    try:
        lines = Path(f"/proc/{pid}/net/{table}").read_text("ascii").splitlines()[1:]
    except OSError:
        return []
    return [fields for line in lines if len(fields := line.split()) > 9]
