"""Functions as students write them, tried by a lab's check: honest ones and wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linklab.grade import Result
from linklab.grade.student_functions import Trial, call

Judge = Callable[[Any], Result]


def unnamed_slips(judge: Judge, trial: Trial) -> list[str]:
    """Return the reasons of those slips of a trial that pass as an answer, or that are called something else."""
    found = []
    for slip in trial.slips:
        answers = [call(slip.formula, case) for case in trial.cases.values()]
        replies = iter(answers)
        result = judge(lambda *_, replies=replies: next(replies, None))
        if not any(not check.passed and slip.reason in check.reason for check in result.checks):
            found.append(slip.reason)
    return found
