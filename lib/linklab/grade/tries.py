"""How often a multiple choice was tried, and what it is worth then, if the course says so.

A course may set `choice_points`: what a choice is worth at the first, the second, ... try, in percent, as
``choice_points = [100, 100, 50, 0]`` in ``linklab.toml``. The last number is for all tries after it. Without the
setting every choice is worth all its points. Only another option is another try. A notebook keeps the wrong options
with a check's result, so that they count after the kernel was started anew. Clearing its outputs clears them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from linklab import settings
from linklab.grade.check import Check, checks_in, counted

CHOICE_POINTS: Final = "choice_points"
_wrong: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
"""The wrong options that were chosen in this process, by the result's title and what was asked."""


def forget() -> None:
    """Start to count anew."""
    _wrong.clear()


def noted(title: str, checks: Sequence[Check], kept: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return the checks of one call with the wrong options so far; ``kept`` is what the notebook has of earlier calls.

    A check without a chosen option stays as it is.
    """
    before = {check.description: check.tried_wrong for check in checks_in(kept)}
    return tuple(
        _noted(_wrong[title, check.description], check, before.get(check.description, ())) if check.chosen else check
        for check in checks
    )


def _noted(known: set[str], check: Check, before: Iterable[str]) -> Check:
    known |= {*before}
    if check.passed:
        known.discard(check.chosen)
    else:
        known.add(check.chosen)
    return replace(check, tried_wrong=tuple(sorted(known)))


def share(tried_wrong: Sequence[Sequence[str]], percents: Sequence[float] | None) -> float:
    """Return the share of its points that a passed cell is worth by the course's ``percents``, 1.0 without them.

    ``tried_wrong`` has the wrong options of each of its checks. Each check counts as much as any other, and one that is
    no choice in full.
    """
    if not percents or not tried_wrong:
        return 1.0
    each = [percents[min(len(options), len(percents) - 1)] / 100 for options in tried_wrong]
    return sum(each) / len(each)


def worth(points: float, share: float) -> str:
    """Return in words what a cell of so many points is worth."""
    said = counted(points, "point")
    return said if share == 1 else f"{points * share:.3g} of {said}, after wrong choices"


def percents() -> tuple[float, ...] | None:
    """Return what the course has set, None where it has not. Raises LinklabError for what are no percentages."""
    return settings.percents(CHOICE_POINTS)
