"""The labs: a folder for each, with its questions, rules and figures, and what several of them share.

``from linklab import labNN`` has what a notebook may use: each check of the lab's modules (its name begins with
``check_``), and what they list in ``__all__``; ``predict`` and ``check_predicted``, from the ``PREDICTIONS`` in its
``rules.py``; and what every lab has, ``progress``, ``explain``, ``calibration`` and ``question``.
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
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
        for part in iter_modules(lab.__path__):
            found = import_module(f"{lab.__name__}.{part.name}")
            names = [*getattr(found, "__all__", ()), *(each for each in vars(found) if each.startswith("check_"))]
            vars(lab).update((each, getattr(found, each)) for each in names)
        predictions = getattr(lab.rules, "PREDICTIONS", None)
        if predictions is not None:
            vars(lab).update(predict=predictions.predict, check_predicted=predictions.check_predicted)
    except Exception as error:
        line = (str(error).splitlines() or [""])[0]
        raise LinklabError(f"{name} cannot be imported ({type(error).__name__}: {line}): mend its files") from error
    vars(lab).update({each.__name__: partial(each, lab.__name__) for each in (progress, explain, calibration)})
    vars(lab)["question"] = partial(question_text, folder)
    return lab
