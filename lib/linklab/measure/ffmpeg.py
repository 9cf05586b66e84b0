"""ffmpeg and ffprobe outside a lab: found, confined to one folder, and each failure in one line."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path
from typing import Final

from linklab.errors import LabError, MeasurementError
from linklab.runtime import bwrap, container

_PYTHON: Final = "/usr/bin/python3"
_CONFINED: Final = ("-protocol_whitelist", "file,pipe")
"""What an input may make ffmpeg open: a playlist in disguise names other files, or addresses."""


@functools.cache
def version() -> str:
    """What ffmpeg calls itself: ``"ffmpeg version 5.1.9-0+deb12u1"``. Raises MeasurementError where it is missing."""
    _need("ffmpeg")
    said = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return said.stdout.partition(" Copyright")[0].strip() or "ffmpeg of an unknown version"


def ffmpeg(folder: Path, *words: str, doing: str) -> bytes:
    """Runs ffmpeg in a folder, the only one that it may write to; what it wrote to its standard output.

    The words ``-i NAME`` stand for an input that may open files only. Raises MeasurementError where ffmpeg is missing
    or fails, with what it was `doing` and its own last line; LabError where bubblewrap is missing, which confines it
    (but in a container that is one student's own, `linklab.runtime.container`).
    """
    confined = [piece for word in words for piece in ((*_CONFINED, word) if word == "-i" else (word,))]
    return _run(folder, ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y", *confined], doing)


def ffprobe(folder: Path, *words: str, doing: str) -> bytes:
    """As `ffmpeg`, for ffprobe."""
    return _run(folder, ["ffprobe", "-hide_banner", "-loglevel", "error", *_CONFINED, *words], doing)


def _run(folder: Path, words: list[str], doing: str) -> bytes:
    _need(words[0])
    walls = container.chosen()
    # no /proc: a kernel refuses a new one where the present one is partly covered, as in many containers
    cage = [] if walls else bwrap.for_program(folder, _PYTHON, proc=False)
    done = subprocess.run(
        [*cage, *words],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=bwrap.program_environment(),
        cwd=folder if walls else None,
    )
    if done.returncode:
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        if lines and lines[-1].startswith("bwrap:"):
            raise LabError(f"{words[0]} could not be confined here: {lines[-1]}")
        said = lines[0] if lines else f"exit status {done.returncode}"
        raise MeasurementError(f"{words[0]} failed at {doing}: {said}")
    return done.stdout


def _need(program: str) -> None:
    if shutil.which(program) is None:
        raise MeasurementError(f"{program} is not installed here: sudo apt-get install ffmpeg")
