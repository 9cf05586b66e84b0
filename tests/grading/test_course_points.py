"""Points by try, which can only cost points, and points for parts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import LinklabError
from linklab.grade.check import Check
from linklab.grading.course_points import CoursePoints
from linklab.grading.model import Judged
from linklab.grading.submitted_notebook import read_submitted
from linklab.record import RESULT_MIME
from linklab.report.model import Graded
from tests.notebooks.run_notebook import ROOT

WHERE = Check.passing("where packets wait", "one of L1, L2, L3", "L2")
RTT = Check.passing("RTT", "20 ms", "20 ms")
CHECK = Graded("check-where", "check", "where", "passed", 2.0, 2.0, (WHERE,))
BOTH = Graded("check-both", "check", "both", "passed", 2.0, 2.0, (WHERE, RTT))
FAILED = Graded("check-where", "check", "where", "failed", 0.0, 2.0, (WHERE,))
TEXT = Graded("reflect-why", "free text", "why", "answered", 0.0, 2.0)
PERCENTS = (100, 50, 0)
LAB = "00-start-here"


@pytest.mark.parametrize(
    ("cell", "wrong", "points"),
    [
        (CHECK, [], 2),
        (CHECK, ["L1"], 1),
        (CHECK, ["L1", "L3"], 0),
        (CHECK, ["L1", "L3", "L4"], 0),
        (BOTH, ["L1"], 1.5),
        (FAILED, ["L1"], 0),
        (TEXT, ["L1"], 0),
    ],
)
def test_a_choice_has_the_points_of_its_try(cell: Graded, wrong: list[str], points: float) -> None:
    judged = Judged("04-link-latency", "course", (cell,))
    tried = {cell.cell_id: {"where packets wait": wrong}}
    lowered = CoursePoints(PERCENTS).of_verdict(judged, tried)
    assert lowered.points == points
    assert any("try 2" in check.found for check in lowered.cells[0].checks) == (len(wrong) == 1 and points > 0)
    assert CoursePoints().of_verdict(judged, tried) == judged, "no course has to set this"
    assert CoursePoints(PERCENTS).of_verdict(judged, {}) == judged


@pytest.mark.parametrize(
    ("outputs", "tried"),
    [
        ([{"outcome": "passed", "description": "where", "tried_wrong": ["b", "a", "a"]}], {"where": ("a", "b")}),
        ([{"description": "where", "tried_wrong": "ab"}], {}),
        ([{"description": 3, "tried_wrong": [4, None, {}]}], {}),
        ([[], "text", None], {}),
    ],
)
def test_tries_are_read_from_what_was_handed_in(tmp_path: Path, outputs: Any, tried: dict[str, Any]) -> None:
    assert _cell(tmp_path, [{"data": {RESULT_MIME: {"checks": outputs}}}]) == tried


@pytest.mark.parametrize("outputs", [None, 3, ["x"], [{"data": 1}], [{"data": {RESULT_MIME: []}}], [{}]])
def test_outputs_of_another_form_cost_nothing(tmp_path: Path, outputs: Any) -> None:
    assert _cell(tmp_path, outputs) == {}


def _cell(folder: Path, outputs: Any) -> Any:
    """Return the tries of the only cell of a notebook with these outputs."""
    file = folder / "x.ipynb"
    file.write_text(json.dumps({"cells": [{"cell_type": "code", "id": "c", "source": "", "outputs": outputs}]}))
    (cell,) = read_submitted(file)
    return cell.tried_wrong


@pytest.mark.parametrize(
    ("outcomes", "parts", "points"),
    [((1, 0), 2, 1.0), ((1, 0), 4, 0.5), ((0,), 3, 0.0), ((1, 1, 0), 2, 1.33), ((1, 1), 2, 2.0)],
)
def test_a_failed_check_has_the_points_of_its_parts(outcomes: tuple[int, ...], parts: int, points: float) -> None:
    checks = tuple(RTT if it else Check.failing("x", "no", "do") for it in outcomes)
    cell = replace(BOTH if all(outcomes) else FAILED, cell_id="check-rate", checks=checks)
    rules = CoursePoints(parts={LAB: {"check-rate": parts}})
    assert rules.of_verdict(Judged(LAB, "course", (cell,)), {}).points == points


def test_the_course_says_whether_parts_give_points(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CoursePoints.of(ROOT, [LAB]).parts is None
    monkeypatch.setenv("LINKLAB_PART_POINTS", "true")
    parts = CoursePoints.of(ROOT, [LAB]).parts
    assert parts is not None
    assert parts[LAB]["check-network"] > 1
    monkeypatch.setenv("LINKLAB_PART_POINTS", "half")
    with pytest.raises(LinklabError, match="write true or false"):
        CoursePoints.of(ROOT, [LAB])
