"""Read what programs in the background of nodes' shells print, while a lab waits for something else.

A terminal holds some kB. A program that prints more, a server that notes its requests, stands still until they are
read.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Mapping, Sequence

Readers = Mapping[int, Callable[[], object]]
"""For each terminal that nobody waits for, by its descriptor, the function that reads what is there."""


def poll(fds: Sequence[int], timeout_s: float | None, readers: Readers) -> list[int]:
    """Return those of `fds` that are readable, [] after `timeout_s`. Call the readers of other terminals meanwhile."""
    others = {fd: read for fd, read in readers.items() if fd not in fds}
    poller = select.poll()
    for fd in (*fds, *others):
        poller.register(fd, select.POLLIN)
    deadline = None if timeout_s is None or not others else time.monotonic() + timeout_s
    while True:
        ready = [fd for fd, _ in poller.poll(None if timeout_s is None else max(0.0, timeout_s) * 1000)]
        for fd in ready:
            if fd in others:
                others[fd]()
        asked = [fd for fd in ready if fd not in others]
        if asked or not ready:
            return asked
        if deadline is not None:
            timeout_s = deadline - time.monotonic()
