"""Searches: judged by error and traffic of all networks; a search in a lab."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from linklab.labs.lab03.unknown import random_chain
from linklab.runtime.backends import Kind
from linklab.study import Measured, Point, run
from tools.bench.search import INCREASE, PAGE, SEARCHES, STUDY, TRAIN, truth_mbps

from .made import made, verdicts


@pytest.mark.parametrize(
    ("error_percent", "megabytes", "networks", "verdict"),
    [
        (-1.25, 1.0, 30, "reproduced"),
        (-9.0, 1.0, 30, "not reproduced"),
        (1.0, 50.0, 30, "not reproduced"),
        (1.0, 1.0, 8, "not testable here"),
    ],
)
def test_a_search_is_judged_by_error_and_traffic(
    error_percent: float, megabytes: float, networks: int, verdict: str
) -> None:
    def measured(point: Point) -> list[Measured]:
        if point.whole("seed") > networks:
            return []
        values = {
            name: {"error_percent": -0.5, "sent_megabytes": 100.0, "probes": 50, "duration_s": 20.0}
            for name in SEARCHES
        }
        values[TRAIN] = {"error_percent": error_percent, "sent_megabytes": megabytes, "probes": 1, "duration_s": 2.0}
        return [Measured(metric, value, of=name) for name, each in values.items() for metric, value in each.items()]

    assert [it for it, _ in verdicts(PAGE, made(STUDY, measured))] == [verdict]


@pytest.mark.large
@pytest.mark.lab
def test_a_train_beats_the_plain_increase_on_a_network(virtual: Kind, tmp_path: Path) -> None:
    network = random_chain(3, bottleneck_mbps=(8, 12))
    table = run(replace(STUDY.with_levels(seed=(3,)), testbed=lambda _: network), tmp_path)
    error, sent = (
        {name: table.lookup(metric, of=name).same for name in SEARCHES}
        for metric in ("error_percent", "sent_megabytes")
    )
    assert 8 * 0.9 < truth_mbps(network) < 12
    assert abs(error[TRAIN]) < 1
    assert abs(error[TRAIN]) < abs(error[INCREASE]) < 15
    assert sent[TRAIN] < sent[INCREASE] / 2
