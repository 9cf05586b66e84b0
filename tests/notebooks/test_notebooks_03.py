"""Lab 03 as students meet it: the starter fails its graded cells, the solution shows what its text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.notebooks.run_notebook import graded, read, run, shown

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
NAME = "03-udp-bandwidth"


@pytest.mark.large
def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(tmp_path: Path) -> None:
    starter = read(f"labs/{NAME}.ipynb")
    errors = run(starter, tmp_path).errors
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    assert all("it returns nothing" in errors[cell] for cell in ("check-train", "check-search"))


@pytest.mark.large
def test_the_solution_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution = read(f"solutions/{NAME}.ipynb")
    assert run(solution, tmp_path).errors == {}
    lost, dropped = (int(re.findall(form, shown(solution, cell))[-1]) for form, cell in (
        (r"(\d+)/\d+ \(\d+%\)  receiver", "answer-client"), (r"dropped (\d+)", "answer-drops")
    ))  # fmt: skip
    # what is dropped behind the last datagram that arrives, iperf3's server cannot know
    assert 900 < lost <= dropped < lost + 10, "all is lost in one queue"
    hidden = int(re.findall(r"\d+", shown(solution, "answer-hidden"))[-1])
    assert 73 - hidden in range(45, 56), "some 50 can wait"
    capacity, free, train = map(float, re.findall(r"[\d.]+\d", shown(solution, "busy")))
    assert 1.2 * free < train < 0.9 * capacity, "a train shows neither where others send"
    losses = [float(it) for it in re.findall(r"([\d.]+) % lost", shown(solution, "sweep"))]
    assert losses[:4] == [0, 0, 0, 0], "below the line of theory all arrives"
    assert 0 < losses[4] < 2.8, "less is lost at 30 than predicted"
    assert losses[4] < losses[5] < losses[6]
    taken_mb = {
        cell: float(re.findall(r"([\d.]+) MB sent", shown(solution, cell))[-1]) for cell in ("plain", "find-try")
    }
    assert taken_mb["find-try"] < taken_mb["plain"] / 2
