"""The step `intervals`: rows of -i join, add up and end with a total, whatever -t and the network do."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from linklab.measure.simpleperf_rows import Row, amount_bytes, amount_step, rate_mbps, rate_step_mbps
from linklab.programs.checks import Failed, Observed, WaitsFor, check
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf.mistakes import Mistake, fails, passes
from linklab.programs.simpleperf.quantities import (
    JOIN_S,
    RateReading,
    amount_fits,
    amount_mistake,
    amount_shown,
    is_whole,
    rate_shown,
    read_rate,
)
from linklab.programs.simpleperf.session import STALL_S, SimpleperfScenes
from linklab.programs.simpleperf.trouble import error_of, trouble
from linklab.programs.simpleperf.verdicts import no_row, not_played, refused

SUM_SHARE: Final = 0.02
"""How exact the amounts of intervals must add up."""
ROW_SHARE: Final = 0.03
"""How exact the rate of an interval must follow from its own amount and times."""
_ASKED: Final = (5, 2)
"""-t and -i of the transfer of which most is judged: two whole intervals and a rest."""
_SHORT_S: Final = 0.3
"""Rows shorter than this are not judged by rate: their rounded times say too little."""
_END_S: Final = 0.5
"""How far the last row may end from where the transfer did."""
_FIRST_TWICE: Final = Mistake("first interval twice", "print each interval once: remember where the last row ended")
_LAST_MISSING: Final = Mistake(
    "last interval missing", "when the transfer is over, print the row of what was sent since the last one"
)
_INTERVAL_EXTRA: Final = Mistake(
    "a row too many among the intervals", "print each interval once, and after the last one nothing but the total"
)
_INTERVAL_CLOCK: Final = Mistake(
    "times of intervals assumed, not measured",
    "take the begin and the end of each row from the clock: when the network stalls, a row lasts longer",
)
_INTERVAL_SUM: Final = Mistake("rows do not sum to the total", "count the bytes of each interval once, and none twice")


@dataclass(frozen=True)
class _IntervalRows:
    """The rows of a client with -i: those of intervals, in order, and the total, if there is one."""

    seconds: int
    every_s: int
    true_bytes: float
    took_s: float
    parts: tuple[Row, ...]
    total: Row | None

    def __str__(self) -> str:
        return ", ".join(f"{row.start_s:g} - {row.end_s:g}: {amount_shown(row)}" for row in self.parts[:8])

    @property
    def count(self) -> int:
        """Whole intervals."""
        return self.seconds // self.every_s

    @property
    def summed(self) -> float:
        """The bytes of the intervals together."""
        return sum(map(amount_bytes, self.parts))

    @property
    def slack_bytes(self) -> float:
        """How far that sum may be from the true bytes."""
        return sum(map(amount_step, self.parts)) + SUM_SHARE * self.true_bytes

    @property
    def ends_s(self) -> float:
        """When the transfer ended, by the program's own total if it has one."""
        return self.total.end_s if self.total else self.took_s


def table(rows: Sequence[Row], seconds: int, every_s: int, true_bytes: float, took_s: float) -> _IntervalRows:
    """Return the rows sorted out. The total begins at 0, and of all that do so it lasts longest, wherever it stands."""
    from_0 = [row for row in rows if row.start_s <= JOIN_S]
    longest = max(from_0, key=lambda row: (row.end_s, amount_bytes(row)), default=None)
    if longest is None or longest.end_s <= every_s + min(1.0, every_s / 2):
        return _IntervalRows(seconds, every_s, true_bytes, took_s, tuple(rows), None)
    # the same total once more, below a line or over the asked time, is no interval
    again = {
        id(row)
        for row in from_0
        if row is longest or (row.end_s > 1.5 * every_s and row.amount.value == longest.amount.value)
    }
    return _IntervalRows(
        seconds, every_s, true_bytes, took_s, tuple(row for row in rows if id(row) not in again), longest
    )


def _table(session: SimpleperfScenes, seconds: int, every_s: int, **relay: object) -> _IntervalRows:
    """Return the rows of a transfer with -i. Raises Failed where there are none."""
    scene = session.intervals(seconds, every_s, **relay)
    context = f"with -t {seconds} -i {every_s} "
    if not scene.has_carried or not scene.client.rows:
        found = trouble(scene)
        if found is not None and error_of(found) is None and not scene.connections:
            unknown = Mistake("-i is not understood", "accept -i with a number of seconds, beside -t")
            raise Failed(refused(session, unknown, f"{context}{found.reason}", "", found.quotes))
        raise Failed(not_played(scene, context))
    one = scene.main
    done = table(scene.client.reading.rows, seconds, every_s, one.carried, one.end_s - one.came_s)
    if not done.parts:
        if scene.client.reading.complaint:
            raise Failed(no_row(scene.client, "", context))
        ignored = Mistake("-i is ignored", "print a row whenever args.interval seconds have passed")
        raise Failed(fails(ignored, f"{context}there is only the total", quotes=(scene.client.rows[-1].line,)))
    return done


