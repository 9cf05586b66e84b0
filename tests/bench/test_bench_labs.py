"""The part that runs the labs' solutions."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.errors import LabError
from tools.bench import labs
from tools.bench.part import Record, Settings, Verdict


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


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("virtual", "nothing_left")
def test_a_notebook_tells_its_virtual_time(lab_folder: Path) -> None:
    kept: list[Record] = []
    labs.measure(Settings(quick=True, folder=lab_folder), lambda line: None, kept.append)
    (lab, whole) = kept
    assert lab["lab"] == "00-start-here"
    assert whole["all"] == 1
    assert 5 < lab["virtual_s"] < 3600
