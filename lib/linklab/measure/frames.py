"""Results as a table of pandas, for those who want one."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from linklab.errors import MeasurementError
from linklab.measure.progress import title
from linklab.measure.results import PingResult, Result, SimpleperfResult, TcpResult, UdpResult
from linklab.measure.run import AtOnce

Row = dict[str, Any]


def to_dataframe(results: Result | AtOnce | Iterable[Result]) -> Any:
    """A ``pandas.DataFrame``, tidy: a row for each ping packet, and for each interval of each stream.

    Columns: measurement, flow, source, destination, stream (from 0; None for pings), start_s, end_s, throughput_mbps,
    lost_packets, jitter_ms, packet (from 1), rtt_ms. What a row does not have is missing (NaN). Of a transfer without
    intervals there is one row, from 0 to its end.

    Raises MeasurementError where pandas is not installed, with the command that installs it.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise MeasurementError("to_dataframe needs pandas, which Linklab does not: pip install pandas") from None
    return pandas.DataFrame(records(results), columns=COLUMNS)


COLUMNS = [
    *("measurement", "flow", "source", "destination", "stream", "start_s", "end_s", "throughput_mbps"),
    *("lost_packets", "jitter_ms", "packet", "rtt_ms"),
]


def records(results: Result | AtOnce | Iterable[Result]) -> list[Row]:
    """The rows of `to_dataframe`, as dictionaries; for those who have no pandas. Pure."""
    if isinstance(results, PingResult | TcpResult | UdpResult | SimpleperfResult):
        results = [results]
    if isinstance(results, AtOnce):
        results = results.results
    return [row for result in results for row in _rows(result)]


def _rows(result: Result) -> list[Row]:
    flow = result.flow
    base: Row = dict.fromkeys(COLUMNS)
    base |= {"measurement": result.KIND, "flow": title(flow), "source": flow.source, "destination": flow.destination}
    if isinstance(result, PingResult):
        interval_s = result.flow.interval_s
        return [
            {**base, "packet": number, "start_s": (number - 1) * interval_s, "rtt_ms": rtt_ms}
            for number, rtt_ms in enumerate(result.rtt_ms, 1)
        ]
    found = [
        {**base, "stream": number, **vars(sample)}
        for number, stream in enumerate(result.streams)
        for sample in stream.samples
    ]
    if found:
        return found
    end_s = result.flow.duration_s if isinstance(result, SimpleperfResult) else result.duration_s
    return [{**base, "start_s": 0.0, "end_s": end_s, "throughput_mbps": result.throughput_mbps}]
