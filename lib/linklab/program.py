"""A program that runs on in a lab, and what it prints."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Literal

from linklab.emulation import service
from linklab.errors import LabTimeout
from linklab.runtime.client import LabProcess
from linklab.signals import Held


class Program:
    """The handle that ``popen`` returns. Time passes in the lab only while you wait for something."""

    def __init__(self, process: LabProcess, number: int, command: str) -> None:
        self._process, self.number, self.command = process, number, command
        self.returncode: int | None = None
        self.output = ""
        self._unread = ""

    @classmethod
    def start(cls, process: LabProcess, node: str, command: str | list[str]) -> Program:
        """Starts one; a string goes through a shell. Ctrl-C meanwhile leaves none. Raises `LabError`."""
        program = None
        try:
            with Held():  # else it could run without a handle
                number = process.call(service.start_program, node, command)
                program = cls(process, number, command if isinstance(command, str) else " ".join(command))
        except BaseException:
            if program is not None:
                program.send_signal(signal.SIGKILL)
            raise
        return program

    def read(self, timeout_s: float | None = None) -> str:
        """What it printed since the last look; waits for some, at most `timeout_s` of the lab's time."""
        if not self._unread and self.returncode is None:
            self._fetch(timeout_s, "output")
        text, self._unread = self._unread, ""
        return text

    def wait(self, timeout_s: float | None = None) -> int:
        """Waits for the end and returns the exit status. Raises `LabTimeout` after `timeout_s` of the lab's time."""
        if self.returncode is None:
            self._fetch(timeout_s, "end")
        if self.returncode is None:
            raise LabTimeout(f"{self.command!r} still runs after {timeout_s:g} s")
        return self.returncode

    def poll(self) -> int | None:
        """The exit status if it has ended, else None; no time passes."""
        if self.returncode is None:
            self._fetch(0.0, "end")
        return self.returncode

    def __iter__(self) -> Iterator[str]:
        """Line by line, as they come, to the end."""
        rest = ""
        while text := self.read():
            *lines, rest = (rest + text).split("\n")
            yield from lines
        if rest:
            yield rest

    def send_signal(self, number: signal.Signals) -> None:
        """Sends a signal to it and to what it started."""
        self._process.call(service.signal_program, self.number, int(number))

    def terminate(self, grace_s: float = 2.0) -> int:
        """SIGTERM, after `grace_s` of the lab's time SIGKILL; the exit status."""
        self.send_signal(signal.SIGTERM)
        with contextlib.suppress(LabTimeout):
            return self.wait(grace_s)
        self.send_signal(signal.SIGKILL)
        return self.wait()

    def _fetch(self, timeout_s: float | None, until: Literal["output", "end"]) -> None:
        answer = self._process.call(service.read_program, self.number, timeout_s, until)
        self.returncode = answer["status"]
        self.output += answer["output"]
        self._unread += answer["output"]

    def __repr__(self) -> str:
        what = "runs" if self.returncode is None else f"ended with {self.returncode}"
        return f"<{self.command!r} {what}>"
