"""Linklab: a teaching lab kit on network performance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linklab.errors import LabError, LinklabError, MeasurementError, NetworkError

if TYPE_CHECKING:
    from linklab.course import course_network
    from linklab.lab import Lab, Node, start
    from linklab.program import Program

__version__ = "0.1.0"
__all__ = [
    "Lab",
    "LabError",
    "LinklabError",
    "MeasurementError",
    "NetworkError",
    "Node",
    "Program",
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


def __getattr__(name: str) -> Any:
    """The lab is loaded when first asked for: the agent inside a lab imports this package too, and must start fast."""
    if name not in _LATER:
        raise AttributeError(f"module 'linklab' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LATER[name]), name)
