"""The packages of the labs: the names that a lab's files list."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import linklab
from linklab.labs import load
from linklab.labs.lab08 import rules
from linklab.notebooks.build import sources
from tests.notebooks.run_notebook import ROOT


def test_a_lab_has_the_checks_of_its_modules_the_names_that_they_list_and_its_progress() -> None:
    lab = load("lab08")
    assert lab is linklab.lab08
    assert lab.check_runs is rules.check_runs
    assert {*rules.__all__, *lab.figures.__all__, "check_jitter", "predict", "progress"} <= set(vars(lab))
    assert "ETHERNET_MTU_BYTES" not in vars(lab)


@pytest.mark.parametrize("source", sources(ROOT), ids=lambda path: path.stem)
def test_a_lab_has_every_name_that_its_notebook_uses(source: Path) -> None:
    name = f"lab{source.stem[:2]}"
    used = set(re.findall(rf"\b{name}\.([a-zA-Z_]\w*)", source.read_text("utf-8")))
    assert "progress" in used
    assert [each for each in used if not hasattr(load(name), each)] == []


def test_importing_the_labs_loads_nothing_large_that_they_need_later_or_never() -> None:
    code = (
        "import sys; from linklab import measure, show, start; from linklab.labs import lab_names, load;"
        "[*map(load, lab_names())]; print(*sys.modules)"
    )
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "linklab.labs.lab15.rules" in loaded
    assert not loaded & {"matplotlib", "networkx", "numpy", "pandas", "nbformat"}
