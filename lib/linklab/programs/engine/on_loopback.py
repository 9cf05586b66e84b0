"""Scenes on loopback: ``python -m linklab.programs.engine.on_loopback`` in namespaces of its own.

It reads lines of JSON and answers each with one: first what `prepare` takes, then plans. All hosts are this one; each
has an address of its own below 127.0.0.0/8.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from linklab.errors import LabError
from linklab.guest import limits
from linklab.programs.engine import program, scene
from linklab.programs.engine.program import Stage
from linklab.runtime import bwrap

_LIMITS = limits.ProgramLimits(cpu_s=20)


def prepare(root: str, files: dict[str, str], python: str, packages: str | None) -> Stage:
    """Return the stage, with these files (path: base64) in a folder below ``root``.

    Raises LabError where no program can be confined.
    """
    given, scratch = Path(root, "files"), Path(root, "scratch")
    for folder in (given, scratch):
        folder.mkdir()
    program.unpack(given, files)
    with contextlib.suppress(OSError):  # only root may; others read "Permission denied" in what the program says
        program.allow_every_port()
    return Stage(
        files=given,
        scratch=scratch,
        python=python,
        packages=Path(packages) if packages else None,
        cgroups=None,
        entered=lambda _: contextlib.nullcontext(),
        limits=_LIMITS,
        proc=_sandbox_has_proc(scratch, python),
    )


def _sandbox_has_proc(scratch: Path, python: str) -> bool:
    """Try whether a sandbox in this place may have a /proc. Raises LabError where there can be no sandbox at all."""
    restrict = limits.restrict(_LIMITS, limits.nobody())
    for proc in (True, False):
        words = [*bwrap.for_program(scratch, python, proc=proc), "/bin/true"]
        tried = subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=restrict, env={})
        if tried.returncode == 0:
            return proc
    raise LabError(f"programs cannot be confined here: {tried.stderr.strip() or tried.returncode}")


def main() -> None:
    """Serve until the input ends."""
    os.environ.pop("PYTHONPATH", None)
    try:
        stage = prepare(**json.loads(sys.stdin.readline()))
        _answer({})
        for line in sys.stdin:
            _answer(scene.play(stage, json.loads(line)))
    except LabError as error:
        sys.exit(str(error))


def _answer(said: Any) -> None:
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
