"""What is late by the times that a platform says, and what it costs there. Pure.

Moodle's worksheet says when work was handed in, in the words and the time zone of who exported it
(``userdate``: "Monday, 2 November 2026, 10:37 AM"); English and German are known. Blackboard says it in the names of
submissions, which ``linklab grade`` keeps. Gradescope says both that and the due date to the autograder alone.
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from typing import Final

from linklab.errors import LinklabError

DUE: Final = "due"
"""In the place of a deadline: the due date that the platform has."""
_MONTHS: Final = ("jan", "feb", "mar|mär", "apr", "may|mai", "jun", "jul", "aug", "sep", "oct|okt", "nov", "dec|dez")
_TIME: Final = re.compile(r"(\d{1,2})\.? (\w+)\.? (\d{4}),? +(\d{1,2}):(\d\d)(?: ([AP])M)?", re.IGNORECASE)


@dataclass(frozen=True)
class LateRule:
    """Each day that has begun after the deadline costs so many per cent of what was reached."""

    deadline: datetime.datetime
    percent_a_day: float

    @classmethod
    def of(cls, deadline: str, percent: str) -> LateRule:
        """Return the rule that an instructor wrote. Raises LinklabError where it is none."""
        try:
            rule = cls(datetime.datetime.fromisoformat(deadline), float(percent))
        except ValueError:
            rule = cls(datetime.datetime.min, math.nan)
        if not 0 <= rule.percent_a_day <= 100 or rule.deadline.tzinfo is not None:
            raise LinklabError(f"--late {deadline!r} {percent!r}: write a time and a percentage, '2026-11-02 23:59' 10")
        return rule

    def days_late(self, handed_in: datetime.datetime) -> int:
        """Return how many days have begun since the deadline."""
        return max(0, math.ceil((handed_in - self.deadline) / datetime.timedelta(days=1)))

    def share(self, days: int) -> float:
        """Return the share of points that is left after so many days."""
        return max(0.0, 1 - days * self.percent_a_day / 100)


def moment(text: str, where: str) -> datetime.datetime:
    """Return the time in a table's cell, to the minute. Raises LinklabError, naming ``where``, for what is none."""
    if found := _TIME.search(text):
        day, word, year, hour, minute, half = found.groups()
        months = [number for number, names in enumerate(_MONTHS, 1) if re.match(names, word.casefold())]
        hours = int(hour) % 12 + 12 * (half.upper() == "P") if half else int(hour)
        try:
            return datetime.datetime(int(year), months[0], int(day), hours, int(minute))
        except (ValueError, IndexError):
            pass
    raise LinklabError(f"{where}: {text!r} is no time that is known: export it in English or German")
