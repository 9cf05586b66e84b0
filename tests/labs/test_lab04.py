"""Lab 04's function in many styles, right and wrong; what is no answer at all. Numbers and runs: `test_recorded`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from linklab.labs import lab04
from linklab.labs.lab04 import functions
from linklab.measure import QueueCounters
from linklab.network import NetworkState
from tests.grade.way_results import QUIET, beside, pinged, sent
from tests.states import PLAN, reshape

Rtts = list[float | None]


def right(rtt_ms: Rtts) -> dict[str, Any]:
    seen = [rtt for rtt in rtt_ms if rtt is not None]
    mean = sum(seen) / len(seen)
    mdev = max(0.0, sum(rtt**2 for rtt in seen) / len(seen) - mean**2) ** 0.5
    return {"min": min(seen), "mean": mean, "max": max(seen), "mdev": mdev}


def by_numpy(rtt_ms: Rtts) -> dict[str, Any]:
    seen = np.array([rtt for rtt in rtt_ms if rtt is not None])
    return {"mdev": np.std(seen), "max": seen.max(), "mean": seen.mean(), "min": seen.min()}


def by_fractions(rtt_ms: Rtts) -> dict[str, Any]:
    seen = [Fraction(rtt) for rtt in rtt_ms if rtt is not None]
    mean = sum(seen) / len(seen)
    mdev = math.sqrt(sum((rtt - mean) ** 2 for rtt in seen) / len(seen))
    return {"min": min(seen), "mean": mean, "max": max(seen), "mdev": mdev, "sent": len(rtt_ms)}


class Summary:
    def __call__(self, rtt_ms: Rtts) -> dict[str, Any]:
        rtt_ms[:] = sorted(rtt for rtt in rtt_ms if rtt is not None)
        seen = [rtt for rtt in rtt_ms if rtt is not None]
        keys = {"min": seen[0], "mean": statistics.mean(seen), "max": seen[-1], "mdev": statistics.pstdev(seen)}
        return {key: round(value, 3) for key, value in keys.items()}


@pytest.mark.parametrize("function", [right, by_numpy, by_fractions, Summary()])
def test_any_style_passes(function: object) -> None:
    assert lab04.check_summary(function).passed


Part = Callable[[list[float], Rtts], Any]


@pytest.mark.parametrize(
    ("key", "part", "says"),
    [
        ("mdev", lambda seen, _: statistics.stdev(seen) if seen[1:] else 0.0, "one less"),
        ("mdev", lambda seen, _: np.mean(np.abs(np.array(seen) - np.mean(seen))), "mean of the distances"),
        ("mdev", lambda seen, _: statistics.pvariance(seen), "the variance"),
        ("mdev", lambda seen, _: max(seen) - min(seen), "the range"),
        ("mdev", lambda seen, _: math.sqrt(sum(rtt**2 for rtt in seen) / len(seen)), "root of the mean square"),
        ("mean", lambda seen, rtts: sum(seen) / len(rtts), "counts as 0"),
        ("mean", lambda seen, _: statistics.median(seen), "the median"),
        ("mean", lambda seen, _: sum(seen), "the sum"),
        ("mean", lambda seen, _: (min(seen) + max(seen)) / 2, "halfway"),
        ("mean", lambda seen, _: sum(seen) / len(seen) / 2, "half of the right one"),
        ("mean", lambda seen, _: sum(seen) / len(seen) / 1000, "a thousandth"),
        ("min", lambda seen, rtts: 0.0 if None in rtts else min(seen), "counts as 0"),
        ("min", lambda seen, _: seen[0], "the first"),
        ("max", lambda seen, _: seen[-1], "the last"),
        ("max", lambda _, rtts: max(rtts), "TypeError"),
        ("mean", lambda *_: None, "not filled in yet"),
        ("mean", lambda *_: "20", "it returns a str"),
    ],
)
def test_one_wrong_number_fails_alone_and_is_named(key: str, part: Part, says: str) -> None:
    def summary(rtt_ms: Rtts) -> dict[str, Any]:
        return {**right(rtt_ms), key: part([rtt for rtt in rtt_ms if rtt is not None], rtt_ms)}

    wrong = [check for check in lab04.check_summary(summary).checks if not check.passed]
    assert wrong
    assert all(says == "TypeError" or key in check.description + check.reason for check in wrong)
    assert all(check.hint for check in wrong)
    assert any(says in check.reason for check in wrong)


@pytest.mark.parametrize("function", [None, 3, lambda rtts: None, lambda rtts: 1 / 0, lambda: {}, lambda rtts: {}])
def test_what_is_no_such_function_fails(function: object) -> None:
    wrong = [check for check in lab04.check_summary(function).checks if not check.passed]
    assert wrong
    assert all(check.hint for check in wrong)


def test_ours_are_out_of_reach() -> None:
    ours = (functions._min, functions._mean, functions._max, functions._mdev)

    def summary(rtt_ms: Rtts) -> dict[str, Any]:
        return dict(zip(("min", "mean", "max", "mdev"), (one(rtt_ms) for one in ours), strict=True))

    found = lab04.check_summary(summary)
    assert "PermissionError" in found.checks[0].reason
    assert not any(check.passed for check in found.checks)
    assert summary([1.0, 3.0])["mdev"] == 1.0, "and at hand again"


_WITHOUT_R2 = NetworkState(tuple(node for node in PLAN.nodes if node.name != "r2"))


def _unshaped() -> NetworkState:
    state = PLAN
    for name in ("r1-eth1", "r2-eth0"):
        state = reshape(state, name, rate_mbps=None, delay_ms=0.0, queue_packets=None)
    return state


@pytest.mark.parametrize("state", [NetworkState(()), _WITHOUT_R2, _unshaped()])
def test_a_run_on_a_network_of_which_theory_knows_nothing_fails_and_raises_nothing(state: NetworkState) -> None:
    pings, transfer = pinged("r1", "r2", 20.0, interval_s=1, network=state), sent("r1", "r2", 38.0, network=state)
    for result in (
        lab04.check_pings({"L1": pings}),
        lab04.check_transfers({"L1": transfer}),
        lab04.check_together(beside(pings, transfer)),
    ):
        assert result.outcome == "failed"
        assert result.checks[0].hint


def test_counters_that_cannot_be_raise_nothing() -> None:
    for frames, size in ((0, 0), (1, 0), (-1, -1)):
        seen = replace(QUIET, queues=(QueueCounters("r1", "r1-eth1", frames, size, 0, 0, 0),))
        assert not lab04.check_headers({}, {"L1": sent("r1", "r2", 38.0, seen)}).passed


@pytest.mark.parametrize("given", [None, ..., 3, "20", [1], {}, {"L1": object()}, {"L1": {}}, {None: math.nan}])
def test_nothing_strange_makes_a_check_raise(given: object) -> None:
    alone = ("rtt", "throughput", "serialisation", "arp", "queue", "pings", "transfers", "together", "summary")
    for name in alone:
        assert not getattr(lab04, f"check_{name}")(given).passed
    for name in ("headers", "queue_seen"):
        assert not getattr(lab04, f"check_{name}")(given, given).passed
