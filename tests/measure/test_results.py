"""Results of every tool: stored as JSON they load again, as rows they make one table; what is damaged is named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.measure import (
    Clip,
    ConstantRateFlow,
    ConstantRateResult,
    Cut,
    CutResult,
    EchoFlow,
    EchoResult,
    Origin,
    PageFlow,
    PageResult,
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
    VideoFlow,
    VideoResult,
    load_result,
    load_run,
    to_dataframe,
)
from linklab.measure.results import COLUMNS, records
from linklab.measure.tools import TOOLS, tool_of
from linklab.measure.tools.queues import QueueSample
from linklab.measure.tools.sockets import SocketSample
from linklab.network import TWO_HOSTS, expected_state
from linklab.show import measured

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
    CutResult(Cut(*ENDS, 2), ORIGIN, 20.0, 22.0, ("h1-eth0", "h2-eth0")),
]
each_result = pytest.mark.parametrize("result", RESULTS, ids=lambda result: str(result.KIND))


def stored(result: ToolResult | Run, **changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(result.to_json()))
    return data | changes


def test_every_tool_is_here() -> None:
    assert {type(result) for result in RESULTS} == {tool.result for tool in TOOLS}
    assert all(tool_of(result.flow).result is type(result) for result in RESULTS)


@each_result
def test_it_loads_again_alone_and_in_a_run(result: ToolResult) -> None:
    assert stored(result)["measurement"] == result.KIND
    assert load_result(stored(result)) == result
    run = Run((result, RESULTS[0]), 0.5, interrupted=True)
    assert load_run(stored(run)) == run


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"measurement": "owping"}, "'owping' is not read here: give ping, tcp"),
        ({"measurement": []}, "measurement: input should be a valid string"),
        ({"version": 2}, "version 2, and this Linklab reads 1"),
        ({"version": None}, "version: "),
        ({"duplicates": "three"}, "ping is damaged: duplicates: .* integer, and is 'three'"),
        ({"duplicates": True}, "duplicates"),
        ({"duplicates": {1, 2}}, r"duplicates: .* integer, and is '{1, 2}'"),
        ({"rtt_ms": 60.0}, "rtt_ms: .* array"),
        ({"rtt_ms": ["fast"]}, r"rtt_ms\.0: .* number, and is 'fast'"),
        ({"origin": {"tool": "ping"}}, r"origin\.kernel: field required"),
        ({"flow": {"source": "h1", "destination": "h2", "count": 0}}, "count is 0: choose 1 to 65535"),
    ],
)
def test_what_is_damaged_is_refused_in_one_line_that_names_it(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(MeasurementError, match=named) as caught:
        load_result(stored(RESULTS[0], **changes))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [[], {}, None, 7, {"measurement": "at once", "version": 1}])
def test_what_is_no_measurement_is_refused(data: Any) -> None:
    for load in (load_result, load_run):
        with pytest.raises(MeasurementError):
            load(data)


@pytest.mark.parametrize(
    ("number", "changes"),
    [(4, {"arrival_s": [0.1]}), (5, {"rtt_ms": [1.0, 2.0]}), (6, {"window_s": 0}), (7, {"media_s": []})],
)
def test_one_without_a_time_for_each_packet_is_refused(number: int, changes: dict[str, Any]) -> None:
    with pytest.raises(MeasurementError, match=r"has not one time|nothing was measured"):
        load_result(stored(RESULTS[number], **changes))


@each_result
def test_a_figure_and_the_table_need_no_more_than_its_rows(result: ToolResult) -> None:
    figure = measured(result)
    assert result.flow.title in figure.alt_text
    assert all(axes.lines and axes.get_ylabel()[0].isalpha() for axes in figure.axes)
    assert len(to_dataframe(Run((result, result), 0.0))) == 2 * len(result.rows())
    assert result.QUANTITY.endswith(("_ms", "_mbps", "_percent", "_packets"))
    assert isinstance(result.headline, float)


def test_a_row_for_each_interval_and_each_packet() -> None:
    rows = records(Run((RESULTS[0], RESULTS[1]), 0.0))
    assert all(list(row) == COLUMNS for row in rows)
    ping, lost, first, second = rows
    assert [(row["packet"], row["start_s"], row["rtt_ms"]) for row in (ping, lost)] == [(1, 0, 20), (2, 0.2, None)]
    assert (first["flow"], first["stream"], first["throughput_mbps"], first["lost_packets"]) == (
        "TCP h1-h2",
        0,
        9.3,
        None,
    )
    assert (second["start_s"], second["end_s"], second["lost_packets"]) == (1, 2, 4)
    assert to_dataframe([RESULTS[0], RESULTS[1]]).rtt_ms.isna().sum() == 3


def test_a_transfer_without_intervals_is_one_row() -> None:
    (row,) = records(RESULTS[3])
    assert (row["start_s"], row["end_s"], row["throughput_mbps"], row["stream"]) == (0.0, 25, 9.4, None)


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
