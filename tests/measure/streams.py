"""Results of streams that never were, for tests without a lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linklab.measure import Clip, Origin, VideoFlow, VideoResult


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
