"""Values on their way between a student's kernel and the judge: JSON with tags, built again by a strict reader.

Nothing is unpickled, no name from outside is imported, nothing of the sender's is called. The reader knows plain
values, containers, and Linklab's own data classes (:mod:`linklab.grading.data`); all else arrives as a `Foreign`, of
which checks can say what it is and no more. What is deeper or larger than the bounds below is refused.
"""

from __future__ import annotations

import base64
import collections.abc
import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.grading import data

TAG: Final = "$"
DEPTH_AT_MOST: Final = 60
NODES_AT_MOST: Final = 2_000_000
BYTES_AT_MOST: Final = 64_000_000
_DIGITS_AT_MOST: Final = 300
_NAME_CHARACTERS: Final = 60
_LENT: Final = 100_000
"""How many values are taken from an iterator that may never end."""
_MESSAGE_CHARACTERS: Final = 2000

Give = Callable[[object], Mapping[str, Any] | None]
"""What to send for an object that stays where it is, or None for one that is not lent."""


class ValueRefused(LinklabError):
    """A value that cannot be handed over; the message says why."""


class Foreign:
    """What a value of an unknown type becomes: an object that can be named, and has nothing."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def to_text(value: object, give: Give | None = None) -> str:
    """A value as JSON. `give` says what stands for objects that are lent. Raises `ValueRefused`."""
    return json.dumps(_Writer(give or (lambda _: None)).written(value, 0), allow_nan=False, separators=(",", ":"))


class _Writer:
    def __init__(self, give: Give) -> None:
        self._give, self._nodes = give, 0

    def written(self, value: Any, depth: int) -> Any:
        """The value as JSON data."""
        self._nodes += 1
        if depth > DEPTH_AT_MOST or self._nodes > NODES_AT_MOST:
            raise ValueRefused("this value is too deep or too large to be looked at")
        if value is None or value is True or value is False:
            return value
        if value is ...:
            return {TAG: "..."}
        if type(value).__module__ == "numpy":
            return self._of_numpy(value, depth)
        if isinstance(value, int):
            return {TAG: "int", "hex": hex(int(value))} if abs(value) >= 2**53 else int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {TAG: "float", "value": repr(float(value))}
        if isinstance(value, str):
            return str(value)
        if isinstance(value, bytes | bytearray):
            return {TAG: "bytes", "base64": base64.b64encode(bytes(value)).decode()}
        lent = self._give(value)
        if lent is not None:
            return dict(lent)
        return self._container(value, depth)

    def _container(self, value: Any, depth: int) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            name = f"{type(value).__module__}.{type(value).__qualname__}"
            if name in data.NAMES:
                parts = {field: self.written(getattr(value, field), depth + 1) for field in data.fields_of(name)}
                return {TAG: "data", "class": name, "fields": parts}
        if isinstance(value, dict):
            items = [[self.written(key, depth + 1), self.written(each, depth + 1)] for key, each in value.items()]
            return {TAG: "dict", "items": items}
        if isinstance(value, list):
            return [self.written(each, depth + 1) for each in value]
        for kind in (tuple, set, frozenset):
            if isinstance(value, kind):
                return {TAG: kind.__name__, "items": [self.written(each, depth + 1) for each in value]}
        if isinstance(value, PurePath):
            return {TAG: "path", "text": str(value)}
        if isinstance(value, range | collections.abc.KeysView | collections.abc.ValuesView | collections.abc.ItemsView):
            return {TAG: "tuple", "items": [self.written(each, depth + 1) for each in value]}
        if isinstance(value, collections.abc.Iterator):
            return self._iterator(value, depth)
        if isinstance(value, BaseException):
            # a KeyError's text is the representation of its key, and would be so once more
            says = value.args[0] if isinstance(value, KeyError) and value.args else value
            return {TAG: "exception", "kind": type(value).__name__, "says": str(says)[:_MESSAGE_CHARACTERS]}
        return {TAG: "foreign", "type": type(value).__name__}

    def _iterator(self, value: Iterator[Any], depth: int) -> Any:
        """What it gives, and the error that it ended with, if it did."""
        items: list[Any] = []
        try:
            for each in value:
                if len(items) >= _LENT:
                    raise ValueRefused("this gives values without end")
                items.append(self.written(each, depth + 1))
        except ValueRefused:
            raise
        except Exception as error:
            return {TAG: "iterator", "items": items, "raised": self.written(error, depth + 1)}
        return {TAG: "iterator", "items": items, "raised": None}

    def _of_numpy(self, value: Any, depth: int) -> Any:
        shape = getattr(value, "shape", None)
        if shape == ():
            plain = value.item()
            return self.written(plain if type(plain).__module__ == "builtins" else Foreign(), depth + 1)
        if isinstance(shape, tuple) and getattr(value, "size", NODES_AT_MOST) < NODES_AT_MOST:
            return {TAG: "array", "items": self.written(value.tolist(), depth + 1)}
        return {TAG: "foreign", "type": type(value).__name__}


@dataclasses.dataclass(frozen=True)
class Reader:
    """Reads what a student's kernel sent.

    `own` gives what stands for a tag that is not of this module (a lab, a function, a video), from its data; `look` is
    told every data object that was built, and may raise `ValueRefused`.
    """

    own: Callable[[str, Mapping[str, Any]], object] = lambda tag, _: _refuse(f"a {tag} has no place here")
    look: Callable[[object], None] = lambda _: None

    def read(self, text: str) -> object:
        """The value. Raises `ValueRefused` for all that is not of the form, in one line."""
        if len(text) > BYTES_AT_MOST:
            raise ValueRefused(f"this value has {len(text) / 1e6:.0f} MB, and {BYTES_AT_MOST / 1e6:.0f} are the most")
        try:
            tree = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant, parse_int=_whole)
            return _Builder(self).built(tree, 0)
        except ValueRefused:
            raise
        except (RecursionError, MemoryError):
            raise ValueRefused("this value is too deep or too large to be looked at") from None
        except (LinklabError, ValueError, TypeError, LookupError, AttributeError, OverflowError) as wrong:
            raise ValueRefused(f"this value cannot be read: {_line(wrong)}") from None


class _Builder:
    def __init__(self, reader: Reader) -> None:
        self._reader, self._nodes = reader, 0

    def built(self, tree: Any, depth: int) -> Any:
        """The value of a piece of JSON data."""
        self._nodes += 1
        if depth > 2 * DEPTH_AT_MOST or self._nodes > 2 * NODES_AT_MOST:
            raise ValueRefused("this value is too deep or too large to be looked at")
        if isinstance(tree, str):
            return clean(tree)
        if isinstance(tree, list):
            return [self.built(each, depth + 1) for each in tree]
        if not isinstance(tree, dict):
            return tree
        tag = tree.get(TAG)
        if not isinstance(tag, str):
            raise ValueRefused("this value cannot be read: a tag is missing")
        build = _BUILD.get(tag)
        return self._reader.own(tag, tree) if build is None else build(self, tree, depth)

    def items(self, tree: Mapping[str, Any], depth: int) -> list[Any]:
        """The values under ``items``."""
        items = tree["items"]
        if not isinstance(items, list):
            raise ValueError("items are no list")
        return [self.built(each, depth + 1) for each in items]

    def dict_(self, tree: Mapping[str, Any], depth: int) -> dict[Any, Any]:
        """A dictionary; one key twice is refused."""
        found: dict[Any, Any] = {}
        for pair in tree["items"]:
            key, value = pair
            key = self.built(key, depth + 1)
            if key in found:
                raise ValueError("a key is there twice")
            found[key] = self.built(value, depth + 1)
        return found

    def data_(self, tree: Mapping[str, Any], depth: int) -> object:
        """An object of one of Linklab's data classes, its fields' types checked."""
        fields = tree["fields"]
        if not isinstance(fields, dict):
            raise ValueError("fields are none")
        built = {name: self.built(value, depth + 1) for name, value in fields.items()}
        made = data.made(tree["class"], built)
        self._reader.look(made)
        return made

    def array(self, tree: Mapping[str, Any], depth: int) -> object:
        """numpy's array of numbers."""
        import numpy

        made = numpy.array(self.items(tree, depth))
        return made if made.dtype.kind in "bif" else foreign("ndarray")

    def iterator(self, tree: Mapping[str, Any], depth: int) -> Iterator[Any]:
        """What was given, then the error, if there was one."""
        items, raised = self.items(tree, depth), tree["raised"]
        error = None if raised is None else exception(raised)

        def given() -> Iterator[Any]:
            yield from items
            if error is not None:
                raise error

        return given()


