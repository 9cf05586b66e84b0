"""The predict form: right answers, answers that look right and are not, and forms that cannot be read."""

from __future__ import annotations

import math
from typing import Any

import pytest

from linklab.analysis import (
    Expectation,
    Load,
    experiment,
    full_queue_rtt,
    jain_index,
    measured_path,
    tcp_throughput,
    udp_loss_percent,
    unloaded_rtt,
)
from linklab.grade import Check
from linklab.grade.predictions import FreeText, Number, grade_predictions, number_check
from linklab.grade.slips import jain_slips, loaded_rtt_slips, loss_slips, rtt_slips, share_slips, throughput_slips
from linklab.network import COURSE

H1_H4, H1_H9, L1 = (
    measured_path(COURSE, "h1", "h4"),
    measured_path(COURSE, "h1", "h9"),
    measured_path(COURSE, "r1", "r2"),
)
PARALLEL = experiment(COURSE, [Load("h1", "h4", 2), Load("h2", "h5"), Load("h3", "h6")]).loads
TWO = experiment(COURSE, [Load("h1", "h4"), Load("h2", "h5")])


def _rtt(it: Any) -> Number:
    return Number("rtt", "round trip", unloaded_rtt(it), rtt_slips(it, unloaded_rtt(it)))


def _throughput(it: Any) -> Number:
    return Number("rate", "throughput", tcp_throughput(it), throughput_slips(it, tcp_throughput(it)))


FULL = Number("full", "highest RTT", full_queue_rtt(H1_H4), loaded_rtt_slips(H1_H4, full_queue_rtt(H1_H4)))
SHARE = Number("share", "h2-h5", TWO.loads[1].total, share_slips(TWO.loads[1].share, TWO.loads[1].total))
FAIR = Expectation(7.17, 7.0, 7.2, "Mbit/s", "an equal split", source="theory")
HOST = Number("host", "h1-h4's two", PARALLEL[0].total, share_slips(PARALLEL[0].share, PARALLEL[0].total, 2))
CONNECTION = Number("connection", "one of h1-h4's two", FAIR, share_slips(PARALLEL[0].share, FAIR))
LOSS = Number(
    "loss", "loss", udp_loss_percent(H1_H4, 40), loss_slips(udp_loss_percent(H1_H4, 40)), how="what is not carried"
)
PER_CONNECTION = jain_index([6, 8, 7, 7])
JAIN = Number(
    "jain",
    "Jain's index of the connections",
    Expectation(PER_CONNECTION, PER_CONNECTION - 0.002, PER_CONNECTION + 0.002, "", "computed", allowance="rounding"),
    jain_slips(Expectation(PER_CONNECTION, PER_CONNECTION, PER_CONNECTION, "", ""), {"hosts": jain_index([14, 7, 7])}),
    tolerance=0,
)

RIGHT = [
    (_rtt(H1_H4), 60), (_rtt(H1_H4), 60.3), (_rtt(H1_H9), 80), (_rtt(L1), 20.0),
    (_throughput(L1), 38.26), (_throughput(L1), 38), (_throughput(H1_H4), 28.7), (_throughput(H1_H9), 19.1),
    (_throughput(H1_H9), 16.2), (FULL, 80.4), (FULL, 80), (SHARE, 14.3), (SHARE, 12), (HOST, 14.3), (CONNECTION, 7.17),
    (LOSS, 27.1), (JAIN, PER_CONNECTION),
]  # fmt: skip

WRONG = [
    (_rtt(H1_H4), 30, "one way"), (_rtt(H1_H9), 40, "one way"), (_rtt(L1), 10, "one way"),
    (_rtt(H1_H4), 120, "two round trips"), (_rtt(L1), 40, "two round trips"),
    (_rtt(H1_H4), 0.06, "seconds"), (_rtt(H1_H9), 0.08, "seconds"), (_rtt(L1), 0.01, "one way, in seconds"),
    (_rtt(H1_H4), 60000, "microseconds"), (_rtt(H1_H9), 80000, "microseconds"),
    (_rtt(H1_H4), 40, "L2"), (_rtt(H1_H4), 20, "L1"), (_rtt(H1_H9), 60, "missing"),
    (_rtt(H1_H9), 80 / 3, "mean of the links"),
    (_throughput(H1_H4), 30, "headers and all"), (_throughput(L1), 40, "headers and all"),
    (_throughput(H1_H9), 20, "headers and all"),
    (_throughput(H1_H4), 40, "not the bottleneck"), (_throughput(H1_H9), 30, "not the bottleneck"),
    (_throughput(H1_H9), 40 * 1448 / 1514, "not the bottleneck, less headers"),
    (_throughput(H1_H4), 70, "sum of the links"), (_throughput(H1_H9), 90, "sum of the links"),
    (_throughput(H1_H4), 35, "mean of the links"), (_throughput(H1_H4), 35 * 0.9564, "mean of the links' rates, less"),
    (_throughput(H1_H4), 3.58, "MByte/s"), (_throughput(L1), 4.78, "MByte/s"), (_throughput(L1), 5, "in MByte/s"),
    (_throughput(H1_H4), 28.7 * 8, "eight times"), (_throughput(L1), 306, "eight times"),
    (_throughput(L1), 38.26 / 1.048576, "Mebibit"), (_throughput(L1), 38.1 / 8 / 1.048576, "MiByte/s"),
    (_throughput(H1_H4), 28700, "kbit/s"), (_throughput(L1), 38.26e6, "bit/s"), (_throughput(L1), 0.0382, "Gbit/s"),
    (FULL, 100.4, "full queue besides"), (FULL, 60, "idle path"), (FULL, 140.75, "both directions"),
    (FULL, 100.75, "both directions"), (FULL, 40.37, "queue alone"), (FULL, 0.0804, "seconds"), (FULL, 30, "one way"),
    (SHARE, 28.7, "sum of all"), (SHARE, 30, "whole rate"), (SHARE, 14.3 / 8, "MByte/s"), (SHARE, 114, "eight times"),
    (HOST, 28.7, "sum of all"), (HOST, 7.17, "one of its connections"),
    (CONNECTION, 14.35, "whole host"), (CONNECTION, 7.5, "headers and all"), (CONNECTION, 28.7, "sum of all"),
    (LOSS, 0.271, "share of 1"), (LOSS, 72.9, "what arrives"),
    (JAIN, jain_index([14, 7, 7]), "index of the hosts"), (JAIN, 100 * PER_CONNECTION, "percent"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), RIGHT, ids=lambda it: it.what if isinstance(it, Number) else f"{it:.4g}")
