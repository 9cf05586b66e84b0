"""A tool is one module: a flow, a result, and how they meet. All that are here start at one instant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

import linklab
from linklab import measure
from linklab.errors import MeasurementError
from linklab.measure import (
    Clip,
    ConstantRateFlow,
    EchoFlow,
    Flow,
    FlowOf,
    Origin,
    PingFlow,
    QueueFlow,
    SimpleperfFlow,
    SocketsFlow,
    TcpFlow,
    ToolResult,
    TrainFlow,
    UdpFlow,
    VideoFlow,
    encoded,
    run_together,
)
from linklab.measure.tool import Job, Tool
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind
from linklab.schema import Range
from tests.support.caches import own_cache
from tests.support.printed import parsed

ENDS = ("h1", "h2")


# A whole new tool. In `linklab.measure.tools` it would be a module, and a line in its `TOOLS`.


@dataclass(frozen=True)
class UptimeFlow(FlowOf["UptimeResult"]):
    """Asks `source` `count` times how long it has been up."""

    tool_name: ClassVar[str] = "uptime"

    count: Annotated[int, Range(ge=1, le=9)] = 2


@dataclass(frozen=True)
class UptimeResult(ToolResult):
    """What it answered each time, in seconds."""

    QUANTITY: ClassVar[str] = "uptime_s"

    flow: UptimeFlow
    origin: Origin
    answers_s: tuple[float, ...]

    @property
    def uptime_s(self) -> float:
        """The first answer."""
        return self.answers_s[0]


class Uptime(Tool[UptimeFlow, UptimeResult]):
    flow = UptimeFlow
    result = UptimeResult

    def client(self, job: Job[UptimeFlow]) -> str:
        """Python, in a line."""
        read = f"[float(open('/proc/uptime').read().split()[0]) for _ in range({job.flow.count})]"
        return f"python3 -c \"import json; print(json.dumps({{'answers_s': {read}}}))\""


def test_a_new_tool_needs_no_more_than_its_module(lab: linklab.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    from linklab.measure import tools

    monkeypatch.setitem(tools._BY_FLOW, UptimeFlow, Uptime())
    up = measure.run(lab, UptimeFlow(*ENDS, 3))
    assert len(up.answers_s) == 3
    assert up.origin.tool.startswith("Python 3")
    assert len(measure.repeated(lab, UptimeFlow(*ENDS), 2).runs) == 2
    with pytest.raises(MeasurementError, match="count is 10: choose at most 9"):
        UptimeFlow(*ENDS, 10)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ('ready\n{"answers_s": [1, "x"]}\n', r"what uptime h1-h2 printed is damaged: answers_s\.1: .*, and is 'x'"),
        ('{"answers_s": [1', "what uptime h1-h2 printed is damaged: invalid JSON"),
        ("{}\nsh: python3: not found\n", "uptime h1-h2 failed: sh: python3: not found"),
        ("ready\n", "uptime h1-h2 failed: it said nothing"),
    ],
)
def test_what_a_program_prints_is_checked(printed: str, said: str) -> None:
    with pytest.raises(MeasurementError, match=said):
        parsed(Uptime(), UptimeFlow(*ENDS), Origin("t", "7"), printed)


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    """Its queue has room for all flows at once: what a full queue drops at the sender, no capture there sees."""
    (link,) = TWO_HOSTS.links
    network = replace(TWO_HOSTS, links=(link.reshaped(queue_packets=1000),))
    with linklab.start(network, folder=tmp_path_factory.mktemp("tools")) as lab:
        yield lab


@pytest.mark.large
@pytest.mark.lab
def test_all_tools_start_at_one_instant(lab: linklab.Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_cache(monkeypatch, tmp_path)
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


@pytest.mark.lab
def test_how_far_apart_flows_start_is_exact_to_a_step_of_the_clock(lab: linklab.Lab) -> None:
    found = run_together(lab, [PingFlow(*ENDS, 1), TcpFlow(*ENDS, 1, start_s=0.2)])
    assert round(found.start_skew_ms * 1e6) % 250 == 0
