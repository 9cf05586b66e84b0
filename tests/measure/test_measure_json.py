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

ORIGIN = Origin("iperf 3.12", "7.3.4")


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
    assert (data["measurement"], data["version"]) == (result.KIND, 3)
    assert load_result(data) == result


def _changed(**changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(results()[0].to_json())) | changes  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "not a measurement"),
        ({"version": 1}, "not a measurement"),
        (_changed(measurement="owping"), "'owping' is unknown: it is one of ping, tcp, udp, simpleperf"),
        (_changed(version=4), "version 4, and this Linklab reads 1 to 3"),
        (_changed(version=None), "version None"),
        (_changed(duplicates="three"), "ping.duplicates is damaged: 'three' is no int"),
        (_changed(duplicates=True), "ping.duplicates is damaged"),
        (_changed(rtt_ms=60.0), "ping.rtt_ms is damaged: it should be a list"),
        (_changed(rtt_ms=["fast"]), "ping.rtt_ms is damaged: 'fast' is no float"),
        (_changed(extra=1), "ping is damaged: it should have the keys"),
        (
            _changed(origin={"tool": "ping"}),
            "ping.origin is damaged: it should have the keys kernel, linklab, network",
        ),
    ],
)
def test_what_is_damaged_is_refused_by_name(data: Any, reason: str) -> None:
    with pytest.raises(MeasurementError, match=reason):
        load_result(data)


def test_a_result_of_the_first_version_loads_without_what_was_not_noted_then() -> None:
    for result in results():
        data = json.loads(json.dumps(result.to_json())) | {"version": 1}
        del data["interrupted"], data["flow"]["start_s"]
        data["origin"] = {name: data["origin"][name] for name in ("tool", "kernel")} | {"clock": "real"}
        assert load_result(data) == result
        del data["origin"]["kernel"]
        with pytest.raises(MeasurementError, match=r"origin is damaged"):
            load_result(data)


def test_a_result_of_the_second_version_keeps_its_queues_and_loses_the_machine() -> None:
    queue = {"node": "r1", "interface": "r1-eth1", "sent_packets": 100, "sent_bytes": 150000, "dropped_packets": 3}
    queue |= {"overlimits": 90, "backlog_packets": 0}
    for result in results():
        data = json.loads(json.dumps(result.to_json())) | {"version": 2}
        data["fidelity"] = {"clock": "virtual", "load_per_core": 0.5, "queues": [queue], "reordered_packets": 2}
        data["origin"] |= {"clock": "virtual", "machine": {"cores": 2}, "patched": True}
        del data["origin"]["queues"], data["origin"]["reordered_packets"]
        origin = replace(
            result.origin, queues=(QueueCounters("r1", "r1-eth1", 100, 150000, 3, 90, 0),), reordered_packets=2
        )
        assert load_result(data) == replace(result, origin=origin)


def test_network_and_queues_come_back() -> None:
    queue = QueueCounters("r1", "r1-eth1", 100, 150000, 3, 90, 0)
    origin = replace(
        ORIGIN,
        network=expected_state(TWO_HOSTS),
        linklab="0.1.0",
        started_at="2026-01-02T03:04:05+00:00",
        virtual_s=25.0,
        wall_s=25.1,
        queues=(queue,),
        reordered_packets=4,
    )
    flow = SimpleperfFlow("h1", "h4", 3, program=Path("mine.py"))
    result = SimpleperfResult(flow, origin, 27.5, 27.0, None, (), (), "said", "said", interrupted=True)
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
    rate = ConstantRateResult(ConstantRateFlow("h1", "t1", 2.0, 1.0), Origin("t", "7"), 5, 4, 3, 0.5)
    for window_s in (0, -1):
        with pytest.raises(MeasurementError, match="window"):
            load_result({**rate.to_json(), "window_s": window_s})
