"""What a class teaches: numbers that add up, and a page that is safe whatever students wrote."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from linklab.grade.check import Surprise
from linklab.grading.grades import StudentGrade, spreadsheet
from linklab.grading.overview import lab_counts, questions_table
from linklab.grading.pages import questions_page

from .classes import EVIL, GOOD, LAB, a_class, bad, graded, judged, student


def _passed(name: str, rate: bool, queue: bool, tries: int = 1) -> StudentGrade:
    """A student who passed some of the checks, the first one at a try."""
    one = judged(GOOD if rate else bad())
    first, second, text = one.cells
    second = replace(second, status="passed" if queue else "failed", points=3.0 if queue else 0.0)
    lab = replace(one, cells=(first, second, text), tries={"check-rate": tries} if tries > 1 else {})
    return StudentGrade(name, "x.html", "course", {LAB.name: lab})


def test_each_check_and_question_has_its_numbers() -> None:
    told = [(True, True, 1), (True, True, 2), (True, True, 7), (False, False, 1), (False, False, 3), (False, True, 1)]
    (counts,) = lab_counts(graded(*(_passed(str(number), *it) for number, it in enumerate(told))))
    rate, queue, why = counts.cells
    assert (rate.students, rate.percent, rate.tries) == (6, 50, (1, 1, 0, 1))
    assert (rate.reason.startswith("it is 1 Mbit/s"), rate.often) == (True, 3)
    assert queue.discrimination == pytest.approx(0.707, abs=0.001)
    assert queue.tries == ()
    assert (why.students, why.open_count, why.percent, why.discrimination) == (0, 6, None, None)


def test_points_of_a_question_are_known_when_all_its_answers_have_some() -> None:
    waits, none, given = (judged(GOOD, text=text) for text in ("answered", "not answered", "passed"))
    for verdicts, percent in (((waits, none, given), None), ((none, given), 50)):
        (counts,) = lab_counts(graded(*(student(str(number), one) for number, one in enumerate(verdicts))))
        assert counts.cells[-1].percent == percent


def test_a_number_below_0_is_a_number_in_a_spreadsheet() -> None:
    told = [_passed(str(number), bool(number % 2), not number % 2) for number in range(6)]
    first = next(csv.DictReader(io.StringIO(spreadsheet(questions_table(graded(*told))))))
    assert float(first["discrimination"]) == -1


def test_calibration_stands_in_the_row_of_its_check() -> None:
    rows = [Surprise("RTT", "ms", predicted, 80, 20, 20, "", "") for predicted in (20, 10)]
    one = judged(GOOD)
    students = [
        student(str(n), replace(one, cells=(replace(one.cells[0], surprises=(row,)), *one.cells[1:])))
        for n, row in enumerate(rows)
    ]
    grades = graded(*students)
    rate = lab_counts(grades)[0].cells[0]
    assert (rate.sure_percent, rate.right_percent) == (80, 50)
    assert "How sure, and how often right" in questions_page(grades, questions_table(grades))


def test_the_page_and_the_table_run_nothing_that_students_wrote() -> None:
    grades = a_class()
    evil = replace(grades.students[1].labs[LAB.name].cells[0], checks=(replace(bad(), reason=EVIL),))
    one = judged(bad())
    grades = graded(student("ada", replace(one, cells=(evil, *one.cells[1:]))))
    page = questions_page(grades, questions_table(grades))
    assert "<img" not in page
    assert page.count("<script") == 1
