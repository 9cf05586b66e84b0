"""Every kind of value that a notebook can hold: a check finds the same of it at home and when it has crossed."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import enum
import json
import statistics
import types
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import pandas
import pytest

from linklab.errors import MeasurementError
from linklab.grade.path_questions import path_between, rtt
from linklab.grade.questions import asked
from linklab.grade.result import Result, guarded
from linklab.grading.values import Reader, to_text
from linklab.labs.lab00 import rules as lab00
from linklab.labs.lab03 import rules as lab03
from linklab.labs.lab04 import rules as lab04
from linklab.labs.lab06 import rules as lab06
from linklab.labs.lab08 import rules as lab08
from linklab.labs.lab09 import rules as lab09
from linklab.labs.lab10 import rules as lab10


def crossed(value: object) -> Any:
    """The value as the judge gets it."""
    return Reader().read(to_text(value))


Outcomes = tuple[str, ...]


def same(home: Outcomes, there: Outcomes) -> bool:
    """Whether the judge finds what the notebook found; of a value on which the check crashes at home, that it fails."""
    return home == there or (home == ("inconclusive",) and "failed" in there)


def outcomes(check: Callable[..., Result], value: object) -> Outcomes:
    """What each part of a check finds; that nothing can be said where it crashes."""
    return tuple(found.outcome for found in check(value).checks)


class OwnFloat(float):
    """A student's own."""


class OwnInt(int):
    """A student's own, which shows itself as another number."""

    def __int__(self) -> int:
        return 7

    def __index__(self) -> int:
        return 7


class Meant(enum.IntEnum):
    """A number with a name."""

    VALUE = 20


class HasFloat:
    """Turns into a float, and is none."""

    def __init__(self, number: float) -> None:
        self.number = number

    def __float__(self) -> float:
        return self.number


def _with(kind: str) -> Callable[[float], object]:
    return lambda number: numpy.dtype(kind).type(number)


NUMBERS: Mapping[str, Callable[[float], object]] = {
    "float": float,
    "int": round,
    "str": str,
    "complex": complex,
    "bool": bool,
    "bytes": lambda it: str(it).encode(),
    "Fraction": Fraction,
    "Decimal": Decimal,
    "own float": OwnFloat,
    "own int": lambda it: OwnInt(round(it)),
    "IntEnum": lambda it: Meant.VALUE,
    "has a float": HasFloat,
    "list": lambda it: [it],
    "tuple": lambda it: (it,),
    "function": lambda it: lambda: it,
    "iterator": lambda it: iter([it]),
    "set": lambda it: {it},
    "large": lambda it: it * 10.0**200,
    "huge": lambda it: round(it) * 10**200,
    "minus": lambda it: -it,
    "nan": lambda it: float("nan"),
    "inf": lambda it: float("inf"),
    "None": lambda it: None,
    "dots": lambda it: ...,
    **{kind: _with(kind) for kind in ("float64", "float32", "float16", "longdouble", "int64", "uint8", "complex128")},
    "numpy's bool": numpy.bool_,
    "numpy's text": numpy.str_,
    "0-d array": numpy.array,
    "1-d array": lambda it: numpy.array([it]),
    "numpy's time": lambda it: numpy.timedelta64(round(it), "ms"),
    "Series": lambda it: pandas.Series([it]),
    "timedelta": lambda it: datetime.timedelta(milliseconds=it),
    "path": lambda it: Path(str(it)),
}
"""A number, written in many ways."""


class OwnDict(dict[str, object]):
    """A student's own."""


class Links(NamedTuple):
    """Names that may be keys."""

    L1: object
    L2: object
    L3: object


@dataclasses.dataclass
class AsFields:
    """The same as a data class."""

    items_of: Mapping[str, object]


class Readable(collections.abc.Mapping[str, object]):
    """A mapping that is no dict."""

    def __init__(self, items: Mapping[str, object]) -> None:
        self._items = items

    def __getitem__(self, key: str) -> object:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class Callables(dict[str, object]):
    """A dict that can be called."""

    def __call__(self) -> None:
        """Nothing."""


