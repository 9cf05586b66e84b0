"""The figure of what links carried: a band for each run of a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linklab.measure import Flow, PingFlow, QueueCounters, TcpFlow, UdpFlow
from linklab.measure.runner import Progress
from linklab.network import InterfaceState, NetworkState, NodeState, Shape
from linklab.show.figure import Drawing
from linklab.show.traffic import Traffic, run_names

from .charted import collisions, cut_off, words


def _node(name: str, peer: str) -> NodeState:
    ways = InterfaceState(f"{name}-eth0", (), 1500, True, Shape(), (), (peer, f"{peer}-eth0"))
    return NodeState(name, "host", (ways,), (), False, "cubic")


NETWORK = NetworkState((_node("h1", "h2"), _node("h2", "h1")))


def figure_of(runs: Sequence[Sequence[Flow]]) -> Drawing:
    """Draw runs of 20 s, the first with 1 Mbit/s, the second with 2."""
    traffic, sent_bytes = Traffic(), 0
    for number, flows in enumerate(runs, 1):
        for done_s in range(0, 21, 5):
            sent_bytes += number * 625_000 if done_s else 0
            queue = QueueCounters("h1", "h1-eth0", 0, sent_bytes, 0, 0, number)
            traffic.add(Progress(tuple(flows), done_s, 20, (queue,), NETWORK))
    return traffic.figure()


def test_each_run_has_a_band_with_its_name_and_no_line_joins_two() -> None:
    figure = figure_of([[TcpFlow("h1", "h2", 20, congestion=it)] for it in ("reno", "cubic")])
    assert {"congestion=reno\n20 s", "congestion=cubic\n20 s"} <= set(words(figure))
    assert "congestion=reno, 20 s; congestion=cubic, 20 s" in figure.alt_text
    (line,) = figure.axes[0].get_lines()
    drawn = [(float(x), float(y)) for x, y in np.column_stack([line.get_xdata(), line.get_ydata()])]
    seen = {(x, y) for x, y in drawn if y == y}
    assert seen == {
        (float(at), 1.0 if run == 1 else 2.0) for run in (1, 2) for at in range(20 * run - 20, 20 * run + 1, 5)
    }
    assert len([y for _, y in drawn if y != y]) == 1


def test_names_of_many_runs_cover_nothing() -> None:
    for count in (2, 9, 40):
        figure = figure_of([[UdpFlow("h1", "h2", rate), PingFlow("h2", "h1")] for rate in range(1, count + 1)])
        assert collisions(figure) == []
        assert cut_off(figure) == []


def test_a_run_is_named_by_what_others_do_not_have() -> None:
    ping, tcp = PingFlow("h1", "h2"), TcpFlow("h1", "h2", 20)
    assert run_names([[ping], [ping, tcp]]) == ["run 1", "TCP h1-h2"]
    assert run_names([[ping], [ping]]) == ["run 1", "run 2"]
    assert run_names([[tcp], [TcpFlow("h1", "h2", 20, 4)], [tcp]]) == [
        "run 1: streams=1",
        "streams=4",
        "run 3: streams=1",
    ]
