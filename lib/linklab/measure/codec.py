"""Frozen data classes as JSON data, and back. What has been damaged is named, with the path to it."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from linklab.errors import MeasurementError, NetworkError
from linklab.network import NetworkState

NOT_STORED: Final[Mapping[str, Any]] = types.MappingProxyType({"stored": False})
"""The metadata of a field that the JSON form leaves out; it has a default."""


def as_json(value: Any) -> Any:
    """Return a value as JSON data: data classes as objects of their fields, paths as text."""
    if isinstance(value, NetworkState):
        return value.to_json()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in _stored(type(value))}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return str(value) if isinstance(value, PurePath) else value


def rebuilt(kind: Any, value: Any, where: str, *, complete: bool) -> Any:
    """Return `value` as `kind`: a data class, a tuple, a choice with None, or a plain number or text.

    Unless it is to be `complete`, what has a default may be missing, and what is unknown is left out. Raises
    MeasurementError, which names `where`.
    """
    if kind is NetworkState:
        return _network(value, where)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind, value, where, complete)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise MeasurementError(f"{where} is damaged: it should be a list")
        if parts[1:] == (...,):
            parts = parts[:1] * len(value)
        if len(value) != len(parts):
            raise MeasurementError(f"{where} is damaged: it should have {len(parts)} entries")
        return tuple(rebuilt(part, item, where, complete=complete) for part, item in zip(parts, value, strict=True))
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in parts:
            return None
        first = next(choice for choice in parts if choice is not type(None))
        return rebuilt(first, value, where, complete=complete)
    if origin is typing.Literal:
        if value not in parts:
            raise MeasurementError(f"{where} is damaged: {value!r} is none of {', '.join(map(str, parts))}")
        return value
    is_bool = isinstance(value, bool)
    if not isinstance(value, int | float if kind is float else kind) or (is_bool and kind is not bool):
        raise MeasurementError(f"{where} is damaged: {value!r} is no {kind.__name__}")
    return value


def _stored(kind: type[Any]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if field.metadata.get("stored", True)]


def _dataclass(kind: type[Any], value: Any, where: str, complete: bool) -> Any:
    wanted = typing.get_type_hints(kind)
    names = {field.name for field in _stored(kind)}
    required = {field.name for field in _stored(kind) if field.default is dataclasses.MISSING}
    if not isinstance(value, dict) or not (set(value) == names if complete else required <= set(value)):
        raise MeasurementError(f"{where} is damaged: it should have the keys {', '.join(sorted(names))}")
    found = names & set(value)
    return kind(**{name: rebuilt(wanted[name], value[name], f"{where}.{name}", complete=complete) for name in found})


def _network(value: Any, where: str) -> NetworkState:
    try:
        return NetworkState.from_json(value)
    except (NetworkError, AttributeError) as error:
        raise MeasurementError(f"{where} is damaged: {error}") from None
