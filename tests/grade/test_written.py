"""What counts as a written answer, and the explanations of all labs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import linklab.labs.lab00
import linklab.labs.lab06  # noqa: F401 - explanations are found beside it
from linklab.course import using
from linklab.grade import written as written_answers
from linklab.grade.choices import explanation, seal
from linklab.grade.notebook_cells import is_answer
from linklab.grade.written import explain
from linklab.network.variants import variant
from linklab.notebooks.build import sources
from linklab.notebooks.source import read_source
from linklab.record import PAGE_MIME, TEXT_STUB
from tests.notebooks.run_notebook import ROOT
from tests.report.books import code, free_text, shows, text

QUESTION = "## 3. Rates\n\n**Question.** Along a path RTTs add up. Rates do not. Why? Is it L1 or the second flow?"


@pytest.mark.parametrize(
    "said",
    [
        "",
        " \n",
        "...",
        TEXT_STUB,
        f" {TEXT_STUB} ",
        TEXT_STUB.strip("*"),
        f"{TEXT_STUB}\n\n{TEXT_STUB}",
        "Rates do not. Why?",
        "**Question.** Along a path RTTs add up.",
        "> along a path RTTs add up",
        f"{QUESTION}\n\n{TEXT_STUB}",
    ],
)
def test_stub_and_question_are_no_answer(said: str) -> None:
    assert not is_answer(said, QUESTION)


@pytest.mark.parametrize(
    "said",
    [
        "L1",
        "The second flow",
        f"{TEXT_STUB}\n\nThe slowest link.",
        f"{TEXT_STUB} The slowest link.",
        f"{QUESTION}\n\nThe slowest link limits them.",
        "Along a path RTTs add up, because a packet crosses each link",
        "\u6700\u6162\u7684\u94fe\u8def",
    ],
)
def test_words_of_ones_own_are_an_answer(said: str) -> None:
    assert is_answer(said, QUESTION)


@pytest.mark.parametrize("source", sources(ROOT), ids=lambda path: path.name[:2])
def test_an_explanation_stands_behind_its_answer(source: Path) -> None:
    number, written = source.name[:2], set()
    for cell in read_source(source):
        written |= {cell.cell_id.removeprefix("reflect-")} if cell.kind == "reflect" else set()
        for name in re.findall(r'explain\("([^"]+)"\)', cell.text):
            assert name in written
            assert "**What counts:**" in explanation(ROOT / f"lib/linklab/labs/lab{number}", name)


def test_an_explanation_says_whose_numbers_it_has() -> None:
    lab = ROOT / "lib/linklab/labs/lab06"
    plain = explanation(lab, "queue")
    with using(variant("ada", b"a secret of the tests")):
        assert explanation(lab, "queue").startswith(f"{plain}\n\n*Where your network has other numbers")


def test_a_question_that_is_open_is_shown_in_place_of_its_explanation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    question = text("question", "Some words.\n\n**Question.** Who waits, and\nwhere?")
    monkeypatch.setattr(written_answers, "_asked_for", set())
    asked, explained = r"> Who waits, and\n> where?", "**Explanation"
    answers = (TEXT_STUB, TEXT_STUB, "Who waits, and where?", "h1 waits")
    for answer, has_question, has_explanation in zip(answers, (1, 0, 0, 0), (0, 0, 0, 1), strict=True):
        notebook = {"cells": [question, free_text("reflect-queue", answer)]}
        (tmp_path / "06-multiplexing.ipynb").write_text(json.dumps(notebook), "utf-8")
        monkeypatch.chdir(tmp_path)
        explain("linklab.labs.lab06", "queue")
        shown = capsys.readouterr().out
        assert (asked in shown, explained in shown) == (has_question, has_explanation)


def test_an_explanation_keeps_and_shows_the_answer_that_opened_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(written_answers, "somebody_watches", lambda: True)
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    monkeypatch.chdir(tmp_path)
    for answer in ("idk", "h1 waits"):  # the second time in a kernel that was started anew, with the page's outputs
        monkeypatch.setattr(written_answers, "_opened", {})
        outputs = [shows(**shown[0])] if shown else []
        cells = [text("question", "**Question.** Who?"), free_text("reflect-queue", answer), code("e", *outputs)]
        (tmp_path / "06-multiplexing.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
        explain("linklab.labs.lab06", "queue")
    assert [bundle[PAGE_MIME]["opened_by"] for bundle in shown] == [{"reflect-queue": "idk"}] * 2
    assert ["> idk" in bundle["text/markdown"] for bundle in shown] == [True, True]


def test_answers_of_two_labs_in_one_kernel_are_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(written_answers, "somebody_watches", lambda: True)
    monkeypatch.setattr(written_answers, "_opened", {})
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    monkeypatch.chdir(tmp_path)
    for lab, answer in (("00", "nobody waits"), ("06", "h1 waits")):
        cells = [text("question", "**Question.** Who?"), free_text("reflect-queue", answer)]
        (tmp_path / f"{lab}-it.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
        explain(f"linklab.labs.lab{lab}", "queue")
    assert [bundle[PAGE_MIME]["opened_by"]["reflect-queue"] for bundle in shown] == ["nobody waits", "h1 waits"]


def test_an_explanation_ends_with_what_counts_in_each_answer_above_it(tmp_path: Path) -> None:
    sealed = seal('[explanations]\nhosts = "Two."', {"hosts": ["a host", "a link"]})
    (tmp_path / "choices.json").write_text(sealed, "utf-8")
    counts = explanation(tmp_path, "hosts").partition("**What counts:**")[2]
    assert counts.strip().splitlines() == ["- first answer, a host.", "- second answer, a link."]
