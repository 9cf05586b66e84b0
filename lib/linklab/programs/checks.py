"""What is asked of a program, as a table: each check with what must pass first, what judges it, and one hint.

A check is judged once, by the evidence alone, so the same evidence has one verdict. One that needs another waits until
that one passes, and says for which it waits. A program has a table in its folder
(`linklab.programs.reliable.checks`), and `Report` shows what came of it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Final, Generic, Literal, TypeVar

from linklab.errors import LabError, LinklabError
from linklab.grade.check import Check, Hints, Outcome, as_tuple
from linklab.grade.render import SIGNS
from linklab.grade.result import GradeError, Result, not_judged
from linklab.programs.scenes import NotTried

Evidence = TypeVar("Evidence")
REPORT_VERSION: Final = 3
"""Version of a report's JSON form, under the key ``linklab_PROGRAM``."""
_COLUMNS: Final = 80
_MARGIN: Final = " " * 6


@dataclass(frozen=True)
class Observed:
    """What the evidence shows of one check, which passes unless there is a ``reason``.

    ``reason`` says what was seen, and nothing that the evidence does not show. ``hint`` stands in place of the
    row's own; where the check passes it is advice, and costs nothing. ``expected`` and ``found`` are for reading,
    with units.
    """

    reason: str = ""
    hint: Hints = ""
    expected: str = ""
    found: str = "as expected"


