"""Pages that nobody wrote: their tables fit a page's width, and keep the study's order; their figures stay readable."""

from __future__ import annotations

from dataclasses import replace

from linklab.study import Measured, Metric, Point
from linklab.study.claims import Claims
from linklab.study.overview import overview, values_table
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


def test_settings_keep_the_studys_order() -> None:
    rows = values_table(measured(1500, 100, 9000)).text.splitlines()[2:5]
    assert [row.split()[1] for row in rows] == ["1500", "100", "9000"]


def test_a_figure_of_too_many_series_shows_the_first_ones_and_says_so() -> None:
    study = replace(pretend.STUDY, factors={"size": tuple(range(7))}, short={})
    points = (Point("made-up", (("size", size),)) for size in range(7))
    ours = table_of(study, {it: [Measured("gap_ms", 1.0 + n, number=n) for n in range(2)] for it in points})
    files = overview("made-up", ours, {}, Claims((), {}))
    assert "made-up-values-gap-ms.svg" in files
    assert "The first 6 of 7 combinations." in files["made-up-values.md"]
