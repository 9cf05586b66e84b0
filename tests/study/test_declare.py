"""A study as data: its points in order, its short form, and one line for each study that cannot be."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.network import TWO_HOSTS, Network
from linklab.study import Measured, Metric, Point, Testbed, studies, study_by_name
from linklab.study.declare import refuse_rows

from .pretend import METRICS, STUDY, measure

POINT = Point("made-up", (("size", 2), ("kind", "a")))


def test_points_are_all_combinations_and_repeats_in_order() -> None:
    points = STUDY.points()
    assert [(point["size"], point["kind"], point.repeat) for point in points] == [
        (size, kind, repeat) for size in (1, 2, 3) for kind in "ab" for repeat in (1, 2)
    ]
    assert str(points[0]) == "size=1 kind=a, repeat 1"


def test_levels_are_changed_and_the_short_form_has_a_name_of_its_own() -> None:
    assert len(STUDY.with_levels(size=(1, 2, 3, 4)).points()) == 16
    short = STUDY.short_form()
    assert (short.name, len(short.points()), short.repeats) == ("made-up-short", 2, 1)


@pytest.mark.parametrize(
    ("belongs", "asks", "says"),
    [
        (lambda point: point["size"] != 2, lambda it: it.select({"colour": ["red"]}), "no factor 'colour'"),
        (lambda point: point["size"] != 2, lambda it: it.select({"size": ["7"]}), "no size=7: choose one of 1, 2, 3"),
        (
            lambda point: point["size"] != 2,
            lambda it: it.select({"size": ["2"]}),
            "no point with size=2: linklab study",
        ),
        (lambda point: point["size"] != 2, lambda it: it.with_levels(colour=("red",)), "no factor 'colour'"),
        (lambda point: False, lambda it: it.points(), "no combination of its levels belongs"),
        (lambda point: bool(1 // 0), lambda it: it.points(), r"its belongs failed: ZeroDivisionError: .*, line \d+\)"),
    ],
)
def test_what_no_point_of_the_study_has_is_refused(belongs: Any, asks: Any, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        asks(replace(STUDY, belongs=belongs))


def test_a_selection_is_by_text() -> None:
    assert len(replace(STUDY, belongs=lambda point: (point["size"], point["kind"]) != (2, "b")).points()) == 10
    assert len(STUDY.select({"size": ["1", 3], "kind": ["b"]})) == 4
    assert STUDY.select({}) == STUDY.points()


def nested() -> Callable[..., Any]:
    return lambda lab, point: [Measured("rate_mbps", 1)]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": "Made Up"}, "names files"),
        ({"factors": {}}, "no factors"),
        ({"factors": {"size": ()}}, "no levels"),
        ({"factors": {"size": "123"}}, "no levels"),
        ({"factors": {"repeat": (1,)}}, "cannot be called 'repeat'"),
        ({"factors": {"size": (1, "1")}}, "a level twice"),
        ({"factors": {"size": (True,)}}, "a text or a number"),
        ({"factors": {"size": ("a\nb",)}}, "no line breaks"),
        ({"short": {"colour": ("red",)}}, "short form has a factor 'colour'"),
        ({"repeats": 0}, "repeats is 0: choose 1 or more"),
        ({"short_repeats": 1.5}, "short_repeats is 1.5"),
        ({"metrics": ()}, "metrics are none"),
        ({"metrics": (METRICS[0], METRICS[0])}, "two have one name"),
        ({"metrics": (Metric("rate_mbps", "", "a rate"),)}, "no unit"),
        ({"measurement": nested()}, "top level of a module"),
        ({"testbed": 5}, "its testbed is a int: give the name of a network, or a function"),
    ],
)
def test_a_study_that_cannot_be_is_refused_in_one_line(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(MeasurementError, match=says) as caught:
        replace(STUDY, **changes)
    assert "\n" not in str(caught.value)


def test_a_testbed_is_a_name_or_a_function() -> None:
    assert STUDY.place(POINT) == Testbed(TWO_HOSTS)
    assert replace(STUDY, testbed=lambda point: Testbed(TWO_HOSTS, "ovs")).place(POINT) == Testbed(TWO_HOSTS, "ovs")
    with pytest.raises(MeasurementError, match=r"study made-up, size=2 kind=a: no network is called 'three'"):
        replace(STUDY, testbed="three").place(POINT)


def test_a_level_that_the_testbed_refuses_is_named() -> None:
    def slow(point: Point) -> Network:
        return replace(TWO_HOSTS, links=(TWO_HOSTS.links[0].reshaped(rate_mbps=point.number("size") * 1000),))

    with pytest.raises(MeasurementError, match=r"made-up, size=2 kind=a: .*rate_mbps is 2000: choose"):
        replace(STUDY, testbed=slow).place(POINT)


def test_levels_are_read_by_their_kind() -> None:
    assert (POINT.whole("size"), POINT.number("size"), POINT.text("size")) == (2, 2.0, "2")
    for read in (POINT.whole, POINT.number):
        with pytest.raises(MeasurementError, match="kind is 'a', which is no"):
            read("kind")
    with pytest.raises(MeasurementError, match="no factor 'colour'"):
        POINT["colour"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (None, "no list of Measured"),
        ([{"metric": "rate_mbps"}], "no list of Measured"),
        ([], "no row at all"),
        ([Measured("speed", 1)], "'speed', which is no metric"),
        ([Measured("rate_mbps", float("nan"))], "nan for rate_mbps: a finite number"),
        ([Measured("rate_mbps", True)], "True for rate_mbps"),
        ([Measured("rate_mbps", 1), Measured("rate_mbps", 2)], "rate_mbps twice"),
    ],
)
def test_rows_that_no_table_can_hold_are_refused(rows: object, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        refuse_rows(rows, METRICS)
    refuse_rows(measure(None, replace(POINT, study="other")), METRICS)


@pytest.mark.slow
@pytest.mark.parametrize("name", studies())
def test_every_study_of_the_catalogue_can_be_carried_out(name: str) -> None:
    study = study_by_name(name)
    assert study.name == name
    for form in (study, study.short_form()):
        assert all(form.place(point) for point in form.points())
    assert len(study.short_form().points()) < len(study.points()) / 2


ANY_TESTBED: Any = Testbed


def _divides(point: Point) -> Network:
    return TWO_HOSTS if point["size"] == 1 else [TWO_HOSTS][1 // 0]


def _ends_all(point: Point) -> Network:
    sys.exit(3)


def _by_a_library(point: Point) -> Network:
    return Network(**json.loads("{"))


@pytest.mark.parametrize(
    ("testbed", "says"),
    [
        (_divides, r"its testbed failed: ZeroDivisionError: .* by zero \(test_declare.py, line \d+\)"),
        (_ends_all, r"its testbed failed: SystemExit: 3 \(test_declare.py, line \d+\)"),
        (_by_a_library, r"its testbed failed: JSONDecodeError: .* \(test_declare.py, line \d+\)"),
        (lambda point: None, "its testbed is None: let it return a Network, or a Testbed of one"),
        (lambda point: ANY_TESTBED("course"), "its testbed is a str: let it return a Network"),
        (lambda point: ANY_TESTBED(TWO_HOSTS, "hub"), "the switch of its testbed is 'hub': choose one of bridge, ovs"),
        (lambda point: ANY_TESTBED(TWO_HOSTS, "ovs", 5), "the controller of its testbed is 5: write its command line"),
        (lambda point: Testbed(TWO_HOSTS, "ovs", "a 'b"), "the controller of its testbed is .*: No closing quotation"),
    ],
)
def test_a_mistake_in_the_testbed_is_one_line_that_says_where(testbed: Any, says: str) -> None:
    with pytest.raises(MeasurementError, match=f"^study made-up, size=2 kind=a: .*{says}") as caught:
        replace(STUDY, testbed=testbed).place(POINT)
    assert "\n" not in str(caught.value)
