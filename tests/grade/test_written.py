"""What counts as a written answer, and the explanations of all labs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linklab.grade.cells import is_answer
from linklab.grade.choices import explanation
from linklab.notebooks.build import sources
from linklab.notebooks.source import read_source
from linklab.record import TEXT_STUB
from tests.notebooks.run_notebook import ROOT

QUESTION = "## 3. Rates\n\n**Question.** Along a path RTTs add up. Rates do not. Why? Is it L1 or the second flow?"


@pytest.mark.parametrize(
    "text",
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
def test_stub_and_question_are_no_answer(text: str) -> None:
    assert not is_answer(text, QUESTION)


@pytest.mark.parametrize(
    "text",
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
def test_words_of_ones_own_are_an_answer(text: str) -> None:
    assert is_answer(text, QUESTION)


@pytest.mark.parametrize("source", sources(ROOT), ids=lambda path: path.name[:2])
def test_an_explanation_stands_behind_its_answer(source: Path) -> None:
    number, written = source.name[:2], set()
    for cell in read_source(source):
        written |= {cell.cell_id.removeprefix("reflect-")} if cell.kind == "reflect" else set()
        for name in re.findall(r'explain\("([^"]+)"\)', cell.text):
            assert name in written
            assert "**What counts:** " in explanation(ROOT / f"lib/linklab/labs/lab{number}", name)


def test_an_explanation_ends_with_what_counts_in_each_answer_above_it() -> None:
    counts = explanation(ROOT / "lib/linklab/labs/lab07", "fairness").partition("**What counts:**")[2]
    assert counts.count("1 point:") == 3
