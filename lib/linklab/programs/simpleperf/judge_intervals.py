"""Step intervals: rows of -i that join, add up and end with a total, whatever -t and the network do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from linklab.measure.simpleperf_rows import Row, rate_step_mbps
from linklab.programs.simpleperf import figures, tolerances, trouble
from linklab.programs.simpleperf.catalogue import keys_of
from linklab.programs.simpleperf.evidence import Take
from linklab.programs.simpleperf.figures import amount_shown, rate_shown
from linklab.programs.simpleperf.judge_clock import learn_format, of_units, rate_by_format
from linklab.programs.simpleperf.judge_transfer import carried, needs
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.report import ConformanceCheck
from linklab.programs.simpleperf.session import Session
from linklab.programs.simpleperf.verdict import all_unknown, failed, passed, unknown, unread

KEYS = keys_of("intervals")
STALL_S: Final = (1.5, 4.5)
"""From when to when the relay reads nothing, since the data began: three rows of one second fall into it."""
_SHORT_S: Final = 0.3
"""Of shorter rows rounded times say too little about rates."""
_END_S: Final = 0.5
"""How far the last row may end from where the transfer did."""


@dataclass(frozen=True)
class Wanted:
    """What was asked for, and what the relay saw: ``-t``, ``-i``, the bytes, and how long it all took."""

    seconds: int
    every_s: int
    true_bytes: float
    took_s: float
    unit: str = "KB"
    by_format: bool = False
    """Whether -f changes the client's rate."""

    @property
    def count(self) -> int:
        """Whole intervals."""
        return self.seconds // self.every_s


@dataclass(frozen=True)
class Table:
    """The rows of one connection: those of intervals, in order, and the total, if there is one."""

    parts: tuple[Row, ...]
    total: Row | None

    def __str__(self) -> str:
        return ", ".join(f"{row.start_s or 0:g} - {row.end_s:g}: {amount_shown(row)}" for row in self.parts[:8])


def table(rows: Sequence[Row], wanted: Wanted) -> Table:
    """Return the rows sorted out. The total begins at 0, and of all that do so it lasts longest, wherever it stands."""
    rows = _with_starts(rows, wanted)
    from_0 = [row for row in rows if (row.start_s or 0.0) <= tolerances.JOIN_S]
    longest = max(from_0, key=lambda row: (row.end_s, figures.amount_bytes(row, wanted.unit)), default=None)
    if longest is None or longest.end_s <= wanted.every_s + min(1.0, wanted.every_s / 2):
        return Table(tuple(rows), None)
    # the same total once more, below a line or over the asked time, is no interval
    again = [
        row
        for row in from_0
        if row is longest or (row.end_s > 1.5 * wanted.every_s and row.amount.value == longest.amount.value)
    ]
    return Table(tuple(row for row in rows if not any(row is one for one in again)), longest)


