"""Whole notebooks, judged with labs: solutions get all points, starters none of the checks'."""

from __future__ import annotations

import copy
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.course import write_variant
from linklab.grade.seeding import of_submission, seeds
from linklab.grading.work import VERDICT, Work
from linklab.labs.lab03 import unknown
from linklab.network.variants import variant
from linklab.runtime.backends import Kind
from tests.grading.judging import ROOT, changed, judge, lay_work, solution, starter, without

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.timeout(1800)]

SECRET = b"a secret of the course that is long enough"
SIMPLEPERF = {"simpleperf.py": ROOT / "solutions" / "simpleperf.py"}


@pytest.mark.parametrize("lab", ["01", *(pytest.param(lab, marks=pytest.mark.large) for lab in ("05", "10"))])
def test_a_solution_gets_all_points(virtual: Kind, tmp_path: Path, lab: str) -> None:
    done = judge(solution(lab), tmp_path, files=SIMPLEPERF)
    checks = [cell for cell in done.judged.cells if cell.kind == "check"]
    assert done.failed == [], done.why()
    assert sum(cell.points for cell in checks) == sum(cell.max_points for cell in checks) > 0
    assert done.judged.ended == ""
    assert done.judged.for_the_instructor == ()
    assert done.judged.network == "course"
    assert done.judged.virtual_s > 0
    assert {cell.status for cell in done.judged.cells if cell.kind == "free text"} <= {"answered"}


@pytest.mark.large
def test_a_program_that_cannot_be_tried_fails_and_leaves_no_points_open(virtual: Kind, tmp_path: Path) -> None:
    (tmp_path / "reliable.py").write_text("def broken(:\n")
    files = {"reliable.py": tmp_path / "reliable.py"}
    done = judge(without(solution("13"), "imports", "check-stop-and-wait"), tmp_path, files=files)
    assert done.status("stop-and-wait") == "failed", done.why()
    assert "reliable.py is not Python that can run: line 1: " in done.shown("check-stop-and-wait")
    assert (done.judged.open_points, done.judged.for_the_instructor) == (0, ())


@pytest.mark.large
def test_a_starter_fails_all_checks(virtual: Kind, tmp_path: Path) -> None:
    done = judge(starter("01"), tmp_path)
    checks = [cell for cell in done.judged.cells if cell.kind == "check"]
    assert {cell.status for cell in checks} == {"failed"}, done.why()
    assert sum(cell.points for cell in checks) == 0
    assert done.judged.ended == ""


@pytest.mark.large
def test_who_has_no_simpleperf_measures_with_linklabs(virtual: Kind, tmp_path: Path) -> None:
    done = judge(solution("04"), tmp_path)
    assert done.failed == [], done.why()
    assert "Measuring with Linklab" in done.shown("answer-transfers")


