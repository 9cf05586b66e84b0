"""Right programs pass in full, whatever their dialect; wrong ones fail for their one mistake, and for nothing else.

Judged from the scenes that were played with them once; one of each kind, and in `make test-thorough` all, are played.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.errors import LinklabError
from linklab.programs.simpleperf import Report
from linklab.runtime.backends import Kind

from ...simpleperf.programs.make import programs
from ...thorough import some
from . import played
from .checked import advice, check
from .expected import ADVISED, FAILED

RIGHT = [program.name for program in programs("right")]
NAMES = [*RIGHT, *FAILED, *ADVISED]
PLAYED = ("chunk-1024",)


def _as_it_must_be(name: str, report: Report) -> None:
    if name in FAILED:
        assert report.outcome == "failed"
        assert report.mistakes == [FAILED[name][1].title], str(report)
        return
    assert report.passed, str(report)
    assert report.points == report.max_points
    if name in ADVISED:
        assert advice(report) == [ADVISED[name][1].title]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_was_played_once_is_judged_rightly(name: str) -> None:
    _as_it_must_be(name, played.judged(name))


def test_a_report_keeps_a_row_of_each_side_as_it_was_printed() -> None:
    dialect = played.judged("as-the-sheet").dialect
    assert dialect["client_row"].split() == ["10.9.0.1:44436", "0.0", "-", "2.5", "2", "MB", "6.77", "Mbps"]
    assert dialect["server_row"].split() == ["10.9.0.3:45506", "0.0", "-", "2.2", "2", "MB", "7.70", "Mbps"]


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", some(NAMES, *PLAYED))
def test_played_anew_it_is_judged_rightly(name: str, virtual: Kind, tmp_path: Path) -> None:
    _as_it_must_be(name, check(name, tmp_path, played.steps_of(name)))


def test_a_scene_that_was_never_played_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(played, "steps_of", lambda name: ["parallel"])
    with pytest.raises(LinklabError, match="never played"):
        played.judged("clock-before-ack")
