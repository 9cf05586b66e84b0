"""Step intervals: rows of -i that join, add up and end with a total."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from linklab.grade.simpleperf import figures, tolerances, trouble
from linklab.grade.simpleperf.judge_transfer import needs, works
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.report import ConformanceCheck
from linklab.grade.simpleperf.session import Session
from linklab.grade.simpleperf.take import Take
from linklab.grade.simpleperf.verdict import all_unknown, failed, passed, unknown
from linklab.measure.simpleperf_rows import Row

KEYS = ("interval-rows", "interval-join", "interval-sum", "interval-rates", "interval-total")
SECONDS, EVERY_S = 6, 2
COUNT = SECONDS // EVERY_S


def interval_take(session: Session) -> Take:
    """-t 6 -i 2, amounts in KB."""
    words = ["-t", str(SECONDS), "-i", str(EVERY_S), "-f", "KB"]
    return session.pair("intervals", [(0.0, words)], server=["-f", "KB"], relay=session.paced())


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """The checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why)
        return
    take = interval_take(session)
    if not works(take) or not take.client.rows:
        found = trouble.breach(take) or (trouble.crash(take.client) if take.clients else None)
        mistake, reason = found or (Mistake.NO_ROW, "the client prints no row that can be read")
        yield failed("interval-rows", mistake, f"with -i {EVERY_S}: {reason}")
        yield from all_unknown(KEYS[1:], "needs rows of intervals")
        return
    # all of them: a total may be called so
    yield from judge(take.client.reading.rows, take.passages[0].up["bytes"] - len(session.dialect.end))


def split(rows: Sequence[Row]) -> tuple[list[Row], Row | None]:
    """Rows of intervals, and the row of the total: the last one, if it begins at 0 and none ends later."""
    last = rows[-1]
    others = list(rows[:-1])
    begins_at_0 = (last.start_s or 0.0) <= tolerances.JOIN_S
    latest_s = max((row.end_s for row in others), default=0.0)
    if begins_at_0 and last.end_s >= latest_s - tolerances.JOIN_S and (others or last.end_s > EVERY_S + 1):
        return others, last
    return list(rows), None


def judge(rows: Sequence[Row], carried: float) -> list[ConformanceCheck]:
    """All five checks, of the rows of one connection."""
    parts, total = split(rows)
    span = f"{COUNT} rows of {EVERY_S} s"
    found = f"{len(parts)} rows" + (" and a total" if total else ", no total")
    if not parts:
        reason = f"with -i {EVERY_S} there is only the total"
        checks = [failed("interval-rows", Mistake.INTERVAL_IGNORED, reason, span, found)]
        checks += all_unknown(KEYS[1:], "needs rows of intervals")
        return checks
    fault = _fault(parts, total, carried)
    unit = "KB"
    summed = sum(figures.amount_bytes(row, unit) for row in parts)
    whole = figures.amount_bytes(total, unit) if total else carried
    slack = sum(figures.amount_step(row, unit) for row in parts) + tolerances.SUM * carried
    checks = []
    if fault in (Mistake.FIRST_TWICE, Mistake.LAST_MISSING, Mistake.CUMULATIVE):
        checks.append(failed("interval-rows", fault, _listed(parts), span, found))
    elif COUNT <= len(parts) <= COUNT + 1:
        checks.append(passed("interval-rows", span, found))
    else:
        few = Mistake.LAST_MISSING if len(parts) < COUNT else Mistake.INTERVAL_SUM
        checks.append(failed("interval-rows", few, _listed(parts), span, found))
    checks.append(_join(parts, fault))
    expected = f"{whole / 1000:.0f} KB in all"
    if abs(summed - whole) <= slack:
        checks.append(passed("interval-sum", expected, f"{summed / 1000:.0f} KB"))
    else:
        reason = f"the rows add up to {summed / 1000:.0f} KB"
        checks.append(
            failed("interval-sum", fault or Mistake.INTERVAL_SUM, reason, expected, f"{summed / 1000:.0f} KB")
        )
    checks.append(_rates(parts, fault))
    checks.append(_total(total, carried))
    return checks


