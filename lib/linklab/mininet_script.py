"""``linklab mininet``: run other people's Mininet scripts unchanged in a lab."""

from __future__ import annotations

import os
import re
import readline  # noqa: F401 - gives input() its history and line editing
import sys
import time
from pathlib import Path

from linklab.errors import LabError
from linklab.guest import lab_api
from linklab.lab import lab_process, writable
from linklab.runtime.client import LabProcess

_SILENCE_LIMIT_S = 3600.0
"""Seconds of real time. Longer than in a notebook: a script may ping 64 hosts in silence, and a person is there."""
_QUIET_S = 10.0
_OF_PYTHON_2 = re.compile(
    rb"""^\s*(?:print\s+(?:["'%\w]|>>)|exec\s+["'\w]|except\s+[\w.]+\s*,\s*\w+\s*:|raise\s+\w+\s*,)|\b0[0-7]+\b|<>""",
    re.MULTILINE,
)
"""What Python 2 takes and Python 3 does not."""


def run(words: list[str], seed: int = 0) -> int:
    """Run a script with its arguments in a lab of its own, at this terminal, and return its exit status.

    The script may write to the present folder. Lines that it reads come from standard input, and the lab's time stands
    still until they have come. Ctrl-C goes to the script. Raises `LabError` where there is no such script, and for
    what the lab itself has to say.
    """
    here = Path.cwd()
    script = _script(words[0])
    folder = writable(None)
    # a home, say, is there to be read, and so is the folder of a script that lies elsewhere
    places = [] if folder else [here]
    if script is not None:
        lies = (script.absolute().parent, script.resolve().parent)
        places += [place for place in dict.fromkeys(lies) if not place.is_relative_to(here)]
    process = lab_process(None, folder, _SILENCE_LIMIT_S, seed, reads=places)
    with process:
        command = _command(words, script)
        terminal = _Terminal()
        together = os.fstat(1) == os.fstat(2)
        process.call(lab_api.start_foreground, command, str(here), together, stop=_Silence(process, terminal).tell)
        return _attend(process, terminal)


def _script(name: str) -> Path | None:
    """Return the script that is meant; None for Mininet's own program. Raises `LabError` where there is none such."""
    path = Path(name)
    if path.is_file():
        return path
    if name != "mn":
        raise LabError(f"there is no script {name} here: name a file, or mn")
    return None


def _command(words: list[str], script: Path | None) -> list[str]:
    """Return the command that starts a script in the lab: the lab's Python, or what its first line names."""
    if script is None:
        return ["python3", "/usr/bin/mn", *words[1:]]
    with script.open("rb") as file:
        first = file.readline(200)
    if first.startswith(b"#!") and b"python" not in first:
        return [*first[2:].decode(errors="replace").split(), *words]
    _check_python(script)
    return ["python3", *words]


def _check_python(script: Path) -> None:
    """Raise `LabError` for a script in Python 2."""
    text = script.read_bytes()
    try:
        compile(text, str(script), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        if isinstance(error, TabError) or _OF_PYTHON_2.search(text):
            line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
            raise LabError(
                f"{script}{line} is written for Python 2, which a lab does not have: make Python 3 of it, as by "
                f"2to3 -w {script.name} (of python3-lib2to3, or pip install fissix: fissix -w {script.name})"
            ) from None


def _attend(process: LabProcess, terminal: _Terminal) -> int:
    """Show what the script prints and give it lines, until it ends."""
    line: str | None = None
    interrupted = False
    while True:
        try:
            silence = _Silence(process, terminal)
            status = process.call(
                lab_api.continue_foreground, line, interrupted, on_event=terminal.show, stop=silence.tell
            )
            line, interrupted = None, False
            if status is not None:
                return status
            line = terminal.read()
        except KeyboardInterrupt:
            if not process.running:
                raise
            line, interrupted = None, True


class _Silence:
    """Tells once, when the script has printed nothing for ten real seconds, what the lab does meanwhile."""

    def __init__(self, process: LabProcess, terminal: _Terminal) -> None:
        self._process, self._terminal = process, terminal
        self._told = False
        self._since_s, self._computed_s = time.monotonic(), process.cpu_s()
        terminal.shown_s = self._since_s

    def tell(self) -> bool:
        """Tell it if it is time; return False, for the script goes on. The client calls this while it waits."""
        if self._terminal.shown_s > self._since_s:
            self._since_s, self._computed_s = self._terminal.shown_s, self._process.cpu_s()
        passed_s = time.monotonic() - self._since_s
        if not self._told and passed_s >= _QUIET_S:
            self._told = True
            computed_s = self._process.cpu_s() - self._computed_s
            what = (
                f"the lab computed for {computed_s:.0f} s of them: much traffic, a long computation, or a loop without "
                "a pause, in which the lab's time stands still"
                if computed_s >= passed_s / 4
                else f"the lab computed for {computed_s:.0f} s of them and waits, perhaps for a program that never ends"
            )
            print(
                f"linklab: the script has printed nothing for {passed_s:.0f} s; {what}. Ctrl-C ends it", file=sys.stderr
            )
        return False


class _Terminal:
    """Where the command was called: a terminal, or files and pipes."""

    def __init__(self) -> None:
        self._streams = {"output": sys.stdout.buffer, "errors": sys.stderr.buffer}
        self._prompt = b""
        self.shown_s = 0.0
        """When it last showed something."""

    def show(self, event: dict[str, str]) -> None:
        """Write what the script wrote, byte for byte."""
        self.shown_s = time.monotonic()
        for name, text in event.items():
            data = text.encode("latin-1")
            self._streams[name].write(data)
            self._streams[name].flush()
            self._prompt = (self._prompt + data).rpartition(b"\n")[2]

    def read(self) -> str:
        """Return a line with its end, empty at the end of the input. Raises KeyboardInterrupt for Ctrl-C."""
        if not sys.stdin.isatty():
            return sys.stdin.readline()
        prompt, self._prompt = self._prompt.decode(errors="replace"), b""
        try:
            # the prompt is there already; given once more over itself, the line editor knows where the line starts
            return input("\r" + prompt) + "\n"
        except EOFError:
            print()
            return ""
