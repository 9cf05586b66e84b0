"""Functions that students write: tried on cases that were not seen before.

One answer fits many formulas, so a slip is named only where every answer is the slip's. Factors, signs, roundings and
constants are the same for every function, so they are derived; a lab writes down real misconceptions alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from linklab.grade.check import Check, Hints, a_kind, as_tuple, counted
from linklab.grade.questions import as_number, four_digits, is_missing
from linklab.grade.values import as_seen_by_checks

Case = tuple[Any, ...]
"""The arguments of one call."""
_TINY: Final = 1e-9
_SHOWN: Final = 4
_LONG_TEXT: Final = 120


@dataclass(frozen=True)
class Formula:
    """A formula that is taken for the right one, and what to say to it. It is called as the student's function is."""

    formula: Callable[..., Any]
    reason: str
    step: str = ""


@dataclass(frozen=True)
class Trial:
    """What a function is to do: the same as ``right`` in each of ``cases``, by their names.

    It gives a number or a sequence of numbers. ``refused`` are cases for which it must raise a
    ValueError that says why. ``remarks`` say to some cases what to look at where they fail.
    """

    right: Callable[..., Any]
    cases: Mapping[str, Case]
    hints: Hints
    slips: Sequence[Formula] = ()
    refused: Mapping[str, Case] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 1e-6

    def checks(self, function: object) -> tuple[Check, ...]:
        """Try a function: one check for each case."""
        if not callable(function):
            reason = "not written yet" if is_missing(function) else f"this is {a_kind(function)}"
            return (Check.failing("the function", reason, "give the function itself, without parentheses"),)
        rights = {name: self.right(*case) for name, case in self.cases.items()}
        answers = {name: call(function, case) for name, case in self.cases.items()}
        refusals = {name: call(function, case) for name, case in self.refused.items()}
        if all(answer is None for answer in answers.values()):
            return (Check.failing("the function", "it returns nothing", ("end it with return", *as_tuple(self.hints))),)
        slip = self.slip_of(answers, rights)
        found = [self._check(name, answers[name], rights[name], slip) for name in self.cases]
        return (*found, *(_refusal(name, self.refused[name], answer) for name, answer in refusals.items()))

    def slip_of(self, answers: Mapping[str, Any], rights: Mapping[str, Any]) -> Formula | None:
        """Return the slip that explains all answers, a lab's own before a derived one. None where none does.

        Cases that raised an error are left out, since their error is told; one answer alone is not explained.
        """
        given = [name for name, answer in answers.items() if not isinstance(answer, Exception)]
        if len(given) < min(2, len(answers)) or all(same(answers[it], rights[it], self.tolerance) for it in given):
            return None
        rounded = _rounded([answers[it] for it in given], [rights[it] for it in given], self.tolerance)
        if rounded is not None:
            return rounded
        for slip in self.slips:
            if all(same(answers[it], call(slip.formula, self.cases[it]), self.tolerance) for it in given):
                return slip
        return _derived([answers[it] for it in given], [rights[it] for it in given], self.tolerance)

    def _check(self, name: str, answer: Any, right: Any, slip: Formula | None) -> Check:
        what, wanted = f"{name}: {_call(self.cases[name])}", numbers(right) or []
        expected = "a number" if is_one(right) else counted(len(wanted), "number")
        hints = (self.remarks[name], *as_tuple(self.hints)) if name in self.remarks else as_tuple(self.hints)
        if same(answer, right, self.tolerance):
            return Check.passing(what, shown(right), shown(answer))
        if isinstance(answer, Exception):
            kind = type(answer).__name__
            first = ": ".join(("this is an ordinary case", *hints[:1]))
            return Check.failing(what, f"it raises {kind}: {answer}", (first, *hints[1:]), expected, kind)
        given = numbers(answer)
        if given is None or isinstance(answer, bool) or is_one(answer) != is_one(right):
            kind = type(answer).__name__ if answer is not None else "None"
            asked_for = "return the number itself" if is_one(right) else "return a list of numbers"
            return Check.failing(what, f"it returns a {kind}", asked_for, expected, kind)
        found = shown(answer)
        if slip is not None:
            hints = (slip.step, *hints[:1], *hints[1:][-1:])
            return Check.failing(what, f"{found}: {slip.reason}", hints, expected, found, slip=slip.reason)
        if len(given) != len(wanted):
            reason = f"{counted(len(given), 'number')} instead of {len(wanted)}"
            return Check.failing(what, reason, hints, expected, found)
        if found == shown(right):
            found = repr(answer)
        return Check.failing(what, f"it gives {found}", hints, expected, found)


# --- Answers


def call(function: Callable[..., Any], case: Case) -> Any:
    """Return what a function gives, or the exception that it raises. It gets lists of its own, which it may change.

    An exception that it returns instead was not raised: it comes as text.
    """
    try:
        found = function(*(list(each) if isinstance(each, tuple) else each for each in case))
        return repr(found) if isinstance(found, Exception) else as_seen_by_checks(found)
    except Exception as error:
        return error


