"""JSON data as typed values, and back, by pydantic. What does not fit is one line that names the field.

pydantic is loaded with the first value: that takes as long as half of Linklab does.

A type is a data class, or anything that pydantic reads. Loading is strict: a text is no number, and True is none. A key
that a type does not know is ignored.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final, TypeVar

from linklab.errors import MeasurementError, quoted

T = TypeVar("T")

NOT_STORED: Final[Mapping[str, Any]] = types.MappingProxyType({"stored": False})
"""The metadata of a data class's field that the JSON form leaves out; it has a default."""


def parse(kind: type[T], text: str | bytes, what: str) -> T:
    """Return JSON text as a value of this type. Raises MeasurementError, which names `what` and the field."""
    return _checked(lambda reader: reader.validate_json(text, strict=True), kind, what)


def load(kind: type[T], data: Any, what: str) -> T:
    """Return JSON data as a value of this type. Raises MeasurementError as `parse`."""
    return parse(kind, json.dumps(data, default=repr, skipkeys=True), what)


def check(kind: type[T], value: Any, what: str) -> T:
    """Return a value, which may be an object already, if it is of this type. Raises MeasurementError as `parse`."""
    return _checked(lambda reader: reader.validate_python(value, strict=True), kind, what)


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
