"""Speed: the five test cases as the course report has them, and the verdict."""

from __future__ import annotations

import pytest

from linklab.measure import PingFlow, TcpFlow, UdpFlow
from linklab.study import Measured, Point
from linklab.study.page import make_page
from tools.bench.speed import CASES, PAGE, STUDY, steps, traffic_s

from .made import made, verdicts


@pytest.mark.parametrize(("wall_s", "verdict"), [(8.0, "reproduced"), (11.0, "not reproduced")])
def test_ten_virtual_seconds_for_a_second_on_all_cores(wall_s: float, verdict: str) -> None:
    def measured(point: Point) -> list[Measured]:
        count = 1 if point["labs"] == "one" else 2
        rows = [Measured("labs", count), Measured("virtual_s", 100), Measured("wall_s", 2 * wall_s / count)]
        cases = range(1, 6) if point["load"] == CASES else ()
        return rows + [Measured(it, 20, of=f"case {case}") for case in cases for it in ("virtual_s", "wall_s")]

    table = made(STUDY, measured)
    ((found, because),) = verdicts(PAGE, table)
    assert (found, because.endswith("with 2 at once")) == (verdict, True)
    assert "| 20.0 | 20.00 | 1.00 |" in make_page(PAGE, {"speed": table})["benchmark-speed.md"]


def test_the_five_test_cases_are_the_reports() -> None:
    found = steps(25)
    assert [sum(step.case == case for step in found) for case in range(1, 6)] == [3, 6, 6, 4, 1]
    case_1 = [flow for step in found if step.case == 1 for flow in step.flows]
    assert [(flow.source, flow.destination) for flow in case_1] == [("h1", "h4"), ("h7", "h9"), ("h1", "h9")]
    assert all(isinstance(flow, UdpFlow) and flow.duration_s == 10 for flow in case_1)
    assert {flow.duration_s for step in found for flow in step.flows if isinstance(flow, TcpFlow)} == {25}
    assert [len(step.flows) for step in found if step.case == 4] == [4, 6, 4, 4]


def test_only_the_time_in_which_flows_send_is_counted() -> None:
    assert traffic_s(PingFlow("h1", "h4", count=25, interval_s=1.0)) == 24
    assert traffic_s(TcpFlow("h1", "h4", 25)) == 25
