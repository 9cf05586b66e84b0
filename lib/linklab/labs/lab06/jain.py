"""A student's Jain index, a function, tried on values that were not seen before. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from linklab.analysis import jain_index
from linklab.grade.check import Check
from linklab.grade.functions import Slip, answer_check, not_a_function, slip_of, tried

Values = Sequence[float]

_CASES: Final[Mapping[str, tuple[float, ...]]] = {
    "equal shares": (7.2, 7.2, 7.2),
    "unequal shares": (5.0, 9.0, 2.0, 12.0),
    "one flow has everything": (0.0, 14.0, 0.0, 0.0),
    "two flows": (19.0, 9.5),
    "the same in bit/s": (19e6, 9.5e6),
    "a single flow": (13.7,),
    "whole numbers": (1, 2, 3),
}
"""What it is tried on. Numbers of 0 and more, whole ones too: a throughput is not always a float."""
_UNDEFINED: Final[Mapping[str, tuple[float, ...]]] = {"no flow at all": (), "nothing but zeros": (0.0, 0.0)}
_TOLERANCE: Final = 1e-6


def _squares(values: Values) -> float:
    return sum(value * value for value in values)


_SQUARE_EACH: Final = "above, add and then square; below, square each one and then add"
_SLIPS: Final[tuple[Slip[Values], ...]] = (
    Slip(
        lambda v: sum(v) ** 2 / _squares(v),
        "the division by the number of flows is missing",
        "the n stands below, beside the sum of squares: equal shares must give 1 for any number of flows",
    ),
    Slip(
        lambda v: sum(v) ** 2 / len(v) * _squares(v),
        "this divides by n and then multiplies by the sum of squares",
        "put n * sum of squares in parentheses: Python works from left to right",
    ),
    Slip(lambda v: len(v) * _squares(v) / sum(v) ** 2, "the fraction stands on its head", "an index is at most 1"),
    Slip(lambda v: _squares(v) / sum(v) ** 2, "squares are mixed up: these are added first above", _SQUARE_EACH),
    Slip(
        lambda v: _squares(v) / (len(v) * sum(v) ** 2), "the square of the sum and the sum of squares change places",
        _SQUARE_EACH,
    ),
    Slip(
        lambda v: sum(v) ** 2 / (len(v) * sum(v) ** 2), "square of the sum and sum of squares are taken for one thing",
        _SQUARE_EACH,
    ),
    Slip(lambda v: sum(v) / (len(v) * _squares(v)), "the sum above is not squared", _SQUARE_EACH),
    Slip(
        lambda v: (sum(v) / len(v)) ** 2 / _squares(v),
        "the mean above, but the sum of squares below",
        "take means on both sides, or sums on both sides and n",
    ),
    Slip(
        lambda v: sum(v) ** 2 / (_squares(v) / len(v)),
        "the sum above, but the mean of squares below",
        "take means on both sides, or sums on both sides and n",
    ),
    Slip(lambda v: math.sqrt(jain_index(v)), "this is the root of the index", "leave the root away"),
    Slip(lambda v: 100 * jain_index(v), "this is in percent", "the index goes from 1/n to 1"),
    Slip(lambda v: min(v) / max(v), "this is the smallest over the largest", "Jain's index looks at every flow"),
    Slip(lambda v: sum(v) / len(v) / max(v), "this is the mean over the largest", "Jain's index looks at every flow"),
    Slip(lambda v: 1.0, "this is 1 whatever the shares are", "it must be less where shares are unequal"),
    Slip(lambda v: float(round(jain_index(v))), "this is rounded to a whole number", "give it as it is"),
    Slip(lambda v: round(jain_index(v), 1), "this is rounded to one digit", "give it as it is"),
    Slip(lambda v: round(jain_index(v), 2), "this is rounded to two digits", "round where you show it, not before"),
)  # fmt: skip


def jain_checks(function: object) -> tuple[Check, ...]:
    """One check for each kind of values, and one each for no flow and for nothing but zeros, which must raise."""
    problem = not_a_function(function)
    if problem is not None or not callable(function):
        return () if problem is None else (problem,)
    answers = {name: tried(function, list(values)) for name, values in _CASES.items()}
    if all(answer is None for answer in answers.values()):
        reason, hint = "it returns nothing", "write the formula, and end with return"
        return (Check.failing("the function", reason, hint, "a number from 0 to 1", "None"),)
    slip = slip_of(answers, _CASES, _SLIPS, _TOLERANCE)
    found = [_value_check(name, answers[name], slip) for name in _CASES]
    return (*found, *(_refusal_check(name, tried(function, list(values))) for name, values in _UNDEFINED.items()))


def _value_check(name: str, answer: Any, slip: Slip[Values] | None) -> Check:
    how = _HOW.get(name, "compare with the formula term by term, on two numbers, by hand")
    values = _CASES[name]
    return answer_check(f"{name}: {_listed(values)}", answer, jain_index(values), _TOLERANCE, slip, how)


_HOW: Final = {
    "the same in bit/s": "a unit must not change the index: does a number of your own stand in it?",
    "a single flow": "one flow alone is treated as fairly as can be",
}


def _refusal_check(name: str, answer: Any) -> Check:
    description, expected = f"{name}: {_listed(_UNDEFINED[name])}", "a ValueError that says what is wrong"
    how = 'look before you divide: raise ValueError("no flow carried data")'
    if isinstance(answer, ValueError):
        if str(answer).strip():
            return Check.passing(description, expected, f"ValueError: {answer}")
        return Check.failing(description, "its ValueError says nothing", how, expected, "an empty message")
    if isinstance(answer, Exception):
        kind = type(answer).__name__
        return Check.failing(description, f"it raises {kind}: {answer}", how, expected, kind)
    reason = f"it returns {answer!r}, as if that were an index"
    return Check.failing(description, reason, how, expected, repr(answer))


def _listed(values: Values) -> str:
    return f"[{', '.join(f'{value:g}' for value in values)}]"
