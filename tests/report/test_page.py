"""The page: complete in itself, told to everybody, and safe whatever stands in a notebook."""

from __future__ import annotations

import re
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest

from linklab.grade import Check
from linklab.grade.check import Surprise
from linklab.record import RESULT_MIME, TEXT_STUB
from linklab.report.model import LabRecord
from linklab.report.notebook import lab_of
from linklab.report.page import style, unfinished
from tests.notebooks.run_notebook import read
from tests.show.contrast import contrast

from .books import DOT, SAVED_AT, check, code, free_text, lab, look, page_of, prints, raises, result, shows, text, typed

GOOD = Check.passing("the rate", "10 Mbit/s")
BAD = Check.failing("the delay", "it is 0 ms", "write 10ms", "10 ms", "0 ms")
BUSY = Check("the queue", "inconclusive", "the machine was busy", "run it again")


def a_lab() -> LabRecord:
    return lab(
        text("goal", "# Lab 03: Bandwidth\n\n## 1. Look"),
        code("draw", shows(png=DOT, text_plain="Network: 1 host.\nSubnet A"), shows(png="AAAA", text_plain="A curve")),
        code("answer-rate", source="rate = 3 < 4", solution=True, grade=False),
        check("check-rate", result(GOOD, BAD, title="Lab 03, the rate"), raises("GradeError", "x")),
        text("q", "## 2. Explain\n\n**Question.** Why?"),
        free_text("reflect-why", "Because *so*."),
        check("check-queue", result(BUSY, title="Lab 03, the queue"), raises("GradeError", "x")),
        check("check-last", count=None),
        free_text("reflect-last", TEXT_STUB),
    )


