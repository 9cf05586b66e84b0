"""Lab 13's judge on what passed between programs that were tried once (`played`): no lab, and seconds."""

from __future__ import annotations

import pytest

from .played import PLAYED, SOLUTION, judged
from .wrong import WRONG


def test_the_solution_passes() -> None:
    checks = [check for found in judged(SOLUTION).values() for check in found]
    assert len(checks) > 20
    assert [check.reason for check in checks if not check.passed] == []


@pytest.mark.parametrize("name", PLAYED)
def test_a_wrong_program_fails_where_it_is_wrong(name: str) -> None:
    failed = [check for found in judged(name).values() for check in found if check.outcome == "failed"]
    assert any(WRONG[name].fails in check.description for check in failed)
    assert all(check.reason and check.hint for check in failed)
