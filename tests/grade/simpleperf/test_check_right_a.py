"""Right programs pass in full, whatever their dialect: the first half of the registry of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.runtime.backends import Kind

from ...simpleperf.programs.make import programs
from .checked import check

NAMES = [program.name for program in programs("right")][::2]


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_passes_everything(name: str, virtual: Kind, tmp_path: Path) -> None:
    report = check(name, tmp_path)
    assert report.passed, str(report)
    assert report.points == report.max_points
