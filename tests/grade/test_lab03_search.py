"""Lab 03's functions that find a bandwidth: right ones, wrong ones that look right, and a busy machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from linklab.analysis.packets import steady_rate_mbps, train_rate_mbps
from linklab.analysis.searching import bisect, from_train, increase
from linklab.grade import Result
from linklab.labs import lab03
from linklab.labs.lab03 import unknown
from linklab.measure import Prober
from linklab.network import Network
from linklab.network.random_chain import random_chain
from linklab.runtime.backends import Kind

Arrivals = Sequence[float]


def test_right_estimates_pass() -> None:
    assert lab03.check_train(train_rate_mbps).passed
    assert lab03.check_train(steady_rate_mbps).passed

    def second_half(arrival_s: Arrivals, payload_bytes: int) -> float:
        return train_rate_mbps(arrival_s[len(arrival_s) // 2 :], payload_bytes)

    assert lab03.check_train(second_half).passed


def _rate(arrival_s: Arrivals, payload_bytes: int, packets: int) -> float:
    return packets * payload_bytes * 8e-6 / (arrival_s[-1] - arrival_s[0])


@pytest.mark.parametrize(
    ("estimate", "says"),
    [
        (lambda times, size: _rate(times, size, len(times)), "counts n packets"),
        (lambda times, size: size * 8e-6 / (times[1] - times[0]), "first gap alone"),
        (lambda times, size: _rate(times, size, len(times) - 1) / 8, "MByte/s"),
        (lambda times, size: _rate(times, size, len(times) - 1) * 1e6, "in bit/s"),
        (lambda times, size: (len(times) - 1) * size * 8e-6 / times[-1], "last time of arrival"),
        (lambda times, size: (len(times) - 1) / (times[-1] - times[0]), "packets a second"),
        (lambda times, size: _rate(times, 1448, len(times) - 1), "1448 bytes"),
        (lambda times, size: _rate(times, size + 42, len(times) - 1), "more than theory"),
        (lambda times, size: None, "gave None"),
        (lambda times, size: times["first"], "raised TypeError"),
    ],
)
def test_a_wrong_estimate_is_named(estimate: Callable[[Any, int], object], says: str) -> None:
    result = lab03.check_train(estimate)
    assert not result.passed
    assert any(says in check.reason for check in result.checks)
    assert all(check.hint for check in result.checks if not check.passed)


SEEDS = (11, 12)


def search(find: Callable[[Prober], object], folder: Path, seeds: Sequence[int] = SEEDS) -> Result:
    return lab03.check_search(find, seeds, "virtual", folder)


@pytest.mark.lab
def test_a_right_search_passes(virtual: Kind, lab_folder: Path, nothing_left: None) -> None:
    result = search(from_train, lab_folder)
    assert result.passed, str(result)
    assert len(result.checks) == len(SEEDS) + 2


@pytest.mark.lab
@pytest.mark.parametrize(
    ("find", "says"),
    [
        (lambda prober: from_train(prober) / 8, "MByte/s"),
        (lambda prober: from_train(prober) * 1e6, "in bit/s"),
        (lambda prober: None, "gave None"),
        (lambda prober: prober.fast(), "raised AttributeError"),
        (lambda prober: prober.send(1000), "of the budget of 60 MB are left"),
        (lambda prober: steady_rate_mbps(prober.train(60), 1448), "no such probe"),
        (lambda prober: next(rate for rate in (2, 4, 8, 16, 32, 64) if prober.send(rate).loss_percent), "% was lost"),
        (lambda prober: bisect(prober, 0, 3), "does the range close"),
    ],
)
def test_a_wrong_search_is_named(virtual: Kind, lab_folder: Path, find: Callable[[Prober], object], says: str) -> None:
    result = search(find, lab_folder, SEEDS[:1])
    assert not result.passed
    assert says in str(result), str(result)
    assert all(check.hint for check in result.checks if not check.passed)


@pytest.mark.lab
def test_a_rate_that_lost_packets_is_no_answer_however_near(virtual: Kind, lab_folder: Path) -> None:
    def too_high(prober: Prober) -> float:
        guess = steady_rate_mbps(prober.train(60), 1448)
        prober.send(0.98 * guess)
        assert prober.send(1.04 * guess, 6).loss_percent > 0
        return 1.04 * guess

    result = search(too_high, lab_folder, SEEDS[:1])
    assert [check.description for check in result.checks if not check.passed] == ["each answer confirmed by a probe"]
    assert "your own probe lost packets" in str(result)


@pytest.mark.lab
def test_the_plain_increase_takes_too_much_or_is_too_coarse(virtual: Kind, lab_folder: Path) -> None:
    fast = next(seed for seed in range(100) if _slowest(random_chain(seed, bottleneck_mbps=(5, 40))) > 34)
    result = search(lambda prober: increase(prober, 20), lab_folder, [fast])
    assert [check.description for check in result.checks if not check.passed] == ["traffic of the search"]


def _slowest(network: Network) -> float:
    return min(link.rate_mbps for link in network.links if link.rate_mbps is not None)


@pytest.mark.parametrize(
    ("answer", "doubts", "outcome"),
    [(10.0, [], "passed"), (12.0, [], "failed"), (12.0, ["busy"], "inconclusive"), (80.0, ["busy"], "failed")],
)
def test_a_busy_machine_is_blamed_for_what_it_can_have_done(
    answer: float, doubts: list[str], outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prober: Any = SimpleNamespace(probes=[], doubts=doubts, sent_bytes=0, count=0)

    def tried(find: object, seed: int, *rest: object) -> unknown._Try:
        network = random_chain(seed, bottleneck_mbps=(10, 10))
        return unknown._Try(seed, network, "real", answer * 1448 / 1490, None, prober)

    monkeypatch.setattr(unknown, "_tried", tried)
    assert lab03.check_search(lambda prober: answer, [1]).checks[0].outcome == outcome


def test_the_networks_of_the_check_are_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def tried(find: object, seed: int, *rest: object) -> Any:
        seen.append(seed)
        raise KeyboardInterrupt

    monkeypatch.setattr(unknown, "_tried", tried)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            lab03.check_search(lambda prober: 1)
    assert len(set(seen)) == 3