_BUILD: Final[Mapping[str, Callable[[_Builder, Mapping[str, Any], int], object]]] = {
    "...": lambda _, tree, depth: ...,
    "int": lambda _, tree, depth: _whole(str(int(_text(tree, "hex"), 16))),
    "float": lambda _, tree, depth: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[tree["value"]],
    "bytes": lambda _, tree, depth: base64.b64decode(_text(tree, "base64"), validate=True),
    "tuple": lambda it, tree, depth: tuple(it.items(tree, depth)),
    "set": lambda it, tree, depth: set(it.items(tree, depth)),
    "frozenset": lambda it, tree, depth: frozenset(it.items(tree, depth)),
    "dict": _Builder.dict_,
    "data": _Builder.data_,
    "array": _Builder.array,
    "iterator": _Builder.iterator,
    "path": lambda _, tree, depth: clean(_text(tree, "text")),
    "exception": lambda _, tree, depth: exception(tree),
    "foreign": lambda _, tree, depth: foreign(tree["type"]),
}


def foreign(name: object) -> Foreign:
    """An object whose type has that name, as far as it is one."""
    plain = name if isinstance(name, str) and name.isascii() and name.isidentifier() else "object"
    made: Foreign = type(plain[:_NAME_CHARACTERS], (Foreign,), {})()
    return made


def exception(tree: Mapping[str, Any]) -> Exception:
    """The exception that was told of: one of Python's or of Linklab's own, or a new one of that name."""
    name, says = tree["kind"], clean(_text(tree, "says"))[:_MESSAGE_CHARACTERS]
    known = data.EXCEPTIONS.get(name) if isinstance(name, str) else None
    if known is not None:
        return known(says)
    kind: type[Exception] = type(type(foreign(name)).__name__, (Exception,), {})
    return kind(says)


def clean(text: str) -> str:
    """The text without halves of surrogate pairs, which no file takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _text(tree: Mapping[str, Any], name: str) -> str:
    value = tree[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueRefused("this value cannot be read: a name is there twice")
    return found


def _no_constant(name: str) -> object:
    raise ValueRefused(f"this value cannot be read: {name} is no JSON")


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS_AT_MOST:
        raise ValueRefused(f"this number has more than {_DIGITS_AT_MOST} digits")
    return int(digits)


def _refuse(why: str) -> object:
    raise ValueRefused(f"this value cannot be read: {why}")


def _line(error: BaseException) -> str:
    said = str(error).split("\n")[0][:200]
    return f"{type(error).__name__}: {said}" if not isinstance(error, LinklabError) else said
