"""Switches as a study: the Linux bridge beside Open vSwitch's kernel and user-space datapaths, on virtual time."""

from __future__ import annotations

from typing import Final

from linklab.lab import Lab
from linklab.measure import PingFlow, TcpFlow, run
from linklab.network import COURSE
from linklab.published import Claim
from linklab.study.claims import Claims, Finding, Judge, Tables
from linklab.study.declare import BRIDGE, Measured, Metric, Point, Study, Testbed

TCP_SHARES: Final = {"ovs": 0.98, "ovs-user": 0.85}
"""Least shares of the bridge's rate. The user-space datapath adds 0.07 ms to a round trip, by which TCP's start loses
other packets, and one recovery more or less is a tenth of a transfer of 10 s: 89 and 100 % were seen."""


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Ping and transfer data between h1 and h4, across both switches."""
    echo = run(lab, PingFlow("h1", "h4", point.whole("pings")))
    stream = run(lab, TcpFlow("h1", "h4", point.whole("duration_s")))
    rows = [Measured("lost_pings", echo.lost_packets), Measured("tcp_mbps", stream.throughput_mbps)]
    return rows if echo.rtt_mean_ms is None else [*rows, Measured("rtt_mean_ms", echo.rtt_mean_ms)]


def testbed(point: Point) -> Testbed:
    """Return the course network with the point's kind of switch."""
    return Testbed(COURSE, point.text("switch"))  # type: ignore[arg-type]


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one

STUDY: Final = Study(
    name="switch-kinds",
    title="Switches: the Linux bridge and Open vSwitch forward alike on virtual time",
    testbed=testbed,
    factors={"switch": (BRIDGE, *TCP_SHARES), "seed": (0,), "pings": (26,), "duration_s": (10,)},
    seed=lambda point: point.whole("seed"),  # repeats differ by nothing but the machine
    measurement=measure,
    metrics=(
        Metric("rtt_mean_ms", "ms", "mean round trip of the pings that were answered"),
        Metric("lost_pings", "1", "pings without an answer"),
        Metric("tcp_mbps", "Mbit/s", "payload of TCP at the receiver"),
    ),
    repeats=3,
    short={"pings": (10,), "duration_s": (4,)},
    source="what README promises",
)
_CLAIMED: Final = tuple(
    Claim(
        f"switch-{kind}",
        f"Switch {kind} works on virtual time: no ping lost, TCP at {share:.0%} or more of the bridge's",
        "README",
        "either",
        "lost_pings and tcp_mbps of study switch-kinds",
    )
    for kind, share in TCP_SHARES.items()
)


def _judge(kind: str) -> Judge:
    def judge(tables: Tables) -> Finding:
        table = tables["switch-kinds"]
        lost = sum(table.lookup("lost_pings", switch=kind).values)
        share = table.lookup("tcp_mbps", switch=kind).low / table.lookup("tcp_mbps", switch=BRIDGE).mean
        because = f"{lost:.0f} pings lost, TCP {share:.1%} of the bridge's"
        return Finding(not lost and share >= TCP_SHARES[kind], because)

    return judge


CLAIMS: Final = Claims(_CLAIMED, {f"switch-{kind}": _judge(kind) for kind in TCP_SHARES})
