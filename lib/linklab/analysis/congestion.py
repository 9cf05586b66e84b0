"""Theory of congestion control at a drop-tail queue: Reno's sawtooth, CUBIC's cube, BBR's cap.

Pure. One flow has the bottleneck to itself. A window of ``full`` packets, the bandwidth-delay product and the queue's
room, fills path and queue; one packet more is lost. Times are in seconds unless a name says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from linklab.analysis.tcp_model import BETA, CUBIC_C, Pipe
from linklab.errors import MeasurementError
from linklab.units import BITS_PER_BYTE

RENO_BETA: Final = 0.5
"""Share of Reno's window that remains after a loss (RFC 5681, equation 4)."""
MATHIS_CONSTANT: Final = math.sqrt(3 / 2)
"""Constant of the square-root law if the window grows by one packet in each round trip, as Linux's does."""
RENO_POWER: Final = 1.0
"""Power of 1/RTT to which Reno's rate is proportional, at a given share of losses (Mathis et al., 1997)."""
CUBIC_POWER: Final = 0.25
"""The same power for CUBIC: its mean window is proportional to RTT^(3/4) (RFC 9438, section 5.1)."""
BBR_PROBES: Final = (1.25, 0.75)
"""BBR's rate above and below its estimate, as shares of it, when it probes: each in one round trip of eight."""
BBR_REST_S: Final = 0.2
"""How long BBR keeps only four packets in flight every `BBR_REST_EVERY_S`, to see an empty queue's round trip."""
BBR_REST_EVERY_S: Final = 10.0
BBR_MARGIN: Final = 0.01
"""Share of its estimate by which BBR sends more slowly, to keep the queue empty (Linux, net/ipv4/tcp_bbr.c)."""


def reno_period_s(bdp_packets: float, full_packets: float, packet_s: float) -> float:
    """Return the time from one of Reno's losses to the next, without the time that the repair of a loss takes.

    The window grows by one packet in each round trip, from half of ``full_packets``. A round trip takes as long as the
    window's packets at the bottleneck, but never less than the path without a queue, ``bdp_packets * packet_s``.
    """
    half = RENO_BETA * full_packets
    alone = max(0.0, bdp_packets - half) * bdp_packets
    return packet_s * (alone + (full_packets**2 - max(bdp_packets, half) ** 2) / 2)


def reno_mean_queue_packets(bdp_packets: float, full_packets: float) -> float:
    """Return the mean number of waiting packets over one of Reno's sawteeth, by time."""
    start = max(bdp_packets, RENO_BETA * full_packets)
    thirds, halves = (full_packets**3 - start**3) / 3, (full_packets**2 - start**2) / 2
    return (thirds - bdp_packets * halves) / reno_period_s(bdp_packets, full_packets, 1.0)


def mathis_mbps(rtt_ms: float, loss: float, payload_bytes: int) -> float:
    """Return Reno's throughput in Mbit/s if a share ``loss`` of all packets is lost (Mathis et al., 1997, eq. 3).

    ``loss`` counts losses that halve the window: several in one round trip are one. Raises MeasurementError where
    ``rtt_ms`` is not above 0, or ``loss`` not above 0 and at most 1: without losses the law gives no rate.
    """
    if not (rtt_ms > 0 and 0 < loss <= 1):
        raise MeasurementError(
            f"rtt_ms is {rtt_ms:g} and loss {loss:g}: give a time above 0, and a share above 0 and up to 1"
        )
    return MATHIS_CONSTANT * payload_bytes * BITS_PER_BYTE / (rtt_ms / 1000 * math.sqrt(loss)) / 1e6


def cubic_k_s(largest_packets: float, window_packets: float) -> float:
    """Return K, the time in which CUBIC's cube alone grows back to its last largest window (RFC 9438, equation 2)."""
    return math.cbrt(max(0.0, largest_packets - window_packets) / CUBIC_C)


