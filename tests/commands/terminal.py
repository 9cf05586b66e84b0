"""What a person at a terminal has: commands that run, what they print, Ctrl-C; and who is left afterwards."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

_MARK = "LINKLAB_TEST_COMMAND"
_PATIENCE_S = 600.0


class Terminal:
    """A running ``linklab WORDS``. All processes that come of it carry a mark in their environment."""

    def __init__(self, folder: Path, *words: str, environment: dict[str, str] | None = None) -> None:
        self.mark = f"{_MARK}={uuid.uuid4().hex}"
        name, _, value = self.mark.partition("=")
        own = {f"JUPYTER_{kind}_DIR": str(folder / ".jupyter" / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
        own |= {"IPYTHONDIR": str(folder / ".ipython"), "PYTHONUNBUFFERED": "1", name: value}
        plain = {key: text for key, text in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "linklab", *words],
            cwd=folder,
            env=plain | own | (environment or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.said = ""

    def type(self, *lines: str) -> None:
        """Types lines, each with its Enter."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        self.process.stdin.flush()

    def wait_for(self, text: str) -> str:
        """Waits until `text` was printed; all that was printed so far. Fails with it when `text` does not come."""
        deadline = time.monotonic() + _PATIENCE_S
        while text not in self.said:
            assert time.monotonic() < deadline, f"{text!r} was not printed, but: {self.said}"
            assert self._read(), f"it ended without {text!r}, but printed: {self.said}"
        return self.said

    def listen(self, for_s: float) -> None:
        """Takes in what is printed so long. Fails where it has ended."""
        until = time.monotonic() + for_s
        while time.monotonic() < until:
            assert self._read(), f"it ended, and printed: {self.said}"

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> None:
        """Ctrl-C, or another signal, to the command alone."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Closes its input, and waits for its end; the exit status."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        deadline = time.monotonic() + _PATIENCE_S
        while self._read():
            assert time.monotonic() < deadline, f"it does not end, and printed: {self.said}"
        return self.process.wait(_PATIENCE_S)

    def _read(self) -> bool:
        """Takes in what was printed meanwhile; False when it has ended."""
        assert self.process.stdout is not None
        ended = self.process.poll() is not None
        if select.select([self.process.stdout], [], [], 0.1)[0]:
            data = os.read(self.process.stdout.fileno(), 65536)
            self.said += data.decode(errors="replace")
            return bool(data)
        return not ended

    def left(self) -> dict[int, str]:
        """The processes that came of the command and do not end: process id and command line."""
        deadline = time.monotonic() + 120
        while (found := self.alive()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def alive(self) -> dict[int, str]:
        """The processes that came of the command: process id and command line."""
        found = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    if self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                        words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                        found[int(folder.name)] = words.decode(errors="replace")
        return found

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in [self.process.pid, *self.alive()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def one_line(said: str) -> str:
    """What a person reads when something is wrong. Fails where it is more than a line."""
    lines = said.strip().splitlines()
    assert len(lines) == 1, said
    assert lines[0].startswith("linklab: "), said
    return lines[0]
