"""The course plans say of each lab the hours that its notebook says, and put it behind those that it needs."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "course-plans.md").read_text("utf-8")
_ROW = re.compile(r"^\| (\d\d) \w[^|]*\| ([\d.]+) \| ([^|]*) \|", re.MULTILINE)
_TIME = re.compile(r"\*\*Time:\*\* (?:about )?(?:(\d+|two) hours?)?(?: and )?(?:(\d+) minutes)?")
ROWS = _ROW.findall(PAGE)


def hours_of(number: str) -> float:
    (source,) = (ROOT / "solutions").glob(f"{number}-*.py")
    found = _TIME.search(source.read_text("utf-8"))
    assert found is not None, number
    hours, minutes = found.groups()
    return (2 if hours == "two" else int(hours or 0)) + int(minutes or 0) / 60


def test_each_lab_has_the_hours_that_its_notebook_says() -> None:
    assert [number for number, _, _ in ROWS] == sorted(it.name[:2] for it in (ROOT / "solutions").glob("[0-9]*.py"))
    assert {number: hours for number, hours, _ in ROWS if abs(float(hours) - hours_of(number)) > 0.25} == {}


def test_each_lab_of_the_long_plan_comes_behind_those_that_it_needs() -> None:
    weeks = PAGE.partition("## Fourteen weeks")[2]
    order = re.findall(r"\b(\d\d)\b", " ".join(re.findall(r"^\| \d+ \| ([^|]*) \|", weeks, re.MULTILINE)))
    for number, _, needs in (row for row in ROWS if row[0] in order):
        assert all(order.index(it) < order.index(number) for it in re.findall(r"\d\d", needs)), number
