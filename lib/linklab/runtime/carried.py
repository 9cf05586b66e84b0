"""What a notebook sends into its lab besides plain data: functions, and objects of its own classes."""

from __future__ import annotations

import base64
import site
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle


def carried(value: Any, *parts: Any) -> str:
    """Functions and objects with all that they need. What comes from a module of the user's own goes by value: the
    lab's Python finds Linklab and what is installed, not the files beside a notebook.
    """
    names = {getattr(part, "__module__", type(part).__module__) for part in parts}
    own = [module for name in names if (module := sys.modules.get(name)) and not _installed(module)]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        return base64.b64encode(cloudpickle.dumps(value)).decode()
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)


def _installed(module: ModuleType) -> bool:
    """Whether the lab's Python finds this module as well: Linklab's own, the standard library's, an installed one."""
    name = module.__name__.partition(".")[0]
    places = (*map(Path, site.getsitepackages()), Path("/usr/lib/python3"))
    file = getattr(module, "__file__", None)
    return (
        name in ("__main__", "linklab")  # what __main__ defines goes by value anyway
        or name in sys.stdlib_module_names
        or file is None
        or any(Path(file).is_relative_to(place) for place in places)
    )
