"""Predictions: any number is taken, none is failed, and a slip is named once it was measured."""

from __future__ import annotations

import json
import math

import numpy
import pytest

from linklab.errors import LinklabError
from linklab.grade import Check, Result
from linklab.grade.path_questions import ceiling, path_between, rtt
from linklab.grade.predictions import Prediction, Predictions, Sketch, remark
from linklab.grade.values import read, write

LINKS = {"L1": ("r1", "r2"), "L2": ("r2", "r3")}
LAB = Predictions(
    "Lab 04",
    {
        "rtt": lambda: [rtt(name, path_between(*ends)) for name, ends in LINKS.items()],
        "rate": lambda: [ceiling("rate", path_between("h1", "h4"))],
        "swing": lambda: Sketch("RTT of L1", "seconds", "ms", (0, 25), (0, 500)),
    },
)
SOUND = Result("pings", (Check.passing("pings", "25 pings"),))


@pytest.mark.parametrize("numbers", [{"L1": 20, "L2": 40}, {"L1": 0, "L2": 1e6}, {"L1": 10.5, "L2": 3}])
def test_any_plausible_number_has_its_point(numbers: dict[str, float]) -> None:
    prediction = LAB.predict("rtt", numbers, sure=30)
    assert LAB.check_predicted(prediction).passed
    assert prediction["L1"] == numbers["L1"]


@pytest.mark.parametrize(
    ("given", "sure", "said"),
    [
        (None, 50, "Give a dictionary"),
        ({"L1": None, "L2": 3}, 50, "Still to fill in: RTT of L1"),
        ({"L1": "20", "L2": 3}, 50, "'20' is a text"),
        ({"L1": -1, "L2": 3}, 50, "-1 is below 0"),
        ({"L1": math.inf, "L2": 3}, 50, "not a number above 0"),
        ({"L1": 1}, 50, "Still to fill in: RTT of L2"),
        ([1, 3], 50, "this is a list"),
        ({"L1": 1, "L2": 3}, None, "Still to fill in: how sure"),
        ({"L1": 1, "L2": 3}, 101, "101 is no percentage"),
        ({"L1": 1, "L2": 3}, "yes", "'yes' is no percentage"),
        ({"L1": 1, "L2": 3}, 0.8, "write sure=80"),
    ],
)
def test_what_is_no_prediction_is_said(given: object, sure: object, said: str) -> None:
    prediction = LAB.predict("rtt", given, sure)
    assert said in str(prediction)
    result = LAB.check_predicted(prediction)
    assert result.outcome == "failed"
    assert all(check.hint for check in result.checks if not check.passed)


def test_a_prediction_is_said_in_the_question_s_words_and_unit() -> None:
    assert "RTT of L1: 20 ms; RTT of L2: 40 ms" in str(LAB.predict("rtt", {"L1": 20, "L2": 40}, 60))


@pytest.mark.parametrize("given", [None, {"L1": 1}, 7, Prediction("Lab 05", "rtt"), Prediction("Lab 04", "gone")])
def test_what_is_no_prediction_of_this_lab_fails(given: object) -> None:
    assert LAB.check_predicted(given).outcome == "failed"


def test_a_name_that_the_lab_has_not_is_one_line() -> None:
    with pytest.raises(LinklabError, match="asks for no prediction 'rttt': it asks for rtt, rate, swing"):
        LAB.predict("rttt", {}, 50)


def test_one_number_needs_no_dictionary() -> None:
    assert LAB.predict("rate", 28, sure=80)["rate"] == 28


def test_a_number_that_was_not_given_is_said() -> None:
    with pytest.raises(LinklabError, match="nothing is predicted for 'L1'"):
        LAB.predict("rtt", None)["L1"]


def _surprises(name: str, given: object, measured: dict[str, float]) -> list[tuple[str, str]]:
    assert LAB.check_predicted(LAB.predict(name, given, 60)).passed
    result = LAB.compared(SOUND, name, measured)
    return [(row.slip, row.said) for row in result.surprises]


def test_after_the_measurement_a_slip_is_named() -> None:
    (one_way, said), right = _surprises("rtt", {"L1": 10, "L2": 40}, {"L1": 20, "L2": 40})
    assert one_way == "that is one direction"
    assert said == "you predicted 10: that is one direction. A round trip has two."
    assert right == ("", "as theory says")


def test_a_prediction_as_theory_says_is_told_how_far_the_run_was_from_it() -> None:
    near, far = _surprises("rtt", {"L1": 20, "L2": 40}, {"L1": 20.5, "L2": 50})
    assert near == ("", "as theory says")
    assert far == ("", "as theory says, and the run gave 25 % more")


