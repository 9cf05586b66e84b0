"""Measurements that end before their end: completed repeats are kept, what was sent is charged, links come back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.measure import MeasurementStopped, Prober, devices, moderated, prober, repeated, runner
from linklab.measure.results import Run

from .test_measure_repeats import ECHO, FLOW, _run

FLOWS = [FLOW, ECHO]


class AnyLab:
    """Has every node."""

    def __getitem__(self, name: str) -> None:
        return None


@pytest.mark.parametrize("where", ["prepare", "results"])
def test_completed_repeats_are_kept_wherever_ctrl_c_comes(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: Iterator[Run] = iter([_run(28, 60.0), _run(28, 60.0)])

    class Begun:
        def __init__(self, *given: object) -> None:
            self.run = next(runs, None)
            if self.run is None and where == "prepare":
                raise KeyboardInterrupt

        def results(self) -> Run:
            if self.run is None:
                raise KeyboardInterrupt
            return self.run

    monkeypatch.setattr(runner, "_Runner", Begun)
    monkeypatch.setattr(runner, "Crew", lambda lab: contextlib.nullcontext())
    lab: Any = AnyLab()
    with pytest.raises(MeasurementStopped, match="nothing yet") as stopped:
        repeated(lab, FLOWS, 5)
    assert stopped.value.runs == (_run(28, 60.0), _run(28, 60.0))
    assert stopped.value.partial is None


def test_what_was_sent_is_charged_though_it_could_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []

    def unreadable(lab: object, flow: object) -> None:
        sent.append(flow)
        raise MeasurementError("iperf3 said nothing")

    monkeypatch.setattr(prober, "run", unreadable)
    lab: Any = AnyLab()
    mine = Prober(lab, "h1", "h2", budget_bytes=4_000_000)
    for _ in range(3):
        with pytest.raises(MeasurementError, match="said nothing"):
            mine.send(10)
    with pytest.raises(MeasurementError, match=r"0\.2 of the budget of 4 MB are left"):
        mine.send(10)
    assert (len(sent), mine.count, mine.sent_bytes) == (3, 3, 3_750_000)


@pytest.mark.parametrize("at", ["s1-eth1 nomaster", "s1-eth2 nomaster", "tx off", None])
def test_ports_come_back_to_their_bridge_wherever_ctrl_c_comes(at: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    class Node:
        def cmd(self, command: str) -> str:
            said.append(command)
            if at is not None and at in command:
                raise KeyboardInterrupt
            return ""

    def port(number: int) -> Any:
        shape = SimpleNamespace(overhead_bytes=24, rate_mbps=100.0)
        return SimpleNamespace(name=f"s1-eth{number}", shape=shape, peer=(f"h{number}", f"h{number}-eth0"))

    class FakeLab:
        def state(self) -> Any:
            switch = SimpleNamespace(kind="switch", name="s1", interfaces=(port(1), port(2)))
            return SimpleNamespace(nodes=(switch,))

        def __getitem__(self, name: str) -> Node:
            return Node()

        def write_file(self, *given: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(devices, "Crew", None)
    lab: Any = FakeLab()
    with pytest.raises(KeyboardInterrupt), moderated(lab, ("s1-eth1", "s1-eth2"), 10.0):
        pass
    for number in (1, 2):
        left = [it for it in said if it == f"ip link set s1-eth{number} nomaster"]
        back = [it for it in said if it == f"ip link set s1-eth{number} master s1"]
        off = [it for it in said if it == f"ethtool -K h{number}-eth0 tx off"]
        on = [it for it in said if it == f"ethtool -K h{number}-eth0 tx on"]
        assert len(back) >= len(left)
        assert len(on) >= len(off)
