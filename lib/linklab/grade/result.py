"""All checks of one question, and their points."""

from __future__ import annotations

import contextlib
import functools
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, ParamSpec, overload

import linklab
from linklab import record, settings
from linklab.errors import LinklabError
from linklab.grade import kernel_watch, render, values
from linklab.grade.check import Check, Outcome, Refuse, Surprise, checks_in, collect_checks

RESULT_VERSION: Final = 1
"""Version of the JSON form, under the key ``linklab_result``."""
HINTS: Final = "hints"
"""The setting (`linklab.settings`) for how many hints a question may give: 2 keeps the formula back."""
wrong_answers: Final[defaultdict[tuple[str, str, str], set[tuple[str, str]]]] = defaultdict(set)
"""The different answers with which a check of a question has failed in this kernel, by question, check and first hint.

Another mistake has another first hint, so its hints begin anew: nobody gets the formula for three different slips.
"""
wrong_options: Final[defaultdict[tuple[str, str], set[str]]] = defaultdict(set)
"""The wrong options that were chosen in this kernel, by the result's title and what was asked."""


def _with_its_hint(title: str, check: Check) -> Check:
    """Return a check with its hint: the next one for each other answer that failed so, the formula last."""
    if not check.further:
        return check
    hints = (check.hint, *check.further)[: settings.number(HINTS)]
    others = wrong_answers[title, check.description, check.hint] - {_answer_in(check)}
    number = min(len(others), len(hints) - 1)
    which = f"{number + 1} of {len(hints)}" if len(hints) > 1 else ""
    return replace(check, hint=hints[number], further=(), which_hint=which, first_hint=check.hint)


def _answer_in(check: Check) -> tuple[str, str]:
    return check.reason, check.found


