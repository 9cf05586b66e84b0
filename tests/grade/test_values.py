"""Values that are handed to checks: each becomes plain data, the same at home and in class."""

from __future__ import annotations

import array
import collections
import dataclasses
import enum
import json
import math
import statistics
import types
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Interface
from itertools import count
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest

from linklab.errors import MeasurementError
from linklab.grade import values
from linklab.grade.check import Check
from linklab.grade.result import Result, guarded
from linklab.grade.values import Foreign, ValueRefused, as_seen_by_checks, read, write
from linklab.measure import Origin, PingFlow, PingResult, Run, SimpleperfFlow, UdpFlow
from linklab.network import COURSE

PING = PingResult(PingFlow("r1", "r2", count=2), Origin("ping 1", "6.1"), (20.0, None), 20.0, 20.0, 20.0, 0.0, 0, 0)


class OwnFloat(float):
    """A student's own."""


class OwnInt(int):
    """A student's own, which shows itself as another number."""

    def __int__(self) -> int:
        return 7


class Meant(enum.IntEnum):
    """A number with a name."""

    VALUE = 20


class Letter(str, enum.Enum):  # noqa: UP042 - a student's own, which str() shows with its class
    """A text with a name."""

    A = "a"


class Each:
    """Gives its items, and is no sequence."""

    def __iter__(self) -> Any:
        return iter([1.5, 2.5])


def _same(each: Any) -> tuple[Any, Any]:
    return each, each


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        *map(_same, (None, True, 0, -3, 2**80, 1.5, "L1", "a\"\\\n\u00e9\U0001f600", b"\x00\xff", [], [1, [2]], {})),
        *map(_same, ({"L1": 20, 2: None, (1, 2): [3.0]}, {"$": "dict", "items": []}, math.inf, -math.inf)),
        *map(_same, (PING, Run((PING,), 0.5), {"L1": PING}, COURSE, Check.passing("x", "y").outcome)),
        (..., None),
        (Fraction(1, 4), 0.25), (Decimal("1.50"), 1.5), (OwnFloat(2), 2.0), (OwnInt(20), 20), (Meant.VALUE, 20),
        (numpy.int64(-7), -7), (numpy.bool_(True), True), (numpy.float32(0.5), 0.5), (numpy.longdouble(2), 2.0),
        (numpy.array(3.5), 3.5), (numpy.str_("a"), "a"), (Letter.A, "a"), (Path("a.txt"), "a.txt"),
        (IPv4Interface("10.0.1.2/24"), "10.0.1.2/24"), (bytearray(b"a"), b"a"),
        ((1, "a"), [1, "a"]), ({1}, [1]), (range(3), [0, 1, 2]), (collections.deque([1]), [1]), (Each(), [1.5, 2.5]),
        ((it for it in (1, 2)), [1, 2]), (map(float, [1]), [1.0]), ({"a": 1}.items(), [["a", 1]]),
        (array.array("d", [1.5]), [1.5]), (numpy.array([[1.0], [2.0]]), [[1.0], [2.0]]),
        (numpy.array([None, "a"], object), [None, "a"]), (pandas.Series([1.5, 2.5]), [1.5, 2.5]),
        (collections.Counter(a=1), {"a": 1}), (types.MappingProxyType({"a": 1}), {"a": 1}),
        ({numpy.str_("a"): 1, Letter.A: 2}, {"a": 2}),
        (SimpleperfFlow("r1", "r2", program=Path("a.py")), SimpleperfFlow("r1", "r2", program="a.py")),
        (UdpFlow("h1", "h4", numpy.float64(12.5)), UdpFlow("h1", "h4", 12.5)),
    ],
)  # fmt: skip
def test_a_value_becomes_plain_data(value: Any, becomes: Any) -> None:
    if isinstance(value, dict) and len(value) > len(becomes):
        with pytest.raises(ValueRefused, match="twice"):
            as_seen_by_checks(value)
        return
    arrived = as_seen_by_checks(value)
    assert arrived == becomes
    assert type(arrived) is type(becomes)
    assert as_seen_by_checks(arrived) == becomes


