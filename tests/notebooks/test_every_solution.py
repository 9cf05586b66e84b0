"""The solutions: run anew they pass, and show what they store."""

from __future__ import annotations

import pytest

from linklab.classroom.validate import notebooks_of, validate
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import ROOT

NAMES = [path.stem for path in notebooks_of(ROOT)]
SMALL = ("00", "01")


@pytest.mark.lab
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name[:2] in SMALL else pytest.mark.large) for name in NAMES]
)
def test_each_cell_passes_and_shows_what_is_stored(name: str, virtual: Kind) -> None:
    (found,) = validate(notebooks_of(ROOT, [name]), {"": None}, jobs=1)
    assert found.failures == ()
    assert found.fine