def test_right_predictions_pass(field: Number, value: float) -> None:
    check = number_check(field, value)
    assert check.passed, check


@pytest.mark.parametrize(
    ("field", "value", "says"), WRONG, ids=lambda it: it.what if isinstance(it, Number) else str(it)[:20]
)
def test_predictions_that_look_right_are_caught_by_name(field: Number, value: float, says: str) -> None:
    check = number_check(field, value)
    assert check.outcome == "failed"
    assert says in check.reason
    assert check.hint
    assert " to " in check.expected
    assert check.found.startswith(f"{value:.5g}")


@pytest.mark.parametrize("field", [_rtt(H1_H4), _throughput(H1_H9), FULL, CONNECTION], ids=lambda it: it.what)
def test_a_number_without_a_known_mistake_gets_the_general_hint(field: Number) -> None:
    check = number_check(field, field.expected.high * 1.37)
    assert "more than theory says" in check.reason
    assert check.hint == field.how


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "not filled in yet"),
        (..., "not filled in yet"),
        ("60", "'60' is a text"),
        ("60 ms", "'60 ms' is a text"),
        (True, "this is a bool"),
        ([60], "this is a list"),
        (math.nan, "not a number above 0"),
        (-60, "not a number above 0"),
        (0, "not a number above 0"),
    ],
)
def test_what_is_no_number_gets_one_clear_line_and_no_answer(value: Any, says: str) -> None:
    check = number_check(_rtt(H1_H4), value)
    assert says in check.reason
    assert "\n" not in check.reason + check.hint
    assert "59" not in check.expected
    assert check.expected == "a number in ms"


def test_no_loss_may_be_predicted() -> None:
    field = Number("loss", "loss", udp_loss_percent(H1_H4, 20))
    assert number_check(field, 0).passed
    assert number_check(field, 0.0).passed
    assert not number_check(field, False).passed
    assert not number_check(field, 3).passed


FIELDS = (_rtt(H1_H4), FreeText("why", "why so long", points=0))


def the(result: Any, number: int) -> Check:
    check: Check = result.checks[number]
    return check


def test_a_form_is_graded_field_by_field_and_texts_are_kept() -> None:
    text = "10 and 20 ms, there and back"
    result = grade_predictions("Predict", FIELDS, {"rtt": 60, "why": f" {text} "})
    assert result.passed
    assert (result.points, result.max_points) == (1, 1)
    assert the(result, 1).found == text
    assert "instructor" in the(result, 1).expected


@pytest.mark.parametrize(
    ("text", "says"),
    [(None, "not filled in"), ("", "not filled in"), (..., "not filled in"), ("delay", "no reason yet"), (7, "a int")],
)
def test_a_reason_must_be_there(text: Any, says: str) -> None:
    result = grade_predictions("Predict", FIELDS, {"rtt": 60, "why": text})
    assert not result.passed
    assert says in the(result, 1).reason
    assert result.points == result.max_points


@pytest.mark.parametrize("form", [None, [60], "60", 60])
def test_what_is_no_form_is_told_so(form: Any) -> None:
    (check,) = grade_predictions("Predict", FIELDS, form).checks
    assert "not a dictionary" in check.reason
    assert '"rtt"' in check.hint


def test_a_misspelt_key_is_named() -> None:
    result = grade_predictions("Predict", FIELDS, {"RTT": 60, "why": "10 and 20, there and back"})
    assert "not filled in yet" in the(result, 0).reason
    assert "RTT" in the(result, 2).reason
    assert "rtt, why" in the(result, 2).hint
    assert result.max_points == 1
