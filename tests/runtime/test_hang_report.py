"""Labs that print, are interrupted, or wait for ever: the notebook sees it as in a terminal, and the lab lives on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.errors import LabError
from linklab.network import End, Host, Link, Network
from linklab.runtime import context, waiting
from linklab.runtime.backends import Kind
from linklab.runtime.printed import KEPT_BYTES

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


PLAIN = Network(
    "plain",
    nodes=(Host("h1"), Host("h2")),
    links=(Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("h2", "h2-eth0", "10.0.0.2/24")),),
)


@pytest.fixture
def lab(virtual: Kind, lab_folder: Path) -> Iterator[linklab.Lab]:
    with linklab.start(PLAIN, folder=lab_folder) as running:
        yield running


def _speak(net: Any) -> None:
    import subprocess
    import sys

    from mininet.log import info, output, setLogLevel, warn

    print("print")
    subprocess.run("echo child; echo its error >&2", shell=True, check=True)
    sys.stderr.write("stderr\n")
    output("output\n")
    warn("warn\n")
    info("info is below Mininet's level\n")
    setLogLevel("info")
    info("info\n")
    net["h1"].cmdPrint("echo cmdPrint")
    setLogLevel()
    subprocess.run("echo last > /dev/stderr", shell=True, check=True)


SPOKEN = "print\nchild\nits error\nstderr\noutput\nwarn\ninfo\n*** h1 : ('echo cmdPrint',)\ncmdPrint\nlast\n"


def test_all_that_is_printed_comes_back_in_order(
    virtual: Kind, lab_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with linklab.start(PLAIN, folder=lab_folder, verify=False) as lab:
        capsys.readouterr()
        lab.call(_speak)
        assert capsys.readouterr().out == SPOKEN
        assert lab.cli("sh echo hi; echo to stderr >&2") == "hi\nto stderr\n"
        assert lab.cli("h1 echo hello") == "hello\n"
        assert lab.cli("nonsense") == "*** Unknown command: nonsense\n"
        assert "0% dropped (2/2 received)" in lab.cli("pingall")
        assert capsys.readouterr().out == ""


def test_what_a_child_prints_later_comes_with_a_later_answer(
    lab: linklab.Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(net: Any) -> None:
        import subprocess

        subprocess.Popen("sleep 5; echo late", shell=True)

    lab.call(start)
    lab.sleep(1)
    assert capsys.readouterr().out == ""
    lab.sleep(10)
    assert capsys.readouterr().out == "late\n"


def test_a_flood_is_cut_with_a_word(virtual: Kind, lab_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def flood(net: Any) -> None:
        import subprocess

        subprocess.run("yes | head -c 30000000", shell=True, check=True)
        print("not kept")

    with linklab.start(PLAIN, folder=lab_folder, verify=False) as lab:
        capsys.readouterr()
        lab.call(flood)
        out = capsys.readouterr().out
        assert KEPT_BYTES < len(out) < KEPT_BYTES + 300
        dropped_bytes = 30_000_000 + len("not kept\n") - KEPT_BYTES
        assert f"{dropped_bytes} bytes more were printed" in out
        assert lab.cli("sh echo afterwards") == "afterwards\n"


INTERRUPTED = [
    "lab.cli('h1 ping h2')",
    "lab.call(sleeping)",
    "lab.call(computing)",
    "lab.call(shell)",
    "lab.call(child)",
]


@pytest.mark.parametrize("traced", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_ctrl_c_comes_as_in_a_terminal_and_the_lab_lives_on(
    virtual: Kind, lab_folder: Path, tmp_path: Path, traced: bool
) -> None:
    """In a process of its own, which gets a real SIGINT while the lab works."""
    program = f"""
        import os, signal, sys, threading, time
        from pathlib import Path
        import linklab
        from tests.runtime.test_waiting import PLAIN

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

        def press():
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGINT)

        asked = dict(folder=Path({str(lab_folder)!r}), verify=False, traced={traced})
        with linklab.start(PLAIN, **asked) as lab:
            for words in {INTERRUPTED!r}:
                threading.Thread(target=press).start()
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


def _pipe(net: Any) -> None:
    import os

    os.read(os.pipe()[0], 1)


def _each_other(net: Any) -> None:
    import os
    import subprocess

    (one_in, one_out), (two_in, two_out) = os.pipe(), os.pipe()
    first = subprocess.Popen(["cat"], stdin=one_in, stdout=two_out)
    subprocess.Popen(["tee"], stdin=two_in, stdout=one_out)
    first.wait()


