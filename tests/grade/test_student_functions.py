"""Functions that students write: what a card says of them."""

from __future__ import annotations

from linklab.grade.student_functions import Trial

TRIAL = Trial(lambda size: 8 * size, {"small": (1,), "large": (1500,)}, ("how many bits has a byte?",))


def test_a_case_that_passed_says_the_right_number_and_one_that_failed_does_not() -> None:
    right, wrong = (TRIAL.checks(lambda size, extra=extra: 8 * size + extra * size**2) for extra in (0, 1))
    assert [(check.outcome, check.expected) for check in right] == [("passed", "8"), ("passed", "1.2e+04")]
    assert [(check.outcome, "8" in check.expected) for check in wrong][:1] == [("failed", False)]
