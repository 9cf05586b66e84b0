"""Lab 12 as students meet it: the starter fails its graded cells, the solution shows what its text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linklab.labs import NOTHING
from tests.notebooks.run_notebook import graded, read, run, shown

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
NAME = "12-queue-management"


@pytest.mark.large
def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(tmp_path: Path) -> None:
    starter = read(f"labs/{NAME}.ipynb")
    errors = run(starter, tmp_path).errors
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    missing = ("not filled in yet", "not measured yet", "not answered yet", "returns nothing", "ping, slow")
    assert [name for name, said in errors.items() if not any(words in said for words in missing)] == []
    for cell in ("long-figure", "one-figure", "all-figure"):
        assert repr(NOTHING) in shown(starter, cell)


@pytest.mark.large
def test_the_solution_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution = read(f"solutions/{NAME}.ipynb")
    assert run(solution, tmp_path).errors == {}
    rows = {
        name: [float(number) for number in re.findall(r"[\d.]+", rest)]
        for name, rest in re.findall(r"\('([\w ]+)', '[\w]+', ([^)]*)\)", shown(solution, "all-figure"))
    }
    assert set(rows) == {"long", "pfifo", "red", "codel", "fq_codel", "cake", "marks"}
    rate, used, mean, _, highest, page, again, marked = range(8)
    assert {row[rate] for row in rows.values()} == {10}
    assert min(row[used] for row in rows.values()) > 95
    assert rows["long"][page] > 8, "a page takes 10 s or so"
    assert max(rows[name][mean] for name in ("fq_codel", "cake", "marks")) < 22
    assert max(row[highest] for name, row in rows.items() if name != "long") < 41
    assert (rows["marks"][again], rows["fq_codel"][marked]) == (0, 0)
    assert rows["marks"][marked] > 10
