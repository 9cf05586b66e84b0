"""``make bench``: a mistake is one line, before anything is measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .made import CHECKOUT


def said(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.bench", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=CHECKOUT)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ("--only", "sped"),
            "the benchmark has no part 'sped': it has fidelity, starts, switches, speed, simpleperf, search, labs, "
            "overhead",
        ),
        (("--repeats", "0"), "argument --repeats: '0' is not a whole number above 0"),
        (("--repeats", "ten"), "argument --repeats: 'ten' is not a whole number above 0"),
        (("--output", "file"), "file cannot be written to: File exists"),
        (("--output", "/proc/results"), "/proc/results cannot be written to: "),
        (("--against", "nothing.json"), "nothing.json cannot be read: No such file or directory"),
        (("--against", "file"), "file is no bench.json with the part fidelity"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, words: tuple[str, ...], reason: str) -> None:
    (tmp_path / "file").write_text("something else")
    done = said(*words, folder=tmp_path)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert done.stderr.startswith(f"linklab: {reason}")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir() if path.name != "file"] in ([], ["bench-results"])


def test_help_names_every_part_and_status(tmp_path: Path) -> None:
    done = said("--help", folder=tmp_path)
    assert done.returncode == 0
    for word in ("fidelity", "starts", "switches", "speed", "overhead", "--quick", "--against", "3 if a claim"):
        assert word in " ".join(done.stdout.split()), word
