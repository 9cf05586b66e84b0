"""In every lab alike: a lost packet fails its check, and what was stopped half-way is not graded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.grade import Result
from linklab.grade.measured import ping_check
from linklab.grade.questions import asked_each
from linklab.labs.lab03 import rules as lab03
from linklab.labs.lab04 import rules as lab04
from linklab.labs.lab08 import rules as lab08
from linklab.labs.lab09 import rules as lab09
from linklab.labs.lab10 import rules as lab10
from tests.labs import lab10_runs, test_lab03, test_lab08, test_lab09

from .way_results import L1_LOADED, beside, pinged, sent


def _lab03(lost: int, tmp_path: Path, **more: Any) -> Result:
    run = replace(test_lab03.measured("h1-h4", 28.5, 1.0 if lost else 0.0), **more)
    return lab03.check_chosen({**test_lab03.CHOSEN, "h1-h4": run})


def _lab04(lost: int, tmp_path: Path, **more: Any) -> Result:
    rtts: tuple[float | None, ...] = (None,) * lost + (20.0,) * (25 - lost)
    one = replace(pinged("r1", "r2", rtts), **more)
    return asked_each("Lab 04", {"L1": one}, ["L1"], lambda name, given: ping_check(name, given, ("r1", "r2")), "")


def _lab08(lost: int, tmp_path: Path, **more: Any) -> Result:
    run = test_lab08.greedy(1518)
    arrivals = tuple(None if number < lost else at for number, at in enumerate(run.arrival_s))
    run = replace(run, arrival_s=arrivals, **more)
    return lab08.check_runs({**test_lab08.RUNS, 1518: run})


def _lab09(lost: int, tmp_path: Path, **more: Any) -> Result:
    made = test_lab09.made_video(tmp_path)
    run = test_lab09.runs_of(made)["gigabit"]
    arrivals = tuple(None if number < lost else at for number, at in enumerate(run.arrival_s))
    run = replace(run, arrival_s=arrivals, **more)
    return lab09.check_runs({"gigabit": run}, made, ("gigabit",))


def _lab10(lost: int, tmp_path: Path, **more: Any) -> Result:
    name = "inside, 100"
    run = lab10_runs.RUNS[name]
    rtts = (None,) * lost + run.rtt_ms[lost:]
    run = replace(run, rtt_ms=rtts, **more)
    return lab10.check_rtt_runs({**lab10_runs.RUNS, name: run})


LABS = (_lab03, _lab04, _lab08, _lab09, _lab10)
"""Each gives the check of a sound run that lost so many packets."""


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize(("lost", "outcome"), [(0, "passed"), (1, "failed")])
def test_a_lost_packet_fails(lab: Callable[..., Result], lost: int, outcome: str, tmp_path: Path) -> None:
    result = lab(lost, tmp_path)
    assert result.outcome == outcome, str(result)


@pytest.mark.parametrize("lab", LABS)
def test_what_was_stopped_before_its_end_is_not_graded(lab: Callable[..., Result], tmp_path: Path) -> None:
    result = lab(0, tmp_path, interrupted=True)
    assert result.outcome == "failed", str(result)
    assert "stopped before its end" in str(result)


def test_stopped_runs_of_several_flows_are_not_graded() -> None:
    shares = {name: replace(run, interrupted=True) for name, run in lab10_runs.SHARE_RUNS.items()}
    assert "stopped before its end" in str(lab10.check_share_runs(shares))
    stopped = replace(beside(pinged("r1", "r2", L1_LOADED, interval_s=1), sent("r1", "r2", 38.05)), interrupted=True)
    assert "stopped before its end" in str(lab04.check_together(stopped))
