"""Checks of students' work: what was expected, what was found, and a hint.

What one lab has of its own is in its folder below `linklab.labs`.
"""

from linklab.grade.check import Check, Outcome
from linklab.grade.result import GradeError, Result

__all__ = ["Check", "GradeError", "Outcome", "Result"]
