"""What iperf3 3.12, the lab image's, prints with ``--json``, read. Pure. It says much more than is read here.

A module of its own, since pydantic takes as long to load as half of Linklab: it is loaded with the first report.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar

from pydantic import AliasChoices, AliasPath, BaseModel, Field

from linklab import schema
from linklab.errors import MeasurementError
from linklab.measure.results import Sample
from linklab.measure.tool import Job

_DOCUMENT: Final = re.compile(r"^\{$.*^\}$", re.MULTILINE | re.DOTALL)
_ENDED = "has terminated"


def _at(path: str) -> Any:
    """Return that a field's value stands further inside: ``"end.sum_sent.packets"``."""
    return Field(validation_alias=AliasPath(*path.split(".")))


class _Values(BaseModel):
    """What iperf3 counted in an interval or in all of a test, of one stream or of all together."""

    start: float
    end: float
    seconds: float
    bytes: int
    bits_per_second: float
    lost_packets: int | None = None
    out_of_order: int = 0
    jitter_ms: float | None = None

    @property
    def mbps(self) -> float:
        return self.bits_per_second / 1e6


class _Interval(BaseModel):
    sum: _Values
    streams: tuple[_Values, ...]


class _Stream(BaseModel):
    received: _Values = Field(validation_alias=AliasChoices("receiver", "udp"))


class _Failed(BaseModel):
    """Why the test failed, if it did."""

    error: str = ""


class TcpSent(_Failed):
    """The client's report of a TCP test."""

    retransmits: int = _at("end.sum_sent.retransmits")
    congestion: str = _at("end.sender_tcp_congestion")


class UdpSent(_Failed):
    """The client's report of a UDP test."""

    packets: int = _at("end.sum_sent.packets")
    bits_per_second: float = _at("end.sum_sent.bits_per_second")


class _Received(_Failed):
    """The server's report."""

    intervals: tuple[_Interval, ...]
    total: _Values = _at("end.sum_received")
    streams: tuple[_Stream, ...] = _at("end.streams")
    busy_percent: float = _at("end.cpu_utilization_percent.host_total")


SentT = TypeVar("SentT", bound=_Failed)


def reordered(text: str) -> int:
    """Return how many datagrams came out of order, by the server's report."""
    report = schema.parse(_Received, _document(text, "the server"), _WHOSE)
    return sum(stream.received.out_of_order for stream in report.streams)


def both_reports(job: Job[Any], kind: type[SentT]) -> tuple[SentT, _Received]:
    """Return the client's and the server's report. Raises MeasurementError for an error but that of being stopped."""
    flow = job.flow
    where = f"from {flow.source} to {flow.destination}"
    client, server = f"iperf3 {where}", f"the iperf3 server on {flow.destination}"
    client_text, server_text = _document(job.stdout, client), _document(job.server_stdout, server)
    client_error, server_error = (
        "" if job.interrupted and _ENDED in error else error
        for error in (schema.parse(_Failed, text, _WHOSE).error for text in (client_text, server_text))
    )
    # a server that was ended says so, and then the cause stands in the client's report
    if server_error and not (client_error and _ENDED in server_error):
        raise MeasurementError(f"{server} (flow {where}) failed: {server_error}")
    if client_error:
        raise MeasurementError(f"{client} failed: {client_error}")
    return schema.parse(kind, client_text, _WHOSE), schema.parse(_Received, server_text, _WHOSE)


_WHOSE: Final = "iperf3's report"


def _document(text: str, who: str) -> str:
    """Return the JSON object in what iperf3 printed: warnings may come before it, "iperf3: exiting" after it."""
    found = _DOCUMENT.search(text)
    if found is None:
        said = next((line.strip() for line in text.splitlines() if line.strip()), "it printed nothing")
        raise MeasurementError(f"{who} gave no report that can be read, but: {said[:200]}")
    return found[0]


def arrived(report: _Received, stream: int | None = None) -> _Values:
    """Return the bytes that arrived, the seconds in which they did, and their rate, of one stream or of all together.

    A server that is ended counts all bytes until then, and divides them by the end of its last whole interval, or where
    it has none by a time that has nothing to do with the test (17.9 s of 0.4). So of a run that was stopped its whole
    intervals count, whose bytes and seconds belong together. The time for which the client says that it sent would not
    do: what waited in a queue then arrives after it, and the rate could be more than the link's. Raises
    MeasurementError for a run that was stopped before its first interval was over.
    """
    if _ENDED not in report.error:
        return report.total if stream is None else report.streams[stream].received
    intervals = _intervals(report, stream)
    if not intervals:
        raise MeasurementError("iperf3 was stopped in its first second: it tells what arrived second by second")
    arrived = sum(values.bytes for values in intervals)
    seconds = intervals[-1].end - intervals[0].start
    whole = {"bytes": arrived, "seconds": seconds, "bits_per_second": 8 * arrived / seconds}
    return intervals[-1].model_copy(update=whole)


def _intervals(report: _Received, stream: int | None = None) -> list[_Values]:
    """Return what iperf3 says of each interval at the receiver, of one stream or of all together.

    A server that is ended tells its last interval once more.
    """
    found: list[_Values] = []
    for interval in report.intervals:
        values = interval.sum if stream is None else interval.streams[stream]
        if not found or (values.start, values.end) != (found[-1].start, found[-1].end):
            found.append(values)
    return found


def samples(report: _Received, stream: int | None = None) -> tuple[Sample, ...]:
    """Return the intervals at the receiver, of one stream or of all together."""
    return tuple(
        Sample(values.start, values.end, values.mbps, values.lost_packets, values.jitter_ms)
        for values in _intervals(report, stream)
    )
