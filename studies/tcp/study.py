"""TCP versions in the switches paper's fairness testbed, which its section 6 leaves to future work.

Every sender of figures 25 to 28 has a connection in place of its datagrams: four of one version, or BBR beside CUBIC.
"""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import Final

from linklab.analysis.sharing import jain_index
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import TcpFlow, TcpResult, run_together
from linklab.network.catalogue import fairness
from linklab.study.declare import Measured, Metric, Point, Study, Testbed

VERSIONS: Final = ("reno", "cubic", "bbr", "vegas")
RATE_MBPS: Final = 10
MIXED: Final = "bbr/cubic"
KERNEL: Final = ("bridge", "ovs")
TOGETHER: Final = "together"
LATER: Final = "h3 later"
KNOWN: Final = "flows known"
LATER_S: Final = 0.05
_SETTLED: Final = 1 / 3
"""Share of a run that does not count: BBR beside CUBIC takes some 15 s to get its share."""


def testbed(point: Point) -> Testbed:
    """Return as many senders as the setting has. Raises MeasurementError for a level that cannot be."""
    senders = point.text("versions").count("/") + 1
    network = fairness(RATE_MBPS, senders, point.whole("queue_packets"))
    theirs_mbps = point.number("sender_link_percent") / 100 * RATE_MBPS
    links = (
        it if "t1" in {end.node for end in it.ends} else it.reshaped(rate_mbps=theirs_mbps) for it in network.links
    )
    return Testbed.on(replace(network, links=tuple(links)), point["switch"])


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Let all connections send as much as they can: all at once, perhaps after a second in which the switch learns of
    the flows, or h3 a little after the others.
    """
    start, duration_s = point.text("start"), point.whole("duration_s")
    if start not in (TOGETHER, LATER, KNOWN):
        raise MeasurementError(f"start is {start!r}: choose {TOGETHER}, {LATER} or {KNOWN}")
    flows = []
    for number, version in enumerate(point.text("versions").split("/"), 1):
        start_s = LATER_S if (start, number) == (LATER, 3) else 0
        flows.append(TcpFlow(f"h{number}", "t1", duration_s, congestion=version, start_s=start_s))
    if start == KNOWN:
        run_together(lab, [replace(it, duration_s=1) for it in flows])
    return evaluate(run_together(lab, flows).of(TcpResult), duration_s)


def evaluate(results: tuple[TcpResult, ...], duration_s: int) -> list[Measured]:
    """Return the metrics of one run, whose first third does not count. Pure."""
    shares = {}
    for it in results:
        counted = [each for each in it.samples if _SETTLED * duration_s <= each.start_s < duration_s - 0.5]
        lasted_s = fsum(each.end_s - each.start_s for each in counted)
        shares[it.flow.source] = fsum(it.throughput_mbps * (it.end_s - it.start_s) for it in counted) / lasted_s
    return [
        *(Measured("share_mbps", mbps, of=sender) for sender, mbps in shares.items()),
        Measured("sum_mbps", fsum(shares.values())),
        Measured("jain", jain_index(list(shares.values()))),
        Measured("retransmitted_segments", sum(it.retransmitted_segments for it in results)),
    ]


def _belongs(point: Point) -> bool:
    """Return True if it is measured: BBR beside CUBIC longer and on a bridge alone, other starts with Vegas alone."""
    if point["versions"] == MIXED:
        return (point["switch"], point["start"], point["duration_s"]) == ("bridge", TOGETHER, 45)
    plain = (point["queue_packets"], point["sender_link_percent"], point["duration_s"]) == (100, 100, 24)
    vegas = str(point["versions"]).startswith("vegas")
    other = vegas and (point["switch"], point["start"]) in (("bridge", LATER), ("ovs", KNOWN))
    return plain and (point["start"] == TOGETHER or other)


def _seed(point: Point) -> int:
    """Return the seed of a point: no two kinds of switch have one in common."""
    return point.repeat + 100 * (KERNEL.index(point.text("switch")) if point["switch"] in KERNEL else len(KERNEL))


TCP: Final = Study(
    name="tcp",
    title="Switches, future work: shares of a link that TCP connections fill, by version and kind of switch",
    testbed=testbed,
    factors={
        "switch": KERNEL,
        "versions": (*("/".join([it] * 4) for it in VERSIONS), MIXED),
        "start": (TOGETHER, LATER, KNOWN),
        "queue_packets": (100, 10),
        "sender_link_percent": (100, 1000),
        "duration_s": (24, 45),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=(
        Metric("share_mbps", "Mbit/s", "data of sender `of` that arrive, in the last two thirds of the time"),
        Metric("sum_mbps", "Mbit/s", "data of all senders that arrive, in the last two thirds of the time"),
        Metric("jain", "1", "Jain's fairness index of the senders' shares"),
        Metric("retransmitted_segments", "1", "segments that all senders sent again, in the whole time"),
    ),
    repeats=10,
    seed=_seed,
    short={"switch": ("ovs",), "versions": ("vegas/vegas/vegas/vegas",)},
    source="switches paper (2013), section 6 (future work) and figures 25 to 28",
)
STUDIES: Final = (TCP,)
