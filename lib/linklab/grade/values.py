"""A student's value as a check sees it: plain data, which the student's process writes as JSON and the grader reads.

In a notebook `as_seen_by_checks` does both in one process, so a check sees the same value in both cases. Numbers of
all kinds become ``int`` or ``float``, whatever can be iterated over becomes a list, a mapping becomes a dictionary, and
Linklab's own data classes stay what they are. Labs, videos and functions are not
converted: a reference with a number is sent instead. Everything else becomes a `Foreign`, which has its type's name and
nothing more.

Reading runs no code of the sender's: there is no pickle and no import. It refuses what is deeper or larger than the
bounds below.
"""

from __future__ import annotations

import base64
import builtins
import dataclasses
import functools
import importlib
import json
import math
import typing
from collections.abc import Callable, Mapping
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from numbers import Real
from pathlib import PurePath
from typing import Any, Final

from linklab import errors, schema
from linklab.errors import LinklabError
from linklab.grade.reachability import LiveLab
from linklab.measure import Video
from linklab.measure.tools import TOOLS

TAG: Final = "$"
"""The key that marks an object of JSON data as something else than a plain value, and names what it is."""
DEPTH_AT_MOST: Final = 60
"""How deep a value may be nested."""
PARTS_AT_MOST: Final = 2_000_000
"""How many parts a value may have in all, itself and every key and item counted."""
CHARACTERS_AT_MOST: Final = 64_000_000
"""How long the JSON text of a value may be."""
ITEMS_AT_MOST: Final = 100_000
"""How many items are taken from what can be iterated over: it may never end."""
_BITS_AT_MOST: Final = 990
"""Integers that have as many bits or more are not handed over as numbers, so that each integer fits into a float."""
_DIGITS_AT_MOST: Final = 300
"""The longest integer that is read, in characters: enough for each integer that `write` writes."""
_NAME_CHARACTERS: Final = 60
"""How much of a type's name is kept."""
_MESSAGE_CHARACTERS: Final = 2000
"""How much of an exception's message is kept."""
_TOO_LARGE: Final = "this value is too deep or too large to be looked at"

MakeReference = Callable[[object], Mapping[str, Any] | None]
"""Returns a reference, as JSON data with a `TAG`, for an object that is not converted; None for every other object."""
Resolve = Callable[[str, Mapping[str, Any]], object]
"""Returns the object for a reference, given its tag and its data."""


class ValueRefused(LinklabError):
    """A value cannot be handed to a check; the message says why."""


class Foreign:
    """A value of a type that no check knows: only the name of its type is left."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def foreign(name: object) -> Foreign:
    """Return an object whose type has this name, or the name ``object`` if this is no valid identifier in ASCII."""
    made: Foreign = type(_identifier(name), (Foreign,), {})()
    return made


def as_seen_by_checks(value: object) -> object:
    """Return a notebook's value as a check sees it. Raises `ValueRefused`, and what iterating over it raises."""
    kept: list[object] = []

    def make_reference(each: object) -> Mapping[str, Any] | None:
        if not isinstance(each, LiveLab | Video) and not callable(each):
            return None
        kept.append(each)
        return {TAG: "kept", "number": len(kept) - 1}

    def resolve(tag: str, tree: Mapping[str, Any]) -> object:
        each: Any = kept[tree["number"]]
        return each if isinstance(each, LiveLab | Video) else _converting(each)

    return read(write(value, make_reference), resolve)


def _converting(function: Callable[..., object]) -> Callable[..., object]:
    """Wrap the function so that its results and exceptions are converted too."""

    def student_function(*positional: object, **named: object) -> object:
        try:
            return as_seen_by_checks(function(*positional, **named))
        except Exception as error:
            raised: Any = read(write(error))
            raise raised from None

    return student_function


# --- Writing


def write(value: object, make_reference: MakeReference = lambda _: None) -> str:
    """Return the value as JSON. Raises `ValueRefused`, and what iterating over it raises."""
    return json.dumps(_Writer(make_reference).tree(value, 0), allow_nan=False, separators=(",", ":"))


