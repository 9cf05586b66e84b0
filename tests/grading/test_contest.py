"""A contest: who is ranked and how, and what becomes of a controller that is hostile."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import distributed
import pytest

from linklab import cli
from linklab.dask_run import Cluster
from linklab.grading import contest
from linklab.grading.contest import Contestant, Standing, TraceScore
from linklab.network.traces import Trace, write_trace
from linklab.programs import congestion
from linklab.runtime.backends import Kind
from tests.programs.congestion import controllers

SLOW: Final = Trace("slow", tuple(range(10, 1001, 10)))
"""100 packets a second: a run on it costs little."""


def _hand_in(folder: Path, student: str, text: str) -> None:
    (folder / student).mkdir(parents=True)
    (folder / student / contest.CONTROLLER).write_text(text)


def _standing(student: str, score: float, trouble: str = "") -> Standing:
    return Standing(student, f"name of {student}", (TraceScore("slow", score, 1.0, 30.0),), trouble)


# Without a lab


def test_each_student_has_a_controller_or_a_line_that_says_why_not(tmp_path: Path) -> None:
    _hand_in(tmp_path, "ada", f'NAME = "the first"\nNAME = "Ada\\nL."\n{controllers.fixed(10)}')
    _hand_in(tmp_path, "bob", "class Controller:\n  def (")
    _hand_in(tmp_path, "eve", "")
    (tmp_path / "nil").mkdir()
    (tmp_path / "nil" / "notes.txt").write_text("later")
    with zipfile.ZipFile(tmp_path / "zoe.zip", "w") as packed:
        packed.writestr("lab19/controller (1).py", controllers.fixed(20))
    found, unmatched = contest.entries([tmp_path], None, "")
    assert unmatched == ()
    by_student = {entry.student: entry for entry in found}
    assert {student: bool(entry.text) for student, entry in by_student.items()} == {
        "ada": True, "bob": False, "eve": False, "nil": False, "zoe": True,
    }  # fmt: skip
    assert by_student["ada"].name == "Ada\ufffdL."
    assert by_student["zoe"].name == "(no name)"
    assert "line 2" in by_student["bob"].trouble
    assert all(by_student[student].trouble for student in ("bob", "eve", "nil"))


def test_equal_scores_share_a_rank_and_trouble_comes_last() -> None:
    all_of_them = [_standing("c", -1.0, "it looped"), _standing("b", -1.5), _standing("d", -2.0), _standing("a", -1.5)]
    rows = contest.ranked(all_of_them)
    assert [(row.rank, row.standing.student) for row in rows] == [("1", "a"), ("1", "b"), ("3", "d"), ("", "c")]


def test_what_a_student_wrote_is_text_on_the_page_and_in_the_table(tmp_path: Path) -> None:
    rows = contest.ranked([Standing("eve", "=1+1<script>", (TraceScore("slow", -1.0, 1.0, 30.0),))])
    contest.write_results(rows, [SLOW], tmp_path)
    assert "<script>" not in (tmp_path / "index.html").read_text()
    heads, row = csv.reader(io.StringIO((tmp_path / "contest.csv").read_text()))
    assert dict(zip(heads, row, strict=True))["name"] == "'=1+1<script>"


def test_the_page_names_nobody_but_as_they_named_themselves(tmp_path: Path) -> None:
    contest.write_results(contest.ranked([_standing("real.name", -1.0)]), [SLOW], tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "real.name" not in page.replace("name of real.name", "")


# In a lab


def _judged(text: str, traces: Sequence[Trace] = (SLOW,)) -> Standing:
    return contest.judged(Contestant("eve", "Eve", text.encode()), traces)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless loop is ended after less computing than a class's judge allows."""
    monkeypatch.setattr(congestion, "_STALL_CPU_S", 4.0)


@pytest.mark.lab
@pytest.mark.usefixtures("impatient", "virtual")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (controllers.CRASHES, "slow: line 12 of controller.py: ZeroDivisionError"),
        pytest.param(controllers.LOOPS, "did not come to an end", marks=pytest.mark.large),
        pytest.param(controllers.HOARDS, "more than 192 MB", marks=pytest.mark.large),
        pytest.param(controllers.SLEEPS, "did not come to an end", marks=pytest.mark.large),
        (controllers.FORGES, "files in its folder were changed"),
        pytest.param("class Controller:\n    pass\n", "AttributeError", marks=pytest.mark.large),
        pytest.param(controllers.fixed(0), "no packet arrived", marks=pytest.mark.large),
    ],
    ids=["crashes", "loops", "hoards", "sleeps", "forges", "no methods", "never sends"],
)
def test_a_hostile_controller_is_a_line_and_has_no_score(text: str, said: str) -> None:
    standing = _judged(text)
    assert standing.score is None
    assert said in standing.trouble


@pytest.mark.lab
def test_a_controller_sees_nothing_of_the_trace(virtual: Kind) -> None:
    standing = _judged(controllers.LOOKS)
    assert standing.trouble == ""
    assert standing.score is not None


@pytest.mark.lab
def test_the_same_digits_for_a_student_and_again_for_a_judge(
    virtual: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is judged already is not judged again, and a page and a table are there."""
    hidden, class_folder, output = tmp_path / "hidden", tmp_path / "class", tmp_path / "out"
    hidden.mkdir()
    write_trace(SLOW, hidden / "slow")
    _hand_in(class_folder, "ada", f'NAME = "Ada"\n{controllers.fixed(4)}')
    _hand_in(class_folder, "eve", controllers.CRASHES)
    words = ["contest", str(class_folder), "--traces", str(hidden), "--output", str(output), "--jobs", "1"]
    assert cli.main(words) == 0
    table = (output / "contest.csv").read_text()
    assert cli.main(words) == 0
    assert "2 controllers, 2 judged before" in capsys.readouterr().out
    assert (output / "contest.csv").read_text() == table
    (score,) = [row["score"] for row in csv.DictReader(io.StringIO(table)) if row["student"] == "ada"]
    own = class_folder / "ada" / contest.CONTROLLER
    assert cli.main(["contest", str(own), "--traces", str(hidden)]) == 0
    assert f"Ada ({contest.CONTROLLER}): {score}" in capsys.readouterr().out


@pytest.mark.lab
@pytest.mark.large
def test_workers_of_a_cluster_give_the_same_digits(virtual: Kind, tmp_path: Path) -> None:
    entries = [
        Contestant("ada", "Ada", controllers.fixed(4).encode()),
        Contestant("bob", "Bob", controllers.RENO.encode()),
    ]
    here = contest.judge_all(entries, [SLOW], tmp_path / "here", 1, None, lambda _: None)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as one,
        Cluster(one.scheduler_address) as cluster,
    ):
        there = contest.judge_all(entries, [SLOW], tmp_path / "there", 1, cluster, lambda _: None)
    assert there == here
