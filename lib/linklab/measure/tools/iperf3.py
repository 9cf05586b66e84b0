"""What iperf3 prints with ``--json``, read. Pure.

Tried on the output of iperf3 3.12 (Debian 12) and 3.18 (Debian 13). Both ends' reports are needed: the client knows
what was sent, the server what arrived and when. 3.12 exits with 0 although it could not connect; the report's
``error`` tells.
"""

from __future__ import annotations

import json
from typing import Any

from linklab.errors import MeasurementError
from linklab.measure.flows import TcpFlow, UdpFlow
from linklab.measure.results import Origin, Sample, Stream, TcpResult, UdpResult

_BEFORE, _AFTER = "warning:", "iperf3:"
_ENDED = "has terminated"
_SENT_AT_LEAST = 0.95


def parse_tcp(client: str, server: str, flow: TcpFlow, origin: Origin, *, interrupted: bool = False) -> TcpResult:
    """Reads both ends' reports of a TCP test; of one that was `interrupted`, what they say until then.

    Raises MeasurementError with iperf3's own error, or naming what is missing in a report that is not known.
    """
    sent, received = _reports(client, server, flow, "TCP", interrupted)
    try:
        total = received["end"]["sum_received"]
        return TcpResult(
            flow,
            origin,
            throughput_mbps=_mbps(total),
            received_bytes=int(total["bytes"]),
            duration_s=float(total["seconds"]),
            retransmitted_segments=int(sent["end"]["sum_sent"]["retransmits"]),
            congestion=str(sent["end"]["sender_tcp_congestion"]),
            streams=tuple(
                Stream(_mbps(stream["receiver"]), _samples(received, number))
                for number, stream in enumerate(received["end"]["streams"])
            ),
            samples=_samples(received),
            interrupted=interrupted,
        )
    except (KeyError, TypeError, IndexError, ValueError) as missing:
        raise _unknown(missing) from None


def parse_udp(client: str, server: str, flow: UdpFlow, origin: Origin, *, interrupted: bool = False) -> UdpResult:
    """Reads both ends' reports of a UDP test; of one that was `interrupted`, what they say until then.

    Raises MeasurementError with iperf3's own error, naming what is missing in a report that is not known, or where
    more arrived than was sent (something duplicates packets).
    """
    sent, received = _reports(client, server, flow, "UDP", interrupted)
    try:
        total, left = received["end"]["sum_received"], sent["end"]["sum_sent"]
        payload_bytes = int(sent["start"]["test_start"]["blksize"])
        arrived, rest = divmod(int(total["bytes"]), payload_bytes)
        result = UdpResult(
            flow,
            origin,
            throughput_mbps=_mbps(total),
            sent_mbps=_mbps(left),
            duration_s=float(total["seconds"]),
            sent_packets=int(left["packets"]),
            received_packets=arrived,
            out_of_order_packets=sum(int(stream["udp"]["out_of_order"]) for stream in received["end"]["streams"]),
            jitter_ms=float(total["jitter_ms"]),
            streams=tuple(
                Stream(_mean_mbps(samples), samples)
                for number in range(len(received["end"]["streams"]))
                if (samples := _samples(received, number))
            ),
            samples=_samples(received),
            interrupted=interrupted,
        )
    except (KeyError, TypeError, IndexError, ValueError) as missing:
        raise _unknown(missing) from None
    if rest:
        raise MeasurementError(f"iperf3 received {total['bytes']} bytes in datagrams of {payload_bytes}: some were cut")
    if not interrupted:
        _refuse_slow_sender(result)
    if result.lost_packets < 0:
        raise MeasurementError(
            f"iperf3 sent {result.sent_packets} datagrams and received {arrived}: something on the way duplicates "
            "packets, and loss cannot be told"
        )
    return result


