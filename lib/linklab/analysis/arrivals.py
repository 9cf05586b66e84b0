"""What the arrivals of a packet stream say: bandwidth packet by packet, the burst above a rate, RFC 4689's jitter.

Pure. Times are in seconds on one clock, sizes in bytes, rates in Mbit/s.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from linklab.errors import MeasurementError


def jitter_ms(departure_s: Sequence[float], arrival_s: Sequence[float | None]) -> tuple[float, ...]:
    """The jitter of RFC 4689, section 3.2.5: ``|(Rj - Sj) - (Ri - Si)|`` of each two packets received in a row, in ms.

    S is when a packet was sent, R when it was received; packets that were lost (None) are left out, so i and j need
    not be neighbours as they were sent. In the order in which they arrived. Raises MeasurementError for fewer than
    two packets.
    """
    received = sorted((there, left) for left, there in zip(departure_s, arrival_s, strict=True) if there is not None)
    if len(received) < 2:
        raise MeasurementError(f"{len(received)} packets arrived: jitter needs two")
    delays_s = [there - left for there, left in received]
    return tuple(abs(late - early) * 1000 for early, late in pairwise(delays_s))


def bandwidth_mbps(arrivals_s: Sequence[float], size_bytes: int, *, count_first: bool = False) -> tuple[float, ...]:
    """The mean bandwidth from the first packet to each later one that arrived at another time, in Mbit/s::

        8 * size_bytes * (k - 1) / (t_k - t_1)

    The first packet begins the time and brings no bits into it; with `count_first` it does, and packet k has k packets'
    bits over k - 1 gaps: twice the rate at the second packet, however even they come. Item i belongs to packet i + 2;
    a packet that the clock cannot tell from the first has no bandwidth, and raises MeasurementError, as fewer than two
    packets do.
    """
    if len(arrivals_s) < 2:
        raise MeasurementError(f"{len(arrivals_s)} packets arrived: bandwidth needs two")
    begin_s = arrivals_s[0]
    if any(there <= begin_s for there in arrivals_s[1:]):
        raise MeasurementError("several packets arrived with the first one, as far as the clock can tell: send fewer")
    bits = 8e-6 * size_bytes
    return tuple(bits * (number + 1 + count_first) / (there - begin_s) for number, there in enumerate(arrivals_s[1:]))


def burst_bytes(arrivals_s: Sequence[float], size_bytes: int, rate_mbps: float) -> float:
    """How much more a link let through than its rate brings, at most, in any time: the burst of a token bucket.

    The largest of ``size_bytes * (k - i + 1) - rate * (t_k - t_i)`` over all packets i and k, in bytes, each packet
    counted whole: a link without a burst gives one packet. (The least b of an arrival curve b + r t, RFC 2697's or
    RFC 3290's token bucket that the arrivals conform to.) Raises MeasurementError for no packets or a rate not above 0.
    """
    if not arrivals_s or not rate_mbps > 0:
        raise MeasurementError("the burst needs a packet that arrived and a rate above 0")
    bytes_a_second = rate_mbps * 1e6 / 8
    level, most, before_s = 0.0, 0.0, arrivals_s[0]
    for there in arrivals_s:
        # a bucket that leaks at the rate: its highest level is the maximum over all i at once
        level = max(0.0, level - bytes_a_second * (there - before_s)) + size_bytes
        most, before_s = max(most, level), there
    return most
