"""The data classes whose objects a student's kernel may hand to the judge, and how they are built from their fields.

Each is one of Linklab's own: what a network is, what was measured. Their fields' types are checked as they are written
down, so that a check finds what it would find in a result that it measured itself.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import importlib
import types
import typing
from collections.abc import Mapping
from typing import Any, Final

from linklab import errors
from linklab.errors import LinklabError
from linklab.measure.tools import TOOLS

_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "grade.predictions": ("Prediction",),
    "measure.results": ("Run", "Origin", "QueueCounters", "Sample", "Stream"),
    "measure.repeats": ("Spread", "Repeats"),
    "measure.prober": ("Probe",),
    "measure.captures": ("Capture",),
    "measure.video_file": ("Clip",),
    "measure.tools.sockets": ("SocketSample",),
    "measure.tools.queues": ("QueueSample",),
    "measure.video_quality": ("FrameQuality", "Quality"),
    "network.model": (
        *("Host", "Router", "Switch", "Subnet", "Shape", "End", "Link"),
        *("AccessPort", "TrunkPort", "Gateway", "SwitchVlans", "SubInterface", "Vlans", "TunnelEnd", "Tunnel"),
    ),
    "network.routing": ("Route",),
    "network.validation": ("Network",),
    "network.state": ("Membership", "TunnelState", "InterfaceState", "NodeState", "NetworkState"),
}
NAMES: Final = frozenset(
    (
        *(f"linklab.{module}.{name}" for module, names in _MODULES.items() for name in names),
        *(f"{kind.__module__}.{kind.__name__}" for tool in TOOLS for kind in (tool.flow, tool.result)),
    )
)
"""The classes, with their modules."""
EXCEPTIONS: Final[Mapping[str, type[Exception]]] = {
    name: kind
    for name, kind in (*vars(builtins).items(), *vars(errors).items())
    if isinstance(kind, type)
    and issubclass(kind, Exception)
    and not issubclass(kind, UnicodeError | ExceptionGroup | Warning | StopIteration | StopAsyncIteration)
}
"""Exceptions that are built from a text alone."""


@functools.cache
def _class(name: str) -> Any:
    module, _, short = name.rpartition(".")
    return getattr(importlib.import_module(module), short)


@functools.cache
def fields_of(name: str) -> tuple[str, ...]:
    """The names of a class's fields that are handed over: not those that no stored form has, which are large."""
    return tuple(field.name for field in dataclasses.fields(_class(name)) if field.metadata.get("stored", True))


@functools.cache
def _types(name: str) -> Mapping[str, Any]:
    return typing.get_type_hints(_class(name))


def made(name: object, values: Mapping[str, Any]) -> object:
    """An object of a class from the values of its fields. Raises LinklabError, with what is wrong, for all else."""
    if not isinstance(name, str) or name not in NAMES:
        raise LinklabError("there is no such class among those that may be handed in")
    short = name.rpartition(".")[2]
    if set(values) != set(fields_of(name)):
        raise LinklabError(f"a {short} has the fields {', '.join(fields_of(name))}")
    given = {field: _fitting(values[field], _types(name)[field], f"{short}.{field}") for field in fields_of(name)}
    return _class(name)(**given)


def _fitting(value: Any, kind: Any, where: str) -> Any:
    """The value, if it is of that type; a whole number where one with decimals may stand stays as it is."""
    if _fits(value, kind):
        return value
    raise LinklabError(f"{where} is a {type(value).__name__}, which it cannot be")


def _fits(value: Any, kind: Any) -> bool:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is object:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, each) for each in parts)
    if origin is typing.Literal:
        return any(type(value) is type(each) and value == each for each in parts)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(parts) == 2 and parts[1] is ...:
            return all(_fits(each, parts[0]) for each in value)
        return len(value) == len(parts) and all(map(_fits, value, parts))
    if isinstance(origin, type):
        return isinstance(value, origin)  # a flow of any tool
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind is None:
        return value is None
    if kind in (str, bool, bytes, type(None)):
        return isinstance(value, kind)
    if getattr(kind, "__module__", "") == "pathlib":
        return isinstance(value, str)  # a path is a text here: nothing is opened by it
    return isinstance(kind, type) and isinstance(value, kind)
