"""JSON data is checked strictly, and what does not fit is one line that names the field."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.schema import NOT_STORED, check, dump, given, load, parse


@dataclass(frozen=True)
class Inner:
    times_s: tuple[float | None, ...]
    secret: bytes = field(default=b"", metadata=NOT_STORED)


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    place: str | Path = "here"


RIGHT = {"name": "a", "inner": {"times_s": [1, 2.5, None]}}


def test_what_is_dumped_loads_again_without_what_is_not_stored() -> None:
    value = Outer("a", Inner((1, 2.5, None), b"\xff"), Path("there"))
    assert dump(value) == {**RIGHT, "place": "there"}
    assert load(Outer, dump(value), "it") == Outer("a", Inner((1, 2.5, None)), "there")
    assert check(Outer, value, "it") is value


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({"name": 1}, "it is damaged: name: input should be a valid string, and is 1"),
        ({"inner": {}}, "it is damaged: inner.times_s: field required"),
        (
            {"inner": {"times_s": [1, "2"]}},
            "it is damaged: inner.times_s.1: input should be a valid number, and is '2'",
        ),
        ({"inner": {"times_s": [True]}}, "it is damaged: inner.times_s.0: input should be a valid number, and is True"),
    ],
)
def test_the_field_that_does_not_fit_is_named(data: dict[str, Any], line: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        load(Outer, RIGHT | data, "it")
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("kind", "value", "right"),
    [
        (tuple[float, float] | None, 3, "choose 2 numbers, as (2, 8)"),
        (tuple[float, float], (1, 2, 3), "choose 2 numbers, as (2, 8)"),
        (tuple[int, ...], 3, "choose numbers, as (2, 8)"),
        (tuple[str, ...], "TcpInSegs", "give texts, as ('a', 'b')"),
        (tuple[str, str], ("TcpInSegs",), "give 2 texts, as ('a', 'b')"),
    ],
)
def test_who_gives_no_tuple_is_told_what_belongs_in_it(kind: Any, value: Any, right: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        given(kind, "counters", value)
    assert str(caught.value).endswith(f": {right}")


def test_a_key_that_is_unknown_is_ignored() -> None:
    assert load(Outer, {**RIGHT, "later": 1}, "it").name == "a"


def test_what_is_no_json_is_said() -> None:
    with pytest.raises(MeasurementError, match="it is damaged: invalid JSON"):
        parse(Outer, '{"name": ', "it")