def _rows_of_intervals(session: SimpleperfScenes) -> _IntervalRows:
    """Return the rows of -t 5 -i 2. Raises WaitsFor where there are none, which is a check of its own."""
    try:
        return _table(session, *_ASKED)
    except Failed:
        raise WaitsFor("interval-rows") from None


@check("interval-rows", points=2, needs=["time", "client-row"])
def counts_rows(session: SimpleperfScenes) -> Observed:
    """-i prints a row for each interval

    -t 5 -i 2 gives two rows of whole intervals at least, and nothing twice.
    """
    return judge_count(_table(session, *_ASKED))


def judge_count(done: _IntervalRows) -> Observed:
    """Count the rows."""
    parts = done.parts
    expected = f"{done.count} rows of {done.every_s} s, the rest, and the total"
    at_most = math.ceil(done.seconds / done.every_s) + 1  # one may show the wait for the acknowledgement
    found = f"{len(parts)} rows" + (" and a total" if done.total else ", no total")
    is_empty = parts[-1].duration_s <= parts[-1].time_step_s and len(parts) > done.count
    mistake = _fault(done)
    if mistake is None and done.count <= len(parts) - is_empty <= at_most:
        return passes(expected, found, _INTERVAL_EXTRA if is_empty else None)
    if mistake is None:
        mistake = _LAST_MISSING if len(parts) < done.count else _INTERVAL_EXTRA
    return fails(mistake, f"the rows are {done}", expected, (parts[0].line, parts[-1].line))


def _fault(done: _IntervalRows) -> Mistake | None:
    """Return what the rows have wrong together, by their amounts and times."""
    parts = done.parts
    amounts = list(map(amount_bytes, parts))
    spans = [(row.start_s, row.end_s) for row in parts]
    if len(parts) > 1:
        grows = all(later > earlier for earlier, later in itertools.pairwise(amounts))
        if all(row.start_s <= JOIN_S for row in parts) or (grows and amounts[-1] > 0.9 * done.true_bytes):
            return Mistake(
                "intervals count from the start",
                "in each row show only what was sent since the row before, and its own times",
            )
        if spans[0] == spans[1]:
            return _FIRST_TWICE
        if len(set(spans)) < len(spans):
            return _INTERVAL_EXTRA
    # where the total is as large, each row counts too much, and none is there twice
    whole = max(done.true_bytes, amount_bytes(done.total) if done.total else 0)
    if done.summed > 1.15 * whole and len(parts) > done.count:
        return _FIRST_TWICE if amounts[0] > 1.5 * amounts[-1] else _INTERVAL_EXTRA
    if parts[-1].end_s <= min(done.count * done.every_s, done.ends_s) - _END_S:
        # where times are none, amounts tell whether the last rows are missing or their times are wrong
        is_short = done.summed < done.true_bytes * (1 - SUM_SHARE) or len(parts) < done.count
        return _LAST_MISSING if is_short else _INTERVAL_CLOCK
    end_s = max(done.took_s, done.ends_s) + _END_S
    late = [row for row in parts if row.end_s > end_s]
    if late:
        return _INTERVAL_EXTRA if late[-1].start_s >= done.took_s - _END_S else _INTERVAL_CLOCK
    return None


@check("interval-join", needs=["interval-rows"])
def joins(session: SimpleperfScenes) -> Observed:
    """each interval begins where the one before ended

    To the last digit printed and 0.15 s.
    """
    return judge_join(_table(session, *_ASKED))


def judge_join(done: _IntervalRows) -> Observed:
    """Compare where rows begin and end."""
    edges = range(done.count)
    expected = ", ".join(f"{number * done.every_s} - {(number + 1) * done.every_s}" for number in edges)
    before_s = 0.0
    for row in done.parts:
        if abs(row.start_s - before_s) > JOIN_S + row.time_step_s:
            reason = f"one row ends at {before_s:g} s, and the next begins at {row.start_s:g} s"
            return fails(
                Mistake(
                    "intervals do not join",
                    "after each row set the next begin to the end of that row, without adding anything",
                ),
                reason,
                expected,
                (row.line,),
            )
        before_s = row.end_s
    return passes(expected, str(done))


