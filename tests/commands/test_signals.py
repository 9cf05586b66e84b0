"""Ctrl-C, SIGTERM and SIGHUP: the first one is heard, the rest change nothing until the process is gone."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys

import pytest

from linklab.signals import SIGNALS, Held, calling_once, dropped, interrupted_once

_PROGRAM = """
import atexit, os, signal, sys
from linklab.signals import interrupted_once

first, second, moment = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

def again(now):
    if now == moment:
        os.kill(os.getpid(), second)

atexit.register(again, "end")  # runs while Python ends, after all else
with interrupted_once():
    try:
        if moment == "together":
            signal.pthread_sigmask(signal.SIG_BLOCK, {first, second})
            os.kill(os.getpid(), first)
            os.kill(os.getpid(), second)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {first, second})
        else:
            os.kill(os.getpid(), first)
        print("not interrupted")
    except KeyboardInterrupt:
        again("clean-up")
        print("cleaned up")
    again("leaving")
again("after")
"""


@pytest.mark.parametrize("moment", ["together", "clean-up", "leaving", "after", "end"])
@pytest.mark.parametrize(("first", "second"), list(itertools.product(SIGNALS, SIGNALS)))
def test_a_second_signal_changes_nothing(first: signal.Signals, second: signal.Signals, moment: str) -> None:
    words = [sys.executable, "-c", _PROGRAM, str(int(first)), str(int(second)), moment]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "cleaned up\n", "")


@pytest.mark.parametrize("number", SIGNALS)
def test_without_a_signal_all_is_as_before(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    calls: list[int] = []
    with interrupted_once(), calling_once(lambda: calls.append(1)):
        with dropped():
            assert signal.getsignal(number) == signal.SIG_IGN
            signal.raise_signal(number)
        assert signal.getsignal(number) not in (before, signal.SIG_IGN)
    assert signal.getsignal(number) == before
    assert calls == []


def test_held_signals_wait_for_the_end_and_for_being_let_through() -> None:
    steps: list[str] = []

    def work() -> None:
        with Held() as held:
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("not torn")
            try:
                held.let_through()
            except KeyboardInterrupt:
                steps.append("let through")
            held.let_through(lambda: steps.append("nothing waits"))
            os.kill(os.getpid(), signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                held.let_through(lambda: steps.append("what came is not lost"))
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("held again")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["not torn", "let through", "nothing waits", "what came is not lost", "held again"]


def test_while_signals_are_held_what_they_do_may_change() -> None:
    """As `calling_once` does, whose handler sets others."""
    calls: list[int] = []
    before = {number: signal.getsignal(number) for number in SIGNALS}
    with interrupted_once():
        with contextlib.suppress(KeyboardInterrupt), Held() as held:
            os.kill(os.getpid(), signal.SIGINT)
            try:
                held.let_through()
            except KeyboardInterrupt:
                calls.append(1)
            os.kill(os.getpid(), signal.SIGTERM)
        calls.append(2)
    assert calls == [1, 2]
    for number, handler in before.items():
        signal.signal(number, handler)
