"""Late work costs what the course says, by the times in the platform's own table."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.errors import LinklabError
from linklab.lms.lateness import LateRule, moment
from tests.lms.a_class import EXPORTS, PARTICIPANTS, a_class, write
from tests.lms.test_gradebooks import rows_of

AT = datetime.datetime(2026, 11, 2, 10, 37)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("Monday, 2 November 2026, 10:37 AM", AT),
        ("Monday, 2 November 2026, 10:37 PM", AT.replace(hour=22)),
        ("Monday, 2 November 2026, 12:37 AM", AT.replace(hour=0)),
        ("Montag, 2. November 2026, 10:37", AT),
        ("Dienstag, 3. März 2026, 20:05", datetime.datetime(2026, 3, 3, 20, 5)),
    ],
)
def test_the_times_of_moodle(text: str, time: datetime.datetime) -> None:
    assert moment(text, "here") == time


@pytest.mark.parametrize("text", ["", "2 février 2026, 10:37", "Monday, 31 February 2026, 10:37 AM", "soon"])
def test_what_is_no_time_that_is_known_is_refused(text: str) -> None:
    with pytest.raises(LinklabError, match="here: "):
        moment(text, "here")


@pytest.mark.parametrize(
    ("deadline", "percent", "days", "share"),
    [
        ("2026-11-02 10:37", "10", 0, 1.0),
        ("2026-11-02 10:36", "10", 1, 0.9),
        ("2026-11-01 10:37", "10", 1, 0.9),
        ("2026-11-01 10:36", "10", 2, 0.8),
        ("2026-10-02", "50", 32, 0.0),
    ],
)
def test_each_day_that_has_begun_costs(deadline: str, percent: str, days: int, share: float) -> None:
    rule = LateRule.of(deadline, percent)
    assert rule.days_late(AT) == days
    assert rule.share(days) == pytest.approx(share)


@pytest.mark.parametrize(
    ("sample", "written"),
    [
        ("moodle-worksheet.csv", {"ada": "9", "juergen": "6.75"}),
        ("moodle-worksheet-de.csv", {"ada": "9", "juergen": "6,75"}),
    ],
)
def test_late_points_and_why_go_into_the_worksheet(sample: str, written: dict[str, str], tmp_path: Path) -> None:
    graded, output = write(tmp_path / "graded", *a_class(numbers=True)), tmp_path / "filled.csv"
    (graded / "feedback").mkdir()
    for one in a_class():
        (graded / "feedback" / one.page).write_text("a page")
    words = ["--for", "moodle", "--labs", "03", "--into", str(EXPORTS / sample), "--output", str(output)]
    main(["export", str(graded), *words, "--late", "2026-11-01 12:00", "10", "--feedback", str(tmp_path / "pages.zip")])
    rows = {row[0][-4:]: row for row in rows_of(output.read_bytes())}
    assert {name: rows[PARTICIPANTS[name]][4] for name in written} == written
    assert rows[PARTICIPANTS["ada"]][-1].endswith("Handed in late, 1 day begun: 90 % of that")


def test_of_blackboard_the_names_of_submissions_say_what_is_late(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = {"ada": "2026-11-02 10:37:00", "juergen": "2026-11-03 10:38:00"}
    students = [
        replace(one, labs={name: replace(lab, handed_in=times.get(one.student, "")) for name, lab in one.labs.items()})
        for one in a_class()
    ]
    graded, output = write(tmp_path / "graded", *students), tmp_path / "filled.csv"
    words = ["--for", "blackboard", "--labs", "03", "--into", str(EXPORTS / "blackboard.csv"), "--output", str(output)]
    main(["export", str(graded), *words, "--late", "2026-11-02 10:37", "10"])
    found = output.read_text("utf-8-sig")
    assert [line for line in found.splitlines() if ",ada," in line.replace('"', "") and ",10," in line.replace('"', "")]
    assert [line for line in found.splitlines() if "juergen" in line and "6" in line.replace('"', "").split(",")]
    assert "taken as on time, eve, 03-udp-bandwidth" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("platform", "sample", "late", "said"),
    [
        ("canvas", "canvas.csv", ["2026-11-01", "10"], "say when 03-udp-bandwidth was handed in"),
        ("blackboard", "blackboard.csv", ["2026-11-01", "10"], "say when 03-udp-bandwidth was handed in"),
        ("blackboard", "blackboard.csv", ["due", "10"], "write a time and a percentage"),
        ("moodle", "moodle-worksheet.csv", ["tomorrow", "10"], "write a time and a percentage"),
        ("moodle", "moodle-worksheet.csv", ["2026-11-01", "110"], "write a time and a percentage"),
    ],
)
def test_where_lateness_is_not_known(
    platform: str, sample: str, late: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded, output = write(tmp_path / "graded", *a_class(numbers=True)), tmp_path / "filled.csv"
    words = ["--for", platform, "--labs", "03", "--into", str(EXPORTS / sample), "--output", str(output)]
    assert main(["export", str(graded), *words, "--late", *late]) == 1
    assert said in capsys.readouterr().err
    assert not output.exists()
