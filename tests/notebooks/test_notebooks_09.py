"""Lab 09 as students meet it: the starter fails its graded cells, the solution shows what its text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linklab.labs import NOTHING
from tests.notebooks.run_notebook import graded, read, run, shown

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
NAME = "09-video"


def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(tmp_path: Path) -> None:
    starter = read(f"labs/{NAME}.ipynb")
    errors = run(starter, tmp_path).errors
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    missing = [
        "no UDP packet",
        "was not shown",
        "not filled in yet",
        "not measured yet",
        "not answered yet",
        "run is missing",
        "returns nothing",
    ]
    assert [name for name, said in errors.items() if not any(words in said for words in missing)] == []
    for cell in ("study-table", "rate-figure", "gaps-figure", "qualities", "worst-loss"):
        assert shown(starter, cell) == repr(NOTHING)


@pytest.mark.large
def test_the_solution_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution = read(f"solutions/{NAME}.ipynb")
    executed = run(solution, tmp_path)
    assert executed.errors == {}
    spacing = shown(solution, "spacing-table")
    (numbers,) = re.findall(r"\('least time at 2 Mbit/s \(ms\)', ([\d., ]+)\)", spacing)
    predicted, theory, real, mininet, wan, frame = map(float, numbers.split(", "))
    assert predicted == theory == pytest.approx(5.48)
    assert (real, mininet) == (5.41, 1.69)
    assert wan < real < frame, "the difference is the token bucket's"
    assert frame == pytest.approx(5.48, abs=0.01)
    loss, queue = re.findall(r"\('(?:loss|queue)', '(\d+) of \d+', ([\d.]+), ([\d.]+)", shown(solution, "damage-table"))
    assert float(loss[2]) > 40, "1 % of lost packets damage most of the pictures"
    assert 0 < float(queue[2]) < float(loss[2]) < 100
    means = re.findall(
        r"\('bandwidth \(kbit/s\), gigabit', 'mean', '1337.26', '1341.95', '(\d+)'\)", shown(solution, "study-table")
    )
    (predicted_kbps,) = re.findall(r"'ip_kbps', ([\d.]+)\)", shown(solution, "answer-packets"))
    assert float(means[0]) > 1.05 * float(predicted_kbps), "a mean over packets counts busy seconds more often"
