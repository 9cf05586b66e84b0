"""A student's value as a check sees it: plain data, written as JSON where the value is, read again by the check's side.

`at_home` takes this way in the notebook, and the judge of a class takes it between two processes: so a check finds the
same in both places. Numbers of all kinds become ``int`` or ``float``, whatever can be iterated over becomes a list, a
mapping becomes a dictionary, and Linklab's own data classes (`linklab.grade.handed_classes`) stay what they are. Labs,
videos and functions stay where they are, and a number stands for them. Everything else becomes a `Foreign`, which has
its type's name and nothing more.

Reading calls nothing of the sender's: no pickle, no import, and nothing that is deeper or larger than the bounds below.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from numbers import Real
from pathlib import PurePath
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.grade import handed_classes
from linklab.grade.reachability import LiveLab
from linklab.measure import Video

TAG: Final = "$"
DEPTH_AT_MOST: Final = 60
NODES_AT_MOST: Final = 2_000_000
BYTES_AT_MOST: Final = 64_000_000
ITEMS_AT_MOST: Final = 100_000
"""How many items are taken from what can be iterated over: it may never end."""
_BITS_AT_MOST: Final = 990
_DIGITS_AT_MOST: Final = 300
"""No float holds a larger number."""
_NAME_CHARACTERS: Final = 60
_MESSAGE_CHARACTERS: Final = 2000
_TOO_LARGE: Final = "this value is too deep or too large to be looked at"

Give = Callable[[object], Mapping[str, Any] | None]
"""What stands for an object that stays where it is; None for one that does not stay."""
Own = Callable[[str, Mapping[str, Any]], object]
"""The object for such a tag and its data."""


class ValueRefused(LinklabError):
    """A value cannot be handed to a check; the message says why."""


class Foreign:
    """A value of a type that no check knows: only the name of its type is left."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def foreign(name: object) -> Foreign:
    """Return an object whose type has this name, if the name is one."""
    made: Foreign = type(_identifier(name), (Foreign,), {})()
    return made


def at_home(value: object) -> object:
    """Return a notebook's value as a check sees it. Raises `ValueRefused`, and what iterating over it raises."""
    kept: list[object] = []

    def give(each: object) -> Mapping[str, Any] | None:
        if not isinstance(each, LiveLab | Video) and not callable(each):
            return None
        kept.append(each)
        return {TAG: "kept", "number": len(kept) - 1}

    def own(tag: str, tree: Mapping[str, Any]) -> object:
        each: Any = kept[tree["number"]]
        return each if isinstance(each, LiveLab | Video) else _at_home_function(each)

    return read(write(value, give), own)


