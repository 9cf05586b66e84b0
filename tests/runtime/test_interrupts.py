"""Ctrl-C at any moment: the lab answers the next request correctly, or says in one line that it has ended."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.errors import LabEnded
from linklab.measure import MeasurementStopped, PingFlow, SimpleperfFlow, at_once
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab
LONG = "x" * 400_000
"""As an argument it travels in 200 frames."""


def _length(net: Any, text: str) -> int:
    return len(text)


def _waits(net: Any) -> None:
    time.sleep(0.05)


def _transfer(lab: linklab.Lab) -> None:
    at_once(lab, [SimpleperfFlow("h1", "h2", 1)])


def _ping(lab: linklab.Lab) -> None:
    at_once(lab, [PingFlow("h1", "h2", 2, 0.2)])


def _program(lab: linklab.Lab) -> None:
    program = lab["h1"].popen("echo one; sleep 0.05; echo two")
    assert "".join(program) == "onetwo"
    assert program.wait() == 0


ACTIONS: dict[str, Callable[[linklab.Lab], object]] = {
    "cmd": lambda lab: lab["h1"].cmd("echo one; sleep 0.05; echo two"),
    "much output": lambda lab: lab["h1"].cmd("seq 20000"),
    "call": lambda lab: lab.call(_waits),
    "long request": lambda lab: lab.call(_length, LONG),
    "popen": _program,
    "cli": lambda lab: lab.cli("h1 sleep 0.05"),
    "measurement": _ping,
    "transfer": _transfer,
}


class Pressed:
    """Presses Ctrl-C once, so long after `press`, unless told before that it is not wanted any more."""

    def __init__(self) -> None:
        self._wanted = threading.Event()

    def press(self, after_s: float) -> None:
        self._wanted.set()
        threading.Timer(after_s, self._now).start()

    def _now(self) -> None:
        if self._wanted.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    def never_mind(self) -> None:
        self._wanted.clear()


def _tried(chance: random.Random, action: Callable[[], object], within_s: float) -> bool:
    """Does it with Ctrl-C at a random moment; whether that came before the end."""
    pressed = Pressed()
    try:
        try:
            pressed.press(chance.uniform(0, within_s))
            action()
        finally:
            pressed.never_mind()
        time.sleep(0)  # one that is on its way
    except (KeyboardInterrupt, MeasurementStopped):
        return True
    return False


def _clear(lab: linklab.Lab) -> None:
    """The next request is answered, one of seven frames too, and the node is free."""
    for _ in range(2):
        assert lab["h1"].cmd("echo well").strip() == "well"
    assert lab.call(_length, LONG) == len(LONG)


@pytest.fixture
def lab(virtual: Kind, tmp_path: Path) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path) as running:
        yield running


@pytest.mark.large
@pytest.mark.parametrize("times", [pytest.param(3, id="few"), pytest.param(60, id="many", marks=pytest.mark.thorough)])
def test_at_random_moments_of_everything(lab: linklab.Lab, times: int) -> None:
    chance = random.Random(16)
    came = 0
    for name, action in ACTIONS.items():
        started_s = time.monotonic()
        action(lab)
        took_s = time.monotonic() - started_s
        for _ in range(times):
            came += _tried(chance, lambda action=action: action(lab), took_s)  # type: ignore[misc]
            try:
                _clear(lab)
            except LabEnded as ended:
                pytest.fail(f"{name}: {ended}")
    assert came > times * len(ACTIONS) / 4


@pytest.mark.parametrize("times", [pytest.param(4, id="few"), pytest.param(40, id="many", marks=pytest.mark.thorough)])
def test_at_random_moments_of_start(virtual: Kind, tmp_path: Path, times: int, nothing_left: None) -> None:
    chance = random.Random(16)
    started_s = time.monotonic()
    linklab.start(TWO_HOSTS, folder=tmp_path).stop()
    took_s = time.monotonic() - started_s
    for _ in range(times):
        _tried(chance, lambda: linklab.start(TWO_HOSTS, folder=tmp_path).stop(), took_s)


def test_pressed_twice_it_means_once(virtual: Kind, tmp_path: Path) -> None:
    def deaf(net: Any) -> None:
        try:
            while True:
                pass
        except KeyboardInterrupt:
            sum(range(30_000_000))  # the second comes meanwhile
            raise

    with linklab.start(TWO_HOSTS, folder=tmp_path) as lab:
        for after_s in (0.5, 0.6):
            threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            lab.call(deaf)
        _clear(lab)
