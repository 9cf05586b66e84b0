"""A class from what Canvas exported, graded, and back into its gradebook."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from linklab.cli import main
from tests.grading.conftest import PretendedClass
from tests.grading.made_class import LAB, data, solved, starter, write

CANVAS = """\
Student,ID,SIS Login ID,Section,Essay (11),{title} (12)
    Points Possible,,,,5,11
"King, Ada",67,ak1,Monday,5,
"Loe, Bob",68,bl2,Monday,4,
"Poe, Cyd",69,cp3,Monday,,
"""


def _points(path: Path, key: str, column: int) -> dict[str, str]:
    return {row[key]: list(row.values())[column] for row in csv.DictReader(path.open(newline="", encoding="utf-8"))}


def test_canvas_there_and_back(group: PretendedClass, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submissions = {"kingada_67_1_a.ipynb": data(solved()), "loebob_LATE_68_2_b.ipynb": data(starter())}
    write(group.source, submissions)
    title = group.grade().labs[LAB].title
    book, output = tmp_path / "canvas.csv", tmp_path / "filled.csv"
    book.write_text(CANVAS.format(title=title), "utf-8")
    words = ["export", str(group.output), "--into", str(book), "--output", str(output)]
    assert main(words) == 1
    assert "not written, kingada, 00-start-here: 2 points are still open" in capsys.readouterr().err
    free_texts = group.output / "by-hand.csv"
    rows = list(csv.reader(free_texts.open(newline="")))
    for row in rows[1:]:
        row[5] = "0.5" if row[2].startswith("reflect") else ""
    with free_texts.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    group.grade()
    assert main(words) == 0, capsys.readouterr().err
    assert _points(output, "ID", 5) == {"": "11", "67": "10", "68": "0", "69": ""}
