"""What iperf3 prints with ``--json``, read. Pure. iperf3 says much more than is read here.

A module of its own, since pydantic takes as long to load as half of Linklab: it is loaded with the first report.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from pydantic import AliasChoices, AliasPath, BaseModel, Field

from linklab import schema
from linklab.errors import MeasurementError
from linklab.measure.results import Sample
from linklab.measure.tool import Job

_BEFORE, _AFTER = "warning:", "iperf3:"
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
    sender: bool
    omitted: bool = False
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


class _Report(_Failed):
    """Which test it was; each datagram carries `payload_bytes`."""

    protocol: str = _at("start.test_start.protocol")
    streams_asked: int = _at("start.test_start.num_streams")
    payload_bytes: int = _at("start.test_start.blksize")


class TcpSent(_Report):
    """The client's report of a TCP test."""

    retransmits: int = _at("end.sum_sent.retransmits")
    congestion: str = _at("end.sender_tcp_congestion")


class UdpSent(_Report):
    """The client's report of a UDP test."""

    packets: int = _at("end.sum_sent.packets")
    bits_per_second: float = _at("end.sum_sent.bits_per_second")


class _Received(_Report):
    """The server's report."""

    intervals: tuple[_Interval, ...]
    total: _Values = _at("end.sum_received")
    streams: tuple[_Stream, ...] = _at("end.streams")
    busy_percent: float = _at("end.cpu_utilization_percent.host_total")


SentT = TypeVar("SentT", bound=_Report)


def reordered(text: str) -> int:
    """Return how many datagrams came out of order, by the server's report."""
    report = schema.parse(_Received, _document(text, "the server"), _WHOSE)
    return sum(stream.received.out_of_order for stream in report.streams)


def both_reports(job: Job[Any], protocol: str, kind: type[SentT]) -> tuple[SentT, _Received]:
    """Return both reports, about the test that was asked for, and without an error but that of being stopped."""
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
    for text in (client_text, server_text):
        test = schema.parse(_Report, text, _WHOSE)
        if (test.protocol, test.streams_asked) != (protocol, flow.streams):
            asked = f"{test.streams_asked} streams of {test.protocol}"
            raise MeasurementError(f"{client} reports another test than was asked for: {asked}")
    return schema.parse(kind, client_text, _WHOSE), schema.parse(_Received, server_text, _WHOSE)


_WHOSE: Final = "this iperf3's report (Linklab reads those of 3.12 to 3.18)"


def _document(text: str, who: str) -> str:
    """Return the one JSON object in what iperf3 printed, between lines of plain text that are known.

    Before it warnings, as of datagrams larger than TCP's segments; after it, since some errors, "iperf3: exiting".
    """
    lines = text.splitlines(keepends=True)
    while lines and (not lines[0].strip() or lines[0].startswith(_BEFORE)):
        del lines[0]
    while lines and (not lines[-1].strip() or lines[-1].startswith(_AFTER)):
        del lines[-1]
    if not lines or lines[0].rstrip() != "{" or lines[-1].rstrip() != "}":
        said = next((line.strip() for line in text.splitlines() if line.strip()), "it printed nothing")
        raise MeasurementError(f"{who} gave no report that can be read, but: {said[:200]}")
    return "".join(lines)


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
        again = bool(found) and (values.start, values.end) == (found[-1].start, found[-1].end)
        if not (values.omitted or values.sender or again):
            found.append(values)
    return found


def samples(report: _Received, stream: int | None = None) -> tuple[Sample, ...]:
    """Return the intervals at the receiver, of one stream or of all together."""
    return tuple(
        Sample(values.start, values.end, values.mbps, values.lost_packets, values.jitter_ms)
        for values in _intervals(report, stream)
    )
