"""Run a program in the foreground of a lab: it prints to the terminal of `linklab mininet` and reads from it.

The lab's time must stand still while a person types, and nobody can see that a program waits for a line. So a program
that reads says so: `linklab.guest.startup`, which each Python of such a lab loads, connects to a socket and gets
the line through it. `go_on` then returns, the guest is stopped, and the line comes with the next call.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

from linklab.errors import LabError
from linklab.guest import startup
from linklab.guest.request_loop import RequestLoop

_CHUNK = 64 * 1024
_SIGN_S, _LONGEST_SIGN_S = 10.0, 3600.0
"""Seconds of the lab's time that a program may be silent until a sign tells that time passes, and at most from one such
sign to the next: each interval is a tenth longer than the one before.
"""
_LAST_WORDS_S = 2.0
_PLACE = Path("/run/linklab")
_OPEN_VSWITCH = Path("/run/openvswitch")
"""Where each of Open vSwitch's programs has a socket, a controller that starts before any switch too."""
_LIBRARY = Path(__file__).parents[2]
_PROGRAMS = {
    "ovs-vsctl": """\
#!/bin/sh
# Open vSwitch runs from when it is asked for
[ -S /run/openvswitch/db.sock ] ||
    python3 -c 'import mininet; from linklab.guest.switches import run_daemons; run_daemons()' || exit 1
exec /usr/bin/ovs-vsctl "$@"
""",
    "service": """\
#!/bin/sh
# Open vSwitch is the only service that a lab has
case $1 in
    openvswitch* | ovs*) exec ovs-vsctl --no-wait init ;;
esac
echo "a lab has no service $1" >&2
exit 1
""",
    "systemctl": """\
#!/bin/sh
verb=$1
while [ $# -gt 1 ]; do shift; done
exec service "$1" "$verb"
""",
}
"""What other people's scripts call, and a lab does otherwise: Open vSwitch starts when it is needed."""
# Linklab may lie among many other packages, which must not hide what the script's own Python has.
_STARTUP = """\
import sys
sys.path.insert(0, {library!r})
from linklab.guest import startup
sys.path.append(sys.path.pop(0))
startup.install()
"""


def _write_programs(programs: Path) -> None:
    """Write the programs into a folder, which comes first on the script's PATH."""
    programs.mkdir(parents=True)
    for name, text in _PROGRAMS.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (programs / "controller").symlink_to("/usr/bin/ovs-testcontroller")


