"""Verdicts on the MTU study's findings: they follow the numbers, whichever way these point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.published.mtu_study import CLAIMS
from linklab.study.mtu.claims import judge_mtu

Row = dict[str, Any]
VALUES = {
    ("10/10", "paced"): {"max": 10.1, "settled": 10.0, "jitter": 0.0, "extra": 20},
    ("10/10", "greedy"): {"max": 15.8, "settled": 10.005, "jitter": 2.3, "extra": 1600},
    ("100/10", "paced"): {"max": 10.1, "settled": 10.0, "jitter": 0.0, "extra": 0},
}


def table() -> list[Row]:
    rows = []
    for size in (1518, 7999):
        for (rates, sending), values in VALUES.items():
            levels = {
                "form": "direct",
                "frame_bytes": size,
                "rates": rates,
                "sending": sending,
                "packets": 9,
                "repeat": 1,
            }
            for metric, value in (
                ("bandwidth_max_mbps", values["max"]),
                ("bandwidth_settled_mbps", values["settled"]),
                ("jitter_mean_ms", values["jitter"]),
                ("burst_bytes", size - 4 + values["extra"]),
            ):
                rows.append({**levels, "of": "", "number": None, "metric": metric, "value": value})
            rows.append({**levels, "of": "", "number": 2, "metric": "jitter_ms", "value": 77.0})
    return rows


def verdicts(rows: list[Row]) -> dict[str, str]:
    return {judged.claim.id: judged.verdict for judged in judge_mtu(rows)}


EXPECTED = {
    "mtu-first-packets": "confirmed",
    "mtu-settles": "confirmed",
    "mtu-bandwidth-size": "confirmed",
    "mtu-jitter-size": "refuted",
    "mtu-real-less": "not testable here",
    "mtu-jitter-real": "not testable here",
    "mtu-light-load": "confirmed",
    "mtu-over-capacity": "refuted",
}


def test_each_form_is_judged_by_its_own_runs() -> None:
    other = [{**row, "form": "gre", "value": 0.9 * row["value"]} for row in table()]
    found = {
        form: {it.claim.id: it.verdict for it in judge_mtu([*table(), *other], form)} for form in ("direct", "gre")
    }
    assert found["direct"] == EXPECTED
    assert found["gre"] == EXPECTED | {"mtu-settles": "refuted"}


def test_every_claim_has_a_verdict_and_numbers() -> None:
    assert verdicts(table()) == EXPECTED
    assert list(EXPECTED) == [claim.id for claim in CLAIMS]
    because = {judged.claim.id: judged.because for judged in judge_mtu(table())}
    assert because["mtu-first-packets"] == (
        "in 2 of 2 runs that fill the link; at most 15.8 Mbit/s (1518 bytes at 10/10)"
    )
    assert because["mtu-over-capacity"].endswith("once, 1600 bytes more than a frame pass")


def change(metric: str, value: float, wanted: Callable[[Row], bool]) -> list[Row]:
    return [{**row, "value": value} if row["metric"] == metric and wanted(row) else row for row in table()]


@pytest.mark.parametrize(
    ("metric", "value", "wanted", "changed"),
    [
        (
            "bandwidth_max_mbps",
            10.05,
            lambda row: row["sending"] == "greedy" and row["frame_bytes"] == 1518,
            {"mtu-first-packets": "refuted", "mtu-light-load": "refuted"},
        ),
        ("bandwidth_settled_mbps", 9.8, lambda row: True, {"mtu-settles": "refuted"}),
        (
            "bandwidth_settled_mbps",
            9.8,
            lambda row: row["frame_bytes"] == 1518,
            {"mtu-settles": "refuted", "mtu-bandwidth-size": "refuted"},
        ),
        ("jitter_mean_ms", 0.004, lambda row: row["frame_bytes"] == 7999, {"mtu-jitter-size": "confirmed"}),
        ("bandwidth_max_mbps", 10.6, lambda row: row["rates"] == "100/10", {"mtu-light-load": "refuted"}),
        ("bandwidth_settled_mbps", 10.09, lambda row: row["rates"] == "10/10", {"mtu-over-capacity": "confirmed"}),
    ],
)
def test_other_numbers_give_other_verdicts(
    metric: str, value: float, wanted: Callable[[Row], bool], changed: dict[str, str]
) -> None:
    assert verdicts(change(metric, value, wanted)) == EXPECTED | changed


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (lambda row: row["form"] == "gre", "no runs of form direct"),
        (lambda row: row["frame_bytes"] == 1518, "one size of frames only"),
        (lambda row: row["sending"] == "paced", "lacks runs that a claim is about"),
        (lambda row: row["sending"] == "greedy", "no paced runs of two sizes"),
    ],
)
def test_a_table_without_the_runs_gives_no_verdict(wanted: Callable[[Row], bool], says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        judge_mtu([row for row in table() if wanted(row)])