class _Writer:
    def __init__(self, make_reference: MakeReference) -> None:
        self._make_reference, self._parts = make_reference, 0

    def tree(self, value: Any, depth: int) -> Any:
        """Return the value as JSON data."""
        self._parts += 1
        if depth > DEPTH_AT_MOST or self._parts > PARTS_AT_MOST:
            raise ValueRefused(_TOO_LARGE)
        if value is None or value is ...:  # starter notebooks have one of these where an answer is missing
            return None
        # the type's own methods: those of a student's subclass (an Enum's, say) may give something else
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, bytes | bytearray):
            return {TAG: "bytes", "base64": base64.b64encode(value).decode()}
        if isinstance(value, PurePath | IPv4Address | IPv6Address):  # IPv4Interface is a subclass: with its prefix
            return str(value)
        number = number_of(value)
        if number is not None:
            finite = isinstance(number, int) or math.isfinite(number)
            return number if finite else {TAG: "float", "text": repr(number)}
        return self._object(value, depth)

    def _object(self, value: Any, depth: int) -> Any:
        """Convert what is no simple value: a data class, mapping, reference, exception or iterable; else `Foreign`."""
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if name in _HANDED:
            fields = _fields_of(name)
            return {
                TAG: "data",
                "class": name,
                "fields": {it: self.tree(getattr(value, it), depth + 1) for it in fields},
            }
        if isinstance(value, Mapping):
            items = [[self.tree(key, depth + 1), self.tree(each, depth + 1)] for key, each in value.items()]
            return {TAG: "dict", "items": items}
        reference = self._make_reference(value)
        if reference is not None:
            return dict(reference)
        if isinstance(value, BaseException):
            return _exception_tree(value)
        if hasattr(type(value), "__iter__") and not isinstance(value, type | LiveLab):
            return self._items(value, depth)
        return {TAG: "foreign", "type": type(value).__name__}

    def _items(self, value: Any, depth: int) -> list[Any]:
        items: list[Any] = []
        for each in value:
            if len(items) >= ITEMS_AT_MOST:
                raise ValueRefused(f"this gives more than {ITEMS_AT_MOST:,} values")
            items.append(self.tree(each, depth + 1))
        return items


def number_of(value: Any) -> int | float | bool | None:
    """Return the value as an int or float if it is a number of any kind, a truth value as a bool; else None."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        whole = int.__int__(value)
        return whole if whole.bit_length() < _BITS_AT_MOST else None
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Real | Decimal):
        try:
            return int(value) if hasattr(value, "__index__") else float(value)
        except (OverflowError, ValueError, TypeError):  # too large; or numpy's time span, which is no number
            return None
    if getattr(value, "shape", None) == () and getattr(value, "dtype", None) is not None:  # numpy's, of one item
        item = value.item()
        if isinstance(item, bool):
            return item
        return None if item is value else number_of(item)
    return None


def _exception_tree(error: BaseException) -> dict[str, Any]:
    """Return the exception's name, its message, and the closest of its base classes that both sides know."""
    bases: list[type] = []
    for kind in type(error).__mro__:
        if _EXCEPTIONS.get(kind.__name__) is kind and not any(issubclass(near, kind) for near in bases):
            bases.append(kind)
    try:
        # a KeyError's text is the representation of its key, and would be so once more
        says = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
    except Exception:  # a student's own __str__ fails
        says = ""
    names = {"kind": type(error).__name__, "bases": [base.__name__ for base in bases]}
    return {TAG: "exception", **names, "says": says[:_MESSAGE_CHARACTERS]}


# --- Reading


def _no_references(tag: str, _: Mapping[str, Any]) -> object:
    raise ValueRefused(f"this value cannot be read: a {tag} is not allowed here")


def read(text: str, resolve: Resolve = _no_references) -> object:
    """Return the value of a text. Raises `ValueRefused`, in one line, for what `write` cannot have written."""
    if len(text) > CHARACTERS_AT_MOST:
        bound = f"{CHARACTERS_AT_MOST:,} are the most"
        raise ValueRefused(f"this value is a text of {len(text):,} characters, and {bound}")
    try:
        return _Reader(resolve).value(
            json.loads(
                text, object_pairs_hook=_refuse_duplicate_names, parse_constant=_no_constant, parse_int=_integer
            ),
            0,
        )
    except ValueRefused:
        raise
    except (RecursionError, MemoryError):
        raise ValueRefused(_TOO_LARGE) from None
    except (LinklabError, ValueError, TypeError, LookupError, AttributeError) as wrong:
        raise ValueRefused(f"this value cannot be read: {_line(wrong)}") from None