def _with_starts(rows: Sequence[Row], wanted: Wanted) -> Sequence[Row]:
    """The rows with both times, where a program prints one: the end of each (2.0, 4.0, 6.0), or how long it lasted
    (2.0, 2.0, 2.0). What lasts as long as all of them is the total.
    """
    if any(row.start_s is not None for row in rows) or len(rows) < 2:
        return rows
    ends = [row.end_s for row in rows]
    steps = [later - earlier for earlier, later in itertools.pairwise([0.0, *ends])]
    growing = next((number for number, step in enumerate(steps) if step < wanted.every_s / 4), len(steps))
    if growing > 1:
        starts = [*([0.0, *ends][:growing]), *([0.0] * (len(rows) - growing))]
        return [replace(row, start_s=start_s) for row, start_s in zip(rows, starts, strict=True)]
    before = list(itertools.accumulate(ends, initial=0.0))
    has_total = abs(ends[-1] - before[-2]) <= _END_S
    placed = [replace(row, start_s=before[number], end_s=before[number + 1]) for number, row in enumerate(rows)]
    return [*placed[:-1], replace(rows[-1], start_s=0.0)] if has_total else placed


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """Yield the checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why[0], needs=why[1])
        return
    learn_format(session)
    done, wanted = _played(session, "intervals", 6, 2)
    session.dialect.learn("-i", done)
    if wanted is None:
        yield _not_played("interval-rows", done, 2)
        yield from all_unknown(KEYS[1:], "needs rows of intervals", needs="interval-rows")
        return
    # all of them: a total may be called so
    rows = done.client.reading.rows
    if not table(rows, wanted).parts:
        yield from judge(rows, wanted)
        yield from all_unknown(KEYS[5:], "needs rows of intervals", needs="interval-rows")
        return
    short, stalled = _played(session, "a remainder", 5, 2), _played(session, "a stall", 6, 1, hold_s=STALL_S)
    others = [table(take.client.reading.rows, asked) for take, asked in (short, stalled) if asked is not None]
    yield from judge(rows, wanted, [one.parts for one in others])
    yield _remainder(*short)
    yield _stall(*stalled, joins=_gap(table(rows, wanted).parts) is None)


def _played(session: Session, key: str, seconds: int, every_s: int, **relay: object) -> tuple[Take, Wanted | None]:
    """A transfer with -i, and what its rows must tell; None where there are none to judge."""
    words = ["-t", str(seconds), "-i", str(every_s)]
    take = session.pair(key, [(0.0, words)], unit="KB", relay=session.paced(**relay))
    if not carried(take) or not take.client.rows:
        return take, None
    one = take.main
    end_s = one.acknowledged_s if one.acknowledged_s is not None else one.delivered_s
    unit, by_format = session.dialect.unit("client", "KB"), rate_by_format(session, "client")
    return take, Wanted(seconds, every_s, one.carried, end_s - one.came_s, unit, by_format)


def _not_played(key: str, take: Take, every_s: int) -> ConformanceCheck:
    found = trouble.of(take)
    if found is not None:
        # without -i it works: where it says itself why it ended, -i is what it refuses
        mistakes = (Mistake.INTERVAL_REFUSED,) if found.mistake is Mistake.CRASH else ()
        return failed(key, (*mistakes, found.mistake), f"with -i {every_s} {found.reason}", quotes=found.quotes)
    if take.clients and take.client.reading.unread:
        return unread(key, take.client)
    if take.clients and take.connections and not take.client.ended:
        return failed(key, Mistake.NO_END, f"with -i {every_s} the client had to be stopped")
    said = take.client.last_words() if take.clients else "nothing"
    reason = f"with -i {every_s} the client prints no row that can be read; it said: {said}"
    return failed(key, (Mistake.NO_ROW, Mistake.INTERVAL_REFUSED), reason)


def judge(rows: Sequence[Row], wanted: Wanted, others: Sequence[Sequence[Row]] = ()) -> list[ConformanceCheck]:
    """Return the first five checks, of the rows of one connection.

    ``others`` are rows of further transfers: whether a rate is its row's own shows where rows differ.
    """
    sorted_out = table(rows, wanted)
    parts, total = sorted_out.parts, sorted_out.total
    span = f"{wanted.count} rows of {wanted.every_s} s, and the total"
    found = f"{len(parts)} rows" + (" and a total" if total else ", no total")
    if not parts:
        reason = f"with -i {wanted.every_s} there is only the total"
        quotes = [total.line.strip()] if total else []
        checks = [failed("interval-rows", Mistake.INTERVAL_IGNORED, reason, span, found, quotes)]
        checks += all_unknown(KEYS[1:5], "needs rows of intervals", needs="interval-rows")
        return checks
    faults = _faults(parts, total, wanted)
    checks = [_count(sorted_out, faults, span, found, wanted), _join(sorted_out, faults, wanted)]
    checks += [_sum(sorted_out, faults, wanted), _rates([parts, *others], faults, wanted), _total(total, wanted)]
    return checks


def _faults(parts: Sequence[Row], total: Row | None, wanted: Wanted) -> tuple[Mistake, ...]:
    """What the rows have wrong together, by their amounts and times; the likeliest first."""
    amounts = [figures.amount_bytes(row, wanted.unit) for row in parts]
    found = []
    times = [(row.start_s, row.end_s) for row in parts]
    if len(parts) > 1:
        grows = all(later > 1.4 * earlier for earlier, later in itertools.pairwise(amounts[:3]))
        from_0 = all(row.start_s is not None and row.start_s <= tolerances.JOIN_S for row in parts)
        if from_0 or (grows and sum(amounts) > 1.3 * wanted.true_bytes):
            found.append(Mistake.CUMULATIVE)
        if times[0] == times[1]:
            found.append(Mistake.FIRST_TWICE)
        elif len(set(times)) < len(times):
            found.append(Mistake.INTERVAL_EXTRA)
    if sum(amounts) > 1.15 * wanted.true_bytes and len(parts) > wanted.count:
        found += (
            [Mistake.FIRST_TWICE] if amounts[0] > 1.5 * amounts[-1] else [Mistake.INTERVAL_EXTRA, Mistake.FIRST_TWICE]
        )
    end_s = total.end_s if total else wanted.took_s
    if parts[-1].end_s <= min(wanted.seconds, end_s) - _END_S:
        # where times are none, amounts tell whether the last rows are missing or their times are wrong
        short = sum(amounts) < wanted.true_bytes * (1 - tolerances.SUM)
        found.append(Mistake.LAST_MISSING if short or len(parts) < wanted.count else Mistake.INTERVAL_CLOCK)
    tail = parts[-1] if len(parts) > wanted.count else None
    if tail is not None and tail.duration_s > 0.6 * wanted.every_s and amounts[-1] > 0.1 * amounts[0]:
        # it is no short rest: the program sends on when -t is over
        found.append(Mistake.TIME_IGNORED)
    late = [row for row in parts if row.end_s > max(wanted.took_s, end_s) + _END_S]
    if late:
        found += [
            Mistake.INTERVAL_EXTRA if (late[-1].start_s or 0) >= wanted.took_s - _END_S else Mistake.INTERVAL_CLOCK
        ]
    return tuple(dict.fromkeys(found))


def _count(done: Table, faults: tuple[Mistake, ...], expected: str, found: str, wanted: Wanted) -> ConformanceCheck:
    parts = done.parts
    named = {
        Mistake.FIRST_TWICE,
        Mistake.LAST_MISSING,
        Mistake.CUMULATIVE,
        Mistake.INTERVAL_EXTRA,
        Mistake.INTERVAL_CLOCK,
        Mistake.TIME_IGNORED,
    }
    quotes = [row.line.strip() for row in (parts[0], parts[-1])]
    if named & set(faults):
        return failed("interval-rows", faults, f"the rows are {done}", expected, found, quotes)
    empty = parts[-1].duration_s <= parts[-1].time_step_s and len(parts) > wanted.count
    if wanted.count <= len(parts) - empty <= wanted.count + 1:
        return passed("interval-rows", expected, found, Mistake.INTERVAL_EXTRA if empty else None)
    if len(parts) < wanted.count:
        mistakes: tuple[Mistake, ...] = (Mistake.LAST_MISSING, Mistake.INTERVAL_SUM)
    else:
        mistakes = (Mistake.INTERVAL_EXTRA, Mistake.INTERVAL_SUM)
    return failed("interval-rows", mistakes, f"the rows are {done}", expected, found, quotes)


def _join(done: Table, faults: tuple[Mistake, ...], wanted: Wanted) -> ConformanceCheck:
    edges = range(wanted.count)
    expected = ", ".join(f"{number * wanted.every_s} - {(number + 1) * wanted.every_s}" for number in edges)
    if any(row.start_s is None for row in done.parts):
        return unknown("interval-join", "the rows do not say when their intervals begin", "print both ends: 2.0 - 4.0")
    if gap := _gap(done.parts):
        before_s, row = gap
        reason = f"a row begins at {row.start_s:g} s, the one before ends at {before_s:g} s"
        quotes = [row.line.strip()]
        return failed("interval-join", (*faults, Mistake.INTERVAL_GAPS), reason, expected, str(done), quotes)
    return passed("interval-join", expected, str(done))


def _gap(parts: Sequence[Row]) -> tuple[float, Row] | None:
    """The first row that does not begin where the one before ended, and that end."""
    before_s = 0.0
    for row in parts:
        if abs((row.start_s or 0.0) - before_s) > tolerances.JOIN_S + row.time_step_s:
            return before_s, row
        before_s = row.end_s
    return None


def _sum(done: Table, faults: tuple[Mistake, ...], wanted: Wanted) -> ConformanceCheck:
    summed = sum(figures.amount_bytes(row, wanted.unit) for row in done.parts)
    whole = figures.amount_bytes(done.total, wanted.unit) if done.total else wanted.true_bytes
    slack = sum(figures.amount_step(row, wanted.unit) for row in done.parts) + tolerances.SUM * wanted.true_bytes
    expected, found = f"{whole / 1000:.0f} KB in all", f"{summed / 1000:.0f} KB"
    if abs(summed - whole) <= slack:
        return passed("interval-sum", expected, found)
    reason = f"the rows add up to {found}"
    if done.total is not None and abs(summed - wanted.true_bytes) <= slack:
        # then it is the total that is wrong
        mistakes = figures.amount_mistakes(done.total, wanted.true_bytes, "client", wanted.unit)
        return failed("interval-sum", mistakes, reason, expected, found, [done.total.line.strip()])
    mistakes = (*faults, Mistake.INTERVAL_SUM, *((Mistake.LAST_MISSING,) if summed < whole else (Mistake.FIRST_TWICE,)))
    return failed("interval-sum", tuple(dict.fromkeys(mistakes)), reason, expected, found)


def _fits_itself(row: Row, unit: str) -> figures.RateVerdict | None:
    """How a rate follows from its row's own amount and times; a verdict without a mistake if it does."""
    said, step = figures.amount_bytes(row, unit), figures.amount_step(row, unit)
    seconds, slack_s = row.duration_s, row.time_step_s + 0.02
    low = (said - step) * 8e-6 / (seconds + slack_s) * (1 - tolerances.ROW) - rate_step_mbps(row.rate)
    high = (said + step) * 8e-6 / max(0.1, seconds - slack_s) * (1 + tolerances.ROW) + rate_step_mbps(row.rate)
    if low <= figures.rate_mbps(row.rate) <= high:
        return figures.RateVerdict("row", None)
    return figures.judge_rate(row.rate, said, {"row": (seconds - slack_s, seconds + slack_s)})


