"""Lab 11 as students meet it: the starter fails its graded cells, the solution shows what its text says."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from linklab.labs import NOTHING
from tests.notebooks.run_notebook import graded, read, run, shown

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
NAME = "11-congestion-control"


@pytest.mark.large
def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(tmp_path: Path) -> None:
    starter = read(f"labs/{NAME}.ipynb")
    errors = run(starter, tmp_path).errors
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    missing = ("not filled in yet", "not measured yet", "not answered yet", "returns nothing")
    assert [name for name, said in errors.items() if not any(words in said for words in missing)] == []
    for cell in ("look-figure", "controls-figure", "queues-figure", "answer-together"):
        assert repr(NOTHING) in shown(starter, cell)


@pytest.mark.large
def test_the_solution_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution = read(f"solutions/{NAME}.ipynb")
    assert run(solution, tmp_path).errors == {}
    assert "Path and queue are full with 133 packets" in shown(solution, "look-figure")
    table = shown(solution, "controls-figure")
    shown_gaps = re.split(r"\('cubic', '[\d.]+ to [\d.]+', '", table)[1].split("'")[0]
    gaps = [float(gap) for gap in re.findall(r"[\d.]+", shown_gaps)]
    assert len(gaps) >= 4, "a short and a long time in turn"
    assert all(abs(one - two) > 4 for one, two in itertools.pairwise(gaps))
    assert "'no losses'" in table
    queues = [
        [float(number) for number in row.split(", ")]
        for row in re.findall(r"\((\d+, [\d., ]+)\)", shown(solution, "queues-figure"))
    ]
    assert [row[0] for row in queues] == [20, 100, 1000]
    assert max(row[5] for row in queues) < 1.01 * min(row[5] for row in queues), "all three give nearly the same"
    assert queues[2][3] > 18 * queues[0][3]
    ratios = dict(
        re.findall(r"\('(\w+)', 'h1-h3[^']*', '[^']*', ([\d.]+), '[\d.]+'\)", shown(solution, "answer-together"))
    )
    assert float(ratios["reno"]) > 3, "the short round trip gets several times as much"
    assert float(ratios["bbr"]) < 0.5, "and with BBR the long one"