class _Reader:
    def __init__(self, resolve: Resolve) -> None:
        self._resolve, self._parts = resolve, 0

    def value(self, tree: Any, depth: int) -> Any:
        """Return the value of a piece of JSON data."""
        self._parts += 1
        # twice the bounds of the writer: nothing that `write` took is refused here
        if depth > 2 * DEPTH_AT_MOST or self._parts > 2 * PARTS_AT_MOST:
            raise ValueRefused(_TOO_LARGE)
        if isinstance(tree, str):
            return clean(tree)
        if isinstance(tree, list):
            return [self.value(each, depth + 1) for each in tree]
        if not isinstance(tree, dict):
            return tree
        match tree:
            case {"$": "dict", "items": list(items)}:
                return self._dict(items, depth)
            case {"$": "data", "class": str(name), "fields": dict(fields)}:
                return _data_class(name, {it: self.value(each, depth + 1) for it, each in fields.items()})
            case {"$": "bytes", "base64": str(written)}:
                return base64.b64decode(written, validate=True)
            case {"$": "float", "text": str(word)}:
                return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[word]
            case {"$": "exception"}:
                return exception(tree)
            case {"$": "foreign", "type": name}:
                return foreign(name)
            case {"$": str(tag)}:
                return self._resolve(tag, tree)
        raise ValueRefused("this value cannot be read: a tag is missing")

    def _dict(self, items: list[Any], depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for written_key, written in items:
            key = _as_key(self.value(written_key, depth + 1))
            if key in found:
                raise ValueError("a key is there twice")
            found[key] = self.value(written, depth + 1)
        return found


def _as_key(value: object) -> object:
    """Return lists as tuples, so that they can be keys."""
    return tuple(map(_as_key, value)) if isinstance(value, list) else value


def exception(tree: Mapping[str, Any]) -> Exception:
    """Return the exception that was written, of its own class if that is Python's or Linklab's.

    Else it is of a new class derived from its known bases, so that the same ``except`` clauses catch it.
    """
    says = tree["says"]
    if not isinstance(says, str):
        raise ValueError("an exception says no text")
    says = clean(says)[:_MESSAGE_CHARACTERS]
    bases = tuple(_EXCEPTIONS[base] for base in tree["bases"])
    if [base.__name__ for base in bases] == [tree["kind"]]:
        return bases[0](says)
    kind: type[Exception] = type(_identifier(tree["kind"]), bases or (Exception,), {})
    return kind(says)


def clean(text: str) -> str:
    """Return the text with ? for each lone surrogate, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _identifier(name: object) -> str:
    plain = name if isinstance(name, str) and name.isascii() and name.isidentifier() else "object"
    return plain[:_NAME_CHARACTERS]


def _refuse_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueRefused("this value cannot be read: a name is there twice")
    return found


def _no_constant(name: str) -> object:
    raise ValueRefused(f"this value cannot be read: {name} is no JSON")


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS_AT_MOST:
        raise ValueRefused(f"this number has more than {_DIGITS_AT_MOST} digits")
    return int(digits)


def _line(error: BaseException) -> str:
    said = str(error).split("\n")[0][:200]
    return said if isinstance(error, LinklabError) else f"{type(error).__name__}: {said}"


# --- Linklab's own data classes, and exceptions


_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "grade.predictions": ("Prediction",),
    "network.traces": ("Trace",),
    "measure.results": ("Run", "Origin", "QueueCounters", "Sample", "Stream"),
    "measure.repeats": ("Spread", "Repeats"),
    "measure.prober": ("Probe",),
    "measure.capture_files": ("Capture",),
    "measure.video_file": ("Clip",),
    "measure.tools.sockets": ("SocketSample",),
    "measure.tools.queues": ("QueueSample",),
    "measure.tools.web": ("PageVisit", "WebObject"),
    "measure.video_quality": ("FrameQuality", "Quality"),
    "network.model": (
        *("Host", "Router", "Switch", "Subnet", "Shape", "End", "Link"),
        *("AccessPort", "TrunkPort", "Gateway", "SwitchVlans", "SubInterface", "Vlans", "TunnelEnd", "Tunnel"),
    ),
    "network.routing": ("Route",),
    "network.validation": ("Network",),
    "network.state": ("Membership", "TunnelState", "InterfaceState", "NodeState", "NetworkState"),
}
_HANDED: Final = frozenset(
    (
        *(f"linklab.{module}.{name}" for module, names in _MODULES.items() for name in names),
        *(f"{kind.__module__}.{kind.__name__}" for tool in TOOLS for kind in (tool.flow, tool.result)),
    )
)
"""The data classes whose objects a notebook may hand to a check: what was measured, on which network, or predicted."""
_EXCEPTIONS: Final[Mapping[str, type[Exception]]] = {
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
def _fields_of(name: str) -> tuple[str, ...]:
    """Return the names of a class's fields that are handed over: all but the large ones, which are never stored."""
    return tuple(field.name for field in dataclasses.fields(_class(name)) if field.metadata.get("stored", True))


@functools.cache
def _types(name: str) -> Mapping[str, Any]:
    return typing.get_type_hints(_class(name))


def _data_class(name: str, fields: Mapping[str, Any]) -> object:
    """Return an object of a class from the values of its fields, whose types are checked: no check meets another.

    Raises LinklabError that says which does not fit.
    """
    if name not in _HANDED:
        raise LinklabError("there is no such class among those that may be handed in")
    short = name.rpartition(".")[2]
    if set(fields) != set(_fields_of(name)):
        raise LinklabError(f"a {short} has the fields {', '.join(_fields_of(name))}")
    return _class(name)(
        **{it: schema.check(_types(name)[it], _with_tuples(value), f"{short}.{it}") for it, value in fields.items()}
    )


def _with_tuples(value: Any) -> Any:
    """Return a field's value with tuples for lists, which no data class has."""
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