@check("interval-sum", points=2, needs=["interval-remainder"])
def adds_up(session: SimpleperfScenes) -> Observed:
    """amounts of intervals add up to the total

    Within the digits printed and 2 %.
    """
    return judge_sum(_table(session, *_ASKED))


def judge_sum(done: _IntervalRows) -> Observed:
    """Add up the amounts of the rows."""
    whole = amount_bytes(done.total) if done.total else done.true_bytes
    expected, found = f"{whole / 1000:.0f} KB in all", f"{done.summed / 1000:.0f} KB"
    if abs(done.summed - whole) <= done.slack_bytes:
        return passes(expected, found)
    if done.total is not None and abs(done.summed - done.true_bytes) <= done.slack_bytes:
        # then it is the total that is wrong
        mistake = amount_mistake(done.total, done.true_bytes, "client")
        reason = f"the total says {amount_shown(done.total)}, and the rows add up to the {found} that were carried"
        return fails(mistake, reason, f"{done.true_bytes / 1000:.0f} KB", (done.total.line,))
    return fails(_INTERVAL_SUM, f"the rows add up to {found}", expected)


@check("interval-rates", needs=["ends", "client-rate"])
def own_rates(session: SimpleperfScenes) -> Observed:
    """the rate in each row is its amount divided by its time

    Within the digits printed and 3 %.
    """
    done, stalled = _rows_of_intervals(session), None
    with contextlib.suppress(Failed):
        stalled = _table(session, 6, 1, hold_s=STALL_S)
    return judge_rates(done, stalled)


def judge_rates(done: _IntervalRows, other: _IntervalRows | None = None) -> Observed:
    """Judge the rate of each row; ``other`` are rows of a transfer in which they differ more."""
    expected = "in each row: amount * 8 / seconds"
    from_start = all(_from_the_start(one.parts) for one in (done, other) if one)
    rows = [row for row in done.parts if row.duration_s > _SHORT_S]
    # of a stall's rows also the times may be wrong: that is a check of its own
    rows += [row for row in other.parts if row.duration_s > _SHORT_S] if other and from_start else []
    for row in rows:
        reading = _fits_itself(row)
        if reading is None or reading.mistake is not None:
            mistake = Mistake(
                "the rate of a row is not its own",
                "divide the bytes of the interval by the time of the interval, from the clock, in each row",
            )
            if from_start:
                mistake = Mistake(
                    "the rate of a row is over the time since the start",
                    "divide the bytes of the interval by the time since the row before, not since the start",
                )
            elif all(is_whole(one.rate) for one in rows):
                mistake = mistakes.INTEGER_DIVISION
            reason = f"the rate {rate_shown(row.rate)} does not follow from {amount_shown(row)} in {row.duration_s:g} s"
            return fails(mistake, reason, expected, (row.line,))
    return passes(expected)


def _fits_itself(row: Row) -> RateReading | None:
    """Return how a rate follows from its row's own amount and times; a reading without a mistake if it does."""
    said, step = amount_bytes(row), amount_step(row)
    seconds, slack_s = row.duration_s, row.time_step_s + 0.02
    low = (said - step) * 8e-6 / (seconds + slack_s) * (1 - ROW_SHARE) - rate_step_mbps(row.rate)
    high = (said + step) * 8e-6 / max(0.1, seconds - slack_s) * (1 + ROW_SHARE) + rate_step_mbps(row.rate)
    if low <= rate_mbps(row.rate) <= high:
        return RateReading("row")
    return read_rate(row.rate, said, {"row": (seconds - slack_s, seconds + slack_s)})


def _from_the_start(parts: Sequence[Row]) -> bool:
    """Return whether rates are over the time since the start: of the interval's bytes, or of all so far."""
    so_far, fits = 0.0, {"own": True, "all": True}
    later = 0
    for number, row in enumerate(parts):
        so_far += amount_bytes(row)
        if number == 0 or row.duration_s <= _SHORT_S:
            continue
        later += 1
        for kind, size in (("own", amount_bytes(row)), ("all", so_far)):
            rate = size * 8e-6 / max(row.end_s, 0.1)
            fits[kind] &= abs(rate_mbps(row.rate) - rate) <= 0.03 * rate + rate_step_mbps(row.rate)
    return bool(later) and any(fits.values())


@check("interval-total", needs=["ends", "client-rate"])
def gives_total(session: SimpleperfScenes) -> Observed:
    """a row gives the total

    It goes from 0 to the end, with the bytes carried and the rate of both, and may stand anywhere.
    """
    return judge_total(_rows_of_intervals(session))


