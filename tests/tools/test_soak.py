"""The soak finds what a lab would leave, and digits that moved. The rounds here start no lab."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import soak

ROOT = Path(soak.__file__).parents[1]
GOOD = "print('begin'); print('digits 1')"


@pytest.fixture
def rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> soak.Soak:
    """A soak whose rounds are undisturbed, after the first."""
    monkeypatch.setattr(soak, "FAULTS", {"measured": 1})
    monkeypatch.setattr(soak, "PATIENCE_S", 0.5)
    monkeypatch.setattr(soak, "ROUND", GOOD)
    found = soak.Soak("guest", 1, tmp_path)
    found.begin()
    return found


def test_a_round_that_leaves_nothing_is_no_find(rounds: soak.Soak) -> None:
    rounds.go_on()
    assert rounds.found == []


@pytest.mark.parametrize(
    "bad",
    [
        "print('begin'); print('digits 2')",
        "print('begin'); raise ValueError",
        GOOD + "; open('left', 'w')",
        GOOD + "; import tempfile; tempfile.mkdtemp()",
    ],
)
def test_what_a_round_leaves_or_says_wrong_is_found(
    rounds: soak.Soak, monkeypatch: pytest.MonkeyPatch, bad: str
) -> None:
    monkeypatch.setattr(soak, "ROUND", bad)
    rounds.go_on()
    assert rounds.found


LEAVES_A_PROCESS = """
import os, pathlib, sys
from linklab import process_tree
from tools import soak
process_tree.become_head(os.getppid())
soak.FAULTS, soak.PATIENCE_S, soak.ROUND = {"measured": 1}, 0.5, "print('begin'); print('digits 1')"
found = soak.Soak("guest", 1, pathlib.Path(sys.argv[1]))
found.begin()
soak.ROUND += "; import subprocess as s; s.Popen(['sleep', '20'], stdout=s.DEVNULL, stderr=s.DEVNULL)"
print(found.go_on())
process_tree.end_below(os.getpid(), 10)
"""


def test_a_process_that_a_round_leaves_is_found(tmp_path: Path) -> None:
    said = subprocess.run([sys.executable, "-c", LEAVES_A_PROCESS, tmp_path], capture_output=True, text=True, cwd=ROOT)
    assert "left: process" in said.stdout