class WaitsFor(Exception):
    """Raised by a judge where the evidence tells nothing before the check with this key passes."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class CheckRow(Generic[Evidence]):
    """One row of a table: one thing that is asked of a program.

    ``key`` is its name in the table. ``needs`` are the keys of those that must pass first. ``judge`` plays the scenes
    that it needs with the evidence, and says what they show. ``hint`` is what to do where it fails.
    """

    key: str
    description: str
    judge: Callable[[Evidence], Observed]
    hint: Hints = ""
    needs: tuple[str, ...] = ()
    points: float = 1.0


class Judging(Generic[Evidence]):
    """The verdicts on one program, each made when it is first asked for."""

    def __init__(self, table: Iterable[CheckRow[Evidence]], evidence: Evidence) -> None:
        self._table = {asked.key: asked for asked in table}
        self._evidence = evidence
        self._checks: dict[str, Check] = {}
        self._blockers: dict[str, str] = {}
        self._faults: dict[str, str] = {}

    def result(self, title: str, keys: Iterable[str]) -> Result:
        """Return some checks as one result. Raises LabError where no scene can be played at all."""
        wanted = tuple(keys)
        checks = tuple(self._in_result(key, wanted) for key in wanted)
        return Result(title, checks, fault="; ".join(self._faults[key] for key in wanted if key in self._faults))

    def check(self, key: str) -> Check:
        """Return a check of the table, judged first if need be. Raises as `result`."""
        if key not in self._checks:
            self._checks[key] = self._judged(self._table[key])
        return self._checks[key]

    def _in_result(self, key: str, wanted: tuple[str, ...]) -> Check:
        """Return a check of a result. One that waits for a check which is not in it says what is wrong there."""
        check, first = self.check(key), self._blockers.get(key, "")
        if not first or first in wanted:
            return check
        return replace(check, reason=f"{check.reason}: {self._checks[first].reason}", hint=self._checks[first].hint)

    def _judged(self, asked: CheckRow[Evidence]) -> Check:
        for key in asked.needs:
            if not self.check(key).passed:
                return self._blocked(asked, key)
        try:
            observed = asked.judge(self._evidence)
        except WaitsFor as other:
            self.check(other.key)
            return self._blocked(asked, other.key)
        except NotTried as reason:
            return _open(asked, reason.why, reason.hint)
        except LabError as lost:
            if not self._checks:
                raise
            return _open(asked, f"its lab was lost twice: {lost}", "check again; linklab doctor says if labs run here")
        except LinklabError:
            raise
        except Exception as fault:
            broken = not_judged(asked.description, fault)
            self._faults[asked.key] = broken.fault
            return _open(asked, broken.checks[0].reason, broken.checks[0].hint)
        if not observed.reason:
            passing = Check.passing(asked.description, observed.expected, observed.found)
            return replace(passing, hint=next(iter(as_tuple(observed.hint)), ""), points=asked.points)
        hint, found = as_tuple(observed.hint) or asked.hint, "" if observed.found == "as expected" else observed.found
        failing = Check.failing(asked.description, observed.reason, hint, observed.expected, found)
        return replace(failing, points=asked.points)

    def _blocked(self, asked: CheckRow[Evidence], key: str) -> Check:
        """Return a check that waits for another one, or for what that one waits for itself."""
        first = self._blockers[asked.key] = self._blockers.get(key, key)
        why = f"waits for: {self._table[first].description}"
        return _open(asked, why, self._checks[first].hint if self._is_open(first) else "correct that one first")

    def _is_open(self, key: str) -> bool:
        return self._checks[key].outcome == "inconclusive"


def _open(asked: CheckRow[Any], why: str, hint: str) -> Check:
    return Check(asked.description, "inconclusive", why, hint, asked.points)


@dataclass(frozen=True)
class Report:
    """What became of a program: the checks of each step, and ``where`` it ran.

    ``program`` is the name of what it is to be, ``"reliable"`` for example; ``file`` is the student's.
    """

    program: str
    file: str
    where: str
    results: Mapping[str, Result]
    _whole: Result = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        checks = tuple(check for result in self.results.values() for check in result.checks)
        faults = dict.fromkeys(result.fault for result in self.results.values() if result.fault)
        object.__setattr__(self, "_whole", Result(self.file, checks, fault="; ".join(faults)))

    @property
    def whole(self) -> Result:
        """All checks as one result."""
        return self._whole

    @property
    def status(self) -> Outcome | Literal["broken"]:
        """The outcome; "broken" where no check failed, and one broke, of which the program has no fault."""
        return "broken" if self.whole.fault and self.whole.outcome == "inconclusive" else self.whole.outcome

    def require(self) -> Report:
        """Return this report, if all checks passed. Raises GradeError, with reasons and hints, otherwise."""
        if not self.whole.passed:
            raise GradeError(self.whole)
        return self

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary of plain JSON values, versioned."""
        whole = self.whole
        return {
            f"linklab_{self.program}": REPORT_VERSION,
            "file": self.file,
            "where": self.where,
            "outcome": whole.outcome,
            "points": whole.points,
            "max_points": whole.max_points,
            "open_points": whole.open_points,
            "steps": {step: result.to_json() for step, result in self.results.items()},
        }

    @property
    def headline(self) -> str:
        """The points in one line, and where they were found."""
        points = f"{self.whole.points:g} of {self.whole.max_points:g} points"
        left = f", {self.whole.open_points:g} points open" if self.whole.open_points else ""
        return f"{self.file}: {points}{left}, checked {self.where}"

    def lines(self, columns: int = _COLUMNS) -> Iterator[str]:
        """Yield the report in lines of at most so many columns: a step, its checks, below each what is to be done.

        Checks that are open for one reason stand together.
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
                    yield from _said(check, columns)
            for (reason, hint), checks in left.items():
                words = "; ".join(check.description for check in checks)
                yield from _wrapped(f"{SIGNS['inconclusive']} open: {words}", columns, "  ")
                yield from _wrapped(f"{reason} ({hint})", columns, _MARGIN)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        """What a notebook shows for it, and a page."""
        return f"<p><strong>{escape(self.headline)}</strong></p>" + "".join(
            result._repr_html_() for result in self.results.values()
        )


def _said(check: Check, columns: int) -> Iterator[str]:
    yield from _wrapped(f"{SIGNS[check.outcome]} {check.outcome}: {check.description}", columns, "  ")
    if check.passed:
        if check.hint:
            yield from _wrapped(f"Hint: {check.hint}", columns, _MARGIN)
        return
    told = not check.found or check.found in check.reason
    yield from _wrapped(check.reason if told else f"{check.reason} ({check.found})", columns, _MARGIN)
    if check.expected:
        yield from _wrapped(f"Wanted: {check.expected}", columns, _MARGIN)
    if check.hint:
        yield from _wrapped(f"To do: {check.hint}", columns, _MARGIN)


def _wrapped(words: str, columns: int, indent: str) -> list[str]:
    more = f"{indent}  "
    return textwrap.wrap(words, columns, initial_indent=indent, subsequent_indent=more, break_on_hyphens=False)
