"""Judge a student's program by checks: each is a function, and names the checks that must pass first.

The *evidence* is an object that plays *scenes*, which are runs of the program with other programs in a lab, and keeps
what was seen. A check is judged once, by the evidence alone, so the same evidence gives the same verdict. A check that
needs another one stays inconclusive until that one passes, and names it. The checks of a program stand in modules of
its folder, each below `check`; `checks_in` collects them, `Judging` judges, and `Report` shows the outcome.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from types import ModuleType
from typing import Any, Final, Generic, Literal, TypeVar

from linklab.errors import LabError, LinklabError
from linklab.grade.check import Check, Hints, Outcome, as_tuple
from linklab.grade.render import SIGNS
from linklab.grade.result import GradeError, Result, not_judged
from linklab.programs.scenes import NotTried

Evidence = TypeVar("Evidence")
_COLUMNS: Final = 80
_MARGIN: Final = " " * 6


@dataclass(frozen=True)
class Observed:
    """What the evidence shows of one check. The check passes if ``reason`` is empty.

    ``reason`` says what was seen, and nothing that the evidence does not show. ``hint`` replaces the check's; if the
    check passes, it is advice and costs no points. ``expected`` and ``found`` are texts for people, with units.
    """

    reason: str = ""
    hint: Hints = ""
    expected: str = ""
    found: str = "as expected"


class Failed(Exception):
    """Raised by a judge whose evidence shows that the check has failed, wherever it notices."""

    def __init__(self, observed: Observed) -> None:
        super().__init__(observed.reason)
        self.observed = observed


class WaitsFor(Exception):
    """Raised by a judge that can say nothing until the check with this key passes."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class CheckRow(Generic[Evidence]):
    """A check of a program: a judge, which is a function from the evidence to what it shows, and what `check` says.

    ``key`` is its name, ``points`` what it gives if it passes. ``needs`` are the keys of the checks that must pass
    first. ``hint`` says what to do if the check fails, where the judge does not say it.
    """

    judge: Callable[[Evidence], Observed]
    key: str
    points: float = 1.0
    needs: tuple[str, ...] = ()
    hint: Hints = ""

    def __call__(self, evidence: Evidence) -> Observed:
        """Judge."""
        return self.judge(evidence)

    @property
    def description(self) -> str:
        """The requirement in words, as a student reads it: the first line of the judge's docstring."""
        return (self.judge.__doc__ or "").strip().partition("\n")[0]


def check(
    key: str, points: float = 1.0, needs: Iterable[str] = (), hint: Hints = ""
) -> Callable[[Callable[[Evidence], Observed]], CheckRow[Evidence]]:
    """Make a judge a check, above its definition: ``@check("binds", points=1, needs=["listens"])``."""
    return lambda judge: CheckRow(judge, key, points, tuple(needs), hint)


def checks_in(module: ModuleType) -> tuple[CheckRow[Any], ...]:
    """Return the checks that a module defines, in their order."""
    rows = (each for each in vars(module).values() if isinstance(each, CheckRow))
    return tuple(row for row in rows if row.judge.__module__ == module.__name__)


def steps_named(wanted: Iterable[str] | None, steps: Iterable[str]) -> list[str]:
    """Return the steps that are wanted, in their order; all if none is named. Raises LinklabError for others."""
    known, named = list(steps), list(wanted or steps)
    for step in named:
        if step not in known:
            raise LinklabError(f"no step is called {step!r}: choose one of {', '.join(known)}")
    return [step for step in known if step in named]


class Judging(Generic[Evidence]):
    """The verdicts on one program. Each is computed when it is first used."""

    def __init__(self, table: Iterable[CheckRow[Evidence]], evidence: Evidence) -> None:
        self._table = {row.key: row for row in table}
        self._evidence = evidence
        self._checks: dict[str, Check] = {}
        # by the key of a check: the key of the one that it waits for, and the text of the crash of its judge
        self._blockers: dict[str, str] = {}
        self._faults: dict[str, str] = {}

    def result(self, title: str, keys: Iterable[str]) -> Result:
        """Return some checks as one result. Raises LabError if not even the first scene can be played."""
        wanted = tuple(keys)
        checks = tuple(self._in_result(key, wanted) for key in wanted)
        return Result(title, checks, fault="; ".join(self._faults[key] for key in wanted if key in self._faults))

    def check(self, key: str) -> Check:
        """Return a check of the table, and judge it now if it was not judged before. Raises as `result`."""
        if key not in self._checks:
            self._checks[key] = self._judged(self._table[key])
        return self._checks[key]

    def _in_result(self, key: str, wanted: tuple[str, ...]) -> Check:
        """Return a check of a result. If the one that it waits for is not in it, that one's reason is added."""
        check, first = self.check(key), self._blockers.get(key, "")
        if not first or first in wanted:
            return check
        return replace(check, reason=f"{check.reason}: {self._checks[first].reason}", hint=self._checks[first].hint)

    def _judged(self, row: CheckRow[Evidence]) -> Check:
        for key in row.needs:
            if not self.check(key).passed:
                return self._blocked(row, key)
        try:
            observed = row.judge(self._evidence)
        except Failed as wrong:
            observed = wrong.observed
        except WaitsFor as other:
            self.check(other.key)
            return self._blocked(row, other.key)
        except NotTried as reason:
            return _inconclusive(row, reason.why, reason.hint)
        except LabError as lost:
            if not self._checks:
                raise
            return _inconclusive(
                row,
                f"the lab of this check ended by itself, and so did a second one: {lost}",
                "check again; linklab doctor says if labs run here",
            )
        except LinklabError:
            raise
        except Exception as fault:
            broken = not_judged(row.description, fault)
            self._faults[row.key] = broken.fault
            return _inconclusive(row, broken.checks[0].reason, broken.checks[0].hint)
        if not observed.reason:
            passing = Check.passing(row.description, observed.expected, observed.found)
            return replace(passing, hint=next(iter(as_tuple(observed.hint)), ""), points=row.points)
        hint, found = as_tuple(observed.hint) or row.hint, "" if observed.found == "as expected" else observed.found
        failing = Check.failing(row.description, observed.reason, hint, observed.expected, found)
        return replace(failing, points=row.points)

    def _blocked(self, row: CheckRow[Evidence], key: str) -> Check:
        """Return the check as inconclusive because of ``key``, or because of the check that ``key`` waits for."""
        first = self._blockers[row.key] = self._blockers.get(key, key)
        why = f"waits for: {self._table[first].description}"
        return _inconclusive(
            row, why, self._checks[first].hint if self._is_inconclusive(first) else "correct that one first"
        )

    def _is_inconclusive(self, key: str) -> bool:
        return self._checks[key].outcome == "inconclusive"


