"""Values on their way to the judge: what is handed over arrives, and nothing else does."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import OrderedDict, deque
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy
import pandas
import pytest

from linklab.errors import MeasurementError
from linklab.grading import data, values
from linklab.grading.values import Foreign, Reader, ValueRefused, to_text
from linklab.measure import Origin, PingFlow, PingResult, Run, SimpleperfFlow, UdpFlow
from linklab.network import COURSE

PING = PingResult(PingFlow("r1", "r2", count=2), Origin("ping 1", "6.1"), (20.0, None), 20.0, 20.0, 20.0, 0.0, 0, 0)


def passed_on(value: object) -> object:
    """The value as the judge gets it."""
    return Reader().read(to_text(value))


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -3, 2**80, 1.5, "L1", "a\"\\\n\u00e9\U0001f600", b"\x00\xff", [], [1, [2]], (1, "a"), {1, 2},
        frozenset({"a"}), {}, {"L1": 20, 2: None, (1, 2): [3.0]}, ..., {"$": "dict", "items": []},
        Fraction(1, 3), Decimal("1.50"), numpy.float32(1.1), numpy.int64(-7), numpy.bool_(True), numpy.float64(2),
        range(3), range(0), range(5, 0, -2), deque([1, 2]),
        PING, Run((PING,), 0.5), {"L1": PING}, COURSE, SimpleperfFlow("r1", "r2", program="simpleperf.py"),
    ],
)  # fmt: skip
def test_what_is_known_arrives_as_it_was(value: object) -> None:
    arrived = passed_on(value)
    assert arrived == value
    assert type(arrived) is type(value)


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinities_arrive(value: float) -> None:
    assert passed_on(value) == value


def test_nan_arrives() -> None:
    arrived = passed_on(math.nan)
    assert isinstance(arrived, float)
    assert math.isnan(arrived)


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (OrderedDict(a=1), {"a": 1}), (MappingProxyType({"a": 1}), {"a": 1}), (bytearray(b"a"), b"a"),
        (SimpleperfFlow("r1", "r2", program=Path("a.py")), SimpleperfFlow("r1", "r2", program="a.py")),
        (UdpFlow("h1", "h4", numpy.float64(12.5)), UdpFlow("h1", "h4", 12.5)),
    ],
)  # fmt: skip
def test_what_is_like_something_plain_arrives_as_that(value: object, arrives: object) -> None:
    assert passed_on(value) == arrives


@pytest.mark.parametrize(
    "value",
    [[[1.0, 2.0], [3.0, 4.0]], [], 3, [[]], ["a", "bc"], [True, False], [None, 1.5, "a"], [2**63 + 1]],
)
def test_an_array_arrives(value: Any) -> None:
    sent = numpy.array(value)
    arrived = passed_on(sent)
    assert isinstance(arrived, numpy.ndarray)
    assert (arrived.shape, arrived.dtype) == (sent.shape, sent.dtype)
    assert arrived.tolist() == sent.tolist()


@pytest.mark.parametrize("value", [{"a": 1, "b": 2}.values(), {"a": 1}.keys(), {"a": [1]}.items()])
def test_a_view_of_a_dictionary_arrives_as_one(value: Any) -> None:
    arrived: Any = passed_on(value)
    assert type(arrived) is type(value)
    assert list(arrived) == list(value)


def test_a_series_of_pandas_gives_what_it_holds() -> None:
    arrived: Any = passed_on(pandas.Series([1.5, 2.5]))
    assert issubclass(type(arrived), Foreign)
    assert type(arrived).__name__ == "Series"
    assert list(arrived) == [1.5, 2.5]
    with pytest.raises(ValueError, match="neither true nor false"):
        bool(arrived)


def test_an_array_with_holes_is_foreign() -> None:
    arrived: Any = passed_on(numpy.ma.masked_array([1.5, 2.5], mask=[False, True]))
    assert issubclass(type(arrived), Foreign)
    assert type(arrived).__name__ == "MaskedArray"
    first, second = arrived
    assert first == 1.5
    assert issubclass(type(second), Foreign)


def test_an_iterator_arrives_with_the_error_that_it_ends_with() -> None:
    def two_and_a_fault() -> Any:
        yield 1
        yield 2
        raise ValueError("no more")

    arrived: Any = passed_on(two_and_a_fault())
    assert [next(arrived), next(arrived)] == [1, 2]
    with pytest.raises(ValueError, match="no more"):
        next(arrived)


def test_an_iterator_without_end_is_refused() -> None:
    with pytest.raises(ValueRefused, match="without end"):
        to_text(iter(int, 1))


@pytest.mark.parametrize("value", [object(), int, open, lambda: None, 1j, Path("a"), timedelta(1)])
def test_what_is_unknown_can_be_named_and_no_more(value: object) -> None:
    arrived = passed_on(value)
    assert isinstance(arrived, Foreign)
    assert type(arrived).__name__ == type(value).__name__


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ValueError("odd"), ValueError), (MeasurementError("too much"), MeasurementError), (KeyError("L4"), KeyError)],
)
def test_known_exceptions_arrive_as_what_they_are(error: Exception, kind: type[Exception]) -> None:
    arrived = passed_on(error)
    assert type(arrived) is kind
    assert str(arrived) == str(error)


def test_an_exit_arrives_as_an_exception_that_ends_nothing() -> None:
    arrived = passed_on(SystemExit(3))
    assert isinstance(arrived, Exception)
    assert type(arrived).__name__ == "SystemExit"


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

    def to_json(self) -> Any:
        raise AssertionError("asked for JSON")


def test_nothing_of_a_hostile_object_is_called() -> None:
    arrived: Any = passed_on([Hostile(), {"a": Hostile()}])
    assert repr(arrived[0]) == "<Hostile>"
    assert type(arrived[1]["a"]) is not Hostile


def test_a_class_that_calls_itself_a_result_is_foreign() -> None:
    @dataclasses.dataclass(frozen=True)
    class PingResult:
        rtt_ms: tuple[float, ...]

    assert isinstance(passed_on(PingResult((20.0,))), Foreign)


def test_a_result_that_was_changed_by_hand_keeps_its_types() -> None:
    changed = dataclasses.replace(PING)
    object.__setattr__(changed, "rtt_ms", ("fast", "faster"))
    with pytest.raises(ValueRefused, match=r"PingResult\.rtt_ms"):
        passed_on(changed)


def _data(kind: str, /, **fields: Any) -> str:
    return json.dumps({"$": "data", "class": kind, "fields": fields})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("NaN", "NaN is no JSON"),
        ("-Infinity", "no JSON"),
        ("9" * 301, "300 digits"),
        ("9" * 5000, "300 digits"),
        ("[" * 100_000, "too deep"),
        ("[" * 500 + "]" * 500, "too deep"),
        ('{"$": "tuple", "items": [], "items": [1]}', "there twice"),
        ('{"items": []}', "tag is missing"),
        ('{"$": 3}', "tag is missing"),
        ('{"$": "pickle", "data": ""}', "no place"),
        ('{"$": "lab", "number": 1}', "no place"),
        ('{"$": "tuple"}', "cannot be read"),
        ('{"$": "tuple", "items": "ab"}', "no list"),
        ('{"$": "set", "items": [[1]]}', "cannot be read"),
        ('{"$": "dict", "items": [[1, 2], [1, 3]]}', "twice"),
        ('{"$": "dict", "items": [[1]]}', "cannot be read"),
        ('{"$": "dict", "items": [[[], 1]]}', "cannot be read"),
        ('{"$": "bytes", "base64": "!"}', "cannot be read"),
        ('{"$": "float", "value": "1e9"}', "cannot be read"),
        ('{"$": "int", "hex": "0x' + "f" * 400 + '"}', "300 digits"),
        ('{"$": "exception", "kind": "ValueError", "bases": [], "says": 3}', "no text"),
        ('{"$": "exception", "kind": "X", "bases": ["Session"], "says": ""}', "cannot be read"),
        ('{"$": "exception", "kind": "X", "bases": ["SyntaxError", "OSError"], "says": ""}', "cannot be read"),
        ('{"$": "exception", "kind": "X", "bases": ["KeyError", "KeyError"], "says": ""}', "cannot be read"),
        ('{"$": "exception", "kind": "X", "bases": [["KeyError"]], "says": ""}', "cannot be read"),
        ('{"$": "fraction", "over": [1, 0]}', "cannot be read"),
        ('{"$": "fraction", "over": ["1e999999999"]}', "whole numbers"),
        ('{"$": "decimal", "text": "1.2.3"}', "cannot be read"),
        ('{"$": "range", "items": [1, 2, 4]}', "steps"),
        ('{"$": "range", "items": [1, 1]}', "cannot be read"),
        ('{"$": "array", "dtype": "O8", "shape": [1], "items": [1]}', "such values"),
        ('{"$": "array", "dtype": "float64", "shape": [2], "items": [1]}', "cannot be read"),
        ('{"$": "array", "dtype": "float64", "shape": [-1], "items": [1]}', "shape"),
        ('{"$": "array", "dtype": "float64", "shape": [1], "items": ["1"]}', "holds a str"),
        ('{"$": "scalar", "dtype": "str", "value": 3}', "holds a int"),
        ('{"$": "foreign", "type": "X", "float": "x"}', "cannot be read"),
        (_data("os.system", command="true"), "no such class"),
        (_data("linklab.runtime.client.LabProcess"), "no such class"),
        (_data("linklab.measure.video_file.Video", clip=None, folder="/root"), "no such class"),
        (_data("linklab.network.model.Host"), "has the fields name"),
        (_data("linklab.network.model.Host", name="h1", more=1), "has the fields name"),
        (_data("linklab.network.model.Host", name=3), "Host.name is a int"),
        (_data("linklab.network.model.Subnet", name="A", prefix={"$": "..."}), "Subnet.prefix"),
        (_data("linklab.measure.tools.ping.PingFlow", **{
            "source": "r1", "destination": "r2", "count": 10**9, "interval_s": 1, "payload_bytes": 56,
            "address": None, "start_s": 0,
        }), "choose 1 to 65535"),
        (_data("linklab.network.validation.Network", **{
            "name": "x", "nodes": {"$": "tuple", "items": []}, "links": [], "subnets": [], "tunnels": [], "vlans": None,
        }), "Network.links is a list"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_form_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(ValueRefused, match=why) as refused:
        Reader().read(text)
    assert "\n" not in str(refused.value)


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "NODES_AT_MOST", 100)
    with pytest.raises(ValueRefused, match="too large"):
        to_text(list(range(101)))
    with pytest.raises(ValueRefused, match="too large"):
        Reader().read(json.dumps(list(range(201))))


def test_too_long_a_text_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "BYTES_AT_MOST", 10)
    with pytest.raises(ValueRefused, match="are the most"):
        Reader().read("[" * 11)


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueRefused, match="too deep"):
        to_text(endless)


def test_names_of_foreign_types_are_names() -> None:
    assert type(values.foreign("__import__('os')")).__name__ == "object"
    assert type(values.foreign("x" * 1000)).__name__ == "x" * 60
    assert type(values.foreign(3)).__name__ == "object"


def test_half_a_surrogate_pair_can_be_written_to_a_file() -> None:
    arrived = Reader().read('"a\\ud800b"')
    assert isinstance(arrived, str)
    arrived.encode("utf-8")


@pytest.mark.parametrize("name", sorted(data.NAMES))
def test_each_class_can_be_built_from_fields_whose_types_are_known(name: str) -> None:
    assert data.fields_of(name)
    assert set(data.fields_of(name)) <= set(data._types(name))
