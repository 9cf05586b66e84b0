"""The rate of a path from the spacing of packets that were sent back to back.

The bottleneck needs ``L / C`` for a packet of L bits at a rate of C, so packets that entered it together leave it that
far apart, and nothing after it brings them closer. C. Dovrolis, P. Ramanathan and D. Moore, "Packet-Dispersion
Techniques and a Capacity-Estimation Methodology", IEEE/ACM Transactions on Networking 12(6), 963 to 977, 2004: packet
pairs show the capacity but are bent one by one; long trains vary less, and where other traffic shares the path they
show less than the capacity (the asymptotic dispersion rate). Alone on a path the two agree.

Terms as in RFC 5136: what is found is the capacity of the path for packets of this size and type, here counted in
their payload. Arrival times are in seconds and in order, rates in Mbit/s (10**6 bits).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from linklab.errors import MeasurementError

_FEWEST_FOR_MEDIAN = 4


def train_rate_mbps(arrival_s: Sequence[float], payload_bytes: int) -> float:
    """The rate of a whole train: n packets have n - 1 gaps, so ``(n - 1) * L / (t_last - t_first)``.

    What a token bucket lets through at once at the head makes it too high, by about the bucket's packets over n.
    Raises MeasurementError for fewer than two packets, times out of order, or packets that all came at one instant.
    """
    _refuse(arrival_s, payload_bytes, 2)
    return _rate_mbps(len(arrival_s) - 1, arrival_s[-1] - arrival_s[0], payload_bytes)


def steady_rate_mbps(arrival_s: Sequence[float], payload_bytes: int) -> float:
    """The rate of a train, not moved by a burst at its head, by single late packets, or by packets that were lost.

    The median of the rates between each packet of the first half and the one half a train later: it is right as long
    as most of these spans are undisturbed. Of lost packets nothing is known here; a bottleneck whose queue is full
    stays busy, so those that arrive are spaced as ever. Raises MeasurementError as `train_rate_mbps`, and for fewer
    than four packets.
    """
    _refuse(arrival_s, payload_bytes, _FEWEST_FOR_MEDIAN)
    half = len(arrival_s) // 2
    spans_s = [arrival_s[first + half] - arrival_s[first] for first in range(len(arrival_s) - half)]
    return _rate_mbps(half, median(spans_s), payload_bytes)


def _rate_mbps(gaps: int, span_s: float, payload_bytes: int) -> float:
    if span_s <= 0:
        raise MeasurementError("these packets came at one instant, which shows no rate: send a longer train")
    return 8e-6 * payload_bytes * gaps / span_s


def _refuse(arrival_s: Sequence[float], payload_bytes: int, fewest: int) -> None:
    if len(arrival_s) < fewest:
        raise MeasurementError(f"{len(arrival_s)} packets of the train arrived, and {fewest} are needed: send it again")
    if any(late < early for early, late in pairwise(arrival_s)):
        raise MeasurementError("these times of arrival are not in order: sort them")
    if payload_bytes <= 0:
        raise MeasurementError(f"payload_bytes is {payload_bytes}: it must be above 0")
