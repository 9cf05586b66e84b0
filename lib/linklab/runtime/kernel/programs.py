"""Running the build's programs: together they end, whoever is interrupted or killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from linklab.errors import LabError

_GRACE_S = 10.0
_LOOK_S = 0.05
_TAIL_LINES = 40
# Nothing else is passed on: make and Kconfig read dozens of variables (MAKEFLAGS of a `make test` around us,
# ARCH, CROSS_COMPILE, CFLAGS, KBUILD_OUTPUT), and each would change what is built without changing its hash.
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "http_proxy", "https_proxy", "ftp_proxy", "no_proxy")


class ProgramFailed(Exception):
    """A program ended with an error: its name, its exit status and the last lines that it wrote."""

    def __init__(self, program: str, status: int, tail: Sequence[str]) -> None:
        self.program, self.status, self.tail = program, status, list(tail)
        super().__init__(f"{program} failed: {self.reason}")

    @property
    def reason(self) -> str:
        """The most telling line: the first that names an error, otherwise the last one."""
        telling = [line for line in self.tail if "error" in line.lower() or line.startswith("E: ")]
        lines = telling or self.tail
        return lines[-1 if not telling else 0].strip() if lines else f"exit status {self.status}"


def environment() -> dict[str, str]:
    """A small, settled environment for the programs of a build."""
    settled = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    settled["PATH"] = ":".join(part for part in (settled.get("PATH"), system) if part)
    settled["LC_ALL"] = "C"
    return settled


def find_program(name: str) -> str | None:
    """The path of a program, looked up where `environment` will look."""
    return shutil.which(name, path=environment()["PATH"])


@dataclass
class Programs:
    """Starts programs of one build, writes what they say to its log, and ends them with it.

    ``inherit``: file descriptors that they keep open (the build's lock).
    """

    log: IO[str]
    low_priority: bool = False
    inherit: tuple[int, ...] = ()

    def run(
        self, command: Sequence[str | Path], folder: Path, on_line: Callable[[str], None] | None = None
    ) -> list[str]:
        """Runs to the end; gives the last lines written. Raises `ProgramFailed`; `LabError` if missing."""
        tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self.log.write(f"$ {' '.join(map(str, command))}\n")
        with self._group(command, folder) as process:
            assert process.stdout is not None
            for line in process.stdout:
                tail.append(line.rstrip("\n"))
                self.log.write(line)
                if on_line:
                    on_line(tail[-1])
            status = process.wait()
        self.log.flush()
        if status != 0:
            raise ProgramFailed(Path(command[0]).name, status, tail)
        return list(tail)

    @contextmanager
    def _group(self, command: Sequence[str | Path], folder: Path) -> Iterator[subprocess.Popen[str]]:
        words = [*self._wrapping(), *map(str, command)]
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=environment(),
                pass_fds=self.inherit,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise LabError(f"the program {command[0]} is missing: install the distribution's package for it") from error
        if self.low_priority:
            _lower_session(process.pid)
        try:
            yield process
        finally:
            if process.returncode is None:
                end_group(process)
            if process.stdout:
                process.stdout.close()

    def _wrapping(self) -> list[str]:
        """Programs that set what a child needs and become it (a preexec_fn is not safe beside threads)."""
        words: list[str] = []
        if find_program("setpriv"):
            # When this Python is killed, make gets SIGTERM and ends its compilers.
            words += ["setpriv", "--pdeathsig", "TERM"]
        if self.low_priority:
            for wrapper in (["nice", "-n", "19"], ["ionice", "-c", "3"], ["chrt", "--idle", "0"]):
                words += wrapper if find_program(wrapper[0]) else []
        return words


def _lower_session(session: int) -> None:
    """Where time is shared out by session (sched_autogroup), niceness alone counts only inside a session."""
    with suppress(OSError):
        Path(f"/proc/{session}/autogroup").write_text("19", "ascii")


def end_group(process: subprocess.Popen[str]) -> None:
    """Ends a group by its leader, which must not have been waited for: until it is, its number cannot become
    another's. SIGTERM comes first and gives make the time to remove half-written objects.
    """
    signal_group(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE_S
    while time.monotonic() < deadline and not _has_ended(process.pid):
        time.sleep(_LOOK_S)
    signal_group(process.pid, signal.SIGKILL)
    process.wait()


def signal_group(group: int, number: signal.Signals) -> None:
    """Sends a signal to a group; one that is gone is no error."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
