"""The benchmark that runs the labs' solutions."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.runtime.backends import Kind
from linklab.study import Measured, Point, run
from tools.bench.labs import PAGE, STUDY

from .made import made, verdicts


@pytest.mark.parametrize(("missing", "verdict"), [("", "reproduced"), ("04-", "not testable here")])
def test_all_solutions_pass_or_are_not_all_there(missing: str, verdict: str) -> None:
    def measured(point: Point) -> list[Measured]:
        left_out = bool(missing) and point.text("lab").startswith(missing)
        return [] if left_out else [Measured("virtual_s", 60), Measured("wall_s", 30)]

    ((found, because),) = verdicts(PAGE, made(STUDY, measured))
    assert found == verdict
    assert missing or "the five test cases' labs 300 virtual s" in because


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_a_notebook_tells_its_virtual_time(virtual: Kind, tmp_path: Path) -> None:
    table = run(STUDY.short_form(), tmp_path)
    assert 5 < table.lookup("virtual_s").same < 3600
