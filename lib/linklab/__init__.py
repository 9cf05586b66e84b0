"""Linklab: a teaching lab kit on network performance."""

# ruff: noqa: F401  # a type checker is to see the labs by number

from __future__ import annotations

TYPE_CHECKING = False  # not from typing: until a command has heard of Ctrl-C (`linklab.__main__`), nothing is loaded

if TYPE_CHECKING:
    from linklab import errors as errors
    from linklab.course import course_network
    from linklab.errors import (
        LabEnded,
        LabError,
        LabTimeout,
        LinklabError,
        MeasurementError,
        NetworkError,
        UnknownNode,
    )
    from linklab.lab import Lab, Node, start
    from linklab.labs.lab00 import rules as lab00
    from linklab.labs.lab01 import rules as lab01
    from linklab.labs.lab02 import rules as lab02
    from linklab.labs.lab03 import rules as lab03
    from linklab.labs.lab04 import rules as lab04
    from linklab.labs.lab05 import rules as lab05
    from linklab.labs.lab06 import rules as lab06
    from linklab.labs.lab07 import rules as lab07
    from linklab.labs.lab08 import rules as lab08
    from linklab.labs.lab09 import rules as lab09
    from linklab.labs.lab10 import rules as lab10
    from linklab.labs.lab11 import rules as lab11
    from linklab.labs.lab12 import rules as lab12
    from linklab.labs.lab13 import rules as lab13
    from linklab.labs.lab14 import rules as lab14
    from linklab.labs.lab15 import rules as lab15
    from linklab.labs.lab16 import rules as lab16
    from linklab.labs.lab17 import rules as lab17
    from linklab.labs.lab18 import rules as lab18
    from linklab.labs.lab19 import rules as lab19
    from linklab.program import Program
    from linklab.programs import simpleperf as simpleperf

__version__ = "0.1.0"
__all__ = [
    "Lab",
    "LabEnded",
    "LabError",
    "LabTimeout",
    "LinklabError",
    "MeasurementError",
    "NetworkError",
    "Node",
    "Program",
    "UnknownNode",
    "course_network",
    "start",
]

_LATER = {
    "Lab": "linklab.lab",
    "LabEnded": "linklab.errors",
    "LabError": "linklab.errors",
    "LabTimeout": "linklab.errors",
    "LinklabError": "linklab.errors",
    "MeasurementError": "linklab.errors",
    "NetworkError": "linklab.errors",
    "Node": "linklab.lab",
    "Program": "linklab.program",
    "UnknownNode": "linklab.errors",
    "course_network": "linklab.course",
    "start": "linklab.lab",
}
_MODULES = {"errors": "linklab.errors", "simpleperf": "linklab.programs.simpleperf"}

if not TYPE_CHECKING:  # a type checker that saw `__getattr__` would take every name for one of ours

    def __getattr__(name: str) -> object:
        """Load a name when it is first used: the agent inside a lab imports this package too, and must start fast.

        For notebooks, labs by number are there as well (``from linklab import lab04, measure, show, start``), and
        the checks of simpleperf and all errors (``linklab.errors``).
        """
        import importlib

        if name in _LATER:
            return getattr(importlib.import_module(_LATER[name]), name)
        if name in _MODULES:
            return importlib.import_module(_MODULES[name])
        if name.startswith("lab") and name[3:].isdigit():
            from linklab.labs import lab_names, load

            if name in lab_names():
                return load(name)
        raise AttributeError(f"module 'linklab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, those that are loaded later too, for `dir` and for Tab."""
    return sorted({*globals(), *__all__})
