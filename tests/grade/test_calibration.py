"""How sure students were, next to how often they were right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from linklab.analysis import Expectation
from linklab.grade.calibration import calibration, of_labs
from linklab.grade.check import Check, Surprise, surprises_in
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Value
from linklab.grade.result import Result
from linklab.record import RESULT_MIME


def said(sure_percent: float, predicted: float = 20.0, slip: str = "") -> Surprise:
    return Surprise("RTT of L1", "ms", predicted, sure_percent, 20.0, 20.1, "", slip)


RIGHT, WRONG = 20.9, 22.0
"""Less than 5 % from a theory of 20, and more."""


def test_right_is_near_theory_and_without_a_known_mistake() -> None:
    assert said(90, RIGHT).is_right
    assert not said(90, WRONG).is_right
    assert not said(90, RIGHT, slip="that is one direction").is_right


def test_each_range_of_sureness_has_its_row() -> None:
    rows = of_labs({"Lab 00": [said(0), said(49, WRONG), said(50), said(100), said(90, WRONG), said(99, WRONG)]}).rows
    assert rows == [("0 to 49", 2, 1, 50), ("50 to 69", 1, 1, 100), ("90 to 100", 3, 1, 33)]


@pytest.mark.parametrize(
    ("surprises", "word"),
    [
        ([said(90, WRONG)] * 5, "fewer than chance"),
        ([said(100), said(100, WRONG)], "fewer than chance"),
        ([said(10)] * 5, "more than chance"),
        ([said(90)] * 9 + [said(90, WRONG)], "can make it"),
        ([said(90, WRONG)], "can make it"),
        ([said(60, WRONG)], "can make it"),
        ([said(100)], "can make it"),
        ([said(0, WRONG)], "can make it"),
    ],
)
def test_chance_is_not_taken_for_a_judgement(surprises: Sequence[Surprise], word: str) -> None:
    assert word in of_labs({"Lab 00": surprises}).summary


def test_without_a_measured_prediction_a_line_says_so() -> None:
    nothing = of_labs({})
    assert "nothing to compare yet" in str(nothing)
    assert "<table" not in nothing._repr_html_()


def test_labs_before_this_one_are_read_from_their_notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook(tmp_path / "00-start-here.ipynb", said(90), said(70, WRONG))
    notebook(tmp_path / "00-start-here-Copy1.ipynb", said(90))
    notebook(tmp_path / "03-udp.ipynb")
    notebook(tmp_path / "04-link-latency.ipynb", said(80))
    notebook(tmp_path / "88-later.ipynb", said(50))
    (tmp_path / "02-broken.ipynb").write_text("{")
    monkeypatch.chdir(tmp_path)
    found = calibration("linklab.labs.lab77")
    assert [it.sure_percent for it in found.surprises] == [90, 70, 80]
    assert "Lab 00 to Lab 04" in found.title


def test_this_lab_counts_what_its_checks_have_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    question = Value("rtt", "RTT", Expectation(20.0, 20.0, 20.0, "ms", "twice 10 ms"), "")
    predictions = Predictions("Lab 78", {"rtt": lambda: [question]})
    result = Result("Lab 78, RTT", (Check.passing("RTT", "20 ms"),))
    for predicted in (WRONG, 20.0):
        predictions.check_predicted(predictions.predict("rtt", predicted, sure=80))
        predictions.compared(result, "rtt", {"rtt": 20.0})
    assert [it.predicted for it in calibration("linklab.labs.lab78").surprises] == [20.0], "measured again: the last"


@pytest.mark.parametrize(
    "entry",
    [
        {"sure_percent": "90"},
        {"predicted": None},
        {"theory": True},
        {"measured": 1e300},
        {"sure_percent": float("nan")},
        {"sure_percent": 900},
        {"sure_percent": -1},
    ],
)
def test_what_is_no_prediction_is_left_out(entry: dict[str, object]) -> None:
    assert not [*surprises_in({"surprises": [asdict(said(90)) | entry, "text", None]})]


def notebook(file: Path, *surprises: Surprise) -> None:
    """Write a notebook whose two check cells keep these surprises, the first of them in a cell of two results."""
    kept = [{"outcome": "passed", "surprises": [asdict(one)]} for one in surprises]
    outputs = [{"output_type": "display_data", "data": {RESULT_MIME: one}} for one in (*kept, {"outcome": "passed"})]
    cell = {"cell_type": "code", "source": "lab.check()", "metadata": {"nbgrader": {"grade": True}}, "outputs": outputs}
    file.write_text(json.dumps({"cells": [cell]}))
