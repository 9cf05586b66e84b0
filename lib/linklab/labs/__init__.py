"""The labs: a folder for each, with its questions, rules and figures, and what several of them share.

A notebook may use what the lab's ``rules.py`` and ``figures.py`` list in ``__all__``, and ``progress``, ``explain``,
``calibration`` and ``question``; ``from linklab import labNN`` has these names.
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from linklab.errors import LinklabError

NOTHING: Final = "Nothing is measured yet: run the cells above first."
"""What figures and tables say where there is nothing to show."""


@cache
def lab_names() -> frozenset[str]:
    """Return the names of all labs, those of their folders: ``lab00``, ..."""
    return frozenset(path.parent.name for path in Path(__file__).parent.glob("lab[0-9][0-9]/rules.py"))


@cache
def load(name: str) -> ModuleType:
    """Return the package of a lab, with the names that its notebook may use.

    Raises LinklabError, with the reason, where it cannot be imported.
    """
    from linklab.grade.calibration import calibration
    from linklab.grade.choices import question_text
    from linklab.grade.progress import progress
    from linklab.grade.written import explain

    folder = Path(__file__).parent / name
    try:
        lab = import_module(f"{__name__}.{name}")
        for part in ("rules", "figures"):
            if (folder / f"{part}.py").is_file():
                found = import_module(f"{lab.__name__}.{part}")
                vars(lab).update((each, getattr(found, each)) for each in getattr(found, "__all__", ()))
    except Exception as error:
        line = (str(error).splitlines() or [""])[0]
        raise LinklabError(f"{name} cannot be imported ({type(error).__name__}: {line}): mend its files") from error
    vars(lab).update({each.__name__: partial(each, lab.__name__) for each in (progress, explain, calibration)})
    vars(lab)["question"] = partial(question_text, folder)
    return lab