def _at_home_function(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function with what it gives and raises as a check sees it."""

    def student_function(*positional: object, **named: object) -> object:
        try:
            return at_home(function(*positional, **named))
        except Exception as error:
            raised: Any = read(write(error))
            raise raised from None

    return student_function


# --- Writing


def write(value: object, give: Give = lambda _: None) -> str:
    """Return the value as JSON. Raises `ValueRefused`, and what iterating over it raises."""
    return json.dumps(_Writer(give).tree(value, 0), allow_nan=False, separators=(",", ":"))


class _Writer:
    def __init__(self, give: Give) -> None:
        self._give, self._nodes = give, 0

    def tree(self, value: Any, depth: int) -> Any:
        """Return the value as JSON data."""
        self._nodes += 1
        if depth > DEPTH_AT_MOST or self._nodes > NODES_AT_MOST:
            raise ValueRefused(_TOO_LARGE)
        if value is None or value is ...:  # both are what starters have in place of an answer
            return None
        # the type's own methods: those of a student's subclass (an Enum's, say) may give something else
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, bytes | bytearray):
            return {TAG: "bytes", "base64": base64.b64encode(value).decode()}
        if isinstance(value, PurePath | IPv4Address | IPv6Address):  # of an address with its prefix too
            return str(value)
        number = _number(value)
        if number is not None:
            finite = isinstance(number, int) or math.isfinite(number)
            return number if finite else {TAG: "float", "text": repr(number)}
        return self._whole(value, depth)

    def _whole(self, value: Any, depth: int) -> Any:
        """Return what has parts, or is named."""
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if name in handed_classes.NAMES:
            fields = handed_classes.fields_of(name)
            return {
                TAG: "data",
                "class": name,
                "fields": {it: self.tree(getattr(value, it), depth + 1) for it in fields},
            }
        if isinstance(value, Mapping):
            items = [[self.tree(key, depth + 1), self.tree(each, depth + 1)] for key, each in value.items()]
            return {TAG: "dict", "items": items}
        kept = self._give(value)
        if kept is not None:
            return dict(kept)
        if isinstance(value, BaseException):
            return _exception_tree(value)
        if hasattr(type(value), "__iter__") and not isinstance(value, type):
            return self._items(value, depth)
        return {TAG: "foreign", "type": type(value).__name__}

    def _items(self, value: Any, depth: int) -> list[Any]:
        items: list[Any] = []
        for each in value:
            if len(items) >= ITEMS_AT_MOST:
                raise ValueRefused(f"this gives more than {ITEMS_AT_MOST:,} values")
            items.append(self.tree(each, depth + 1))
        return items


def _number(value: Any) -> int | float | bool | None:
    """Return Python's number, or numpy's truth value, for a number of any kind; None for what is none."""
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
        return item if isinstance(item, bool) else None if item is value else _number(item)
    return None


def _exception_tree(error: BaseException) -> dict[str, Any]:
    """Return its name, and the nearest of its bases that both sides know."""
    bases: list[type] = []
    for kind in type(error).__mro__:
        if handed_classes.EXCEPTIONS.get(kind.__name__) is kind and not any(issubclass(near, kind) for near in bases):
            bases.append(kind)
    try:
        # a KeyError's text is the representation of its key, and would be so once more
        says = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
    except Exception:  # a student's own __str__ fails
        says = ""
    told = {"kind": type(error).__name__, "bases": [base.__name__ for base in bases]}
    return {TAG: "exception", **told, "says": says[:_MESSAGE_CHARACTERS]}


# --- Reading


def _no_own(tag: str, _: Mapping[str, Any]) -> object:
    raise ValueRefused(f"this value cannot be read: a {tag} has no place here")


def read(text: str, own: Own = _no_own) -> object:
    """Return the value of a text. Raises `ValueRefused`, in one line, for all that `write` does not write."""
    if len(text) > BYTES_AT_MOST:
        raise ValueRefused(f"this value has {len(text) / 1e6:.0f} MB, and {BYTES_AT_MOST / 1e6:.0f} are the most")
    try:
        return _Reader(own).value(
            json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant, parse_int=_integer), 0
        )
    except ValueRefused:
        raise
    except (RecursionError, MemoryError):
        raise ValueRefused(_TOO_LARGE) from None
    except (LinklabError, ValueError, TypeError, LookupError, AttributeError) as wrong:
        raise ValueRefused(f"this value cannot be read: {_line(wrong)}") from None


class _Reader:
    def __init__(self, own: Own) -> None:
        self._own, self._nodes = own, 0

    def value(self, tree: Any, depth: int) -> Any:
        """Return the value of a piece of JSON data."""
        self._nodes += 1
        if depth > 2 * DEPTH_AT_MOST or self._nodes > 2 * NODES_AT_MOST:
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
                return handed_classes.made(name, {it: self.value(each, depth + 1) for it, each in fields.items()})
            case {"$": "bytes", "base64": str(written)}:
                return base64.b64decode(written, validate=True)
            case {"$": "float", "text": str(word)}:
                return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[word]
            case {"$": "exception"}:
                return exception(tree)
            case {"$": "foreign", "type": name}:
                return foreign(name)
            case {"$": str(tag)}:
                return self._own(tag, tree)
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
    return tuple(map(_as_key, value)) if isinstance(value, list) else value


def exception(tree: Mapping[str, Any]) -> Exception:
    """Return the exception that was written: one of Python's or of Linklab's own, or a new one below its known bases.

    So it is caught by whatever would have caught it where it was raised.
    """
    says = tree["says"]
    if not isinstance(says, str):
        raise ValueError("an exception says no text")
    says = clean(says)[:_MESSAGE_CHARACTERS]
    bases = tuple(handed_classes.EXCEPTIONS[base] for base in tree["bases"])
    if [base.__name__ for base in bases] == [tree["kind"]]:
        return bases[0](says)
    kind: type[Exception] = type(_identifier(tree["kind"]), bases or (Exception,), {})
    return kind(says)


def clean(text: str) -> str:
    """Return the text without halves of surrogate pairs, which no file takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _identifier(name: object) -> str:
    plain = name if isinstance(name, str) and name.isascii() and name.isidentifier() else "object"
    return plain[:_NAME_CHARACTERS]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
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
