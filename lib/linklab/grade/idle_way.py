"""Predictions for a way that one transfer has to itself: round trip, ceiling, serialisation. And mistakes, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from linklab.analysis import Expectation, MeasuredPath, unloaded_rtt
from linklab.analysis.tcp_model import bottleneck_hop
from linklab.grade.check import Check
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.slips import rtt_slips, throughput_slips
from linklab.network import Link, goodput_ceiling_mbps, path_mtu_bytes, queueing_delay_ms

FRAME_BYTES: Final = 1514
"""A full frame: an MTU of 1500 and 14 of Ethernet's header."""
HEADER_BYTES: Final = 66
"""Of a full frame that carries TCP: Ethernet 14, IPv4 20, TCP 32 with its timestamps."""
PING_FRAME_BYTES: Final = 98
"""Of a ping: 56 bytes of data, ICMP 8, IPv4 20, Ethernet 14."""
_CEILING_TOLERANCE: Final = 0.02
_ROUNDED: Final = 0.025
"""A ping's 0.0392 ms may be written as 0.04."""


def rtt_prediction(name: str, value: object, it: MeasuredPath) -> Check:
    """The predicted round trip of pings on an idle way, in ms."""
    expected = unloaded_rtt(it)
    how = "add up the delays of the links that a packet crosses, there and back; a small packet needs hardly more"
    return number_check(Number(name, f"RTT of {name}", expected, rtt_slips(it, expected), how), value)


def ceiling_prediction(name: str, value: object, it: MeasuredPath) -> Check:
    """The predicted ceiling of TCP's throughput, in Mbit/s: what headers leave of the slowest link."""
    link = bottleneck_hop(it).link
    ceiling = goodput_ceiling_mbps(link.rate_mbps or 0, path_mtu_bytes(it.forward))
    why = f"headers leave 1448 of each 1514 bytes that {link.label} carries"
    expected = exactly(ceiling, "Mbit/s", why)
    how = "take the slowest link's rate, and of each frame of 1514 bytes the 1448 that are data"
    slips = throughput_slips(it, expected)
    return number_check(
        Number(name, f"throughput of {name}", expected, slips, how, tolerance=_CEILING_TOLERANCE), value
    )


def serialisation_prediction(name: str, value: object, link: Link, frame_bytes: int = FRAME_BYTES) -> Check:
    """The predicted time, in ms, that a link needs to send one frame."""
    rate_mbps = link.rate_mbps or 0.0
    right = frame_bytes * 8 / rate_mbps / 1000
    what = f"time for a frame of {frame_bytes} bytes on {link.label}"
    per_second = "Mbit/s are 1000 bits in a ms"
    mistakes = [
        Mistake(right / 8, "that takes bytes for bits", f"a byte has 8 bits; {per_second}"),
        Mistake(right * 1000, "that is in µs", "divide by 1000: give it in ms"),
        Mistake(right / 1000, "that is in seconds", "multiply by 1000: give it in ms"),
        Mistake(right / 8 * 1000, "that takes bytes for bits, and is in µs", per_second),
        Mistake(2 * right, "that is there and back", "one link sends one frame, once"),
        Mistake(right + link.delay_ms, "that has the link's delay in it", "the delay is not part of sending", 0.005),
        Mistake(1 / right, "that is how many frames in a ms", "turn it round: ms for one frame"),
        Mistake(1448 * 8 / rate_mbps / 1000, "that is the payload alone", "the headers of a frame are sent too", 0.005),
        Mistake(56 * 8 / rate_mbps / 1000, "that is a ping's data alone", "its headers are sent too: 98 bytes"),
    ]
    how = f"bytes times 8, divided by the rate; {per_second}"
    return number_check(Number(name, what, exactly(right, "ms", how), mistakes, how, tolerance=_ROUNDED), value)


def computed_check(field: Number, value: object) -> Check:
    """As `number_check`, for a number that is computed from a measurement and not predicted."""
    return replace(number_check(field, value), description=field.what)


def packet_ms(link: Link) -> float:
    """The time for one full frame."""
    return queueing_delay_ms(link, 1)


def exactly(value: float, unit: str, why: str, share: float = 0.0) -> Expectation:
    """An expectation of one number, or of ``share`` around it, which no busy machine moves."""
    return Expectation(
        value, (1 - share) * value, (1 + share) * value, unit, why, allowance=f"{100 * share:g} % of rounding"
    )
