"""Scenes on loopback: ``python -m linklab.programs.engine.on_loopback`` in namespaces of its own.

Reads a line of JSON and answers with one: first what `prepare` takes, then lists of plans. Ends with its input. All
hosts are this one; each has an address of its own below 127.0.0.0/8.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from linklab.errors import LabError
from linklab.guest import limits
from linklab.programs.engine import program, scene
from linklab.programs.engine.program import Stage
from linklab.runtime import bwrap

_LIMITS = limits.ProgramLimits(cpu_s=20)


def prepare(root: Path, files: dict[str, str], python: str, packages: str | None) -> Stage:
    """The stage, with these files (path: base64)."""
    for name in ("files", "scratch"):
        (root / name).mkdir()
    program.unpack(root / "files", files)
    with contextlib.suppress(OSError):  # only root may; others read "Permission denied" in what the program says
        program.allow_every_port()
    return Stage(
        files=root / "files",
        scratch=root / "scratch",
        python=python,
        packages=Path(packages) if packages else None,
        cgroups=None,
        entered=lambda _: contextlib.nullcontext(),
        limits=_LIMITS,
        proc=_sandbox_has_proc(root / "scratch", python),
    )


def _sandbox_has_proc(scratch: Path, python: str) -> bool:
    """Whether a sandbox in this place may have a /proc; found by trying. Raises LabError where it cannot be at all."""
    restrict = limits.restrict(_LIMITS, limits.nobody())
    for proc in (True, False):
        words = [*bwrap.for_program(scratch, python, proc=proc), "/bin/true"]
        tried = subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=restrict, env={})
        if tried.returncode == 0:
            return proc
    raise LabError(f"programs cannot be confined here: {tried.stderr.strip() or tried.returncode}")


class _Input:
    """Lines from the other side, and whether it is still there."""

    def __init__(self) -> None:
        self._rest = b""

    def line(self) -> bytes:
        """The next line, b"" at the end."""
        while b"\n" not in self._rest:
            data = os.read(0, 65536)
            if not data:
                return b""
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    @staticmethod
    def poll(fds: Iterable[int], timeout_s: float | None) -> list[int]:
        """As the agent's in a lab: waits for descriptors. Raises scene.Interrupted when the other side is gone."""
        poller = select.poll()
        for fd in fds:
            poller.register(fd, select.POLLIN)
        poller.register(0, 0)  # a hang-up is told even to those who ask for nothing
        ready = [fd for fd, _ in poller.poll(None if timeout_s is None else timeout_s * 1000)]
        if 0 in ready:
            raise scene.Interrupted
        return ready


def main() -> None:
    """Serves until its input ends."""
    given = _Input()
    wish = json.loads(given.line())
    os.environ.pop("PYTHONPATH", None)
    try:
        stage = prepare(Path(wish["root"]), wish["files"], wish["python"], wish["packages"])
        out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        print("{}", file=out, flush=True)
        while line := given.line():
            records = scene.play_all(stage, json.loads(line), given.poll)
            print(json.dumps(records), file=out, flush=True)
    except LabError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
