"""Which checks of a result failed, as tests ask for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from linklab.grade import Check, GradeError, Result


def failed(result: Result) -> list[Check]:
    """Those that failed; inconclusive is not failed."""
    return [check for check in result.checks if check.outcome == "failed"]


def said(result: Result) -> str:
    """All that is said of those that failed, in one line."""
    return " ".join(f"{it.description}: {it.reason} Hint: {it.hint}" for it in failed(result))


def the_failure(result: Result) -> Check:
    """The only one that failed; it has a hint."""
    (check,) = failed(result)
    assert check.hint
    return check


def also_wrong(result: Result, number: int) -> None:
    """Let the checks that failed fail with another answer, a new one for each number."""
    others = [
        Check.failing(it.description, f"other answer {number}", (it.first_hint or it.hint, "think again"))
        for it in failed(result)
    ]
    with pytest.raises(GradeError):
        Result(result.title, tuple(others)).require()


def hints(check: Callable[[], Result], times: int = 3) -> list[str]:
    """The hint of the only failed check after none, one and more other wrong answers."""
    said = []
    for number in range(times):
        result = check()
        said.append(the_failure(result).hint)
        also_wrong(result, number)
    return said
