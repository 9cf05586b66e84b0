"""Check JSON data, and the fields of what a user made, against types, by pydantic.

pydantic is loaded with the first value: that takes as long as half of Linklab does.

A type is a data class, or anything that pydantic reads, with `Range` beside it. Checking is strict: a text is no
number, and True is none. Keys of JSON data that a type does not know are ignored. What does not fit is one line that
names the field.
"""

from __future__ import annotations

import functools
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Final, ParamSpec, TypeVar

from linklab.errors import LabError, LinklabError, MeasurementError, quoted

T = TypeVar("T")
P = ParamSpec("P")

NOT_STORED: Final[Mapping[str, Any]] = types.MappingProxyType({"stored": False})
"""The metadata of a data class's field that the JSON form leaves out; it has a default."""


@dataclass(frozen=True)
class Range:
    """The range of a number, beside its type: ``count: Annotated[int, Range(ge=1, le=100)]``. Its words are
    pydantic's: `ge` and `le` are the least and the greatest value; a value is above `gt`.
    """

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    multiple_of: float | None = None

    def __get_pydantic_core_schema__(self, kind: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Return what pydantic builds for the type, with this range."""
        return handler(kind) | {name: bound for name, bound in vars(self).items() if bound is not None}


class _OfASystemCall:
    def __get_pydantic_core_schema__(self, kind: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return handler(kind) | {"pattern": r"^[^\x00]*$", "max_length": 100_000}


Words = Annotated[str, _OfASystemCall()]
"""A text that a system call takes, as a command or a path: no byte in it is 0, and Linux takes 128 kB."""


def parse(kind: type[T], text: str | bytes, what: str) -> T:
    """Return JSON text as a value of this type. Raises MeasurementError, which names `what` and the field."""
    return _checked(lambda reader: reader.validate_json(text, strict=True), kind, what)


def load(kind: type[T], data: Any, what: str) -> T:
    """Return JSON data as a value of this type. Raises MeasurementError as `parse`."""
    return parse(kind, json.dumps(data, default=repr, skipkeys=True), what)


def complete(kind: type[T], data: Any, what: str, **known: Any) -> T:
    """Return a data class whose other fields than the `known` ones come from JSON data. Raises as `parse`."""
    hashed: Any = kind
    rest = load(_without(hashed, frozenset(known)), data, what)
    return kind(**known, **dict(rest))


def check(kind: type[T], value: Any, what: str) -> T:
    """Return a value, which may be an object already, if it is of this type. Raises MeasurementError as `parse`."""
    return _checked(lambda reader: reader.validate_python(value, strict=True), kind, what)


def check_fields(owner: Any) -> None:
    """Check the fields of a data class that a user has made, and convert numbers of other libraries to Python's.

    Raises MeasurementError, which names the field and what would be right.
    """
    owned: Any = type(owner)
    for name, kind in _kinds(owned).items():
        object.__setattr__(owner, name, given(kind, name, getattr(owner, name)))


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function of a lab that first checks its arguments by its annotations, as `given` does.

    It raises LabError. An argument whose type is `Any` is not checked.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def check_and_call(*args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(*args, **kwargs)
        for name, kind in _checked_arguments(function).items():
            if name in bound.arguments:
                bound.arguments[name] = given(kind, name, bound.arguments[name], LabError)
        return function(*bound.args, **bound.kwargs)

    return check_and_call


@cache
def _checked_arguments(function: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(function, include_extras=True)
    return {name: kind for name, kind in hints.items() if name != "return" and kind is not Any}


def given(kind: Any, name: str, value: Any, error: type[LinklabError] = MeasurementError) -> Any:
    """Return a value that a user gave as `name`, with Python's numbers for those of other libraries, as numpy's.

    Raises `error`, which names the field and what would be right.
    """
    from pydantic import ValidationError

    plain = _with_plain_numbers(value)
    try:
        _reader(kind).validate_python(plain, strict=True)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        words = _values_words(kind) if first["type"] in _OF_TUPLES else _RIGHT.get(first["type"], first["msg"])
        right = words.format(**first.get("ctx", {}))
        raise error(f"{name} is {quoted(value)}: {right}") from None
    return plain


_OF_TUPLES: Final = ("missing", "too_long", "tuple_type")
_RIGHT: Final = {
    "bool_type": "choose True or False",
    "bytes_type": "give bytes, or a text in quotes",
    "float_type": "choose a number",
    "greater_than": "choose a number above {gt:.10g}",
    "greater_than_equal": "choose at least {ge:.10g}",
    "int_type": "choose a whole number",
    "less_than_equal": "choose at most {le:.10g}",
    "literal_error": "choose {expected}",
    "multiple_of": "choose a whole number",
    "string_pattern_mismatch": "leave out the byte 0",
    "string_too_long": "give at most {max_length} characters, and write what is longer into a file of the lab",
    "string_type": "give a text, in quotes",
    "string_unicode": "give characters that UTF-8 has",
}
"""What a user should have given instead, by pydantic's name of the error."""


def _values_words(kind: Any) -> str:
    """Return what to give for a type that is a tuple, or one beside None: of a fixed length, or of any."""
    whole = next(part for part in (kind, *typing.get_args(kind)) if typing.get_origin(part) is tuple)
    parts = typing.get_args(whole)
    count = "" if parts[-1] is ... else f"{len(parts)} "
    return f"give {count}texts, as ('a', 'b')" if parts[0] is str else f"choose {count}numbers, as (2, 8)"


def _with_plain_numbers(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(map(_with_plain_numbers, value))
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


@cache
def _kinds(owner: type[Any]) -> dict[str, Any]:
    """Return the types of a data class's fields, with their ranges."""
    hints = typing.get_type_hints(owner, include_extras=True)
    return {field.name: hints[field.name] for field in fields(owner)}


def dump(value: Any) -> Any:
    """Return a data class as JSON data, without the fields that are `NOT_STORED`."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, exclude=_left_out(value))


def _checked(read: Callable[[Any], T], kind: type[T], what: str) -> T:
    from pydantic import ValidationError

    hashed: Any = kind
    try:
        return read(_reader(hashed))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    message = first["msg"][0].lower() + first["msg"][1:]
    given = "" if first["type"] in ("missing", "json_invalid") else f", and is {quoted(first['input'])}"
    raise MeasurementError(f"{what} is damaged: {place}{': ' if place else ''}{message}{given}")


@cache
def _reader(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


@cache
def _without(kind: Any, known: frozenset[str]) -> Any:
    """Return a type with a data class's fields, but for the known ones."""
    from pydantic import create_model

    kinds = _kinds(kind)
    rest: dict[str, Any] = {
        field.name: (kinds[field.name], ... if field.default is MISSING else field.default)
        for field in fields(kind)
        if field.name not in known
    }
    return create_model(kind.__name__, **rest)


def _left_out(value: Any) -> dict[str, Any]:
    """Return the fields of a data class that are not stored, and those of data classes in its fields."""
    found: dict[str, Any] = {}
    for field in fields(value):
        inner = getattr(value, field.name)
        if not field.metadata.get("stored", True):
            found[field.name] = True
        elif is_dataclass(inner) and (below := _left_out(inner)):
            found[field.name] = below
    return found