class Key(str, enum.Enum):  # noqa: UP042 - a student's own, which str() shows with its class
    """Keys that are texts."""

    L1 = "L1"
    L2 = "L2"
    L3 = "L3"


MAPPINGS: Mapping[str, Callable[[dict[str, Any]], object]] = {
    "dict": dict,
    "own dict": OwnDict,
    "OrderedDict": collections.OrderedDict,
    "Counter": collections.Counter,
    "defaultdict": lambda it: collections.defaultdict(int, it),
    "proxy": types.MappingProxyType,
    "UserDict": collections.UserDict,
    "ChainMap": lambda it: collections.ChainMap({}, it),
    "mapping": Readable,
    "callable": Callables,
    "namedtuple": lambda it: Links(*it.values()),
    "data class": AsFields,
    "Series": pandas.Series,
    "items": lambda it: it.items(),
    "pairs": lambda it: list(it.items()),
    "iterator": lambda it: iter(it.items()),
    "texts as keys": lambda it: {numpy.str_(key): value for key, value in it.items()},
    "names as keys": lambda it: {Key(key): value for key, value in it.items()},
    "DataFrame": lambda it: pandas.DataFrame([it]),
    "namespace": lambda it: types.SimpleNamespace(**it),
    "array": lambda it: numpy.array(list(it.values())),
    "paths as keys": lambda it: {Path(key): value for key, value in it.items()},
}
"""A dictionary, written in many ways."""


class OwnText(str):
    """A student's own, which shows itself as another text."""

    def __str__(self) -> str:
        return "other"


class Letter(str, enum.Enum):  # noqa: UP042 - the same
    """Answers with names."""

    A = "a"
    B = "b"
    C = "c"


class Plain(enum.StrEnum):
    """The same, as newer Python has it."""

    A = "a"
    B = "b"
    C = "c"


TEXTS: Mapping[str, Callable[[str], object]] = {
    "str": str,
    "own": OwnText,
    "Enum": Letter,
    "StrEnum": Plain,
    "numpy": numpy.str_,
    "capital": str.upper,
    "blanks": lambda it: f" {it}\n",
    "bytes": str.encode,
    "list": lambda it: [it],
    "path": Path,
    "set": lambda it: {it},
    "array": numpy.array,
    "tuple": lambda it: (it,),
    "None": lambda it: None,
    "wrong": lambda it: "z",
}
"""A letter, written in many ways."""


class Each:
    """Gives its items, and is no sequence."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


class Indexed:
    """Has items by number alone."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __getitem__(self, index: int) -> Any:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)


def _then_raising(items: list[Any]) -> Iterator[Any]:
    yield from items
    raise statistics.StatisticsError("no more")


SERIES: Mapping[str, Callable[[list[Any]], object]] = {
    "list": list,
    "tuple": tuple,
    "deque": collections.deque,
    "UserList": collections.UserList,
    "each": Each,
    "indexed": Indexed,
    "generator": lambda it: (each for each in it),
    "map": lambda it: map(float, it),
    "raising": _then_raising,
    "values": lambda it: dict(enumerate(it)).values(),
    "keys": lambda it: dict.fromkeys(it).keys(),
    "array": lambda it: array.array("d", it),
    "float64": numpy.array,
    "Series": pandas.Series,
    "dict": lambda it: dict(enumerate(it)),
    "float32": lambda it: numpy.array(it, "float32"),
    "objects": lambda it: numpy.array(it, object),
    "scalars": lambda it: [numpy.float64(each) for each in it],
    "small scalars": lambda it: [numpy.float32(each) for each in it],
    "fractions": lambda it: [Fraction(each) for each in it],
    "column": lambda it: numpy.array([it]).T,
    "decimals": lambda it: [Decimal(each) for each in it],
    "texts": lambda it: [str(each) for each in it],
    "text": str,
    "None": lambda it: None,
    "one less": lambda it: it[1:],
    "range": lambda it: range(len(it)),
    "set": set,
    "whole": lambda it: numpy.array(it).astype(int),
    "masked": numpy.ma.array,
    "frame": pandas.DataFrame,
    "first": lambda it: it[0],
}
"""A list of numbers, written in many ways."""


