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


def hints(check: Callable[[], Result], times: int = 3) -> list[str]:
    """The hint of the only failed check at each of several failures of a cell."""
    said = []
    for _ in range(times):
        with pytest.raises(GradeError) as caught:
            check().require()
        said.append(the_failure(caught.value.result).hint)
    return said
