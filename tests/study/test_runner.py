"""Carrying out a study: resumed, killed, damaged, changed, failing; without labs."""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from linklab.errors import LabError, LinklabError, MeasurementError
from linklab.lab_group import Labs
from linklab.network import TWO_HOSTS
from linklab.study import Measured, Metric, Point, Study, StudyProgress, run, runner, study_by_name
from linklab.study.runner import how_many

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


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_resumed_run_equals_one_without_a_break_and_repeats_nothing(tmp_path: Path, jobs: int) -> None:
    whole = run(STUDY, tmp_path / "whole", jobs=1)
    CALLS.clear()
    for points in (3, 7):
        HOLD_AT.clear()
        HOLD_AT.add(points + 3)  # however fast they are, points are left when the run is interrupted
        with pytest.raises(KeyboardInterrupt):
            run(STUDY, tmp_path / "broken", jobs=jobs, on_progress=stop_after(points))
        assert 3 * points <= len(text(tmp_path / "broken").splitlines()) - 1 < len(whole)
    HOLD_AT.clear()
    assert run(STUDY, tmp_path / "broken", jobs=jobs).csv == whole.csv
    assert sorted(map(str, CALLS)) == sorted(map(str, STUDY.points()))
    assert text(tmp_path / "broken") == text(tmp_path / "whole")
    assert text(tmp_path / "broken", "made-up.json") == text(tmp_path / "whole", "made-up.json")


def test_what_is_measured_later_changes_the_date(tmp_path: Path) -> None:
    run(STUDY, tmp_path, only={"size": [1]})
    about = tmp_path / "made-up.run.json"
    about.write_text(about.read_text().replace('"date": "20', '"date": "19'))
    run(STUDY, tmp_path)
    assert '"date": "20' in about.read_text()
    about.unlink()
    run(STUDY, tmp_path)
    assert '"date": "20' in about.read_text()


