"""Lab 04's checks, tried on wrong answers that look right, and on what a busy machine makes."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import pytest

from linklab.grade import Result
from linklab.labs import lab04
from tests.grade.failures import failed, the_failure
from tests.grade.way_results import (
    L1_LOADED,
    L1_TOGETHER,
    L1_TRANSFER,
    sent,
)

RTT = {"L1": 20, "L2": 40, "L3": 20}
MBPS = {"L1": 38.26, "L2": 28.69, "L3": 19.13}
FRAME = {"L1": 0.3028, "L2": 0.4037, "L3": 0.6056, "ping on L3": 0.0392}
QUEUE = {"drain_ms": 20.29, "waiting_packets": 34, "highest_rtt_ms": 30.29}
ARP = {"first_rtt_ms": 40, "mean_rtt_ms": 20.8, "left_ms": 1.055}
HEADERS = {"frame_bytes": 1513.9, "headers_percent": 4.36, "carried_mbps": 39.87}
L1_MEAN = statistics.fmean(L1_LOADED)
SEEN = {"mean_added_ms": L1_MEAN - 20, "mean_packets": (L1_MEAN - 20) / 0.3028}


@pytest.mark.parametrize(
    ("check", "right"),
    [
        (lab04.check_rtt, RTT),
        (lab04.check_throughput, MBPS),
        (lab04.check_serialisation, FRAME),
        (lab04.check_queue, QUEUE),
        (lab04.check_arp, ARP),
        (lambda given: lab04.check_headers(given, {"L1": L1_TRANSFER}), HEADERS),
        (lambda given: lab04.check_queue_seen(given, L1_TOGETHER), SEEN),
    ],
)
def test_right_numbers_pass_and_missing_or_strange_ones_fail(
    check: Callable[[object], Result], right: dict[str, float]
) -> None:
    assert check(right).passed
    assert check({name: round(value, 2) for name, value in right.items()}).passed
    empty = check(dict.fromkeys(right))
    assert len(failed(empty)) == len(right)
    assert all(it.hint for it in failed(empty))
    for given in (None, [1, 2], "20"):
        assert check(given).outcome == "failed"
    assert "not asked for" in the_failure(check({**right, "L4": 1})).reason
    assert "is a text" in the_failure(check({**right, next(iter(right)): "20"})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("L1", 10, "one way"),
        ("L2", 20, "one way"),
        ("L1", 40, "two round trips"),
        ("L2", 0.04, "seconds"),
        ("L3", 20_000, "microseconds"),
        ("L3", 0.01, "one way, in seconds"),
    ],
)
def test_a_wrong_round_trip_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab04.check_rtt({**RTT, name: value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("L1", 40, "the link's rate, headers and all"),
        ("L2", 30, "the link's rate, headers and all"),
        ("L1", 38.26 / 8, "MByte/s"),
        ("L3", 19.13 * 8, "eight times too much"),
        ("L1", 38.26 / 1.048576, "Mebibit/s"),
        ("L2", 28.69e6, "bit/s"),
        ("L2", 30 / 8, "rate in MByte/s"),
    ],
)
def test_a_wrong_throughput_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab04.check_throughput({**MBPS, name: value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("L1", 1514 / 40_000, "bytes for bits"),
        ("L2", 403.7, "in µs"),
        ("L3", 0.0006056, "in seconds"),
        ("L1", 2 * 0.3028, "there and back"),
        ("L2", 20.4037, "the link's delay"),
        ("L1", 1448 * 8 / 40_000, "payload alone"),
        ("ping on L3", 56 * 8 / 20_000, "a ping's data alone"),
        ("L3", 1 / 0.6056, "how many frames"),
    ],
)
def test_a_wrong_serialisation_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab04.check_serialisation({**FRAME, name: value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("drain_ms", 20.29 / 8, "bytes for bits"),
        ("drain_ms", 0.3028, "one frame"),
        ("drain_ms", 30.29, "the link's delay in it"),
        ("waiting_packets", 67, "the whole limit"),
        ("waiting_packets", 33.02, "in flight"),
        ("waiting_packets", 66.05, "bandwidth-delay product"),
        ("highest_rtt_ms", 20, "the idle link"),
        ("highest_rtt_ms", 40.29, "counts 10 ms twice"),
        ("highest_rtt_ms", 60.58, "both directions"),
        ("highest_rtt_ms", 40.58, "both directions"),
        ("highest_rtt_ms", 20.29, "the way there alone"),
    ],
)
def test_a_wrong_queue_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab04.check_queue({**QUEUE, name: value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("first_rtt_ms", 20, "without ARP"),
        ("first_rtt_ms", 30, "one way"),
        ("mean_rtt_ms", 20, "without ARP"),
        ("mean_rtt_ms", 40, "the first alone"),
        ("mean_rtt_ms", 21.6, "adds all 40 ms"),
        ("left_ms", 1.855, "ARP in it still"),
        ("left_ms", 0.8, "ARP's part"),
    ],
)
def test_a_wrong_answer_about_arp_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab04.check_arp({**ARP, name: value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("frame_bytes", 1500, "MTU"),
        ("frame_bytes", 1448, "payload alone"),
        ("frame_bytes", 1000, "what simpleperf gives"),
        ("headers_percent", 0.0436, "share of 1"),
        ("headers_percent", 95.64, "share of data"),
        ("headers_percent", 100 * 66 / 1448, "share of the data"),
        ("headers_percent", 100 * 52 / 1514, "Ethernet's header is missing"),
        ("headers_percent", 100 * (1 - 38.05 / 40), "TCP's start"),
        ("carried_mbps", 39.87 / 8, "bytes for bits"),
        ("carried_mbps", 38.05, "without headers"),
        ("carried_mbps", 39.87 / 1.048576, "1,048,576"),
    ],
)
def test_a_wrong_share_of_headers_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab04.check_headers({**HEADERS, name: value}, {"L1": L1_TRANSFER})).reason


@pytest.mark.parametrize("transfers", [None, {}, {"L1": None}, {"L1": sent("r1", "r2", 38.0)}])
def test_without_counters_nothing_can_be_said_of_headers(transfers: Any) -> None:
    assert lab04.check_headers(HEADERS, transfers).outcome == "failed"


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("mean_added_ms", L1_MEAN, "the mean RTT itself"),
        ("mean_added_ms", 10.3, "the fullest queue"),
        ("mean_added_ms", L1_MEAN - 10, "only one way"),
        ("mean_packets", L1_MEAN / 0.3028, "the idle way in it"),
        ("mean_packets", (L1_MEAN - 10) / 0.3028, "in flight"),
        ("mean_packets", (L1_MEAN - 20) * 0.3028, "multiplies"),
        ("mean_packets", 8 * (L1_MEAN - 20) / 0.3028, "eight times too many"),
        ("mean_packets", 67, "the limit of the queue"),
    ],
)
def test_a_wrong_reading_of_the_queue_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab04.check_queue_seen({**SEEN, name: value}, L1_TOGETHER)).reason


def test_without_pings_beside_a_transfer_nothing_can_be_read() -> None:
    result = lab04.check_queue_seen(SEEN, None)
    assert len(failed(result)) == 2
    assert "first" in failed(result)[0].hint


# --- the student's function


def right_summary(rtt_ms: list[float | None]) -> dict[str, float]:
    seen = [rtt for rtt in rtt_ms if rtt is not None]
    mean = sum(seen) / len(seen)
    mdev = max(0.0, sum(rtt**2 for rtt in seen) / len(seen) - mean**2) ** 0.5
    return {"min": min(seen), "mean": mean, "max": max(seen), "mdev": mdev}


def changed(
    **keys: Callable[[list[float], list[float | None]], float],
) -> Callable[[list[float | None]], dict[str, Any]]:
    """The right function, but for these keys: each is given the answered ones, and all."""

    def summary(rtt_ms: list[float | None]) -> dict[str, Any]:
        seen = [rtt for rtt in rtt_ms if rtt is not None]
        return {**right_summary(rtt_ms), **{key: how(seen, rtt_ms) for key, how in keys.items()}}

    return summary


def test_the_right_function_passes_in_several_forms() -> None:
    assert lab04.check_summary(right_summary).passed
    assert lab04.check_summary(changed(mdev=lambda seen, _: statistics.pstdev(seen))).passed
    assert lab04.check_summary(lambda rtts: {key: round(it, 3) for key, it in right_summary(rtts).items()}).passed


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (changed(mdev=lambda seen, _: statistics.stdev(seen) if seen[1:] else 0.0), "one less"),
        (
            changed(mdev=lambda seen, _: statistics.fmean(abs(it - statistics.fmean(seen)) for it in seen)),
            "mean of the distances",
        ),
        (changed(mdev=lambda seen, _: statistics.pvariance(seen)), "the variance"),
        (changed(mdev=lambda seen, _: max(seen) - min(seen)), "the range"),
        (changed(mean=lambda seen, rtts: sum(seen) / len(rtts)), "counts as 0"),
        (changed(mean=lambda seen, _: statistics.median(seen)), "the median"),
        (changed(mean=lambda seen, _: sum(seen)), "the sum"),
        (changed(mean=lambda seen, _: (min(seen) + max(seen)) / 2), "halfway"),
        (changed(min=lambda seen, rtts: 0.0 if None in rtts else min(seen)), "counts as 0"),
        (changed(min=lambda seen, _: seen[0]), "the first"),
        (changed(max=lambda seen, _: seen[-1]), "the last"),
        (changed(max=lambda _, rtts: max(rtts)), "TypeError"),  # type: ignore[type-var, arg-type, return-value]
        (changed(mean=lambda *_: None), "not filled in yet"),  # type: ignore[arg-type]
        (changed(mean=lambda *_: "20"), "it returns a str"),  # type: ignore[arg-type]
        (lambda rtts: None, "returns a NoneType"),
        (lambda rtts: {"min": 1}, "'mean'"),
        (None, "not written yet"),
        (3, "a int"),
    ],
)
def test_a_wrong_function_is_told_by_name(function: Any, says: str) -> None:
    wrong = failed(lab04.check_summary(function))
    assert wrong
    assert any(says in check.reason for check in wrong)
    assert all(check.hint for check in wrong)


# --- measurements
