"""Step parallel: -P opens its connections at once, and prints a row for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from linklab.measure.simpleperf_rows import Row
from linklab.programs.simpleperf import figures, trouble
from linklab.programs.simpleperf.catalogue import keys_of
from linklab.programs.simpleperf.evidence import Printed, Take
from linklab.programs.simpleperf.figures import amount_shown
from linklab.programs.simpleperf.judge_clock import learn_format
from linklab.programs.simpleperf.judge_transfer import needs
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.programs.simpleperf.report import ConformanceCheck
from linklab.programs.simpleperf.session import Session
from linklab.programs.simpleperf.verdict import all_unknown, failed, passed, unknown, unread

KEYS = keys_of("parallel")
CONNECTIONS = 3


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """Yield the checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why[0], needs=why[1])
        return
    learn_format(session)
    words = ["-t", "2", "-P", str(CONNECTIONS)]
    take = session.pair("parallel", [(0.0, words)], unit="KB", relay=session.paced())
    session.dialect.learn("-P", take)
    together = _together(take)
    yield together
    if not together.passed:
        yield from all_unknown(KEYS[1:], f"needs {CONNECTIONS} connections at once", needs=KEYS[0])
        return
    if not take.client.ended:
        found = trouble.of(take)
        mistakes = (found.mistake, Mistake.NO_END) if found else (Mistake.NO_END, Mistake.WAITS)
        reason = found.reason if found else f"with -P {CONNECTIONS} the client had to be stopped"
        yield failed("parallel-client", mistakes, reason, quotes=found.quotes if found else ())
        yield from all_unknown(KEYS[2:], "needs a client that comes to its end", needs="parallel-client")
        return
    rows = {side: _single(program) for side, program in (("client", take.client), ("server", take.server))}
    yield _rows("client", take.client, rows["client"])
    yield _rows("server", take.server, rows["server"])
    yield _bytes(session, take, rows)


def _single(program: Printed) -> list[Row]:
    """The rows of single connections: without one that is the sum of the others, whatever it is called."""
    rows = list(program.rows)
    if len(rows) > CONNECTIONS:  # of a connection that only tried whether the server is there
        rows = [row for row in rows if row.amount.value] or rows
    if len(rows) == 2 * CONNECTIONS:  # the same rows once more, as totals
        once = list({(row.end_s, row.amount.value, row.rate.value): row for row in rows}.values())
        rows = once if len(once) == CONNECTIONS else rows
    if len(rows) == CONNECTIONS + 1:
        for row in reversed(rows):
            others = sum(figures.amount_bytes(one, "KB") for one in rows if one is not row)
            step = sum(figures.amount_step(one, "KB") for one in rows)
            if abs(figures.amount_bytes(row, "KB") - others) <= step:
                return [one for one in rows if one is not row]
    return rows


