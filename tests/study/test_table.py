"""A study's table: one lookup, which refuses what is missing or ambiguous; written and read back with any levels."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.study import Measured, Metric, run
from linklab.study.table import StudyTable, Values, read_table

from . import pretend, tables

METRICS = (*pretend.METRICS, Metric("share_mbps", "Mbit/s", "a share"))


@pytest.fixture
def measured() -> StudyTable:
    """Two sizes of kind a, two repeats, which differ in size 2."""
    return tables.table(
        pretend.STUDY,
        [
            (
                {"size": size, "kind": "a"},
                repeat,
                [
                    Measured("rate_mbps", 10 * size + (repeat if size == 2 else 0)),
                    Measured("rate_mbps", size / 3, of="h1"),
                    *(Measured("gap_ms", number + repeat / 2, number=number) for number in (2, 10)),
                ],
            )
            for size in (1, 2)
            for repeat in (1, 2)
        ],
    )


def test_a_lookup_gives_a_value_for_each_repeat(measured: StudyTable) -> None:
    found = measured.lookup("rate_mbps", size=2)
    assert (found.values, found.mean, found.low, found.high, found.count) == ((21, 22), 21.5, 21, 22, 2)
    assert measured.lookup("rate_mbps", size=2, repeat=2).values == (22,)
    assert measured.lookup("rate_mbps", of="h1", size=1, kind="a").same == 1 / 3
    assert measured.lookup("gap_ms", number=10, size=1).values == (10.5, 11)


def test_repeats_that_agree_are_one_value_and_others_are_refused(measured: StudyTable) -> None:
    assert measured.lookup("rate_mbps", size=1).same == 10
    with pytest.raises(MeasurementError, match="rate_mbps at size=2: repeats differ, 21 to 22"):
        _ = measured.lookup("rate_mbps", size=2).same
    assert Values((0.1 + 0.2, 0.3)).same == pytest.approx(0.3)


@pytest.mark.parametrize("level", ["2", 2, 2.0, "2.0"])
def test_levels_are_compared_by_value(measured: StudyTable, level: Any) -> None:
    assert measured.lookup("rate_mbps", size=level).low == 21


def test_a_factor_that_is_not_named_must_have_one_level(measured: StudyTable) -> None:
    with pytest.raises(MeasurementError, match=r"^rate_mbps at kind=a: say which size: 1, 2$"):
        measured.lookup("rate_mbps", kind="a")
    with pytest.raises(MeasurementError, match="say which size: 1, 2"):
        measured.series("gap_ms")


@pytest.mark.parametrize(
    ("metric", "levels"),
    [
        ("rate_mbps", {"size": 3}),
        ("rate_mbps", {"size": 1, "number": 2}),
        ("gap_ms", {"size": 1}),
        ("speed", {"size": 1}),
    ],
)
def test_what_is_not_there_is_said_with_the_command_that_measures_it(
    measured: StudyTable, metric: str, levels: dict[str, Any]
) -> None:
    with pytest.raises(MeasurementError, match=f"has no {metric}.*: linklab study run made-up$"):
        measured.lookup(metric, **levels)


def test_a_series_has_mean_low_and_high_over_repeats(measured: StudyTable) -> None:
    found = measured.series("gap_ms", size=1)
    assert found.to_dict("list") == {"number": [2, 10], "mean": [2.75, 10.75], "low": [2.5, 10.5], "high": [3, 11]}


def test_a_selection_is_a_table(measured: StudyTable) -> None:
    assert measured.select(size="2").lookup("rate_mbps").mean == 21.5
    assert len(measured.select(size=(1, 2), repeat=1)) == len(measured) / 2
    assert measured.levels("size") == (1, 2)


@pytest.mark.parametrize("form", ["folder", "folder of the study", "compressed"])
def test_a_table_is_read_back_as_it_was_with_levels_of_ones_own(pretended: None, tmp_path: Path, form: str) -> None:
    study = pretend.STUDY.with_levels(size=(9018, 0.5), kind=("b", "own: 'x', \"y\""))
    table = run(study, tmp_path / study.name if form == "folder of the study" else tmp_path)
    if form == "compressed":
        (tmp_path / "made-up.csv.xz").write_bytes(lzma.compress(table.csv.encode()))
        (tmp_path / "made-up.csv").unlink()
    again = read_table(pretend.STUDY, tmp_path)  # which has not these levels
    assert again.csv == table.csv
    assert again.digest == table.digest
    assert again.about == table.about
    assert again.lookup("rate_mbps", size=9018, kind="b").same == 3006
    assert {type(level) for level in again.levels("size")} == {int, float}


def compressed(path: Path, change: Callable[[bytes], bytes]) -> None:
    """The table compressed, and changed."""
    path.with_name(path.name + ".xz").write_bytes(change(lzma.compress(path.read_bytes())))
    path.unlink()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda path: path.unlink(), "has no table made-up.csv: linklab study run made-up"),
        (lambda path: path.write_text("a,b\n1,2\n"), "has not the columns of study"),
        (lambda path: path.write_text(path.read_text() + "1,2,3,4,5,6,7,8,9,10\n"), "is damaged"),
        (lambda path: path.write_text(path.read_text().replace("0.3333333333333333,M", "nan,M")), "no finite number"),
        (lambda path: path.write_text(path.read_text().replace("1,a,1,", f"1,a,{10**20},")), "is damaged"),
        (lambda path: compressed(path, lambda whole: whole[: len(whole) // 2]), "is damaged"),
        (lambda path: path.with_suffix(".json").write_text("{"), "is damaged"),
    ],
)
def test_a_table_that_cannot_be_used_is_one_line(pretended: None, tmp_path: Path, change: Any, says: str) -> None:
    run(pretend.STUDY, tmp_path)
    change(tmp_path / f"{pretend.STUDY.name}.csv")
    with pytest.raises(MeasurementError, match=says) as caught:
        read_table(pretend.STUDY, tmp_path)
    assert "\n" not in str(caught.value)
