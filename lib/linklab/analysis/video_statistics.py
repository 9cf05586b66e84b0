"""Compute bandwidth, time between packets and jitter of a video stream from its arrivals, and their statistics. Pure.

The definitions are those of Wireshark's RTP analysis, the multimedia study's tool: bandwidth at a packet is what
arrived within the second that ends with it, so that a mean over packets counts busy seconds more often.
"""

from __future__ import annotations

import importlib
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from linklab.errors import MeasurementError
from linklab.units import BITS_PER_BYTE

if TYPE_CHECKING:
    from linklab.measure import VideoResult

WINDOW_S: Final = 1.0
NORMAL_BELOW: Final = 0.05
"""The level of significance below which a series is called not normally distributed."""
_LEAST: Final = 20


def window_kbps(arrivals_s: Sequence[float], ip_bytes: Sequence[int], window_s: float = WINDOW_S) -> tuple[float, ...]:
    """Return the bandwidth at each packet, in kbit/s: the bits of IP packets in the second that ends with it.

    In the first second the window is still filling. Raises MeasurementError for no packets, or times that go back.
    """
    if not arrivals_s or any(late < early for early, late in pairwise(arrivals_s)):
        raise MeasurementError("bandwidth needs packets in the order in which they arrived")
    bits = [0]
    for size in ip_bytes:
        bits.append(bits[-1] + BITS_PER_BYTE * size)
    # a packet that arrived exactly a window ago is no longer in it
    return tuple(
        (bits[number + 1] - bits[bisect_right(arrivals_s, arrived_s - window_s)]) / (1000 * window_s)
        for number, arrived_s in enumerate(arrivals_s)
    )


def each_second_kbps(arrivals_s: Sequence[float], ip_bytes: Sequence[int]) -> tuple[float, ...]:
    """Return the bandwidth of each whole second since the first packet, in kbit/s, without the last, unfinished one.

    Every second counts once. Raises MeasurementError for a stream shorter than a second.
    """
    if not arrivals_s or arrivals_s[-1] - arrivals_s[0] < 1:
        raise MeasurementError("the stream is shorter than a second: send a longer video")
    begin_s = arrivals_s[0]
    found = [0.0] * int(arrivals_s[-1] - begin_s)
    for arrived_s, size in zip(arrivals_s, ip_bytes, strict=True):
        if int(arrived_s - begin_s) < len(found):
            found[int(arrived_s - begin_s)] += size * BITS_PER_BYTE / 1000
    return tuple(found)


def gaps_ms(arrivals_s: Sequence[float]) -> tuple[float, ...]:
    """Return the time between each packet and the one before it, in ms; the study calls it delay.

    Raises MeasurementError for fewer than two packets.
    """
    if len(arrivals_s) < 2:
        raise MeasurementError(f"{len(arrivals_s)} packets arrived: the time between packets needs two")
    return tuple(1000 * (late - early) for early, late in pairwise(arrivals_s))


def rtp_jitter_ms(arrivals_s: Sequence[float], media_s: Sequence[float]) -> tuple[float, ...]:
    """Return RFC 3550's interarrival jitter after each packet, in ms (section 6.4.1), 0 after the first one::

        D = (arrival - arrival before) - (timestamp - timestamp before)
        J = J + (|D| - J) / 16

    `media_s` is what the timestamps say, in seconds. Raises MeasurementError for no packets.
    """
    if not arrivals_s:
        raise MeasurementError("no packet arrived: jitter needs one")
    transit_s = [arrived_s - media for arrived_s, media in zip(arrivals_s, media_s, strict=True)]
    jitter = [0.0]
    for early, late in pairwise(transit_s):
        jitter.append(jitter[-1] + (1000 * abs(late - early) - jitter[-1]) / 16)
    return tuple(jitter)


@dataclass(frozen=True)
class Series:
    """Statistics of a series of values, as the study lists them, in the values' unit; ``variance`` is in its square.

    ``normal_p``: the p value of D'Agostino and Pearson's test, which looks at skewness and kurtosis; small means that
    a normal distribution would hardly give such values. With thousands of values it finds the slightest difference,
    so ``skewness`` (0 if normal) and ``excess_kurtosis`` (0 if normal) say how large it is. All three are None for a
    series that never changes.
    """

    count: int
    mean: float
    minimum: float
    maximum: float
    variance: float
    deviation: float
    skewness: float | None
    excess_kurtosis: float | None
    normal_p: float | None

    @property
    def normal(self) -> bool:
        """Return True if the test does not reject a normal distribution of the values."""
        return self.normal_p is not None and self.normal_p >= NORMAL_BELOW


def series(values: Sequence[float]) -> Series:
    """Return the summary of a series. The variance is the sample's (n - 1).

    Raises MeasurementError for fewer than 20 values, for which the test says nothing.
    """
    stats: Any = importlib.import_module("scipy.stats")  # it takes half a second to load
    if len(values) < _LEAST:
        raise MeasurementError(f"{len(values)} values are too few to say how they are distributed: send a longer video")
    lowest, highest = min(values), max(values)
    if lowest == highest:
        return Series(len(values), lowest, lowest, lowest, 0.0, 0.0, None, None, None)
    told = stats.describe(values)
    return Series(
        len(values),
        float(told.mean),
        lowest,
        highest,
        float(told.variance),
        math.sqrt(told.variance),
        float(told.skewness),
        float(told.kurtosis),
        float(stats.normaltest(values).pvalue),
    )


SKIPPED_PACKETS: Final = 20
"""Multimedia study, section 4.1: the first packets do not count for the least bandwidth."""


@dataclass(frozen=True)
class StreamSummary:
    """One run as the study lists it. ``bandwidth_kbps`` (Wireshark's, over the last second, at each packet),
    ``delay_ms`` (the study's word for the time between packets) and ``jitter_ms`` (RFC 3550) have a value a packet.

    ``least_kbps`` is the least bandwidth behind the first 20 packets, as the study counts it; ``mean_kbps`` is all
    bits over the whole time, each second counted once.
    """

    bandwidth_kbps: Series
    least_kbps: float
    mean_kbps: float
    delay_ms: Series
    jitter_ms: Series


def summed_up(result: VideoResult) -> StreamSummary:
    """Return the summary of one run. Raises MeasurementError if too few packets arrived."""
    arrivals_s, sizes, bandwidth = bandwidths(result)
    lasted_s = arrivals_s[-1] - arrivals_s[0]
    return StreamSummary(
        series(bandwidth),
        min(bandwidth[SKIPPED_PACKETS:], default=min(bandwidth)),
        # the first packet begins the time and brings no bits into it
        BITS_PER_BYTE * sum(sizes[1:]) / 1000 / lasted_s,
        series(delays(result)),
        series(jitters(result)),
    )


def bandwidths(result: VideoResult) -> tuple[tuple[float, ...], tuple[int, ...], tuple[float, ...]]:
    """Return arrivals in s, sizes in bytes, and the bandwidth at each arrival in kbit/s."""
    arrivals_s = tuple(arrived_s for arrived_s, _, _ in result.arrived)
    sizes = tuple(size for _, _, size in result.arrived)
    return arrivals_s, sizes, window_kbps(arrivals_s, sizes)


def delays(result: VideoResult) -> tuple[float, ...]:
    """Return the times between packets, in ms."""
    return gaps_ms([arrived_s for arrived_s, _, _ in result.arrived])


def jitters(result: VideoResult) -> tuple[float, ...]:
    """Return RFC 3550's jitter after each packet, in ms."""
    return rtp_jitter_ms([arrived_s for arrived_s, _, _ in result.arrived], [media for _, media, _ in result.arrived])
