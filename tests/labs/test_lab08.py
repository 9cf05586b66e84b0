"""Lab 08's checks, as far as no recorded answer shows them: functions, trains that are not as asked, captures."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import pytest

from linklab.labs.lab08 import functions
from linklab.labs.lab08 import rules as lab08
from linklab.measure import Capture, Origin, TrainFlow, TrainResult
from tests.grade.failures import the_failure
from tests.labs.predicted import commit

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


def test_right_functions_of_any_style_pass() -> None:
    assert functions.check_bandwidth(bandwidth).passed
    for function in (jitter, lambda s, r: map(float, jitter(s, r))):
        assert functions.check_jitter(function).passed


def test_who_stumbles_over_a_lost_packet_is_told_what_it_looks_like() -> None:
    result = functions.check_jitter(lambda s, r: [1000 * abs((r[k] - s[k]) - (r[k - 1] - s[k - 1])) for k in (1, 2, 3)])
    (lost,) = [check for check in result.checks if "TypeError" in check.reason]
    assert any("None as its arrival" in hint for hint in (lost.hint, *lost.further))


# --- Trains


def greedy(size: int, bucket: int = 1600) -> TrainResult:
    """As HTB lets packets through: packet k waits for what those before it took beyond the bucket."""
    arrivals = [0.001 + max(0.0, 8e-7 * (k * (size - 4) - bucket)) + 3e-5 * min(k, 1) for k in range(400)]
    flow = TrainFlow("h1", "h2", count=400, payload_bytes=size - 46)
    return TrainResult(flow, Origin("t", "7"), tuple(0.0 for _ in arrivals), tuple(arrivals), 0)


RUNS = {size: greedy(size) for size in (100, 1518, 4370, 7999)}
CALM = {size: greedy(size, 0) for size in (1518, 4370, 7999)}


@pytest.mark.parametrize("arrival_s", [None, 1.0], ids=["nothing arrived", "all at one instant"])
def test_a_train_of_which_nothing_can_be_computed_is_refused(arrival_s: float | None) -> None:
    train = replace(greedy(4370), arrival_s=(arrival_s,) * 400)
    for result in (lab08.check_runs({**RUNS, 4370: train}), lab08.check_calm({**CALM, 4370: train})):
        assert the_failure(result).description == "train of frames of 4370 bytes"


def test_a_train_that_lost_one_packet_or_was_stopped_is_not_judged() -> None:
    train = greedy(4370)
    for changed in (replace(train, arrival_s=(None, *train.arrival_s[1:])), replace(train, interrupted=True)):
        assert the_failure(lab08.check_runs({**RUNS, 4370: changed})).description == "train of frames of 4370 bytes"


def test_the_second_packet_stands_next_to_its_prediction() -> None:
    commit(lab08.PREDICTIONS, "first", 10)
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


def test_a_capture_that_was_damaged_is_refused() -> None:
    assert the_failure(lab08.check_overhead(38, DAMAGED, OUTSIDE)).description == "the capture inside"


def test_right_answers_pass_and_stand_next_to_what_was_predicted() -> None:
    for result in (lab08.check_runs(RUNS), lab08.check_calm(CALM), lab08.check_ping(7953)):
        assert result.passed, str(result)
    commit(lab08.PREDICTIONS, "tunnel", 24)
    (found,) = lab08.check_overhead(38, INSIDE, OUTSIDE).surprises
    assert "leaves out the new Ethernet header" in found.slip


def test_who_judges_dissects_nothing() -> None:
    code = """
import pickle, sys
import linklab.grading.judge
from linklab.labs.lab08 import functions
from linklab.labs.lab08 import rules as lab08
assert lab08.check_overhead(*pickle.loads(sys.stdin.buffer.read())).passed
assert not [name for name in sys.modules if name.partition(".")[0] == "scapy"]
"""
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps((38, INSIDE, OUTSIDE)), check=True)
