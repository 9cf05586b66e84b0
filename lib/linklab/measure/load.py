"""From the JSON form back to the result."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from linklab.errors import MeasurementError, NetworkError
from linklab.measure.results import PingResult, Result, SimpleperfResult, TcpResult, UdpResult
from linklab.network import NetworkState

_CLASSES: dict[str, type[Result]] = {cls.KIND: cls for cls in (PingResult, TcpResult, UdpResult, SimpleperfResult)}
_FIRST = 1


def load_result(data: Any) -> Result:
    """The result that ``to_json`` wrote, also that of version 1, without what was not noted then.

    Raises MeasurementError for another kind, version or shape of data.
    """
    if not isinstance(data, dict) or "measurement" not in data:
        raise MeasurementError("this is not a measurement of Linklab: it has no key 'measurement'")
    fields = dict(data)
    kind, version = fields.pop("measurement"), fields.pop("version", None)
    if kind not in _CLASSES:
        raise MeasurementError(f"a measurement {kind!r} is unknown: it is one of {', '.join(_CLASSES)}")
    newest = _CLASSES[kind].VERSION
    if version not in range(_FIRST, newest + 1) or isinstance(version, bool):
        raise MeasurementError(
            f"this {kind} measurement has version {version}, and this Linklab reads {_FIRST} to {newest}: "
            "use the Linklab that wrote it"
        )
    result: Result = _rebuilt(_CLASSES[kind], fields, kind, complete=version == newest)
    return result


def _rebuilt(kind: Any, value: Any, where: str, *, complete: bool) -> Any:
    """`value` as `kind`: a dataclass, a tuple of one kind, a choice with None, or a plain number or text.

    Unless it is to be `complete`, what has a default may be missing.
    """
    if kind is NetworkState:
        return _network(value, where)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind, value, where, complete)
    if typing.get_origin(kind) is tuple:
        if not isinstance(value, list | tuple):
            raise MeasurementError(f"{where} is damaged: it should be a list")
        return tuple(_rebuilt(typing.get_args(kind)[0], item, where, complete=complete) for item in value)
    if isinstance(kind, types.UnionType):
        if value is None and type(None) in typing.get_args(kind):
            return None
        first = next(choice for choice in typing.get_args(kind) if choice is not type(None))
        return _rebuilt(first, value, where, complete=complete)
    is_bool = isinstance(value, bool)
    if not isinstance(value, int | float if kind is float else kind) or (is_bool and kind is not bool):
        raise MeasurementError(f"{where} is damaged: {value!r} is no {kind.__name__}")
    return value


def _dataclass(kind: type[Any], value: Any, where: str, complete: bool) -> Any:
    wanted = typing.get_type_hints(kind)
    names = {field.name for field in dataclasses.fields(kind)}
    required = {field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING}
    fits = isinstance(value, dict) and (names if complete else required) <= set(value) <= names
    if not fits:
        raise MeasurementError(f"{where} is damaged: it should have the keys {', '.join(sorted(names))}")
    return kind(**{name: _rebuilt(wanted[name], value[name], f"{where}.{name}", complete=complete) for name in value})


def _network(value: Any, where: str) -> NetworkState:
    try:
        return NetworkState.from_json(value)
    except (NetworkError, AttributeError) as error:
        raise MeasurementError(f"{where} is damaged: {error}") from None
