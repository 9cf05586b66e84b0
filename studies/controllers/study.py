"""A flow's first packet by OpenFlow controller: pings across a row of switches that are a delayed link away from it.

The MTU study (2016, section V) leaves OpenFlow equipment and more complex topologies to future work. On virtual time a
controller computes in no time: what differs is how often one is asked, which depends on the rules that it writes.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Final

from linklab.errors import MeasurementError
from linklab.guest import lab_api
from linklab.lab import Lab
from linklab.labs.lab14.rules import HEAD
from linklab.measure import PingFlow, capture, run
from linklab.network import End, Host, Link, Network, Switch
from linklab.study.declare import Measured, Metric, Point, Study, Testbed

if TYPE_CHECKING:
    from scapy.packet import Packet

_MET: Final = """
    known = []  # the switches of the row

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def met(self, event):
        self.known.append(event.msg.datapath)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def asked(self, event):
"""
_RULES: Final = """
        for switch in self.known:
            for port in (1, 2):
                self.add(switch, 1, {"in_port": port}, 3 - port)
"""
_FRAME: Final = """
        self.send(event.msg, 3 - event.msg.match["in_port"])
"""


def _osken(*asked: str) -> str:
    """Return the command of an os-ken application: Lab 14's first part, and what it does when it is asked."""
    source = "".join((HEAD, _MET, *asked))
    return f"sh -c {shlex.quote(f'cd /tmp; printf %s {shlex.quote(source)} > path.py; exec osken-manager path.py')}"


EXACT: Final = "every field"
ADDRESSES: Final = "addresses"
PATH: Final = "whole path"
FRAME_FIRST: Final = "frame first"
PROACTIVE: Final = "in advance"
_BOTH_WAYS: Final = r"in_port=1,actions=output:2\nin_port=2,actions=output:1\n"
CONTROLLERS: Final = {
    EXACT: "ovs-testcontroller ptcp:6653",
    ADDRESSES: "ovs-testcontroller --wildcards ptcp:6653",
    PATH: _osken(_RULES, _FRAME),
    FRAME_FIRST: _osken(_FRAME, _RULES),
    PROACTIVE: f"sh -c \"printf '{_BOTH_WAYS}' > /tmp/it; exec ovs-testcontroller --with-flows=/tmp/it ptcp:6653\"",
}
"""Commands by the rules that a controller writes: Open vSwitch's learning controller, whose rules match every field of
a frame, or its addresses alone; a program of os-ken that knows the row and writes rules at all switches when it is
asked, before it sends the frame on or after it; rules at all switches before the first frame.
"""
_SURE: Final = 2
_PACKET_IN: Final = 10
_HEADER_BYTES: Final = 8


def row(switches: int) -> Network:
    """Return two hosts with switches in a row between them; port 1 of each switch is nearer to h1."""
    names = [f"s{number}" for number in range(1, switches + 1)]
    between = [End(name, f"{name}-eth{port}") for name in names for port in (1, 2)]
    ends = [End("h1", "h1-eth0", "10.0.0.1/24"), *between, End("h2", "h2-eth0", "10.0.0.2/24")]
    links = tuple(Link(one, other) for one, other in zip(ends[::2], ends[1::2], strict=True))
    return Network("row", (Host("h1"), Host("h2"), *map(Switch, names)), links)


def testbed(point: Point) -> Testbed:
    """Return the row and the controller of a point; a level ``openflow:COMMAND`` is any other controller."""
    level = point.text("controller")
    return Testbed.on(row(point.whole("switches")), f"openflow:{CONTROLLERS[level]}" if level in CONTROLLERS else level)


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Ping four times while what passes between switches and controller is captured."""
    lab[lab_api.ROOT].cmd(f"tc qdisc add dev lo root netem delay {point.number('distance_ms'):g}ms")
    lab.sleep(2)  # what was on the way when switches joined arrives
    with capture(lab, lab_api.ROOT, "lo", "tcp") as control:
        result = run(lab, PingFlow("h1", "h2", 4, 0.5))
    return [Measured("wait_ms", wait_ms(result.rtt_ms)), Measured("questions", questions(control.packets))]


def wait_ms(rtt_ms: Sequence[float | None]) -> float:
    """Return how much longer the first ping took than those after it. Raises MeasurementError for a lost one."""
    answered = [it for it in rtt_ms if it is not None]
    if len(answered) < len(rtt_ms):
        raise MeasurementError(f"{len(answered)} of {len(rtt_ms)} pings were answered: does the controller pass them?")
    return answered[0] - fmean(answered[1:])


def questions(packets: Iterable[Packet]) -> int:
    """Return how many of OpenFlow's messages "packet in" were captured: what switches ask."""
    from scapy.layers.inet import TCP

    found = 0
    for packet in packets:
        data = bytes(packet[TCP].payload) if TCP in packet else b""
        while len(data) >= _HEADER_BYTES:  # version, type, length (2 bytes), number (4 bytes)
            found += data[1] == _PACKET_IN
            data = data[max(_HEADER_BYTES, int.from_bytes(data[2:4])) :]
    return found


def _belongs(point: Point) -> bool:
    """Two repeats show what chance has no hand in. Another distance, and the frame before rules, at three switches."""
    other = point["controller"] == FRAME_FIRST or point["distance_ms"] == 1
    if (other or point["controller"] == PROACTIVE) and point.repeat > _SURE:
        return False
    return not other or (
        point["switches"] == 3 and (point["controller"], point["distance_ms"]) in ((FRAME_FIRST, 5), (EXACT, 1))
    )


FIRST_PACKET: Final = Study(
    name="controllers",
    title="A flow's first packet by OpenFlow controller, across switches in a row",
    testbed=testbed,
    factors={"controller": tuple(CONTROLLERS), "switches": (1, 3, 5), "distance_ms": (5, 1)},
    belongs=_belongs,
    measurement=measure,
    metrics=(
        Metric("wait_ms", "ms", "round trip of the first ping, ARP included, less the mean of the three after it"),
        Metric("questions", "1", "frames about which switches asked the controller, from the first ping on"),
    ),
    repeats=10,
    short={"controller": (EXACT, PROACTIVE), "switches": (1,)},
    source="ours: future work of the MTU study (2016), section V",
)
STUDIES: Final = (FIRST_PACKET,)
