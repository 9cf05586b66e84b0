"""A video stream in the multimedia study's terms: bandwidth, time between packets and jitter, summed up. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from linklab.analysis.stream import Series, gaps_ms, rtp_jitter_ms, series, window_kbps
from linklab.measure import VideoResult

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
    """The summary of one run. Raises MeasurementError where too few packets arrived to say anything."""
    arrivals_s, sizes, bandwidth = bandwidths(result)
    lasted_s = arrivals_s[-1] - arrivals_s[0]
    return StreamSummary(
        series(bandwidth),
        min(bandwidth[SKIPPED_PACKETS:], default=min(bandwidth)),
        # the first packet begins the time and brings no bits into it
        8 * sum(sizes[1:]) / 1000 / lasted_s,
        series(delays(result)),
        series(jitters(result)),
    )


def bandwidths(result: VideoResult) -> tuple[tuple[float, ...], tuple[int, ...], tuple[float, ...]]:
    """Arrivals in s, sizes in bytes, and the bandwidth at each arrival in kbit/s."""
    arrivals_s = tuple(there for there, _, _ in result.arrived)
    sizes = tuple(size for _, _, size in result.arrived)
    return arrivals_s, sizes, window_kbps(arrivals_s, sizes)


def delays(result: VideoResult) -> tuple[float, ...]:
    """The times between packets, in ms."""
    return gaps_ms([there for there, _, _ in result.arrived])


def jitters(result: VideoResult) -> tuple[float, ...]:
    """RFC 3550's jitter after each packet, in ms."""
    return rtp_jitter_ms([there for there, _, _ in result.arrived], [media for _, media, _ in result.arrived])
