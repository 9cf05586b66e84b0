"""Gradescope's results as its container would use them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from linklab.cli import main
from linklab.lms.marks import NBGRADER_COLUMNS
from tests.lms.a_class import a_class, a_student, write

VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """The class, some known by e-mail and some by name."""
    return write(
        tmp_path / "graded", *a_class("@uni.example"), a_student("Kim Lee", 2.5), a_student("Zoë Ångström", 7.0)
    )


def _container(
    folder: Path, archive: Path, users: Sequence[Mapping[str, Any]], **more: Any
) -> subprocess.CompletedProcess[str]:
    """Lays out /autograder as Gradescope's specification says, and runs it there."""
    for part in ("source", "results", "submission"):
        (folder / part).mkdir(parents=True)
    with zipfile.ZipFile(archive) as packed:
        assert {"setup.sh", "run_autograder"} <= set(packed.namelist()), "at its root"
        assert all(info.external_attr >> 16 & 0o111 for info in packed.infolist())
        packed.extractall(folder / "source")
    metadata = {
        "id": 1,
        "users": [{"id": number, **user} for number, user in enumerate(users)],
        "previous_submissions": [],
        **more,
    }
    (folder / "submission_metadata.json").write_text(json.dumps(metadata))
    script = folder / "run_autograder"
    script.write_bytes((folder / "source" / "run_autograder").read_bytes())
    return subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=60)


def _held_to_the_specification(results: dict[str, Any]) -> None:
    known = {
        "score",
        "execution_time",
        "output",
        "visibility",
        "stdout_visibility",
        "extra_data",
        "tests",
        "leaderboard",
    }
    assert set(results) <= known
    assert isinstance(results["score"], int | float)
    assert isinstance(results.get("execution_time", 0), int)
    assert {results[key] for key in ("visibility", "stdout_visibility") if key in results} <= VISIBILITIES
    for test in results["tests"]:
        assert set(test) <= {"score", "max_score", "status", "name", "output", "visibility"}
        assert 0 <= test["score"] <= test["max_score"]
        assert test["visibility"] in VISIBILITIES
        assert test.get("status", "passed") in ("passed", "failed")


@pytest.mark.parametrize(
    ("users", "score"),
    [
        ([{"email": "Juergen@uni.example", "name": "Jürgen Müller"}], 7.5),
        ([{"email": "x@other.example", "name": "Zoe\u0308 A\u030angstro\u0308m"}], 7.0),
        ([{"email": "bob@uni.example", "name": "="}, {"email": "new@uni.example", "name": ""}], 0.0),
    ],
)
def test_gradescope_gets_the_results_that_were_judged(
    users: list[dict[str, str]], score: float, graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(graded), "--for", "gradescope", "--output", str(tmp_path / "out"), "--labs", "03"]) == 0
    assert "03-udp-bandwidth.zip: upload it as the autograder" in capsys.readouterr().out
    ran = _container(tmp_path / "autograder", tmp_path / "out" / "03-udp-bandwidth.zip", users)
    assert ran.returncode == 0, ran.stderr
    results = json.loads((tmp_path / "autograder" / "results" / "results.json").read_text("utf-8"))
    _held_to_the_specification(results)
    assert results["score"] == score
    assert results["execution_time"] == 12
    assert sum(test["score"] for test in results["tests"]) == score
    (test,) = results["tests"]
    assert (test["name"], test["max_score"]) == ("Lab 03, the rate", 10)
    words = {7.5: "7.5 of 10 points", 7.0: "7 of 10 points", 0.0: "it is 1 Mbit/s"}
    assert (test["status"], test["output"]) == ("failed", words[score])


ADA = {"email": "ada@uni.example", "name": "Ada"}
EXTENDED = ADA | {"assignment": {"due_date": "2026-11-05T00:00:00.000000-07:00"}}
HANDED_IN = "2026-11-03T10:38:00.123456-07:00"


