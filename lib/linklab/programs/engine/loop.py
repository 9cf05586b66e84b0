"""An event loop on the lab's own clock that the notebook can interrupt."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
Poll = Callable[[Iterable[int], float | None], list[int]]
"""Waits until one of the descriptors is readable; `linklab.guest.request_loop.RequestLoop.poll` in a lab."""


class _Selector(selectors.EpollSelector):
    """Waits by way of `poll`, which also listens to the notebook."""

    def __init__(self, poll: Poll) -> None:
        super().__init__()
        self.poll: Poll | None = poll

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As EpollSelector's."""
        if self.poll is None:
            return super().select(timeout)
        # poll(2) counts in whole ms and would come back too early, again and again
        self.poll([self.fileno()], None if timeout is None else max(0.0, timeout) + 0.0005 * (timeout > 0))
        return super().select(0)


def run(poll: Poll, main: Coroutine[Any, Any, T]) -> T:
    """Runs `main` to its end. What `poll` raises ends the loop and comes out here, after `main` was cancelled."""
    selector = _Selector(poll)
    loop = asyncio.SelectorEventLoop(selector)
    asyncio.set_event_loop(loop)
    task = loop.create_task(main)
    try:
        return loop.run_until_complete(task)
    finally:
        selector.poll = None  # what is cancelled waits for nobody
        left = asyncio.all_tasks(loop)
        for other in left:
            other.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        asyncio.set_event_loop(None)
        loop.close()
