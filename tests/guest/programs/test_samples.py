"""The program that runs a command again and again, without a lab."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import linklab
from linklab.guest.programs import samples


def printed(gate: Path, *command: str) -> tuple[int, list[str]]:
    """What it prints after `ready` and the time of its start, three samples at most, and how it ends."""
    gate.write_text(str(time.monotonic_ns()))
    options = {"action": "sample", "gate": str(gate), "later_ns": 0, "count": 3, "interval_ns": 2_000_000}
    words = [sys.executable, "-P", samples.__file__, json.dumps({**options, "command": command})]
    library = str(Path(linklab.__file__).parents[1])
    done = subprocess.run(words, capture_output=True, text=True, env={"PYTHONPATH": library, "PATH": "/usr/bin:/bin"})
    ready, start_ns, *rest = (done.stdout + done.stderr).splitlines()
    assert (ready, int(start_ns) > 0) == ("ready", True)
    return done.returncode, rest


def test_it_prints_one_document_of_what_came_at_each_instant(tmp_path: Path) -> None:
    status, (line,) = printed(tmp_path / "gate", "sh", "-c", "echo $LC_ALL; echo two")
    found = json.loads(line)["samples"]
    assert (status, [each["output"] for each in found]) == (0, ["C\ntwo\n"] * 3)
    times = [each["at_ns"] for each in found]
    assert times == sorted(set(times))


def test_a_command_that_fails_ends_it_with_its_words(tmp_path: Path) -> None:
    assert printed(tmp_path / "gate", "sh", "-c", "echo no such device >&2; exit 2") == (1, ["no such device"])
