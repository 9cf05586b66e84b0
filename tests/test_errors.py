"""A value in an error's line: as Python writes it, short, and in one line."""

from __future__ import annotations

import pytest

from linklab.errors import quoted


class _Lines:
    def __repr__(self) -> str:
        return "one\n  two"


@pytest.mark.parametrize(
    ("value", "shown"),
    [("h1", "'h1'"), (["h1", 2], "['h1', 2]"), (_Lines(), "one two")],
)
def test_a_short_value_is_shown_whole(value: object, shown: str) -> None:
    assert quoted(value) == shown


@pytest.mark.parametrize("value", ["a" * 500, list(range(1000)), 10**70, {"h1": "x" * 10_000}])
def test_of_a_long_one_its_begin_is_seen(value: object) -> None:
    assert len(quoted(value)) <= 120
    assert "..." in quoted(value)
    assert quoted(value)[:4] == repr(value)[:4]
