"""Results of streams that never were, for tests without a lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linklab.measure import Clip, Origin, VideoFlow, VideoResult
from linklab.measure.video_file import RTP_HEADER_BYTES, RTP_PACKET_BYTES


def made_stream(
    gaps_ms: Sequence[float],
    *,
    lost: Sequence[int] = (),
    delay_ms: float = 0.0,
    late_ms: Sequence[float] | None = None,
    **more: Any,
) -> VideoResult:
    """A stream whose packets leave with these gaps, take `delay_ms` and, each by its number, `late_ms` more."""
    departures = [0.0]
    for gap in gaps_ms:
        departures.append(departures[-1] + gap / 1000)
    late = late_ms or [0.0] * len(departures)
    settings: dict[str, Any] = {
        "flow": VideoFlow("h1", "h2"),
        "clip": Clip(duration_s=10),
        "video": "made",
        "origin": Origin("t", "7"),
        "departure_s": tuple(departures),
        "media_s": tuple(departures),
        "ip_bytes": (1356,) * len(departures),
        "arrival_s": tuple(
            None if number in lost else left + (delay_ms + late[number]) / 1000
            for number, left in enumerate(departures)
        ),
        "duplicates": 0,
        "reordered": 0,
    }
    return VideoResult(**{**settings, **more})


def payload(packets: bytes) -> bytes:
    """The transport stream in RTP packets that stand one behind the other."""
    size = RTP_PACKET_BYTES
    return b"".join(packets[at + RTP_HEADER_BYTES : at + size] for at in range(0, len(packets), size))


def without(stream: bytes, lost: Sequence[int]) -> bytes:
    """What the loss of the RTP packets of these numbers leaves of a transport stream."""
    size = RTP_PACKET_BYTES - RTP_HEADER_BYTES
    return b"".join(stream[at : at + size] for at in range(0, len(stream), size) if at // size not in lost)
