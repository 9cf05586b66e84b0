"""Treat Ctrl-C, SIGTERM and SIGHUP (the terminal was closed) alike, and act on the first one only.

The first one begins the clean-up. Those that follow, as of a person who presses Ctrl-C twice or of a session that ends
and sends SIGTERM after SIGHUP, must not tear it off, nor turn the status of a program that is ending in order into
another: they are dropped until the process ends.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_Setting = Callable[[int, FrameType | None], object] | int | None


@contextlib.contextmanager
def interrupted_once() -> Iterator[None]:
    """Inside, the first of `SIGNALS` raises KeyboardInterrupt. Outside the main thread nothing changes."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with calling_once(interrupt):
        yield


@contextlib.contextmanager
def calling_once(function: Callable[[], None]) -> Iterator[None]:
    """Inside, the first of `SIGNALS` calls `function`, between two steps of the main thread.

    Without a signal, what was set before is set again at the end. Outside the main thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = False

    def first(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        for each in SIGNALS:
            # Not SIG_IGN yet: Python complains on standard error of one that it has noted and not yet handled.
            signal.signal(each, _nothing)
        function()

    before = {number: signal.signal(number, first) for number in SIGNALS}
    try:
        yield
    finally:
        if came:
            _drop()
        else:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def dropped() -> Iterator[None]:
    """Inside, `SIGNALS` have no effect at all. Outside the main thread nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = _drop()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Held:
    """Inside, `SIGNALS` wait for `let_through`, or for the end of the block, so that they tear nothing in between.

    Outside the main thread nothing changes.
    """

    def __init__(self) -> None:
        self._main = threading.current_thread() is threading.main_thread()
        self._came: list[int] = []
        self._before: dict[signal.Signals, _Setting] = {}

    def __enter__(self) -> Held:
        if self._main:
            before = {number: signal.getsignal(number) for number in SIGNALS}
            self._before = {number: handler for number, handler in before.items() if callable(handler)}
            for number in self._before:
                signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go()

    def let_through(self, function: Callable[[], None] = lambda: None) -> None:
        """Handle the signals that came meanwhile, and call `function` in any case, during which signals are not
        held."""
        try:
            try:
                self._let_go()
            finally:
                function()
        finally:
            self.__enter__()

    def _let_go(self) -> None:
        for number, handler in reversed(self._before.items()):  # Ctrl-C last, which may come in between
            signal.signal(number, handler)
        came, self._came = self._came, []
        for each in came:
            handler = signal.getsignal(each)
            if callable(handler):
                handler(each, None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came.append(number)


def _drop() -> dict[signal.Signals, _Setting]:
    """Set `SIGNALS` to be ignored by the kernel, as they then are while Python itself ends; what was set before."""
    before = {number: signal.signal(number, _nothing) for number in SIGNALS}
    # While they are blocked none can come between Python's note of it and the new setting.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return before


def _nothing(number: int, frame: FrameType | None) -> None:
    """Handle a signal by doing nothing."""
