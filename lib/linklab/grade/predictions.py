"""The *predict* form: numbers and reasons that a student writes down before measuring.

The form is a plain dictionary, filled in a cell: ``{"rtt_h1_h4_ms": 60, "why_rtt": "10 + 20 ms, twice"}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from linklab.analysis import Expectation
from linklab.grade.check import Check
from linklab.grade.numbers import Mistake, Quantity, unreadable
from linklab.grade.result import Result

PREDICTION_TOLERANCE: Final = 0.02
"""Beyond the interval in which a measurement would lie: for rounding, and for who counts Ethernet's preamble."""
_SHORTEST_REASON: Final = 3
_SHOWN_OF_A_TEXT: Final = 60


@dataclass(frozen=True)
class Number:
    """A number to be predicted, under ``key`` in the form. ``what`` names it: ``"round-trip time of h1 to h4"``.

    ``how`` is the hint where no mistake fits.
    """

    key: str
    what: str
    expected: Expectation
    mistakes: Sequence[Mistake] = ()
    how: str = "look again at the links of the way: their delays, rates and queues"
    tolerance: float = PREDICTION_TOLERANCE
    points: float = 1.0


@dataclass(frozen=True)
class FreeText:
    """A reason in the student's own words, under ``key``. It must be there; people judge what it says."""

    key: str
    what: str
    points: float = 0.0


Field = Number | FreeText


def grade_predictions(title: str, fields: Sequence[Field], form: object) -> Result:
    """The checks of a form, one for each field, in order; and one for keys that no field has.

    A number is right within its expectation's interval and the tolerance. What is expected is told once a number has
    been given, as a range. A text passes if it has three words; it is kept in ``Check.found``.
    """
    if not isinstance(form, Mapping):
        kind = type(form).__name__
        hint = (
            f'write it as {{"{fields[0].key}": ...}}, one entry for each question' if fields else "write a dictionary"
        )
        return Result(title, (Check.failing("the form", f"this is a {kind}, not a dictionary", hint, "a dictionary"),))
    checks = [
        _text_check(field, form.get(field.key))
        if isinstance(field, FreeText)
        else number_check(field, form.get(field.key))
        for field in fields
    ]
    known = {field.key for field in fields}
    strange = [str(key) for key in form if key not in known]
    if strange:
        reason = f"nobody asks for {', '.join(strange[:3])}"
        hint = f"is a key misspelt? The form has {', '.join(field.key for field in fields)}"
        checks.append(replace(Check.failing("the form", reason, hint, "the given keys"), points=0.0))
    return Result(title, tuple(checks))


def number_check(field: Number, value: object) -> Check:
    """The check of one predicted number."""
    description, expected = f"predicted {field.what}", field.expected
    problem = _unreadable(description, expected, value)
    if problem is not None:
        return replace(problem, points=field.points)
    number = float(value)  # type: ignore[arg-type]  # unreadable has refused all that is no number
    low, high = (1 - field.tolerance) * expected.low, (1 + field.tolerance) * expected.high
    asked, found = f"{low:.4g} to {high:.4g} {expected.unit}", f"{number:.5g} {expected.unit}"
    if low <= number <= high:
        return replace(Check.passing(description, asked, found), points=field.points)
    mistake = next((it for it in field.mistakes if it.fits(number)), None)
    side = "more" if number > high else "less"
    reason = f"{found}: {mistake.reason}" if mistake else f"{found} is {side} than theory says"
    hint = mistake.hint if mistake else field.how
    return replace(Check.failing(description, reason, hint, asked, found), points=field.points)


def _unreadable(description: str, expected: Expectation, value: object) -> Check | None:
    if not isinstance(value, bool) and value == 0 and expected.low <= 0:
        return None  # a loss of nothing is a good answer
    return unreadable(Quantity(description, expected.value, expected.unit), value)


def _text_check(field: FreeText, value: object) -> Check:
    what, expected = field.what, "free text, for the instructor to read"
    hint = f'write a sentence under "{field.key}", in quotes'
    if value is None or value is ... or value == "":
        check = Check.failing(what, "not filled in yet", hint, expected, "None" if value != "" else "nothing")
    elif not isinstance(value, str):
        check = Check.failing(what, f"this is a {type(value).__name__}, not a text", hint, expected, str(value))
    elif len(value.split()) < _SHORTEST_REASON:
        shown = value.strip()[:_SHOWN_OF_A_TEXT]
        check = Check.failing(what, f"{shown!r} is no reason yet", "say in a sentence why", expected, shown)
    else:
        check = Check.passing(what, expected, value.strip())
    return replace(check, points=field.points)
