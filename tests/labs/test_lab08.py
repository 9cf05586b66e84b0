"""Lab 08's checks, as far as no recorded answer shows them: functions, trains that are not as asked, captures."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from linklab.grade import Result
from linklab.labs.lab08 import rules as lab08
from linklab.measure import Capture, Origin, TrainFlow, TrainResult
from tests.grade.failures import failed

from .refused import Table, refuses, wrong

Received = Sequence[float | None]

# --- Functions


def bandwidth(arrivals_s: list[float], frame_bytes: int) -> Iterator[float]:
    first = arrivals_s.pop(0)
    for k, time in enumerate(arrivals_s, 1):
        yield 8e-6 * frame_bytes * k / (time - first)


def jitter(departures_s: Sequence[float], arrivals_s: Received) -> list[float]:
    received = sorted((came, left) for left, came in zip(departures_s, arrivals_s, strict=True) if came is not None)
    delays = [came - left for came, left in received]
    return [1000 * abs(late - early) for early, late in pairwise(delays)]


def with_numpy(departures_s: Any, arrivals_s: Any) -> Any:
    left, came = np.array(departures_s), np.array([np.nan if it is None else it for it in arrivals_s])
    order = np.argsort(came)[: np.count_nonzero(~np.isnan(came))]
    return np.abs(np.diff((came - left)[order])) * 1e3


def test_right_functions_of_any_style_pass() -> None:
    assert lab08.check_bandwidth(bandwidth).passed
    for function in (jitter, with_numpy, lambda s, r: map(float, jitter(s, r))):
        assert lab08.check_jitter(function).passed


def test_who_stumbles_over_a_lost_packet_is_told_what_it_looks_like() -> None:
    result = lab08.check_jitter(lambda s, r: [1000 * abs((r[k] - s[k]) - (r[k - 1] - s[k - 1])) for k in (1, 2, 3)])
    (lost,) = [check for check in result.checks if "TypeError" in check.reason]
    assert any("None as its arrival" in hint for hint in (lost.hint, *lost.further))


# --- Trains


def greedy(size: int, bucket: int = 1600, *, count: int = 400, rate: float = 10, **flow: Any) -> TrainResult:
    """As HTB lets packets through: packet k waits for what those before it took beyond the bucket."""
    on_link = size - 4
    arrivals = [0.001 + max(0.0, 8e-6 * (k * on_link - bucket) / rate) + 3e-5 * min(k, 1) for k in range(count)]
    settings: dict[str, Any] = {"source": "h1", "destination": "h2", "count": count, "payload_bytes": size - 46} | flow
    return TrainResult(TrainFlow(**settings), Origin("t", "7"), tuple(0.0 for _ in arrivals), tuple(arrivals), 0)


RUNS = {size: greedy(size) for size in (100, 1518, 4370, 7999)}
CALM = {size: greedy(size, 0) for size in (1518, 4370, 7999)}


TRAINS = [
    (1518, greedy(1518, payload_bytes=1518), "payload_bytes=1518: that is the size of the frame"),
    (1518, greedy(1518, payload_bytes=1500), "payload_bytes=1500: that is the size of the IP packet"),
    (1518, greedy(1518, payload_bytes=1000), "payload_bytes=1000"),
    (4370, greedy(4370, source="h2", destination="h1"), "h2-h1 was measured in the opposite direction"),
    (4370, greedy(4370, gap_us=3496.0), "gap_us=3496"),
    (4370, greedy(4370, count=20), "count=20"),
    (4370, replace(greedy(4370), arrival_s=(None,) * 400), "400 of 400 packets did not arrive"),
    (4370, replace(greedy(4370), arrival_s=(1.0,) * 400), "one instant"),
]


@pytest.mark.parametrize(("size", "run", "says"), TRAINS)
def test_trains_that_are_not_as_asked_are_named(size: int, run: object, says: str) -> None:
    refuses(lab08.check_runs, ({**RUNS, size: run},), says)
    assert len(failed(lab08.check_calm({**CALM, size: run}))) == 1


def test_the_second_packet_stands_next_to_its_prediction() -> None:
    lab08.check_predicted(lab08.predict("first", 10, sure=90))
    (found,) = lab08.check_second(RUNS).surprises
    assert found.slip == "that is the link's rate"
    assert found.measured == pytest.approx(15.8, rel=0.02)
    for runs in (None, {4370: None}, CALM):
        assert not lab08.check_second(runs).passed
        assert lab08.check_second(runs).surprises == ()


def test_the_network_with_a_narrow_link_has_a_router() -> None:
    assert [link.mtu_bytes for link in lab08.NARROW.links] == [1500, 1400]


# --- Captures


def caught(node: str, *sizes: int) -> Capture:
    from scapy.layers.l2 import Ether
    from scapy.utils import PcapWriter

    file = BytesIO()
    writer = PcapWriter(file, linktype=1)
    for size in sizes:
        writer.write(Ether() / bytes(size - 14))
    return Capture(node, f"{node}-eth0", file.getvalue())


INSIDE, OUTSIDE = caught("h1", 1514, 1514), caught("pc1", 1552, 1552)
DAMAGED = Capture("h1", "h1-eth0", INSIDE.pcap[:24] + struct.pack("<IIII", 0, 0, 2**32 - 1, 2**32 - 1))


TRUNCATED = caught("pc1", 1514, 72)
WRONG: Table = {
    lab08.check_calm: [
        ({**CALM, 4370: greedy(4370)}, "the bucket still has its old size"),
        ({**CALM, 4370: greedy(4370, 4366)}, "two frames pass at once"),
        ({**CALM, 4370: greedy(4370, 700)}, "too much"),
        ({**CALM, 4370: greedy(4370, 0, rate=9)}, "too little"),
    ],
    lab08.check_runs: [({**RUNS, 4370: greedy(4370, 0)}, "no packet passes early")],
    lab08.check_overhead: [
        *((answer, INSIDE, INSIDE, "made on h1") for answer in (38, 0)),
        (38, INSIDE, None, "it has no packet yet"),
        (38, Capture("h1", "h1-eth0"), OUTSIDE, "it has no packet yet"),
        (38, DAMAGED, OUTSIDE, "cannot be read"),
        (38, INSIDE, TRUNCATED, "no frame outside is longer"),
    ],
}


@wrong(WRONG)
def test_what_is_wrong_is_refused_and_named(check: Callable[..., Result], given: Any, says: str) -> None:
    refuses(check, given, says)


def test_right_answers_pass_and_stand_next_to_what_was_predicted() -> None:
    for result in (lab08.check_runs(RUNS), lab08.check_calm(CALM), lab08.check_ping(7953)):
        assert result.passed, str(result)
    lab08.check_predicted(lab08.predict("tunnel", 24, sure=50))
    (found,) = lab08.check_overhead(38, INSIDE, OUTSIDE).surprises
    assert "leaves out the new Ethernet header" in found.slip


def test_who_judges_dissects_nothing() -> None:
    code = """
import pickle, sys
import linklab.grading.judge
from linklab.labs.lab08 import rules as lab08
assert lab08.check_overhead(*pickle.loads(sys.stdin.buffer.read())).passed
assert not [name for name in sys.modules if name.partition(".")[0] == "scapy"]
"""
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps((38, INSIDE, OUTSIDE)), check=True)
