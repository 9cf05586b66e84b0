"""Step parallel: -P opens its connections at once, and prints a row for each."""

from __future__ import annotations

from collections.abc import Iterator

from linklab.grade.simpleperf import figures, trouble
from linklab.grade.simpleperf.judge_transfer import needs, shown
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.report import ConformanceCheck
from linklab.grade.simpleperf.session import Session
from linklab.grade.simpleperf.take import Take
from linklab.grade.simpleperf.verdict import all_unknown, failed, passed, unknown
from linklab.measure.simpleperf_rows import Row

KEYS = ("parallel-together", "parallel-client", "parallel-server", "parallel-bytes")
CONNECTIONS = 3


def checks(session: Session) -> Iterator[ConformanceCheck]:
    """The checks of this step."""
    if why := needs(session):
        yield from all_unknown(KEYS, why)
        return
    words = ["-t", "2", "-P", str(CONNECTIONS), "-f", "KB"]
    take = session.pair("parallel", [(0.0, words)], server=["-f", "KB"], relay=session.paced())
    if not take.passages or not take.clients:
        found = trouble.breach(take) or (trouble.crash(take.client) if take.clients else None)
        mistake, reason = found or (Mistake.NO_CONNECTION, "it opens no connection")
        yield failed("parallel-together", mistake, f"with -P {CONNECTIONS}: {reason}")
        yield from all_unknown(KEYS[1:], "needs connections")
        return
    together = _together(take)
    yield together
    if not together.passed:
        yield from all_unknown(KEYS[1:], f"needs {CONNECTIONS} connections at once")
        return
    if not take.client.ended:
        mistake, reason = trouble.breach(take) or (Mistake.NO_END, "the client had to be stopped")
        yield failed("parallel-client", mistake, reason)
        yield from all_unknown(KEYS[2:], "needs a client that comes to its end")
        return
    yield _rows(take, "client")
    yield _rows(take, "server")
    yield _bytes(session, take)


def _together(take: Take) -> ConformanceCheck:
    expected = f"{CONNECTIONS} connections that send at one time"
    count = len(take.passages)
    spans = [(one.up["first_s"], one.up["last_s"]) for one in take.passages if one.up["bytes"]]
    if count < 2:
        return failed(
            "parallel-together", Mistake.PARALLEL_IGNORED, "there was one connection", expected, "1 connection"
        )
    begins, ends = max(first for first, _ in spans), min(last for _, last in spans)
    found = f"{count} connections; the last began at {begins:.1f} s, the first ended at {ends:.1f} s"
    if begins >= ends:
        return failed("parallel-together", Mistake.PARALLEL_IN_TURN, "one ended before another began", expected, found)
    if count != CONNECTIONS:
        return failed("parallel-together", Mistake.PARALLEL_IGNORED, f"there were {count} connections", expected, found)
    return passed("parallel-together", expected, found)


def _rows(take: Take, side: str) -> ConformanceCheck:
    key = f"parallel-{side}"
    program = take.client if side == "client" else take.server
    expected, found = f"{CONNECTIONS} rows", f"{len(program.rows)} rows"
    if len(program.rows) == CONNECTIONS:
        return passed(key, expected, found)
    if program.traceback:
        return failed(key, Mistake.TRACEBACK, program.traceback, expected, found)
    return failed(key, Mistake.PARALLEL_ROWS, f"the {side} prints {found}", expected, found)


def _bytes(session: Session, take: Take) -> ConformanceCheck:
    true = sorted(one.up["bytes"] - len(session.dialect.end) for one in take.passages)
    expected = ", ".join(f"{size / 1000:.0f} KB" for size in true)
    for side, program in (("client", take.client), ("server", take.server)):
        if len(program.rows) != CONNECTIONS:
            return unknown("parallel-bytes", f"needs {CONNECTIONS} rows of each side")
        rows: list[Row] = sorted(program.rows, key=figures.amount_bytes)
        found = ", ".join(shown(row) for row in rows)
        unit = "KB"
        for row, size in zip(rows, true, strict=True):
            if not figures.amount_fits(row, size, unit, 0.01 * size):
                mistake = figures.amount_mistake(row, size, unit) or Mistake.WRONG_AMOUNT
                return failed("parallel-bytes", mistake, f"the {side} says {found}", expected, found)
    return passed("parallel-bytes", expected)
