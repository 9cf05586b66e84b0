"""Answers that were judged once, right ones and wrong ones that look right, get the same verdicts.

What is a prediction now fails nobody; an answer that was right then is called right after the measurement.
"""

from __future__ import annotations

import pytest

from tests.labs.recorded import Recorded, narrow, recorded

LABS = ("lab00", "lab01", "lab03", "lab04", "lab05", "lab06", "lab07", "lab08", "lab09", "lab10")


@pytest.mark.large
@pytest.mark.slow  # TCP's model computes
@pytest.mark.parametrize("lab", LABS)
def test_the_same_verdicts(lab: str) -> None:
    found = {one: one.judged() for one in recorded(lab)}
    assert {one.outcome for one in found} >= {"passed", "failed"}
    others = {
        f"line {one.number}, {one.check}: {one.outcome} then, {result.outcome} now": str(result)
        for one, result in found.items()
        if result.outcome != one.outcome
    }
    assert others == {}


@pytest.mark.slow  # TCP's model computes
@pytest.mark.parametrize("one", narrow(), ids=lambda one: f"{one.lab}-{one.check}-{one.number}")
def test_honest_work_passes_on_the_networks_on_which_it_came_nearest_to_failing(one: Recorded) -> None:
    result = one.judged()
    assert result.passed, str(result)
