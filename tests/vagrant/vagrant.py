"""Vagrant, as a student calls it: in a copy of the tree, with a home of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.vagrant.needs import TrialError
from tests.vagrant.programs import output_of

STUDENT = 1000
"""The number of the first user of a laptop, and of the user vagrant in a box."""
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/lab\S*token=[0-9a-f]+")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def copy_tree(repository: Path, target: Path) -> None:
    """The tree as git knows it (new files too, ignored ones not), owned by an ordinary user."""
    listed = output_of("git", "-C", str(repository), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        source, place = repository / name, target / name
        if not source.is_file():
            continue  # removed, and git has not been told yet
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place)
    for path in (target, *target.rglob("*")):
        os.chown(path, STUDENT, STUDENT, follow_symlinks=False)


class Vagrant:
    """Commands of Vagrant in `project`; all that they say goes to `log`, too."""

    def __init__(self, project: Path, home: Path, box: str, log: Path) -> None:
        self.project, self.log = project, log
        home.mkdir(parents=True, exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in os.environ}
        own = {"HOME": str(home), "VAGRANT_HOME": str(home / ".vagrant.d"), "LINKLAB_BOX": box}
        quiet = {"VAGRANT_NO_COLOR": "1", "VAGRANT_CHECKPOINT_DISABLE": "1"}
        self.settings = kept | own | quiet

    def run(
        self,
        *words: str,
        limit_s: float,
        fails: bool = False,
        hear: Callable[[str], None] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> str:
        """Runs `vagrant` with these words and gives what it said, without colours.

        `hear` gets each line as it comes; `settings` are further environment variables. Raises `TrialError` with
        the last lines when it fails (with `fails`: when it does not), or when it takes longer than `limit_s`.
        """
        program = subprocess.Popen(
            ["vagrant", *words],
            cwd=self.project,
            env={**self.settings, **(settings or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            process_group=0,
        )
        late = threading.Event()

        def end_late() -> None:
            late.set()
            _end(program)

        timer = threading.Timer(limit_s, end_late)
        timer.start()
        try:
            said = self._listen(program, " ".join(words), hear)
        except BaseException:
            _end(program)
            raise
        finally:
            timer.cancel()
        if late.is_set():
            raise TrialError(f"vagrant {words[0]} was not done after {limit_s:.0f} s:\n{_tail(said)}")
        if (program.returncode != 0) != fails:
            how = "succeeded, and must not" if fails else f"failed (exit {program.returncode})"
            raise TrialError(f"vagrant {words[0]} {how}:\n{_tail(said)}")
        return said

    def _listen(self, program: subprocess.Popen[str], words: str, hear: Callable[[str], None] | None) -> str:
        assert program.stdout is not None
        lines = []
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"\n$ vagrant {words}\n")
            for raw in program.stdout:
                line = _COLOURS.sub("", raw.rstrip("\n").rpartition("\r")[2])
                log.write(f"{line}\n")
                log.flush()
                lines.append(line)
                if hear:
                    hear(line)
        program.wait()
        return "\n".join(lines)

    def ssh(self, command: str, limit_s: float) -> str:
        """What a command in the machine prints."""
        return self.run("ssh", "-c", command, limit_s=limit_s)


def address_in(said: str) -> str:
    """The address that `vagrant up` ends with; raises `TrialError` where it does not."""
    found = _ADDRESS.findall(said)
    if not found:
        raise TrialError(f"vagrant up printed no address:\n{_tail(said)}")
    return str(found[-1])


def _tail(said: str) -> str:
    return "\n".join(f"    {line}" for line in said.splitlines()[-25:])


def _end(program: subprocess.Popen[str]) -> None:
    """Vagrant passes an interrupt on and tidies up; who does not listen is killed, with all its children."""
    for number, patience_s in ((signal.SIGINT, 30), (signal.SIGKILL, 10)):
        if program.poll() is not None:
            return
        try:
            os.killpg(program.pid, number)
            program.wait(timeout=patience_s)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
