"""Lab 06: packets in a queue, other queues, and the questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linklab.labs import lab06
from linklab.measure import AtOnce
from linklab.network import COURSE
from tests.grade.failures import failed_alone
from tests.grade.lab06_right import ANSWERS, NEW, PACKET_MS, RUNS, loaded
from tests.states import PLAN, reshape

from .made_runs import together


@pytest.mark.parametrize("formula", [lambda rtt: (rtt - 40) * 30_000 / 1514 / 8, lambda rtt: (rtt - 40) / 0.4])
def test_a_right_count_of_packets(formula: Callable[[float], float]) -> None:
    assert lab06.check_packets_in_queue(formula).passed


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        (lambda rtt: (rtt - 60) / PACKET_MS, "leaves out the packets in flight"),
        (lambda rtt: rtt / PACKET_MS, "whole round trip"),
        (lambda rtt: (rtt - 30) / PACKET_MS, "one way only"),
        (lambda rtt: (rtt - 40) * 30_000 / 1514, "eight times too many"),
        (lambda rtt: (rtt - 40) / PACKET_MS / 8, "an eighth"),
        (lambda rtt: (rtt - 40) * 40_000 / 1514 / 8, "rate of L1"),
        (lambda rtt: (rtt - 40) * 30_000 / 1448 / 8, "data only"),
        (lambda rtt: (rtt - 40) * 30 / 1514 / 8, "a thousandth"),
        (lambda rtt: (rtt - 40) * 30_000, "in bits"),
        (lambda rtt: rtt, "it gives"),
        (lambda rtt: None, "returns nothing"),
        (lambda rtt: 1 / 0, "raises ZeroDivisionError"),
    ],
)
def test_a_wrong_count_of_packets(formula: Callable[[float], Any], says: str) -> None:
    result = lab06.check_packets_in_queue(formula)
    assert all(check.outcome == "failed" and says in check.reason for check in result.checks), result


def with_queue(packets: int, name: str = "L2") -> Any:
    links = tuple(replace(link, queue_packets=packets) if link.name == name else link for link in COURSE.links)
    return replace(COURSE, links=links)


def test_new_networks() -> None:
    right = {50: with_queue(50), 200: with_queue(200)}
    assert lab06.check_new_networks(right).passed
    assert lab06.check_new_networks({**right, 50: replace(with_queue(50), name="mine")}).passed
    everywhere = replace(COURSE, links=tuple(replace(link, queue_packets=50) for link in COURSE.links))
    faster = replace(
        COURSE,
        links=tuple(
            replace(link, queue_packets=50, rate_mbps=15) if link.name == "L2" else link for link in COURSE.links
        ),
    )
    for wrong, says in (
        (COURSE, "nothing is changed"),
        (with_queue(50, "L1"), "the queue of L2 is 100"),
        (with_queue(200), "the queue of L2 is 200"),
        (everywhere, "something else is changed too"),
        (faster, "something else is changed too: L2"),
        (None, "not made yet"),
        (COURSE.link("L2"), "this is a Link"),
    ):
        assert says in failed_alone(lab06.check_new_networks, right, 50, wrong).reason


@pytest.mark.parametrize(
    ("packets", "wrong", "says"),
    [
        (50, 60 + 10.19, "scales the growth"),
        (200, 60 + 40.75, "scales the growth"),
        (50, 40.19, "scales the whole round trip"),
        (200, 160.75, "scales the whole round trip"),
        (50, 80.37, "with 100 packets"),
        (200, 80.37, "with 100 packets"),
        (50, 60 + 50 * PACKET_MS, "with 100 packets"),  # nearly the same number
        (200, 60 + 200 * PACKET_MS, "the delay and the full queue besides"),
        (200, 60, "idle path"),
        (200, 40 + 200 * PACKET_MS / 8, "an eighth"),
        (200, None, "not filled in yet"),
    ],
)
def test_a_wrong_rtt_with_a_new_queue(packets: int, wrong: object, says: str) -> None:
    found = failed_alone(lab06.check_new_rtt, NEW, packets, wrong)
    assert says in found.reason


def new_run(packets: int, highest_ms: float, mbps: float = 14.0) -> AtOnce:
    state = reshape(reshape(PLAN, "r2-eth2", queue_packets=packets), "r3-eth0", queue_packets=packets)
    flows = (loaded(pair, mbps, highest_ms - 1, highest_ms, state=state) for pair in ("h1-h4", "h2-h5"))
    return together(*(it for pair in flows for it in pair))


def test_new_runs() -> None:
    right = {50: new_run(50, 61.0, 9.1), 200: new_run(200, 119)}
    assert lab06.check_new_runs(right).passed
    for packets, wrong, says in (
        (50, RUNS["two"], "had a queue of 100 packets"),
        (200, new_run(50, 61.0), "had a queue of 50 packets"),
        (50, new_run(50, 80.2), "more than"),
        (50, new_run(50, 61, 15.0), "more than"),
        (200, new_run(200, 100.0), "less than"),
        (50, None, "not measured yet"),
    ):
        failed = [it for it in lab06.check_new_runs({**right, packets: wrong}).checks if not it.passed]
        assert failed
        assert all(says in check.reason for check in failed), failed


def test_one_end_of_the_link_is_not_enough() -> None:
    state = reshape(PLAN, "r2-eth2", queue_packets=50)
    run = together(*loaded("h1-h4", 9, 60, 61, state=state), *loaded("h2-h5", 9, 60, 61, state=state))
    (failed, *_) = [it for it in lab06.check_new_runs({50: run, 200: new_run(200, 119)}).checks if not it.passed]
    assert "r3-eth0 had a queue of 100" in failed.reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("report_frames", 91.1, "in flight"),
        ("report_frames", 239.7, "all of the round trip"),
        ("report_frames", 100, "the limit"),
        ("report_frames", 17.6, "an eighth"),
        ("report_beyond_mbps", 0.21, "the rate, headers and all"),
        ("report_beyond_mbps", 29.79, "the sum"),
        ("report_beyond_mbps", 9.93, "the mean"),
        ("report_beyond_mbps", 1.0383, "a ratio"),
        ("third_flow", "b", "not it"),
        ("third_flow", "c", "not it"),
        ("third_flow", "d", "not it"),
        ("small_queue", "a", "not it"),
        ("small_queue", "c", "not it"),
        ("small_queue", "d", "not it"),
        ("small_queue", None, "not answered yet"),
        ("third_flow", "e", "none of"),
    ],
)
def test_a_wrong_answer(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab06.check_questions, ANSWERS, name, wrong).reason
