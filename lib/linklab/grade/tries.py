"""Which wrong options of a multiple choice were chosen, so that a class's table says at which try choices were right.

A notebook keeps the wrong options with a check's result, so that they count after the kernel was started anew. Clearing
its outputs clears them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from linklab.grade.check import Check, checks_in

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
