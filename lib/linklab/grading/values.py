"""Values on their way between a student's kernel and the judge: JSON with tags, built again by a strict reader.

Nothing is unpickled, no name from outside is imported, nothing of the sender's is called. The reader knows plain
values, numbers of all kinds, numpy's arrays, containers, and Linklab's own data classes (:mod:`linklab.grading.data`);
all else arrives as a `Foreign`, which has its type's name, what it gave when it was iterated over, and its value as a
float, so that a check finds of it what it finds in the notebook. What is deeper or larger than the bounds below is
refused.
"""

from __future__ import annotations

import base64
import collections
import collections.abc
import contextlib
import dataclasses
import json
import math
import numbers
import sys
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any, Final, TypeVar, overload

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
_DTYPES: Final = frozenset(
    f"bool str object float16 float32 float64 {' '.join(f'int{bits} uint{bits}' for bits in (8, 16, 32, 64))}".split()
)
"""Of which types numpy's scalars and arrays are handed over."""
_SEQUENCES: Final[Mapping[str, type]] = {
    **{"tuple": tuple, "set": set, "frozenset": frozenset, "deque": collections.deque, "range": range},
    "keys": collections.abc.KeysView,
    "values": collections.abc.ValuesView,
    "items": collections.abc.ItemsView,
}
"""What is handed over by its items, besides lists."""

Give = Callable[[object], Mapping[str, Any] | None]
"""What to send for an object that stays where it is, or None for one that is not lent."""


class ValueRefused(LinklabError):
    """A value that cannot be handed over; the message says why."""