def _refuse_slow_sender(result: UdpResult) -> None:
    """Raise MeasurementError where iperf3 sent less than it was asked for and no link of the sender's is to blame.

    iperf3 reads the clock about twelve times for each datagram. While a guest on virtual time is never idle each
    reading takes up to 16 us, and from about 15,000 datagrams a second on the next one is due before the last is sent:
    then it sends some 5,000 a second, whatever it was asked for. In real time the fidelity gate judges.
    """
    flow = result.flow
    wanted_mbps = flow.rate_mbps * flow.streams
    if result.origin.clock != "virtual" or result.sent_mbps >= _SENT_AT_LEAST * wanted_mbps:
        return
    node = result.origin.network.node(flow.source) if result.origin.network else None
    rates = [it.shape.rate_mbps for it in node.interfaces if it.shape.rate_mbps is not None] if node else []
    if any(rate_mbps * _SENT_AT_LEAST < wanted_mbps for rate_mbps in rates):
        return  # a queue of its own held the sender back
    raise MeasurementError(
        f"iperf3 from {flow.source} sent {result.sent_mbps:.4g} of the {wanted_mbps:g} Mbit/s that it was asked for: "
        f"on virtual time it cannot send {1e6 * wanted_mbps / 8 / flow.payload_bytes:,.0f} datagrams a second; choose "
        "larger ones (payload_bytes=), or send at a constant rate with linklab.measure.tools.constant_rate"
    )


def _reports(
    client: str, server: str, flow: TcpFlow | UdpFlow, protocol: str, interrupted: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both reports, about the test that was asked for, and without an error but that of being `interrupted`."""
    where = f"from {flow.source} to {flow.destination}"
    sent = _report(client, f"iperf3 {where}")
    received = _report(server, f"the iperf3 server on {flow.destination}")
    server_error, client_error = (
        None if interrupted and _ENDED in (report.get("error") or "") else report.get("error")
        for report in (received, sent)
    )
    # a server that was ended says so, and then the cause stands in the client's report
    if server_error and not (client_error and _ENDED in server_error):
        raise MeasurementError(f"the iperf3 server on {flow.destination} (flow {where}) failed: {server_error}")
    if client_error:
        raise MeasurementError(f"iperf3 {where} failed: {client_error}")
    for report in (sent, received):
        test = report.get("start", {}).get("test_start", {})
        if (test.get("protocol"), test.get("num_streams")) != (protocol, flow.streams):
            raise MeasurementError(f"iperf3 {where} reports another test than was asked for: {test}")
    return sent, received


def _report(text: str, who: str) -> dict[str, Any]:
    """The one JSON object in what iperf3 printed, between lines of plain text that are known.

    Before it warnings, as of datagrams larger than TCP's segments; after it, since some errors, "iperf3: exiting".
    """
    lines = text.splitlines(keepends=True)
    while lines and (not lines[0].strip() or lines[0].startswith(_BEFORE)):
        del lines[0]
    while lines and (not lines[-1].strip() or lines[-1].startswith(_AFTER)):
        del lines[-1]
    try:
        report = json.loads("".join(lines))
    except ValueError:
        said = next((line.strip() for line in text.splitlines() if line.strip()), "it printed nothing")
        raise MeasurementError(f"{who} gave no report that can be read, but: {said[:200]}") from None
    if not isinstance(report, dict):
        raise MeasurementError(f"{who} gave no report that can be read, but: {text.strip()[:200]}")
    return report


def _samples(report: dict[str, Any], stream: int | None = None) -> tuple[Sample, ...]:
    """The intervals at the receiver, of one stream or of all together."""
    found = []
    for interval in report["intervals"]:
        values = interval["sum"] if stream is None else interval["streams"][stream]
        if values["omitted"] or values["sender"]:
            continue
        lost = int(values["lost_packets"]) if "lost_packets" in values else None
        jitter = float(values["jitter_ms"]) if "jitter_ms" in values else None
        found.append(Sample(float(values["start"]), float(values["end"]), _mbps(values), lost, jitter))
    return tuple(found)


def _mbps(values: dict[str, Any]) -> float:
    return float(values["bits_per_second"]) / 1e6


def _mean_mbps(samples: tuple[Sample, ...]) -> float:
    """Over the whole time: for UDP the end of a server's report has no rates of single streams."""
    length_s = samples[-1].end_s - samples[0].start_s
    return sum(sample.throughput_mbps * (sample.end_s - sample.start_s) for sample in samples) / length_s


def _unknown(missing: Exception) -> MeasurementError:
    what = f"it lacks {missing}" if isinstance(missing, KeyError) else str(missing)
    return MeasurementError(f"this iperf3's report is not known ({what}): Linklab reads those of 3.12 to 3.18")