def test_a_prediction_near_theory_is_called_close_and_a_strange_one_gets_the_concept() -> None:
    near, strange = _surprises("rtt", {"L1": 20.3, "L2": 55}, {"L1": 20, "L2": 40})
    assert near == ("", "close to theory")
    assert strange[0] == ""
    assert strange[1].startswith("38 % more than theory. An echo request crosses each link")


@pytest.mark.parametrize(
    ("predicted", "slip"),
    [
        (30.0, "that counts headers as data"),
        (3.6, "that looks like MByte/s"),
        (35, "that is the mean of the links' rates"),
    ],
)
def test_rough_numbers_are_recognised_too(predicted: float, slip: str) -> None:
    question = ceiling("rate", path_between("h1", "h4"))
    assert remark(question, predicted)[1] == slip
    assert remark(question, 1.001 * predicted)[1] == slip


def test_theory_stays_hidden_until_the_measurement_passed() -> None:
    failed = Result("pings", (Check.failing("pings", "not measured yet", "measure"),))
    LAB.check_predicted(LAB.predict("rtt", {"L1": 10, "L2": 40}, 60))
    assert LAB.compared(failed, "rtt", {}).surprises == ()
    assert LAB.compared(SOUND, "nothing", {}).surprises == ()


def test_a_measurement_finds_the_prediction_that_was_checked_last_by_its_name() -> None:
    def predicted() -> list[float]:
        return [row.predicted for row in LAB.compared(SOUND, "rtt", {}).surprises]

    for first in (10, 20):
        assert LAB.check_predicted(LAB.predict("rtt", {"L1": first, "L2": 40}, 60)).passed
        assert predicted() == [first, 40]
    LAB.check_predicted(LAB.predict("rtt", {"L1": None, "L2": 40}, 60))
    assert predicted() == []


def test_a_curve_is_taken_and_its_points_are_looked_at() -> None:
    points = ((0, 20), (5, 60), (25, 60))
    for curve in (list(points), numpy.array(points)):
        assert LAB.predict("swing", curve, 40).sketch == points
    for given, said in (
        (None, "Still to fill in"),
        ([(0, 20), (5, None), (9, 1)], "Still to fill in"),
        ([(0, 1), (1, 2)], "2 of 3 points"),
        ([(0, 1), (0, 2), (3, 4)], "from left to right"),
        ([(0, 1), (1, -2), (3, 4)], "never below 0"),
        (7, "no list of points"),
        ([1, 2, 3], "no list of points"),
        ([(0, "a"), (1, 2), (3, 4)], "no pair of numbers"),
    ):
        assert said in str(LAB.predict("swing", given, 40)), given


def test_the_result_shows_figure_and_table_and_says_so_in_json() -> None:
    LAB.check_predicted(LAB.predict("rtt", {"L1": 10, "L2": 40}, 60))
    result = LAB.compared(SOUND, "rtt", {"L1": 20.1, "L2": 40})
    page = result._repr_html_()
    assert "<img" in page
    assert "that is one direction" in page
    assert "that is one direction" in str(result)
    rows = json.loads(json.dumps(result.to_json()))["surprises"]
    assert [(row["predicted"], row["measured"], row["sure_percent"]) for row in rows] == [(10, 20.1, 60), (40, 40, 60)]


FORGED = (
    Prediction("Lab 04", "rtt"),
    Prediction("Lab 04", "rtt", (("L1", math.nan), ("L2", 2.0)), (), 50.0),
    Prediction("Lab 04", "rtt", (("L1", -3.0), ("L2", math.inf)), (), 50.0),
    Prediction("Lab 04", "rtt", (("L1", 1.0), ("L2", 2.0)), (), 1e299),
    Prediction("Lab 04", "rtt", (("L1", 1.0),), (), 50.0),
    Prediction("Lab 04", "swing", (), (), 50.0),
)


@pytest.mark.parametrize("forged", FORGED, ids=range(len(FORGED)))
def test_what_predict_never_made_has_no_point_and_is_shown_nowhere(forged: Prediction) -> None:
    assert LAB.check_predicted(forged).outcome == "failed"
    assert LAB.compared(SOUND, forged.name, {}).surprises == ()


def test_a_prediction_reaches_the_judge_as_it_is() -> None:
    for prediction in (
        LAB.predict("rtt", {"L1": 10, "L2": 40}, 60),
        LAB.predict("swing", [(0, 20), (5, 60), (25, 60)], 40),
        LAB.predict("rtt", None),
    ):
        assert read(write(prediction)) == prediction