class Foreign:
    """What a value of an unknown type becomes: an object that can be named, and has nothing."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class ForeignNumber(Foreign):
    """What becomes of a value of an unknown type that has a ``__float__``."""

    as_float = math.nan

    def __float__(self) -> float:
        return self.as_float


class ForeignIterable(Foreign):
    """What becomes of a value of an unknown type that can be iterated over; what it raised then, it raises again."""

    items: tuple[object, ...] = ()
    raised: Exception | None = None
    is_true: bool | None = True

    def __iter__(self) -> Iterator[object]:
        yield from self.items
        if self.raised is not None:
            raise self.raised

    def __bool__(self) -> bool:
        if self.is_true is None:
            raise ValueError(f"a {type(self).__name__} is neither true nor false")
        return self.is_true


def to_text(value: object, give: Give | None = None) -> str:
    """A value as JSON. `give` says what stands for objects that are lent. Raises `ValueRefused`."""
    return json.dumps(_Writer(give or (lambda _: None)).written(value, 0), allow_nan=False, separators=(",", ":"))


class _Writer:
    def __init__(self, give: Give) -> None:
        self._give, self._nodes = give, 0
        self._in_data = 0
        """In how many of Linklab's data objects the value lies: their fields are plain."""

    def written(self, value: Any, depth: int) -> Any:
        """The value as JSON data."""
        self._nodes += 1
        if depth > DEPTH_AT_MOST or self._nodes > NODES_AT_MOST:
            raise ValueRefused("this value is too deep or too large to be looked at")
        if value is None or value is True or value is False:
            return value
        if value is ...:
            return {TAG: "..."}
        numpy: Any = sys.modules.get("numpy")  # a value of numpy's is there only where numpy is
        if numpy is not None and isinstance(value, numpy.generic | numpy.ndarray):
            if "numpy.ma" in sys.modules and isinstance(value, numpy.ma.MaskedArray):
                return self._foreign(value, depth)
            return self._of_numpy(value, depth)
        if isinstance(value, numbers.Number):
            return self._number(value)
        # the type's own methods: those of a student's subclass (an Enum's, say) may give something else
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, bytes | bytearray):
            return {TAG: "bytes", "base64": base64.b64encode(bytes(value)).decode()}
        return self._container(value, depth)

    def _number(self, value: Any) -> Any:
        if isinstance(value, int):
            whole = int.__int__(value)
            return {TAG: "int", "hex": hex(whole)} if abs(whole) >= 2**53 else whole
        if isinstance(value, float):
            plain = float.__float__(value)
            return plain if math.isfinite(plain) else {TAG: "float", "value": repr(plain)}
        if isinstance(value, numbers.Real) and self._in_data:
            return self._number(int(value) if isinstance(value, numbers.Integral) else float(value))
        if isinstance(value, numbers.Rational):
            return {TAG: "fraction", "over": [self._number(int(value.numerator)), self._number(int(value.denominator))]}
        if isinstance(value, Decimal):
            return {TAG: "decimal", "text": Decimal.__str__(value)}
        return self._foreign(value, 0)

    def _container(self, value: Any, depth: int) -> Any:
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if dataclasses.is_dataclass(value) and name in data.NAMES:
            self._in_data += 1
            parts = {field: self.written(getattr(value, field), depth + 1) for field in data.fields_of(name)}
            self._in_data -= 1
            return {TAG: "data", "class": name, "fields": parts}
        if isinstance(value, Mapping):
            items = [[self.written(key, depth + 1), self.written(each, depth + 1)] for key, each in value.items()]
            return {TAG: "dict", "items": items}
        if isinstance(value, list):
            return [self.written(each, depth + 1) for each in value]
        tag = next((tag for tag, kind in _SEQUENCES.items() if isinstance(value, kind)), None)
        if tag is not None:
            return {TAG: tag, "items": [self.written(each, depth + 1) for each in value]}
        lent = self._give(value)
        if lent is not None:
            return dict(lent)
        if isinstance(value, PurePath) and self._in_data:
            return {TAG: "path", "text": str(value)}
        if isinstance(value, collections.abc.Iterator):
            return {TAG: "iterator", **self._given(value, depth)}
        if isinstance(value, BaseException):
            return self._exception(value)
        return self._foreign(value, depth)

    def _given(self, value: Any, depth: int) -> dict[str, Any]:
        """What it gives when it is iterated over, and the error that it ended with, if it did."""
        items: list[Any] = []
        try:
            for each in value:
                if len(items) >= _LENT:
                    raise ValueRefused("this gives values without end")
                items.append(self.written(each, depth + 1))
        except ValueRefused:
            raise
        except Exception as error:
            return {"items": items, "raised": self._exception(error)}
        return {"items": items, "raised": None}

    def _exception(self, value: BaseException) -> dict[str, Any]:
        """Its name, and the nearest of its bases that are known on both sides."""
        bases: list[type] = []
        for kind in type(value).__mro__:
            if data.EXCEPTIONS.get(kind.__name__) is kind and not any(issubclass(nearer, kind) for nearer in bases):
                bases.append(kind)
        try:
            # a KeyError's text is the representation of its key, and would be so once more
            says = str(value.args[0] if isinstance(value, KeyError) and value.args else value)
        except Exception:  # it cannot be shown, so it says nothing
            says = ""
        told = {"kind": type(value).__name__, "bases": [base.__name__ for base in bases]}
        return {TAG: "exception", **told, "says": says[:_MESSAGE_CHARACTERS]}

    def _foreign(self, value: object, depth: int) -> dict[str, Any]:
        told: dict[str, Any] = {TAG: "foreign", "type": type(value).__name__}
        if isinstance(value, type):
            return told
        if hasattr(type(value), "__iter__"):
            return told | self._given(value, depth) | {"true": _truth(value)}
        if hasattr(type(value), "__float__") and not isinstance(value, numbers.Complex):
            with contextlib.suppress(Exception):
                return told | {"float": self._number(float(value))}  # type: ignore[arg-type]
        return told

    def _of_numpy(self, value: Any, depth: int) -> Any:
        if isinstance(value, str) or type(value).__name__ == "bytes_":
            return self.written(value.item(), depth + 1)
        name = {"f": "float64" if value.dtype.itemsize > 8 else value.dtype.name, "U": "str", "O": "object"}.get(
            value.dtype.kind, value.dtype.name
        )
        if name not in _DTYPES:
            return self._foreign(value, depth)
        if value.size > NODES_AT_MOST:
            raise ValueRefused("this value is too deep or too large to be looked at")
        if isinstance(value, sys.modules["numpy"].generic):
            plain = float(value) if value.dtype.kind == "f" else value.item()
            if self._in_data:
                return self.written(plain, depth + 1)
            return {TAG: "scalar", "dtype": name, "value": self.written(plain, depth + 1)}
        items = [self.written(each, depth + 1) for each in value.astype(name).ravel().tolist()]
        return {TAG: "array", "dtype": name, "shape": list(value.shape), "items": items}


def _truth(value: object) -> bool | None:
    """Whether a value counts as true; None where that cannot be said."""
    try:
        return bool(value)
    except Exception:
        return None


