"""How a judge says which mistake the evidence shows."""

from __future__ import annotations

import pytest

from linklab.programs.simpleperf.mistakes import CRASH, fails


@pytest.mark.parametrize(
    ("quotes", "found"),
    [
        ((), "as expected"),
        (("KeyError: 3",), "KeyError: 3"),
        (("it said  no", ""), "as expected"),  # it stands in the reason
        (("first", "", "second\n  line"), "first; second line"),
    ],
)
def test_lines_of_the_program_are_quoted_once_and_in_one_line(quotes: tuple[str, ...], found: str) -> None:
    observed = fails(CRASH, "it said no", "a row", quotes)
    assert observed.reason == "it ends with an error: it said no"
    assert (observed.found, observed.expected, observed.hint) == (found, "a row", CRASH.hint)
