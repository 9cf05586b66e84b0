"""Every wrong program of the registry has a name that it must get."""

from __future__ import annotations

from ...simpleperf.programs.make import programs
from .expected import ADVISED, FAILED


def test_no_wrong_program_is_left_out() -> None:
    assert {program.name for program in programs("wrong")} == set(FAILED) | set(ADVISED)
    assert not set(FAILED) & set(ADVISED)
