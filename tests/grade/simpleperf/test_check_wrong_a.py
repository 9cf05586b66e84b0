"""Wrong programs fail for their one mistake, and for nothing else: the first half of the registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.runtime.backends import Kind

from .checked import check
from .expected import FAILED


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAILED)[::2])
def test_its_mistake_is_named(name: str, virtual: Kind, tmp_path: Path) -> None:
    step, mistake = FAILED[name]
    report = check(name, tmp_path, [step])
    assert report.outcome == "failed"
    assert report.mistakes == [mistake.title], str(report)
