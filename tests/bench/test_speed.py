"""Speed: the five test cases as the course report has them, and the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.study import Measured, Point
from tools.bench.speed import CASES, CLAIMS, STUDY

from .made import made, page_of, verdicts


@pytest.mark.parametrize(("wall_s", "verdict"), [(8.0, "reproduced"), (11.0, "not reproduced")])
def test_ten_virtual_seconds_for_a_second_on_all_cores(wall_s: float, verdict: str, tmp_path: Path) -> None:
    def measured(point: Point) -> list[Measured]:
        count = 1 if point["labs"] == "one" else 2
        rows = [Measured("labs", count), Measured("virtual_s", 100), Measured("wall_s", 2 * wall_s / count)]
        cases = range(1, 6) if point["load"] == CASES else ()
        return rows + [Measured(it, 20, of=f"case {case}") for case in cases for it in ("virtual_s", "wall_s")]

    table = made(STUDY, measured)
    ((found, because),) = verdicts(CLAIMS, table)
    assert (found, because.endswith("with 2 at once")) == (verdict, True)
    assert "| 20.0 | 20.00 | 1.00 |" in page_of("speed", table, tmp_path)
