"""The places where programs are tried, each with simpleperf's network."""

from __future__ import annotations

from linklab.programs.place import LabPlace, LoopbackPlace
from linklab.programs.simpleperf.session import NETWORK
from linklab.programs.submission import SubmittedProgram

Place = LabPlace | LoopbackPlace


def made(kind: type[Place], program: SubmittedProgram) -> Place:
    """Return a place of this kind for a program."""
    return LabPlace(program, NETWORK) if kind is LabPlace else LoopbackPlace(program)