@pytest.mark.parametrize(
    "value",
    [
        object(),
        1j,
        pytest.param(10**400, id="huge"),
        timedelta(1),
        numpy.timedelta64(1, "D"),
        types.SimpleNamespace(a=1),
    ],
)
def test_what_no_check_knows_can_be_named_and_no_more(value: object) -> None:
    arrived = as_seen_by_checks(value)
    assert isinstance(arrived, Foreign)
    assert repr(arrived) == f"<{type(value).__name__}>"


def test_what_breaks_while_it_is_gone_through_raises_its_error() -> None:
    def two_and_a_fault() -> Any:
        yield from (1, 2)
        raise statistics.StatisticsError("no more")

    with pytest.raises(statistics.StatisticsError, match="no more"):
        as_seen_by_checks(two_and_a_fault())


# --- Functions and what they raise


class OwnError(ValueError):
    """A student's own."""


class TwoBases(LookupError, ValueError):
    """A student's own, of two kinds."""


class OwnMeasurementError(MeasurementError):
    """A student's own, below Linklab's."""


class Speechless(ValueError):
    """Cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "error",
    [
        ValueError("odd"), KeyError("L4"), ZeroDivisionError("no"), MeasurementError("much"), OwnError("odd"),
        TwoBases("a"), statistics.StatisticsError("no"), json.JSONDecodeError("no", "flow", 1),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "o"), OwnMeasurementError("much"), StopIteration("no"), Speechless(),
        ExceptionGroup("no", [ValueError("x")]), OSError(2, "no"),
    ],
)  # fmt: skip
def test_an_error_of_a_function_keeps_its_name_and_its_bases(error: Exception) -> None:
    def fails() -> None:
        raise error

    function: Any = as_seen_by_checks(fails)
    with pytest.raises(Exception) as raised:  # noqa: PT011 - of any kind
        function()
    assert type(raised.value).__name__ == type(error).__name__
    for base in (ValueError, LookupError, ArithmeticError, OSError, MeasurementError, RuntimeError):
        assert isinstance(raised.value, base) == isinstance(error, base)


def test_what_a_function_gives_is_plain_data_too() -> None:
    function: Any = as_seen_by_checks(lambda them: numpy.array(them) * 2)
    assert function([1, 2]) == [2, 4]


def test_an_exit_arrives_as_an_exception_that_ends_nothing() -> None:
    arrived = read(write(SystemExit(3)))
    assert isinstance(arrived, Exception)
    assert type(arrived).__name__ == "SystemExit"


def test_a_check_sees_plain_data_in_a_notebook() -> None:
    seen: list[object] = []

    @guarded
    def check_it(answer: object, *, other: object) -> Result:
        seen.extend((answer, other))
        return Result("it", (Check.passing("it", "something"),))

    check_it(numpy.array([1.0]), other=Fraction(1, 2))
    assert seen == [[1.0], 0.5]


# --- The sender is not trusted


class Hostile:
    """All of its hooks do harm where they are called."""

    def __reduce__(self) -> Any:
        raise AssertionError("pickled")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(self) -> int:
        raise AssertionError("hashed")

    def __repr__(self) -> str:
        raise AssertionError("represented")


def test_nothing_of_a_hostile_object_arrives() -> None:
    arrived: Any = as_seen_by_checks([Hostile(), {"a": Hostile()}])
    assert repr(arrived[0]) == "<Hostile>"
    assert type(arrived[1]["a"]) is not Hostile


def test_a_class_that_calls_itself_a_result_is_foreign() -> None:
    @dataclasses.dataclass(frozen=True)
    class PingResult:
        rtt_ms: tuple[float, ...]

    assert isinstance(as_seen_by_checks(PingResult((20.0,))), Foreign)


def test_a_result_that_was_changed_by_hand_is_refused() -> None:
    changed = dataclasses.replace(PING)
    object.__setattr__(changed, "rtt_ms", ("fast", "faster"))
    with pytest.raises(ValueRefused, match=r"PingResult\.rtt_ms"):
        as_seen_by_checks(changed)


def _data(kind: str, /, **fields: Any) -> str:
    return json.dumps({"$": "data", "class": kind, "fields": fields})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("NaN", "NaN is no JSON"),
        ("9" * 301, "300 digits"),
        ("[" * 100_000, "too deep"),
        ("[" * 500 + "]" * 500, "too deep"),
        ('{"$": "dict", "items": [], "items": [1]}', "there twice"),
        ('{"items": []}', "tag is missing"),
        ('{"$": 3}', "tag is missing"),
        ('{"$": "pickle", "data": ""}', "not allowed"),
        ('{"$": "lab", "number": 1}', "not allowed"),
        ('{"$": "dict", "items": "ab"}', "not allowed"),
        ('{"$": "dict", "items": [[1, 2], [1, 3]]}', "twice"),
        ('{"$": "dict", "items": [[1]]}', "cannot be read"),
        ('{"$": "dict", "items": [[{"$": "dict", "items": []}, 1]]}', "cannot be read"),
        ('{"$": "bytes", "base64": "!"}', "cannot be read"),
        ('{"$": "float", "text": "1e9"}', "cannot be read"),
        ('{"$": "exception", "kind": "ValueError", "bases": [], "says": 3}', "no text"),
        ('{"$": "exception", "kind": "X", "bases": ["Session"], "says": ""}', "cannot be read"),
        ('{"$": "exception", "kind": "X", "bases": ["SyntaxError", "OSError"], "says": ""}', "cannot be read"),
        ('{"$": "exception", "kind": "X", "bases": [["KeyError"]], "says": ""}', "cannot be read"),
        (_data("os.system", command="true"), "no such class"),
        (_data("linklab.runtime.client.LabProcess"), "no such class"),
        (_data("linklab.measure.video_file.Video", clip=None, folder="/root"), "no such class"),
        (_data("linklab.network.model.Host"), "has the fields name"),
        (_data("linklab.network.model.Host", name="h1", more=1), "has the fields name"),
        (_data("linklab.network.model.Host", name=3), "Host.name is damaged"),
        (_data("linklab.measure.tools.ping.PingFlow", **{
            "source": "r1", "destination": "r2", "count": 10**9, "interval_s": 1, "payload_bytes": 56,
            "address": None, "start_s": 0,
        }), "choose at most 65535"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_form_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(ValueRefused, match=why) as refused:
        read(text)
    assert "\n" not in str(refused.value)


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueRefused, match="too deep"):
        write(endless)
    with pytest.raises(ValueRefused, match="more than"):
        write(count())
    assert math.isnan(float(str(as_seen_by_checks(math.nan))))
    monkeypatch.setattr(values, "PARTS_AT_MOST", 100)
    with pytest.raises(ValueRefused, match="too large"):
        write(list(range(101)))
    with pytest.raises(ValueRefused, match="too large"):
        read(json.dumps(list(range(201))))
    monkeypatch.setattr(values, "CHARACTERS_AT_MOST", 10)
    with pytest.raises(ValueRefused, match="are the most"):
        read("[" * 11)


@pytest.mark.parametrize(("name", "becomes"), [("__import__('os')", "object"), ("x" * 1000, "x" * 60), (3, "object")])
def test_names_of_foreign_types_are_names(name: object, becomes: str) -> None:
    assert type(values.foreign(name)).__name__ == becomes


def test_half_a_surrogate_pair_can_be_written_to_a_file() -> None:
    str(read('"a\\ud800b"')).encode("utf-8")
