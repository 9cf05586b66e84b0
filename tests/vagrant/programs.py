"""How the trial runs a program: it ends well, or its last words are the error."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.vagrant.needs import TrialError


def output_of(*words: str) -> str:
    """What a program prints; raises `TrialError` with its last words when it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TrialError(f"{words[0]} failed: {(done.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
    return done.stdout


def run(log: Path, *words: str) -> None:
    """Runs a program with its output in `log`; raises `TrialError` with the last line of it."""
    with log.open("ab") as opened:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=opened, stderr=opened, check=False)
    if done.returncode != 0:
        lines = log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
        raise TrialError(f"{words[0]} failed, its last words: {lines[-1]}")


def mounted_below(folder: Path) -> list[str]:
    """The places below `folder` (or itself) where something is mounted.

    Asked of the kernel: `Path.is_mount` does not see a folder that is bound within one file system.
    """
    places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [place for place in places if Path(place).is_relative_to(folder.resolve())]


def remove_tree(folder: Path) -> None:
    """Removes a folder, unless something is mounted in it: what is mounted would be emptied with it.

    Raises `TrialError` then.
    """
    if places := mounted_below(folder):
        raise TrialError(f"{folder} stays, because something is mounted at {', '.join(places)}")
    shutil.rmtree(folder, ignore_errors=True)
