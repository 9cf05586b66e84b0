"""The public list says what the checks do: it is made from the same data."""

from __future__ import annotations

from pathlib import Path

from linklab.programs.simpleperf import public_list

PAGE = Path(__file__).parents[3] / "docs" / "simpleperf-checks.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == public_list.page(), "run: python -m linklab.programs.simpleperf.public_list > docs/..."
