"""Importing the analysis starts no lab's machinery: a researcher may compute Jain's index of a CSV with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import linklab.analysis

MODULES = sorted(path.stem for path in Path(linklab.analysis.__file__).parent.glob("*.py") if path.stem != "__init__")
_ROOMS = ("errors", "units", "network", "published", "analysis")
"""What the analysis may load: pure rooms."""


@pytest.mark.parametrize("module", MODULES)
def test_a_module_of_the_analysis_loads_pure_rooms_alone(module: str) -> None:
    asked = f"import sys, linklab.analysis.{module}; print(*(n for n in sys.modules if n.startswith('linklab.')))"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert f"linklab.analysis.{module}" in loaded
    assert {name.split(".")[1] for name in loaded} - set(_ROOMS) == set()
