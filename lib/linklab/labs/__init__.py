"""The labs: a folder for each, with its questions, rules and figures, and what several of them share.

A notebook may use what the lab's ``rules.py`` and ``figures.py`` list in ``__all__``, and ``progress``, ``explain``,
``calibration`` and ``question``; these are the names of the package ``linklab.labs.labNN``. A folder with an
``__init__.py`` of its own is an ordinary package. Labs that an instructor has added are imported from here too
(`linklab.discovery`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final

from linklab.discovery import added_labs

NOTHING: Final = "Nothing is measured yet: run the cells above first."
"""What figures and tables say where there is nothing to show."""

__path__.extend(dict.fromkeys(str(lab.folder.parent) for lab in added_labs()))


class _Labs(MetaPathFinder, Loader):
    """Import a lab's folder as a package where it has no ``__init__.py``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the folder of a lab, and leave everything else to Python."""
        if fullname.rpartition(".")[0] != __name__:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is not None:
            return None
        spec.loader = self
        spec.submodule_search_locations = list(spec.submodule_search_locations or ())
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Give the package the names that its modules list."""
        from linklab.grade.calibration import calibration
        from linklab.grade.choices import question_text
        from linklab.grade.progress import progress
        from linklab.grade.written import explain

        names = vars(module)
        for part in ("rules", "figures"):
            if any(Path(folder, f"{part}.py").is_file() for folder in module.__path__):
                found = import_module(f"{module.__name__}.{part}")
                names.update((name, getattr(found, name)) for name in getattr(found, "__all__", ()))
        names.update({each.__name__: partial(each, module.__name__) for each in (progress, explain, calibration)})
        folder = Path(module.__path__[0])
        names["question"] = partial(question_text, folder)


sys.meta_path.insert(0, _Labs())
