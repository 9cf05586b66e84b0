"""Results of every tool: they reach a check as they are, and what is damaged is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab import schema
from linklab.errors import MeasurementError
from linklab.grade import values
from linklab.measure import (
    Clip,
    ConstantRateFlow,
    ConstantRateResult,
    Cut,
    CutResult,
    EchoFlow,
    EchoResult,
    Iperf2Flow,
    Iperf2Result,
    Origin,
    PageFlow,
    PageResult,
    PageVisit,
    PingFlow,
    PingResult,
    QueueCounters,
    QueueFlow,
    QueueResult,
    Run,
    Sample,
    SimpleperfFlow,
    SimpleperfResult,
    SocketsFlow,
    SocketsResult,
    Stream,
    TcpFlow,
    TcpResult,
    ToolResult,
    TrainFlow,
    TrainResult,
    UdpFlow,
    UdpResult,
    Varying,
    VaryingResult,
    VideoFlow,
    VideoResult,
    WebFlow,
    WebObject,
    WebResult,
)
from linklab.measure.tool import Tool
from linklab.measure.tools import TOOLS, tool_of
from linklab.measure.tools.queues import QueueSample
from linklab.measure.tools.sockets import SocketSample
from linklab.network import TWO_HOSTS, expected_state
from linklab.network.traces import Trace
from tests.support.printed import parsed

QUEUE = QueueCounters("r1", "r1-eth1", 100, 150000, 3, 90, 0)
ORIGIN = Origin("t", "7", expected_state(TWO_HOSTS), "0.1.0", "2026-01-02T03:04:05+00:00", 25.0, 25.1, 4, (QUEUE,), 2)
ENDS = ("h1", "h2")
STREAM = Stream(9.4, (Sample(0, 1, 9.3), Sample(1, 2, 9.5, 4, 0.25)))
RESULTS: list[ToolResult] = [
    PingResult(PingFlow(*ENDS, 2, start_s=0.5), ORIGIN, (20.0, None), 20.0, 20.0, 20.0, 0.0, 0, 0, interrupted=True),
    TcpResult(TcpFlow(*ENDS, 2), ORIGIN, 9.4, 1, 25.0, 0, "cubic", (STREAM,), STREAM.samples),
    UdpResult(UdpFlow(*ENDS, 5), ORIGIN, 5.0, 5.0, 10.0, 100, 100, 0, 0.1, (), ()),
    SimpleperfResult(SimpleperfFlow(*ENDS, program=Path("mine.py")), ORIGIN, 9.4, 9.4, None, (), (), "said", ""),
    TrainResult(TrainFlow(*ENDS, 2), ORIGIN, (0.0, 0.1), (0.2, 0.3), 0),
    EchoResult(EchoFlow(*ENDS, 1), ORIGIN, (20.0,), 20.0, 1.0),
    ConstantRateResult(ConstantRateFlow(*ENDS, 1, window_s=(1, 2)), ORIGIN, 10, 10, 10, 10.0),
    VideoResult(VideoFlow(*ENDS), ORIGIN, Clip(), "x", (0.0,), (0.0,), (1356,), (0.1,), 0, 0, received=b"\xff"),
    SocketsResult(SocketsFlow(*ENDS), ORIGIN, (SocketSample("a-b", 0.0, 10, None, 20.0, 0),)),
    QueueResult(QueueFlow(*ENDS), ORIGIN, (QueueSample(0.0, 10, 15140, 0),), "fq_codel 10:", 3),
    PageResult(PageFlow(*ENDS, 1), ORIGIN, (0.0,), (250.0,)),
    Iperf2Result(Iperf2Flow(*ENDS, 5), ORIGIN, "the line", 6.3, 5.24, 0.0, 0, 4459),
    WebResult(
        WebFlow(*ENDS, objects=1), ORIGIN, (PageVisit(0.0, 20.0, 40.0, 60.0, 60.0, (WebObject(1, 60.0, 80.0),)),)
    ),
    CutResult(Cut(*ENDS, 2), ORIGIN, 20.0, 22.0, ("h1-eth0", "h2-eth0")),
    VaryingResult(Varying(*ENDS, Trace("even", (1,)), 2), ORIGIN, 20.0, 22.0, "h1-eth0", 1_500_000, 1000, 3),
]
each_result = pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)


def test_every_tool_is_here() -> None:
    assert {type(result) for result in RESULTS} == {tool.result for tool in TOOLS}
    assert all(tool_of(result.flow).result is type(result) for result in RESULTS)


@each_result
def test_it_reaches_a_check_alone_and_in_a_run(result: ToolResult) -> None:
    run = Run((result, RESULTS[0]), 0.5, interrupted=True)
    for each in (result, run):
        assert values.read(values.write(each)) == each
    assert isinstance(result.headline, float)
    assert result.in_words.startswith(f"{result.flow.title}: ")


@pytest.mark.parametrize(
    "result",
    # other tools read what other programs print: see the tests of their modules
    [result for result in RESULTS if type(tool_of(result.flow)).parse is Tool.parse],
    ids=lambda result: type(result).__name__,
)
def test_it_is_what_the_programs_of_its_tool_print(result: ToolResult) -> None:
    """The client prints some of the result's fields, a server that ends after it the rest."""
    tool = tool_of(result.flow)
    told = schema.dump(result)
    told = {name: told[name] for name in told.keys() - {"flow", "origin", "interrupted"}}
    name, value = told.popitem()
    server = {name: value} if tool.server_exits_after_client else {}
    client = f"ready\n1.0\n{json.dumps(told if server else {**told, name: value})}\n"
    assert parsed(tool, result.flow, ORIGIN, client, json.dumps(server)) == result


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (4, {"arrival_s": (0.1,)}),
        (5, {"rtt_ms": (1.0, 2.0)}),
        (6, {"window_s": 0}),
        (6, {"latest_ms": 250.0}),
        (7, {"media_s": ()}),
    ],
)
def test_one_that_measured_something_else_is_refused(number: int, changes: dict[str, Any]) -> None:
    with pytest.raises(MeasurementError, match=r"has not one time|nothing was measured|250\.0 ms behind its plan"):
        replace(RESULTS[number], **changes)


def test_a_run_finds_results_of_a_kind_and_its_origin() -> None:
    run = Run((RESULTS[0], RESULTS[1]), 0.0)
    assert run.of(TcpResult) == (replace(RESULTS[1]),)
    assert run.origin == ORIGIN
    assert ORIGIN.queue("r1") == QUEUE
    assert ORIGIN.queue("r1", "r1-eth9") is None
    with pytest.raises(MeasurementError, match="not recorded"):
        run.save_pcap("x.pcapng")


@each_result
def test_a_result_and_its_run_are_each_one_short_line(result: ToolResult) -> None:
    run = Run((result,) * 9, 0.5)
    assert result.flow.title in repr(result)
    assert repr(result)[1:-1] in repr(run)
    assert "and 3 more" in repr(run)
    assert all(len(line) < 120 and "\n" not in line for line in (repr(result), repr(Run((result,), 0.5))))
