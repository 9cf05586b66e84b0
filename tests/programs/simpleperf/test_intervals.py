"""The rows of -i: what may differ between right programs passes; mistakes that no recorded program makes have names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from linklab.measure.simpleperf_rows import Row, read
from linklab.programs.checks import Observed
from linklab.programs.simpleperf.intervals import judge_count, judge_join, judge_rates, judge_sum, judge_total, table

from .played import mistake_of


def row(start_s: float, end_s: float, kilobytes: float, rate: float | None = None) -> Row:
    mbps = kilobytes * 8 / 1000 / (end_s - start_s) if rate is None else rate
    lines = ["ID  Interval  Transfer  Bandwidth", f"a:5  {start_s:.1f} - {end_s:.1f}  {kilobytes} KB  {mbps:.2f} Mbps"]
    (made,) = read((0.0, line) for line in lines).rows
    return made


TOTAL = row(0, 6.1, 6000)
PARTS = [row(0, 2, 2000), row(2, 4, 2000), row(4, 6.1, 2000)]


def judged(rows: Sequence[Row]) -> list[Observed]:
    done = table(rows, 6, 2, true_bytes=6_000_000, took_s=6.1)
    return [judge(done) for judge in (judge_count, judge_join, judge_sum, judge_rates, judge_total)]


@pytest.mark.parametrize(
    "rows",
    [
        [*PARTS, TOTAL],
        [TOTAL, *PARTS],
        [*PARTS[:2], row(4, 6.1, 2000), row(0, 6.0, 6000)],
        [*PARTS, TOTAL, TOTAL],
        [*PARTS, row(0, 6, 6000), TOTAL],  # once over the time that was asked for
        [*PARTS[:2], row(4, 6, 2000), row(6, 6.1, 0), TOTAL],  # the wait for the acknowledgement
    ],
)
def test_intervals_that_join_and_add_up_pass(rows: list[Row]) -> None:
    assert [found.reason for found in judged(rows)] == [""] * 5


def test_a_row_of_no_time_and_no_bytes_is_a_hint() -> None:
    count, *_ = judged([*PARTS, row(6.1, 6.1, 0, 0.0), TOTAL])
    assert (count.reason, mistake_of(str(count.hint))) == ("", "a row too many among the intervals")


@pytest.mark.parametrize(
    ("rows", "mistake"),
    [
        ([*PARTS[:2], TOTAL], "last interval missing"),
        ([row(0, 2, 2000), row(0, 4, 4000), row(0, 6.1, 6000), TOTAL], "intervals count from the start"),
        ([row(0, 2, 2000), row(2, 4, 1000), row(4, 6.1, 2000), TOTAL], "rows do not sum to the total"),
        ([*PARTS, PARTS[2], TOTAL], "a row too many among the intervals"),
        ([*PARTS, row(0, 6.1, 5000)], "bytes counted are not the bytes sent"),
        (
            [row(0, 2, 9000), row(2, 4, 8000), row(4, 6, 4000), row(6, 6.1, 1000), row(0, 6.1, 22000)],
            "bytes counted are not the bytes sent",
        ),
        ([PARTS[0], row(2, 4, 2000, 16.0), PARTS[2], TOTAL], "the rate of a row is not its own"),
    ],
)
def test_each_mistake_of_intervals_is_the_first_that_is_told(rows: list[Row], mistake: str) -> None:
    reasons = [found.reason for found in judged(rows) if found.reason]
    assert mistake_of(reasons[0]) == mistake
