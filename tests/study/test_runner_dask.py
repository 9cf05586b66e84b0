"""A study's points on a Dask scheduler's workers: none is lost with a worker, and the digits are this machine's."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import distributed
import pytest

from linklab.dask_run import Cluster
from linklab.runtime.backends import Kind
from linklab.study import Study, StudyProgress, run, study_by_name

pytestmark = [pytest.mark.large, pytest.mark.lab]
OF_ONES_OWN = """
from beside import packets
from linklab.measure import PingFlow, run
from linklab.study import Measured, Metric, Study

def measure(lab, point):
    found = run(lab, PingFlow("h1", "h2", packets(point)))
    return [Measured("rtt_ms", it, number=number) for number, it in enumerate(found.rtt_ms) if it is not None]

MINE = Study("mine", "Mine", "two-hosts", {"count": (3, 4, 5)}, measure, [Metric("rtt_ms", "ms", "a round trip")], 4)
"""


@pytest.fixture
def of_ones_own(tmp_path: Path) -> Study:
    """A study in a file, with a module beside it: no other machine has them."""
    sys.modules.pop("beside", None)  # another test's
    (tmp_path / "beside.py").write_text("def packets(point):\n    return point.whole('count')\n")
    (tmp_path / "mine.py").write_text(OF_ONES_OWN)
    return study_by_name(f"{tmp_path / 'mine.py'}:MINE")


def test_a_cluster_that_loses_a_worker_measures_every_point_once_with_the_same_digits(
    virtual: Kind, of_ones_own: Study, tmp_path: Path
) -> None:
    told: list[StudyProgress] = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0
        ) as made,
        distributed.Client(made.scheduler_address, set_as_default=False) as other,
        Cluster(made.scheduler_address) as cluster,
    ):
        (victim, *_) = other.run(os.getpid).values()

        def watch(progress: StudyProgress) -> None:
            told.append(progress)
            if progress.done == 3:
                os.kill(victim, signal.SIGKILL)

        table = run(of_ones_own, tmp_path / "cluster", cluster=cluster, on_progress=watch)
        assert victim not in other.run(os.getpid).values()
    assert table.missing == ()
    assert sorted(str(it.point) for it in told[1:]) == sorted(map(str, of_ones_own.points()))
    assert len(list((tmp_path / "cluster" / "points").glob("count=*.json"))) == 12
    here = run(of_ones_own, tmp_path / "here")
    for name in ("mine.csv", "mine.json"):
        assert (tmp_path / "cluster" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    assert here.lookup("rtt_ms", number=0, count=3).count == 4


def test_an_interrupt_ends_the_labs_on_the_workers(virtual: Kind, of_ones_own: Study, tmp_path: Path) -> None:
    def interrupt(progress: StudyProgress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0
        ) as made,
        Cluster(made.scheduler_address) as cluster,
    ):
        with pytest.raises(KeyboardInterrupt):
            run(of_ones_own, tmp_path, cluster=cluster, on_progress=interrupt)
        with distributed.Client(made.scheduler_address, set_as_default=False) as other:
            assert list(other.processing().values()) == [()]
    assert len(run(of_ones_own, tmp_path)) == 48
