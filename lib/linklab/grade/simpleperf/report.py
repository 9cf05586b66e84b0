"""What became of a program: the checks of each step, and their points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from linklab.grade.check import Check, Outcome
from linklab.grade.result import GradeError, Result

REPORT_VERSION: Final = 1
"""Version of the JSON form, under the key ``linklab_simpleperf``."""


@dataclass(frozen=True)
class ConformanceCheck(Check):
    """A check of a program. ``key`` is its stable name; ``mistake`` the probable mistake, by name.

    On a check that passed, ``mistake`` and ``hint`` are advice that costs no points.
    """

    key: str = ""
    mistake: str = ""


@dataclass(frozen=True)
class Report:
    """The checks of a program, step by step. ``where`` tells where it ran, ``dialect`` how it writes."""

    file: str
    where: str
    results: dict[str, Result]
    dialect: dict[str, Any]

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of all steps."""
        return tuple(check for result in self.results.values() for check in result.checks)

    @property
    def whole(self) -> Result:
        """All checks as one result."""
        return Result(f"{self.file}", self.checks)

    @property
    def outcome(self) -> Outcome:
        """Failed if one check failed, else inconclusive if one is, else passed."""
        return self.whole.outcome

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return self.whole.passed

    @property
    def points(self) -> float:
        """Points of the checks that passed."""
        return self.whole.points

    @property
    def max_points(self) -> float:
        """Points if all passed."""
        return self.whole.max_points

    @property
    def mistakes(self) -> list[str]:
        """The probable mistakes of the checks that failed, each once, in order."""
        failed = (check for check in self.checks if check.outcome == "failed")
        named = (check.mistake for check in failed if isinstance(check, ConformanceCheck) and check.mistake)
        return list(dict.fromkeys(named))

    def require(self) -> Report:
        """This report, if all checks passed. Raises GradeError, with reasons and hints, otherwise."""
        if not self.passed:
            raise GradeError(self.whole)
        return self

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON values, versioned."""
        return {
            "linklab_simpleperf": REPORT_VERSION,
            "file": self.file,
            "where": self.where,
            "outcome": self.outcome,
            "points": self.points,
            "max_points": self.max_points,
            "open_points": self.whole.open_points,
            "mistakes": self.mistakes,
            "dialect": self.dialect,
            "steps": {name: result.to_json() for name, result in self.results.items()},
        }

    def __str__(self) -> str:
        return "\n".join([_head(self), *(str(result) for result in self.results.values())])

    def _repr_html_(self) -> str:
        """What a notebook shows for it."""
        from html import escape

        tables = "".join(result._repr_html_() for result in self.results.values())
        return f"<div><strong>{escape(_head(self))}</strong>{tables}</div>"


def _head(report: Report) -> str:
    line = f"{report.file}: {report.points:g} of {report.max_points:g} points, checked {report.where}"
    if report.mistakes:
        line += f"; probable mistakes: {', '.join(report.mistakes)}"
    return line
