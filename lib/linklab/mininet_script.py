"""``linklab mininet``: run other people's Mininet scripts unchanged in a lab."""

from __future__ import annotations

import os
import re
import readline  # noqa: F401 - gives input() its history and line editing
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from linklab.errors import LabError
from linklab.guest import lab_api
from linklab.lab import lab_process, writable
from linklab.runtime.client import WALL_LIMIT_S, LabProcess

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
    process = lab_process(None, folder, WALL_LIMIT_S, seed, reads=places)
    with process:
        together = os.fstat(1) == os.fstat(2)
        start = partial(process.call, lab_api.start_foreground, _command(words, script), str(here), together)
        return _attend(process, start)


def _script(name: str) -> Path | None:
    """Return the script that is meant; None for Mininet's own program. Raises `LabError` where there is none such."""
    path = Path(name)
    if path.is_file():
        return path
    if name != "mn":
        raise LabError(f"there is no script {name} here: name a file, or mn")
    return None


def _command(words: list[str], script: Path | None) -> list[str]:
    """Return the command that starts a script in the lab: the lab's Python, its shell, or what the first line names."""
    if script is None:
        return ["python3", "/usr/bin/mn", *words[1:]]
    with script.open("rb") as file:
        first = file.readline(200)
    if first.startswith(b"#!") and b"python" not in first:
        return [*first[2:].decode(errors="replace").split(), *words]
    if script.suffix == ".sh":
        return ["sh", *words]
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


def _attend(process: LabProcess, start: Callable[..., int | None]) -> int:
    """Start the script, show what it prints and give it lines, until it ends."""
    terminal = _Terminal()
    go_on = start
    while True:
        line, interrupted = None, False
        try:
            silence = _Silence(terminal)
            status = go_on(on_event=silence.hear, stop=silence.tell)
            if status is not None:
                return status
            line = terminal.read()
        except KeyboardInterrupt:
            if not process.running:
                raise
            interrupted = True
        go_on = partial(process.call, lab_api.continue_foreground, line, interrupted)


class _Silence:
    """Tells once, when the script has printed nothing for ten real seconds, what the lab does meanwhile."""

    def __init__(self, terminal: _Terminal) -> None:
        self._terminal = terminal
        self._told = False
        self._begin()

    def _begin(self) -> None:
        self._since_s = time.monotonic()
        self._clock_s: float | None = None

    def hear(self, event: dict[str, Any]) -> None:
        """Show what the script wrote, or note the lab's clock, which the lab sends while the script is silent."""
        if "clock_s" in event:
            self._clock_s = float(event["clock_s"])
        else:
            self._terminal.show(event)
            self._begin()

    def tell(self) -> bool:
        """Tell it if it is time; return False, for the script goes on. The client calls this while it waits."""
        passed_s = time.monotonic() - self._since_s
        if not self._told and passed_s >= _QUIET_S:
            self._told = True
            print(
                f"linklab: the script has printed nothing for {passed_s:.0f} s; {self._what()}. Ctrl-C ends it",
                file=sys.stderr,
            )
        return False

    def _what(self) -> str:
        if self._clock_s is None:
            return (
                "little or none of the lab's time has passed: much traffic, a long computation, or a loop without a "
                "pause, in which the lab's time stands still"
            )
        return f"the lab's time is at {self._clock_s:,.0f} s and goes on: the script waits, perhaps in vain"


class _Terminal:
    """Where the command was called: a terminal, or files and pipes."""

    def __init__(self) -> None:
        self._streams = {"output": sys.stdout.buffer, "errors": sys.stderr.buffer}
        self._prompt = b""

    def show(self, event: dict[str, str]) -> None:
        """Write what the script wrote, byte for byte."""
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