def _rates(tables: Sequence[Sequence[Row]], faults: tuple[Mistake, ...], wanted: Wanted) -> ConformanceCheck:
    expected = "in each row: amount * 8 / seconds"
    from_start = all(_from_the_start(parts, wanted) for parts in tables)
    # of a stall's rows also the times may be wrong: that is a check of its own
    long = [row for parts in (tables if from_start else tables[:1]) for row in parts if row.duration_s > _SHORT_S]
    verdicts = [_fits_itself(row, wanted.unit) for row in long]
    off = [row for row, verdict in zip(long, verdicts, strict=True) if verdict is None or verdict.mistake is not None]
    if not off:
        return passed("interval-rates", expected)
    row = off[0]
    # a factor that is in every row is no chance
    told = [verdict for row, verdict in zip(long, verdicts, strict=True) if row.amount.value]
    factors = {verdict.factor if verdict else 0.0 for verdict in told}
    verdict = told[0] if len(factors) == 1 else None
    mistakes = list(of_units(verdict, wanted.unit, wanted.by_format)) if verdict and verdict.mistake else []
    mistakes += [Mistake.RATE_FROM_START] if from_start else []
    mistakes += [*faults, *([Mistake.INTEGER_DIVISION] if all(figures.is_whole(one.rate) for one in off) else [])]
    by = f", {figures.times(verdict.factor)}" if verdict and verdict.mistake else ""
    reason = f"the rate {rate_shown(row)} does not follow from {amount_shown(row)} in {row.duration_s:g} s{by}"
    every = tuple(dict.fromkeys([*mistakes, Mistake.INTERVAL_RATE, Mistake.WRONG_RATE]))
    line = row.line.strip()
    return failed("interval-rates", every, reason, expected, line, [line])


