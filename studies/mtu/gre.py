"""What a GRE tunnel adds to a frame, captured inside and outside of it, and what becomes of frames without room.

The study's figure 4: of the 1500 bytes in a frame the tunnel takes 38. Its own packets had room, by one of two ways:
the cables between the PCs took longer frames, or the hosts' packets were shorter by 38 bytes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import Capture, TrainFlow, capture, run
from linklab.network import Network
from linklab.network.catalogue import mtu_gre
from linklab.network.theory import ip_packet_bytes, payload_of_frame_bytes
from linklab.study.declare import Measured, Metric, Point, Study
from linklab.units import GRE_OVERHEAD_BYTES

LARGER: Final = "larger-cables"
"""The PCs' cables take 38 bytes more than the hosts' packets have: the study's 4370 and 7999 bytes need it."""
SHORTER: Final = "shorter-packets"
"""The hosts' packets are 38 bytes shorter, and the frame outside has the size: the study's figure 4."""
FRAGMENTS: Final = "fragments"
"""The PCs cut what is too long for cables of the size."""
LOST: Final = "no-room"
"""Nobody does anything: the tunnel's port takes less than the hosts send."""
ROOMS: Final = (LARGER, SHORTER, FRAGMENTS, LOST)
_LINK_MBPS: Final = 100.0


def testbed(point: Point) -> Network:
    """Two Mininet networks and a tunnel, with the point's room. Raises MeasurementError for a room that is none."""
    frame_bytes, room = point.whole("frame_bytes"), point["room"]
    if room == LARGER:
        return mtu_gre(frame_bytes, _LINK_MBPS)
    if room == SHORTER:
        return mtu_gre(frame_bytes - GRE_OVERHEAD_BYTES, _LINK_MBPS)
    outside = mtu_gre(frame_bytes, _LINK_MBPS, outside_mtu_bytes=ip_packet_bytes(frame_bytes))
    if room == FRAGMENTS:
        return outside
    if room == LOST:
        (tunnel,) = outside.tunnels
        narrow = replace(tunnel, mtu_bytes=tunnel.mtu_bytes - GRE_OVERHEAD_BYTES, fragments=False)
        return replace(outside, tunnels=(narrow,))
    raise MeasurementError(f"room is {room!r}: choose one of {', '.join(ROOMS)}")


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Sends some packets, and captures them as h1 sends them and as pc1 does."""
    frame_bytes = point.whole("frame_bytes") - (GRE_OVERHEAD_BYTES if point["room"] == SHORTER else 0)
    flow = TrainFlow("h1", "h2", point.whole("packets"), payload_of_frame_bytes(frame_bytes))
    with capture(lab, "h1", "h1-eth0", "udp") as inside, capture(lab, "pc1", "pc1-eth0", "ip proto 47") as outside:
        result = run(lab, flow)
    rows = [*_sizes("inside", inside), *_sizes("outside", outside), Measured("arrived_packets", result.received)]
    if outside.packets:
        more = _bytes(outside) / result.sent - _bytes(inside) / result.sent
        rows.append(Measured("overhead_bytes", more))
    return rows


def _bytes(caught: Capture) -> int:
    return sum(packet.wirelen or 0 for packet in caught.packets)


def _sizes(of: str, caught: Capture) -> list[Measured]:
    return [
        Measured("frame_bytes_captured", packet.wirelen or 0, of, it) for it, packet in enumerate(caught.packets, 1)
    ]


GRE_STUDY: Final = Study(
    name="gre",
    title="A GRE tunnel's overhead: frames captured inside and outside, and frames for which there is no room",
    testbed=testbed,
    factors={"frame_bytes": (1518, 4370, 7999), "room": ROOMS, "packets": (5,)},
    measurement=measure,
    metrics=(
        Metric("frame_bytes_captured", "byte", "one frame on h1's cable (inside) or pc1's (outside), without checksum"),
        Metric("overhead_bytes", "byte", "what a packet takes more of pc1's cable than of h1's, all its fragments"),
        Metric("arrived_packets", "1", "packets that arrived"),
    ),
    repeats=2,
    short={"frame_bytes": (1518,)},
    source="MTU study (2016), figure 4",
)
