"""Study `controllers`: what it counts and refuses, and its verdicts, which come out both ways by made-up tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from linklab.errors import MeasurementError
from linklab.runtime.backends import Kind
from linklab.study import Measured, Point, run, study_by_name
from linklab.study.claims import judged
from linklab.study.table import StudyTable, table_of
from studies.controllers.judges import CLAIMS
from studies.controllers.study import ADDRESSES, EXACT, PATH, PROACTIVE, questions, wait_ms

from .measured import alone

CONTROLLERS = study_by_name("controllers")
ROWS = (1, 3, 5)
LEARNING = {EXACT: {it: 4 * it for it in ROWS}, ADDRESSES: {it: 3 * it for it in ROWS}}
"""Questions by controller and switches: each switch asks about each frame, or about all but the echo reply."""
ONE_WAY = {it: {row: 3 * row for row in ROWS} for it in (EXACT, ADDRESSES)}
"""The same for a packet that nobody answers."""
WHOLE_PATH = {PATH: dict.fromkeys(ROWS, 1)}


def made(asked: Mapping[str, Mapping[int, int]], computing_ms: float = 0) -> StudyTable:
    """A table of two repeats, of controllers that are 5 ms away and compute for a while with each question."""
    points = {}
    for controller, by_row in asked.items():
        for row, count in by_row.items():
            for repeat in (1, 2):
                levels = (("controller", controller), ("switches", row), ("distance_ms", 5))
                wait = count * (10 + computing_ms) + 0.001 * repeat
                points[Point("controllers", levels, repeat)] = [
                    Measured("wait_ms", wait), Measured("questions", count),
                ]  # fmt: skip
    return table_of(CONTROLLERS, points)


def verdict(claim: str, table: StudyTable) -> bool | None:
    return CLAIMS.judges[claim]({"controllers": table}).holds


def test_more_switches_cost_more_unless_one_answer_serves_the_whole_path() -> None:
    assert verdict("controllers-row", made(LEARNING)) is True
    assert verdict("controllers-row", made(WHOLE_PATH)) is False


def test_rules_that_match_every_field_cost_more_only_where_somebody_answers() -> None:
    assert verdict("controllers-match", made(LEARNING)) is True
    assert verdict("controllers-match", made(ONE_WAY)) is False


def test_what_a_question_takes_shows_a_controller_that_computes() -> None:
    assert verdict("controllers-question", made(LEARNING)) is True
    assert verdict("controllers-question", made(LEARNING, computing_ms=1)) is False


def test_what_cannot_come_out_otherwise_here_is_decided_by_construction() -> None:
    (found,) = judged(alone(CLAIMS, "controllers-question"), {"controllers": made(LEARNING)})
    assert found.verdict == "decided by construction"


def test_questions_are_counted_also_where_several_lie_in_one_segment() -> None:
    def segment(*kinds: int) -> Ether:
        messages = b"".join(bytes([4, kind, 0, 10, 0, 0, 0, 1, 0, 0]) for kind in kinds)
        return Ether() / IP() / TCP() / messages

    assert questions([segment(10, 10, 2), segment(13), segment(10), Ether() / IP() / TCP()]) == 3


def test_a_first_ping_is_held_next_to_those_after_it_and_none_may_be_lost() -> None:
    assert wait_ms([40.0, 1.0, 2.0, 3.0]) == 38
    with pytest.raises(MeasurementError, match="3 of 4 pings were answered"):
        wait_ms([None, 1.0, 2.0, 3.0])


@pytest.mark.large
@pytest.mark.lab
def test_the_short_form_finds_what_theory_says(virtual: Kind, tmp_path: Path) -> None:
    table = run(CONTROLLERS.short_form(), tmp_path, jobs=1)
    assert table.missing == ()
    asked, none = (table.lookup("questions", controller=it, distance_ms=5).mean for it in (EXACT, PROACTIVE))
    assert (asked, none) == (4, 0)
    assert table.lookup("wait_ms", controller=EXACT, distance_ms=5).mean == pytest.approx(40, abs=1)
