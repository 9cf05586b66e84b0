"""A Python that has started, and forks for each program: the child joins the program's sandbox and becomes the program.

In a guest starting Python costs ten times what a fork does, and more than a short program computes. `start` makes such
a server, `run_program` asks it for a program, and bubblewrap makes the sandbox, as for any other.

The server is this file, run as a script. It imports nothing of Linklab, for its programs would find that imported.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import socket
import subprocess
import sys
import types
from collections.abc import Iterable
from typing import Any

_PRELOADED = (
    "argparse", "concurrent.futures.thread", "dataclasses", "datetime", "errno", "ipaddress", "math", "queue", "random",
    "re", "selectors", "shutil", "signal", "struct", "textwrap", "threading", "time", "traceback", "typing",
)  # fmt: skip
"""What students' programs import, and what that imports: no later program has to."""
HOLDER = "cat"
"""The command that keeps a sandbox in being until its input ends. It repeats a byte, which says that it runs."""
_MESSAGE_BYTES = 64 * 1024
_FILES = 5
_MADV_POPULATE_READ, _MADV_POPULATE_WRITE = 22, 23
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 4, 24, 38
_CAPABILITIES_VERSION = 0x20080522
# linux/sched.h; Python's os has setns and these from 3.12 on
_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWNET = 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x40000000
_NEWUSER, _NEWPID = 0x10000000, 0x20000000
_libc = ctypes.CDLL(None, use_errno=True)


def start(python: str, environment: dict[str, str], own_names: Iterable[str]) -> socket.socket:
    """Start a server, for root alone, and return the socket to it. It ends when that is closed.

    Its programs find ``environment``. Nothing is imported beforehand where one of their ``own_names`` is a module of
    Python's, which it hides.
    """
    ours, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # what it prints goes to a terminal, as its programs' output does: only so Python writes each line at once
    screen, terminal = os.openpty()
    preloaded = () if set(own_names) & sys.stdlib_module_names else _PRELOADED
    with control:
        subprocess.Popen(
            [python, __file__, str(control.fileno()), *preloaded],
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=terminal,
            env=environment,
            cwd="/",
            pass_fds=[control.fileno(), screen],
        )
    os.close(screen)
    os.close(terminal)
    return ours


def run_program(
    server: socket.socket,
    words: list[str],
    folder: str,
    cage: str,
    user: int,
    bounds: dict[int, int],
    files: tuple[int, int, int, int, int],
) -> None:
    """Have the server run Python with these words in a sandbox, as a user, with bounds as setrlimit(2) takes them.

    ``cage`` is the control group's file that takes processes in. The ``files`` are bubblewrap's JSON status, input and
    output of the sandbox's `HOLDER`, the program's two outputs, and where the server reports: "started" once the
    program runs, then its exit status. With the program the sandbox ends.
    """
    asked = {"words": words, "folder": folder, "cage": cage, "user": user, "bounds": list(bounds.items())}
    socket.send_fds(server, [json.dumps(asked).encode()], files)


class _Server:
    """Forks for each program, and waits for their ends."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._programs: dict[int, tuple[int, int, int]] = {}
        self._memory = _memory()

    def serve(self) -> list[str] | None:
        """Return a program's words in its own process, and None in the server's when nobody asks any more."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while True:
            for number, _ in poll.poll():
                if number in self._programs:
                    poll.unregister(number)
                    self._ended(number)
                    continue
                message, files, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, _FILES)
                if not message:
                    return None
                asked = json.loads(message)
                if (program := self._fork(asked, *files)) == 0:
                    return list(asked["words"])
                if program is not None:
                    poll.register(program, select.POLLIN)

    def _fork(self, asked: dict[str, Any], status: int, holder: int, out: int, err: int, report: int) -> int | None:
        """Return what tells of the program's end; 0 in its own process, None where the sandbox could not be made."""
        try:
            process = _sandbox_process(status, holder)
            sandbox, users = os.pidfd_open(process), os.open(f"/proc/{process}/ns/user", os.O_RDONLY)
            program = self._forked_in(sandbox)
        except OSError:  # bubblewrap has ended
            for file in (holder, out, err, report):
                os.close(file)
            return None
        if program == 0:
            self._control.detach()
            _become_program(asked, self._memory, sandbox, users, out, err, report)
            return 0
        for file in (sandbox, users, out, err):
            os.close(file)
        end = os.pidfd_open(program)
        self._programs[end] = program, report, holder
        return end

    def _forked_in(self, sandbox: int) -> int:
        """Fork as fork(2) does, into the sandbox's namespace of processes."""
        _enter(sandbox, _NEWPID)
        program = -1
        try:
            program = os.fork()
        finally:
            if program:
                _enter(self._own_processes, _NEWPID)
        return program

    def _ended(self, end: int) -> None:
        program, report, holder = self._programs.pop(end)
        code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
        with contextlib.suppress(BrokenPipeError):  # nobody asks for the status of a program that was stopped
            os.write(report, str(code if code >= 0 else 128 - code).encode())
        for file in (end, report, holder):
            os.close(file)


