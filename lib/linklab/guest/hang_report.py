"""Name the programs that keep a lab from answering, and what each waits for. One line for people."""

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
_LINKLAB = str(Path(__file__).parents[1]) + os.sep
_REQUEST_LOOP = str(Path(__file__).with_name("request_loop.py"))  # importing it here would be a circle
_IN_SHELL = "mininet:"  # the last word of a node's shell, with the node's name
_ON_A_FILE = {0, 1, 19, 20, 42, 43, 44, 45, 46, 47, 72, 73, 288}
"""x86-64's system calls whose first argument is the file that the program waits for: read, write, accept and so on."""


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    computes: bool
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
    parents = {process.parent for process in processes if not process.is_shell_of}
    nodes = {process.namespace: f" on {process.is_shell_of}" for process in processes if process.is_shell_of}
    ends = [
        process
        for process in processes
        if process.pid not in parents and process.pid not in (1, os.getpid()) and not process.is_shell_of
    ]
    ends.sort(key=lambda process: (not process.computes, -process.pid))
    said = [
        f"{it.name!r} (pid {it.pid}{nodes.get(it.namespace, '')}) "
        + ("computes" if it.computes else f"waits{_file_waited_for(it.pid)}")
        for it in ends[:_AT_MOST]
    ]
    if len(ends) > _AT_MOST:
        said.append(f"and {len(ends) - _AT_MOST} programs more")
    return "; ".join(filter(None, (_place(frame), *said))) or "no program runs in it"


def _place(frame: FrameType | None) -> str:
    """Say in which of the notebook's calls the function is, and in which call it waits."""
    calls = list(traceback.extract_stack(frame)) if frame is not None else []
    of_loop = [number for number, call in enumerate(calls) if call.filename == _REQUEST_LOOP]
    calls = list(dropwhile(lambda call: call.filename.startswith(_LINKLAB), calls[max(of_loop, default=-1) + 1 :]))
    ends = dict.fromkeys(
        f"{call.name} ({os.path.basename(call.filename)}:{call.lineno})" for call in calls[:1] + calls[-1:]
    )
    return f"the function is in {' > '.join(ends)}" if ends else ""


def _processes() -> list[_Process]:
    """Return the processes that have a command line: the kernel's own have none."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            state, parent, *_ = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            words = (folder / "cmdline").read_text("utf-8", "replace").rstrip("\0").split("\0")
            if words != [""]:
                namespace = os.readlink(folder / "ns/net")
                found.append(_Process(int(folder.name), int(parent), state == "R", tuple(words), namespace))
    return found


def _file_waited_for(pid: int) -> str:
    """Return " for a pipe", " for a socket" or " for FILE" where a process waits for one, else nothing."""
    with contextlib.suppress(OSError, ValueError):
        number, first, *_ = (int(word, 0) for word in Path(f"/proc/{pid}/syscall").read_text("ascii").split())
        if platform.machine() == "x86_64" and number in _ON_A_FILE:
            name = os.readlink(f"/proc/{pid}/fd/{first}")
            return f" for a {name.partition(':')[0]}" if ":[" in name else f" for {name}"
    return ""
