"""Compute jitter, bandwidth and bursts from arrivals of packets, and the bandwidth of frames of one size on a link.

Three things: a stream's jitter, its bandwidth packet by packet and its burst above a rate; the rate of a path from the
spacing of packets that were sent back to back; and bandwidth by arithmetic of headers and by the bucket of a shaper.
Times are in seconds on one clock and in order, sizes in bytes, rates in Mbit/s (10**6 bits). Pure.

A train: the bottleneck needs ``L / C`` for a packet of L bits at a rate of C, so packets that entered it together leave
it that far apart, and nothing after it brings them closer. C. Dovrolis, P. Ramanathan and D. Moore, "Packet-Dispersion
Techniques and a Capacity-Estimation Methodology", IEEE/ACM Transactions on Networking 12(6), 963 to 977, 2004: packet
pairs show the capacity but are bent one by one; long trains vary less, and where other traffic shares the path they
show less than the capacity (the asymptotic dispersion rate). Alone on a path the two agree. Terms as in RFC 5136: what
is found is the capacity of the path for packets of this size and type, here counted in their payload.

Frames of one size: sizes are the MTU study's, the whole frame with Ethernet's checksum, which a virtual cable does not
carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from linklab.errors import MeasurementError
from linklab.units import (
    BITS_PER_BYTE,
    ETHERNET_CHECKSUM_BYTES,
    ETHERNET_PREAMBLE_AND_GAP_BYTES,
    transmission_ms,
)


def jitter_ms(departure_s: Sequence[float], arrival_s: Sequence[float | None]) -> tuple[float, ...]:
    """Return the jitter of RFC 4689, section 3.2.5, in ms: ``|(Rj - Sj) - (Ri - Si)|`` of packets received in a row.

    S is when a packet was sent, R when it was received; packets that were lost (None) are left out, so i and j need
    not be neighbours as they were sent. In the order in which they arrived. Raises MeasurementError for fewer than
    two packets.
    """
    both_s = zip(departure_s, arrival_s, strict=True)
    received = sorted((arrived, left) for left, arrived in both_s if arrived is not None)
    if len(received) < 2:
        raise MeasurementError(f"{len(received)} packets arrived: jitter needs two")
    delays_s = [arrived - left for arrived, left in received]
    return tuple(abs(late - early) * 1000 for early, late in pairwise(delays_s))


def bandwidth_mbps(arrivals_s: Sequence[float], size_bytes: int, *, count_first: bool = False) -> tuple[float, ...]:
    """Return the mean bandwidth from the first packet to each later one that arrived at another time, in Mbit/s::

        8 * size_bytes * (k - 1) / (t_k - t_1)

    The first packet begins the time and brings no bits into it; with `count_first` it does, and packet k has k packets'
    bits over k - 1 gaps: twice the rate at the second packet, however even they come. Item i belongs to packet i + 2;
    a packet that the clock cannot tell from the first has no bandwidth, and raises MeasurementError, as fewer than two
    packets do.
    """
    if len(arrivals_s) < 2:
        raise MeasurementError(f"{len(arrivals_s)} packets arrived: bandwidth needs two")
    begin_s = arrivals_s[0]
    if any(arrived_s <= begin_s for arrived_s in arrivals_s[1:]):
        raise MeasurementError("several packets arrived with the first one, as far as the clock can tell: send fewer")
    return tuple(
        _mbps(size_bytes * (number + count_first), arrived_s - begin_s)
        for number, arrived_s in enumerate(arrivals_s[1:], 1)
    )


def burst_bytes(arrivals_s: Sequence[float], size_bytes: int, rate_mbps: float) -> float:
    """Return the burst of a token bucket: how much more than its rate a link let through, at most, in any time.

    The largest of ``size_bytes * (k - i + 1) - rate * (t_k - t_i)`` over all packets i and k, in bytes, each packet
    counted whole: a link without a burst gives one packet. (The least b of an arrival curve b + r t, RFC 2697's or
    RFC 3290's token bucket that the arrivals conform to.) Raises MeasurementError for no packets or a rate not above 0.
    """
    if not arrivals_s or not rate_mbps > 0:
        raise MeasurementError("the burst needs a packet that arrived and a rate above 0")
    bytes_a_second = rate_mbps * 1e6 / BITS_PER_BYTE
    level, most, before_s = 0.0, 0.0, arrivals_s[0]
    for arrived_s in arrivals_s:
        # a bucket that leaks at the rate: its highest level is the maximum over all i at once
        level = max(0.0, level - bytes_a_second * (arrived_s - before_s)) + size_bytes
        most, before_s = max(most, level), arrived_s
    return most


_FEWEST_FOR_MEDIAN = 4


def train_rate_mbps(arrival_s: Sequence[float], payload_bytes: int) -> float:
    """Return the rate of a whole train: n packets have n - 1 gaps, so ``(n - 1) * L / (t_last - t_first)``.

    What a token bucket lets through at once at the head makes it too high, by about the bucket's packets over n.
    Raises MeasurementError for fewer than two packets, times out of order, or packets that all came at one instant.
    """
    _refuse(arrival_s, payload_bytes, 2)
    return _mbps((len(arrival_s) - 1) * payload_bytes, arrival_s[-1] - arrival_s[0])


def steady_rate_mbps(arrival_s: Sequence[float], payload_bytes: int) -> float:
    """Return the rate of a train, robust against a burst at its head, single late packets, and lost packets.

    The median of the rates between each packet of the first half and the one half a train later: it is right as long
    as most of these spans are undisturbed. Nothing is known of lost packets here; a bottleneck whose queue is full
    stays busy, so those that arrive are spaced as ever. Raises MeasurementError as `train_rate_mbps`, and for fewer
    than four packets.
    """
    _refuse(arrival_s, payload_bytes, _FEWEST_FOR_MEDIAN)
    half = len(arrival_s) // 2
    spans_s = [arrival_s[first + half] - arrival_s[first] for first in range(len(arrival_s) - half)]
    return _mbps(half * payload_bytes, median(spans_s))


def _mbps(size_bytes: float, time_s: float) -> float:
    if time_s <= 0:
        raise MeasurementError("these packets came at one instant, which shows no rate: send a longer train")
    return BITS_PER_BYTE * size_bytes / 1e6 / time_s


def _refuse(arrival_s: Sequence[float], payload_bytes: int, fewest: int) -> None:
    if len(arrival_s) < fewest:
        raise MeasurementError(f"{len(arrival_s)} packets of the train arrived, and {fewest} are needed: send it again")
    if any(late < early for early, late in pairwise(arrival_s)):
        raise MeasurementError("these times of arrival are not in order: sort them")
    if payload_bytes <= 0:
        raise MeasurementError(f"payload_bytes is {payload_bytes}: it must be above 0")


MININET_BUCKET_BYTES: Final = 1600
"""The bucket that counts in Mininet's TCLink: HTB's second one, ``cburst``, which tc makes one packet of 1600 bytes
unless it is told otherwise. The first one, ``burst 15k``, is larger, and a packet needs tokens in both.
"""


def virtual_mbps(frame_bytes: int, rate_mbps: float, more_bytes: int = 0) -> float:
    """Return the lasting bandwidth of whole frames over a full virtual link; a tunnel adds `more_bytes` to each::

    rate * frame / (frame - 4 + more)
    """
    return rate_mbps * frame_bytes / (frame_bytes - ETHERNET_CHECKSUM_BYTES + more_bytes)


def real_mbps(frame_bytes: int, rate_mbps: float, more_bytes: int = 0) -> float:
    """Return the same for a full real Ethernet cable, with a preamble and a gap for each frame (IEEE 802.3)::

    rate * frame / (frame + 20 + more)
    """
    return rate_mbps * frame_bytes / (frame_bytes + ETHERNET_PREAMBLE_AND_GAP_BYTES + more_bytes)


def first_bandwidth_mbps(packet: int, frame_bytes: int, rate_mbps: float, bucket_bytes: int) -> float:
    """Return the bandwidth of a bucket's first packets: from the first one to this one, without the first one's bits.

    HTB lets a packet go as long as its bucket is not in debt: so after k - 1 frames packet k of a greedy sender waits
    for what they took beyond the bucket. Raises MeasurementError for a packet that comes with the first one.
    """
    debt_bytes = (packet - 1) * (frame_bytes - ETHERNET_CHECKSUM_BYTES) - bucket_bytes
    if debt_bytes <= 0:
        raise MeasurementError(
            f"packet {packet} of {frame_bytes} bytes comes with the first one: ask for one that the bucket does not "
            "hold"
        )
    return _mbps((packet - 1) * frame_bytes, transmission_ms(debt_bytes, rate_mbps) / 1000)
