"""Classes graded by the command with the real judge in labs: each verdict as expected, here and on a cluster."""

from __future__ import annotations

import csv
import json
import os
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import distributed
import pytest

from linklab.cli import main
from tests.grading.made_class import BY_NAME, CASES, LAB, Case, make_class
from tests.notebooks.run_notebook import ROOT
from tests.thorough import some_cases

pytestmark = [
    pytest.mark.lab,
    pytest.mark.slow,
    pytest.mark.usefixtures("virtual"),
]
TWO = tuple(BY_NAME[name] for name in ("right", "patches-the-checks"))
ON_A_CLUSTER = tuple(BY_NAME[name] for name in ("right", "no-prediction", "no-checks", "raises", "starter"))


def _words(folder: Path) -> list[str]:
    words = ["grade", str(folder / "in"), "--output", str(folder / "out"), "--labs", "00", "--root", str(ROOT)]
    return [*words, "--cell-limit-s", "60"]  # or those that wait for ever would take ten minutes


def _held_to_expectations(folder: Path, made: Mapping[str, Case]) -> Any:
    told = json.loads((folder / "out" / "grades.json").read_text())
    assert len(told["students"]) == len(made)
    for one in told["students"]:
        case, lab = made[one["student"]], one["labs"][LAB]
        cells = lab.get("cells", [])
        passed = {cell["id"] for cell in cells if cell["status"] == "passed"}
        answered = {cell["id"] for cell in cells if cell["status"] == "answered"}
        assert passed == set(case.passed), (case.name, lab)
        assert answered == set(case.answered), (case.name, lab)
        assert bool(cells) == case.found, (case.name, lab)
        page = (folder / "out" / "feedback" / one["page"]).read_text("utf-8")
        assert "<script>alert" not in page
        assert "\x1b" not in page
        assert page.count("STOLEN") == (case.name == "reads-the-hidden-tests"), "in its own source alone"
    return told


@pytest.mark.large
@pytest.mark.parametrize("cases", some_cases(((TWO,), (CASES,)), ("two", "every-kind"), "two"))
def test_a_class(cases: tuple[Case, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = make_class(tmp_path / "in", cases)
    assert main(_words(tmp_path)) == 0, capsys.readouterr().err
    told = _held_to_expectations(tmp_path, made)
    first = told["students"][0]
    assert "<figure>" in (tmp_path / "out" / "feedback" / first["page"]).read_text("utf-8"), "the network was drawn"
    rows = list(csv.DictReader((tmp_path / "out" / "grades.csv").open(newline="")))
    assert [float(row["points"]) for row in rows] == [one["points"] for one in told["students"]]
    capsys.readouterr()
    judged = sum(case.found for case in cases)
    assert main(_words(tmp_path)) == 0
    assert f"0 notebooks to judge, {judged} judged before" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_class_on_a_cluster_that_loses_a_worker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = make_class(tmp_path / "in", ON_A_CLUSTER, students=10)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0
    ) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            (victim, *_) = client.run(os.getpid).values()

        def kill() -> None:
            deadline = time.monotonic() + 600
            while len(list(tmp_path.glob("out/**/result.json"))) < 5 and time.monotonic() < deadline:
                time.sleep(0.1)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        assert main([*_words(tmp_path), "--dask", cluster.scheduler_address]) == 0, capsys.readouterr().err
        killer.join()
    _held_to_expectations(tmp_path, made)
