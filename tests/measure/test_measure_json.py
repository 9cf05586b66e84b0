"""Results are stored as JSON and load again; what is damaged or of another version is refused by name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.measure import (
    ConstantRateFlow,
    ConstantRateResult,
    Fidelity,
    Machine,
    Origin,
    PingFlow,
    QueueCounters,
    Result,
    SimpleperfFlow,
    SimpleperfResult,
    TcpFlow,
    UdpFlow,
    load_result,
    load_run,
)
from linklab.measure.tools.iperf3 import TCP, UDP
from linklab.measure.tools.ping import PING
from linklab.network import TWO_HOSTS, expected_state

from .captured import captured, parsed

ORIGIN = Origin("iperf 3.12", "virtual", "7.3.4")


def results() -> list[Result]:
    two = TcpFlow("h1", "h4", 2, streams=2)
    datagrams = UdpFlow("h1", "h4", 35, 2, payload_bytes=1472)
    return [
        parsed(PING, PingFlow("h1", "h4", 12), ORIGIN, captured("deb13", "ping-loss.txt")),
        parsed(PING, PingFlow("h1", "h4", 3, address="10.0.0.9"), ORIGIN, captured("deb13", "ping-unreachable.txt")),
        parsed(
            TCP, two, ORIGIN,
            captured("deb12", "iperf3-tcp-2-streams-client.json"),
            captured("deb12", "iperf3-tcp-2-streams-server.json"),
        ),
        parsed(
            UDP, datagrams, ORIGIN,
            captured("deb12", "iperf3-udp-loss-client.json"), captured("deb12", "iperf3-udp-loss-server.json"),
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("result", results(), ids=lambda result: str(result.KIND))
def test_json_and_back(result: Result) -> None:
    data = json.loads(json.dumps(result.to_json()))
    assert (data["measurement"], data["version"]) == (result.KIND, 2)
    assert load_result(data) == result


def _changed(**changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(results()[0].to_json())) | changes  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "not a measurement"),
        ({"version": 1}, "not a measurement"),
        (_changed(measurement="owping"), "'owping' is unknown: it is one of ping, tcp, udp, simpleperf"),
        (_changed(version=3), "version 3, and this Linklab reads 1 to 2"),
        (_changed(version=None), "version None"),
        (_changed(duplicates="three"), "ping.duplicates is damaged: 'three' is no int"),
        (_changed(duplicates=True), "ping.duplicates is damaged"),
        (_changed(rtt_ms=60.0), "ping.rtt_ms is damaged: it should be a list"),
        (_changed(rtt_ms=["fast"]), "ping.rtt_ms is damaged: 'fast' is no float"),
        (_changed(extra=1), "ping is damaged: it should have the keys"),
        (
            _changed(origin={"tool": "ping"}),
            "ping.origin is damaged: it should have the keys clock, kernel, linklab, machine, network",
        ),
    ],
)
def test_what_is_damaged_is_refused_by_name(data: Any, reason: str) -> None:
    with pytest.raises(MeasurementError, match=reason):
        load_result(data)


def test_a_result_of_the_first_version_loads_without_what_was_not_noted_then() -> None:
    for result in results():
        data = json.loads(json.dumps(result.to_json())) | {"version": 1}
        for name in ("fidelity", "interrupted"):
            del data[name]
        del data["flow"]["start_s"]
        data["origin"] = {name: data["origin"][name] for name in ("tool", "clock", "kernel")}
        assert load_result(data) == result
        del data["origin"]["kernel"]
        with pytest.raises(MeasurementError, match=r"origin is damaged"):
            load_result(data)


def test_network_machine_and_fidelity_come_back() -> None:
    queue = QueueCounters("r1", "r1-eth1", 100, 150000, 3, 90, 0)
    seen = Fidelity("real", 0.5, 60.0, 0.1, 0.1, 0.2, 3.0, 250, 0, (queue,), 25.0, 25.1)
    origin = replace(
        ORIGIN,
        network=expected_state(TWO_HOSTS),
        machine=Machine(2, 0.5, 0.7),
        linklab="0.1.0",
        started_at="2026-01-02T03:04:05+00:00",
        virtual_s=25.0,
        wall_s=25.1,
    )
    flow = SimpleperfFlow("h1", "h4", 3, program=Path("mine.py"))
    result = SimpleperfResult(flow, origin, 27.5, 27.0, None, (), (), "said", "said", fidelity=seen, interrupted=True)
    data = json.loads(json.dumps(result.to_json()))
    assert load_result(data) == result
    assert data["origin"]["network"]["linklab_state"] == 1
    data["origin"]["network"]["linklab_state"] = 9
    with pytest.raises(MeasurementError, match=r"origin\.network is damaged: this state has version 9"):
        load_result(data)


def test_what_was_damaged_is_refused_in_a_line() -> None:
    kinds: tuple[object, ...] = ([], {}, None, 7)
    for kind in kinds:
        for load in (load_result, load_run):
            with pytest.raises(MeasurementError):
                load({"measurement": kind, "version": 1})
    rate = ConstantRateResult(ConstantRateFlow("h1", "t1", 2.0, 1.0), Origin("t", "virtual", "7"), 5, 4, 3, 0.5)
    for window_s in (0, -1):
        with pytest.raises(MeasurementError, match="window"):
            load_result({**rate.to_json(), "window_s": window_s})
