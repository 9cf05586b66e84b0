"""Ranges of the fields of flows and clips, written as data beside their types, and the check of them."""

from __future__ import annotations

import math
import types
import typing
from dataclasses import dataclass, fields
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, NamedTuple

from linklab.errors import MeasurementError, quoted

LONGEST_S = 86400
"""A day."""


@dataclass(frozen=True)
class Range:
    """The values that a number may have: from `least` (or `above` it) to `most`; `whole` names a unit of whole numbers.

    It stands beside a field's type: ``count: Annotated[int, Range(1, 100)]``.
    """

    least: float
    most: float = math.inf
    above: bool = False
    whole: str = ""

    def __contains__(self, value: float) -> bool:
        if not math.isfinite(value) or (self.whole and value != int(value)):
            return False
        return (self.least < value if self.above else self.least <= value) and value <= self.most

    def __str__(self) -> str:
        least, most = (f"{bound:f}".rstrip("0").rstrip(".") for bound in (self.least, self.most))
        if self.most == math.inf:
            return f"a number above {least}" if self.above else f"at least {least}"
        if self.above:
            return f"more than {least} and at most {most}"
        return f"whole {self.whole} from {least} to {most}" if self.whole else f"{least} to {most}"


WholeSeconds = Annotated[float, Range(1, LONGEST_S, whole="seconds")]
Positive = Annotated[float, Range(0, above=True)]


def check(owner: Any) -> None:
    """Check each field of a data class, and convert numbers of other libraries, as numpy's, to Python's.

    Raises MeasurementError for a field that is not the number, the text or the choice that its type says.
    """
    kind: Any = type(owner)
    for name, field in _checked(kind).items():
        value = getattr(owner, name)
        if value is None and field.optional:
            continue
        value = _plain(name, value, field.kind)
        object.__setattr__(owner, name, value)
        for allowed in field.ranges:
            if value not in allowed:
                raise MeasurementError(f"{name} is {value}: choose {allowed}")


def whole_number(name: str, value: Any) -> int:
    """Return a whole number, as numpy's, as Python's int. Raises MeasurementError for any other value."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise MeasurementError(f"{name} is {quoted(value)}: choose a whole number")
    return int(value)


class _Field(NamedTuple):
    """What a field may hold: a number, a text, a pair of numbers or a choice, and None where it is `optional`."""

    kind: Any
    optional: bool
    ranges: tuple[Range, ...]


@cache
def _checked(owner: type[Any]) -> dict[str, _Field]:
    """Return the fields that `check` checks, by their names. A field that holds an object, as a video, is left out."""
    try:
        wanted = typing.get_type_hints(owner, include_extras=True)
    except NameError:  # somebody's own flow uses names that only its type checker knows
        return {}
    found = {}
    for name in (field.name for field in fields(owner)):
        kinds = typing.get_args(wanted[name]) if _origin(wanted[name]) in _UNIONS else (wanted[name],)
        first, *others = [kind for kind in kinds if kind is not type(None)]
        ranges: tuple[Range, ...] = ()
        if _origin(first) is Annotated:
            first, *bounds = typing.get_args(first)
            ranges = tuple(bounds)
        if not others and (first in (float, int, str, tuple[float, float]) or _origin(first) is Literal):
            found[name] = _Field(first, len(kinds) > 1, ranges)
    return found


_origin = typing.get_origin
_UNIONS = (types.UnionType, typing.Union)


def _plain(name: str, value: Any, kind: Any) -> Any:
    if kind is str:
        if not isinstance(value, str):
            raise MeasurementError(f"{name} is {quoted(value)}: give a text, in quotes")
        return value
    if kind is int:
        return whole_number(name, value)
    if kind is float:
        return _number(name, value)
    choices = typing.get_args(kind)
    if _origin(kind) is Literal:
        if value not in choices:
            raise MeasurementError(f"{name} is {quoted(value)}: choose one of {', '.join(choices)}")
        return value
    if not isinstance(value, list | tuple) or len(value) != len(choices):
        raise MeasurementError(f"{name} is {quoted(value)}: choose two numbers, as (2, 8)")
    return tuple(_number(name, one) for one in value)


def _number(name: str, value: Any) -> float:
    """Return a number as Python's int or float. Raises MeasurementError for what is no number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise MeasurementError(f"{name} is {quoted(value)}: choose a number")
    return int(value) if isinstance(value, Integral) else float(value)