def _from_the_start(parts: Sequence[Row], wanted: Wanted) -> bool:
    """Whether rates are over the time since the start: of the interval's bytes, or of all so far."""
    so_far, kinds = 0.0, set()
    factors = (1.0, *(factor for factor, _ in figures.FACTORS))
    for number, row in enumerate(parts):
        said = figures.amount_bytes(row, wanted.unit)
        so_far += said
        if number == 0 or row.duration_s <= _SHORT_S:
            continue
        for kind, size in (("own", said), ("all", so_far)):
            rate, said_mbps = size * 8e-6 / max(row.end_s, 0.1), figures.rate_mbps(row.rate)
            step = rate_step_mbps(row.rate)
            if any(abs(said_mbps / factor - rate) <= 0.03 * rate + step / factor for factor in factors):
                kinds.add((number, kind))
    later = {number for number, row in enumerate(parts) if number and row.duration_s > _SHORT_S}
    return bool(later) and any(all((number, kind) in kinds for number in later) for kind in ("own", "all"))


def _total(total: Row | None, wanted: Wanted) -> ConformanceCheck:
    expected = f"0 to the end, {wanted.true_bytes / 1000:.0f} KB, and the rate of both"
    if total is None:
        return failed("interval-total", Mistake.NO_TOTAL, "the last row is not the total", expected, "none")
    line = total.line.strip()
    if not figures.amount_fits(total, wanted.true_bytes, wanted.unit, tolerances.SUM * wanted.true_bytes):
        mistakes = figures.amount_mistakes(total, wanted.true_bytes, "client", wanted.unit)
        return failed("interval-total", mistakes, f"it says {amount_shown(total)}", expected, line, [line])
    verdict = _fits_itself(total, wanted.unit)
    if verdict is None or verdict.mistake is not None:
        reason = f"the rate {rate_shown(total)} does not follow from {amount_shown(total)} in {total.duration_s:g} s"
        units = list(of_units(verdict, wanted.unit, wanted.by_format)) if verdict and verdict.mistake else []
        if figures.is_whole(total.rate):
            units.append(Mistake.INTEGER_DIVISION)
        mistakes = (*units, Mistake.TOTAL_RATE, Mistake.ASKED_TIME, Mistake.WRONG_RATE)
        return failed("interval-total", mistakes, reason, expected, line, [line])
    return passed("interval-total", expected, line)


