"""The check on generated programs: right ones pass in full, wrong ones fail for their mistake, which is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from linklab.grade import simpleperf
from linklab.grade.simpleperf import ConformanceCheck, Report
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.runtime.backends import Kind

from ...simpleperf import generated
from ...simpleperf.generated import Generated
from ...thorough import some

_ALWAYS = 1
RIGHT = {program.name: program for program in generated.right()}
WRONG = {program.name: program for program in generated.wrong()}


def _spread(programs: Sequence[Generated]) -> list[str]:
    """Return the names of a few programs that make as many different choices and mistakes as a few can."""
    made: set[object] = set()
    names: list[str] = []
    for _ in range(_ALWAYS):
        best = max(programs, key=lambda program: len(_traits(program) - made))
        made |= _traits(best)
        names.append(best.name)
    return names


def _traits(program: Generated) -> set[object]:
    return {*program.choices.items(), *(("place", fault.place) for fault in program.mistakes)}


def _check(program: Generated, folder: Path) -> Report:
    return simpleperf.check(program.write(folder))


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", some(RIGHT, *_spread(generated.right())))
def test_a_right_program_passes_in_full(name: str, virtual: Kind, tmp_path: Path) -> None:
    report = _check(RIGHT[name], tmp_path)
    held = [f"{check.description}: {check.reason}" for check in report.checks if not check.passed]
    assert not held, (held, dict(RIGHT[name].choices))


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", some(WRONG, *_spread(generated.wrong())))
def test_a_wrong_program_is_failed_for_its_mistakes(name: str, virtual: Kind, tmp_path: Path) -> None:
    program = WRONG[name]
    report = _check(program, tmp_path)
    checks = [check for check in report.checks if isinstance(check, ConformanceCheck)]
    failed = {check.key for check in checks if check.outcome == "failed"}
    named = {check.mistake for check in checks if check.mistake}
    for fault in program.mistakes:
        assert fault.hint_only or fault.keys & failed, (fault.name, failed, dict(program.choices))
        assert {Mistake[cause].title for cause in fault.causes} & named, (fault.name, named)