@pytest.fixture
def in_utc() -> Iterator[None]:
    """This process reads times as in Greenwich."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_utc")
@pytest.mark.parametrize(
    ("late", "users", "due", "score"),
    [
        (["due", "10"], [ADA], "2026-11-03T23:00:00.000000-07:00", 10.0),
        (["due", "10"], [ADA], "2026-11-03T10:38:00.000000-07:00", 9.0),
        (["due", "10"], [ADA], "2026-11-02T10:38:00.000000-07:00", 8.0),
        (["due", "60"], [ADA], "2026-11-01T10:38:00.000000-07:00", 0.0),
        (["due", "10"], [EXTENDED], "2026-11-02T10:38:00.000000-07:00", 10.0),
        (["2026-11-09 12:00", "10"], [ADA], "2026-11-02T10:38:00.000000-07:00", 10.0),
        (["2026-11-01 12:00", "10"], [ADA], None, 7.0),
    ],
)  # fmt: skip
def test_gradescope_takes_off_for_late_work_by_its_own_times(
    late: list[str], users: list[dict[str, Any]], due: str | None, score: float, graded: Path, tmp_path: Path
) -> None:
    words = ["--for", "gradescope", "--output", str(tmp_path / "out"), "--labs", "03", "--late", *late]
    assert main(["export", str(graded), *words]) == 0
    archive = tmp_path / "out" / "03-udp-bandwidth.zip"
    ran = _container(tmp_path / "it", archive, users, created_at=HANDED_IN, assignment={"due_date": due})
    assert ran.returncode == 0, ran.stderr
    results = json.loads((tmp_path / "it" / "results" / "results.json").read_text("utf-8"))
    _held_to_the_specification(results)
    assert results["score"] == score
    assert results["output"].startswith("Handed in late") == (score < 10)


def test_gradescope_gives_no_score_by_a_due_date_that_it_has_not(graded: Path, tmp_path: Path) -> None:
    words = ["--for", "gradescope", "--output", str(tmp_path / "out"), "--labs", "03", "--late", "due", "10"]
    assert main(["export", str(graded), *words]) == 0
    archive = tmp_path / "out" / "03-udp-bandwidth.zip"
    ran = _container(tmp_path / "it", archive, [ADA], created_at=HANDED_IN, assignment={"due_date": None})
    assert "set it, or export with a deadline" in ran.stderr


@pytest.mark.parametrize(
    ("users", "said"),
    [
        ([{"email": "nobody@uni.example", "name": "Nobody"}], "no results are those of ['nobody@uni.example']"),
        ([{"email": "cyd@uni.example", "name": "Cyd"}], "no results"),
        ([{"email": "mallory@uni.example", "name": "ada@uni.example"}], "no results"),
        ([{"email": "kim lee", "name": "K"}], "no results"),
        ([{"email": "nobody@uni.example"}, {"name": None}], "no results"),
        (
            [{"email": "ada@uni.example", "name": "A"}, {"email": "eve@uni.example", "name": "E"}],
            "2 results are those of",
        ),
    ],
)
def test_gradescope_gets_no_score_of_somebody_else(
    users: list[dict[str, str]], said: str, graded: Path, tmp_path: Path
) -> None:
    assert main(["export", str(graded), "--for", "gradescope", "--output", str(tmp_path / "out"), "--labs", "03"]) == 0
    ran = _container(tmp_path / "autograder", tmp_path / "out" / "03-udp-bandwidth.zip", users)
    assert ran.returncode != 0
    assert said in ran.stderr
    assert not (tmp_path / "autograder" / "results" / "results.json").exists(), "Gradescope then says that it failed"


def test_gradescope_finds_nobody_by_a_name_that_two_have(tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    rows = (
        f"03-a,,,{login},Lee,Kim,{login}@uni.example,{points},0.0,{points},10.0"
        for login, points in (("k1", 4.0), ("k2", 5.0))
    )
    file.write_text("\n".join((",".join(NBGRADER_COLUMNS), *rows)) + "\n")
    assert main(["export", str(file), "--for", "gradescope", "--output", str(tmp_path / "out")]) == 0
    archive = tmp_path / "out" / "03-a.zip"
    by_name = _container(tmp_path / "1", archive, [{"email": "kim@other.example", "name": "Kim Lee"}])
    assert "no results" in by_name.stderr, "nor by one that one of the graded has, who has another address"
    assert _container(tmp_path / "2", archive, [{"email": "k2@uni.example", "name": "Kim Lee"}]).returncode == 0
    assert json.loads((tmp_path / "2" / "results" / "results.json").read_text())["score"] == 5


@pytest.mark.parametrize("handed_in", [True, False])
def test_gradescope_finds_nobody_by_a_name_that_somebody_with_an_address_has(handed_in: bool, tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    time, points = ("2026-11-01", 4.0) if handed_in else ("", 0.0)
    with_address = f"03-a,,{time},k1,Lee,Kim,k1@uni.example,{points},0.0,{points},10.0"
    without = "03-a,,2026-11-01,k2,Lee,Kim,,3.0,0.0,3.0,10.0"
    file.write_text("\n".join((",".join(NBGRADER_COLUMNS), with_address, without)) + "\n")
    assert main(["export", str(file), "--for", "gradescope", "--output", str(tmp_path / "out")]) == 0
    with zipfile.ZipFile(tmp_path / "out" / "03-a.zip") as packed:
        index = json.loads(packed.read("students.json"))
    assert ("k1@uni.example" in index["by address"]) == handed_in
    assert index["by name"] == {}


def test_gradescope_waits_for_open_points_and_is_told_of_them(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(graded), "--for", "gradescope", "--output", str(tmp_path / "out")]
    assert main(words) == 1
    assert "not written, bob@uni.example, 04-tcp: 2 points are still open" in capsys.readouterr().err
    with zipfile.ZipFile(tmp_path / "out" / "04-tcp.zip") as packed:
        assert "bob@uni.example" not in json.loads(packed.read("students.json"))["by address"]
    assert main([*words, "--provisional"]) == 0
    first = (tmp_path / "out" / "04-tcp.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(first)) as packed:
        file = json.loads(packed.read("students.json"))["by address"]["bob@uni.example"]
        results = json.loads(packed.read(f"results/{file}"))
    _held_to_the_specification(results)
    assert results["output"] == "2 of 20 points are still open."
    assert [(test.get("status"), test["output"]) for test in results["tests"]] == [
        ("failed", "15 of 18 points"), (None, "waits for your instructor"),
    ]  # fmt: skip
    assert main([*words, "--provisional"]) == 0
    assert (tmp_path / "out" / "04-tcp.zip").read_bytes() == first, "the same each time"