def cubic_gap_s(full_packets: float, rtt_s: float) -> tuple[float, float]:
    """Return the least and the most time between two of CUBIC's losses if its cube, not Reno's line, decides.

    The plateau of the cube lies where the last loss was noticed, up to three packets above ``full_packets`` (a window
    grows until the loss is heard of): the flat curve may meet ``full_packets`` long before K. If the last window was
    smaller than the one before, fast convergence (section 4.7) puts the plateau at (1 + beta)/2 of it, and the convex
    part has to go on from there. Besides come up to three round trips of ``rtt_s``: one or two until a loss is
    repaired and the curve begins, one until the next loss is heard of.
    """
    kept = BETA * full_packets
    least = cubic_k_s(full_packets, kept) - cubic_k_s(_HEARD_LATE_PACKETS, 0)
    lower = (1 + BETA) / 2 * full_packets
    most = cubic_k_s(lower, kept) + cubic_k_s(full_packets + _HEARD_LATE_PACKETS, lower)
    return max(0.0, least), most + 3 * rtt_s


_HEARD_LATE_PACKETS: Final = 3


def bbr_mean_queue_packets(bdp_packets: float) -> tuple[float, float]:
    """Return the least and the most mean queue of a single BBR flow, whose operating point is an empty queue.

    One of eight round trips sends a quarter more than the link carries, so that up to a quarter of a bandwidth-delay
    product waits at its end, and the next one lets it go (Cardwell et al., 2016).
    """
    return 0.0, (BBR_PROBES[0] - 1) * bdp_packets


def bbr_rest_share(rtt_s: float) -> float:
    """Return the share of time in which BBR rests at four packets: 200 ms and a round trip of every ten seconds."""
    return (BBR_REST_S + rtt_s) / BBR_REST_EVERY_S


def loss_times_s(counts: Iterable[tuple[float, float]], apart_s: float) -> tuple[float, ...]:
    """Return the times of losses: of each sample that counts more retransmissions than the one before.

    ``counts`` are times and all retransmissions until then. Times less than ``apart_s`` after others belong to the same
    loss.
    """
    found: list[float] = []
    last_s, before = -math.inf, 0.0
    for at_s, count in counts:
        if count > before:
            if at_s - last_s > apart_s:
                found.append(at_s)
            last_s = at_s
        before = count
    return tuple(found)


def sharing_ratios(near: Pipe, far: Pipe, power: float, duration_s: float = math.inf) -> tuple[float, float]:
    """Return the least and the most ratio of rates of two loss-based flows, one with a short RTT, one with a long.

    Both wait in one queue. Where losses hit at random, rates go as 1/RTT to a ``power``, `RENO_POWER` or `CUBIC_POWER`.
    Where each loss hits both, windows that grow by round trips grow with 1/RTT besides, and rates go as its square
    (Lakshman and Madhow, 1997); so do CUBIC's on Reno's line, where it rules. The full queue makes round trips most
    alike, the empty one least. In a mean over ``duration_s``, slow start may have given either of them everything for
    the time of the long one's sawtooth. Raises MeasurementError for a duration that is not longer than that: any ratio
    may come of it.
    """
    full = (far.base_ms + far.full_queue_ms) / (near.base_ms + near.full_queue_ms)
    sawtooth_s = reno_period_s(far.bdp_packets, far.full_window_packets, far.packet_ms / 1000)
    if duration_s <= sawtooth_s:
        raise MeasurementError(
            f"{duration_s:g} s are within the long flow's first sawtooth, so any ratio may come of them: "
            f"measure for longer than {sawtooth_s:.1f} s"
        )
    kept = 1 - sawtooth_s / duration_s
    least, most = full**power, (far.base_ms / near.base_ms) ** 2
    lowest, highest = kept * least / (1 + least), 1 - kept / (1 + most)
    return lowest / (1 - lowest), highest / (1 - highest)
