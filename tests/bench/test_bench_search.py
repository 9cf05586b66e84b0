"""The benchmark of searches: its table, and one network for real."""

from __future__ import annotations

from pathlib import Path

import pytest

import linklab
from linklab.network.random_chain import random_chain
from linklab.runtime.backends import Kind
from tools.bench.search import INCREASE, SEARCHES, TRAIN, Found, as_markdown, main, tried, truth_mbps


def test_the_table_has_medians_and_each_network() -> None:
    results = [
        Found(name, seed, 3, 10.0, 10.0 + seed * factor, 2.0 * seed, 5, 4.0)
        for seed in (1, 2, 3)
        for name, factor in zip(SEARCHES, (0.5, -0.2, 0.0), strict=True)
    ]
    text = as_markdown(results)
    assert f"| {INCREASE} | 10.00 % | 15.00 % | 4.00 MB | 12.0 MB | 5 | 4.0 s |" in text
    assert f"| {TRAIN} | 0.00 % | 0.00 % |" in text
    assert "| 2 | 3 | 10.00 | +10.00 %, 4.00 MB | -4.00 %, 4.00 MB | +0.00 %, 4.00 MB |" in text


def test_a_number_of_networks_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--networks", "0"])
    assert "choose 1 or more" in capsys.readouterr().err


@pytest.mark.lab
def test_a_train_beats_the_plain_increase_on_a_network(virtual: Kind, tmp_path: Path) -> None:
    results = {
        found.search: found
        for found in tried(3, lambda network: linklab.start(network, "virtual", folder=tmp_path), (8, 12))
    }
    assert set(results) == set(SEARCHES)
    assert results[TRAIN].theory_mbps == truth_mbps(random_chain(3, bottleneck_mbps=(8, 12)))
    assert abs(results[TRAIN].error_percent) < 1
    assert abs(results[TRAIN].error_percent) < abs(results[INCREASE].error_percent) < 15
    assert results[TRAIN].sent_mb < results[INCREASE].sent_mb / 2
