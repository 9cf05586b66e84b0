"""Find the studies that come along.

A study is a folder of ``studies/`` in the kit; a wheel carries that folder. Its modules are imported as
``studies.NAME.study`` and ``studies.NAME.judges``, wherever the folder lies.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

_CARRIED: Final = Path(__file__).parent / "carried" / "studies"
STUDIES: Final = _CARRIED if _CARRIED.is_dir() else Path(__file__).parents[2] / "studies"
"""The folder of the studies that come along: a wheel's, or that of a clone."""


def study_names() -> tuple[str, ...]:
    """Return the names of the studies that come along, in order: those of their folders."""
    return tuple(sorted(path.parent.name for path in STUDIES.glob("*/study.py")))


def study_module(name: str, part: str) -> ModuleType:
    """Return the module ``studies.NAME.PART`` of a study that comes along."""
    if "studies" not in sys.modules:
        spec = importlib.util.spec_from_file_location("studies", STUDIES / "__init__.py")
        assert spec is not None
        sys.modules["studies"] = importlib.util.module_from_spec(spec)  # a package that holds no code
    return importlib.import_module(f"studies.{name}.{part}")
