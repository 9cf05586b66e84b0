"""`make networks`: solutions on students' networks, kept, judged again, and what came nearest to failing."""

from __future__ import annotations

import lzma
import subprocess
import sys
from pathlib import Path

import pytest

from tools.networks import ROOT, Run, Said, margins, narrowest

RUN = Run("05-path-latency", "student-1", 0)


def said(found: str, expected: str = "10 to 20 ms", description: str = "mean RTT") -> Said:
    return Said(RUN, "check_together", description, "passed", expected, found, "")


def test_how_near_a_number_came_is_a_share_of_its_interval() -> None:
    assert margins(said("12 ms")) == pytest.approx((20, 80))
    assert margins(said("9 ms")) == pytest.approx((-10, 110))
    assert margins(said("12 hops", "10.0.0.1, 10.0.1.2 and 10.0.2.2")) is None
    assert margins(said("3 connections", "3 connections")) is None


def test_of_each_number_the_nearest_run_counts_once_at_each_end() -> None:
    every = [said("12 ms"), said("11 ms"), said("19.5 ms"), said("15 Mbit/s", "14 to 30 Mbit/s", "throughput")]
    assert [(end, it.found) for _, end, it in narrowest(every)] == [
        ("high", "19.5 ms"), ("low", "15 Mbit/s"), ("low", "11 ms"), ("high", "15 Mbit/s"),
    ]  # fmt: skip


@pytest.mark.lab
@pytest.mark.large
def test_solutions_are_run_once_and_judged_again(tmp_path: Path) -> None:
    def networks(*words: str) -> str:
        command = [sys.executable, "-m", "tools.networks", "--into", str(tmp_path), *words]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    first = networks("00", "--networks", "1", "--seeds", "2")
    assert "3 runs, 0 of them are there" in first
    assert "3 runs, 0 FAILED" in first
    assert "3 runs, 3 of them are there" in networks("00", "--networks", "1", "--seeds", "2")
    assert "3 runs, 0 FAILED" in networks("--again", "--keep", str(tmp_path / "kept.xz"))
    with lzma.open(tmp_path / "kept.xz", "rt", encoding="utf-8") as kept:
        assert kept.read().startswith('["lab00", "check_')
