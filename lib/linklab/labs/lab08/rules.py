"""The checks of Lab 08, Packet size: what headers take, why first packets are too fast, and what a tunnel adds.

Each function returns a :class:`~linklab.grade.result.Result`. In a notebook, ``lab08.check_data(predicted).require()``
shows the table if all passed and fails the cell with hints if not. Frames are counted as the MTU study does: whole,
with Ethernet's checksum, which virtual cables do not carry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.analysis.packets import MININET_BUCKET_BYTES, first_bandwidth_mbps, virtual_mbps
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.result import Result, guarded
from linklab.network.mtu_testbeds import payload_bytes
from linklab.units import GRE_OVERHEAD_BYTES

FRAMES: Final = (100, 1518, 4370, 7999)
"""The study's three sizes, and a small one."""
LATE: Final = (4370, 7999)
"""Those whose second packet has to wait for the bucket."""
LINK_MBPS: Final = 10.0
_CLOSE: Final = 0.0012
_TUNNEL: Final = ("overhead_bytes", "mtu_left_bytes", "frames_mbps")


@guarded
def check_data(predicted_mbps: object) -> Result:
    """How much UDP data a full link of 10 Mbit/s carries, by frame size, in Mbit/s."""

    def check(key: Any, value: object) -> Check:
        data, on_link = payload_bytes(key), key - 4
        right = LINK_MBPS * data / on_link
        once = "a frame has one of each: Ethernet 14, IPv4 20, UDP 8, and the checksum that the study counts, 4"
        slips = (
            Mistake(LINK_MBPS, "that is all of the link", "headers take their part: data is what is left", 1e-4),
            Mistake(
                LINK_MBPS * data / key,
                "that sends the checksum too",
                "no virtual cable carries the 4 bytes: divide by frame - 4",
                4e-4,
            ),
            Mistake(
                LINK_MBPS * data / (key + 20),
                "that is a real cable's",
                "a virtual one has no preamble, gap or checksum",
                4e-4,
            ),
            Mistake(LINK_MBPS * (key - 18) / on_link, "that counts IPv4's and UDP's headers as data", once, 4e-4),
            Mistake(LINK_MBPS * (data + 8) / on_link, "that counts UDP's header as data", once, 4e-4),
            Mistake(LINK_MBPS * (data - 12) / on_link, "that takes TCP's header", "UDP's header has 8 bytes", 4e-4),
            Mistake(LINK_MBPS * on_link / data, "that is upside down", "data is less than the whole", 4e-4),
            Mistake(right / 8, "that is in MByte/s", "give it in Mbit/s", 4e-4),
        )
        how = "rate * data / frame on the link: data is the frame less 14 + 20 + 8 + 4, on the link are frame - 4"
        exact = Expectation(right, right, right, "Mbit/s", "what headers leave")
        return number_check(Number(str(key), f"data in frames of {key} bytes", exact, slips, how, _CLOSE / 4), value)

    return each("Lab 08, predicted data rates", predicted_mbps, FRAMES, "{1518: 9.1, ...}, in Mbit/s", check)


@guarded
def check_first(predicted_mbps: object) -> Result:
    """The bandwidth from the first to the second packet, behind a bucket of 1600 bytes, in Mbit/s, by frame size."""

    def check(key: Any, value: object) -> Check:
        right = first_bandwidth_mbps(2, key, LINK_MBPS, MININET_BUCKET_BYTES)
        wait = (
            "the second frame waits for what the first took beyond the bucket: (frame - 4 - 1600) * 8 bits at 10 Mbit/s"
        )
        slips = (
            Mistake(LINK_MBPS, "that is the link's rate", wait, 0.0004),
            Mistake(
                2 * right,
                "that counts the first packet's bits",
                "bandwidth since the first packet: one packet's bits",
                0.004,
            ),
            Mistake(virtual_mbps(key, LINK_MBPS), "that is the lasting bandwidth", wait, 0.004),
            Mistake(LINK_MBPS * key / 1600, "that divides the frame by the bucket", wait, 0.004),
            Mistake(LINK_MBPS * (key + 1600) / key, "that adds the bucket to the bits", wait, 0.004),
            Mistake(
                first_bandwidth_mbps(2, key, LINK_MBPS, 0) * 8,
                "that is eight times too much",
                "bits above and below",
                0.004,
            ),
            Mistake(right / 8, "that is in MByte/s", "give it in Mbit/s", 0.004),
            Mistake(
                8e-3 * (key - 4 - 1600) / LINK_MBPS, "that is the wait in ms", "divide one frame's bits by it", 0.004
            ),
        )
        exact = Expectation(right, right, right, "Mbit/s", "one frame's bits over the second one's wait")
        return number_check(Number(str(key), f"bandwidth at packet 2 of {key} bytes", exact, slips, wait, 0.003), value)

    return each("Lab 08, the second packet", predicted_mbps, LATE, "{4370: 12.3, 7999: 12.3}, in Mbit/s", check)