def test_the_page_needs_nothing_else() -> None:
    seen = look(page_of(a_lab()))
    assert seen.threats == []
    assert all(link["href"].startswith("#") for link in seen.all("a"))
    (policy,) = [meta["content"] for meta in seen.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
    assert "url(" not in style()
    assert "@import" not in style()


def test_a_misconception_is_named_on_the_last_page_and_the_student_s_own_words_come_first() -> None:
    off = {"what": "RTT of L1", "unit": "ms", "predicted": 10, "sure_percent": 90, "theory": 20, "measured": 20.1,
           "said": "you predicted 10: that is one direction. A round trip has two.",
           "slip": "that is one direction"}  # fmt: skip
    near = {"what": "rate $x", "predicted": 19.5, "measured": None, "said": "close to theory", "slip": ""}
    forged = [off | {"predicted": wrong} for wrong in ("many", float("inf"), 10**400)]
    rows = [off | {"said": f"{off['said']}\ud800{'x' * 100_000}"}, off | near, *forged, "nothing"]
    told = result(GOOD, title="Lab 03, pings")
    told.data[RESULT_MIME]["surprises"] = rows
    record = lab(
        text("goal", "# Lab 03: Bandwidth\n\n## 1. Look"),
        code("answer-rate", source="rate = 3", solution=True, grade=False),
        check("check-rate", told),
        text("q", "## 2. Explain\n\n**Question.** Why?"),
        free_text("reflect-why", "Because *so*."),
    )
    assert [it.what for it in record.surprises] == ["RTT of L1", "rate x"]
    words = " ".join(look(page_of(record)).words.split())
    order = ["Because so.", "Predicted and measured", "rate = 3", "Method and limits", "What surprised me", "Points of"]
    places = [words.rindex(part) for part in order]
    assert places == sorted(places)
    said = (
        "1 of 2 predictions were within 5 % of theory and showed no known mistake. Likely mistakes behind the others:"
    )
    assert f"{said} that is one direction." in words
    assert "predicted 10 ms, 90 % sure; measured 20.1. you predicted 10: that is one direction" in words


def test_the_page_can_be_found_through_and_read_aloud() -> None:
    seen = look(page_of(a_lab(), lab(code("a", prints("x")))))
    assert seen.all("html")[0]["lang"] == "en"
    ids = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link["href"].removeprefix("#") for link in seen.all("a")} <= set(ids)
    assert {it["aria-labelledby"] for _, it in seen.elements if "aria-labelledby" in it} <= set(ids)
    assert all(image["alt"] for image in seen.all("img"))
    levels = [int(tag[1]) for tag, _ in seen.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(head["scope"] in ("col", "row") for head in seen.all("th"))


def test_calibration_is_over_all_labs() -> None:
    labs = []
    for title, sure, predicted in (("Lab 03: Bandwidth", 90, 20.0), ("Lab 04: Latency", 95, 40.0)):
        told = result(GOOD)
        told.data[RESULT_MIME]["surprises"] = [asdict(Surprise("RTT", "ms", predicted, sure, 20.0, 20.0, ""))]
        labs.append(lab(text("goal", f"# {title}"), check("check-rtt", told)))
    words = " ".join(look(page_of(*labs)).words.split())
    assert "How sure, and how often right: Lab 03 to Lab 04" in words
    assert "90 to 100 2 1 50" in words
    assert "How sure I was" not in look(page_of(a_lab())).words, "nothing was predicted"


def test_the_page_says_what_became_of_every_check() -> None:
    words = " ".join(look(page_of(a_lab())).words.split())
    for told in (
        "Name Ada",
        "a <machine>",
        "Lab 03: Bandwidth 0 of 8 points",
        "0 of 8 points, 2 not judged, and up to 1 that the instructor gives",
        "the delay 10 ms it is 0 ms write 10ms",
        "the queue the machine was busy run it again",
        "the rate 10 Mbit/s as expected",
        "rate = 3 < 4",
        "Question. Why? Answer: up to 1 point, which the instructor gives Because so.",
        "Not answered: 0 of 1 point",
        "Lab 03, the queue. Inconclusive: the machine was busy",
        "last. This check was not run.",
        "Free text: last. Nothing was written.",
        "Cells. 1 of 5 code cells were not run.",
    ):
        assert told in words, told


def test_many_checks_that_failed_alike_are_told_together() -> None:
    failed = [Check.failing(f"address of h{it}", f"h{it}: none", f"h{it}: give it one") for it in range(1, 9)]
    words = look(page_of(lab(check("check-a", result(*failed))))).words
    assert "address of h1, h2, h3, h4, ... (4 more)" in words
    assert "h8: give it one" not in words


def test_a_notebook_that_was_not_executed_is_named_and_has_no_part() -> None:
    absent = lab(text("goal", "# Lab 04"), check("check-a", count=None))
    seen = look(page_of(a_lab(), absent))
    assert len(seen.all("article")) == 1
    assert "Lab 04 0 2 0 0 not executed" in " ".join(seen.words.split())
    assert unfinished(absent) == [("The notebook", "It was never executed.")]


EVIL = "</style></script></pre></title>\"'><script>steal()</script><img src=https://evil.test/x onerror=steal()>"


def hostile() -> LabRecord:
    """A notebook that tries it everywhere."""
    check_ = {"outcome": "failed"} | dict.fromkeys(("description", "reason", "hint", "expected", "found"), EVIL)
    answer = free_text(
        "reflect-a", f"{EVIL}\n\n[a](javascript:steal()) <b onclick=steal()>b</b> ![p](attachment:{EVIL[:5]})"
    )
    answer["attachments"] = {EVIL: {"image/png": EVIL}}
    cells: list[Any] = [
        text("goal", f"# {EVIL}\n\n## {EVIL}\n\n**Question.** {EVIL}"),
        answer,
        code("html", shows(text_html=EVIL), shows(text_html=f'<div style="background:url(//evil.test/x)">{EVIL}')),
        code(
            "plain", prints(f"{EVIL} \ud83d"), shows(text_plain=EVIL), typed("text/markdown", EVIL), raises(EVIL, EVIL)
        ),
        code("image", shows(png=DOT, text_plain=EVIL), shows(svg=f"<svg>{EVIL}</svg>"), shows(png=EVIL)),
        code("script", typed("application/javascript", "steal()"), typed(EVIL, EVIL)),
        code("widget", typed("application/vnd.jupyter.widget-view+json", {"model_id": "box"}, EVIL)),
        code("answer-a", source=EVIL, solution=True, grade=False),
        check("check-a", typed(RESULT_MIME, {"linklab": EVIL, "title": EVIL, "checks": [check_]}), raises(EVIL, EVIL)),
    ]
    noted = dict.fromkeys(("linklab", "run_at", "kind", "kernel", "ping"), EVIL)
    return lab(*cells, linklab=noted)


def test_nothing_of_a_hostile_notebook_runs_or_loads() -> None:
    page = page_of(hostile(), student=EVIL)
    page.encode("utf-8")  # half a character does not spoil the file
    seen = look(page)
    assert seen.threats == []
    assert seen.words.count("<script>steal()</script>") > 15, "it is shown as the text that it is"


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_colour_of_text_stands_out(theme: int) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1 at least."""
    pairs = re.findall(r"--linklab-(\w+): light-dark\((#\w{6}), (#\w{6})\)", style())
    colours = {name: themes[theme] for name, *themes in pairs}
    for ink in ("ink", "quiet", "link", "good", "bad"):
        for ground in ("ground", "panel"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def test_the_page_of_a_solution() -> None:
    one = lab_of(read("solutions/00-start-here.ipynb"), "00-start-here.ipynb", SAVED_AT)
    assert (one.title, one.points, one.max_points, one.notes) == ("Lab 00: Start here", 9, 11, ())
    assert [mark.status for mark in one.graded] == ["passed"] * 6 + ["answered", "passed", "passed", "answered"]
    assert all(mark.checks for mark in one.graded if mark.kind == "check")
    assert [surprise.slip for surprise in one.surprises] == ["", ""]
    words = " ".join(look(page_of(one)).words.split())
    for shown in ("0% packet loss", "What takes the rest?", "2 of 2 predictions were within 5 % of theory"):
        assert shown in words
    assert words.index("In my own words") < words.index("Predicted and measured")
    assert "BEGIN SOLUTION" not in words