def _server(net: Any) -> None:
    net["h2"].cmd("python3 -c 'import socket; socket.create_server((\"\", 5001)).accept()'")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_pipe, r"the function is in _pipe \(test_waiting.py:\d+\)"),
        (
            _each_other,
            r"'tee' \(pid (\d+)\) waits to read from a pipe whose other end 'cat' \(pid (\d+)\) has; "
            r"'cat' \(pid \2\) waits to read from a pipe whose other end 'tee' \(pid \1\) has",
        ),
        (_server, r"is in _server \(.*\(pid \d+ on h2\) waits in accept on TCP port 5001"),
    ],
)
def test_who_waits_for_ever_is_named_and_the_lab_lives_on(
    lab: linklab.Lab, function: Callable[[Any], None], says: str
) -> None:
    with pytest.raises(LabError, match=f"(?s)no answer in 300,000 s of the lab's time.*{says}") as caught:
        lab.call(function)
    assert ("on h2 did not end" in str(caught.value)) == (function is _server)
    assert "busy loop" not in str(caught.value)
    assert lab["h2"].cmd("echo well").strip() == "well"


def test_a_command_that_waits_for_ever_is_ended_and_named(lab: linklab.Lab) -> None:
    with pytest.raises(LabError, match=r"'iperf3 -s' \(pid \d+ on h1\) waits in select, listens on TCP 5201"):
        lab["h1"].cmd("iperf3 -s")
    assert lab["h1"].cmd("echo well").strip() == "well"


def test_long_waits_that_name_their_end_are_let_be(lab: linklab.Lab) -> None:
    before = lab.now()
    lab.sleep(1_000_000)
    assert lab["h1"].cmd("sleep 200000; echo slept").strip() == "slept"
    assert lab.now() - before >= 1_200_000


def _busy(net: Any) -> None:
    while True:
        pass


def test_a_busy_loop_is_called_one_and_the_lab_lives_on(virtual: Kind, lab_folder: Path) -> None:
    with linklab.start(PLAIN, folder=lab_folder, wall_limit_s=3) as lab:
        with pytest.raises(LabError, match=r"silent for 3 s of real time.* computed for .* busy loop.* is in _busy"):
            lab.call(_busy)
        assert lab["h1"].cmd("echo well").strip() == "well"


def _sum_without_end(net: Any) -> int:
    return sum(iter(int, 1))


def test_a_loop_that_cannot_be_interrupted_ends_the_lab(virtual: Kind, lab_folder: Path) -> None:
    with linklab.start(PLAIN, folder=lab_folder) as lab:
        lab.process.wall_limit_s = 1.0
        with pytest.raises(LabError, match=r"and was ended.* computed for .* busy loop"):
            lab.call(_sum_without_end)
        assert not lab.process.running


def test_ctrl_c_while_a_request_is_sent_loses_nothing(lab: linklab.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    send = lab.process.transport.channel.send
    pressed: list[bool] = []

    def send_and_press(message: dict[str, Any], *rest: Any, **more: Any) -> None:
        if not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)
        send(message, *rest, **more)

    monkeypatch.setattr(lab.process.transport.channel, "send", send_and_press)
    with pytest.raises(KeyboardInterrupt):
        lab.cli("sh echo said")
    assert lab.cli("sh echo well") == "well\n"


def test_an_error_in_what_takes_an_event_ends_the_request_not_the_lab(lab: linklab.Lab) -> None:
    def wait(context: Any) -> None:
        context.emit("waiting")
        context.poll((), 50_000)

    def fail(event: Any) -> None:
        raise ZeroDivisionError("of the one who listens")

    with pytest.raises(ZeroDivisionError):
        lab.process.call(wait, on_event=fail)
    assert lab["h1"].cmd("echo well").strip() == "well"


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


def test_where_a_function_is_begins_behind_the_frames_that_called_it() -> None:
    """Whatever called `linklab.runtime.context`: the agent of one kind of lab, and the guest of another."""
    called = {"function": lambda: waiting._place(sys._getframe())}
    exec(compile("said = function()", str(context.__file__), "exec"), called)
    assert re.fullmatch(r"the function is in <lambda> \(test_waiting.py:\d+\)", str(called["said"]))
