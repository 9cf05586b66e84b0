"""Switches: judged against the bridge."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.study import Measured, Point
from tools.bench.switches import CLAIMS, STUDY

from .made import made, page_of, verdicts


@pytest.mark.parametrize(
    ("metric", "value", "says"),
    [("", 0, "0 pings lost"), ("lost_pings", 10, "10 pings lost"), ("tcp_mbps", 27.0, "TCP 96.4% of the bridge's")],
)
def test_a_switch_that_does_not_forward_is_not_as_the_bridge(
    metric: str, value: float, says: str, tmp_path: Path
) -> None:
    def measured(point: Point) -> list[Measured]:
        values = {"rtt_mean_ms": 60.0, "lost_pings": 0, "tcp_mbps": 28.0}
        if metric and (point["switch"], point.repeat) == ("ovs", 2):
            values[metric] = value
        return [Measured(*it) for it in values.items()]

    table = made(STUDY, measured)
    ovs, user = verdicts(CLAIMS, table)
    assert ovs[0] == ("not reproduced" if metric else "reproduced")
    assert says in ovs[1]
    assert user[0] == "reproduced"
    assert "| bridge | 60 | 28 |" in page_of("switches", table, tmp_path)