def numbers(answer: object) -> list[float] | None:
    """Return an answer as a list of numbers: one for a number, those of a sequence; None where it is neither."""
    if is_one(answer):
        return [as_number(answer)]
    if isinstance(answer, str | bytes | Mapping | Exception) or not hasattr(answer, "__iter__"):
        return None
    try:
        found = [as_number(each) for each in answer]
    except Exception:  # an object of the student's own, that cannot be gone through
        return None
    return None if any(math.isnan(each) for each in found) else found


def is_one(answer: object) -> bool:
    """Return whether an answer is one number, NaN too, and no sequence."""
    return isinstance(answer, float) or not math.isnan(as_number(answer))


def same(answer: object, right: object, tolerance: float) -> bool:
    """Return whether an answer is a right one: a number for a number, a sequence of the same length for a sequence."""
    given, wanted = numbers(answer), numbers(right)
    if given is None or wanted is None or len(given) != len(wanted) or is_one(answer) != is_one(right):
        return False
    return all(math.isclose(one, two, rel_tol=tolerance, abs_tol=_TINY) for one, two in zip(given, wanted, strict=True))


_FACTORS: Final[Mapping[float, tuple[str, str]]] = {
    8: ("every answer is eight times the right one", "a byte has 8 bits"),
    1 / 8: ("every answer is an eighth of the right one", "a byte has 8 bits"),
    1e3: ("every answer is a thousand times the right one", "compare the units of what it gets and what it gives"),
    1e-3: ("every answer is a thousandth of the right one", "compare the units of what it gets and what it gives"),
    1e6: ("every answer is a million times the right one", "compare the units of what it gets and what it gives"),
    1e-6: ("every answer is a millionth of the right one", "compare the units of what it gets and what it gives"),
    100: ("this is in percent", "give it as a number, not in percent"),
    2: ("every answer is twice the right one", "is something counted in both directions?"),
    0.5: ("every answer is half of the right one", "is only one direction counted?"),
    -1: ("every answer has the wrong sign", "which of the two is taken away from the other?"),
}


def _rounded(answers: Sequence[Any], rights: Sequence[Any], tolerance: float) -> Formula | None:
    """Return the slip of rounding: all answers are the right ones, with so few digits after the point."""
    given = [number for answer in answers for number in numbers(answer) or [math.nan]]
    wanted = [number for right in rights for number in numbers(right) or [math.nan]]
    if len(given) != len(wanted) or not all(map(math.isfinite, given)):
        return None
    for digits in range(8):
        if all(
            one == round(one, digits) and math.isclose(one, round(two, digits), rel_tol=tolerance, abs_tol=_TINY)
            for one, two in zip(given, wanted, strict=True)
        ):
            words = counted(digits, "digit") if digits else "a whole number"
            return Formula(lambda: None, f"this is rounded to {words}", "round where you show it, not before")
    return None


def _derived(answers: Sequence[Any], rights: Sequence[Any], tolerance: float) -> Formula | None:
    """Return the slip that all answers have in common, whatever the function is for."""
    given = [number for answer in answers for number in numbers(answer) or [math.nan]]
    wanted = [number for right in rights for number in numbers(right) or [math.nan]]
    if len(given) != len(wanted):
        return None

    def fits(change: Callable[[float], float]) -> bool:
        return all(
            math.isclose(one, change(two), rel_tol=tolerance, abs_tol=_TINY)
            for one, two in zip(given, wanted, strict=True)
        )

    for factor, (reason, step) in _FACTORS.items():
        if fits(lambda it, factor=factor: factor * it):  # type: ignore[misc]  # mypy knows no default of a lambda
            return Formula(lambda: None, reason, step)
    if len(set(given)) == 1 < len(set(wanted)):
        return Formula(lambda: None, f"this is {given[0]:.4g} whatever it is given", "it must depend on what it gets")
    return None


def _refusal(name: str, case: Case, answer: Any) -> Check:
    what, expected = f"{name}: {_call(case)}", "a ValueError that says what is wrong"
    hints = ("which operation has no result here?", 'look before you divide: raise ValueError("...")')
    if isinstance(answer, ValueError) and str(answer).strip():
        return Check.passing(what, expected, f"{type(answer).__name__}: {answer}")
    if isinstance(answer, ValueError):
        return Check.failing(what, "its ValueError says nothing", hints, expected, "an empty message")
    if isinstance(answer, Exception):
        kind = type(answer).__name__
        return Check.failing(what, f"it raises {kind}: {answer}", hints, expected, kind)
    return Check.failing(what, f"it returns {answer!r}, as if that were right", hints, expected, repr(answer))


def _call(case: Case) -> str:
    """Return a call's arguments in short: of a long text only its length, for a function can print it."""
    return ", ".join(
        f"a text of {len(each)} characters" if isinstance(each, str) and len(each) > _LONG_TEXT else shown(each)
        for each in case
    )


def shown(answer: object) -> str:
    """Return an answer as one reads it: a number with four digits or all before the point, some of a sequence."""
    if isinstance(answer, str | bytes | Mapping) or not hasattr(answer, "__iter__"):
        number = as_number(answer)
        return repr(answer) if math.isnan(number) else four_digits(round(number, 9))
    some = [shown(each) for each in answer]
    return f"[{', '.join(some[:_SHOWN])}{', ...' if len(some) > _SHOWN else ''}]"
