"""A table of all values fits a page's width: with more metrics than settings, each metric has a row."""

from __future__ import annotations

from dataclasses import replace

from linklab.study import Measured, Metric, Point
from linklab.study.overview import values_table
from linklab.study.table import StudyTable, table_of

from . import pretend

METRICS = tuple(Metric(name, "ms", "a time") for name in ("one_ms", "two_ms", "three_ms"))


def measured(*sizes: int) -> StudyTable:
    study = replace(pretend.STUDY, factors={"size": sizes}, short={}, metrics=METRICS)
    points = (Point("made-up", (("size", size),)) for size in sizes)
    return table_of(study, {it: [Measured(metric.name, 10 * it.number("size")) for metric in METRICS] for it in points})


def test_a_column_each_for_few_metrics() -> None:
    assert values_table(measured(1, 2, 3)).text.splitlines()[:3] == [
        "| size | one_ms (ms) | two_ms (ms) | three_ms (ms) |",
        "| --- | --- | --- | --- |",
        "| 1 | 10 | 10 | 10 |",
    ]


def test_a_row_each_for_many_metrics_below_the_settings() -> None:
    assert values_table(measured(1, 2)).text.splitlines()[:3] == [
        "| metric | 1 | 2 |",
        "| --- | --- | --- |",
        "| one_ms (ms) | 10 | 20 |",
    ]
