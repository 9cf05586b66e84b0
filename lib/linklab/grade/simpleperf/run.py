"""Checks a program: finds a place, plays what the steps need, gathers the report."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from linklab.errors import LabError, LinklabError
from linklab.grade.result import Result
from linklab.grade.simpleperf import (
    judge_amount,
    judge_arguments,
    judge_clock,
    judge_intervals,
    judge_many,
    judge_parallel,
    judge_transfer,
    submission,
)
from linklab.grade.simpleperf.catalogue import ITEMS
from linklab.grade.simpleperf.loopback import LoopbackPlace
from linklab.grade.simpleperf.place import LabPlace, Place
from linklab.grade.simpleperf.report import ConformanceCheck, Report
from linklab.grade.simpleperf.session import GaveUp, Session
from linklab.grade.simpleperf.steps import STEPS
from linklab.grade.simpleperf.submission import Submission
from linklab.grade.simpleperf.verdict import unknown

_JUDGES: Final[dict[str, Callable[[Session], Iterator[ConformanceCheck]]]] = {
    "transfer": judge_transfer.checks,
    "clock": judge_clock.checks,
    "intervals": judge_intervals.checks,
    "amount": judge_amount.checks,
    "parallel": judge_parallel.checks,
    "many": judge_many.checks,
    "arguments": judge_arguments.checks,
}
STALLED_NOTE: Final = "in the lab, where time stands still while a program computes, it made no progress"


def run(file: Path, steps: Iterable[str] | None, where: str, progress: Callable[[str], None] | None) -> Report:
    """As :func:`linklab.grade.simpleperf.check`."""
    wanted = list(STEPS) if steps is None else list(steps)
    for step in wanted:
        if step not in STEPS:
            raise LinklabError(f"no step is called {step!r}: choose one of {', '.join(STEPS)}")
    if where not in ("auto", "lab", "loopback"):
        raise LinklabError(f"where={where!r}: say 'auto', 'lab' or 'loopback'")
    program = submission.read(file)
    return _tried(program, wanted, where, progress or (lambda _: None))


def _tried(program: Submission, wanted: list[str], where: str, tell: Callable[[str], None]) -> Report:
    place = _place(program, where)
    note = ""
    try:
        session = Session(program, place, tell)
        if where == "auto" and place.virtual and _stalls(session, wanted):
            place.close()
            place = LoopbackPlace(program)
            session = Session(program, place, tell)
            note = f"; {STALLED_NOTE}"
        results = {}
        for step in (step for step in STEPS if step in wanted):
            with _for_step(session, step, where) as chosen:
                results[step] = Result(STEPS[step], tuple(_checks(chosen, step)))
    finally:
        place.close()
    return Report(program.name, place.title + note, results, session.dialect.to_json())


@contextlib.contextmanager
def _for_step(session: Session, step: str, where: str) -> Iterator[Session]:
    """The session for a step. Arguments need no network and no clock: outside a lab they are tried in a tenth of the
    time.
    """
    if step != "arguments" or where != "auto" or not session.place.virtual:
        yield session
        return
    try:
        place = LoopbackPlace(session.submission)
    except LabError:
        yield session
        return
    beside = Session(session.submission, place, session.tell)
    beside.takes.update(session.takes)
    try:
        yield beside
    finally:
        place.close()


def _place(program: Submission, where: str) -> Place:
    if where == "loopback":
        return LoopbackPlace(program)
    try:
        return LabPlace(program)
    except LabError:
        if where == "lab":
            raise
        return LoopbackPlace(program)


def _stalls(session: Session, steps: Iterable[str]) -> bool:
    """Whether a transfer stalls in the lab, where time passes only while all wait; it may well work elsewhere."""
    if not set(steps) - {"arguments"}:
        return False
    try:
        take = judge_transfer.first_take(session)
    except GaveUp:  # the steps come to it again, and say so
        return False
    return take.stalled and not any(program.breaches for program in take.programs)


def _checks(session: Session, step: str) -> list[ConformanceCheck]:
    done: list[ConformanceCheck] = []
    try:
        done.extend(_JUDGES[step](session))
    except GaveUp as end:
        seen = {check.key for check in done}
        left = [key for key, item in ITEMS.items() if item.step == step and key not in seen]
        done += [unknown(key, str(end), end.hint) for key in left]
    return done
