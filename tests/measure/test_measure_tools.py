"""What holds for every tool: its results are judged, stored and tabled alike, and its flows and results need no lab."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import linklab
from linklab import measure
from linklab.errors import MeasurementError
from linklab.measure import (
    Clip,
    ConstantRateFlow,
    ConstantRateResult,
    EchoFlow,
    EchoResult,
    Flow,
    Origin,
    PageFlow,
    PageResult,
    PingFlow,
    PingResult,
    QueueFlow,
    QueueResult,
    Result,
    Run,
    SimpleperfFlow,
    SimpleperfResult,
    SocketsFlow,
    SocketsResult,
    TcpFlow,
    TcpResult,
    TrainFlow,
    TrainResult,
    UdpFlow,
    UdpResult,
    VideoFlow,
    VideoResult,
    encoded,
    load_result,
    load_run,
    run_together,
    to_dataframe,
)
from linklab.measure.tools import TOOLS, tool_of
from linklab.measure.tools.queues import QueueSample
from linklab.measure.tools.sockets import SocketSample
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind
from linklab.show import measured

ORIGIN = Origin("t", "7")
ENDS = ("h1", "h2")
RESULTS: list[Result] = [
    PingResult(PingFlow(*ENDS, 1), ORIGIN, (20.0,), 20.0, 20.0, 20.0, 0.0, 0, 0),
    TcpResult(TcpFlow(*ENDS), ORIGIN, 9.4, 1, 25.0, 0, "cubic", (), ()),
    UdpResult(UdpFlow(*ENDS, 5), ORIGIN, 5.0, 5.0, 10.0, 100, 100, 0, 0.1, (), ()),
    SimpleperfResult(SimpleperfFlow(*ENDS), ORIGIN, 9.4, 9.4, None, (), (), "", ""),
    TrainResult(TrainFlow(*ENDS, 2), ORIGIN, (0.0, 0.1), (0.2, 0.3), 0),
    EchoResult(EchoFlow(*ENDS, 1), ORIGIN, (20.0,), 20.0, 1.0),
    ConstantRateResult(ConstantRateFlow(*ENDS, 1), ORIGIN, 10, 10, 10, 10.0),
    VideoResult(VideoFlow(*ENDS), ORIGIN, Clip(), "x", (0.0,), (0.0,), (1356,), (0.1,), 0, 0),
    SocketsResult(SocketsFlow(*ENDS), ORIGIN, (SocketSample("a-b", 0.0, 10, None, 20.0, 0),)),
    QueueResult(QueueFlow(*ENDS), ORIGIN, (QueueSample(0.0, 10, 15140, 0),)),
    PageResult(PageFlow(*ENDS, 1), ORIGIN, (0.0,), (250.0,)),
]


def test_every_tool_is_here() -> None:
    assert {type(result) for result in RESULTS} == {tool.result for tool in TOOLS}


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: str(result.KIND))
def test_a_figure_of_any_result_needs_no_more_than_its_rows(result: Result) -> None:
    figure = measured(result)
    assert result.flow.title in figure.alt_text
    assert all(axes.lines for axes in figure.axes)


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: str(result.KIND))
def test_one_codec_and_one_table_hold_all(result: Result) -> None:
    assert load_result(json.loads(json.dumps(result.to_json()))) == result
    run = Run((result, result), 0.5)
    assert load_run(json.loads(json.dumps(run.to_json()))) == run
    assert tool_of(result.flow).result is type(result)
    assert len(to_dataframe(run)) == 2 * len(result.rows())
    assert result.QUANTITY.endswith(
        {"ms": "_ms", "Mbit/s": "_mbps", "%": "_percent", "packets": "_packets"}[result.UNIT]
    )


@pytest.mark.parametrize("kind", ["train", "echo", "video stream"])
def test_results_that_an_earlier_linklab_stored_load(kind: str) -> None:
    """Version 1 of these could not be interrupted, and its flows had no start."""
    (result,) = (each for each in RESULTS if kind == each.KIND)
    data = json.loads(json.dumps(result.to_json())) | {"version": 1}
    del data["interrupted"], data["flow"]["start_s"]
    assert load_result(data) == result


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(MeasurementError, match="read it with load_result"):
        load_run(RESULTS[0].to_json())
    with pytest.raises(MeasurementError, match="at once is damaged"):
        load_run({"measurement": "at once", "version": 1})


def test_every_name_that_is_loaded_later_can_be_had() -> None:
    assert [name for name in measure.__all__ if getattr(measure, name, None) is None] == []
    assert set(measure.__all__) <= set(dir(measure))
    with pytest.raises(AttributeError, match="has no attribute 'pong'"):
        getattr(measure, "pong")  # noqa: B009 - the type checker refuses it too


@pytest.mark.parametrize(
    "imports", ["import linklab.analysis", "from linklab.measure import PingFlow, VideoResult, Run"]
)
def test_what_is_pure_loads_no_lab(imports: str) -> None:
    asked = f"{imports}; import sys; print(*(m for m in sys.modules if m.startswith('linklab.')))"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    rooms = {name.split(".")[1] for name in loaded}
    assert rooms & {"runtime", "guest", "lab", "program"} == set()
    assert "errors" in rooms


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    """Its queue has room for all flows at once: what a full queue drops at the sender, no capture there sees."""
    (link,) = TWO_HOSTS.links
    network = replace(TWO_HOSTS, links=(replace(link, queue_packets=1000),))
    with linklab.start(network, folder=tmp_path_factory.mktemp("tools")) as lab:
        yield lab


@pytest.mark.lab
def test_all_tools_start_at_one_instant(lab: linklab.Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    video = encoded(Clip(duration_s=3, width=320, height=240, frames_per_s=25, bitrate_kbps=1026))
    flows: list[Flow] = [
        PingFlow(*ENDS, 3),
        TcpFlow(*ENDS, 1),
        UdpFlow(*ENDS, 1, 1),
        SimpleperfFlow(*ENDS, 1),
        TrainFlow(*ENDS, 5),
        EchoFlow(*ENDS, 2),
        ConstantRateFlow(*ENDS, 0.5, 1),
        VideoFlow(*ENDS, video),
        SocketsFlow(*ENDS, 1),
        QueueFlow(*ENDS, 1),
    ]
    found = run_together(lab, flows)
    assert [result.flow for result in found.results] == flows
    assert found.start_skew_ms < 0.1
    assert len({id(result.origin.queues) for result in found.results}) == 1
    assert all(result.origin.network is not None for result in found.results)
