"""The parts that run the labs' solutions and the searches of lab 03."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.backends import Kind
from tools.bench import labs, search_report
from tools.bench.findings import Record, Verdict
from tools.bench.search import INCREASE, TRAIN
from tools.bench.settings import Settings


def _found(search: str, error_percent: float, sent_mb: float) -> Record:
    record = {"search": search, "error_percent": error_percent, "sent_mb": sent_mb}
    return record | {"probes": 3, "virtual_s": 2.0}


def test_a_search_is_judged_by_error_and_traffic() -> None:
    cheap = [_found(TRAIN, -1.0, 1.0), _found(TRAIN, 1.5, 1.0), _found(INCREASE, -0.5, 100.0)]
    found = search_report.report(cheap, Settings())
    assert found.claims[0].verdict is Verdict.MET
    assert found.tables[0].rows[-1][:6] == (TRAIN, "2", "1.25", "1.50", "1.00", "2")
    for spoilt in (_found(TRAIN, -9.0, 1.0), _found(TRAIN, 1.0, 50.0)):
        (claim,) = search_report.report([spoilt, cheap[-1]], Settings()).claims
        assert claim.verdict is Verdict.NOT_MET


def test_labs_are_added_up() -> None:
    records: list[Record] = [
        {"lab": "02-simpleperf", "virtual_s": 60.0, "wall_s": 30.0},
        {"lab": "04-link-latency", "virtual_s": 300.0, "wall_s": 20.0},
        {"all": 2, "at_once": 2, "wall_s": 36.0},
    ]
    found = labs.report(records, Settings())
    assert found.tables[0].rows[-1] == ("all 2, 2 at once", "360", "36.0", "10.0")
    assert found.claims[0].verdict is Verdict.MET
    assert "300 virtual s" in found.claims[0].numbers


def test_a_checkout_without_solutions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labs, "SOLUTIONS", tmp_path)
    with pytest.raises(LabError, match="from a checkout"):
        labs.measure(Settings(folder=tmp_path), print, print)


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.usefixtures("virtual", "nothing_left")
def test_a_notebook_tells_its_virtual_time(lab_folder: Path) -> None:
    kept: list[Record] = []
    labs.measure(Settings(quick=True, folder=lab_folder), lambda line: None, kept.append)
    (lab, whole) = kept
    assert lab["lab"] == "00-start-here"
    assert whole["all"] == 1
    assert 5 < lab["virtual_s"] < 3600


@pytest.mark.lab
@pytest.mark.slow
def test_a_search_is_tried_on_real_labs(virtual: Kind, lab_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.bench import search

    monkeypatch.setattr(search_report, "tried", lambda seed, start: search.tried(seed, start, (2, 6)))
    kept: list[Record] = []
    search_report.measure(Settings(quick=True, folder=lab_folder), lambda line: None, kept.append)
    assert len(kept) == 3 * len(search.SEARCHES)
    assert all(abs(record["error_percent"]) < 25 for record in kept)
