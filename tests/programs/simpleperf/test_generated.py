"""The check on generated programs: right ones pass in full, wrong ones fail for their mistake, which is named."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from linklab.programs import simpleperf
from linklab.runtime.backends import Kind

from ...simpleperf import generated
from ...simpleperf.generated import Generated
from ...simpleperf.generated.count import against, by_key, missed, steps_of

RIGHT = {program.name: program for program in generated.right()}
WRONG = {program.name: program for program in generated.wrong()}
QUICK = ("transfer", "clock", "parallel", "arguments")
"""Steps in which few scenes are played. The others are judged from what was played once, see `test_checks`."""


def _most_traits(programs: Iterable[Generated]) -> Generated:
    """Return a program that makes as many different choices and mistakes as one can."""
    return max(programs, key=lambda program: len({*program.choices.items(), *program.mistakes}))


@pytest.mark.large
@pytest.mark.lab
def test_a_right_program_passes_quick_steps(virtual: Kind, tmp_path: Path) -> None:
    program = _most_traits(RIGHT.values())
    assert against(by_key(simpleperf.check(program.write(tmp_path), QUICK))) == []


@pytest.mark.large
@pytest.mark.lab
def test_a_wrong_program_is_failed_for_its_mistakes_in_quick_steps(virtual: Kind, tmp_path: Path) -> None:
    program = _most_traits(program for program in WRONG.values() if set(steps_of(program)) <= set(QUICK))
    assert missed(program, by_key(simpleperf.check(program.write(tmp_path), QUICK))) == []
