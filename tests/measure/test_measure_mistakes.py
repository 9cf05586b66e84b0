"""What a user gives to a measurement by mistake is refused in one line, before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Optional

import numpy
import pytest

from linklab.errors import MeasurementError
from linklab.measure import (
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
    recorded,
    repeated,
    run_together,
)
from linklab.measure.flows import FlowOf
from linklab.measure.recordings import Recording, interfaces_in
from linklab.measure.runner import listed
from linklab.network import TWO_HOSTS, expected_state

NO_LAB: Any = None
"""Nobody asks a lab for anything before the mistake is seen."""
PING = PingFlow("h1", "h2")


def said_of(act: Callable[[], object]) -> str:
    """The one line of the refusal."""
    with pytest.raises(MeasurementError) as caught:
        act()
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 200
    return said


@pytest.mark.parametrize(
    ("flow", "wrong"),
    [
        *((TcpFlow, {"duration_s": value}) for value in ("10", None, True, [10], Decimal(10))),
        (TcpFlow, {"start_s": "1"}),
        (TcpFlow, {"streams": 2.0}),
        (TcpFlow, {"congestion": 5}),
        (TcpFlow, {"congestion": None}),
        (TcpFlow, {"address": 5}),
        (TcpFlow, {"source": 1}),
        (PingFlow, {"count": "3"}),
        (PingFlow, {"count": 3.0}),
        (PingFlow, {"interval_s": "1"}),
        (SocketsFlow, {"duration_s": "1"}),
        (QueueFlow, {"duration_s": "1"}),
        (QueueFlow, {"interval_s": None}),
        (ConstantRateFlow, {"rate_mbps": 5, "duration_s": "3"}),
        *((ConstantRateFlow, {"rate_mbps": 5, "window_s": value}) for value in (3, (1,), ("1", "2"), "12", (1, 2, 3))),
        (TrainFlow, {"gap_us": "1"}),
        (EchoFlow, {"wait_s": "1"}),
        (PageFlow, {"pause_s": "1"}),
        (SimpleperfFlow, {"interval_s": "1"}),
        (UdpFlow, {"rate_mbps": "20"}),
        (UdpFlow, {"rate_mbps": numpy.zeros((40, 40))}),
    ],
)
def test_a_flow_names_what_is_no_number_or_text(flow: Any, wrong: dict[str, Any]) -> None:
    name = [*wrong][-1]
    said = said_of(lambda: flow(**{"source": "h1", "destination": "h2", **wrong}))
    assert said.startswith(f"{name} is ") or (name == "window_s" and said.startswith("window_s is"))
    assert "give " in said or "choose " in said


def test_numbers_of_numpy_are_numbers() -> None:
    ping = PingFlow("h1", "h2", numpy.int64(3), numpy.float32(0.5), payload_bytes=numpy.int32(100))  # type: ignore[arg-type]
    assert ping == PingFlow("h1", "h2", 3, 0.5, 100)
    assert [type(value) for value in (ping.count, ping.interval_s, ping.payload_bytes)] == [int, float, int]
    udp = UdpFlow("h1", "h2", numpy.float64(2.5), numpy.int64(5))  # type: ignore[arg-type]
    assert (type(udp.rate_mbps), type(udp.duration_s), udp.rate_mbps, udp.duration_s) == (float, int, 2.5, 5)
    window = ConstantRateFlow("h1", "h2", 5, window_s=[numpy.int64(1), 2.5]).window_s  # type: ignore[arg-type]
    assert window == (1, 2.5)


@pytest.mark.parametrize("rate_mbps", [1e-9, 0.9e-6])
def test_less_than_one_bit_a_second_is_no_rate(rate_mbps: float) -> None:
    """iperf3 takes 0 bits a second for no limit."""
    assert "choose at least 0.000001" in said_of(lambda: UdpFlow("h1", "h2", rate_mbps))
    assert UdpFlow("h1", "h2", 1e-6).rate_mbps == 1e-6


def test_one_flow_is_a_list_of_one() -> None:
    assert listed(PING) == listed([PING]) == listed(flow for flow in [PING]) == (PING,)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, 5, "ping", [], ["ping"], [PING, None], [[PING]]])
def test_what_is_no_flow_is_refused(wrong: Any) -> None:
    for measure in (run_together, repeated):
        assert "flow" in said_of(lambda measure=measure: measure(NO_LAB, wrong))  # type: ignore[misc]


@pytest.mark.parametrize("repeats", ["3", 1.5, None, True, 0])
def test_repeats_are_a_whole_number(repeats: Any) -> None:
    assert said_of(lambda: repeated(NO_LAB, PING, repeats)).startswith(f"repeats is {repeats!r}: ")


def test_what_is_recorded_are_names() -> None:
    assert interfaces_in("h1-eth0") == ["h1-eth0"]
    assert interfaces_in(("h1-eth0", "h2-eth0")) == ["h1-eth0", "h2-eth0"]
    wrong: Any
    for wrong in (5, [5], None):
        assert "names no interfaces" in said_of(lambda wrong=wrong: interfaces_in(wrong))  # type: ignore[misc]

    def enter(wrong: Any) -> None:
        with recorded(NO_LAB, wrong):
            pass

    assert "names no interfaces" in said_of(lambda: enter(5))
    assert "names no interfaces" in said_of(lambda: run_together({"h1": 1, "h2": 2}, [PING], record=5))  # type: ignore[arg-type]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    recording = Recording(expected_state(TWO_HOSTS))
    said = said_of(lambda: recording.save_pcap("/nosuch/x.pcapng"))
    assert said.startswith("/nosuch/x.pcapng cannot be written (No such file or directory): choose ")
    assert "cannot be written" in said_of(lambda: recording.save_pcap(tmp_path))
    assert "is no name of a file" in said_of(lambda: recording.save_pcap(None))  # type: ignore[arg-type]
    assert recording.save_pcap(str(tmp_path / "x.pcapng")).is_file()


def test_a_flow_of_somebody_s_own_may_have_any_annotations() -> None:
    @dataclass(frozen=True)
    class Own(FlowOf[Any]):
        gap_s: Optional[float] = None  # noqa: UP045 - as older code writes it
        other: OnlyForTheTypeChecker | None = None  # type: ignore[name-defined] # noqa: F821

    assert Own("h1", "h2").gap_s is None

    @dataclass(frozen=True)
    class Known(FlowOf[Any]):
        gap_s: Optional[float] = None  # noqa: UP045

    assert Known("h1", "h2").gap_s is None
    with pytest.raises(MeasurementError, match="gap_s is '1': choose a number"):
        Known("h1", "h2", gap_s="1")  # type: ignore[arg-type]
