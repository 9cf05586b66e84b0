"""Carrying out a study: resumed, killed, damaged, changed, failing; without labs."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from linklab.errors import LabError, LinklabError, MeasurementError
from linklab.lab_group import Labs
from linklab.network import TWO_HOSTS
from linklab.study import Measured, Metric, Point, Study, StudyProgress, run, runner, study_by_name

from .pretend import CALLS, FAIL_AT, HOLD_AT, METRICS, STARTED, STUDY

pytestmark = pytest.mark.usefixtures("pretended")


def text(folder: Path, name: str = "made-up.csv") -> bytes:
    return (folder / name).read_bytes()


def stop_after(points: int) -> Callable[[StudyProgress], None]:
    def watch(progress: StudyProgress) -> None:
        if progress.point is not None and progress.done >= points:
            raise KeyboardInterrupt

    return watch


def test_the_table_is_tidy_and_the_file_says_the_same(tmp_path: Path) -> None:
    table = run(STUDY, tmp_path, jobs=2)
    assert len(table) == 12 * 3
    levels = {"size": 1, "kind": "a", "repeat": 1}
    assert list(table)[1] == {**levels, "of": "h1-h2", "number": 0, "metric": "gap_ms", "value": 1 / 7, "unit": "ms"}
    with table.files[0].open() as file:
        rows = list(csv.DictReader(file))
    assert [{name: "" if it is None else str(it) for name, it in row.items()} for row in table] == rows
    assert [float(row["value"]) for row in rows] == [row["value"] for row in table]
    assert table.lookup("rate_mbps", size=2, kind="b").values == (2 / 3, 2 / 3)


def test_what_is_the_same_in_every_run_stands_apart_from_what_is_not(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        run(STUDY, tmp_path / folder, jobs=1 if folder == "one" else 2)
    for name in ("made-up.csv", "made-up.json"):
        assert text(tmp_path / "one", name) == text(tmp_path / "two", name)
    about = json.loads(text(tmp_path / "one", "made-up.json"))
    assert about["metrics"]["gap_ms"] == {"unit": "ms", "meaning": "a gap"}
    assert about["labs"] == [{"kind": "pretend", "kernel": "7.3", "seed": seed} for seed in "12"]
    assert about["networks"][0]["read_back"]["nodes"][0]["name"] == "h1"
    assert len(about["networks"][0]["of"]) == 6
    assert set(json.loads(text(tmp_path / "one", "made-up.run.json"))) >= {"date", "wall_s", "machine", "missing"}


def test_a_resumed_run_equals_one_without_a_break_and_repeats_nothing(tmp_path: Path) -> None:
    whole = run(STUDY, tmp_path / "whole", jobs=1)
    CALLS.clear()
    for points in (3, 7):
        HOLD_AT.clear()
        HOLD_AT.add(points + 3)  # however fast they are, points are left when the run is interrupted
        with pytest.raises(KeyboardInterrupt):
            run(STUDY, tmp_path / "broken", jobs=3, on_progress=stop_after(points))
        assert 3 * points <= len(text(tmp_path / "broken").splitlines()) - 1 < len(whole)
    HOLD_AT.clear()
    assert run(STUDY, tmp_path / "broken", jobs=3).csv == whole.csv
    assert sorted(map(str, CALLS)) == sorted(map(str, STUDY.points()))
    assert text(tmp_path / "broken") == text(tmp_path / "whole")
    assert text(tmp_path / "broken", "made-up.json") == text(tmp_path / "whole", "made-up.json")


def test_a_finished_study_starts_no_lab_and_keeps_its_date(tmp_path: Path) -> None:
    run(STUDY, tmp_path, only={"size": [1]})
    about = tmp_path / "made-up.run.json"
    for date in ("20", "19"):  # something is measured now, and nothing is
        about.write_text(about.read_text().replace('"date": "20', '"date": "19'))
        STARTED.clear()
        said: list[StudyProgress] = []
        assert len(run(STUDY, tmp_path, on_progress=said.append)) == 36
        assert f'"date": "{date}' in about.read_text()
    assert STARTED == []
    assert said == [StudyProgress(12, 12, 0)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text(path.read_text()[: path.stat().st_size // 2]),
        lambda path: path.write_text(path.read_text().replace('"value": 0.3333', '"value": 0.4333')),
        lambda path: path.write_text("[]"),
    ],
)
def test_a_damaged_file_is_measured_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    whole = run(STUDY, tmp_path)
    before = text(tmp_path)
    file = min((tmp_path / "points").glob("size=1*.json"))
    damage(file)
    CALLS.clear()
    said: list[StudyProgress] = []
    assert run(STUDY, tmp_path, on_progress=said.append).csv == whole.csv
    assert len(CALLS) == 1
    assert said[0].damaged == 1
    assert text(tmp_path) == before


def test_a_failed_point_is_said_and_tried_again(tmp_path: Path) -> None:
    FAIL_AT.update({(2, 1), (3, 2)})
    said: list[StudyProgress] = []
    table = run(STUDY, tmp_path, jobs=2, on_progress=said.append)
    assert [(str(it.point), it.reason) for it in table.missing] == [
        ("size=2 kind=a, repeat 1", "the queue was full: make it longer"),
        ("size=2 kind=b, repeat 1", "the queue was full: make it longer"),
        ("size=3 kind=a, repeat 2", "the queue was full: make it longer"),
        ("size=3 kind=b, repeat 2", "the queue was full: make it longer"),
    ]
    assert len(table) == 8 * 3
    assert (said[-1].done, said[-1].failed) == (12, 4)
    assert len(json.loads(text(tmp_path, "made-up.run.json"))["missing"]) == 4
    FAIL_AT.clear()
    CALLS.clear()
    assert run(STUDY, tmp_path).csv == run(STUDY, tmp_path / "whole").csv
    assert len(CALLS) == 4 + 12
    assert text(tmp_path) == text(tmp_path / "whole")


def test_a_study_may_grow(tmp_path: Path) -> None:
    run(STUDY, tmp_path)
    CALLS.clear()
    table = run(replace(STUDY.with_levels(size=(1, 2, 3, 4)), repeats=3), tmp_path)
    assert len(CALLS) == 24 - 12
    assert len(table) == 24 * 3


def test_a_selection_keeps_what_others_measured(tmp_path: Path) -> None:
    assert len(run(STUDY, tmp_path, only={"kind": ["a"]})) == 18
    assert len(run(STUDY, tmp_path, only={"kind": ["b"], "size": [1]})) == 18 + 6
    assert len(CALLS) == 8


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (replace(STUDY, metrics=(METRICS[0], Metric("gap_ms", "s", "a gap"))), "metrics"),
        (replace(STUDY, testbed="course"), "testbed"),
    ],
)
def test_a_changed_study_is_noticed_in_one_line(tmp_path: Path, changed: Study, what: str) -> None:
    run(STUDY, tmp_path)
    CALLS.clear()
    with pytest.raises(
        MeasurementError, match=f"points of study made-up in .* are older than its {what}: .*--again"
    ) as caught:
        run(changed, tmp_path)
    assert "\n" not in str(caught.value)
    assert CALLS == []
    assert len(run(changed, tmp_path, again=True)) == 36
    assert len(run(changed, tmp_path)) == 36


OF_ONES_OWN = """
from halving import half
from linklab.study import Measured, Metric, Study

