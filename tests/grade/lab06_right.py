"""Lab 06's right answers, and runs that go with them."""

from __future__ import annotations

from typing import Any

from linklab.analysis import jain_index
from linklab.labs import lab06
from linklab.network import goodput_ceiling_mbps

from .made_runs import pinged, together, transfer

L2 = goodput_ceiling_mbps(30)
L3 = goodput_ceiling_mbps(20)
PACKET_MS = 1514 * 8 / 30_000
BOTTLENECKS = {key: "L3" if key == "apart h8-h9" else "L2" for key in lab06.ASKED}
SHARES = {
    "two": L2 / 2,
    "three": L2 / 3,
    "crossing h1-h4": L2 / 2,
    "crossing h7-h9": L2 / 2,
    "apart h1-h4": L2,
    "apart h8-h9": L3,
}
FULL = {"h1-h4": 40 + 100 * PACKET_MS, "h7-h9": 40 + 100 * PACKET_MS, "h8-h9": 10 + 33 * 1514 * 8 / 20_000}
NEW = {50: 40 + 50 * PACKET_MS, 200: 40 + 200 * PACKET_MS}
ANSWERS = {"report_frames": 140.65, "report_beyond_mbps": 1.098, "third_flow": "a", "small_queue": "b"}


def loaded(pair: str, mbps: float, mean_ms: float = 72.0, highest_ms: float = 79.8, **more: Any) -> list[Any]:
    return [pinged(pair, mean_ms, highest_ms, **more), transfer(pair, mbps, **more)]


RUNS = {
    "two": together(*loaded("h1-h4", 12.0), *loaded("h2-h5", 16.5)),
    "three": together(*loaded("h1-h4", 12.0), *loaded("h2-h5", 9.0), *loaded("h3-h6", 7.5)),
    "crossing": together(*loaded("h1-h4", 13.5), *loaded("h7-h9", 15.0)),
    "apart": together(*loaded("h1-h4", 28.4), *loaded("h8-h9", 19.08, 25.8, 29.6)),
}
FAIRNESS = {
    "two": jain_index([12, 16.5]),
    "three": jain_index([12, 9, 7.5]),
    "crossing": jain_index([13.5, 15]),
    "apart": jain_index([28.4, 19.08]),
}
QUEUEING = dict.fromkeys(RUNS, 12.0)
