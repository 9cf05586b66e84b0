"""What a judge that fails or hangs costs, and what is left of a run that is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from glob import glob
from pathlib import Path

import pytest

from linklab.grading.verdict import Limits
from tests.grading.conftest import PretendedClass
from tests.grading.made_class import LAB, put, solved
from tests.notebooks.run_notebook import ROOT
from tests.processes import running_with


@pytest.mark.large
@pytest.mark.parametrize(
    ("word", "trouble"),
    [
        ("crash", "ended with signal SIGSEGV"), ("raise", "status 1: RuntimeError: a judge's"),
        ("full", "No space left on device"), ("silent", "wrote no verdict"),
        ("garbage", "verdict is damaged"), ("lie", "not one on this lab"),
    ],
)  # fmt: skip
def test_a_failing_judge_costs_its_own_notebook_and_is_tried_again(
    group: PretendedClass, word: str, trouble: str
) -> None:
    group.hand_in("ada", put(solved(), answer_prediction_rtt=f"predicted_rtt_ms = 20\n# judge: {word}"))
    group.hand_in("bob", solved())
    for _ in range(2):
        grades = group.grade()
        ada, bob = grades.students
        assert bob.points == 9
        assert ada.labs[LAB].state == "judge failed"
        assert trouble in ada.labs[LAB].ended
        assert ada.labs[LAB].ended.isprintable()
        assert (ada.points, ada.open_points) == (0, 2), "its free texts can still be read"
        assert [row[:2] for row in grades.failed] == [("ada", LAB)]
    assert group.judged == 1, "of the two, the one that failed"


def test_a_page_that_a_full_disk_prevented_is_told_and_written_the_next_time(
    group: PretendedClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    group.hand_in("ada", solved())
    with monkeypatch.context() as patch:
        patch.setattr("linklab.grading.grade.feedback", lambda *_: os.write(os.open("/dev/full", os.O_WRONLY), b"x"))
        grades = group.grade()
    assert (grades.is_complete, grades.students[0].page) == (False, "")
    assert 'href="feedback/' not in (group.output / "index.html").read_text()
    assert group.grade().is_complete


@pytest.mark.large
@pytest.mark.parametrize("word", ["hang", "hang-hard"])
def test_a_judge_that_hangs_is_ended(group: PretendedClass, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linklab.headless.workers.TERM_TIMEOUT_S", 0.3)
    group.order, group.grace_s = replace(group.order, limits=Limits(wall_s=1)), 0.2
    group.hand_in("ada", put(solved(), answer_prediction_rtt=f"predicted_rtt_ms = 20\n# judge: {word}"))
    (ada,) = group.grade().students
    assert "was not done" in ada.labs[LAB].ended
    assert not running_with(str(group.output))


@pytest.mark.large
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_leaves_nothing_behind_and_keeps_what_is_done(
    group: PretendedClass, number: signal.Signals
) -> None:
    group.hand_in("ada", solved())
    for name in ("bob", "cyd", "dan"):
        group.hand_in(name, put(solved(), answer_prediction_rtt="predicted_rtt_ms = 20\n# judge: hang"))
    script = Path(__file__).with_name("grade_with_pretended_judge.py")
    words = [sys.executable, str(script), str(group.source), str(group.output), str(ROOT), LAB]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True, env=dict(os.environ))
    try:
        deadline = time.monotonic() + 120
        # glob, as pathlib's own raises for a folder that the run removes meanwhile
        while not glob("**/verdict.json", root_dir=group.output, recursive=True) or group.judged < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        status = process.wait(60)
    finally:
        process.kill()
    assert status == (130 if number != signal.SIGKILL else -signal.SIGKILL)
    deadline = time.monotonic() + 30
    while running_with(str(group.output)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running_with(str(group.output)) == []
    if number != signal.SIGKILL:
        told = json.loads((group.output / "grades.json").read_text())
        states = {one["student"]: one["labs"][LAB]["state"] for one in told["students"]}
        assert states == {"ada": "judged", "bob": "not judged", "cyd": "not judged", "dan": "not judged"}
    for name in ("bob", "cyd", "dan"):
        group.hand_in(name, solved())
    assert [one.points for one in group.grade().students] == [9, 9, 9, 9]
    assert group.judged == 3, "ada's verdict was kept"
