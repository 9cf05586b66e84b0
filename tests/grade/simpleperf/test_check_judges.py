"""The judges' pure parts: rates and amounts against true ones, intervals, the end message."""

from __future__ import annotations

import pytest

from linklab.grade.simpleperf import figures, judge_intervals
from linklab.grade.simpleperf.dialect import end_message
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.measure import simpleperf_rows as rows
from linklab.measure.simpleperf_rows import Figure

SPANS = {"whole": (4.9, 5.0), "asked": (1.998, 2.002), "sent": (2.01, 3.2)}
CARRIED = 2_000_000
TRUE_MBPS = CARRIED * 8e-6 / 5.0


@pytest.mark.parametrize(
    ("rate_mbps", "span", "mistake"),
    [
        (TRUE_MBPS, "whole", None),
        (CARRIED * 8e-6 / 2.0, "asked", None),
        (CARRIED * 8e-6 / 2.8, "sent", None),
        (TRUE_MBPS / 8, "whole", Mistake.BYTES_AS_BITS),
        (TRUE_MBPS * 8, "whole", Mistake.BITS_TWICE),
        (TRUE_MBPS / 1.048576 * 0.999, "whole", Mistake.BINARY_UNITS),
        (TRUE_MBPS / 1.024, "whole", Mistake.BINARY_UNITS),
    ],
)
def test_a_rate_tells_its_time_and_its_units(rate_mbps: float, span: str, mistake: Mistake | None) -> None:
    verdict = figures.judge_rate(Figure(round(rate_mbps, 3), 0.001, "Mbps"), CARRIED, SPANS)
    assert verdict == figures.RateVerdict(span, mistake)


@pytest.mark.parametrize("rate_mbps", [0.0, -3.2, float("inf"), 1.3])
def test_a_rate_that_fits_nothing_is_not_explained(rate_mbps: float) -> None:
    assert figures.judge_rate(Figure(rate_mbps, 0.001, "Mbps"), CARRIED, SPANS) is None


def test_a_rate_without_decimals_has_no_factor_in_it() -> None:
    assert figures.judge_rate(Figure(1.0, 1.0, "Mbps"), 8_000_000, {"whole": (5.0, 5.0)}) is None


def row(start_s: float, end_s: float, kilobytes: float) -> rows.Row:
    rate = kilobytes * 8 / 1000 / (end_s - start_s)
    (made,) = rows.read([(0.0, f"10.0.0.1:5 {start_s:.1f} - {end_s:.1f} {kilobytes} KB {rate:.2f} Mbps")]).rows
    return made


def test_amounts_may_be_rounded_any_way_but_not_counted_in_1024() -> None:
    for shown in (2000, 2001):
        assert figures.amount_fits(row(0, 2, shown), 2_000_400)
    binary = row(0, 2, 1953)
    assert not figures.amount_fits(binary, 2_000_400)
    assert figures.amount_mistake(binary, 2_000_400) is Mistake.BINARY_UNITS
    assert figures.amount_mistake(row(0, 2, 1500), 2_000_400) is None


TOTAL = row(0, 6.1, 6000)
PARTS = [row(0, 2, 2000), row(2, 4, 2000), row(4, 6.1, 2000)]


def judged(*printed: rows.Row) -> dict[str, str]:
    return {check.key: check.mistake or check.outcome for check in judge_intervals.judge(printed, 6_000_000)}


def test_the_total_may_be_called_so() -> None:
    (total,) = rows.read([(0.0, "Total 0.0 - 6.1 6000 KB 7.87 Mbps")]).rows
    assert set(judged(*PARTS, total).values()) == {"passed"}


def test_intervals_that_join_and_add_up_pass() -> None:
    assert set(judged(*PARTS, TOTAL).values()) == {"passed"}


@pytest.mark.parametrize(
    ("printed", "mistake"),
    [
        ([TOTAL], Mistake.INTERVAL_IGNORED),
        ([PARTS[0], *PARTS, TOTAL], Mistake.FIRST_TWICE),
        ([*PARTS[:2], TOTAL], Mistake.LAST_MISSING),
        ([row(0, 2, 2000), row(0, 4, 4000), row(0, 6.1, 6000), TOTAL], Mistake.CUMULATIVE),
        ([row(0, 2, 2000), row(2, 4, 4000), row(4, 6.1, 6000), TOTAL], Mistake.CUMULATIVE),
        (PARTS, Mistake.NO_TOTAL),
        ([row(0, 2, 2000), row(2, 4, 1000), row(4, 6.1, 2000), TOTAL], Mistake.INTERVAL_SUM),
        ([row(0, 2, 2000), row(3, 4, 2000), row(4, 6.1, 2000), TOTAL], Mistake.INTERVAL_GAPS),
    ],
)
def test_each_mistake_of_intervals_has_its_name(printed: list[rows.Row], mistake: Mistake) -> None:
    found = {name for name in judged(*printed).values() if name not in ("passed", "inconclusive")}
    assert found == {mistake.title}


@pytest.mark.parametrize("end", [b"BYE", b"bye", b"FINISH", b'{"type": "BYE"}', b"xBYE"])
@pytest.mark.parametrize("chunk", [b"x" * 1000, b"\0" * 1000, bytes(range(250)) * 4])
def test_the_end_message_is_told_from_the_data(chunk: bytes, end: bytes) -> None:
    sent = chunk * 30 + end
    assert end_message(sent[:8192], sent[-8192:], len(sent)) == end


def test_no_end_message_is_told_as_well() -> None:
    assert end_message(b"x" * 8192, b"x" * 8192, 30_000) == b""
