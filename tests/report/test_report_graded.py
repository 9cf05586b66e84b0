"""Graded cells: points and outcomes from what a notebook kept."""

from __future__ import annotations

import pytest

from linklab.grade import Check
from linklab.notebooks.render import TEXT_STUB
from linklab.record import RESULT_MIME
from linklab.report.graded import graded, kind_of

from .books import check, code, free_text, lab, prints, raises, result, text, typed

GOOD = Check.passing("the rate", "10 Mbit/s")
BAD = Check.failing("the delay", "it is 0 ms", "write 10ms", "10 ms", "0 ms")
BUSY = Check("the queue", "inconclusive", "the machine was busy", "run it again")


def test_only_graded_cells_are_counted() -> None:
    cells = [code("plain"), text("goal", "# Lab"), code("answer-plan", grade=False, solution=True)]
    assert [kind_of(cell) for cell in cells] == [None] * 3
    assert [kind_of(check("check-it")), kind_of(free_text("reflect-it", ""))] == ["check", "free text"]


def test_a_check_that_passed_has_the_cell_s_points() -> None:
    mark = graded(check("check-network", result(GOOD, GOOD), points=3))
    assert (mark.title, mark.status, mark.points, mark.max_points) == ("Lab, the network", "passed", 3, 3)
    assert mark.checks == (GOOD, GOOD)


def test_one_failed_check_costs_the_cell_s_points_as_in_nbgrader() -> None:
    mark = graded(check("check-network", result(GOOD, BAD, BUSY), raises("GradeError", "2 of 3")))
    assert (mark.status, mark.points, mark.open_points, mark.trouble) == ("failed", 0, 0, "")
    assert mark.checks[1].hint == "write 10ms"


def test_an_inconclusive_check_costs_nothing_and_gives_nothing_yet() -> None:
    mark = graded(check("check-queue", result(GOOD, BUSY), raises("GradeError", "1 of 2 inconclusive")))
    assert (mark.status, mark.points, mark.open_points) == ("inconclusive", 0, 2)


def test_a_failed_result_without_require_is_failed_all_the_same() -> None:
    assert graded(check("check-network", result(BAD))).status == "failed"


def test_another_error_in_a_graded_cell_is_told() -> None:
    for outputs in ([raises("NameError", "name 'plan' is not defined")], [result(GOOD), raises("NameError", "plan")]):
        mark = graded(check("check-network", *outputs))
        assert (mark.status, mark.points) == ("failed", 0)
        assert mark.trouble.startswith("NameError: ")
    assert graded(check("check-the-plan", raises("NameError", "x"))).title == "the plan"


def test_a_cell_that_was_not_run_and_one_that_kept_nothing_are_told_apart() -> None:
    assert graded(check("check-a", count=None)).status == "not run"
    silent = graded(check("check-a", prints("nothing to see")))
    assert (silent.status, silent.points) == ("no result", 0)


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"checks": "passed"},
        {"checks": [1, None, {"outcome": "splendid"}, {"outcome": ["passed"]}]},
        {"checks": [{"outcome": {}}]},
    ],
)
def test_what_is_no_result_gives_no_points(forged: dict[str, object]) -> None:
    mark = graded(check("check-a", typed(RESULT_MIME, forged)))
    assert (mark.status, mark.points, mark.checks) == ("no result", 0, ())


def test_words_of_a_result_that_are_no_words_are_left_out() -> None:
    entry = {"outcome": "failed", "description": 3, "reason": None, "hint": ["x"], "points": "many"}
    (found,) = graded(check("check-a", typed(RESULT_MIME, {"title": 1, "checks": [entry]}))).checks
    assert found == Check("", "failed", points=0)


@pytest.mark.parametrize("points", ["2", None, -1, float("nan"), float("inf")])
def test_points_that_are_none_are_none(points: object) -> None:
    assert graded(check("check-a", result(GOOD), points=points)).max_points == 0  # type: ignore[arg-type]


def test_free_texts_wait_for_the_instructor() -> None:
    mark = graded(free_text("reflect-why-so", "Because.", points=2))
    assert (mark.title, mark.status, mark.points, mark.open_points) == ("why so", "answered", 0, 2)
    assert [graded(free_text("reflect-a", source)).status for source in ("", " \n", TEXT_STUB)] == ["not answered"] * 3


def test_the_sums_of_a_lab() -> None:
    one = lab(
        check("check-a", result(GOOD), points=3),
        check("check-b", result(BUSY), raises("GradeError", "x"), points=2),
        check("check-c", result(BAD), raises("GradeError", "x"), points=4),
        free_text("reflect-d", "Because."),
        free_text("reflect-e", TEXT_STUB),
    )
    assert (one.points, one.max_points) == (3, 11)
    assert (one.open_points("check"), one.open_points("free text")) == (2, 1)
