"""The part that holds the reference simpleperf beside iperf3."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.errors import LabError
from tools.bench import simpleperf
from tools.bench.part import Record, Settings, Verdict


def _records(connections: int, *reference_mbps: float) -> list[Record]:
    return [
        {
            "round": number,
            "connections": connections,
            "mbps": {"simpleperf": mbps, "iperf3 -l 1000": 500, "iperf3": 8000},
        }
        for number, mbps in enumerate(reference_mbps, 1)
    ]


def test_ratios_are_medians_of_rounds() -> None:
    found = simpleperf.report(_records(1, 1000, 4000, 2000) + _records(5, 400, 450), Settings())
    assert found.tables[0].rows == (
        ("1", "3", "1000..4000", "500", "8000", "4.00", "0.25"),
        ("5", "2", "400..450", "500", "8000", "0.85", "0.05"),
    )
    met = [claim.verdict is Verdict.MET for claim in found.claims]
    assert met == [True, False, False, False]  # 4.00 and 0.25 with one connection, 0.85 and 0.05 with five


def test_nothing_measured_is_no_verdict() -> None:
    found = simpleperf.report([], Settings())
    assert found.tables == ()
    assert {claim.verdict for claim in found.claims} == {Verdict.NOT_MEASURED}


def test_a_checkout_without_solutions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simpleperf, "REFERENCE", tmp_path / "simpleperf.py")
    with pytest.raises(LabError, match="from a checkout"):
        simpleperf.measure(Settings(folder=tmp_path), print, print)
