"""Studies without labs."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

import linklab
from linklab.study import runner

from . import pretend


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is started: labs answer at once."""
    monkeypatch.setattr(linklab, "start", pretend.PretendLab)
    monkeypatch.setattr(runner, "choose", lambda: SimpleNamespace(image=None))
    _forget()
    yield
    running = [lab for lab in pretend.STARTED if lab.running]
    _forget()
    assert running == []


def _forget() -> None:
    for remembered in (pretend.CALLS, pretend.STARTED, pretend.FAIL_AT, pretend.HOLD_AT):
        remembered.clear()
