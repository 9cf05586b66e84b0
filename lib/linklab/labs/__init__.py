"""The labs: a folder for each, with its questions, rules and figures, and what several of them share.

Labs that an instructor has added are imported from here too (`linklab.discovery`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from linklab.discovery import added_labs
from linklab.errors import LinklabError

__path__.extend(dict.fromkeys(str(lab.folder.parent) for lab in added_labs()))


class OlderNotebook(LinklabError, AttributeError):
    """A notebook calls a check that its lab had in another version of Linklab."""


def not_here(module: str) -> Callable[[str], NoReturn]:
    """Return a module's ``__getattr__``, for a lab's package: it says in a line that a notebook is of another version.

    Raises OlderNotebook for a name that begins with ``check_``, AttributeError for all others, as Python does.
    """
    lab = module.rpartition(".")[2]

    def missing(name: str) -> NoReturn:
        if name.startswith("check_"):
            raise OlderNotebook(
                f"{lab} has no {name}: this notebook is of another version of Linklab. "
                "Take the lab's notebook that comes with this one, and copy your answers over"
            )
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return missing
