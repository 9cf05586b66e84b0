"""The reference has a page for each package that students, instructors and researchers import from."""

from __future__ import annotations

import re
from pathlib import Path

import linklab
from tools.site import PUBLIC

ROOT = Path(__file__).parents[2]


def test_every_public_package_has_its_page() -> None:
    inside = [path for path in Path(linklab.__file__).parent.glob("*/__init__.py") if "\n__all__ =" in path.read_text()]
    texts = [path.read_text("utf-8") for path in ROOT.glob("docs/reference/*.md")]
    assert {"linklab", "linklab.frr", *(f"linklab.{path.parent.name}" for path in inside)} == set(PUBLIC)
    shown = [name for text in texts for name in re.findall(r"automodule:: (\S+)", text)]
    assert sorted(name for name in shown if name != "linklab.network.traces") == sorted(PUBLIC)