def _remainder(take: Take, wanted: Wanted | None) -> ConformanceCheck:
    """-t 5 -i 2: the last row is short."""
    key, expected = "interval-remainder", "0 - 2, 2 - 4, 4 - 5, and the same bytes as the total"
    if wanted is None:
        return _not_played(key, take, 2)
    done = table(take.client.reading.rows, wanted)
    if not done.parts:
        return failed(key, Mistake.INTERVAL_IGNORED, "with -t 5 -i 2 there is only the total", expected)
    return _covers(key, done, wanted, expected, "with -t 5 -i 2")


def _stall(take: Take, wanted: Wanted | None, joins: bool) -> ConformanceCheck:
    """-t 6 -i 1 while the network stands still for three of them; ``joins``: whether rows join where it does not."""
    key, expected = "interval-stall", "rows up to the end of the transfer, with all of its bytes"
    if wanted is None:
        return _not_played(key, take, 1)
    done = table(take.client.reading.rows, wanted)
    if not done.parts:
        return failed(key, Mistake.INTERVAL_IGNORED, "with -t 6 -i 1 there is only the total", expected)
    when = f"while nothing gets through from {STALL_S[0]:g} s to {STALL_S[1]:g} s"
    covers = _covers(key, done, wanted, expected, when, stalled=True)
    if not covers.passed:
        return covers
    for before, after in itertools.pairwise(done.parts):
        if after.start_s is not None and abs(after.start_s - before.end_s) > _END_S:
            reason = f"{when} a row ends at {before.end_s:g} s, and the next begins at {after.start_s:g} s"
            both = [before.line.strip(), after.line.strip()]
            likely = (Mistake.INTERVAL_CLOCK, Mistake.INTERVAL_GAPS)
            return failed(key, likely if joins else likely[::-1], reason, expected, str(done), both)
    off = [row for row in done.parts if row.duration_s > _SHORT_S and _fits_itself(row, wanted.unit) is None]
    if off:
        # the rate is over the time that passed, or over the one that was asked for, and the row says the other
        line = off[0].line.strip()
        reason = f"{when} this row contradicts itself: {line}"
        mistakes = (Mistake.INTERVAL_CLOCK, Mistake.RATE_FROM_START, Mistake.INTERVAL_RATE, Mistake.WRONG_RATE)
        return failed(key, mistakes, reason, expected, line, [line])
    return covers


