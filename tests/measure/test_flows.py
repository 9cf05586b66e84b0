"""What a user gives to a flow by mistake is refused in one line that names the field."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy
import pytest

from linklab.errors import MeasurementError
from linklab.measure import (
    Clip,
    ConstantRateFlow,
    EchoFlow,
    PageFlow,
    PingFlow,
    QueueFlow,
    SimpleperfFlow,
    SocketsFlow,
    TcpFlow,
    TrainFlow,
    UdpFlow,
    VideoFlow,
    WebFlow,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("flow", "wrong"),
    [
        (TcpFlow, {"duration_s": ["10", None, True, [10], Decimal("1.5"), 0, 1.5, 86401, NAN], "start_s": ["1", -1]}),
        (TcpFlow, {"streams": [2.0, 0, 129], "congestion": [5, None], "address": [5], "source": [1]}),
        (UdpFlow, {"rate_mbps": ["20", numpy.zeros((40, 40)), -1, 0, 0.9e-6, NAN], "payload_bytes": [15, 70000]}),
        (PingFlow, {"count": ["3", 3.0, 0, 65536], "interval_s": ["1", 0.0, NAN], "payload_bytes": [8]}),
        (SocketsFlow, {"duration_s": ["1", 0], "interval_s": [0, 11]}),
        (QueueFlow, {"duration_s": ["1"], "interval_s": [None, 0]}),
        (ConstantRateFlow, {"rate_mbps": [0, NAN], "duration_s": ["3", 0, 601], "payload_bytes": [15, 1473, 100.5]}),
        (ConstantRateFlow, {"window_s": [3, (1,), ("1", "2"), "12", (1, 2, 3), (0.5, 11), (2, 1)]}),
        (TrainFlow, {"count": [1, 70000, 2.5], "payload_bytes": [4], "gap_us": ["1", -1, NAN]}),
        (EchoFlow, {"payload_bytes": [11, 1473, True], "count": [0], "warm_up": [-1], "wait_s": ["1", 0]}),
        (PageFlow, {"duration_s": [0, 1.5], "objects": [0], "object_bytes": [0], "pause_s": ["1", 0]}),
        (WebFlow, {"http": ["4"], "objects": [-1], "connections": [0, 7], "visits": [3], "by_name": ["yes"]}),
        (SimpleperfFlow, {"interval_s": ["1", 0], "streams": [6], "program": [5]}),
        (VideoFlow, {"sender": ["fast"], "port": [80, "5004"]}),
    ],
)
def test_a_flow_names_the_field_that_is_wrong(flow: Any, wrong: dict[str, list[Any]]) -> None:
    right = {"rate_mbps": 5} if flow in (UdpFlow, ConstantRateFlow) else {}
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(MeasurementError, match=f"^{name} is .*: (choose|give) ") as caught:
                flow(**{"source": "h1", "destination": "h2", **right, name: value})
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"streams": 0}, "streams is 0: choose at least 1"),
        ({"streams": 129}, "streams is 129: choose at most 128"),
        ({"duration_s": 1.5}, "duration_s is 1.5: choose a whole number"),
        ({"rate_mbps": 0.9e-6}, "rate_mbps is 9e-07: choose at least 1e-06"),
        ({"payload_bytes": 8}, "payload_bytes is 8: choose at least 16"),
    ],
)
def test_it_says_what_would_be_right(wrong: dict[str, Any], line: str) -> None:
    with pytest.raises(MeasurementError, match=f"^{line}$"):
        UdpFlow(**{"source": "h1", "destination": "h2", "rate_mbps": 5, **wrong})


def test_a_flow_goes_from_one_host_to_another() -> None:
    with pytest.raises(MeasurementError, match="choose two hosts"):
        ConstantRateFlow("h1", "h1", 1)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"codec": "vp13"}, "codec is 'vp13': choose 'h264' or 'mpeg2'"),
        ({"width": 801}, "odd side"),
        ({"duration_s": 0.1}, "duration_s is 0.1: choose at least 0.5"),
        ({"frames_per_s": 25.0}, "frames_per_s is 25.0: choose a whole number"),
        ({"bitrate_kbps": True}, "bitrate_kbps is True: choose a number"),
    ],
)
def test_a_clip_names_it_too(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(MeasurementError, match=named):
        Clip(**wrong)


def test_numbers_of_numpy_are_numbers() -> None:
    ping = PingFlow("h1", "h2", numpy.int64(3), numpy.float32(0.5), payload_bytes=numpy.int32(100))  # type: ignore[arg-type]
    assert ping == PingFlow("h1", "h2", 3, 0.5, 100)
    assert [type(value) for value in (ping.count, ping.interval_s, ping.payload_bytes)] == [int, float, int]
    assert TcpFlow("h1", "h2", Decimal(10)) == TcpFlow("h1", "h2", 10)  # type: ignore[arg-type]
    window = ConstantRateFlow("h1", "h2", 5, window_s=[numpy.int64(1), 2.5]).window_s  # type: ignore[arg-type]
    assert window == (1, 2.5)
