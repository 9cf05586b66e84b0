"""Name the programs that keep a lab from answering: state, what each waits for, ports. One line for people."""

from __future__ import annotations

import contextlib
import os
import platform
import traceback
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from types import FrameType

from linklab.guest.listening import open_sockets

_AT_MOST = 4
_WORDS_AT_MOST = 50
_FRAMES = 3
_LINKLAB = str(Path(__file__).parents[1]) + os.sep
_REQUEST_LOOP = str(
    Path(__file__).with_name("request_loop.py")
)  # which loads this module, so that it is not imported here
_IN_SHELL = "mininet:"  # the last word of a node's shell, with the node's name

# x86-64's numbers of system calls, as /proc/PID/syscall has them; elsewhere a program "waits"
_ON_A_FILE = {
    0: "to read from", 1: "to write to", 19: "to read from", 20: "to write to", 42: "to connect", 43: "to accept on",
    44: "to send on", 45: "to receive on", 46: "to send on", 47: "to receive on", 72: "for a lock on",
    73: "for a lock on", 288: "to accept on",
}  # fmt: skip
_OTHERWISE = {
    2: "to open a file (a FIFO waits for its other end)", 257: "to open a file (a FIFO waits for its other end)",
    7: "in poll", 271: "in poll", 23: "in select", 270: "in select", 232: "in epoll", 281: "in epoll",
    61: "for a child", 247: "for a child", 202: "for a lock", 34: "for a signal", 128: "for a signal",
    130: "for a signal", 35: "in sleep", 230: "in sleep",
}  # fmt: skip
_STATES = {"R": "computes", "T": "is stopped"}


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    state: str
    words: tuple[str, ...]
    namespace: str

    @property
    def is_shell_of(self) -> str:
        """The node whose shell it is, or nothing."""
        last = self.words[-1]
        return last.removeprefix(_IN_SHELL) if last.startswith(_IN_SHELL) else ""

    @property
    def name(self) -> str:
        text = " ".join((os.path.basename(self.words[0]), *self.words[1:]))
        return text if len(text) <= _WORDS_AT_MOST else text[: _WORDS_AT_MOST - 3] + "..."


def hang_report(frame: FrameType | None) -> str:
    """Say where the request's function is (`frame`), and what the programs do that wait for no other program.

    Those that compute come first, then the youngest. Shells of nodes that wait for their next command, and the agent
    with process 1, are left out.
    """
    processes = _processes()
    parents = {process.parent for process in processes}
    nodes = {process.namespace: process.is_shell_of for process in processes if process.is_shell_of}
    ends = [
        process
        for process in processes
        if process.pid not in parents and process.pid not in (1, os.getpid()) and not process.is_shell_of
    ]
    ends.sort(key=lambda process: (process.state != "R", -process.pid))
    said = [_place(frame)] if frame is not None else []
    for process in ends[:_AT_MOST]:
        node = nodes.get(process.namespace)
        where = f"pid {process.pid} on {node}" if node else f"pid {process.pid}"
        said.append(f"{process.name!r} ({where}) {_what(process)}")
    if len(ends) > _AT_MOST:
        said.append(f"and {len(ends) - _AT_MOST} programs more")
    return "; ".join(filter(None, said)) or "no program runs in it"


def _place(frame: FrameType) -> str:
    """Say where the function is: the call that the notebook knows, and the last ones before the one that waits."""
    calls = list(traceback.extract_stack(frame))
    of_loop = [number for number, call in enumerate(calls) if call.filename == _REQUEST_LOOP]
    calls = list(dropwhile(lambda call: call.filename.startswith(_LINKLAB), calls[max(of_loop, default=-1) + 1 :]))
    steps = [f"{call.name} ({os.path.basename(call.filename)}:{call.lineno})" for call in calls]
    if len(steps) > _FRAMES:
        steps = [steps[0], "...", *steps[1 - _FRAMES :]]
    return f"the function is in {' > '.join(steps)}" if steps else ""


def _processes() -> list[_Process]:
    """Return the processes that have a command line: the kernel's own have none."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            state, parent, *_ = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            words = (folder / "cmdline").read_text("utf-8", "replace").rstrip("\0").split("\0")
            if words != [""]:
                namespace = os.readlink(folder / "ns/net")
                found.append(_Process(int(folder.name), int(parent), state, tuple(words), namespace))
    return found


def _what(process: _Process) -> str:
    """Say what a process does: its state, what it waits for, and on which ports it hears."""
    said = _STATES.get(process.state, "waits")
    number, file = _system_call(process.pid)
    if said == "waits" and number in _ON_A_FILE:
        said += f" {_ON_A_FILE[number]} {file}"
    elif said == "waits" and number in _OTHERWISE:
        said += f" {_OTHERWISE[number]}"
    ports = _ports(process.pid)
    return f"{said}, listens on {', '.join(ports)}" if ports else said


def _system_call(pid: int) -> tuple[int, str]:
    """Return the number of the system call that a process waits in, and what its first argument names as a file."""
    with contextlib.suppress(OSError, ValueError):
        number, first, *_ = (int(word, 0) for word in Path(f"/proc/{pid}/syscall").read_text("ascii").split())
        if platform.machine() == "x86_64":
            file = f"/proc/{pid}/fd/{first}"
            name = os.readlink(file) if os.path.lexists(file) else "a file"
            return number, f"a {name.partition(':')[0]}" if ":[" in name else name
    return -1, ""


def _ports(pid: int) -> list[str]:
    """Return the ports on which a process listens by TCP or receives by UDP: ``TCP port 5201``."""
    own = set()
    with contextlib.suppress(OSError):
        own = {os.readlink(file).strip("socket:[]") for file in Path(f"/proc/{pid}/fd").iterdir()}
    ports = [(each, port) for each in ("tcp", "udp") for _, port, inode in open_sockets(pid, each) if inode in own]
    return [f"{protocol.upper()} port {port}" for protocol, port in sorted(set(ports))]