def test_a_finished_study_starts_no_lab(tmp_path: Path) -> None:
    run(STUDY, tmp_path)
    STARTED.clear()
    said: list[StudyProgress] = []
    about = tmp_path / "made-up.run.json"
    about.write_text(about.read_text().replace('"date": "20', '"date": "19'))
    before = about.read_text()
    assert len(run(STUDY, tmp_path, on_progress=said.append)) == 36
    assert about.read_text() == before  # it was measured then, and not now
    assert STARTED == []
    assert said == [StudyProgress(12, 12, 0)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text(""),
        lambda path: path.write_text(path.read_text()[: path.stat().st_size // 2]),
        lambda path: path.write_text(path.read_text().replace('"value": 0.3333', '"value": 0.4333')),
        lambda path: path.write_bytes(b"\xff\xfe"),
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


def test_what_a_killed_program_left_half_written_is_swept_away(tmp_path: Path) -> None:
    run(STUDY, tmp_path, only={"size": [1]})
    left = tmp_path / "points" / "size=2-kind=a.0.1.json.unfinished"
    left.write_text('{"digest": "')
    assert len(run(STUDY, tmp_path)) == 36
    assert not left.exists()


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


def test_a_changed_measurement_is_noticed_and_a_comment_is_none(tmp_path: Path) -> None:
    source = Path(__file__).with_name("pretend.py").read_text()

    def study(text: str) -> Study:
        path = tmp_path / "made_module.py"
        path.write_text(text)
        importlib.invalidate_caches()
        found: Any = _load(path)
        return replace(STUDY, measurement=found.measure)

    run(study(source), tmp_path / "results")
    assert len(run(study(source + "\n# a remark\n"), tmp_path / "results")) == 36
    assert len(run(study(source.replace("Numbers that follow", "Those that come")), tmp_path / "results")) == 36
    with pytest.raises(MeasurementError, match="are older than its measurement: measure all again"):
        run(study(source.replace("size / 3", "size / 4")), tmp_path / "results")


def test_another_linklab_makes_points_older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(STUDY, tmp_path)
    monkeypatch.setattr(runner, "linklab_digest", lambda: b"another")
    with pytest.raises(MeasurementError, match="older than its code: measure all again") as caught:
        run(STUDY, tmp_path)
    assert "\n" not in str(caught.value)


def test_what_a_measurement_imports_is_part_of_what_made_a_point(tmp_path: Path) -> None:
    helper, file = tmp_path / "halving.py", tmp_path / "mine.py"
    helper.write_text("def half(it):\n    return it / 2\n")
    file.write_text(
        "from halving import half\n"
        "from linklab.study import Measured, Metric, Study\n"
        "def measure(lab, point):\n    return [Measured('rate_mbps', half(point['size']))]\n"
        "MINE = Study('mine', 'Mine', 'two-hosts', {'size': (1,)}, measure, [Metric('rate_mbps', 'Mbit/s', 'rate')])\n"
    )
    study = study_by_name(f"{file}:MINE")
    run(study, tmp_path / "results")
    helper.write_text("def half(it):\n    return it / 3\n")
    with pytest.raises(MeasurementError, match="older than its code"):
        run(study, tmp_path / "results")


def test_another_image_makes_points_older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(STUDY, tmp_path)
    image = SimpleNamespace(about=SimpleNamespace(key="another"))
    monkeypatch.setattr(runner, "choose", lambda: SimpleNamespace(image=image))
    with pytest.raises(MeasurementError, match="older than its image: measure all again"):
        run(STUDY, tmp_path)
    run(STUDY, tmp_path, again=True)
    assert json.loads(text(tmp_path, "made-up.json"))["made_by"]["image"] == "another"


def _load(path: Path) -> ModuleType:
    import linecache

    linecache.clearcache()
    spec = importlib.util.spec_from_file_location("made_module", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["made_module"] = module
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module


def test_two_runs_at_once_in_one_folder_are_refused(tmp_path: Path) -> None:
    def second(progress: StudyProgress) -> None:
        with pytest.raises(LabError, match=r"another run writes to .*: wait for its end"):
            run(STUDY, tmp_path)

    run(STUDY, tmp_path, only={"size": [1]}, on_progress=second)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"jobs": 0}, "jobs is 0: choose a whole number above 0"),
        ({"jobs": -1}, "jobs is -1"),
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


def test_as_many_jobs_as_there_are_points() -> None:
    assert how_many(None, 1) == 1
    assert how_many(4, 3) <= 3


def test_a_table_names_what_it_lacks(tmp_path: Path) -> None:
    table = run(STUDY, tmp_path, only={"size": [1]})
    assert list(table.frame.columns)[:3] == ["size", "kind", "repeat"]


def test_a_mistake_in_a_measurement_is_said_and_the_others_go_on(tmp_path: Path) -> None:
    table = run(replace(STUDY, measurement=wrong_at_two), tmp_path)
    assert {it.reason for it in table.missing} == {"ZeroDivisionError: division by zero"}
    assert [it.point["size"] for it in table.missing] == [2] * 4
    assert len(table) == 8


def test_a_measurement_that_would_end_the_program_costs_its_point_alone(tmp_path: Path) -> None:
    table = run(replace(STUDY, measurement=ends_at_two), tmp_path)
    assert {it.reason for it in table.missing} == {"SystemExit: 3"}
    assert len(table) == 8


def ends_at_two(lab: Any, point: Point) -> list[Measured]:
    if point["size"] == 2:
        sys.exit(3)
    return [Measured("rate_mbps", 1)]


def test_a_mistake_in_the_testbed_is_said_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="size=3 kind=a: its testbed failed: KeyError: 3"):
        run(replace(STUDY, testbed=lambda point: {1: TWO_HOSTS, 2: TWO_HOSTS}[point.whole("size")]), tmp_path)
    assert STARTED == []


def wrong_at_two(lab: Any, point: Point) -> list[Measured]:
    return [Measured("rate_mbps", 1 / (point.whole("size") - 2))]


def test_rows_that_are_none_are_a_failure_of_their_point(tmp_path: Path) -> None:
    table = run(replace(STUDY, measurement=nothing), tmp_path, only={"size": [1], "kind": ["a"]})
    assert len(table) == 0
    assert {it.reason.partition(":")[0] for it in table.missing} == {"the measurement gave no row at all"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_where_the_first_points_fail_alike_the_others_are_not_tried(tmp_path: Path, jobs: int) -> None:
    told: list[StudyProgress] = []
    says = r"^the first 3 points all failed alike \(the queue at 0x[0-9a-f]+ was full\), so .* \(--only FACTOR=LEVEL\)$"
    with pytest.raises(MeasurementError, match=says):
        run(replace(STUDY, measurement=fails_far_apart), tmp_path, jobs=jobs, on_progress=told.append)
    assert {str(point) for it in told if (point := it.point) is not None} == FAR_APART
    assert len(STARTED) <= 3 + jobs
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


def nothing(lab: Any, point: Point) -> list[Measured]:
    return []


def test_a_measurement_without_a_source_is_refused(tmp_path: Path) -> None:
    place: dict[str, Any] = {"__name__": "__main__"}
    exec("def typed_in(lab, point):\n    return []\n", place)
    with pytest.raises(MeasurementError, match="the source of typed_in cannot be read"):
        run(replace(STUDY, measurement=place["typed_in"]), tmp_path / "results")
    assert not (tmp_path / "results").exists()
