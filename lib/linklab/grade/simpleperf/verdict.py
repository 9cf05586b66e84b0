"""How judges write their checks."""

from __future__ import annotations

from collections.abc import Iterable

from linklab.grade.simpleperf.catalogue import ITEMS
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.report import ConformanceCheck

_FIRST = "make what it needs work first, then check again"


def passed(key: str, expected: str, found: str = "as expected", advice: Mistake | None = None) -> ConformanceCheck:
    """It is as it should be. ``advice`` is a mistake that costs nothing."""
    item = ITEMS[key]
    return ConformanceCheck(
        item.description,
        "passed",
        hint=advice.hint if advice else "",
        points=item.points,
        expected=expected,
        found=found,
        key=key,
        mistake=advice.title if advice else "",
    )


def failed(key: str, mistake: Mistake, reason: str, expected: str = "", found: str = "") -> ConformanceCheck:
    """It is not, probably by this mistake."""
    item = ITEMS[key]
    return ConformanceCheck(
        item.description,
        "failed",
        f"{mistake.title}: {reason}",
        mistake.hint,
        item.points,
        expected,
        found,
        key,
        mistake.title,
    )


def unknown(key: str, why: str, hint: str = _FIRST) -> ConformanceCheck:
    """Nothing can be said, because something else came in between."""
    item = ITEMS[key]
    return ConformanceCheck(item.description, "inconclusive", why, hint, points=item.points, key=key)


def all_unknown(keys: Iterable[str], why: str) -> list[ConformanceCheck]:
    """The same for several."""
    return [unknown(key, why) for key in keys]
