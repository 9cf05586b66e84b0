"""The starters, run as students find them: each fails exactly its graded cells, which say that they are still open."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from linklab.labs import NOTHING
from linklab.notebooks.build import sources
from tests.notebooks.run_notebook import ROOT, graded, read, run, shown

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("virtual")]
OPEN: Final = re.compile(r"GradeError: still open: .+")
"""All that an untouched cell says: one line."""
EMPTY: Final[Mapping[str, tuple[str, ...]]] = {
    "06": ("answer-runs",),
    "07": ("throughput-figure",),
    "08": ("answer-waste", "answer-bandwidth", "answer-calm"),
    "09": ("study-table", "answer-late", "qualities"),
    "10": ("step",),
    "11": ("answer-seen", "answer-controls", "answer-queues", "answer-together", "answer-depths"),
    "12": ("answer-long", "answer-one", "all-figure"),
    "15": ("replay",),
    "17": ("answer-incast", "answer-marking"),
}
"""Cells that show one line in place of a figure, by lab."""
SMALL: Final = ("00", "01", "09")
LABS: Final = [
    pytest.param(source.stem, marks=() if source.stem[:2] in SMALL else pytest.mark.large) for source in sources(ROOT)
]


@pytest.mark.large
@pytest.mark.parametrize("name", LABS)
def test_a_starter_fails_exactly_its_graded_cells_which_are_still_open(name: str, tmp_path: Path) -> None:
    number, starter = name[:2], read(f"labs/{name}.ipynb")
    for file in [*(ROOT / "labs").glob("*.py"), ROOT / "labs" / f"{name}.ipynb"]:
        shutil.copy(file, tmp_path)
    errors = run(starter, tmp_path).errors
    assert set(errors) == graded(starter)
    assert [said for said in errors.values() if not OPEN.fullmatch(said)] == []
    assert [cell for cell in EMPTY.get(number, ()) if repr(NOTHING) not in shown(starter, cell)] == []
