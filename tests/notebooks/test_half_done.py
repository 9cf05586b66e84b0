"""The labs as students run them: starters, solutions, and work that is half done."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.notebooks.run_notebook import graded, read, run

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("virtual")]


NEED_LINKS = {"check-routes", "check-rtt"}


@pytest.mark.large
@pytest.mark.parametrize(
    ("unfinished", "fails"),
    [
        ({"answer-measured", "answer-prediction"}, {"check-rtt", "check-prediction"}),
        ({"answer-links"}, {"check-nodes", "check-links", *NEED_LINKS}),
    ],
)
def test_what_is_not_done_fails_its_own_checks_and_what_needs_it(
    unfinished: set[str], fails: set[str], tmp_path: Path
) -> None:
    work = read("solutions/01-router-network.ipynb")
    starter = {cell.id: cell.source for cell in read("labs/01-router-network.ipynb").cells}
    for cell in work.cells:
        if cell.id in unfinished:
            cell.source = starter[cell.id]
    errors = run(work, tmp_path).errors
    assert set(errors) == fails
    assert all(re.search(r"Hint( \d of \d)?: ", said) for said in errors.values())


def test_a_right_plan_alone_earns_its_points(tmp_path: Path) -> None:
    work = read("labs/01-router-network.ipynb")
    solution = {cell.id: cell.source for cell in read("solutions/01-router-network.ipynb").cells}
    for cell in work.cells:
        if cell.id == "answer-plan":
            cell.source = solution[cell.id]
    assert set(run(work, tmp_path).errors) == graded(work) - {"check-plan"}


def test_a_lab_that_the_notebook_never_stops_ends_with_it(tmp_path: Path) -> None:
    notebook = read("solutions/00-start-here.ipynb")
    notebook.cells = [cell for cell in notebook.cells if cell.id in ("imports", "answer-network", "start")]
    assert run(notebook, tmp_path).errors == {}
