"""Study `outage`: its evaluation, and its verdicts, which come out both ways by made-up tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.measure.video_quality import FrameQuality, Quality
from linklab.runtime.backends import Kind
from linklab.study import Measured, Point, run, study_by_name
from linklab.study.claims import Outcome
from linklab.study.table import StudyTable, table_of
from studies.outage.judges import CLAIMS
from studies.outage.study import BFD, QUICK, STATIC, USUAL, cut_s, evaluate
from tests.support.streams import made_stream

OUTAGE = study_by_name("outage")
LATE_MS = 5000
"""How long FRR may wait before it computes again."""


def made(late_ms: float = 0, bfd_pictures: float = 60) -> StudyTable:
    """A table of ten failures; routers compute some time late, and with BFD so many pictures are spoilt."""
    points = {}
    for repeat in range(1, 11):
        quick, bfd = 1000 + 90 * repeat + late_ms, 210 + 8 * repeat + late_ms
        for routing, gap_ms, pictures in (
            (STATIC, 2510 + repeat, 260), (USUAL, 2510 + repeat, 260), (QUICK, quick, 100), (BFD, bfd, bfd_pictures),
        ):  # fmt: skip
            rows = {"gap_ms": gap_ms, "spacing_ms": 50, "lost_packets": 100, "spoilt_pictures": pictures + repeat % 3}
            levels = (("routing", routing), ("duration_s", 10))
            points[Point("outage", levels, repeat)] = [Measured(*row) for row in rows.items()]
    return table_of(OUTAGE, points)


def verdict(claim: str, table: StudyTable) -> Outcome:
    return CLAIMS.judges[claim]({"outage": table}).holds


def test_a_gap_is_as_long_as_detection_unless_routers_compute_late() -> None:
    assert verdict("outage-theory", made()) is True
    assert verdict("outage-theory", made(LATE_MS)) is False


def test_ospf_shortens_a_gap_unless_its_intervals_are_longer_than_the_failure() -> None:
    assert verdict("outage-ospf", made()) is True
    assert verdict("outage-ospf", made().select(routing=(STATIC, USUAL))) is False


def test_bfd_spares_pictures_unless_as_many_wait_for_the_next_keyframe() -> None:
    assert verdict("outage-bfd", made()) is True
    assert verdict("outage-bfd", made(bfd_pictures=130)) is False


def test_ten_failures_spread_over_a_hello_interval_and_over_one_of_bfd() -> None:
    moments_ms = [round(1000 * cut_s(repeat)) for repeat in range(1, 11)]
    assert sorted(it % 100 for it in moments_ms) == list(range(0, 100, 10))
    assert max(moments_ms) - min(moments_ms) == pytest.approx(990)


def test_what_is_counted_of_a_stream_with_a_gap() -> None:
    stream = made_stream([10, 20, 30, 40], lost=(2, 3))
    frames = (FrameQuality(0, 0, 1), FrameQuality(0.1, 7, 0.9), FrameQuality(0.2, None, None))
    found = {it.metric: it.value for it in evaluate(stream, Quality(frames))}
    assert found == {
        "gap_ms": pytest.approx(90), "spacing_ms": pytest.approx(40), "lost_packets": 2, "spoilt_pictures": 2,
    }  # fmt: skip


@pytest.mark.large
@pytest.mark.lab
def test_the_short_form_has_a_gap_as_long_as_the_failure_and_one_of_bfds(virtual: Kind, tmp_path: Path) -> None:
    table = run(OUTAGE.short_form(), tmp_path, jobs=1)
    assert table.missing == ()
    static, bfd = (table.lookup("gap_ms", routing=it).mean for it in (STATIC, BFD))
    assert 2500 <= static < 2600
    assert 200 <= bfd < 400