@pytest.mark.large
def test_a_judge_that_is_told_to_end_leaves_no_verdict(virtual: Kind, tmp_path: Path) -> None:
    """It would count in the next run, with all checks that were not run."""
    book = changed(without(solution("04"), "imports", "answer-rtt", "check-rtt"), {"answer-rtt": "while True: pass"})
    work = lay_work(book, tmp_path)
    words = [sys.executable, "-P", "-m", "linklab.grading.judge", str(work.folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any("answer-rtt" in line for line in process.stdout)
        process.terminate()
        assert process.wait(120) == 128 + signal.SIGTERM
    assert not (work.folder / VERDICT).exists()


@pytest.mark.large
def test_a_check_that_crashes_is_nobodys_failure(virtual: Kind, tmp_path: Path) -> None:
    kept = [f"{role}-{name}" for name in ("rtt", "parsed", "summary") for role in ("answer", "check")]
    book = without(solution("04"), "imports", *kept)
    done = judge(book, tmp_path, program=[str(Path(__file__).with_name("crashing_judge.py"))])
    cells = {cell.cell_id: cell for cell in done.judged.cells}
    for name in ("parsed", "summary"):
        assert (done.status(name), cells[f"check-{name}"].points) == ("inconclusive", 0.0)
        (check,) = cells[f"check-{name}"].checks
        assert "not your fault" in check.reason
        assert "Traceback" not in done.shown(f"check-{name}")
    assert done.status("rtt") == "passed"
    assert done.judged.open_points == cells["check-parsed"].max_points + cells["check-summary"].max_points > 0
    notes = [note for note in done.judged.for_the_instructor if "TypeError: a fault of the check's own" in note]
    assert len(notes) == 2
    assert done.judged.ended == ""


THEORY = """
from linklab.labs.lab01 import rules
from linklab.network import path, rtt_floor_ms
measured_rtt_ms = {name: rtt_floor_ms(path(network, *ends)) for name, ends in rules.RTT_PAIRS.items()}
"""


@pytest.mark.large
@pytest.mark.parametrize("start", ["lab = linklab.start(network)", "lab = linklab.start(network).state()"])
def test_lab_01_wants_a_network_of_the_students_own(virtual: Kind, tmp_path: Path, start: str) -> None:
    cells = {
        "start": f"import linklab\n{start}", "answer-routes": "", "answer-forwarding": "", "answer-measured": THEORY,
    }  # fmt: skip
    done = judge(changed(solution("01"), cells), tmp_path)
    assert {"nodes", "links", "forwarding", "routes"} <= set(done.failed), done.why()
    assert done.judged.open_points == sum(one.max_points for one in done.judged.cells if one.kind == "free text")


@pytest.mark.large
def test_a_program_that_the_notebook_writes_is_noted(virtual: Kind, tmp_path: Path) -> None:
    copied = "import os, shutil\nshutil.copy(os.environ['LINKLAB_SIMPLEPERF'], 'reliable.py')"
    book = without(changed(solution("13"), {"imports": copied}), "imports", "check-stop-and-wait")
    done = judge(book, tmp_path)
    assert any("reliable.py was not handed in like this" in note for note in done.judged.for_the_instructor), (
        done.judged.for_the_instructor
    )


@pytest.mark.large
def test_a_search_is_judged_on_the_same_networks_again(virtual: Kind, tmp_path: Path) -> None:
    """The checks name the networks, which are drawn from what was handed in alone."""
    mine = "def find_bandwidth(prober):\n    return 20.5\n"
    book = without(solution("03"), "imports", "answer-find", "check-search")
    done = judge(changed(book, {"answer-find": mine}), tmp_path)
    with of_submission(Work.of(tmp_path).own_digest()):
        drawn = seeds("an unknown network", unknown.NETWORKS, 10**6)
    named = [check.description for check in done.judged.cells[0].checks[: unknown.NETWORKS]]
    assert [int(re.findall(r"seed (\d+)", name)[0]) for name in named] == list(drawn)


@pytest.mark.large
def test_a_variant_is_judged_by_its_own_numbers(virtual: Kind, tmp_path: Path) -> None:
    network = variant("ada", SECRET)
    book = without(solution("04"), "imports", "answer-parsed", "check-parsed", "answer-pings", "check-pings")
    mine = judge(book, tmp_path / "mine", network=network)
    assert mine.failed == [], mine.why()
    assert mine.judged.network == network.name


@pytest.mark.large
def test_the_students_own_variant_counts_for_nothing(virtual: Kind, tmp_path: Path) -> None:
    tmp_path.joinpath("given").mkdir()
    path = write_variant(variant("ada", SECRET), tmp_path / "given")
    book = without(solution("05"), "imports", "answer-bdp", "check-bdp")
    theirs = copy.deepcopy(book.cells[1:])
    for cell, name in zip(theirs, ("answer-theirs", "check-theirs"), strict=True):
        cell.id = cell.metadata.nbgrader["grade_id"] = name
    # as the answer before, with numbers of the variant
    theirs[0].source = book.cells[1].source.replace("2 * L1.delay_ms", "2 * 11")
    book.cells += theirs
    done = judge(book, tmp_path, files={"linklab-variant.json": path})
    assert done.judged.network == "course"
    assert done.status("bdp") == "passed"
    assert done.status("theirs") == "failed"
