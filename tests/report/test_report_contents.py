"""What a notebook has to show: sections, figures, answers, widgets, and the circumstances of its run."""

from __future__ import annotations

from typing import Any

import pytest

from linklab import record
from linklab.report.model import Code, FreeText, Gone, Item, Markup, Picture, Printed, Verdict, Written
from linklab.report.outputs import LINES_AT_MOST, items, printed
from linklab.report.widgets import STATE_MIME

from .books import DOT, check, code, free_text, lab, prints, raises, shows, text, typed

ADDED = "1b2c3d4e-0000-4000-8000-abcdefabcdef"


def shown(*outputs: Any, states: dict[str, Any] | None = None) -> list[Item]:
    return list(items(outputs, states or {}, "in 'here'"))


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
    assert one.sections[0].items == (Code("answer-rate", "rate = 3\nrate = 4"), Verdict(one.graded[0]))
    assert one.sections[1].items == (FreeText(one.graded[1], "**Question.** Why?", Written("Because.")),)


def test_a_question_belongs_to_the_answer_right_after_it_alone() -> None:
    one = lab(text("q", "**Question.** Why?"), free_text("reflect-a", "So."), free_text("reflect-b", "Thus."))
    assert [it.question for it in one.sections[0].items if isinstance(it, FreeText)] == ["**Question.** Why?", ""]


def test_notes_that_students_add_are_theirs() -> None:
    one = lab(text("goal", "# Lab\n\nRead this."), text(ADDED, "I saw 38.2."), code("run", prints("x")))
    assert one.sections[0].items[0] == Written("I saw 38.2.", {}, own_note=True)


def test_the_last_drawing_of_the_network_stands_apart_and_pictures_come_once() -> None:
    first, last = (
        shows(png=data, text_plain=f"Network: {words}.") for data, words in ((DOT, "1 host"), ("AAAA", "2 hosts"))
    )
    curve = shows(png="BBBB", text_plain="Throughput over time.")
    one = lab(code("a", first, count=1), code("b", curve, curve, count=2), code("c", last, count=3))
    assert one.network == Picture("image/png", "AAAA", "Network: 2 hosts.")
    (section,) = one.sections
    assert [it.data for it in section.items if isinstance(it, Picture)] == [DOT, "BBBB"]


def test_pictures_say_what_they_show() -> None:
    html = f'<img src="data:image/png;base64,{DOT}" alt="a &lt; b" style="width:720px;max-width:100%">'
    assert shown(shows(png=DOT, text_html=html, text_plain="p")) == [Picture("image/png", DOT, "a < b", 720)]
    assert shown(shows(png=DOT, text_plain="RTT over time")) == [Picture("image/png", DOT, "RTT over time")]
    for untold in ("<Figure size 640x480 with 1 Axes>", ""):
        assert shown(shows(png=DOT, text_plain=untold)) == [
            Picture("image/png", DOT, "A figure without a description, in 'here'")
        ]
    (svg,) = shown(shows(svg="<svg onload='x'/>", text_plain="s"))
    assert svg == Picture("image/svg+xml", "PHN2ZyBvbmxvYWQ9J3gnLz4=", "s")
    assert shown(shows(png='"><script>', text_plain="s")) == [Gone("An image that cannot be read.")]


def test_text_is_what_a_terminal_would_have_left() -> None:
    assert shown(prints("a\x1b[31mred\x1b[0m\x07"), prints("\n10 %\r20 %\r\n30 %")) == [Printed("ared\n20 %\n30 %")]
    assert shown(prints(" \n")) == []
    assert printed("x\u202egnp.exe").text == "xgnp.exe"
    long = printed("\n".join(map(str, range(100))))
    assert (len(long.text.split("\n")), long.left_out) == (LINES_AT_MOST, 60)
    assert len(printed("x" * 10**6).text) < 10**4


def test_each_output_has_one_form() -> None:
    assert shown(shows(text_html="<table></table>", text_plain="t")) == [Markup("<table></table>")]
    assert shown(typed("text/markdown", "*a*", "a")) == [Written("*a*")]
    assert shown(shows(text_plain="{'a': 1}")) == [Printed("{'a': 1}")]
    assert shown(typed("application/json", {"a": 1})) == [Printed('{\n "a": 1\n}')]
    assert shown(raises("ValueError", "no")) == [Printed("ValueError: no", is_error=True)]
    assert shown(typed(record.LAB_MIME, {"clock": "virtual"})) == []
    (gone,) = shown(typed("application/javascript", "steal()"))
    assert isinstance(gone, Gone)
    assert "application/javascript" in gone.why


def widgets(**states: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: {"model_name": model, "state": state} for name, (model, state) in states.items()}


VIEW = typed("application/vnd.jupyter.widget-view+json", {"model_id": "box"}, "VBox(children=...)")


def test_widgets_show_their_last_state() -> None:
    states = widgets(
        box=(
            "VBoxModel",
            {"children": ["IPY_MODEL_bar", "IPY_MODEL_said", "IPY_MODEL_stop", "IPY_MODEL_out", "IPY_MODEL_x"]},
        ),
        bar=("FloatProgressModel", {"value": 3.0, "max": 10.0, "description": "repeats"}),
        said=("HTMLModel", {"value": "<b>done</b>"}),
        stop=("ButtonModel", {"description": "Stop"}),
        out=(
            "OutputModel",
            {"outputs": [{"output_type": "display_data", "data": {"image/png": DOT, "text/plain": "RTT"}}]},
        ),
    )
    assert shown(VIEW, states=states) == [
        Printed("repeats: 3.0 of 10.0"),
        Markup("<b>done</b>"),
        Picture("image/png", DOT, "RTT"),
    ]


@pytest.mark.parametrize(
    "states",
    [{}, {"box": 1}, widgets(box=("VBoxModel", {})), widgets(box=("VBoxModel", {"children": ["IPY_MODEL_box"] * 2}))],
)
def test_a_widget_without_a_state_is_told_of(states: dict[str, Any]) -> None:
    (gone,) = shown(VIEW, states=states)
    assert isinstance(gone, Gone)


def test_the_notebook_s_own_widget_states_are_used() -> None:
    saved = {STATE_MIME: {"state": widgets(box=("LabelModel", {"value": "ready"}))}}
    assert lab(code("a", VIEW), widgets=saved).sections[0].items == (Printed("ready"),)


def test_what_a_run_noted_of_itself() -> None:
    noted = {
        "linklab": "0.1.0",
        "run_at": "2026-11-21T18:53:46+00:00",
        "clock": "virtual",
        "kind": "guest",
        "ping": "p",
    }
    facts = lab(code("a"), linklab=noted, language_info={"name": "python", "version": "3.11.2"}).facts
    assert (facts.run_at, facts.kind) == ("2026-11-21 18:53 UTC", "guest")
    assert facts.tools == (("python", "3.11.2"), ("ping", "p"))


def test_without_a_note_the_outputs_and_the_file_s_date_tell_it() -> None:
    output = typed(record.LAB_MIME, {"linklab": "0.1.0", "clock": "real", "kind": "native", "kernel": "6.1"})
    facts = lab(code("a", output)).facts
    assert (facts.run_at, facts.kind, facts.linklab) == ("until 2026-05-04 12:30 UTC", "native", "0.1.0")
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
