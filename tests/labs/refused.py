"""Wrong answers as a table, by the check that must refuse them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from linklab.grade import Result
from tests.grade.failures import failed, said

Table = Mapping[Callable[..., Result], Sequence[tuple[object, ...]]]
"""Rows by check: what is given to it, and last what is said of it."""


def refused(table: Table) -> Callable[..., None]:
    """Return a test of each row: the check refuses what is given to it."""

    def test(check: Callable[..., Result], given: tuple[object, ...], says: str) -> None:
        refuses(check, given, says)

    rows = [(check, row[:-1], row[-1]) for check, rows in table.items() for row in rows]
    with_rows: Callable[..., None] = pytest.mark.parametrize(("check", "given", "says"), rows)(test)
    return with_rows


def refuses(check: Callable[..., Result], given: tuple[object, ...], says: str) -> None:
    """Assert that a check fails, says why, and gives a hint with each failure."""
    result = check(*given)
    assert result.outcome == "failed"
    assert says in said(result), str(result)
    assert all(it.hint for it in failed(result)), str(result)
