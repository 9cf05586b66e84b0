"""A class is judged again: what has changed, and no more; and it is said who gained and who lost what."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import linklab
from linklab.digests import judging_digest
from linklab.errors import LinklabError
from linklab.grading.grade import grade
from linklab.grading.kit import Kit, read_kit
from tests.grading.conftest import PretendedClass
from tests.grading.made_class import LAB, solved, starter
from tests.notebooks.run_notebook import ROOT

RULES = {
    "lab50": "from linklab.grade.result import guarded\ncheck_a = guarded('a')(len)\n",
    "lab51": "from linklab.labs.lab50.rules import check_a\n",
    "lab52": "",
}


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a Linklab's labs; the second one uses the first."""
    for lab, rules in RULES.items():
        (tmp_path / "labs" / lab).mkdir(parents=True)
        (tmp_path / "labs" / lab / "rules.py").write_text(rules)
    monkeypatch.setattr(linklab, "__file__", str(tmp_path / "__init__.py"))
    yield tmp_path / "labs"
    judging_digest.cache_clear()


def _digests() -> dict[str, bytes]:
    judging_digest.cache_clear()
    return {lab: judging_digest(lab) for lab in RULES}


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (RULES["lab50"] + "# a comment\n", set()),
        (RULES["lab50"].replace("'a'", "'b'"), {"lab50", "lab51"}),
        ("def broken(", {"lab50", "lab51"}),
    ],
)
def test_a_change_in_a_labs_rules_counts_for_the_labs_that_use_it(labs: Path, change: str, changed: set[str]) -> None:
    before = _digests()
    (labs / "lab50" / "rules.py").write_text(change)
    after = _digests()
    assert {lab for lab in before if before[lab] != after[lab]} == changed


def _kit_with(kit: Kit, **texts: str) -> Kit:
    """The kit with other texts in some cells of the lab."""
    lab = kit.labs[LAB]
    names = {name.replace("_", "-"): text for name, text in texts.items()}
    cells = [{**cell, "source": names.get(cell["id"], cell["source"])} for cell in lab.book["cells"]]
    parts = tuple(
        replace(part, starter=names[part.cell_id], full=names[part.cell_id]) if part.cell_id in names else part
        for part in lab.parts
    )
    return replace(kit, labs={**kit.labs, LAB: replace(lab, parts=parts, book={**lab.book, "cells": cells})})


@pytest.mark.large
def test_a_typo_in_the_instructors_words_judges_nobody_again(group: PretendedClass, kit: Kit) -> None:
    group.hand_in("ada", solved())
    group.grade()
    words = next(part.cell_id for part in kit.labs[LAB].parts if part.role == "given" and part.cell_type == "markdown")
    group.order = replace(group.order, kit=_kit_with(kit, **{words.replace("-", "_"): "# Other words"}))
    group.grade()
    assert group.judged == 0
    group.order = replace(group.order, kit=_kit_with(kit, ping="print('another given cell')"))
    group.grade()
    assert group.judged == 1


@pytest.mark.large
def test_it_is_said_who_gained_and_who_lost_what(group: PretendedClass) -> None:
    group.hand_in("ada", starter())
    group.hand_in("bob", solved())
    group.hand_in("cyd", solved())
    group.grade()
    assert group.said[-1] == "3 students, 3 notebooks to judge"
    group.hand_in("ada", solved())
    group.hand_in("bob", starter())
    group.grade()
    ada, bob, summary = group.said[-3:]
    assert ada.startswith(f"judged again, ada, {LAB}: 0 to 9 points: gained check-network, check-prediction-rtt")
    assert bob.startswith(f"judged again, bob, {LAB}: 9 to 0 points: lost check-network, check-prediction-rtt")
    assert summary == "2 notebooks judged again: the points of 2 changed"


@pytest.mark.large
def test_one_student_is_judged_again_and_all_others_stay(group: PretendedClass, kit: Kit) -> None:
    for student in ("ada", "bob"):
        group.hand_in(student, solved())
    group.grade()
    group.order = replace(group.order, kit=_kit_with(kit, ping="print('all would be judged again')"), only=("ada",))
    ada, bob = group.grade().students
    assert group.judged == 1
    assert (ada.points, bob.points) == (9, 9)
    group.order = replace(group.order, only=("eve",))
    with pytest.raises(LinklabError, match="nobody is called eve"):
        group.grade()


def test_what_was_ordered_again_and_interrupted_is_judged_by_the_next_run(group: PretendedClass) -> None:
    group.hand_in("ada", solved())
    (ada,) = group.grade().students
    only = replace(group.order, only=("ada",))
    grade([group.source], group.output, only, lambda _: {}, group.said.append)  # as after Ctrl-C
    (again,) = group.grade().students
    assert group.judged == 1
    assert replace(again.labs[LAB], wall_s=0, begun_at="") == replace(ada.labs[LAB], wall_s=0, begun_at="")


def test_a_source_that_was_edited_and_not_built_is_refused(tmp_path: Path) -> None:
    for folder in ("labs", "solutions"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    source = tmp_path / "solutions" / f"{LAB}.py"
    source.write_text(source.read_text("utf-8").replace("lab00.check_queue(", "lab00.check_measured_rtt("), "utf-8")
    with pytest.raises(LinklabError, match=r"not what its source makes .*check-queue.*: run"):
        read_kit(tmp_path)
