"""What is written of a class: whole, in numbers that add up, and safe whatever students wrote."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from linklab import schema
from linklab.grade.check import Surprise
from linklab.grading import overview
from linklab.grading.grades import ClassGrade, StudentGrade, to_csv, to_json
from linklab.grading.pages import class_page, feedback, with_verdicts
from linklab.grading.similarity import Alike
from linklab.grading.verdict import Verdict
from linklab.report.model import Graded
from tests.commands.browser import Page, missing
from tests.report.books import Seen, check, code, free_text, lab, look, result, shows, text

from .classes import EVIL, GOOD, LAB, a_class, bad, graded, judged, student


def a_page(name: str = "ada") -> str:
    grades = a_class()
    one = next(one for one in grades.students if one.student == name)
    record = lab(
        text("goal", "# Lab 03: Bandwidth\n\n## 1. Look"),
        code("answer-rate", source=f"rate = 3  # {EVIL}", solution=True, grade=False),
        code("show", shows(text_html=f"<b>bold</b>{EVIL}")),
        check("check-rate", result(GOOD)),
        text("q", "## 2. Explain\n\n**Question.** Why?"),
        free_text("reflect-why", f"Because *so*. {EVIL}"),
    )
    return feedback(one, grades, {LAB.name: record})


def test_counts_of_a_class() -> None:
    (counts,) = overview.lab_counts(a_class())
    assert (counts.handed_in, counts.median_points) == (4, 3)
    rate, queue, why = counts.cells
    assert rate.counts == {"passed": 1, "failed": 2, "inconclusive": 1}
    assert (rate.often, rate.share("failed")) == (2, 50)
    assert rate.reason.startswith("it is 1 Mbit/s")
    assert (queue.counts, queue.reason, queue.often) == ({"passed": 4}, "", 0)
    assert why.counts == {"answered": 3, "not answered": 1}


def test_a_reason_is_counted_once_a_student() -> None:
    many = replace(
        judged(bad(1)), cells=(replace(judged(bad()).cells[0], checks=(bad(1),) * 9), *judged(bad()).cells[1:])
    )
    others = [student(f"s{number}", judged(replace(bad(), reason="no route"))) for number in range(2)]
    (counts,) = overview.lab_counts(graded(student("many", many), *others))
    assert (counts.cells[0].reason, counts.cells[0].often) == ("no route", 2)


def _predicted(name: str, number: float, theory: float, slip: str = "", measured: float | None = 20.0) -> StudentGrade:
    row = Surprise("RTT of L1", "ms", number, 80, theory, measured, f"said {EVIL}", slip)
    one = judged(GOOD)
    return student(name, replace(one, cells=(replace(one.cells[0], surprises=(row,)), *one.cells[1:])))


def test_what_a_class_predicted_stands_next_to_what_it_measured() -> None:
    one_way = "that is one direction"
    grades = graded(
        _predicted("ada", 10, 20, one_way),
        _predicted("bob", 8, 16, one_way, measured=None),  # a network of his own
        _predicted("cyd", 20.5, 20),
        _predicted("dan", 90, 20, EVIL),
        student("eve", judged(GOOD)),
    )
    ((row,),) = (counts.predictions for counts in overview.lab_counts(grades))
    assert (row.what, row.bands) == ("RTT of L1", (0, 2, 1, 0, 1))
    assert (row.median_percent, row.measured_percent, row.sure_percent) == (76.25, 100, 80)
    assert row.slips[0] == (one_way, 2)
    seen = look(class_page(grades))
    assert "2\u00d7: that is one direction" in seen.words
    assert seen.all("script", "img") == []


def test_the_csv_file() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(a_class()))))
    assert rows[0] == {
        "student": "ada", "network": "course", "03-a-lab": "5", "03-a-lab open": "1", "points": "5", "open": "1",
        "of": "6", "handed in": "yes", "notes": "0",
    }  # fmt: skip
    assert [row["points"] for row in rows] == ["5", "3", "3", "3", "0"]
    assert [row["handed in"] for row in rows] == ["yes", "yes", "yes", "yes", "no"]
    assert rows[2]["student"] == "'=cmd|'/c calc'!A1", "a spreadsheet must not run it"
    assert rows[3]["open"] == "2", "what is inconclusive waits"


def test_the_json_file_holds_all_that_is_known() -> None:
    row = Surprise("RTT of L1", "ms", 10, 80, 20, 20.0, f"said {EVIL}", "that is one direction")
    one = judged(bad())
    grades = replace(a_class(), alike=(Alike("what", ("ada", "bob"), 0.9, 0.97),))
    said = student("dan", replace(one, cells=(replace(one.cells[0], surprises=(row,), comment="no"), *one.cells[1:])))
    grades = replace(grades, students=(*grades.students, said))
    assert schema.parse(ClassGrade, to_json(grades), "this file") == grades


def _safe(page: str) -> Seen:
    seen = look(page)
    assert seen.threats == []
    (policy,) = [meta["content"] for meta in seen.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    ids = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {link["href"] for link in seen.all("a")}
    assert {link.removeprefix("#") for link in links if link.startswith("#")} <= set(ids)
    assert "49" not in seen.words, "templates of students are not rendered"
    assert "\x1b" not in page
    assert "\u202e" not in page
    return seen


def test_the_class_s_page_is_safe_and_whole() -> None:
    grades = replace(a_class(), alike=(Alike(f"what {EVIL}", (EVIL, "ada", "bob"), 0.91, 0.97),))
    seen = _safe(class_page(grades))
    for words in ("owned", "91 to 97 %", "nobody", "the machine was busy", "ended", "tried", "note", "Lab 03: A <lab>"):
        assert words in seen.words
    assert {link["href"] for link in seen.all("a")} >= {f"feedback/{one.page}" for one in grades.students}


def test_a_lab_that_nobody_handed_in_has_no_section_of_the_class_s_page() -> None:
    other = replace(LAB, name="04-other", title="Lab 04: other")
    grades = a_class()
    students = [
        replace(one, labs={**one.labs, other.name: Verdict(other.name, "not handed in")}) for one in grades.students
    ]
    seen = _safe(class_page(replace(grades, labs={**grades.labs, other.name: other}, students=tuple(students))))
    assert "Nobody's was judged: Lab 04: other" in seen.words
    assert {one.get("id") for one in seen.all("h2")} & {LAB.name, other.name} == {LAB.name}
    assert "Nobody's was judged" in _safe(class_page(graded())).words, "a class without anybody has a page"


@pytest.mark.parametrize("name", ["ada", EVIL, "cyd"])
def test_a_student_s_page_is_safe_and_whole(name: str) -> None:
    seen = _safe(a_page(name))
    for words in ("rate = 3", "Because", "Why?", "bold"):
        assert words in seen.words
    if name == EVIL:
        assert "it is 1 Mbit/s" in seen.words
        assert "ended" in seen.words
        assert "tried" not in seen.words, "what judges notice is for the instructor"


def test_the_state_of_a_lab_says_what_is_open() -> None:
    assert "judged, free texts open" in look(a_page("ada")).words


def test_the_judge_s_verdict_counts_and_not_what_a_notebook_shows() -> None:
    record = lab(text("goal", "# Lab"), check("check-rate", result(GOOD)), check("check-free", result(GOOD), points=99))
    fixed = with_verdicts(record, judged(bad()))
    assert (fixed.points, fixed.max_points) == (3, 6)
    shown = [item for section in fixed.sections for item in section.items if isinstance(item, Graded)]
    assert shown[0].status == "failed"
    assert len(shown) == 1, "what is no graded cell of the lab has no verdict"


@pytest.mark.slow
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_the_pages_in_a_browser(tmp_path: Path) -> None:
    """Nothing runs there, and they fit small screens."""
    (tmp_path / "class.html").write_text(class_page(a_class()), "utf-8")
    (tmp_path / "student.html").write_text(a_page(EVIL), "utf-8")
    page = Page(tmp_path / "profile")
    try:
        for name, title in (("class", "Class: "), ("student", "Feedback, ")):
            page.browser.get((tmp_path / f"{name}.html").as_uri())
            assert page.browser.title.startswith(title)
            size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
            page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            assert page.browser.execute_script("return document.documentElement.scrollWidth") <= 400
    finally:
        page.close()
