"""Points by try, which can only cost points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from linklab.grade.check import Check
from linklab.grading.course_points import CoursePoints
from linklab.grading.model import Judged
from linklab.grading.submitted_notebook import read_submitted
from linklab.record import RESULT_MIME
from linklab.report.model import Graded

WHERE = Check.passing("where packets wait", "one of L1, L2, L3", "L2")
RTT = Check.passing("RTT", "20 ms", "20 ms")
CHECK = Graded("check-where", "check", "where", "passed", 2.0, 2.0, (WHERE,))
BOTH = Graded("check-both", "check", "both", "passed", 2.0, 2.0, (WHERE, RTT))
FAILED = Graded("check-where", "check", "where", "failed", 0.0, 2.0, (WHERE,))
TEXT = Graded("reflect-why", "free text", "why", "answered", 0.0, 2.0)
PERCENTS = (100, 50, 0)


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
