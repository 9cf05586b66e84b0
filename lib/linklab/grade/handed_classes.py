"""The data classes whose objects a student's notebook may hand to a check, and how they are built from their fields.

Each is one of Linklab's own, and says what was measured, on which network, or what was predicted. Their fields' types
are checked, so that a check finds what it would find in a result that it measured itself.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import importlib
import typing
from collections.abc import Mapping
from typing import Any, Final

from linklab import errors, schema
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
    """Return the names of a class's fields that are handed over: all but the large ones, which are never stored."""
    return tuple(field.name for field in dataclasses.fields(_class(name)) if field.metadata.get("stored", True))


@functools.cache
def _types(name: str) -> Mapping[str, Any]:
    return typing.get_type_hints(_class(name))


def made(name: str, fields: Mapping[str, Any]) -> object:
    """Return an object of a class from the values of its fields. Raises LinklabError that says which does not fit."""
    if name not in NAMES:
        raise LinklabError("there is no such class among those that may be handed in")
    short = name.rpartition(".")[2]
    if set(fields) != set(fields_of(name)):
        raise LinklabError(f"a {short} has the fields {', '.join(fields_of(name))}")
    return _class(name)(
        **{it: schema.check(_types(name)[it], _with_tuples(value), f"{short}.{it}") for it, value in fields.items()}
    )


def _with_tuples(value: Any) -> Any:
    """Return a field's value with tuples for lists, which no data class has."""
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
