"""Ctrl-C at any moment: the lab answers the next request correctly, or says in one line that it has ended."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.errors import LabEnded, LabError
from linklab.measure import MeasurementStopped, PingFlow, SimpleperfFlow, run_together
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind, choose

pytestmark = pytest.mark.lab
LONG = "x" * 400_000
"""As an argument it travels in 200 frames."""


def _length(net: Any, text: str) -> int:
    return len(text)


def _waits(net: Any) -> None:
    time.sleep(0.05)


def _transfer(lab: linklab.Lab) -> None:
    run_together(lab, [SimpleperfFlow("h1", "h2", 1)])


def _ping(lab: linklab.Lab) -> None:
    run_together(lab, [PingFlow("h1", "h2", 2, 0.2)])


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
        self._wanted, self._lock = False, threading.Lock()

    def press(self, after_s: float) -> None:
        self._wanted = True
        threading.Timer(after_s, self._now).start()

    def _now(self) -> None:
        with self._lock:
            if self._wanted:
                os.kill(os.getpid(), signal.SIGINT)

    def never_mind(self) -> None:
        with self._lock:
            self._wanted = False


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
def test_at_random_moments_of_everything(lab: linklab.Lab) -> None:
    times = 3
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


def test_at_random_moments_of_start(virtual: Kind, tmp_path: Path, nothing_left: None) -> None:
    chance = random.Random(16)
    started_s = time.monotonic()
    linklab.start(TWO_HOSTS, folder=tmp_path).stop()
    took_s = time.monotonic() - started_s
    for _ in range(4):
        _tried(chance, lambda: linklab.start(TWO_HOSTS, folder=tmp_path).stop(), took_s)


INTERRUPTED = [
    "lab.cli('h1 ping -c 10000000 h2')",
    "lab.call(sleeping)",
    "lab.call(computing)",
    "lab.call(shell)",
    "lab.call(child)",
]


@pytest.mark.large
def test_ctrl_c_comes_as_in_a_terminal_and_the_lab_lives_on(virtual: Kind, lab_folder: Path, tmp_path: Path) -> None:
    """In a process of its own, which gets a real SIGINT while the lab works."""
    program = f"""
        import os, signal, sys, threading, time
        from pathlib import Path
        import linklab
        from linklab.network import TWO_HOSTS

        def sleeping(net):
            import time
            while True:
                time.sleep(0.01)

        def computing(net):
            while True:
                pass

        def shell(net):
            net["h1"].cmd("while true; do sleep 0.01; done")

        def child(net):
            import subprocess
            subprocess.run("while true; do sleep 0.01; done", shell=True)

        def press(after_s):
            time.sleep(after_s)
            os.kill(os.getpid(), signal.SIGINT)

        with linklab.start(TWO_HOSTS, folder=Path({str(lab_folder)!r})) as lab:
            for words in {INTERRUPTED!r}:
                threading.Thread(target=press, args=(3 if "ping" in words else 0.5,)).start()  # ping has begun
                try:
                    eval(words)
                except KeyboardInterrupt:
                    print("INTERRUPTED", lab["h1"].cmd("echo and well").strip(), lab.cli("sh echo now").strip())
    """
    script = tmp_path / "beside" / "works.py"
    script.parent.mkdir()
    script.write_text(textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])},
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("INTERRUPTED")]
    assert lines == ["INTERRUPTED and well now"] * len(INTERRUPTED), done.stdout + done.stderr
    assert "packets transmitted" in done.stdout


def test_who_stops_a_request_is_asked_while_events_come_without_a_pause(lab: linklab.Lab) -> None:
    def talk(context: Any) -> None:
        for number in range(10_000):
            context.emit(number)
            context.poll((), 0.01)

    events: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        lab.process.call(talk, on_event=events.append, stop=lambda: len(events) >= 3)
    # The lab talks on while a busy machine carries the interrupt to it: beside six busy loops on two cores 40 to 50
    # events, at most 144, whether programs read the clock by themselves or by system calls.
    assert 3 <= len(events) < 1_000
    assert lab["h1"].cmd("echo well").strip() == "well"


COMPUTING: dict[str, Callable[[linklab.Lab], object]] = {
    "command": lambda lab: lab["h1"].cmd("python3 -c 'while 1: pass'"),
    "after output": lambda lab: lab["h1"].cmd("echo begun; python3 -c 'while 1: pass'"),
    "deaf": lambda lab: lab["h1"].cmd("(trap '' INT; while :; do :; done)"),
    "in the background": lambda lab: lab["h1"].cmd("python3 -c 'while 1: pass' &"),
    "popen": lambda lab: lab["h1"].popen("python3 -c 'while 1: pass'").wait(),
    "cli": lambda lab: lab.cli("h1 python3 -c 'while 1: pass'"),
}
"""The lab's time stands still meanwhile, and with it all its time limits."""


@pytest.mark.large
@pytest.mark.parametrize("name", COMPUTING)
def test_ctrl_c_ends_what_computes_without_end_and_keeps_the_lab(name: str, lab: linklab.Lab) -> None:
    _ends_by_ctrl_c(COMPUTING[name], lab)


@pytest.mark.large
@pytest.mark.parametrize("name", ["after output", "in the background"])
def test_ctrl_c_ends_what_computes_without_end_in_qemu(name: str, tmp_path: Path) -> None:
    try:
        choose("qemu")
    except LabError as error:
        pytest.skip(f"needs QEMU: {error}")
    with linklab.start(TWO_HOSTS, kind="qemu", folder=tmp_path) as lab:
        _ends_by_ctrl_c(COMPUTING[name], lab)


def _ends_by_ctrl_c(compute: Callable[[linklab.Lab], object], lab: linklab.Lab) -> None:
    threading.Timer(3.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        compute(lab)
    assert lab["h1"].cmd("echo well").splitlines()[-1] == "well"
    before_s = lab.now()
    lab.sleep(1)
    assert lab.now() - before_s >= 1


@pytest.mark.large
def test_what_computes_without_end_is_named_at_the_limit_and_ended(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(TWO_HOSTS, folder=tmp_path, wall_limit_s=8) as lab:
        with pytest.raises(LabError, match=r"silent for 8 s.*'python3 -c while 1: pass' \(pid \d+ on h1\) computes"):
            lab["h1"].cmd("python3 -c 'while 1: pass'")
        assert lab["h1"].cmd("echo well").strip() == "well"
