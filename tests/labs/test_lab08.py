"""Lab 08's checks, as far as no recorded answer shows them: functions, trains that are not as asked, captures."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from linklab.grade import Check, Result
from linklab.labs.lab08 import functions
from linklab.labs.lab08 import rules as lab08
from linklab.measure import Capture, Origin, TrainFlow, TrainResult

from .written import unnamed_slips

Received = Sequence[float | None]

# --- Functions


def bandwidth(arrivals_s: Sequence[float], frame_bytes: int) -> list[float]:
    return [8e-6 * frame_bytes * k / (time - arrivals_s[0]) for k, time in enumerate(arrivals_s[1:], 1)]


def lazily(arrivals_s: list[float], frame_bytes: int) -> Iterator[float]:
    first = arrivals_s.pop(0)
    for k, time in enumerate(arrivals_s, 1):
        yield float(Fraction(8 * frame_bytes * k, 10**6) / (Fraction(time) - Fraction(first)))


class Bandwidth:
    def __call__(self, times: list[float], size: int) -> Any:
        late = np.array(times)
        return size * 8 * np.arange(1, len(late)) / (late[1:] - late[0]) / 1_000_000


def jitter(departures_s: Sequence[float], arrivals_s: Received) -> list[float]:
    received = sorted((came, left) for left, came in zip(departures_s, arrivals_s, strict=True) if came is not None)
    delays = [came - left for came, left in received]
    return [1000 * abs(late - early) for early, late in pairwise(delays)]


def with_numpy(departures_s: Any, arrivals_s: Any) -> Any:
    left, came = np.array(departures_s), np.array([np.nan if it is None else it for it in arrivals_s])
    order = np.argsort(came)[: np.count_nonzero(~np.isnan(came))]
    return np.abs(np.diff((came - left)[order])) * 1e3


def exactly(departures_s: Sequence[float], arrivals_s: Received) -> Any:
    both = [(Fraction(b), Fraction(a)) for a, b in zip(departures_s, arrivals_s, strict=True) if b is not None]
    delays = [b - a for b, a in sorted(both)]
    return (abs(two - one) * 1000 for one, two in pairwise(delays))


@pytest.mark.parametrize("function", [bandwidth, lazily, Bandwidth(), lambda a, size: tuple(bandwidth(a, size))])
def test_right_bandwidths_of_any_style_pass(function: Callable[..., Any]) -> None:
    assert lab08.check_bandwidth(function).passed


@pytest.mark.parametrize("function", [jitter, with_numpy, exactly, lambda s, r: map(float, jitter(s, r))])
def test_right_jitters_of_any_style_pass(function: Callable[..., Any]) -> None:
    assert lab08.check_jitter(function).passed


def test_wrong_formulas_are_called_by_their_names() -> None:
    assert unnamed_slips(lab08.check_bandwidth, functions._BANDWIDTH) == []
    assert unnamed_slips(lab08.check_jitter, functions._JITTER) == []


@pytest.mark.parametrize("factor", [8, 1 / 8, 1e6, 1e-3, 1.01])
def test_other_units_and_what_is_nearly_right_fail(factor: float) -> None:
    assert not lab08.check_bandwidth(lambda a, size: [factor * it for it in bandwidth(a, size)]).passed
    assert not lab08.check_jitter(lambda s, r: [factor * it for it in jitter(s, r)]).passed


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (None, "not written yet"),
        (lambda *_: None, "it returns nothing"),
        (lambda *_: 1 / 0, "it raises ZeroDivisionError"),
        (lambda *_: 5.0, "it returns a float"),
        (lambda *_: [1.0], "1 numbers instead of"),
        (lambda *_: ["1", "2", "3"], "it returns a list"),
    ],
)
def test_what_is_no_list_of_numbers_is_named(function: Any, says: str) -> None:
    for judge in (lab08.check_bandwidth, lab08.check_jitter):
        failed = [check for check in judge(function).checks if not check.passed]
        assert any(says in check.reason for check in failed)
        assert all(check.hint for check in failed)


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


def _failed(result: Result) -> list[Check]:
    return [check for check in result.checks if not check.passed]


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        (1518, None, "not measured yet"),
        (1518, [1, 2], "this is a list"),
        (1518, greedy(1518, payload_bytes=1518), "the whole frame was given as data"),
        (1518, greedy(1518, payload_bytes=1500), "the IP packet was given as data"),
        (1518, greedy(1518, payload_bytes=1000), "carry 1000 bytes"),
        (4370, greedy(4370, source="h2", destination="h1"), "from h2 to h1"),
        (4370, greedy(4370, gap_us=3496.0), "waits 3496 us"),
        (4370, greedy(4370, count=20), "has 20 packets"),
        (4370, replace(greedy(4370), interrupted=True), "stopped before its end"),
        (4370, replace(greedy(4370), arrival_s=(None,) * 400), "400 of 400 packets did not arrive"),
        (4370, replace(greedy(4370), arrival_s=(1.0,) * 400), "one instant"),
    ],
)
def test_trains_that_are_not_as_asked_are_named(name: int, wrong: object, says: str) -> None:
    for result in (lab08.check_runs({**RUNS, name: wrong}), lab08.check_calm({**CALM, name: wrong})):
        (failed,) = _failed(result)
        assert failed.outcome == "failed"
        assert says in failed.reason


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (greedy(4370), "the bucket is as it was"),
        (greedy(4370, 4366), "two frames pass at once"),
        (greedy(4370, 700), "too much"),
        (greedy(4370, 0, rate=9), "too little"),
    ],
)
def test_a_burst_that_is_still_there_and_another_rate_are_told(run: TrainResult, says: str) -> None:
    assert lab08.check_calm(CALM).passed
    assert any(says in check.reason for check in _failed(lab08.check_calm({**CALM, 4370: run})))


def test_a_burst_that_is_gone_too_early_is_told() -> None:
    assert lab08.check_runs(RUNS).passed
    assert "nothing passes early" in _failed(lab08.check_runs({**RUNS, 4370: greedy(4370, 0)}))[0].reason


def test_the_second_packet_stands_next_to_its_prediction() -> None:
    links_rate = lab08.predict("first", 10, sure=90)
    (found,) = lab08.check_second(RUNS, links_rate).surprises
    assert found.slip == "that is the link's rate"
    assert found.measured == pytest.approx(15.8, rel=0.02)
    for runs in (None, {4370: None}, CALM):
        assert not lab08.check_second(runs, links_rate).passed
        assert lab08.check_second(runs, links_rate).surprises == ()


@pytest.mark.parametrize(("answer", "says"), [(7981, "that is the MTU"), (7954, "first one that does not pass")])
def test_the_largest_ping_leaves_room_for_its_headers(answer: int, says: str) -> None:
    assert lab08.check_ping(7953).passed
    assert says in _failed(lab08.check_ping(answer))[0].reason


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


@pytest.mark.parametrize(
    ("inside", "outside", "says"),
    [
        (INSIDE, INSIDE, "made on h1"),
        (INSIDE, None, "no packet is measured yet"),
        (Capture("h1", "h1-eth0"), OUTSIDE, "no packet is measured yet"),
        (DAMAGED, OUTSIDE, "cannot be read"),
        (INSIDE, caught("pc1", 1514, 72), "no frame outside is longer"),
    ],
)
def test_captures_that_are_not_as_asked_are_named(inside: object, outside: object, says: str) -> None:
    assert lab08.check_overhead(38, INSIDE, OUTSIDE).passed
    (found,) = lab08.check_overhead(38, INSIDE, OUTSIDE, lab08.predict("tunnel", 24, sure=50)).surprises
    assert "leaves out the new Ethernet header" in found.slip
    for answer in (38, 0):
        (failed,) = _failed(lab08.check_overhead(answer, inside, outside))
        assert says in failed.reason


def test_who_judges_dissects_nothing() -> None:
    code = """
import pickle, sys
import linklab.grading.judge
from linklab.labs.lab08 import rules as lab08
assert lab08.check_overhead(*pickle.loads(sys.stdin.buffer.read())).passed
assert not [name for name in sys.modules if name.partition(".")[0] == "scapy"]
"""
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps((38, INSIDE, OUTSIDE)), check=True)
