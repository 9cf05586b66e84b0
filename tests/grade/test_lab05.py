"""Lab 05's checks, tried on wrong answers that look right, and on what a busy machine makes."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import pytest

from linklab.grade import Result
from linklab.labs import lab05
from tests.grade.failures import failed, the_failure
from tests.grade.way_results import H1_H4_LOADED, beside, pinged, sent

BOTTLENECKS = {"h1-h4": "L2", "h7-h9": "L3", "h1-h9": "L3"}
RTT = {"h1-h4": 60, "h7-h9": 60, "h1-h9": 80}
MBPS = {"h1-h4": 28.69, "h7-h9": 19.13, "h1-h9": 19.13}
BDP = {"h1-h4": 148.6, "h7-h9": 99.1, "h1-h9": 132.1}
ROOM = {"h1-h4": 50.5, "h7-h9": 16.5, "h1-h9": 16.5}
AFTER = {"h1-h4": 93.8, "h7-h9": 81.6, "h1-h9": 78.7}
REPORT = {
    "excess_ms": {"h1-h4": 9.61, "h7-h9": 9.4, "h1-h9": 12.32},
    "links_ms": {"h1-h4": 6.53, "h7-h9": 7.49, "h1-h9": 9.35},
    "arp_ms": {"h1-h4": 2.4, "h7-h9": 2.4, "h1-h9": 3.2},
    "percent": {"h1-h4": 96.1, "h7-h9": 94.3, "h1-h9": 90.4},
}
PINGS = {"h1-h4": pinged("h1", "h4", 60.0), "h7-h9": pinged("h7", "h9", 60.0), "h1-h9": pinged("h1", "h9", 80.001)}
TRANSFERS = {"h1-h4": sent("h1", "h4", 28.41), "h7-h9": sent("h7", "h9", 17.91), "h1-h9": sent("h1", "h9", 16.25)}
TOGETHER = beside(pinged("h1", "h4", H1_H4_LOADED, interval_s=1), sent("h1", "h4", 28.41))
ADDED_MS = statistics.fmean(it for it in H1_H4_LOADED if it is not None) - 60
SEEN = {"link": "L2", "mean_added_ms": ADDED_MS, "mean_packets": ADDED_MS / 0.40373}


@pytest.mark.parametrize(
    ("check", "right"),
    [
        (lab05.check_bottlenecks, BOTTLENECKS),
        (lab05.check_rtt, RTT),
        (lab05.check_throughput, MBPS),
        (lab05.check_bdp, BDP),
        (lab05.check_room, ROOM),
        (lab05.check_after_loss, AFTER),
        (lambda given: lab05.check_queue_seen(given, TOGETHER), SEEN),
    ],
)
def test_right_answers_pass_and_missing_or_strange_ones_fail(
    check: Callable[[object], Result], right: dict[str, Any]
) -> None:
    assert check(right).passed
    empty = check(dict.fromkeys(right))
    assert len(failed(empty)) == len(right)
    assert all(it.hint for it in failed(empty))
    for given in (None, [1, 2], "20"):
        assert check(given).outcome == "failed"
    assert "not asked for" in the_failure(check({**right, "h2-h5": 1})).reason


def test_packets_of_1500_bytes_are_near_enough() -> None:
    assert lab05.check_bdp({"h1-h4": 150, "h7-h9": 100, "h1-h9": 133.3}).passed
    assert lab05.check_room({"h1-h4": 50, "h7-h9": 16.33, "h1-h9": 16.33}).passed
    assert lab05.check_after_loss({"h1-h4": 93.3, "h7-h9": 81.4, "h1-h9": 78.6}).passed


@pytest.mark.parametrize(("name", "value"), [("h1-h4", "L1"), ("h7-h9", "L2"), ("h1-h9", "L1"), ("h1-h4", "L3")])
def test_a_wrong_bottleneck_fails_with_a_hint(name: str, value: str) -> None:
    check = the_failure(lab05.check_bottlenecks({**BOTTLENECKS, name: value}))
    assert "lowest rate decides" in check.hint


@pytest.mark.parametrize("value", ["l2", "link 2", 2, ["L2"]])
def test_what_is_no_name_of_a_link_is_no_bottleneck(value: Any) -> None:
    assert "is none of them" in the_failure(lab05.check_bottlenecks({**BOTTLENECKS, "h1-h4": value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("h1-h9", 40, "one way"),
        ("h1-h4", 30, "one way"),
        ("h1-h9", 80 / 3, "the mean of the links"),
        ("h1-h9", 20, "one link alone, L1"),
        ("h1-h9", 10, "one link alone, L1, one way"),
        ("h7-h9", 40, "one link alone, L2"),
        ("h1-h9", 60, "is missing"),
        ("h1-h9", 160, "two round trips"),
        ("h1-h4", 0.06, "seconds"),
        ("h1-h4", 0.03, "one way, in seconds"),
    ],
)
def test_a_wrong_round_trip_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab05.check_rtt({**RTT, name: value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("h1-h4", 30, "the link's rate, headers and all"),
        ("h7-h9", 20, "the link's rate, headers and all"),
        ("h1-h4", 70, "the sum of the links' rates"),
        ("h1-h9", 90, "the sum of the links' rates"),
        ("h1-h9", 90 * 1448 / 1514, "the sum of the links' rates, less headers"),
        ("h1-h4", 35, "the mean of the links' rates"),
        ("h1-h9", 30 * 1448 / 1514, "not the bottleneck"),
        ("h1-h4", 40, "not the bottleneck"),
        ("h1-h4", 28.69 / 8, "MByte/s"),
        ("h7-h9", 19.13 * 8, "eight times too much"),
        ("h1-h9", 19.13 / 1.048576, "Mebibit/s"),
    ],
)
def test_a_wrong_throughput_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab05.check_throughput({**MBPS, name: value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("h1-h4", 74.3, "one way"),
        ("h1-h4", 198.1, "the rate of L1"),
        ("h7-h9", 148.6, "the rate of L2"),
        ("h1-h9", 198.1, "the rate of L2"),
        ("h1-h9", 132.1 * 8, "eight times too many"),
        ("h7-h9", 99.1 / 8, "eight times too few"),
        ("h1-h9", 0.2, "in MB"),
        ("h1-h9", 1.6, "in Mbit"),
        ("h1-h9", 200.0, "1000 bytes"),
        ("h1-h4", 66.05 + 99.07, "the sum of the links' products"),
    ],
)
def test_a_wrong_bdp_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab05.check_bdp({**BDP, name: value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("h1-h4", 100, "the whole limit"),
        ("h7-h9", 33, "the whole limit"),
        ("h1-h4", 49.54, "in flight"),
        ("h1-h4", 80, "ms off packets"),
        ("h1-h9", 23, "ms off packets"),
    ],
)
def test_a_wrong_room_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab05.check_room({**ROOM, name: value})).reason


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("h1-h4", 0.938, "share of 1"),
        ("h7-h9", 70, "leaves the queue out"),
        ("h1-h9", 112.5, "before the loss"),
        ("h1-h4", 67, "halves the window"),
        ("h1-h4", 117.1, "whole limit"),
        ("h7-h9", 35, "gives up"),
    ],
)
def test_a_wrong_window_after_a_loss_is_told_by_name(name: str, value: float, says: str) -> None:
    assert says in the_failure(lab05.check_after_loss({**AFTER, name: value})).reason


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (60, "an idle path"),
        (30, "one way, and idle"),
        (100.37, "the full queue besides"),
        (140.7, "both directions"),
        (100.75, "both directions"),
        (70.29, "the queue of L1"),
        (40.37, "the queue alone"),
        (0.0804, "seconds"),
        (None, "not filled in yet"),
        ("80", "is a text"),
    ],
)
def test_a_wrong_highest_round_trip_is_told_by_name(value: Any, says: str) -> None:
    assert says in the_failure(lab05.check_loaded_prediction(value)).reason


@pytest.mark.parametrize("value", [80.37, 80, 80.0])
def test_the_right_highest_round_trip_passes(value: float) -> None:
    assert lab05.check_loaded_prediction(value).passed


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("link", "L1", "L1 is not it"),
        ("link", "L3", "L3 is not it"),
        ("mean_added_ms", ADDED_MS + 60, "the mean RTT itself"),
        ("mean_added_ms", 20.1, "the fullest queue"),
        ("mean_added_ms", ADDED_MS + 30, "only one way"),
        ("mean_packets", (ADDED_MS + 20) / 0.40373, "in flight"),
        ("mean_packets", (ADDED_MS + 60) / 0.40373, "the idle way"),
        ("mean_packets", ADDED_MS * 0.40373, "multiplies"),
        ("mean_packets", 100, "the limit of the queue"),
    ],
)
def test_a_wrong_reading_of_the_queue_is_told_by_name(name: str, value: Any, says: str) -> None:
    assert says in the_failure(lab05.check_queue_seen({**SEEN, name: value}, TOGETHER)).reason


# --- the report's numbers


def report_with(key: str, name: str, value: Any) -> dict[str, Any]:
    return {**REPORT, key: {**REPORT[key], name: value}}


def test_the_report_s_numbers() -> None:
    assert lab05.check_report(REPORT).passed
    assert len(failed(lab05.check_report(dict.fromkeys(REPORT)))) == len(REPORT)
    assert len(failed(lab05.check_report({key: dict.fromkeys(RTT) for key in REPORT}))) == 12


@pytest.mark.parametrize(
    ("key", "name", "value", "says"),
    [
        ("excess_ms", "h1-h4", 39.606, "one way off"),
        ("excess_ms", "h1-h9", 15.4, "in percent"),
        ("links_ms", "h1-h4", 3.27, "the mean of the links"),
        ("links_ms", "h7-h9", 4.678, "the worst link alone"),
        ("links_ms", "h1-h9", 1.855, "the best link alone"),
        ("links_ms", "h1-h4", 66.533, "the sum of their RTTs"),
        ("arp_ms", "h1-h4", 60, "the first ping takes longer"),
        ("arp_ms", "h1-h9", 1.6, "one way"),
        ("arp_ms", "h1-h4", 2.5, "divides by 24"),
        ("percent", "h1-h4", 91.9, "of the bottleneck's rate"),
        ("percent", "h1-h9", 0.904, "share of 1"),
        ("percent", "h7-h9", 5.7, "what is missing"),
    ],
)
def test_a_wrong_number_of_the_report_is_told_by_name(key: str, name: str, value: float, says: str) -> None:
    assert says in the_failure(lab05.check_report(report_with(key, name, value))).reason


# --- measurements