def _covers(key: str, done: Table, wanted: Wanted, expected: str, when: str, stalled: bool = False) -> ConformanceCheck:
    """Whether the rows reach from 0 to the end, with all bytes, and no farther."""
    parts, total = done.parts, done.total
    summed = sum(figures.amount_bytes(row, wanted.unit) for row in parts)
    # a total that is wrong is a check of its own
    whole = wanted.true_bytes
    slack = sum(figures.amount_step(row, wanted.unit) for row in parts) + tolerances.SUM * wanted.true_bytes
    end_s = total.end_s if total else wanted.took_s
    last_s = parts[-1].end_s if parts[-1].start_s is not None else sum(row.duration_s for row in parts)
    quotes = [parts[-1].line.strip()] + ([total.line.strip()] if total else [])
    # rows that add up to a wrong total are all there: what is wrong is in every amount
    complete = total is not None and abs(summed - figures.amount_bytes(total, wanted.unit)) <= slack
    if summed < whole - slack and not complete:
        reason = f"{when} the rows add up to {summed / 1000:.0f} of {whole / 1000:.0f} KB"
        return failed(key, (Mistake.LAST_MISSING, Mistake.INTERVAL_SUM), reason, expected, str(done), quotes)
    if summed > whole + slack and not complete:
        reason = f"{when} the rows add up to {summed / 1000:.0f} of {whole / 1000:.0f} KB"
        mistakes: tuple[Mistake, ...] = (
            Mistake.FIRST_TWICE,
            Mistake.CUMULATIVE,
            Mistake.INTERVAL_EXTRA,
            Mistake.INTERVAL_SUM,
        )
        return failed(key, mistakes, reason, expected, str(done), quotes)
    # the rows may end before the total does: until the acknowledgement comes nothing is sent
    if not min(wanted.seconds, end_s) - _END_S <= last_s <= max(end_s, wanted.took_s) + _END_S:
        reason = f"{when} the last row ends at {last_s:g} s, and the transfer after {end_s:g} s"
        likely = (Mistake.LAST_MISSING, Mistake.INTERVAL_CLOCK)
        return failed(key, likely[::-1] if stalled or last_s > end_s else likely, reason, expected, str(done), quotes)
    if total is not None and abs(summed - whole) > slack:
        reason = f"{when} the rows, and the total, are {summed / 1000:.0f} of {whole / 1000:.0f} KB"
        mistakes = figures.amount_mistakes(total, whole, "client", wanted.unit)
        return failed(key, mistakes, reason, expected, str(done), quotes)
    return passed(key, expected, str(done))
