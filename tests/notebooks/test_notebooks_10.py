"""Lab 10 as students meet it: the starter fails its graded cells, the solution shows what its text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linklab.labs import NOTHING
from tests.notebooks.run_notebook import graded, read, run, shown

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
NAME = "10-switches"


@pytest.mark.large
def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(tmp_path: Path) -> None:
    starter = read(f"labs/{NAME}.ipynb")
    errors = run(starter, tmp_path).errors
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    assert "VLAN 10 must be its pvid" in errors["check-ports"]
    assert "r1 has no sub-interface for VLAN 20" in errors["check-gateways"]
    assert shown(starter, "step") == repr(NOTHING)


@pytest.mark.large
def test_the_solution_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution = read(f"solutions/{NAME}.ipynb")
    assert run(solution, tmp_path).errors == {}
    seen = re.findall(r"vlan (\d+),.*ttl (\d+),.*\n.*echo request", shown(solution, "answer-tags"))
    assert seen == [("10", "64"), ("20", "63")], "it comes in with one tag and leaves with the other, routed"
    assert "vlan protocol 802.1Q id 10" in shown(solution, "answer-tags")
    plain, ticking = shown(solution, "flat").split("plain: ")[1].split("; ticking cards: ")
    rtts = [[float(it) for it in re.findall(r"([\d.]+) ms", text)] for text in (plain, ticking)]
    assert rtts[0] == sorted(set(rtts[0])), "serialisation grows with every byte"
    assert rtts[0][-1] - rtts[0][3] == pytest.approx(0.221, abs=0.002)
    assert rtts[1] == pytest.approx([0.25] * 3 + [0.75] * 4, abs=0.002), "a whole number of ticks"
    rows = re.findall(r"\('([\d/]+ h\d)', ([\d.]+), '[^']+', ([\d.]+), ([\d.]+)\)", shown(solution, "step"))
    shares = {name: tuple(map(float, numbers)) for name, *numbers in rows}
    assert len(shares) == 4
    for theory, loose, _ in shares.values():
        assert loose == pytest.approx(theory, rel=0.25), "out of step, near proportion"
    assert shares["30/90 h1"][2] == pytest.approx(3, rel=0.01), "in step h1 loses nothing"
    alike = [shares[f"70/70 {host}"][2] for host in ("h1", "h2")]
    assert max(alike) == pytest.approx(7, rel=0.01), "of two alike it is always the same who finds the place"
