"""Dask: who cannot be reached, or has another Linklab, is told in one line."""

from __future__ import annotations

import sys

import distributed
import pytest

from linklab import dask_run
from linklab.dask_run import Cluster, WorkerPlace
from linklab.errors import LinklabError


@pytest.mark.slow
def test_where_nobody_answers_or_works_one_line_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_run, "_CONNECT_S", 2)
    with pytest.raises(LinklabError, match=r"no Dask scheduler answers at 127.0.0.1:1 .*dask scheduler starts one"):
        Cluster("127.0.0.1:1")
    with (
        distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None) as empty,
        pytest.raises(LinklabError, match="has no workers: dask worker tcp://127"),
    ):
        Cluster(empty.scheduler_address)


@pytest.mark.slow
def test_what_fails_there_is_one_line_and_another_linklab_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as one,
        Cluster(one.scheduler_address) as cluster,
    ):
        outcomes = dict(cluster.run(_half, [("four", (4,)), ("none", (0,))]))
        assert outcomes["four"] == 2
        assert str(outcomes["none"]) == "the cluster could not run it: nothing has no half"
        digests = iter([b"mine", b"another"])
        monkeypatch.setattr(dask_run, "linklab_digest", lambda: next(digests))
        (outcome,) = dict(cluster.run(_half, [("four", (4,))])).values()
        assert "another Linklab" in str(outcome)


def _half(number: int, place: WorkerPlace) -> float:
    if not number:
        raise ValueError("nothing has no half\nat all")
    return number / 2


def test_without_dask_one_line_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(LinklabError, match=r"pip install linklab\[grading\]"):
        Cluster("127.0.0.1:1")
