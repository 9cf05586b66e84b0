"""From the JSON form back to the result."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from linklab.errors import MeasurementError
from linklab.measure.results import PingResult, Result, TcpResult, UdpResult

_CLASSES: dict[str, type[Result]] = {cls.KIND: cls for cls in (PingResult, TcpResult, UdpResult)}


def load_result(data: Any) -> Result:
    """The result that ``to_json`` wrote. Raises MeasurementError for another kind, version or shape of data."""
    if not isinstance(data, dict) or "measurement" not in data:
        raise MeasurementError("this is not a measurement of Linklab: it has no key 'measurement'")
    fields = dict(data)
    kind, version = fields.pop("measurement"), fields.pop("version", None)
    if kind not in _CLASSES:
        raise MeasurementError(f"a measurement {kind!r} is unknown: it is one of {', '.join(_CLASSES)}")
    if version != _CLASSES[kind].VERSION:
        raise MeasurementError(
            f"this {kind} measurement has version {version}, and this Linklab reads {_CLASSES[kind].VERSION}: "
            "use the Linklab that wrote it"
        )
    result: Result = _rebuilt(_CLASSES[kind], fields, kind)
    return result


def _rebuilt(kind: Any, value: Any, where: str) -> Any:
    """`value` as `kind`: a dataclass, a tuple of one kind, a choice with None, or a plain number or text."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        wanted = typing.get_type_hints(kind)
        names = {field.name for field in dataclasses.fields(kind)}
        if not isinstance(value, dict) or set(value) != names:
            raise MeasurementError(f"{where} is damaged: it should have the keys {', '.join(sorted(names))}")
        return kind(**{name: _rebuilt(wanted[name], value[name], f"{where}.{name}") for name in names})
    if typing.get_origin(kind) is tuple:
        if not isinstance(value, list | tuple):
            raise MeasurementError(f"{where} is damaged: it should be a list")
        return tuple(_rebuilt(typing.get_args(kind)[0], item, where) for item in value)
    if isinstance(kind, types.UnionType):
        if value is None and type(None) in typing.get_args(kind):
            return None
        kind = next(choice for choice in typing.get_args(kind) if choice is not type(None))
    fits = isinstance(value, int | float if kind is float else kind) and not isinstance(value, bool)
    if not fits:
        raise MeasurementError(f"{where} is damaged: {value!r} is no {kind.__name__}")
    return value