def _together(take: Take) -> ConformanceCheck:
    expected = f"{CONNECTIONS} connections that send at one time"
    found = trouble.of(take)
    if not take.connections:
        if take.refused:
            reason = f"with -P {CONNECTIONS} the server's host refused every connection"
            return failed("parallel-together", Mistake.REFUSES, reason, expected)
        mistake, reason = (found.mistake, found.reason) if found else (Mistake.NO_CONNECTION, "it opens no connection")
        if mistake is Mistake.CRASH:  # it ended with a word and no traceback: it refuses
            mistake = Mistake.PARALLEL_REFUSED
        quotes = found.quotes if found else (take.client.last_words(),) if take.clients else ()
        return failed("parallel-together", mistake, f"with -P {CONNECTIONS}: {reason}", expected, "none", quotes)
    sending = take.carrying
    count = len(sending) or len(take.connections)
    if take.refused:
        seen = f"{count} connections, and {len(take.refused)} that the server's host refused"
        mistakes = (Mistake.ONE_CLIENT_ONLY, Mistake.REFUSES, *((found.mistake,) if found else ()))
        reason = f"of the {CONNECTIONS} connections {len(take.refused)} found nothing that listened any more"
        return failed("parallel-together", mistakes, reason, expected, seen, found.quotes if found else ())
    if count == 1:
        one = take.main
        opened = len(take.connections)
        ends = one.up_text.count(one.stream.end) if one.stream.end else 0
        printed = len(take.client.rows) if take.client.ended else 0
        if ends > 1 or printed == CONNECTIONS or opened == CONNECTIONS:
            reason = f"all data went over one connection; there were {opened}, and the client printed {printed} rows"
            return failed("parallel-together", Mistake.PARALLEL_SHARED, reason, expected, "1 connection")
        mistakes = (Mistake.PARALLEL_IGNORED, Mistake.PARALLEL_SHARED)
        if found is not None:  # a client that takes no notice of -P would end as it does without
            mistakes = mistakes[::-1]
        if found is not None and found.mistake is not Mistake.CRASH:
            mistakes = (found.mistake, *mistakes)
        reason = found.reason if found else f"with -P {CONNECTIONS} there was one connection"
        return failed("parallel-together", mistakes, reason, expected, "1 connection", found.quotes if found else ())
    if not sending:
        seen = f"{count} connections, and no data on any of them"
        mistakes = (*((found.mistake,) if found else ()), Mistake.NO_DATA)
        reason = found.reason if found else seen
        return failed("parallel-together", mistakes, reason, expected, seen, found.quotes if found else ())
    begins, ends_s = max(one.began_s for one in sending), min(one.sent_s for one in sending)
    seen = f"{count} connections; the last began at {begins:.1f} s, the first ended at {ends_s:.1f} s"
    if begins >= ends_s:
        served = all(one.carried and one.acknowledged_s is not None for one in sending)
        opened_s = max(one.came_s for one in sending)
        # all were open while the first one sent, and waited to be greeted: then it is the server that serves in turn
        waits = served and opened_s < ends_s and any(one.greeting for one in sending)
        in_turn = (Mistake.PARALLEL_IN_TURN, Mistake.ONE_AT_A_TIME)
        mistakes = (Mistake.ONE_AT_A_TIME,) if waits else in_turn
        return failed("parallel-together", mistakes, "one ended before another began", expected, seen)
    if count != CONNECTIONS:
        reason = f"there were {count} connections"
        mistakes = (*((found.mistake,) if found else ()), Mistake.PARALLEL_IGNORED)
        return failed("parallel-together", mistakes, reason, expected, seen, found.quotes if found else ())
    return passed("parallel-together", expected, seen)


def _rows(side: str, program: Printed, rows: Sequence[Row]) -> ConformanceCheck:
    key = f"parallel-{side}"
    expected, found = f"{CONNECTIONS} rows", f"{len(rows)} rows"
    if len(rows) == CONNECTIONS:
        return passed(key, expected, found)
    crashed = trouble.crash(program)
    if crashed is not None and crashed.mistake is not Mistake.CRASH:
        return failed(key, (crashed.mistake, Mistake.PARALLEL_ROWS), crashed.reason, expected, found, crashed.quotes)
    if len(rows) < CONNECTIONS <= len(rows) + len(program.reading.unread):
        return unread(key, program)
    mistakes = (Mistake.PARALLEL_ROWS,) if side == "client" else (Mistake.PARALLEL_ROWS, Mistake.ONE_AT_A_TIME)
    return failed(key, mistakes, f"with -P {CONNECTIONS} the {side} prints {found}", expected, found)


def _bytes(session: Session, take: Take, rows: dict[str, list[Row]]) -> ConformanceCheck:
    true = sorted(one.carried for one in take.carrying)
    expected = ", ".join(f"{size / 1000:.0f} KB" for size in true)
    for side, printed in rows.items():
        if len(printed) != CONNECTIONS:
            return unknown("parallel-bytes", f"needs {CONNECTIONS} rows of each side", needs=f"parallel-{side}")
        unit = session.dialect.unit(side, "KB")
        by_size = sorted(printed, key=lambda row: figures.amount_bytes(row, "KB"))
        found = ", ".join(amount_shown(row) for row in by_size)
        for row, size in zip(by_size, true, strict=True):
            if not figures.amount_fits(row, size, unit, 0.01 * size):
                mistakes = figures.amount_mistakes(row, size, side, unit)
                if abs(figures.amount_bytes(by_size[-1], unit) - sum(true)) <= 0.03 * sum(true):
                    together = Mistake.PARALLEL_SUMMED if side == "client" else Mistake.CLIENTS_MIXED
                    mistakes = (together, Mistake.PARALLEL_SUMMED, *mistakes)
                reason = f"the {side} says {found}"
                return failed("parallel-bytes", mistakes, reason, expected, found, [row.line.strip()])
    return passed("parallel-bytes", expected)
