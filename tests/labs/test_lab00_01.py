"""Labs 00 and 01, what the recorded answers do not say: what a failure gives away."""

from __future__ import annotations

import pytest

from linklab.labs.lab00 import rules as lab00
from linklab.labs.lab01 import rules as lab01


@pytest.mark.parametrize("guess", [10, 40, 0.02, 0.01])
def test_a_prediction_has_its_point_whatever_it_says_and_gives_no_answer_away(guess: float) -> None:
    for name in ("rtt", "throughput"):
        found = lab00.check_predicted(lab00.predict(name, guess, sure=50))
        assert found.passed
        assert not {"20", "9.564", "9.56", "9.6"} & set(str(found).replace(",", " ").split())


def test_one_way_for_round_trip_is_named_once_it_was_measured() -> None:
    lab00.check_predicted(lab00.predict("rtt", 10, sure=90))
    assert lab00.check_measured_rtt(14).surprises == ()
    (row,) = lab00.check_measured_rtt(20.0).surprises
    assert (row.slip, row.measured) == ("that is one direction", 20.0)
    lab00.check_predicted(lab00.predict("throughput", 10, sure=100))
    (row,) = lab00.check_measured_throughput(9.5).surprises
    assert row.slip == "that counts headers as data"


def test_one_key_more_changes_nothing_and_one_less_names_it() -> None:
    right = {"L1": 20.1, "L2": 20.1, "L3": 20.1, "h1-h4": 60.1, "h7-h9": 60.1, "h1-h9": 80.1}
    right = {name: check_value(name) for name in right}
    assert lab01.check_rtt({**right, "mine": 1}).passed
    misspelt = {("h1_h9" if name == "h1-h9" else name): value for name, value in right.items()}
    (failed,) = [check for check in lab01.check_rtt(misspelt).checks if not check.passed]
    assert "'h1_h9', which nobody asks for" in failed.reason


def check_value(name: str) -> float:
    """The round trip that is right."""
    (question,) = [it for it in lab01.check_rtt({}).questions if it.key == name]  # type: ignore[attr-defined]
    value: float = question.expected.value  # type: ignore[attr-defined]
    return value
