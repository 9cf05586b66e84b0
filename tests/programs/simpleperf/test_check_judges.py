"""The judges' pure parts: rates and amounts against true ones, intervals, what a client sent."""

from __future__ import annotations

import random
import string

import pytest

from linklab.measure import simpleperf_rows as rows
from linklab.measure.simpleperf_rows import Figure
from linklab.programs.simpleperf import figures, judge_intervals
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.report import ConformanceCheck
from linklab.programs.simpleperf.stream import take_apart

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
    assert verdict is not None
    assert (verdict.span, verdict.mistake) == (span, mistake)


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


(_AT_TWICE_ITS_RATE,) = rows.read([(0.0, "10.0.0.1:5 2.0 - 4.0 2000 KB 16.00 Mbps")]).rows
TOTAL = row(0, 6.1, 6000)
PARTS = [row(0, 2, 2000), row(2, 4, 2000), row(4, 6.1, 2000)]


WANTED = judge_intervals.Wanted(seconds=6, every_s=2, true_bytes=6_000_000, took_s=6.1)


def judged(*printed: rows.Row, wanted: judge_intervals.Wanted = WANTED) -> list[ConformanceCheck]:
    return judge_intervals.judge(printed, wanted)


def outcomes(*printed: rows.Row) -> set[str]:
    return {check.outcome for check in judged(*printed)}


def test_the_total_may_be_called_so() -> None:
    (total,) = rows.read([(0.0, "Total 0.0 - 6.1 6000 KB 7.87 Mbps")]).rows
    assert outcomes(*PARTS, total) == {"passed"}


def test_intervals_that_join_and_add_up_pass() -> None:
    assert outcomes(*PARTS, TOTAL) == {"passed"}


def test_the_total_may_stand_anywhere_and_an_interval_may_end_after_it() -> None:
    short = row(0, 6.0, 6000)
    assert outcomes(*PARTS[:2], row(4, 6.1, 2000), short) == {"passed"}
    assert outcomes(TOTAL, *PARTS) == {"passed"}
    assert outcomes(*PARTS, TOTAL, TOTAL) == {"passed"}
    # once over the time that was asked for
    assert outcomes(*PARTS, row(0, 6, 6000), TOTAL) == {"passed"}


@pytest.mark.parametrize("ends", [(2.0, 4.0, 6.1), (2.0, 2.0, 2.1)])
def test_rows_may_print_their_ends_alone_or_how_long_they_last(ends: tuple[float, ...]) -> None:
    texts = [
        f"10.0.0.1:5 {end:.1f} s 2000 KB {16 / length:.2f} Mbps" for end, length in zip(ends, (2, 2, 2.1), strict=True)
    ]
    found = rows.read([(0.0, text) for text in [*texts, "10.0.0.1:5 6.1 s 6000 KB 7.87 Mbps"]]).rows
    assert "failed" not in outcomes(*found)


def test_a_last_row_may_show_the_wait_for_the_acknowledgement() -> None:
    assert outcomes(*PARTS[:2], row(4, 6, 2000), row(6, 6.1, 0), TOTAL) == {"passed"}


def test_a_row_of_no_time_and_no_bytes_is_a_hint() -> None:
    (empty,) = rows.read([(0.0, "10.0.0.1:5 6.1 - 6.1 0 KB 0.00 Mbps")]).rows
    (count, *_) = judged(*PARTS, empty, TOTAL)
    assert (count.outcome, count.mistake) == ("passed", Mistake.INTERVAL_EXTRA.title)


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
        ([*PARTS, PARTS[2], TOTAL], Mistake.INTERVAL_EXTRA),
        ([*PARTS, row(6.1, 8.1, 0), TOTAL], Mistake.INTERVAL_EXTRA),
        ([*PARTS, rows.read([(0.0, "10.0.0.1:5 0.0 - 6.1 6000 KB 1.23 Mbps")]).rows[0]], Mistake.TOTAL_RATE),
        ([*PARTS, row(0, 6.1, 5000)], Mistake.WRONG_AMOUNT),
        ([PARTS[0], _AT_TWICE_ITS_RATE, PARTS[2], TOTAL], Mistake.INTERVAL_RATE),
    ],
)
def test_each_mistake_of_intervals_has_its_name(printed: list[rows.Row], mistake: Mistake) -> None:
    failed = [check for check in judged(*printed) if check.outcome == "failed"]
    assert failed
    # one mistake explains all that failed
    assert all(mistake in check.candidates for check in failed)


START = [b"", b"START 300000", b'{"mode": "time"}\n', b"\x00\x04\x93\xe0"]


@pytest.mark.parametrize("end", [b"BYE", b"bye", b"FINISH", b'{"type": "BYE"}', b"xBYE"])
@pytest.mark.parametrize("start", START)
@pytest.mark.parametrize(
    "chunk", [b"x" * 1000, b"A" * 1024, bytes(range(250)) * 4, (string.ascii_lowercase * 40)[:1000].encode()]
)
@pytest.mark.parametrize("chunks", [3, 30, 300])
def test_what_a_client_sent_is_taken_apart(chunk: bytes, start: bytes, end: bytes, chunks: int) -> None:
    data = chunk * chunks
    sent = start + data + end
    stream = take_apart(sent[:8192], sent[-8192:], len(sent), [(0.1, len(sent))])
    assert (stream.start, stream.end, stream.data_bytes) == (start, end, len(data))


@pytest.mark.parametrize("chunk", [b"x" * 1000, bytes(number % 256 for number in range(1000))])
@pytest.mark.parametrize("end", [b"BYE".ljust(1000), b"BYE".ljust(64, b"\0")])
def test_an_end_message_may_be_filled_up(chunk: bytes, end: bytes) -> None:
    sent = chunk * 30 + end
    stream = take_apart(sent[:8192], sent[-8192:], len(sent), [(0.1, len(sent))])
    assert (stream.start, stream.end) == (b"", end)


def test_numbered_chunks_are_no_start_message() -> None:
    sent = b"".join(b"packet %06d " % number + b"x" * 986 for number in range(30)) + b"BYE"
    stream = take_apart(sent[:8192], sent[-8192:], len(sent), [(0.1, len(sent))])
    assert (stream.start, stream.end, stream.data_bytes) == (b"", b"BYE", 30_000)


def test_data_that_does_not_repeat_is_told_by_its_writes() -> None:
    start, data, end = b"HELLO", random.Random(1).randbytes(30_000), b"BYE"
    sent = start + data + end
    stream = take_apart(sent[:8192], sent[-8192:], len(sent), [(0.1, len(start)), (0.2, len(sent))])
    assert (stream.start, stream.end, stream.data_bytes) == (start, end, len(data))


def test_no_end_message_is_told_as_well() -> None:
    stream = take_apart(b"x" * 8192, b"x" * 8192, 30_000, [(0.1, 30_000)])
    assert (stream.start, stream.end, stream.data_bytes) == (b"", b"", 30_000)


@pytest.mark.parametrize("total", [0, 1, 3, 100])
def test_next_to_nothing_has_no_parts(total: int) -> None:
    assert take_apart(b"B" * total, b"B" * total, total, [(0.1, total)]).data_bytes <= total
