"""Linklab: a teaching lab kit on network performance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linklab.errors import (
    LabEnded,
    LabError,
    LabTimeout,
    LinklabError,
    MeasurementError,
    NetworkError,
    UnknownNode,
)

if TYPE_CHECKING:
    from linklab.course import course_network
    from linklab.lab import Lab, Node, start
    from linklab.program import Program

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
    "Node": "linklab.lab",
    "Program": "linklab.program",
    "course_network": "linklab.course",
    "start": "linklab.lab",
}

if not TYPE_CHECKING:  # a type checker that saw `__getattr__` would take every name for one of ours

    def __getattr__(name: str) -> object:
        """Loads the lab when first asked for: the agent inside a lab imports this package too, and must start fast."""
        if name not in _LATER:
            raise AttributeError(f"module 'linklab' has no attribute {name!r}")
        import importlib

        return getattr(importlib.import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    """Lists what is loaded later too, for `dir` and for Tab."""
    return sorted({*globals(), *__all__})
