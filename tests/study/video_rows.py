"""Tables of study `video` that never were, for tests without labs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linklab.analysis.video_statistics import Series
from linklab.network.video_testbeds import RUNS_MBPS
from linklab.study.video.runs import FRAME, HTB, QUANTITIES, STATISTICS

LINKS = tuple(rate for rates in RUNS_MBPS.values() for rate in rates)
LIKE_THE_STUDY: Mapping[str, float] = {
    "bandwidth_kbps_mean": 1342.0,
    "bandwidth_kbps_minimum": 162.72,
    "bandwidth_kbps_maximum": 2592.67,
    "delay_ms_minimum": 1.69,
    "delay_ms_maximum": 90.0,
}


def video_rows(changed: Mapping[tuple[int, str, str, str], float] | None = None) -> list[dict[str, Any]]:
    """All runs, with values like the study's; `changed` ones by (link, sender, shaper, metric)."""
    rows: list[dict[str, Any]] = []
    runs = [(link, sender, HTB) for link in LINKS for sender in ("paced", "ffmpeg")]
    runs += [(link, "paced", FRAME) for link in RUNS_MBPS[3]]
    for link, sender, shaper in runs:
        values = {f"{quantity}_{name}": 1.0 for quantity in QUANTITIES for name in STATISTICS}
        values |= {f"{quantity}_normal_p": 1e-9 for quantity in QUANTITIES}
        values |= {"mean_kbps": 1150.0, "sent_packets": 5400.0, "lost_packets": 0.0, "coded_kbps": 1030.0}
        values |= {"one_way_max_ms": 1.0, **LIKE_THE_STUDY}
        if link == 2:
            values["bandwidth_kbps_maximum"] = 1980.0
        if shaper == FRAME:
            values["delay_ms_minimum"] = 1370 * 8 / link / 1000
        for repeat in (1, 2):
            base = {"link_mbps": link, "sender": sender, "shaper": shaper, "duration_s": 50, "repeat": repeat, "of": ""}
            for metric, value in values.items():
                value = (changed or {}).get((link, sender, shaper, metric), value)
                rows.append({**base, "number": None, "metric": metric, "value": value, "unit": "1"})
            for metric, count in (("second_kbps", 50), ("delay_ms", 101), ("jitter_ms", 101)):
                for number in range(count):
                    rows.append({**base, "number": number, "metric": metric, "value": 1.0 + number, "unit": "ms"})
    return rows


def flat(value: float) -> Series:
    """A series that never changes."""
    return Series(50, value, value, value, 0, 0, None, None, None)
