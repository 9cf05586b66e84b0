"""The public list says what the checks do: it is made from the same data."""

from __future__ import annotations

from pathlib import Path

from linklab.programs.simpleperf import public_list
from linklab.programs.simpleperf.mistakes import Mistake

PAGE = Path(__file__).parents[3] / "docs" / "simpleperf-checks.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == public_list.page(), "run: python -m linklab.programs.simpleperf.public_list > docs/..."


def test_mistakes_have_different_names() -> None:
    names = [mistake.title for mistake in Mistake]
    assert len(set(names)) == len(names) == len(Mistake.__members__)
