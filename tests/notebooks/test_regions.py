"""Solution regions inside one cell. Those with a starter are in the kit's own labs, whose notebooks are compared."""

from __future__ import annotations

import pytest

from linklab.errors import LinklabError
from linklab.notebooks.regions import CODE_STUB, student_text


def test_without_a_starter_a_stub_stands_there_as_deep_as_the_solution() -> None:
    text = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
    assert student_text(text).split("\n") == ["def f():", *(f"    {line}" for line in CODE_STUB)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("### BEGIN SOLUTION\na", "ends inside solution"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", "stands inside solution"),
        ("a\n### END SOLUTION", "stands inside shared"),
        ("### STARTER\n# a", "stands inside shared"),
        ("### BEGIN SOLUTION\na\n### STARTER\nb = 2\n### END SOLUTION", "not a comment"),
    ],
)
def test_a_region_that_does_not_pair_up_is_refused(text: str, says: str) -> None:
    with pytest.raises(LinklabError, match=says):
        student_text(text)
