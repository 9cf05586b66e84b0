"""Speed: the verdict, and the five test cases as the course report has them."""

from __future__ import annotations

import pytest

from linklab.measure import PingFlow, TcpFlow, UdpFlow
from tools.bench import overhead, speed
from tools.bench.part import Verdict, having

from .made import FEW, speed_records, verdicts


def test_ten_virtual_seconds_for_a_second_on_all_cores() -> None:
    found = speed.report(speed_records(), FEW)
    assert verdicts(found) == [Verdict.MET]
    assert found.claims[0].numbers == "6.0 with one lab, 12.0 with 2 labs at once"
    assert verdicts(speed.report(speed_records(9.9), FEW)) == [Verdict.NOT_MET]
    assert all(len(row) == len(table.headings) for table in found.tables for row in table.rows)


def test_without_all_cores_there_is_no_verdict() -> None:
    assert verdicts(speed.report(having(speed_records(), labs=1), FEW)) == [Verdict.NOT_MEASURED]
    assert verdicts(speed.report([], FEW)) == [Verdict.NOT_MEASURED]


def test_the_five_test_cases_are_the_reports() -> None:
    steps = speed.steps(25)
    assert [sum(step.case == case for step in steps) for case in range(1, 6)] == [3, 6, 6, 4, 1]
    case_1 = [flow for step in steps if step.case == 1 for flow in step.flows]
    assert [(flow.source, flow.destination) for flow in case_1] == [("h1", "h4"), ("h7", "h9"), ("h1", "h9")]
    assert all(isinstance(flow, UdpFlow) and flow.duration_s == 10 for flow in case_1)
    transfers = [flow for step in steps for flow in step.flows if isinstance(flow, TcpFlow)]
    assert {flow.duration_s for flow in transfers} == {25}
    pings = [flow for step in steps for flow in step.flows if isinstance(flow, PingFlow)]
    assert {flow.count for flow in pings} == {25}
    case_4 = [step for step in steps if step.case == 4]
    assert [len(step.flows) for step in case_4] == [4, 6, 4, 4]
    (case_5,) = (step for step in steps if step.case == 5)
    assert [(flow.source, flow.streams) for flow in case_5.flows if isinstance(flow, TcpFlow)] == [
        ("h1", 2), ("h2", 1), ("h3", 1),
    ]  # fmt: skip


def test_only_the_time_in_which_flows_send_is_counted() -> None:
    assert speed.traffic_s(PingFlow("h1", "h4", count=25, interval_s=1.0)) == 24
    assert speed.traffic_s(TcpFlow("h1", "h4", 25)) == 25
    assert {name: max(map(speed.traffic_s, flows)) for name, flows in speed.loads(10).items()} == {
        "ping": pytest.approx(99.8), "UDP": 10, "one TCP flow": 10, "four TCP flows": 10,
    }  # fmt: skip


def test_a_notebooks_overhead_is_what_it_takes_more_than_python() -> None:
    times = {"python": 0.05, "notebook": 2.05, "message": 0.0005}
    records = [{"what": what, "repeat": 1, "wall_s": wall_s} for what, wall_s in times.items()]
    (table,) = overhead.report(records, FEW).tables
    assert [row[2] for row in table.rows] == ["0.50", "50.00", "2050", "2000"]
    assert all(len(row) == len(table.headings) for row in table.rows)
    assert overhead.report([], FEW).tables == ()