@guarded
def check_tunnel(predicted: object) -> Result:
    """What GRE adds to a frame, what MTU it leaves of 1500, and the bandwidth of frames of 1518 bytes in it."""
    return each("Lab 08, the tunnel", predicted, _TUNNEL, '{"overhead_bytes": 12, ...}', _tunnel_check)


def _tunnel_check(key: Any, value: object) -> Check:
    each_header = "a new Ethernet header of 14 bytes, a new IPv4 header of 20, GRE's 4"
    inside = "of the 1500 bytes the outer IPv4 header, GRE and the inner Ethernet header take their part"
    shares = "each frame is 38 bytes longer on the cable between the PCs: 10 * 1518 / (1514 + 38)"
    right, unit, what, slips, how = {
        "overhead_bytes": (
            GRE_OVERHEAD_BYTES,
            "bytes",
            "overhead of GRE",
            (
                Mistake(24, "that leaves out the new Ethernet header", each_header, 0.001),
                Mistake(4, "that is GRE's own header", each_header, 0.001),
                Mistake(18, "that leaves out the new IPv4 header", each_header, 0.001),
                Mistake(34, "that leaves out GRE itself", each_header, 0.001),
                Mistake(42, "that counts a checksum or UDP's header too", each_header, 0.001),
                Mistake(46, "that counts a UDP header too", "GRE lies in IPv4 directly, without UDP", 0.001),
            ),
            each_header,
        ),
        "mtu_left_bytes": (
            1500 - GRE_OVERHEAD_BYTES,
            "bytes",
            "MTU inside, of 1500 outside",
            (
                Mistake(1476, "that leaves out the inner Ethernet header", inside, 1e-5),
                Mistake(1538, "that is what the outside would need", "the other way round: what is left inside", 1e-5),
                Mistake(1480, "that is a frame of 1518 less 38", "the MTU is the IP packet: 1500 less 38", 1e-5),
                Mistake(1500, "that leaves no room for headers", inside, 1e-5),
            ),
            inside,
        ),
        "frames_mbps": (
            virtual_mbps(1518, LINK_MBPS, GRE_OVERHEAD_BYTES),
            "Mbit/s",
            "bandwidth of frames in the tunnel",
            (
                Mistake(virtual_mbps(1518, LINK_MBPS), "that is without a tunnel", shares, 0.0005),
                Mistake(
                    10 * 1518 / 1556, "that sends the checksum too", "no virtual cable carries it: 1514 + 38", 3e-5
                ),
                Mistake(
                    10 * 1514 / 1552,
                    "that counts frames without checksum",
                    "count whole frames, as the study does",
                    3e-5,
                ),
                Mistake(10 * 1472 / 1552, "that counts data only", "count whole frames, as the study does", 0.0005),
                Mistake(10 * 1480 / 1518, "that takes 38 bytes away instead of adding them", shares, 0.0005),
            ),
            shares,
        ),
    }[key]
    exact = Expectation(float(right), float(right), float(right), unit, how)
    return number_check(Number(key, what, exact, slips, how, 1e-5 if unit == "bytes" else 0.0004), value)


def by_frame(given: object) -> Mapping[Any, Any]:
    """What is there by frame size, for tables: nothing where it is no dictionary."""
    return given if isinstance(given, Mapping) else {}