class Foreground:
    """The program, its output, and the socket through which it asks for lines."""

    def __init__(self, words: list[str], folder: str, together: bool, seed: int) -> None:
        """Start the program in `folder`. `together`: output and errors go the same way, and keep their order."""
        _write_programs(_PLACE / "bin")
        _OPEN_VSWITCH.mkdir(parents=True, exist_ok=True)
        (_PLACE / "sitecustomize.py").write_text(_STARTUP.format(library=str(_LIBRARY)))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(_PLACE / "lines"))
        self.listener.listen()
        # never written to and never closed: who reads it all the same waits, as at a terminal where nobody types
        keyboard, self._nobody = os.pipe()
        environment = os.environ | {
            "PATH": f"{_PLACE}/bin:{os.environ['PATH']}",
            "PYTHONPATH": str(_PLACE),
            "PYTHONUNBUFFERED": "1",  # what it prints keeps its place among what its children print
            startup.SEED: str(seed),
            startup.LINES: str(_PLACE / "lines"),
            startup.KEYBOARD: str(os.fstat(keyboard).st_ino),
        }
        output, output_theirs = os.pipe()
        errors, errors_theirs = (output, output_theirs) if together else os.pipe()
        try:
            self.process = subprocess.Popen(
                words,
                cwd=folder,
                env=environment,
                stdin=keyboard,
                stdout=output_theirs,
                stderr=errors_theirs,
                start_new_session=True,
            )
        except OSError as error:
            raise LabError(f"{words[0]} cannot be started: {error.strerror}") from None
        finally:
            for end in {keyboard, output_theirs, errors_theirs}:
                os.close(end)
        self.streams = {errors: "errors", output: "output"}
        for stream in self.streams:
            os.set_blocking(stream, False)
        self.ended = os.pidfd_open(self.process.pid)
        self.asking: socket.socket | None = None
        self.line: str | None = None
        self.interrupted = False

    def interrupt(self) -> None:
        """Send SIGINT, as Ctrl-C does, to the program and to what it started in its session."""
        asked = [] if self.asking is None else [self.asking]
        while select.select([self.listener], [], [], 0)[0]:  # it asked before Ctrl-C, too
            asked.append(self.listener.accept()[0])
        self.asking = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)
        for each in asked:  # only now: who waits for a line may run at once, and must not take it for the end
            each.close()

    def answer(self, line: str) -> None:
        """Give the program the line that it asked for; an empty one is the end of its input.

        Whoever asked may have been interrupted since. Then the next one to ask gets the line.
        """
        self.line = line
        if self.asking is None:
            return
        with self.asking, contextlib.suppress(OSError):
            if not _hung_up(self.asking):
                self.asking.sendall(line.encode(errors="surrogateescape"))
                self.line = None
        self.asking = None

    def take_question(self) -> None:
        """Accept a program's request for a line, and answer it if the line is there already.

        Whoever asked and was interrupted before it was taken in has hung up, and asks no more.
        """
        asking, _ = self.listener.accept()
        if _hung_up(asking):
            asking.close()
            return
        self.asking = asking
        if self.line is not None:
            self.answer(self.line)

    def show_last_words(self, loop: RequestLoop) -> None:
        """Hand on what the program prints to its end, which Ctrl-C has asked for: a Python names the line it was in."""
        deadline = time.monotonic() + _LAST_WORDS_S
        ended = False
        while not ended and (left := deadline - time.monotonic()) > 0:
            ended = self.ended in loop.poll([*self.streams, self.ended], left)
            self.show(loop)

    def show(self, loop: RequestLoop) -> None:
        """Hand on what the program has printed: as much as a pipe holds, for it may print on without end."""
        for stream, name in list(self.streams.items()):
            with contextlib.suppress(BlockingIOError):
                if data := os.read(stream, _CHUNK):
                    loop.emit({name: data.decode("latin-1")})
                else:
                    os.close(stream)
                    del self.streams[stream]


def _hung_up(asking: socket.socket) -> bool:
    """Return whether the program that asked for a line has closed the connection: it never sends anything."""
    return bool(select.select([asking], [], [], 0)[0])


def start(loop: RequestLoop, words: list[str], folder: str, together: bool) -> None:
    """Start the foreground program of this lab. Raises `LabError` where it cannot be started."""
    loop.state["foreground"] = Foreground(words, folder, together, loop.seed)


def go_on(loop: RequestLoop, line: str | None, interrupt: bool) -> int | None:
    """Let the program run, after `line` or Ctrl-C, until it asks for a line or ends.

    None when it asks, and its exit status, as a shell gives it, when it has ended. Output is emitted as it comes, byte
    for character, and in silence the lab's clock from time to time. Interrupted, it passes Ctrl-C on and returns as
    when the program asks; a call with `interrupt` that follows is then about the same Ctrl-C.
    """
    program: Foreground | None = loop.state.get("foreground")
    if program is None:  # interrupted before it was started
        return 128 + signal.SIGINT
    passed_on, program.interrupted = program.interrupted, False
    if interrupt and not passed_on:
        program.interrupt()
    elif line is not None:
        program.answer(line)
    sign_s = _SIGN_S
    while program.asking is None:
        try:
            ready = loop.poll([*program.streams, program.listener.fileno(), program.ended], sign_s)
        except KeyboardInterrupt:
            program.interrupt()
            program.interrupted = True
            if loop.hangs:
                program.show_last_words(loop)
            break
        if not ready:
            loop.emit_clock()
            sign_s = min(1.1 * sign_s, _LONGEST_SIGN_S)
            continue
        sign_s = _SIGN_S
        program.show(loop)
        if program.ended in ready:
            program.show(loop)
            status = program.process.wait()
            return status if status >= 0 else 128 - status
        if program.listener.fileno() in ready:
            program.take_question()
            program.show(loop)  # its prompt
    return None
