"""Checks programs of the registry as the tests need it."""

from __future__ import annotations

from pathlib import Path

from linklab.programs import simpleperf
from linklab.programs.simpleperf import ConformanceCheck, Report

from ...simpleperf.programs.make import registry


def check(name: str, folder: Path, steps: list[str] | None = None) -> Report:
    """The report on a program of the registry. A hostile one attacks the folder ``outside`` beside the program's."""
    program, outside = folder / "program", folder / "outside"
    program.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("nobody must read this")
    return simpleperf.check(registry()[name].write(program, outside), steps)


def advice(report: Report) -> list[str]:
    """The mistakes that are hints on checks that passed."""
    return [
        check.mistake
        for check in report.checks
        if check.passed and isinstance(check, ConformanceCheck) and check.mistake
    ]
