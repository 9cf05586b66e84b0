"""The five test cases of the course report (chapter 4), with iperf3 in place of simpleperf. Pure data."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.measure import Flow, PingFlow, TcpFlow, UdpFlow
from linklab.network import COURSE
from tools.bench.course import ROWS, Row

_UDP_S, _FLOW_S = 10, 25
"""The report's durations."""


@dataclass(frozen=True)
class Step:
    """Flows that run at once, as a part of a test case."""

    case: int
    name: str
    flows: tuple[Flow, ...]


def steps(flow_s: int) -> tuple[Step, ...]:
    """All of the five test cases, in order. `flow_s` 25 is the report's; less shortens everything alike."""
    udp_s = max(1, round(_UDP_S * flow_s / _FLOW_S))
    links = [row for row in ROWS if row.is_link]
    paths = [row for row in ROWS if not row.is_link]
    found = [Step(1, row.name, (_udp(row, udp_s),)) for row in paths]
    for case, rows in ((2, links), (3, paths)):
        for row in rows:
            found.append(Step(case, f"ping {row.name}", (_ping(row.source, row.destination, row.address, flow_s),)))
            found.append(Step(case, f"TCP {row.name}", (_tcp(row.source, row.destination, row.address, flow_s),)))
    for pairs in (
        ("h1-h4", "h2-h5"),
        ("h1-h4", "h2-h5", "h3-h6"),
        ("h1-h4", "h7-h9"),
        ("h1-h4", "h8-h9"),
    ):
        flows: list[Flow] = []
        for pair in pairs:
            flows += [_ping(*_ends(pair), flow_s), _tcp(*_ends(pair), flow_s)]
        found.append(Step(4, " and ".join(pairs), tuple(flows)))
    parallel = (
        _tcp(*_ends("h1-h4"), flow_s, streams=2),
        _tcp(*_ends("h2-h5"), flow_s),
        _tcp(*_ends("h3-h6"), flow_s),
    )
    return (*found, Step(5, "h1-h4 -P 2, h2-h5 and h3-h6", parallel))


def _ends(pair: str) -> tuple[str, str, str]:
    source, _, destination = pair.partition("-")
    return source, destination, COURSE.address_of(destination)


def _ping(source: str, destination: str, address: str, flow_s: int) -> PingFlow:
    """One a second, as ping does by itself: 25 pings take the time of a transfer."""
    return PingFlow(source, destination, count=flow_s, interval_s=1.0, address=address)


def _tcp(source: str, destination: str, address: str, flow_s: int, streams: int = 1) -> TcpFlow:
    return TcpFlow(source, destination, duration_s=flow_s, streams=streams, address=address)


def _udp(row: Row, udp_s: int) -> UdpFlow:
    return UdpFlow(
        row.source,
        row.destination,
        row.udp_offered_mbps,
        udp_s,
        payload_bytes=row.udp_payload_bytes,
        address=row.address,
    )
