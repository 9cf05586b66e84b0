"""Many tests of one kind: some always, the others only where there is time (``make test-thorough``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some(names: Iterable[str], *always: str) -> list[Any]:
    """Parameters for all names; those that begin otherwise than one of ``always`` are marked thorough."""
    return [pytest.param(name, marks=() if name.startswith(always) else pytest.mark.thorough) for name in names]


def some_cases(cases: Iterable[Any], ids: Iterable[str], *always: str) -> list[Any]:
    """As `some`, of cases (a tuple, or one value) that have names."""
    marks = {True: (), False: (pytest.mark.thorough,)}
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), id=name, marks=marks[name in always])
        for case, name in zip(cases, ids, strict=True)
    ]