def _sandbox_process(status: int, holder: int) -> int:
    """Return the first process of a sandbox, once that is made. Raises OSError where it is not."""
    with open(status, encoding="ascii") as told:
        line = told.readline()
    os.write(holder, b".")
    if not os.read(holder, 1):
        raise BrokenPipeError
    return int(json.loads(line)["child-pid"])


def _memory() -> list[tuple[int, int, int]]:
    """Return address and length of each part of this process's memory, and how madvise(2) gives a child all of it."""
    found = []
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            span, rights, _, _, _, *name = line.split(maxsplit=5)
            begin, end = (int(word, 16) for word in span.split("-"))
            if rights[0] == "r" and not (name and name[0].startswith("[v")):
                found.append((begin, end - begin, _MADV_POPULATE_WRITE if rights[1] == "w" else _MADV_POPULATE_READ))
    return found


def _become_program(
    asked: dict[str, Any], memory: list[tuple[int, int, int]], sandbox: int, users: int, out: int, err: int, report: int
) -> None:
    """Let this process be in the sandbox what its holder is, with no right more. Ends it where something fails."""
    try:
        with open(asked["cage"], "w", encoding="ascii") as cage:
            cage.write("0")
        for address, length, advice in memory:
            # in one call what would be a page fault for each page: only faster, so its failure is none
            _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(length), advice)
        _enter(sandbox, _NEWNS | _NEWCGROUP | _NEWUTS | _NEWIPC | _NEWNET)
        for number, bound in asked["bounds"]:
            resource.setrlimit(number, (bound, bound))
        os.setgroups([])
        os.setgid(asked["user"])
        os.setuid(asked["user"])
        _enter(users, _NEWUSER)
        _drop_capabilities()
        os.setsid()
        os.chdir(asked["folder"])
        for file, place in ((os.open("/dev/null", os.O_RDONLY), 0), (out, 1), (err, 2)):
            os.dup2(file, place)
        os.write(report, b"started ")
        os.closerange(3, 1 << 20)
    except BaseException:
        os._exit(1)


def _enter(namespaces: int, kinds: int) -> None:
    """Enter a namespace, or those of a process. Raises OSError."""
    if _libc.setns(namespaces, kinds):
        raise OSError(ctypes.get_errno(), "setns")


def _drop_capabilities() -> None:
    """Give up all capabilities for good; whoever joins a user namespace gets all that are in it."""
    number = 0
    while _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) == 0:
        number += 1
    header, none = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0), (ctypes.c_uint32 * 6)()
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # else its own /proc/self is closed to it
    if number == 0 or _libc.capset(header, none) or _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "the capabilities stayed")


def _run(words: list[str]) -> None:
    """Run a program as ``python WORDS`` does. Raises SystemExit."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    if words[0] == "-c":
        name, source, sys.path[0], sys.argv = "<string>", words[1].encode(), "", ["-c", *words[2:]]
    else:
        name, sys.argv = os.path.abspath(words[0]), words
        sys.path[0], main.__file__ = os.path.dirname(name), name
        with open(name, "rb") as file:
            source = file.read()
    sys.modules["__main__"] = main
    sys.path_importer_cache.clear()
    try:
        exec(compile(source, name, "exec", dont_inherit=True), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        own = error.__traceback__  # of this frame, which is none of the program's
        error.__traceback__ = own and own.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)


def _main(control: int, preloaded: list[str]) -> None:
    sys.path[0] = ""
    for name in preloaded:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    words = _Server(socket.socket(fileno=control)).serve()
    if words is not None:
        _run(words)


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2:])