def judge_total(done: _IntervalRows) -> Observed:
    """Judge the row of the total."""
    row, expected = done.total, f"0 to the end, {done.true_bytes / 1000:.0f} KB, and the rate of both"
    if row is None:
        return fails(
            Mistake(
                "no row for the total", "after the rows of the intervals print a line, then the row from 0 to the end"
            ),
            "no row goes from 0 to the end",
            expected,
        )
    if not amount_fits(row, done.true_bytes, SUM_SHARE * done.true_bytes):
        return fails(
            amount_mistake(row, done.true_bytes, "client"), f"it says {amount_shown(row)}", expected, (row.line,)
        )
    reading = _fits_itself(row)
    if reading is None or reading.mistake is not None:
        reason = f"the rate {rate_shown(row.rate)} does not follow from {amount_shown(row)} in {row.duration_s:g} s"
        mistake = (
            mistakes.INTEGER_DIVISION
            if is_whole(row.rate)
            else Mistake(
                "the total's rate is not its own", "divide all bytes by all the time, from the first byte to the end"
            )
        )
        return fails(mistake, reason, expected, (row.line,))
    return passes(expected, row.line)


@check("interval-remainder", needs=["interval-rows"])
def reaches_end(session: SimpleperfScenes) -> Observed:
    """the last row ends at the end of the transfer, also if -t is not a multiple of -i

    With -t 5 -i 2 the last row is short, and no bytes are missing.
    """
    done = _table(session, *_ASKED)
    return _covers(
        done, "rows of about 0 - 2, 2 - 4 and 4 - 5, with the same bytes as the total", "with -t 5 -i 2", False
    )


@check("interval-stall", needs=["interval-join", "interval-rates", "interval-remainder"])
def bears_stall(session: SimpleperfScenes) -> Observed:
    """the rows leave no gap in time if the network stalls

    Nothing passes for 3 s of -t 6 -i 1. One long row, or rows of 0 B, are both right.
    """
    done = _table(session, 6, 1, hold_s=STALL_S)
    expected = "rows without a gap up to the end of the transfer, with all of its bytes"
    when = f"the check stopped the network from {STALL_S[0]:g} s to {STALL_S[1]:g} s;"
    covers = _covers(done, expected, when, True)
    if covers.reason:
        return covers
    for before, after in itertools.pairwise(done.parts):
        if abs(after.start_s - before.end_s) > _END_S:
            reason = f"{when} one row ends at {before.end_s:g} s, and the next begins at {after.start_s:g} s"
            return fails(_INTERVAL_CLOCK, reason, expected, (before.line, after.line))
    for row in done.parts:
        if row.duration_s > _SHORT_S and _fits_itself(row) is None:
            # the rate is over the time that passed, or over the one that was asked for, and the row says the other
            return fails(_INTERVAL_CLOCK, f"{when} this row contradicts itself", expected, (row.line,))
    return covers


def _covers(done: _IntervalRows, expected: str, when: str, stalled: bool) -> Observed:
    """Judge whether the rows reach from 0 to the end, with all bytes, and no farther."""
    # a total that is wrong is a check of its own
    last, whole = done.parts[-1], done.true_bytes
    lines = (last.line, *([done.total.line] if done.total else []))
    is_wrong_total = done.total is not None and abs(done.summed - amount_bytes(done.total)) <= done.slack_bytes
    sums = f"{when} the rows add up to {done.summed / 1000:.0f} of {whole / 1000:.0f} KB"
    if done.summed < whole - done.slack_bytes and not is_wrong_total:
        ends = f"{when} the last interval ends at {last.end_s:g} s, and the transfer at {done.ends_s:.2f} s"
        reason = f"{ends}; the rows add up to {done.summed / 1000:.0f} of {whole / 1000:.0f} KB"
        return fails(_LAST_MISSING, reason, expected, lines)
    if done.summed > whole + done.slack_bytes and not is_wrong_total:
        return fails(_fault(done) or _INTERVAL_SUM, sums, expected, lines)
    # the rows may end before the total does: until the acknowledgement comes nothing is sent
    low_s, high_s = min(done.seconds, done.ends_s) - _END_S, max(done.ends_s, done.took_s) + _END_S
    if not low_s <= last.end_s <= high_s:
        reason = f"{when} the last interval ends at {last.end_s:g} s, and the transfer at {done.ends_s:.2f} s"
        is_assumed = stalled or last.end_s > done.ends_s or abs(done.summed - whole) <= done.slack_bytes
        return fails(_INTERVAL_CLOCK if is_assumed else _LAST_MISSING, reason, expected, lines)
    if done.total is not None and abs(done.summed - whole) > done.slack_bytes:
        return fails(amount_mistake(done.total, whole, "client"), f"{sums}, and so does the total", expected, lines)
    return passes(expected, str(done))
