"""A notebook as a part of the portfolio: sections, graded cells, and the circumstances of its run."""

from __future__ import annotations

from typing import Any

import pytest
from markupsafe import Markup as Safe

from linklab.grade import Check
from linklab.record import LAB_MIME, RESULT_MIME, TEXT_STUB
from linklab.report.model import Code, FreeText, ShownImage
from linklab.report.notebook import graded, kind_of

from .books import DOT, check, code, free_text, lab, prints, raises, result, shows, text, typed

GOOD = Check.passing("the rate", "10 Mbit/s")
BAD = Check.failing("the delay", "it is 0 ms", "write 10ms", "10 ms", "0 ms")
BUSY = Check("the queue", "inconclusive", "the machine was busy", "run it again")


ADDED = "1b2c3d4e-0000-4000-8000-abcdefabcdef"


def test_sections_hold_the_student_s_work_and_not_the_instructions() -> None:
    one = lab(
        text("goal", "# Lab 03: **Bandwidth**\n\nIn this lab you measure."),
        code("imports"),
        text("predict", "## 1. Predict\n\nHow much?"),
        code(
            "answer-rate", source="rate = 3\n### BEGIN SOLUTION\nrate = 4\n### END SOLUTION", solution=True, grade=False
        ),
        check("check-rate"),
        text("explain", "More.\n\n## 2. Explain\n\n**Question.** Why?"),
        free_text("reflect-why", "Because."),
        text("stop", "## 3. Stop"),
        code("end"),
    )
    assert one.title == "Lab 03: Bandwidth"
    assert [section.title for section in one.sections] == ["1. Predict", "2. Explain"]
    assert one.sections[0].items == (Code("answer-rate", "rate = 3\nrate = 4"), one.graded[0])
    assert one.sections[1].items == (
        FreeText(one.graded[1], Safe("<p><strong>Question.</strong> Why?</p>\n"), Safe("<p>Because.</p>\n")),
    )


def test_a_question_belongs_to_the_answer_right_after_it_alone() -> None:
    one = lab(text("q", "**Question.** Why?"), free_text("reflect-a", "So."), free_text("reflect-b", "Thus."))
    asked = [it.question for it in one.sections[0].items if isinstance(it, FreeText)]
    assert ["Why?" in asked[0], asked[1]] == [True, ""]


def test_notes_that_students_add_are_theirs() -> None:
    one = lab(text("goal", "# Lab\n\nRead this."), text(ADDED, "I saw 38.2."), code("run", prints("x")))
    (note, _) = one.sections[0].items
    assert note == Safe('<div class="own"><p class="label">Note</p><p>I saw 38.2.</p>\n</div>')


def test_the_last_drawing_of_the_network_stands_apart_and_pictures_come_once() -> None:
    first, last = (
        shows(png=data, text_plain=f"Network: {words}.") for data, words in ((DOT, "1 host"), ("AAAA", "2 hosts"))
    )
    curve = shows(png="BBBB", text_plain="Throughput over time.")
    one = lab(code("a", first, count=1), code("b", curve, curve, count=2), code("c", last, count=3))
    assert one.network == ShownImage("data:image/png;base64,AAAA", "Network: 2 hosts.")
    (section,) = one.sections
    kept = [it.address for it in section.items if isinstance(it, ShownImage)]
    assert kept == [f"data:image/png;base64,{data}" for data in (DOT, "BBBB")]


def test_what_a_run_noted_of_itself() -> None:
    noted = {
        "linklab": "0.1.0",
        "run_at": "2026-11-21T18:53:46+00:00",
        "kind": "guest",
        "ping": "p",
    }
    facts = lab(code("a"), linklab=noted, language_info={"name": "python", "version": "3.11.2"}).facts
    assert (facts.run_at, facts.kind) == ("2026-11-21 18:53 UTC", "guest")
    assert facts.tools == (("python", "3.11.2"), ("ping", "p"))


def test_without_a_note_the_outputs_and_the_file_s_date_tell_it() -> None:
    output = typed(LAB_MIME, {"linklab": "0.1.0", "kind": "qemu", "kernel": "6.1"})
    facts = lab(code("a", output)).facts
    assert (facts.run_at, facts.kind, facts.linklab) == ("until 2026-05-04 12:30 UTC", "qemu", "0.1.0")
    assert lab(code("a"), linklab="forged").facts.kind == ""


def test_notes_on_the_run() -> None:
    assert lab(code("a", count=1), code("b", count=2)).notes == ()
    (note,) = lab(code("a", count=3), code("b", count=2)).notes
    assert "cell b ran as number 2, before a above it (number 3)" in note
    (note,) = lab(code("a"), linklab={"linklab": "0.0.9"}).notes
    assert "Run with Linklab 0.0.9" in note
    assert lab(code("a"), code("b", count=None)).notes == ("1 of 2 cells was not run.",)
    assert lab(code("a", raises("ValueError", "x"))).notes == ("Stopped with an error: cell a.",)
    assert lab(check("check-a", raises("ValueError", "x"))).notes == ()


def test_only_graded_cells_are_counted() -> None:
    cells = [code("plain"), text("goal", "# Lab"), code("answer-plan", grade=False, solution=True)]
    assert [kind_of(cell) for cell in cells] == [None] * 3
    assert [kind_of(check("check-it")), kind_of(free_text("reflect-it", ""))] == ["check", "free text"]


@pytest.mark.parametrize(
    ("outputs", "status", "points", "open_points", "trouble"),
    [
        ([result(GOOD, GOOD)], "passed", 2, 0, ""),
        ([result(GOOD, BAD, BUSY), raises("GradeError", "2 of 3")], "failed", 0, 0, ""),
        ([result(GOOD, BUSY), raises("GradeError", "1 of 2 inconclusive")], "inconclusive", 0, 2, ""),
        ([result(BAD)], "failed", 0, 0, ""),  # without require
        ([raises("NameError", "plan")], "failed", 0, 0, "NameError: plan"),
        ([result(GOOD), raises("NameError", "plan")], "failed", 0, 0, "NameError: plan"),
        ([prints("nothing to see")], "no result", 0, 0, ""),
    ],
)
def test_a_check_s_status_and_points(
    outputs: list[Any], status: str, points: float, open_points: float, trouble: str
) -> None:
    mark = graded(check("check-the-plan", *outputs))
    assert (mark.status, mark.points, mark.open_points, mark.trouble) == (status, points, open_points, trouble)
    assert (mark.title, mark.max_points) == ("the plan" if not mark.checks else "Lab, the network", 2)


def test_a_check_that_was_not_run_and_one_with_its_checks() -> None:
    assert graded(check("check-a", count=None)).status == "not run"
    assert graded(check("check-a", result(GOOD, BAD))).checks == (GOOD, BAD)


@pytest.mark.parametrize(
    "forged",
    [{}, {"checks": "passed"}, {"checks": [1, None, {"outcome": "splendid"}, {"outcome": ["passed"]}]}],
)
def test_what_is_no_result_gives_no_points(forged: dict[str, object]) -> None:
    mark = graded(check("check-a", typed(RESULT_MIME, forged)))
    assert (mark.status, mark.points, mark.checks) == ("no result", 0, ())


def test_words_of_a_result_that_are_no_words_are_left_out() -> None:
    entry = {"outcome": "failed", "description": 3, "reason": None, "hint": ["x"], "points": "many"}
    (found,) = graded(check("check-a", typed(RESULT_MIME, {"title": 1, "checks": [entry]}))).checks
    assert found == Check("", "failed", points=0)


@pytest.mark.parametrize("points", ["2", -1, float("inf")])
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
