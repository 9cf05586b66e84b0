"""Judging on a cluster of two workers, with a pretended judge: nothing is lost with a worker, and a stop stops all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import distributed
import pytest

from linklab.dask_run import Cluster, WorkerPlace
from linklab.grading.assemble import assemble
from linklab.grading.judges import ClassProgress, DaskCrew, judge_on_worker
from linklab.grading.kit import Kit
from linklab.grading.verdict import Limits, Verdict
from linklab.grading.work import Work, prepare
from linklab.signals import SIGNALS
from tests.processes import running_with

pytestmark = pytest.mark.slow  # two workers of Dask start
JUDGE = (sys.executable, str(Path(__file__).with_name("pretended_judge.py")))
_LATER = """
import runpy, sys, time
with open(sys.argv.pop(1), "a") as log:
    log.write("begun\\n")
time.sleep(0.3)
runpy.run_path(sys.argv.pop(1), None, "__main__")
"""
LAB = "00-start-here"


class Watch(ClassProgress):
    """Remembers what is over."""

    def __init__(self) -> None:
        super().__init__(6)
        self.over: list[Verdict] = []
        self.fourth = threading.Event()

    def ended(self, work: Work, verdict: Verdict) -> None:
        self.over.append(verdict)
        if len(self.over) == 4:
            self.fourth.set()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers on this machine's loopback, each with a nanny that starts it anew."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0
    ) as made:
        yield made


@pytest.fixture
def client(cluster: Any) -> Iterator[Cluster]:
    """A client of that cluster."""
    with Cluster(cluster.scheduler_address) as made:
        yield made


def works(kit: Kit, folder: Path, count: int, word: str = "") -> list[Work]:
    """Lab 00 of so many students, as they got it; the judge finds the word in it."""
    lab = kit.labs[LAB]
    book = json.loads(assemble(lab, ()).text)
    cell = {"cell_type": "code", "id": "x", "source": f"# judge: {word}", "metadata": {}, "outputs": []}
    book["cells"].append({**cell, "execution_count": None})
    text = json.dumps(book)
    draft = Verdict(LAB, begun_at="now")
    return [prepare(Work(f"student-{it}", lab.worth, draft, folder=folder / str(it)), text, {}) for it in range(count)]


@pytest.mark.large
def test_all_are_judged_and_kept(kit: Kit, client: Cluster, tmp_path: Path) -> None:
    watch = Watch()
    found = DaskCrew(client, watch, JUDGE).run(works(kit, tmp_path, 3))
    assert len(found) == len(watch.over) == 3
    assert {verdict.state for verdict in found.values()} == {"judged"}
    assert all(work.verdict.state == "judged" for work in works(kit, tmp_path, 3)), "they count in another run"


@pytest.mark.large
def test_a_worker_that_is_killed_half_way_costs_nothing(
    kit: Kit, cluster: Any, client: Cluster, tmp_path: Path
) -> None:
    watch = Watch()
    assert client.threads == 2
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as other:
        (victim, *_) = other.run(os.getpid).values()

    def kill() -> None:
        watch.fourth.wait(120)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    log = tmp_path / "judged"
    slow = (sys.executable, "-c", _LATER, str(log), JUDGE[1])
    found = DaskCrew(client, watch, slow).run(works(kit, tmp_path, 8))
    killer.join()
    assert sorted(student for student, _ in found) == sorted(f"student-{it}" for it in range(8))
    assert {verdict.state for verdict in found.values()} == {"judged"}
    begun = len(log.read_text().splitlines())
    assert begun <= 8 + 2, "what the lost worker had judged and handed over is not judged again"


def test_a_judge_that_fails_is_told_and_not_tried_again(kit: Kit, client: Cluster, tmp_path: Path) -> None:
    (verdict,) = DaskCrew(client, Watch(), JUDGE).run(works(kit, tmp_path, 1, "raise")).values()
    assert verdict.state == "judge failed"
    assert "RuntimeError: a judge's" in verdict.ended
    assert "\x1b" not in verdict.ended


@pytest.fixture
def own_signals(signals_as_before: None) -> Iterator[None]:
    """A run that was stopped leaves signals dropped, since its process ends; here it goes on."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("own_signals")
def test_a_stop_ends_the_judges_on_the_workers(kit: Kit, client: Cluster, tmp_path: Path) -> None:
    watch = Watch()
    judge = own_judge(tmp_path)
    crew = DaskCrew(client, watch, judge)

    def interrupt() -> None:
        deadline = time.monotonic() + 120
        while not (running_with(judge[1], "linklab-judge-") or time.monotonic() > deadline):
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    found = crew.run(works(kit, tmp_path, 4, "hang"))
    thread.join()
    assert crew.interrupted
    assert dict(found) == {}
    assert running_with(judge[1], "linklab-judge-") == []


def own_judge(folder: Path) -> tuple[str, str]:
    """A copy of the pretended judge, whose processes are not taken for those of a test that runs beside."""
    return sys.executable, str(shutil.copy(JUDGE[1], folder))


def test_who_judges_too_long_is_ended(kit: Kit, tmp_path: Path) -> None:
    (work,) = works(kit, tmp_path, 1, "hang")
    contents = {path.name: path.read_bytes() for path in work.folder.iterdir() if path.is_file()}
    short = replace(work, verdict=replace(work.verdict, limits=Limits(wall_s=1)))
    judge, place = own_judge(tmp_path), WorkerPlace(str(tmp_path), lambda: False)
    assert judge_on_worker(short, contents, judge, 0.0, place) == "the judge was not done after 1 s"
    assert running_with(judge[1], "linklab-judge-") == []