class OwnError(ValueError):
    """A student's own."""


class TwoBases(LookupError, ValueError):
    """A student's own, of two kinds."""


class OwnMeasurementError(MeasurementError):
    """A student's own, below Linklab's."""


class OwnOSError(OSError):
    """A student's own."""


class Speechless(ValueError):
    """Cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError


def _of_name(name: str, base: type[Exception]) -> Exception:
    made: Exception = type(name, (base,), {})("no flow")
    return made


ERRORS: Mapping[str, Callable[[], BaseException]] = {
    "ValueError": lambda: ValueError("no flow"),
    "silent": ValueError,
    "own": lambda: OwnError("no flow"),
    "StatisticsError": lambda: statistics.StatisticsError("no flow"),
    "JSON": lambda: json.JSONDecodeError("no", "flow", 1),
    "Unicode": lambda: UnicodeDecodeError("utf-8", b"x", 0, 1, "odd"),
    "two bases": lambda: TwoBases("no flow"),
    "KeyError": lambda: KeyError("no flow"),
    "own OSError": lambda: OwnOSError(2, "no flow"),
    "speechless": Speechless,
    "ZeroDivisionError": lambda: ZeroDivisionError("no flow"),
    "MeasurementError": lambda: MeasurementError("no flow"),
    "own MeasurementError": lambda: OwnMeasurementError("no flow"),
    "a group": lambda: ExceptionGroup("no flow", [ValueError("x")]),
    "called ValueError": lambda: _of_name("ValueError", Exception),
    "numpy's": lambda: numpy.linalg.LinAlgError("no flow"),
    "StopIteration": lambda: StopIteration("no flow"),
    "NotImplementedError": lambda: NotImplementedError("no flow"),
    "called OSError": lambda: _of_name("OSError", ValueError),
    "AssertionError": lambda: AssertionError("no flow"),
}
"""What a function may raise."""


@guarded
def _check_rtts(given: object) -> Result:
    """Numbers in a dictionary, as many labs ask for them."""
    return asked("round trips", given, [rtt(name, path_between(*ends)) for name, ends in lab04.LINKS.items()])


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers(kind: str) -> None:
    value = NUMBERS[kind]
    for check, right in ((lab00.check_measured_rtt, 20.0), (lab00.check_measured_throughput, 9.5)):
        assert same(outcomes(check, value(right)), outcomes(check, crossed(value(right))))
    for right in (20.0, 20.5):
        by_name = {"L1": NUMBERS[kind](right), "L2": 40, "L3": 20}
        again = {"L1": NUMBERS[kind](right), "L2": 40, "L3": 20}
        assert same(outcomes(_check_rtts, again), outcomes(_check_rtts, crossed(by_name)))
    packets = NUMBERS[kind](73.0)
    assert same(outcomes(lab03.check_hidden, packets), outcomes(lab03.check_hidden, crossed(packets)))


@pytest.mark.parametrize("kind", MAPPINGS)
def test_dictionaries(kind: str) -> None:
    made = MAPPINGS[kind]
    for right in ({"L1": 20, "L2": 40, "L3": 20}, {"L1": 20, "L2": 40.0, "L3": 3}, {"L1": 20, "L2": 40}):
        if kind != "namedtuple" or len(right) == 3:
            assert same(outcomes(_check_rtts, made(right)), outcomes(_check_rtts, crossed(made(right))))
    if kind not in ("names as keys", "namedtuple"):
        assert same(*_of_function(lab04.check_summary, lambda rtt_ms: made(_summary(rtt_ms))))


@pytest.mark.parametrize("kind", TEXTS)
def test_choices(kind: str) -> None:
    written = TEXTS[kind]
    for letter in "ab":
        answer = written(letter)
        assert same(outcomes(lab10.check_tag, answer), outcomes(lab10.check_tag, crossed(answer)))
    assert same(outcomes(lab03.check_busy, written("c")), outcomes(lab03.check_busy, crossed(written("c"))))


def _of_function(check: Callable[..., Result], function: Callable[..., object]) -> tuple[Any, Any]:
    """What a check finds of a function at home, and when what it gives crosses."""

    def there(*given: object) -> object:
        try:
            value = function(*given)
        except Exception as error:
            raise crossed(error) from None
        return crossed(value)

    return outcomes(check, function), outcomes(check, there)


def _summary(rtt_ms: list[float | None]) -> dict[str, Any]:
    known = [it for it in rtt_ms if it is not None]
    return {"min": min(known), "mean": statistics.fmean(known), "max": max(known), "mdev": statistics.pstdev(known)}


def _jain(values: list[float]) -> float:
    return sum(values) ** 2 / (len(values) * sum(value * value for value in values))


def _bandwidth(arrivals_s: list[float], frame_bytes: int) -> list[float]:
    return [8e-6 * frame_bytes * k / (at - arrivals_s[0]) for k, at in enumerate(arrivals_s[1:], 1)]


@pytest.mark.parametrize("kind", NUMBERS)
def test_what_functions_return(kind: str) -> None:
    def jain(values: list[float]) -> object:
        if not any(values):
            raise ValueError("no flow")
        return NUMBERS[kind](_jain(values))

    def rate(arrival_s: list[float], payload_bytes: int) -> object:
        return NUMBERS[kind](8e-6 * payload_bytes * (len(arrival_s) - 1) / (arrival_s[-1] - arrival_s[0]))

    def smoothed(arrivals_s: list[float], stamps_s: list[float]) -> object:
        jitter, transit = 0.0, [a - b for a, b in zip(arrivals_s, stamps_s, strict=True)]
        for early, late in pairwise(transit):
            jitter += (1000 * abs(late - early) - jitter) / 16
        return NUMBERS[kind](jitter)

    def summary(rtt_ms: list[float | None]) -> object:
        return {key: NUMBERS[kind](value) for key, value in _summary(rtt_ms).items()}

    for check, function in (
        (lab06.check_jain, jain),
        (lab03.check_train, rate),
        (lab09.check_jitter, smoothed),
        (lab04.check_summary, summary),
    ):
        assert same(*_of_function(check, function))


@pytest.mark.parametrize("kind", SERIES)
def test_what_functions_return_as_a_series(kind: str) -> None:
    def bandwidth(arrivals_s: list[float], size: int) -> object:
        return SERIES[kind](_bandwidth(arrivals_s, size))

    assert same(*_of_function(lab08.check_bandwidth, bandwidth))


@pytest.mark.parametrize("kind", ERRORS)
def test_what_functions_raise(kind: str) -> None:
    def jain(values: list[float]) -> float:
        if not any(values):
            raise ERRORS[kind]()
        return _jain(values)

    assert same(*_of_function(lab06.check_jain, jain))


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_keeps_its_name_and_its_bases(kind: str) -> None:
    error = ERRORS[kind]()
    arrived = crossed(error)
    assert type(arrived).__name__ == type(error).__name__
    for base in (ValueError, LookupError, ArithmeticError, OSError, MeasurementError, RuntimeError, AssertionError):
        assert isinstance(arrived, base) == isinstance(error, base)


@pytest.mark.parametrize(
    "function",
    [
        numpy.mean,
        numpy.hypot,
        numpy.vectorize(float),
        len,
        float,
        OwnFloat,
        "text".join,
        type("Made", (), {"__call__": len})(),
    ],
)
def test_whatever_can_be_called_is_called(function: object) -> None:
    """Also what is made by a library: its type may lie anywhere."""
    asked: list[object] = []

    def give(value: object) -> Mapping[str, Any] | None:
        asked.append(value)
        return {"$": "function", "number": 0} if callable(value) else None

    assert json.loads(to_text(function, give))["$"] == "function"
