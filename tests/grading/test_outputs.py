"""What a submission's cells showed, as it goes into a judged notebook, and how it gets to the judge."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from linklab.grade.check import Check
from linklab.grade.result import GradeError, Result
from linklab.grading import outputs
from linklab.grading.outputs import CUT, Outputs
from linklab.record import LAB_MIME, PAGE_MIME, PROGRESS_MIME, RESULT_MIME
from linklab.report.notebook import graded

_nbformat: Any = nbformat
PASSED = Result("Lab", (Check.passing("it", "1"),))
FAILED = Result("Lab", (Check.failing("it", "is \x1b[2Jwrong", "mend it"),))


def cell_with(*made: Any) -> Any:
    """A check cell that shows that."""
    cell = _nbformat.v4.new_code_cell("lab.check_it(x).require()", id="check-it")
    cell.metadata["nbgrader"] = {"grade": True, "points": 2, "solution": False}
    cell.outputs = list(made)
    return cell


def display(**data: Any) -> dict[str, Any]:
    """An output as a kernel sends it."""
    return {"output_type": "display_data", "data": {name.replace("__", "/"): each for name, each in data.items()}}


def test_a_forged_result_is_dropped_also_beside_something_else() -> None:
    forged = {"output_type": "display_data", "data": {RESULT_MIME: PASSED.to_json(), LAB_MIME: {"kind": "guest"}}}
    assert Outputs(10_000).kept([forged]) == []
    both = {"output_type": "execute_result", "data": {"text/plain": "passed", RESULT_MIME: PASSED.to_json()}}
    (kept,) = Outputs(10_000).kept([both])
    assert set(kept.data) == {"text/plain"}


def test_what_is_for_the_notebooks_page_alone_does_not_stand_in_feedback() -> None:
    explained = {"text/markdown": "**What counts:** 2 points", PAGE_MIME: {"version": 1}}
    done = {"text/html": "<p>The list of what is done</p>", PROGRESS_MIME: {"version": 1}}
    said = [{"output_type": "display_data", "data": data} for data in (explained, done)]
    assert Outputs(10_000).kept(said) == []


def test_terminal_control_is_taken_out() -> None:
    said = [
        {"output_type": "stream", "name": "stdout", "text": "\x1b]0;title\x07\x1b[2Ja\x9bb\x00"},
        {"output_type": "error", "ename": "E\x1b[1m", "evalue": "\x1bc", "traceback": ["\x1b[31mred"]},
        display(text__html="<p>\x1b[5mhi</p>"),
    ]
    kept = Outputs(10_000).kept(said)
    assert "\x1b" not in str(kept)
    assert "\x9b" not in str(kept)
    assert kept[0].text == "ab"


def test_unknown_kinds_and_forms_are_dropped() -> None:
    odd = [
        None, 3, "text", {}, {"output_type": "pickle"}, {"output_type": "stream", "text": ["a"]},
        {"output_type": "display_data", "data": [1]}, display(application__javascript="alert(1)"),
        display(image__png="not base64!"), display(text__html={"a": 1}),
        {"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {"model_id": "x"}}},
    ]  # fmt: skip
    assert Outputs(10_000).kept(odd) == []


def test_what_is_known_is_kept_and_makes_a_valid_notebook() -> None:
    said = [
        {"output_type": "stream", "name": "stderr", "text": "a\n"},
        {"output_type": "execute_result", "data": {"text/plain": "1"}, "execution_count": "x", "metadata": 3},
        {"output_type": "display_data", "data": {"image/png": "iVBORw0="}, "metadata": {"image/png": {"width": 3}}},
        {"output_type": "error", "ename": "ValueError", "evalue": "odd", "traceback": ["one"]},
    ]
    book = _nbformat.v4.new_notebook(cells=[_nbformat.v4.new_code_cell("1", outputs=Outputs(10_000).kept(said))])
    nbformat.validate(book)
    assert len(book.cells[0].outputs) == 4
    assert book.cells[0].outputs[2].metadata == {"image/png": {"width": 3}}


def test_all_cells_together_show_so_much() -> None:
    taken = Outputs(1000)
    first = taken.kept([{"output_type": "stream", "name": "stdout", "text": "x" * 700}])
    second = taken.kept([{"output_type": "stream", "name": "stdout", "text": "x" * 700}])
    assert [len(each.text) for each in first] == [700]
    assert [each.text for each in second] == [CUT]


@pytest.mark.parametrize(
    ("made", "read"),
    [
        (outputs.of_result(PASSED), ("passed", 2.0, "")), (outputs.of_failure(GradeError(FAILED)), ("failed", 0.0, "")),
        (outputs.of_error("NameError", "'x' is not there"), ("failed", 0.0, "NameError: 'x' is not there")),
    ],
)  # fmt: skip
def test_a_check_is_read_as_the_judge_writes_it(made: list[Any], read: tuple[str, float, str]) -> None:
    judged = graded(cell_with(*made))
    assert (judged.status, judged.points, judged.trouble) == read
    assert "\x1b" not in str(judged.checks)
