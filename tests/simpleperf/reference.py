"""The reference as a module. It lies outside of the package, so it is loaded from its path."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from .runner import REFERENCE


def load() -> ModuleType:
    """solutions/simpleperf.py, loaded once."""
    name = "reference_simpleperf"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, REFERENCE)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up while it is being loaded
        spec.loader.exec_module(module)
    return sys.modules[name]
