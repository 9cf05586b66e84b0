"""Solution regions and starters inside one cell."""

from __future__ import annotations

import pytest

from linklab.errors import LinklabError
from linklab.notebooks.regions import CODE_STUB, solution_text, student_text

WITH_STARTER = """\
def build(self):
    given()
    ### BEGIN SOLUTION
    secret()
    ### STARTER
    # # YOUR TURN
    # mine(
    #     None)
    ### END SOLUTION
    last()"""


def test_students_get_the_starter_in_place_of_the_solution() -> None:
    assert student_text(WITH_STARTER) == (
        "def build(self):\n    given()\n    # YOUR TURN\n    mine(\n        None)\n    last()"
    )


def test_instructors_get_the_solution_between_its_markers() -> None:
    starter = "    ### STARTER\n    # # YOUR TURN\n    # mine(\n    #     None)\n"
    assert starter in WITH_STARTER
    assert solution_text(WITH_STARTER) == WITH_STARTER.replace(starter, "")


def test_without_a_starter_a_stub_stands_there_as_deep_as_the_solution() -> None:
    text = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
    assert student_text(text).split("\n") == ["def f():", *(f"    {line}" for line in CODE_STUB)]


def test_two_regions_in_a_cell_are_two() -> None:
    first = "### BEGIN SOLUTION\na\n### STARTER\n# b\n### END SOLUTION"
    text = f"{first}\nmid\n### BEGIN SOLUTION\nc\n### END SOLUTION"
    assert student_text(text) == "\n".join(["b", "mid", *CODE_STUB])


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
