"""Results as rows, and as a table of pandas."""

from __future__ import annotations

import pytest

from linklab.measure import Origin, PingFlow, Result, Run, SimpleperfFlow, SimpleperfResult, TcpFlow, to_dataframe
from linklab.measure.results import COLUMNS, records
from linklab.measure.tools.iperf3 import TCP
from linklab.measure.tools.ping import PING

from .captured import captured, parsed

ORIGIN = Origin("iperf 3.12", "7.3.4")


def two_streams() -> Result:
    client, server = (captured("deb12", f"iperf3-tcp-2-streams-{side}.json") for side in ("client", "server"))
    return parsed(TCP, TcpFlow("h1", "h4", 2, streams=2), ORIGIN, client, server)


def echo() -> Result:
    return parsed(PING, PingFlow("h1", "h4", 12), ORIGIN, captured("deb13", "ping-loss.txt"))


def test_a_row_for_each_interval_and_each_packet() -> None:
    rows = records(Run((two_streams(), echo()), 0.0))
    assert all(list(row) == COLUMNS for row in rows)
    pings = [row for row in rows if row["measurement"] == "ping"]
    assert [row["packet"] for row in pings] == list(range(1, 13))
    assert None in [row["rtt_ms"] for row in pings]
    assert pings[2]["start_s"] == pytest.approx(0.4)
    streams = [row for row in rows if row["measurement"] == "tcp"]
    assert {row["stream"] for row in streams} == {0, 1}
    assert all(row["throughput_mbps"] > 0 and row["end_s"] > row["start_s"] for row in streams)
    assert streams[0]["flow"] == "TCP h1-h4"


def test_a_transfer_without_intervals_is_one_row() -> None:
    flow = SimpleperfFlow("h1", "h4", 3, interval_s=None)
    (row,) = records(SimpleperfResult(flow, ORIGIN, 27.5, 27.0, None, (), (), "", ""))
    assert (row["start_s"], row["end_s"], row["throughput_mbps"], row["stream"]) == (0.0, 3, 27.5, None)


def test_pandas_itself_understands_it() -> None:
    frame = to_dataframe([two_streams(), echo()])
    assert list(frame.columns) == COLUMNS
    assert frame[frame.measurement == "ping"].rtt_ms.isna().any()