def _inconclusive(row: CheckRow[Any], why: str, hint: str) -> Check:
    return Check(row.description, "inconclusive", why, hint, row.points)


@dataclass(frozen=True)
class Report:
    """The outcome for a program: ``results`` has the checks of each step, ``where`` says on what it ran.

    ``program`` is the kind of program, ``"reliable"`` for example; ``file`` is the name of the student's file.
    """

    program: str
    file: str
    where: str
    results: Mapping[str, Result]

    @cached_property
    def whole(self) -> Result:
        """All checks as one result."""
        checks = tuple(check for result in self.results.values() for check in result.checks)
        faults = dict.fromkeys(result.fault for result in self.results.values() if result.fault)
        return Result(self.file, checks, fault="; ".join(faults))

    @property
    def status(self) -> Outcome | Literal["broken"]:
        """The outcome, or "broken" if no check failed but a check itself crashed, which is not the program's fault."""
        return "broken" if self.whole.fault and self.whole.outcome == "inconclusive" else self.whole.outcome

    def require(self) -> Report:
        """Return this report, if all checks passed. Raises GradeError, with reasons and hints, otherwise."""
        if not self.whole.passed:
            raise GradeError(self.whole)
        return self

    @property
    def headline(self) -> str:
        """One line: the points, and where the program ran."""
        points = f"{self.whole.points:g} of {self.whole.max_points:g} points"
        left = f", {self.whole.open_points:g} points inconclusive" if self.whole.open_points else ""
        return f"{self.file}: {points}{left}, checked {self.where}"

    def lines(self, columns: int = _COLUMNS) -> Iterator[str]:
        """Yield the report in lines of at most ``columns`` characters: each step, its checks, and what to do.

        Checks that are inconclusive for the same reason stand together.
        """
        yield from textwrap.wrap(self.headline, columns)
        for result in self.results.values():
            yield ""
            yield f"{result.title}: {result.points:g} of {result.max_points:g} points"
            left: dict[tuple[str, str], list[Check]] = {}
            for check in result.checks:
                if check.outcome == "inconclusive":
                    left.setdefault((check.reason, check.hint), []).append(check)
                else:
                    yield from _check_lines(check, columns)
            for (reason, hint), checks in left.items():
                words = "; ".join(check.description for check in checks)
                yield from _wrapped(f"{SIGNS['inconclusive']} inconclusive: {words}", columns, "  ")
                yield from _wrapped(f"{reason} ({hint})", columns, _MARGIN)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        """Return the report as HTML, for a notebook or a page."""
        return f"<p><strong>{escape(self.headline)}</strong></p>" + "".join(
            result._repr_html_() for result in self.results.values()
        )


def _check_lines(check: Check, columns: int) -> Iterator[str]:
    yield from _wrapped(f"{SIGNS[check.outcome]} {check.outcome}: {check.description}", columns, "  ")
    if check.passed:
        if check.hint:
            yield from _wrapped(f"Hint (no points lost): {check.hint}", columns, _MARGIN)
        return
    already_in_reason = not check.found or check.found in check.reason
    yield from _wrapped(check.reason if already_in_reason else f"{check.reason} ({check.found})", columns, _MARGIN)
    if check.expected:
        yield from _wrapped(f"Wanted: {check.expected}", columns, _MARGIN)
    if check.hint:
        yield from _wrapped(f"To do: {check.hint}", columns, _MARGIN)


def _wrapped(words: str, columns: int, indent: str) -> list[str]:
    more = f"{indent}  "
    return textwrap.wrap(words, columns, initial_indent=indent, subsequent_indent=more, break_on_hyphens=False)
