"""Handle a program that runs on in a lab, and what it prints."""

from __future__ import annotations

import contextlib
import itertools
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Final, Literal

from linklab import schema
from linklab.errors import LabError, LabTimeout
from linklab.guest import lab_api
from linklab.runtime.client import LabProcess
from linklab.schema import Range

LabSeconds = Annotated[float, Range(ge=0, le=1e9)]
"""A span of the lab's time: up to 30 years."""

_numbers = itertools.count(random.SystemRandom().randrange(10**14, 2**47))
"""Numbers of this notebook's programs. They begin at random, as others (a judge) may run some in the same lab, and are
equally long, as in QEMU a digit more takes time.
"""

_GRACE_S: Final = 2.0
listeners: Final[list[Callable[[str], object]]] = []
"""Functions that hear again and again what a notebook waits for. See `linklab.lab.tell_of_commands`."""


LONGEST_OUTPUT: Final = 64_000_000
"""Characters that a command, or a program, may print: a lab cannot exhaust our memory."""


def refuse_too_much(printed: int, what: str) -> None:
    """Raise `LabError` where a command or program has printed more characters than are kept."""
    if printed > LONGEST_OUTPUT:
        raise LabError(f"{what} printed more than {LONGEST_OUTPUT / 1e6:g} MB and was ended: let it write to a file")


class Program:
    """The handle that ``popen`` returns. Time passes in the lab only while you wait for something."""

    def __init__(self, process: LabProcess, command: str) -> None:
        self._process, self.number, self.command = process, next(_numbers), command
        self.returncode: int | None = None
        self.output = ""
        self._unread = ""

    def start(self, node: str, words: str | Sequence[str], *, of_run: bool = False) -> None:
        """Start it; a string goes through a shell. Ctrl-C meanwhile leaves none. Raises `LabError`.

        A program that is part of a measurement's run (`of_run`) has no random numbers of its own.
        """
        try:
            argv = words if isinstance(words, str) else list(words)
            self._process.call(lab_api.start_program, self.number, node, argv, of_run)
        except KeyboardInterrupt:  # it may have been started all the same
            with contextlib.suppress(LabError):
                self.send_signal(signal.SIGKILL)
            raise

    @schema.checked
    def read(self, timeout_s: LabSeconds | None = None) -> str:
        """Return what it printed since the last look; wait for some, at most `timeout_s` of the lab's time."""
        if not self._unread and self.returncode is None:
            self._fetch(timeout_s, "output")
        text, self._unread = self._unread, ""
        return text

    @schema.checked
    def prints(self, text: str, silence_s: LabSeconds) -> bool:
        """Wait until it has printed a text; return False if it ends, or prints nothing for `silence_s`, before that."""
        while text not in self.output:
            if not self.read(silence_s):
                return False
        return True

    @schema.checked
    def wait(self, timeout_s: LabSeconds | None = None) -> int:
        """Wait for the end and return the exit status. Raises `LabTimeout` after `timeout_s` of the lab's time."""
        if self.returncode is None:
            self._fetch(timeout_s, "end")
        if self.returncode is None:
            raise LabTimeout(f"{self.command!r} still runs after {timeout_s:g} s")
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit status if it has ended, else None; no time passes."""
        if self.returncode is None:
            self._fetch(0.0, "end")
        return self.returncode

    def __iter__(self) -> Iterator[str]:
        """Yield its lines as they come, to the end."""
        rest = ""
        while text := self.read():
            *lines, rest = (rest + text).split("\n")
            yield from lines
        if rest:
            yield rest

    @schema.checked
    def send_signal(self, number: Annotated[int, Range(ge=1, le=31)]) -> None:
        """Send a signal to it and to what it started."""
        self._process.call(lab_api.signal_program, self.number, number)

    def terminate(self) -> int:
        """Send SIGTERM, after 2 s of the lab's time SIGKILL; return the exit status."""
        self.send_signal(signal.SIGTERM)
        with contextlib.suppress(LabTimeout):
            return self.wait(_GRACE_S)
        self.send_signal(signal.SIGKILL)
        return self.wait()

    def take(self, text: str) -> None:
        """Add what it has printed. Raises `LabError` once that is too much: the caller ends it, the rest is dropped."""
        before = len(self.output)
        if before <= LONGEST_OUTPUT:
            self.output += text
            refuse_too_much(len(self.output), repr(self.command))

    def _fetch(self, timeout_s: float | None, until: Literal["output", "end"]) -> None:
        since = f"no output since {self._process.clock_s:.1f} s of the lab's time"

        def wait() -> bool:
            for tell in listeners:
                tell(f"{since} (its clock stands still while a program computes without end)")
            return False

        answer = self._process.call(lab_api.read_program, self.number, timeout_s, until, stop=wait)
        self.returncode = answer["status"]
        try:
            self.take(answer["output"])
        except LabError:
            self.send_signal(signal.SIGKILL)
            raise
        self._unread += answer["output"]

    def __repr__(self) -> str:
        what = "runs" if self.returncode is None else f"ended with {self.returncode}"
        return f"<{self.command!r} {what}>"
