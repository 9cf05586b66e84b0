"""Lab 06's checks: right answers, wrong ones that look right, and runs that are not what they should be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from linklab.analysis import jain_index
from linklab.grade import Check, Result, lab06
from linklab.measure import AtOnce
from linklab.network import COURSE, goodput_ceiling_mbps
from tests.states import PLAN, reshape

from .made_runs import fidelity, pinged, together, transfer

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


def failed_alone(check: Callable[[Any], Result], right: Mapping[Any, Any], name: Any, wrong: object) -> Check:
    """One answer of several is wrong: its own check fails with a hint, and no other does."""
    result = check({**right, name: wrong})
    (failed,) = [it for it in result.checks if not it.passed]
    assert failed.outcome == "failed"
    assert failed.hint
    return failed


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


def test_right_answers_pass() -> None:
    assert lab06.check_bottlenecks(BOTTLENECKS).passed
    assert lab06.check_shares(SHARES).passed
    assert lab06.check_shares({key: round(value, 1) for key, value in SHARES.items()}).passed
    assert lab06.check_full_rtt(FULL).passed
    assert lab06.check_full_rtt({"h1-h4": 80, "h7-h9": 80.4, "h8-h9": 30}).passed
    assert lab06.check_runs(RUNS).passed
    assert lab06.check_fairness(FAIRNESS, RUNS).passed
    assert lab06.check_queueing(QUEUEING, RUNS).passed
    assert lab06.check_new_rtt(NEW).passed
    assert lab06.check_new_rtt({50: 60, 200: 121}).passed
    assert lab06.check_questions(ANSWERS).passed


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("two", "L1", "less to give to each flow"),
        ("three", "L3", "does not cross L3"),
        ("crossing h7-h9", "L3", "slowest of the way when it is empty"),
        ("crossing h7-h9", "L1", "does not cross L1"),
        ("apart h8-h9", "L2", "does not cross L2"),
        ("apart h1-h4", "L1", "less to give"),
        ("two", "l2", "choose one of L1, L2, L3"),
        ("two", 2, "choose one of L1, L2, L3"),
        ("two", None, "write it as a text"),
    ],
)
def test_a_wrong_bottleneck(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab06.check_bottlenecks, BOTTLENECKS, name, wrong).hint


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("two", 15, "headers and all"),
        ("two", L2, "sum of all connections"),
        ("two", 30, "whole rate"),
        ("two", 20, "a part of L1"),
        ("two", goodput_ceiling_mbps(40) / 2, "a part of L1, less headers"),
        ("two", L2 / 16, "MByte/s"),
        ("two", 4 * L2, "eight times too much"),
        ("two", L2 * 500, "kbit/s"),
        ("three", 10, "headers and all"),
        ("three", L2 / 2, "more than theory says"),
        ("crossing h7-h9", L3, "what L3 carries, less headers"),
        ("crossing h7-h9", 20, "what L3 carries"),
        ("crossing h7-h9", 10, "a part of L3"),
        ("crossing h7-h9", 15, "headers and all"),
        ("apart h8-h9", L3 / 2, "as if a link were shared"),
        ("apart h8-h9", 10, "as if a link were shared"),
        ("apart h8-h9", 20, "headers and all"),
        ("apart h1-h4", L2 / 2, "as if a link were shared"),
        ("apart h1-h4", goodput_ceiling_mbps(40), "what L1 carries"),
        ("two", "14.3", "is a text"),
        ("two", None, "not filled in yet"),
    ],
)
def test_a_wrong_share(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab06.check_shares, SHARES, name, wrong).reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("h1-h4", 60, "idle path"),
        ("h1-h4", 60 + 100 * PACKET_MS, "the delay and the full queue besides"),
        ("h1-h4", 60 + 200 * PACKET_MS, "in both directions"),
        ("h1-h4", 60 + 2 * (100 * PACKET_MS - 20), "in both directions"),
        ("h1-h4", 100 * PACKET_MS, "the queue alone"),
        ("h1-h4", 40 + 100 * PACKET_MS / 8, "an eighth"),
        ("h1-h4", 40 + 100 * PACKET_MS * 8, "too long"),
        ("h1-h4", 60 + 100 * PACKET_MS / 8, "an eighth"),
        ("h1-h4", 30 + 100 * PACKET_MS, "one way"),
        ("h1-h4", FULL["h1-h4"] / 1000, "seconds"),
        ("h7-h9", 80.37 + 9.99, "queues of all links"),
        ("h7-h9", 60 + 9.98, "queue of L3"),
        ("h7-h9", 60 + 40.37 + 19.98, "all queues, on top of the delays"),
        ("h8-h9", 40, "the delay and the full queue besides"),
        ("h8-h9", 20, "idle path"),
        ("h8-h9", None, "not filled in yet"),
    ],
)
def test_a_wrong_rtt(name: str, wrong: object, says: str) -> None:
    found = failed_alone(lab06.check_full_rtt, FULL, name, wrong)
    assert says in found.reason


@pytest.mark.parametrize("check", [lab06.check_bottlenecks, lab06.check_shares, lab06.check_full_rtt])
@pytest.mark.parametrize(("given", "says"), [(None, "not filled in yet"), ([1, 2], "this is a list"), (14, "an int")])
def test_what_is_no_dictionary(check: Callable[[object], Result], given: object, says: str) -> None:
    (one,) = check(given).checks
    assert says.removeprefix("an ") in one.reason
    assert "write it as {" in one.hint


def test_a_misspelt_name_is_named() -> None:
    result = lab06.check_shares({**SHARES, "tow": 3})
    assert "'tow' was not asked for" in result.checks[-1].reason


def changed(name: str, run: object) -> list[Check]:
    """What did not pass with another run in the place of a good one."""
    return [it for it in lab06.check_runs({**RUNS, name: run}).checks if not it.passed]


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (None, "not measured yet"),
        ([1], "this is a list"),
        (RUNS["two"].results[0], "this is a PingResult"),
        (together(*loaded("h1-h4", 28.4)), "h1-h4 ran alone"),
        (together(*loaded("h1-h4", 14), *loaded("h3-h6", 14)), "no transfer of h2-h5"),
        (together(*loaded("h1-h4", 14), *loaded("h5-h2", 14)), "h2-h5 was sent backwards"),
        (RUNS["three"], "h3-h6 does not belong here"),
        (together(transfer("h1-h4", 14), transfer("h2-h5", 14)), "no pings of h1-h4"),
        (together(*loaded("h1-h4", 14), pinged("h2-h5", 72, 80), transfer("h2-h5", [7, 7])), "h2-h5 has 2 connections"),
        (together(*loaded("h1-h4", 14), pinged("h2-h5", 72, 80), transfer("h2-h5", 14, duration_s=5)), "ran for 5 s"),
        (together(*loaded("h1-h4", 14), pinged("h2-h5", 72, 80), transfer("h2-h5", 14, start_s=5)), "began 5 s late"),
        (together(*loaded("h1-h4", 14), pinged("h2-h5", 72, 80, count=5), transfer("h2-h5", 14)), "lasted 5 s"),
        (replace(RUNS["two"], interrupted=True), "stopped before its end"),
    ],
)
def test_a_run_that_is_another(run: object, says: str) -> None:
    (failed,) = changed("two", run)
    assert failed.outcome == "failed"
    assert says in failed.reason
    assert failed.hint


@pytest.mark.parametrize(
    ("first", "second", "rtt_ms", "says"),
    [
        (15.0, 15.0, 79.8, "through L2"),  # the rate, headers and all: more than there is
        (7.0, 7.0, 79.8, "through L2"),
        (28.2, 0.2, 79.8, "throughput of h1-h4"),
        (14.0, 14.4, 60.0, "highest RTT of h1-h4"),
        (14.0, 14.4, 100.4, "highest RTT of h1-h4"),
        (14.0, 14.4, 96.8, "highest RTT of h1-h4"),  # the report's network
        (14.0, 14.4, 40.2, "highest RTT of h1-h4"),  # one way
    ],
)
def test_a_run_with_numbers_that_cannot_be(first: float, second: float, rtt_ms: float, says: str) -> None:
    run = together(*loaded("h1-h4", first, 60, rtt_ms), *loaded("h2-h5", second))
    failed = changed("two", run)
    assert any(says in check.description for check in failed)
    assert {check.outcome for check in failed} == {"failed"}


def test_the_network_as_read_back_decides() -> None:
    """A rate of 20 Mbit/s at L2 gives other numbers, and they are right for it; for the plan they are not."""
    slower = reshape(reshape(PLAN, "r2-eth2", rate_mbps=20.0), "r3-eth0", rate_mbps=20.0)
    full_ms = 40 + 100 * 1514 * 8 / 20_000
    flows = [("h1-h4", 9.0), ("h2-h5", 9.9)]
    read = together(*(it for pair, mbps in flows for it in loaded(pair, mbps, 90, full_ms - 1, state=slower)))
    assert changed("two", read) == []
    planned = together(*(it for pair, mbps in flows for it in loaded(pair, mbps, 90, full_ms - 1)))
    assert changed("two", planned)


def test_a_busy_machine_is_blamed_only_for_what_it_can_do() -> None:
    def run(mbps: float, rtt_ms: float, **how: Any) -> AtOnce:
        flows = (*loaded("h1-h4", mbps, 70, rtt_ms, clock="real"), *loaded("h2-h5", mbps, 70, 79.8, clock="real"))
        return together(*flows, seen=fidelity("real", **how))

    assert changed("two", run(13.9, 80, busy=True)) == []
    slow = changed("two", run(9, 140, busy=True))
    assert {check.outcome for check in slow} == {"inconclusive"}
    assert "the machine was busy" in slow[0].reason
    assert {check.outcome for check in changed("two", run(15, 80, busy=True))} == {"failed"}
    assert {check.outcome for check in changed("two", run(9, 80))} == {"failed"}


def test_in_real_time_late_timers_count_for_each_crossing() -> None:
    def run(rtt_ms: float, late_ms: float) -> AtOnce:
        flows = (*loaded("h1-h4", 14, 70, rtt_ms, clock="real"), *loaded("h2-h5", 14, 70, 79.8, clock="real"))
        return together(*flows, seen=fidelity("real", late_p95_ms=late_ms))

    assert changed("two", run(86, 2.0)) == []
    assert changed("two", run(86, 0.1)) != []


def right_index(values: Sequence[float]) -> float:
    if not any(values):
        raise ValueError("no flow carried data")
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))


def guarded(formula: Callable[[Sequence[float]], Any]) -> Callable[[Sequence[float]], Any]:
    """A wrong formula of who thought of empty lists."""

    def index(values: Sequence[float]) -> Any:
        if not any(values):
            raise ValueError("nothing to share")
        return formula(values)

    return index


def squares(values: Sequence[float]) -> float:
    return sum(value**2 for value in values)


def test_a_right_index() -> None:
    assert lab06.check_jain(right_index).passed
    assert lab06.check_jain(guarded(lambda v: (sum(v) / len(v)) ** 2 / (squares(v) / len(v)))).passed


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        (lambda v: sum(v) ** 2 / squares(v), "division by the number of flows is missing"),
        (lambda v: sum(v) ** 2 / len(v) * squares(v), "then multiplies"),
        (lambda v: len(v) * squares(v) / sum(v) ** 2, "on its head"),
        (lambda v: squares(v) / sum(v) ** 2, "squares are mixed up"),
        (lambda v: squares(v) / (len(v) * sum(v) ** 2), "change places"),
        (lambda v: sum(v) ** 2 / (len(v) * sum(v) ** 2), "taken for one thing"),
        (lambda v: 1 / len(v), "taken for one thing"),
        (lambda v: sum(v) / (len(v) * squares(v)), "not squared"),
        (lambda v: (sum(v) / len(v)) ** 2 / squares(v), "mean above, but the sum"),
        (lambda v: sum(v) ** 2 / (squares(v) / len(v)), "sum above, but the mean"),
        (lambda v: math.sqrt(right_index(v)), "root of the index"),
        (lambda v: 100 * right_index(v), "in percent"),
        (lambda v: min(v) / max(v), "smallest over the largest"),
        (lambda v: sum(v) / len(v) / max(v), "mean over the largest"),
        (lambda v: 1.0, "whatever the shares are"),
        (lambda v: round(right_index(v), 2), "rounded to two digits"),
        (lambda v: round(right_index(v)), "rounded to a whole number"),
        (lambda v: print(right_index(v)), "returns nothing"),
        (lambda v: str(right_index(v)), "returns a str"),
        (lambda v: sum(v) ** 2 / (3 * squares(v)), "it gives"),
        (lambda v: sum(v) ** 2 // (len(v) * squares(v)), "it gives"),
    ],
)
def test_a_wrong_index_is_known_by_its_formula(formula: Callable[[Sequence[float]], Any], says: str) -> None:
    result = lab06.check_jain(guarded(formula))
    assert not result.passed
    assert any(says in check.reason for check in result.checks), result


def silent(values: Sequence[float]) -> float:
    """It refuses and does not say why."""
    if not any(values):
        raise ValueError
    return right_index(values)


@pytest.mark.parametrize(
    ("index", "says"),
    [
        (lambda v: sum(v) ** 2 / (len(v) * squares(v)), "raises ZeroDivisionError"),
        (lambda v: right_index(v) if any(v) else 0, "it returns 0, as if that were an index"),
        (lambda v: right_index(v) if any(v) else None, "it returns None"),
        (lambda v: right_index(v) if any(v) else math.nan, "it returns nan"),
        (silent, "ValueError says nothing"),
    ],
)
def test_what_has_no_index(index: Callable[[Sequence[float]], Any], says: str) -> None:
    failed = [check for check in lab06.check_jain(index).checks if not check.passed]
    assert failed
    assert all("zeros" in check.description or "no flow" in check.description for check in failed)
    assert all(says in check.reason for check in failed)


@pytest.mark.parametrize(("given", "says"), [(None, "not written yet"), (0.98, "this is a float")])
def test_what_is_no_function(given: object, says: str) -> None:
    for check in (lab06.check_jain, lab06.check_packets_in_queue):
        (one,) = check(given).checks
        assert says in one.reason


def fairness_failed(name: str, wrong: object) -> Check:
    return failed_alone(lambda given: lab06.check_fairness(given, RUNS), FAIRNESS, name, wrong)


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("two", 2 * FAIRNESS["two"], "division by n"),
        ("two", 1 / FAIRNESS["two"], "upside down"),
        ("two", 100 * FAIRNESS["two"], "in percent"),
        ("two", 1.0, "round trips"),
        ("three", FAIRNESS["two"], "less than" if FAIRNESS["two"] < FAIRNESS["three"] else "more than"),
        ("three", 3 * FAIRNESS["three"], "division by n"),
        ("apart", 0.99, ""),  # as the report has it
        ("apart", None, "not filled in yet"),
    ],
)
def test_a_wrong_fairness(name: str, wrong: object, says: str) -> None:
    assert says in fairness_failed(name, wrong).reason


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (72.0, "the whole round trip"),
        (79.8, "the highest round trip"),
        (19.8, "the highest, not the mean"),
        (6.0, "half of it"),
        (42.0, "one way only"),
        (0.012, "seconds"),
        (None, "not filled in yet"),
    ],
)
def test_a_wrong_queueing_delay(wrong: object, says: str) -> None:
    found = failed_alone(lambda given: lab06.check_queueing(given, RUNS), QUEUEING, "two", wrong)
    assert says in found.reason


def test_what_is_asked_of_runs_that_are_not_there() -> None:
    for result in (lab06.check_fairness(FAIRNESS, None), lab06.check_queueing(QUEUEING, {"two": None})):
        assert all("run is missing" in check.reason for check in result.checks)


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
