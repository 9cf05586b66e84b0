"""Where arguments are tried: loopback in a network namespace of its own, a tenth of the time that a lab takes."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from linklab.errors import LabError
from linklab.programs.simpleperf.submission import Submission
from linklab.runtime import bwrap

_ROOT = "/run/trial"
_SCRATCH_BYTES = 48 * 1024 * 1024


class LoopbackPlace:
    """Loopback, as `linklab.programs.simpleperf.place.Place`. Raises LabError where namespaces cannot be had."""

    virtual = False
    title = "on loopback"
    server = shaped = "127.0.0.2"
    relay = "127.0.0.3"

    def __init__(self, submission: Submission) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it has no name and lives as long as this
        self._process = subprocess.Popen(
            [*_words(), sys.executable, "-S", "-m", "linklab.programs.on_loopback"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
            cwd="/",
        )
        try:
            self._ask(
                {
                    "root": _ROOT,
                    "files": submission.encoded(),
                    "python": submission.python,
                    "packages": submission.packages,
                }
            )
        except BaseException:
            self.close()
            raise

    def play(self, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """As `Place.play`."""
        records: list[dict[str, Any]] = self._ask(plans)
        return records

    def _ask(self, message: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer:
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines()
            raise LabError(f"programs cannot be tried on loopback here: {said[-1] if said else 'no reason was given'}")
        return json.loads(answer)

    def close(self) -> None:
        """Ends it, with every program in it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(BrokenPipeError):  # of what it did not take any more
                pipe.close()


def _words() -> list[str]:
    library = Path(__file__).resolve().parents[3]
    words = [
        *bwrap.program("programs"),
        "--die-with-parent",
        "--unshare-net",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
    ]
    words += [*bwrap.system_view(), *bwrap.own_view(), "--dev", "/dev", "--proc", "/proc"]
    words += ["--size", str(_SCRATCH_BYTES), "--tmpfs", "/run", "--dir", _ROOT]
    words += ["--chmod", "0755", "/run", "--chmod", "0755", _ROOT, "--remount-ro", "/"]
    path = ":".join([str(library), *filter(None, sys.path)])
    return [*words, "--setenv", "PYTHONPATH", path, "--setenv", "PYTHONDONTWRITEBYTECODE", "1", "--"]