def with_wrong_options(title: str, checks: Sequence[Check], kept: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return the checks of one call, each choice with its wrong options so far: a class's table counts the tries.

    ``kept`` is what the notebook has of earlier calls, so that they count after the kernel was started anew. Clearing
    the notebook's outputs clears them.
    """
    before = {check.description: check.tried_wrong for check in checks_in(kept)}
    for check in checks:
        if check.chosen:
            wrong = wrong_options[title, check.description]
            wrong |= {*before.get(check.description, ())}
            if check.passed:
                wrong.discard(check.chosen)
            else:
                wrong.add(check.chosen)
    return tuple(
        replace(check, tried_wrong=tuple(sorted(wrong_options[title, check.description]))) if check.chosen else check
        for check in checks
    )


class GradeError(LinklabError, AssertionError):
    """A graded cell has not passed: its message says which checks did not, with reasons and hints.

    Checks that failed alike stand together there; ``result`` has each of them. It is an AssertionError, so
    that a test runner counts it as a failed test.
    """

    def __init__(self, result: Result) -> None:
        super().__init__(render.failures(result.title, result.checks))
        self.result = result
        self._shown = False

    def _render_traceback_(self) -> list[str]:
        """Return the message in lines that fit; a notebook shows the result as a card, and one line as the error."""
        if record.kernels_shell() is None:
            return [render.in_columns(part) for part in super()._render_traceback_()]
        # Jupyter's kernel asks twice: for the page, and for its answer to the page's request.
        if not self._shown:
            self._shown = True
            text = render.in_columns(str(self))
            bundle = {"text/html": self.result._repr_html_(), "text/plain": text}
            record.add_to_cell(self.result._repr_mimebundle_() | bundle)
        state = "still open" if self.result.is_open else "not passed yet"
        return [f"{self.result.title}: {state}"]


@dataclass(frozen=True)
class Result:
    """The checks of one question.

    Points are given for checks that passed. An inconclusive check gives none yet and costs none: its
    points are ``open_points`` until it is judged. ``questions`` are what was asked, as data, where the
    checks come from questions (`linklab.grade.questions`). ``surprises`` are a measurement's predictions, and cost
    nothing. ``fault`` is for the instructor, and empty unless the checks themselves crashed (`not_judged`).
    ``cell_points`` is what the notebook's cell is worth, where a notebook runs it. Raises LinklabError, for the lab's
    author, where there are no checks.
    """

    title: str
    checks: tuple[Check, ...]
    questions: tuple[object, ...] = field(default=(), repr=False, compare=False)
    fault: str = ""
    surprises: tuple[Surprise, ...] = ()
    cell_points: float | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.checks:
            raise LinklabError(f"{self.title}: this result has no checks, and would pass: give it one at least")
        object.__setattr__(self, "checks", tuple(_with_its_hint(self.title, check) for check in self.checks))

    @property
    def points(self) -> float:
        """Points of the checks that passed."""
        return sum(check.points for check in self.checks if check.passed)

    @property
    def max_points(self) -> float:
        """Points if all passed."""
        return sum(check.points for check in self.checks)

    @property
    def open_points(self) -> float:
        """Points of checks that were not judged."""
        return sum(check.points for check in self.checks if check.outcome == "inconclusive")

    @property
    def outcome(self) -> Outcome:
        """Failed if one check failed, else inconclusive if one is, else passed."""
        outcomes = {check.outcome for check in self.checks}
        if "failed" in outcomes:
            return "failed"
        return "inconclusive" if "inconclusive" in outcomes else "passed"

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return self.outcome == "passed"

    @property
    def is_open(self) -> bool:
        """Whether nothing was judged, because there is no answer yet."""
        return any(check.is_open for check in self.checks)

    def require(self) -> Result:
        """Return this result if all checks passed: as the last line of a cell it shows the table.

        Raises GradeError, with reasons and hints, if one failed or is inconclusive.
        """
        if not self.passed:
            for check in self.checks:
                if check.first_hint:
                    wrong_answers[self.title, check.description, check.first_hint].add(_answer_in(check))
            raise GradeError(self)
        return self

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary of plain JSON values, with `RESULT_VERSION`."""
        return {
            "linklab_result": RESULT_VERSION,
            "title": self.title,
            "outcome": self.outcome,
            "points": self.points,
            "max_points": self.max_points,
            "open_points": self.open_points,
            "checks": [_check_json(check) for check in self.checks],
            "surprises": [asdict(surprise) for surprise in self.surprises],
        }

    def __str__(self) -> str:
        return render.text(self.title, self.checks, self.surprises)

    def _repr_html_(self) -> str:
        """Return what a notebook shows for it."""
        return render.html(self.title, self.checks, self.surprises, self.cell_points)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return what a notebook keeps for `linklab report` beside the text and the table that it shows."""
        return {"text/plain": str(self), record.RESULT_MIME: render.machine_readable(self.to_json())}


def _check_json(check: Check) -> dict[str, Any]:
    """Return a check as plain JSON values; what only some checks have is left out of the others."""
    optional = ("which_hint", "is_open", "tried_wrong", "causes")
    left_out = {"further", "first_hint", "chosen", "slip"} | {name for name in optional if not getattr(check, name)}
    kept = {name: value for name, value in asdict(check).items() if name not in left_out}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}


Given = ParamSpec("Given")
_listeners: list[Callable[[Result], None]] = []


def on_result(listener: Callable[[Result], None]) -> None:
    """Have a function called with each check's result, as `linklab.grade.progress` needs it; once for each function."""
    if listener not in _listeners:
        _listeners.append(listener)


Judged = Result | Check | Iterable[Check]


@overload
def guarded(check: Callable[Given, Result]) -> Callable[Given, Result]: ...
@overload
def guarded(check: str) -> Callable[[Callable[Given, Judged]], Callable[Given, Result]]: ...
def guarded(check: str | Callable[..., Result]) -> Callable[..., Any]:
    """Return the check as notebooks call it: ``@guarded("Lab 04, pings")`` makes its checks a result of that title.

    Its arguments are plain data (`linklab.grade.values`). A check without a title returns its `Result` itself. Where it
    refuses what was handed in (`Refuse`), that is a failed check like any other. Where it crashes, its result is
    `not_judged`, and nobody sees a traceback. In a notebook, what is not passed and not answered yet is still open
    (`linklab.grade.kernel_watch.still_open`). What Linklab raises on purpose (LinklabError) is for people, and raised.
    """
    return functools.partial(_guarded, check) if isinstance(check, str) else _guarded("", check)


def _guarded(title: str, check: Callable[..., Judged]) -> Callable[..., Result]:
    @functools.wraps(check)
    def called(*positional: Any, **named: Any) -> Result:
        given = [values.as_seen_by_checks(it) for it in positional]
        by_name = {key: values.as_seen_by_checks(it) for key, it in named.items()}
        try:
            result = _result(title, lambda: check(*given, **by_name))
        except LinklabError:
            raise
        except MemoryError:
            result = Result(title or check.__name__, (_TOO_LARGE,))
        except Exception as fault:
            result = not_judged(title or check.__name__, fault)
        result = _open_or(result)
        cell = kernel_watch.running()
        checks = with_wrong_options(result.title, result.checks, cell.stored if cell is not None else {})
        worth = cell.points if cell is not None and cell.kind == "check" else None
        result = replace(result, checks=checks, cell_points=worth)
        for listener in _listeners:
            with contextlib.suppress(Exception):  # a list of what is done may fail, and no check with it
                listener(result)
        return result

    return called


_TOO_LARGE: Final = Check.failing(
    "what was handed in", "looking at it takes more memory than a check may use", "hand in a smaller value"
)


def _open_or(result: Result) -> Result:
    """Return the result; where answers of the notebook are still open, one that says so and nothing else."""
    to_do = kernel_watch.still_open(passed=result.passed)
    return Result(result.title, (Check(result.title, "failed", to_do, is_open=True),)) if to_do else result


def _result(title: str, check: Callable[[], Judged]) -> Result:
    try:
        found = check()
    except Refuse as refused:
        found = refused.check
    if isinstance(found, Result):
        return found
    checks = collect_checks(lambda: found)
    return Result(title or checks[0].description, checks)


def not_judged(title: str, fault: Exception) -> Result:
    """Return the result of a check that crashed: inconclusive, with its points open, and told to the instructor.

    A LinklabError says itself what is wrong.
    """
    if isinstance(fault, LinklabError):
        hint = "your instructor sees this too, and its points stay open"
        return Result(title, (Check("the check itself", "inconclusive", str(fault), hint),), fault=str(fault))
    said = f"{type(fault).__name__}: {' '.join(str(fault).split())[:_FAULT_CHARACTERS]}{_place_of(fault)}"
    reason = "this check itself failed: that is not your fault, and its points stay open"
    hint = f"tell your instructor, who finds it in the notes on your work: {said}"
    return Result(title, (Check("the check itself", "inconclusive", reason, hint),), fault=said)


_FAULT_CHARACTERS: Final = 300


def _place_of(fault: Exception) -> str:
    """Return where in Linklab it happened, in parentheses; nothing where that cannot be told."""
    home = Path(linklab.__file__).parent
    ours = [it for it in traceback.extract_tb(fault.__traceback__) if home in Path(it.filename).parents]
    place = next((it for it in reversed(ours) if it.name != "called"), None)
    return "" if place is None else f" ({Path(place.filename).relative_to(home)}, line {place.lineno})"