@dataclasses.dataclass(frozen=True)
class Reader:
    """Reads what a student's kernel sent.

    `own` gives what stands for a tag that is not of this module (a lab, a function, a video), from its data.
    """

    own: Callable[[str, Mapping[str, Any]], object] = lambda tag, _: _refuse(f"a {tag} has no place here")

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
        except (LinklabError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as wrong:
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
        return data.made(tree["class"], built)

    def array(self, tree: Mapping[str, Any], depth: int) -> object:
        """numpy's array of numbers, texts, or objects that were built here."""
        import numpy

        items, kind, shape = self.items(tree, depth), _dtype(tree), tree["shape"]
        made = numpy.empty(len(items), kind if kind != "str" else object)
        for index, item in enumerate(items):
            made[index] = item if kind == "object" else _of_kind(item, kind)
        if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError("a shape is none")
        return made.astype(str if kind == "str" else made.dtype).reshape(shape)

    def scalar(self, tree: Mapping[str, Any], depth: int) -> object:
        """One of numpy's numbers."""
        import numpy

        kind = _dtype(tree)
        return numpy.dtype(kind).type(_of_kind(self.built(tree["value"], depth + 1), kind))

    def given(self, tree: Mapping[str, Any], depth: int) -> tuple[tuple[object, ...], Exception | None]:
        """What an iterator gave, and the error that it ended with, if there was one."""
        return tuple(self.items(tree, depth)), None if tree["raised"] is None else exception(tree["raised"])

    def iterator(self, tree: Mapping[str, Any], depth: int) -> Iterator[Any]:
        """What was given, then the error, if there was one."""
        items, error = self.given(tree, depth)

        def given() -> Iterator[Any]:
            yield from items
            if error is not None:
                raise error

        return given()

    def foreign(self, tree: Mapping[str, Any], depth: int) -> Foreign:
        """An object of an unknown type, with what it gives and its value as a float, where it has these."""
        if "items" in tree:
            each = foreign(tree["type"], ForeignIterable)
            each.items, each.raised = self.given(tree, depth)
            each.is_true = None if tree["true"] is None else bool(tree["true"])
            return each
        if "float" in tree:
            number = foreign(tree["type"], ForeignNumber)
            number.as_float = float(self.built(tree["float"], depth + 1))
            return number
        return foreign(tree["type"])


def _dtype(tree: Mapping[str, Any]) -> str:
    if tree["dtype"] not in _DTYPES:
        raise ValueError("an array of such values is not read")
    return str(tree["dtype"])


def _of_kind(item: object, kind: str) -> object:
    """The item, if it is what an array of that type holds."""
    if not isinstance(item, str if kind == "str" else int | float):
        raise ValueError(f"an array of {kind} holds a {type(item).__name__}")
    return item


_BUILD: Final[Mapping[str, Callable[[_Builder, Mapping[str, Any], int], object]]] = {
    "...": lambda _, tree, depth: ...,
    "int": lambda _, tree, depth: _whole(str(int(_text(tree, "hex"), 16))),
    "float": lambda _, tree, depth: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[tree["value"]],
    "fraction": lambda it, tree, depth: Fraction(*(_integer(it.built(each, depth + 1)) for each in tree["over"])),
    "decimal": lambda _, tree, depth: Decimal(_text(tree, "text")[:_DIGITS_AT_MOST]),
    "bytes": lambda _, tree, depth: base64.b64decode(_text(tree, "base64"), validate=True),
    "tuple": lambda it, tree, depth: tuple(it.items(tree, depth)),
    "set": lambda it, tree, depth: set(it.items(tree, depth)),
    "frozenset": lambda it, tree, depth: frozenset(it.items(tree, depth)),
    "deque": lambda it, tree, depth: collections.deque(it.items(tree, depth)),
    "range": lambda it, tree, depth: _as_range(it.items(tree, depth)),
    "keys": lambda it, tree, depth: dict.fromkeys(it.items(tree, depth)).keys(),
    "values": lambda it, tree, depth: dict(enumerate(it.items(tree, depth))).values(),
    "items": lambda it, tree, depth: dict(it.items(tree, depth)).items(),
    "dict": _Builder.dict_,
    "data": _Builder.data_,
    "array": _Builder.array,
    "scalar": _Builder.scalar,
    "iterator": _Builder.iterator,
    "path": lambda _, tree, depth: clean(_text(tree, "text")),
    "exception": lambda _, tree, depth: exception(tree),
    "foreign": _Builder.foreign,
}


def _integer(value: object) -> int:
    if type(value) is not int:
        raise ValueError("a fraction is of whole numbers")
    return value


def _as_range(items: list[Any]) -> range:
    """The range that gave those numbers."""
    if not items:
        return range(0)
    step = items[1] - items[0] if len(items) > 1 else 1
    made = range(items[0], items[-1] + (1 if step > 0 else -1), step)
    if list(made) != items:
        raise ValueError("a range has steps of its own")
    return made


ForeignKind = TypeVar("ForeignKind", bound=Foreign)


@overload
def foreign(name: object) -> Foreign: ...
@overload
def foreign(name: object, kind: type[ForeignKind]) -> ForeignKind: ...
def foreign(name: object, kind: type[Foreign] = Foreign) -> Foreign:
    """An object whose type has that name, as far as it is one."""
    made: Foreign = type(_identifier(name), (kind,), {})()
    return made


def _identifier(name: object) -> str:
    plain = name if isinstance(name, str) and name.isascii() and name.isidentifier() else "object"
    return plain[:_NAME_CHARACTERS]


def exception(tree: Mapping[str, Any]) -> Exception:
    """The exception that was told of: one of Python's or of Linklab's own, or a new one below those that are its bases.

    So it is caught by whatever would have caught it where it was raised. No base counts that is not in
    `linklab.grading.data.EXCEPTIONS`.
    """
    says = clean(_text(tree, "says"))[:_MESSAGE_CHARACTERS]
    bases = tuple(data.EXCEPTIONS[base] for base in tree["bases"])
    if [base.__name__ for base in bases] == [tree["kind"]]:
        return bases[0](says)
    kind: type[Exception] = type(_identifier(tree["kind"]), bases or (Exception,), {})
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
