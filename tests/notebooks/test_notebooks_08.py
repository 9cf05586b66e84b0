"""Lab 08 as students meet it: the starter fails its graded cells, the solution shows what its text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linklab.labs.lab08 import figures as packet_size_figures
from tests.notebooks.run_notebook import graded, read, run, shown

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual_time")]
NAME = "08-packet-size"


def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(tmp_path: Path) -> None:
    starter = read(f"labs/{NAME}.ipynb")
    errors = run(starter, tmp_path).errors
    assert set(errors) == graded(starter)
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    missing = ["not filled in yet", "not measured yet", "returns nothing"]
    assert [name for name, said in errors.items() if not any(words in said for words in missing)] == []
    for cell in ("data-table", "first-table", "first-figure", "calm-figure", "calm-table"):
        assert shown(starter, cell) == repr(packet_size_figures.NOTHING)
    assert "write jitter first" in shown(starter, "paced")


def test_the_solution_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution = read(f"solutions/{NAME}.ipynb")
    assert run(solution, tmp_path).errors == {}
    assert "burst 15Kb cburst 1600b" in shown(solution, "bucket")
    assert "largest jitter: 0.0000 ms" in shown(solution, "paced")
    rows = re.findall(r"\((1518|4370|7999), ([^)']*), 1600, '", shown(solution, "calm-table"))
    found = {int(size): [None if it == "None" else float(it) for it in values.split(", ")] for size, values in rows}
    assert set(found) == {1518, 4370, 7999}, "the bucket is 1600 bytes at every size"
    for values in found.values():
        *_, measured, calm = values
        assert measured is not None
        assert calm is not None
        assert measured > 12 > 10.03 > calm > 10
    assert [values[3] for values in found.values()] == [20.8, 31.5, 23]
    assert "31.6 if the first packet is counted" in shown(solution, "calm-table")
    assert "1552 bytes (Ethernet 14, IPv4 20, GRE 4, Ethernet 14" in shown(solution, "frames-figure")
    assert "20 of 20 packets arrived" in shown(solution, "fragments")
    assert "72 bytes (Ethernet 14, IPv4 20, data 38)" in shown(solution, "fragments")