def _fault(parts: Sequence[Row], total: Row | None, carried: float) -> Mistake | None:
    """What the rows have wrong together, by their amounts and times."""
    amounts = [figures.amount_bytes(row, "KB") for row in parts]
    if len(parts) > 1:
        grows = all(later > 1.4 * earlier for earlier, later in itertools.pairwise(amounts[:3]))
        from_0 = all((row.start_s or 0.0) <= tolerances.JOIN_S for row in parts)
        if (grows or from_0) and sum(amounts) > 1.3 * carried:
            return Mistake.CUMULATIVE
        same = (parts[0].start_s, parts[0].end_s) == (parts[1].start_s, parts[1].end_s)
        if same:
            return Mistake.FIRST_TWICE
    if sum(amounts) > 1.15 * carried and len(parts) > COUNT:
        return Mistake.FIRST_TWICE
    ends_early = parts[-1].end_s <= SECONDS - EVERY_S + 0.5
    if ends_early and (total is None or total.end_s > parts[-1].end_s + 0.5):
        return Mistake.LAST_MISSING
    return None


def _join(parts: Sequence[Row], fault: Mistake | None) -> ConformanceCheck:
    expected = ", ".join(f"{number * EVERY_S} - {(number + 1) * EVERY_S}" for number in range(COUNT))
    found = _listed(parts)
    if any(row.start_s is None for row in parts):
        return unknown("interval-join", "the rows do not say when their intervals begin")
    before_s = 0.0
    for row in parts:
        slack_s = tolerances.JOIN_S + row.time_step_s
        if abs((row.start_s or 0.0) - before_s) > slack_s:
            reason = f"a row begins at {row.start_s:g} s, the one before ends at {before_s:g} s"
            return failed("interval-join", fault or Mistake.INTERVAL_GAPS, reason, expected, found)
        before_s = row.end_s
    return passed("interval-join", expected, found)


def _rates(parts: Sequence[Row], fault: Mistake | None) -> ConformanceCheck:
    expected = "in each row: amount * 8 / seconds"
    for row in parts:
        carried, step = figures.amount_bytes(row, "KB"), figures.amount_step(row, "KB")
        seconds, slack_s = row.duration_s, row.time_step_s + 0.02
        if seconds <= 0.3:
            continue
        low = (carried - step) * 8e-6 / (seconds + slack_s) * (1 - tolerances.ROW) - row.rate.step
        high = (carried + step) * 8e-6 / max(0.1, seconds - slack_s) * (1 + tolerances.ROW) + row.rate.step
        if not low <= figures.rate_mbps(row.rate) <= high:
            verdict = figures.judge_rate(row.rate, carried, {"row": (seconds - slack_s, seconds + slack_s)})
            mistake = (verdict and verdict.mistake) or fault
            if mistake is None:
                mistake = Mistake.INTEGER_DIVISION if figures.is_whole(row.rate) else Mistake.WRONG_RATE
            return failed("interval-rates", mistake, f"this row does not fit itself: {row.line.strip()}", expected)
    return passed("interval-rates", expected)


def _total(total: Row | None, carried: float) -> ConformanceCheck:
    expected = f"0 to the end, {carried / 1000:.0f} KB"
    if total is None:
        return failed("interval-total", Mistake.NO_TOTAL, "the last row is not the total", expected, "none")
    if not figures.amount_fits(total, carried, "KB", tolerances.SUM * carried):
        mistake = figures.amount_mistake(total, carried, "KB") or Mistake.WRONG_AMOUNT
        return failed(
            "interval-total",
            mistake,
            f"it says {total.amount.value:g} {total.amount.unit}",
            expected,
            total.line.strip(),
        )
    return passed("interval-total", expected, total.line.strip())


def _listed(parts: Sequence[Row]) -> str:
    return ", ".join(
        f"{row.start_s or 0:g} - {row.end_s:g}: {row.amount.value:g} {row.amount.unit}" for row in parts[:8]
    )
