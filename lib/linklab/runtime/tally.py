"""How much virtual time the labs of a run went through: whoever wants to know names a file, and labs write into it."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "LINKLAB_TALLY"


def add(virtual_s: float) -> None:
    """Adds a line to the file that LINKLAB_TALLY names, if it names one: a lab has ended after so long by its clock."""
    path = os.environ.get(VARIABLE)
    if path:
        with open(path, "a", encoding="ascii") as file:
            file.write(f"{virtual_s:.9f}\n")


def total_s(path: Path) -> float:
    """The sum of what labs wrote, 0.0 if none did."""
    return sum(map(float, path.read_text("ascii").split())) if path.exists() else 0.0
