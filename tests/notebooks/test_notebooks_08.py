"""Lab 08 as students meet it: the starter fails its graded cells, the solution shows what its text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linklab.labs import NOTHING
from tests.notebooks.run_notebook import graded, read, run, shown

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
NAME = "08-packet-size"


@pytest.mark.large
def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(tmp_path: Path) -> None:
    starter = read(f"labs/{NAME}.ipynb")
    errors = run(starter, tmp_path).errors
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    missing = ["not filled in yet", "not measured yet", "not answered yet", "returns nothing"]
    assert [name for name, said in errors.items() if not any(words in said for words in missing)] == []
    for cell in ("data-figure", "first-figure", "calm-figure", "calm-table"):
        assert shown(starter, cell) == repr(NOTHING)
    assert "write jitter first" in shown(starter, "paced")


@pytest.mark.large
def test_the_solution_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution = read(f"solutions/{NAME}.ipynb")
    assert run(solution, tmp_path).errors == {}
    assert "Message too long" in shown(solution, "answer-ping")
    assert "Your sketch: 5.6 at 100" in shown(solution, "data-figure")
    assert "cburst 1600b" in shown(solution, "answer-first")
    assert "largest jitter: 0.0000 ms" in shown(solution, "paced")
    rows = re.findall(r"\((1518|4370|7999), ([^)]*), 1600\)", shown(solution, "calm-table"))
    found = {int(size): [float(it) for it in values.split(", ")] for size, values in rows}
    assert set(found) == {1518, 4370, 7999}, "the bucket is 1600 bytes at every size"
    assert all(values[2] > 12 > 10.04 > values[3] > 10 for values in found.values())
    assert [values[1] for values in found.values()] == [20.8, 31.5, 23]
    assert "1552 bytes (Ethernet 14, IPv4 20, GRE 4, Ethernet 14" in shown(solution, "frames-figure")
    untold = shown(solution, "answer-hole")
    assert "2 packets transmitted, 0 received" in untold
    assert "2 packets transmitted, 2 received" in untold
    assert "From" not in untold, "a switch tells nobody"
    told = shown(solution, "answer-narrow")
    assert re.search(r"flags \[\+\].*offset 1376", told, re.DOTALL), "the router has cut the packet"
    assert "Frag needed and DF set (mtu = 1400)" in told
    assert re.search(r"cache .*mtu 1400", told)
