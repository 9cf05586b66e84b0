"""An observer of measurements for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from linklab.measure import runner
from linklab.measure.runner import Observer


@contextlib.contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Let it see and stop each run of the block."""
    before = runner._new_observer
    runner.observe(lambda: observer)
    try:
        yield
    finally:
        runner._new_observer = before
