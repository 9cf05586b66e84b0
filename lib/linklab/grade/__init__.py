"""Checks of students' work: what was expected, what was found, and a hint.

One module of rules for each lab: :mod:`linklab.grade.lab00`, :mod:`linklab.grade.lab01`.
"""

from linklab.grade.check import Check, Outcome
from linklab.grade.result import GradeError, Result

__all__ = ["Check", "GradeError", "Outcome", "Result"]
