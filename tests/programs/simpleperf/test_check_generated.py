"""The check on generated programs: right ones pass in full, wrong ones fail for their mistake, which is named."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from linklab.programs import simpleperf
from linklab.programs.simpleperf import ConformanceCheck, Report
from linklab.programs.simpleperf.catalogue import ITEMS
from linklab.programs.simpleperf.mistakes import Mistake
from linklab.runtime.backends import Kind

from ...simpleperf import generated
from ...simpleperf.generated import Generated

RIGHT = {program.name: program for program in generated.right()}
WRONG = {program.name: program for program in generated.wrong()}
QUICK = ("transfer", "clock", "parallel", "arguments")
"""Steps in which few scenes are played. The others are judged from what was played once, see `test_check_programs`."""
IN_FULL = tuple(RIGHT)[::3]
"""Names of right programs that are checked in full, which takes up to a minute each. Pairs of choices occur in all."""


def _most_traits(programs: Iterable[Generated]) -> Generated:
    """Return a program that makes as many different choices and mistakes as one can."""
    return max(programs, key=lambda program: len({*program.choices.items(), *program.mistakes}))


def _steps(program: Generated) -> set[str]:
    """Return the steps that find its mistakes."""
    return {ITEMS[key].step for fault in program.mistakes for key in fault.keys}


def _holds(report: Report, program: Generated) -> None:
    """Assert that a right program passes in full."""
    held = [f"{check.description}: {check.reason}" for check in report.checks if not check.passed]
    assert not held, (held, dict(program.choices))


def _named(report: Report, program: Generated) -> None:
    """Assert that a wrong program is failed for its mistakes."""
    checks = [check for check in report.checks if isinstance(check, ConformanceCheck)]
    failed = {check.key for check in checks if check.outcome == "failed"}
    named = {check.mistake for check in checks if check.mistake}
    assert program.mistakes
    for fault in program.mistakes:
        assert fault.hint_only or fault.keys & failed, (fault.name, failed, dict(program.choices))
        assert {Mistake[cause].title for cause in fault.causes} & named, (fault.name, named)


@pytest.mark.large
@pytest.mark.lab
def test_a_right_program_passes_quick_steps(virtual: Kind, tmp_path: Path) -> None:
    program = _most_traits(RIGHT.values())
    _holds(simpleperf.check(program.write(tmp_path), QUICK), program)


@pytest.mark.large
@pytest.mark.lab
def test_a_wrong_program_is_failed_for_its_mistakes_in_quick_steps(virtual: Kind, tmp_path: Path) -> None:
    program = _most_traits(program for program in WRONG.values() if _steps(program) <= set(QUICK))
    _named(simpleperf.check(program.write(tmp_path), QUICK), program)


def test_every_choice_is_made_in_a_program_that_is_checked_in_full() -> None:
    made = {choice for name in IN_FULL for choice in RIGHT[name].choices.items()}
    assert made == {choice for program in RIGHT.values() for choice in program.choices.items()}


@pytest.mark.thorough
@pytest.mark.lab
@pytest.mark.parametrize("name", IN_FULL)
def test_a_right_program_passes_in_full(name: str, virtual: Kind, tmp_path: Path) -> None:
    _holds(simpleperf.check(RIGHT[name].write(tmp_path)), RIGHT[name])


@pytest.mark.thorough
@pytest.mark.lab
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_failed_for_its_mistakes(name: str, virtual: Kind, tmp_path: Path) -> None:
    _named(simpleperf.check(WRONG[name].write(tmp_path), _steps(WRONG[name])), WRONG[name])
