"""An example of a study of one's own: what becomes of the time between packets. See docs/studies/your-own.md.

linklab study run docs/studies/own/spacing.py:SPACING
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from linklab import Lab
from linklab.errors import MeasurementError
from linklab.measure import Capture, capture
from linklab.network import End, Host, Link, Network, Switch
from linklab.study import Measured, Metric, Point, Study, Testbed

if TYPE_CHECKING:
    from scapy.packet import Packet


def testbed(point: Point) -> Testbed:
    """Return two hosts on a switch; the link to the second one has the point's rate and loss."""
    network = Network(
        "spacing",
        nodes=(Host("h1"), Host("h2"), Switch("s1")),
        links=(
            Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("s1", "s1-eth1")),
            Link(
                End("s1", "s1-eth2"),
                End("h2", "h2-eth0", "10.0.0.2/24"),
                rate_mbps=point.number("rate_mbps"),
                loss_percent=point.number("loss_percent"),
            ),
        ),
    )
    return Testbed.on(network, point["switch"])


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Send pings of 1000 bytes, a gap of 10 ms apart, and capture them as they leave and as they arrive."""
    with capture(lab, "h1", "h1-eth0", "icmp") as sent, capture(lab, "h2", "h2-eth0", "icmp") as received:
        lab["h1"].cmd(f"ping -c {point.whole('pings')} -i 0.01 -s 1000 10.0.0.2")
    return evaluate(sent.packets, received.packets)


def from_captures(point: Point, sent: Path, received: Path) -> list[Measured]:
    """Return the same metrics of a test elsewhere: ping, captured by tcpdump at both hosts, whatever their clocks."""
    left, arrived = (Capture("a test", path.name, path.read_bytes()).packets for path in (sent, received))
    return evaluate(left, arrived)


def evaluate(sent: Sequence[Packet], received: Sequence[Packet]) -> list[Measured]:
    """Return loss, and by how much the time between two packets that follow each other changed on their path."""
    left, arrived = _requests(sent), _requests(received)
    pairs = [(one, two) for one, two in zip(left, list(left)[1:], strict=False) if one in arrived and two in arrived]
    if not pairs:
        raise MeasurementError(
            f"{len(left)} pings left and {len(arrived)} arrived: two that follow each other are needed"
        )
    change_ms = {two: 1000 * (arrived[two] - arrived[one] - left[two] + left[one]) for one, two in pairs}
    return [
        Measured("sent_packets", len(left)),
        Measured("lost_percent", 100 * (1 - len(arrived) / len(left))),
        Measured("change_mean_ms", fmean(map(abs, change_ms.values()))),
        *(Measured("change_ms", value, number=number) for number, value in change_ms.items()),
    ]


def _requests(packets: Sequence[Packet]) -> dict[int, float]:
    """Return when each echo request passed first, in s, by its sequence number."""
    from scapy.layers.inet import ICMP

    found: dict[int, float] = {}
    for packet in packets:
        if ICMP in packet and packet[ICMP].type == 8:
            found.setdefault(packet[ICMP].seq, float(packet.time))
    return found


SPACING = Study(
    name="spacing",
    title="What becomes of the time between packets",
    testbed=testbed,
    factors={"switch": ("bridge", "openflow"), "rate_mbps": (10, 100), "loss_percent": (0, 5), "pings": (50,)},
    measurement=measure,
    metrics=(
        Metric("sent_packets", "1", "pings that left"),
        Metric("lost_percent", "%", "share of pings that did not arrive"),
        Metric("change_mean_ms", "ms", "mean absolute change of the time between two pings on their path"),
        Metric("change_ms", "ms", "that change at ping `number`"),
    ),
    repeats=5,
    short={"rate_mbps": (10,), "pings": (20,)},
    short_repeats=2,
    from_captures=from_captures,
)
