"""Treat Ctrl-C, SIGTERM and SIGHUP (the terminal was closed) alike, and act on the first one only.

The first signal begins the clean-up. A person may press Ctrl-C twice, and a session that ends sends SIGTERM after
SIGHUP: later signals must not break off the clean-up, nor change the exit status. So they are dropped until the process
ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
"""The shell's status for a program ended by SIGINT."""
INTERRUPTED_LINE = "linklab: interrupted\n"

_Setting = Callable[[int, FrameType | None], object] | int | None


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """End this process at once: the handler of Ctrl-C while a command loads its modules, and has nothing to clean up.

    KeyboardInterrupt, raised in the midst of an import, is swallowed by some modules and told at length by others.
    """
    os.write(2, INTERRUPTED_LINE.encode())
    os._exit(INTERRUPTED)


def leave_on_ctrl_c() -> None:
    """Have Ctrl-C end this process at once (`leave`), unless it is ignored, as in a shell's background programs."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def raise_interrupts() -> None:
    """Have Ctrl-C raise KeyboardInterrupt from here on, where it was `leave`: what is begun is to be cleaned up."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def interrupted_once() -> Iterator[None]:
    """Within the ``with``, the first of `SIGNALS` raises KeyboardInterrupt. Outside the main thread nothing changes."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with calling_once(interrupt):
        yield


@contextlib.contextmanager
def calling_once(function: Callable[[], None]) -> Iterator[None]:
    """Within the ``with``, the first of `SIGNALS` calls `function`, between two steps of the main thread.

    If no signal came, the handlers of before are set again at the end. Outside the main thread nothing changes.
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
            drop()
        else:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def dropped() -> Iterator[None]:
    """Within the ``with``, `SIGNALS` have no effect. Outside the main thread nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = drop()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Held:
    """Hold back `SIGNALS` until `let_through`, or until the end of the ``with``, so that no step is interrupted.

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
        """Handle the signals that came meanwhile, then call `function` in any case, without holding signals."""
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


def drop() -> dict[signal.Signals, _Setting]:
    """Have the kernel ignore `SIGNALS`, also while Python itself ends; return the handlers of before."""
    before = {number: signal.signal(number, _nothing) for number in SIGNALS}
    # While they are blocked none can come between Python's note of it and the new setting.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return before


def _nothing(number: int, frame: FrameType | None) -> None:
    """Do nothing about a signal."""
