"""Wrong programs fail for their one mistake, and for nothing else: the second half, and those that get a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.runtime.backends import Kind

from .checked import advice, check
from .expected import ADVISED, FAILED


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAILED)[1::2])
def test_its_mistake_is_named(name: str, virtual: Kind, tmp_path: Path) -> None:
    step, mistake = FAILED[name]
    report = check(name, tmp_path, [step])
    assert report.outcome == "failed"
    assert report.mistakes == [mistake.title], str(report)


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", ADVISED)
def test_it_passes_with_a_hint(name: str, virtual: Kind, tmp_path: Path) -> None:
    step, mistake = ADVISED[name]
    report = check(name, tmp_path, [step])
    assert report.passed, str(report)
    assert advice(report) == [mistake.title]