def measure(lab, point):
    return [Measured("rate_mbps", half(point["size"]))]

MINE = Study("mine", "Mine", "two-hosts", {"size": (1,)}, measure, [Metric("rate_mbps", "Mbit/s", "a rate")])
"""


def test_a_changed_measurement_is_noticed_with_what_it_imports_and_a_comment_is_none(tmp_path: Path) -> None:
    helper = tmp_path / "halving.py"
    helper.write_text("def half(it):\n    return it / 2\n")
    sys.modules.pop("halving", None)

    def run_as(name: str, text: str) -> None:
        (tmp_path / name).write_text(text)
        assert len(run(study_by_name(f"{tmp_path / name}:MINE"), tmp_path / "results")) == 1

    run_as("mine.py", OF_ONES_OWN)
    run_as("remarked.py", OF_ONES_OWN.replace("point):", 'point):\n    """Measure."""  # a remark'))
    with pytest.raises(MeasurementError, match="are older than its measurement: measure all again"):
        run_as("changed.py", OF_ONES_OWN.replace("half(", "2 * half("))
    helper.write_text("def half(it):\n    return it / 3\n")
    with pytest.raises(MeasurementError, match="older than its code"):
        run_as("mine.py", OF_ONES_OWN)


@pytest.mark.parametrize(
    ("name", "another", "what"),
    [
        ("linklab_digest", b"another", "code"),
        ("choose", SimpleNamespace(image=SimpleNamespace(about=SimpleNamespace(key="another"))), "image"),
    ],
)
def test_another_linklab_or_image_makes_points_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, another: Any, what: str
) -> None:
    run(STUDY, tmp_path)
    monkeypatch.setattr(runner, name, lambda: another)
    with pytest.raises(MeasurementError, match=f"older than its {what}: measure all again"):
        run(STUDY, tmp_path)
    run(STUDY, tmp_path, again=True)
    made_by = json.loads(text(tmp_path, "made-up.json"))["made_by"]
    assert (made_by["image"] == "another") == (what == "image")


def test_two_runs_at_once_in_one_folder_are_refused(tmp_path: Path) -> None:
    def second(progress: StudyProgress) -> None:
        with pytest.raises(LabError, match=r"another run writes to .*: wait for its end"):
            run(STUDY, tmp_path)

    run(STUDY, tmp_path, only={"size": [1]}, on_progress=second)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"jobs": 0}, "jobs is 0: choose a whole number above 0"),
        ({"jobs": True}, "jobs is True"),
        ({"jobs": 10000}, "10000 labs at once are too many"),
        ({"only": {"size": ["9"]}}, "no size=9"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_measured(
    tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(LinklabError, match=says):
        run(STUDY, tmp_path / "results", **options)
    assert STARTED == []
    assert not (tmp_path / "results").exists()


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match=r"file cannot be written to: .*; say another folder \(--output\)"):
        run(STUDY, tmp_path / "file")
    with pytest.raises(LabError, match="cannot be written to"):
        run(STUDY, "/proc/linklab")
    assert STARTED == []


def test_a_study_without_a_testbed_measures_this_machine_a_point_after_the_other(tmp_path: Path) -> None:
    study = replace(STUDY, testbed=None, measurement=of_this_machine)
    several: tuple[dict[str, Any], ...] = ({"jobs": 2}, {"cluster": SimpleNamespace(threads=2)})
    for options in several:
        with pytest.raises(LabError, match="measures this machine, a point after the other: leave --jobs and --dask"):
            run(study, tmp_path, **options)
    table = run(study, tmp_path)
    assert table.missing == ()
    assert len(STARTED) == 12
    assert {values.same for values in table.each("rate_mbps", "size", "kind").values()} == {0}


def of_this_machine(labs: Labs, point: Point) -> list[Measured]:
    """How many labs of others run meanwhile."""
    beside = sum(lab.running for lab in STARTED)
    with labs.lab(TWO_HOSTS):
        return [Measured("rate_mbps", beside)]


def wrong_at_two(lab: Any, point: Point) -> list[Measured]:
    return [Measured("rate_mbps", 1 / (point.whole("size") - 2))]


def ends_at_two(lab: Any, point: Point) -> list[Measured]:
    return [Measured("rate_mbps", 1)] if point["size"] != 2 else sys.exit(3)


def nothing_at_two(lab: Any, point: Point) -> list[Measured]:
    return [Measured("rate_mbps", 1)] if point["size"] != 2 else []


@pytest.mark.parametrize(
    ("measurement", "reason"),
    [
        (wrong_at_two, "ZeroDivisionError"),
        (ends_at_two, "SystemExit"),
        (nothing_at_two, "the measurement gave no row at all"),
    ],
)
def test_a_mistake_in_a_measurement_costs_its_points_alone(tmp_path: Path, measurement: Any, reason: str) -> None:
    table = run(replace(STUDY, measurement=measurement), tmp_path)
    assert {it.reason.partition(":")[0] for it in table.missing} == {reason}
    assert [it.point["size"] for it in table.missing] == [2] * 4
    assert len(table) == 8


def test_a_mistake_in_the_testbed_is_said_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="size=3 kind=a: its testbed failed: KeyError: 3"):
        run(replace(STUDY, testbed=lambda point: {1: TWO_HOSTS, 2: TWO_HOSTS}[point.whole("size")]), tmp_path)
    assert STARTED == []


def test_where_the_first_points_fail_alike_the_others_are_not_tried(tmp_path: Path) -> None:
    told: list[StudyProgress] = []
    says = r"^the first 3 points all failed alike \(the queue at 0x[0-9a-f]+ was full\), so .* \(--only FACTOR=LEVEL\)$"
    with pytest.raises(MeasurementError, match=says):
        run(replace(STUDY, measurement=fails_far_apart), tmp_path, jobs=2, on_progress=told.append)
    assert {str(point) for it in told if (point := it.point) is not None} == FAR_APART
    assert len(STARTED) <= 3 + 2
    assert len(json.loads(text(tmp_path, "made-up.run.json"))["missing"]) == 12


FAR_APART = {"size=1 kind=a, repeat 1", "size=2 kind=a, repeat 2", "size=3 kind=b, repeat 2"}


def fails_far_apart(lab: Any, point: Point) -> list[Measured]:
    """Others that were begun meanwhile do not end before the run does."""
    while str(point) not in FAR_APART:
        lab.state()
        time.sleep(0.001)
    raise MeasurementError(f"the queue\nat {id(point):#x} was full")


def test_a_level_at_which_nothing_can_be_measured_does_not_keep_the_others_from_it(tmp_path: Path) -> None:
    FAIL_AT.update({(1, 1), (1, 2)})
    table = run(STUDY, tmp_path)
    assert len(table.missing) == 4
    assert len(table) == 8 * 3
    assert len(run(STUDY, tmp_path).missing) == 4, "what was measured before says that not all fails"


def test_a_measurement_without_a_source_is_refused(tmp_path: Path) -> None:
    place: dict[str, Any] = {"__name__": "__main__"}
    exec("def typed_in(lab, point):\n    return []\n", place)
    with pytest.raises(MeasurementError, match="the source of typed_in cannot be read"):
        run(replace(STUDY, measurement=place["typed_in"]), tmp_path / "results")
    assert not (tmp_path / "results").exists()
