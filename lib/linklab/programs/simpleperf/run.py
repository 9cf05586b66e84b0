"""Checks a program: finds a place, lets the judges of the steps play what they need, gathers the report."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import linklab
from linklab.errors import LabError, LinklabError
from linklab.grade.result import Result
from linklab.programs import submission
from linklab.programs.place import LabPlace, LoopbackPlace, SteadyPlace
from linklab.programs.simpleperf import (
    diagnosis,
    judge_amount,
    judge_arguments,
    judge_clock,
    judge_intervals,
    judge_many,
    judge_parallel,
    judge_transfer,
)
from linklab.programs.simpleperf.catalogue import STEPS, keys_of
from linklab.programs.simpleperf.place import NETWORK
from linklab.programs.simpleperf.report import SEND, Broken, ConformanceCheck, Report
from linklab.programs.simpleperf.session import GaveUp, Session
from linklab.programs.simpleperf.verdict import unknown
from linklab.programs.submission import SubmittedProgram

JUDGES: Final[dict[str, Callable[[Session], Iterator[ConformanceCheck]]]] = {
    "transfer": judge_transfer.checks,
    "clock": judge_clock.checks,
    "intervals": judge_intervals.checks,
    "amount": judge_amount.checks,
    "parallel": judge_parallel.checks,
    "many": judge_many.checks,
    "arguments": judge_arguments.checks,
}
_ERROR_CHARACTERS: Final = 200


def run(file: Path, steps: Iterable[str] | None, progress: Callable[[str], None] | None) -> Report:
    """As :func:`linklab.programs.simpleperf.check`."""
    wanted = list(STEPS) if steps is None else list(steps)
    for step in wanted:
        if step not in STEPS:
            raise LinklabError(f"no step is called {step!r}: choose one of {', '.join(STEPS)}")
    program = submission.read(file)
    return _tried(program, [step for step in STEPS if step in wanted], progress or (lambda _: None))


def _tried(program: SubmittedProgram, wanted: list[str], tell: Callable[[str], None]) -> Report:
    place = SteadyPlace(lambda: LabPlace(program, NETWORK))
    try:
        session = Session(program, place, tell)
        judged = {step: _judged(session, step) for step in wanted}
        checks = {step: one.checks for step, one in judged.items()}
        broken = [one.broken for one in judged.values() if one.broken is not None]
        try:
            # whose fault it is that a step could not be tried may be seen in a step that nobody asked for
            unasked = {step: _judged(session, step) for step in diagnosis.missing(checks)}
            broken += [one.broken for one in unasked.values() if one.broken is not None]
            found = diagnosis.diagnose(checks, {step: one.checks for step, one in unasked.items()})
        except LabError:
            raise
        except Exception as fault:
            broken.append(_broken("", fault))
            found = diagnosis.without_causes(checks)
    finally:
        place.close()
    faults = {one.step: one.error for one in broken}
    results = {step: Result(STEPS[step], found.steps[step], fault=faults.get(step, "")) for step in wanted}
    return Report(program.name, place.title, results, session.dialect.to_json(), found.causes, tuple(broken))


@contextlib.contextmanager
def _for_step(session: Session, step: str) -> Iterator[Session]:
    """The session for a step. Arguments need no network and no clock: outside a lab they are tried in a tenth of the
    time.
    """
    if step != "arguments":
        yield session
        return
    try:
        place = SteadyPlace(lambda: LoopbackPlace(session.submission))
    except LabError:
        yield session
        return
    beside = Session(session.submission, place, session.tell)
    beside.takes.update(session.takes)
    try:
        yield beside
    finally:
        place.close()


class _Judged:
    """The checks of a step; those that its judge could not make are inconclusive, with the reason."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.checks: list[ConformanceCheck] = []
        self.broken: Broken | None = None

    def leave_open(self, why: str, hint: str) -> None:
        """Adds what is not judged yet."""
        seen = {check.key for check in self.checks}
        left = [key for key in keys_of(self.step) if key not in seen]
        self.checks += [unknown(key, why, hint) for key in left]


def _judged(session: Session, step: str) -> _Judged:
    """Return the checks of a step. What goes wrong with its judge costs this step alone, and what was judged stays."""
    judged = _Judged(step)
    tried = session
    try:
        with _for_step(session, step) as tried:
            for check in JUDGES[step](tried):
                judged.checks.append(check)
        if len(judged.checks) != len(keys_of(step)):
            raise AssertionError(f"the judge of {step} made {', '.join(check.key for check in judged.checks)}")
    except GaveUp as end:
        judged.leave_open(str(end), end.hint)
    except LabError as lost:
        if not tried.takes:  # nothing can be tried here at all
            raise
        judged.leave_open(f"the lab was lost twice: {lost}", "check again; linklab doctor says whether labs run here")
    except Exception as fault:
        judged.broken = _broken(step, fault)
        judged.leave_open(f"this check broke (our fault, not your program's): {judged.broken.error}", SEND)
    return judged


def _broken(step: str, fault: Exception) -> Broken:
    return Broken(step, _said(fault), "".join(traceback.format_exception(fault)))


def _said(fault: Exception) -> str:
    """What happened, and where in Linklab, in one line."""
    home = Path(linklab.__file__).parent
    ours = [frame for frame in traceback.extract_tb(fault.__traceback__) if home in Path(frame.filename).parents]
    said = " ".join(str(fault).split())[:_ERROR_CHARACTERS]
    words = f"{type(fault).__name__}: {said}" if said else type(fault).__name__
    return f"{words} in {Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else words
