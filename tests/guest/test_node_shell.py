"""Commands in nodes' shells: several lines, long ones, limits that are none, and a shell that ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import linklab
from linklab.errors import LabError
from linklab.measure import MeasurementStopped, PingFlow, PingResult, run_together
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab
LINES = """
false
COUNT=5
for i in 1 2; do
    echo $i
done
cat <<END
here
END
sleep 1; echo end
"""


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("commands")) as lab:
        yield lab


def test_lines_are_one_command(lab: linklab.Lab) -> None:
    assert lab["h1"].cmd(LINES) == "1\n2\nhere\nend\n"
    assert lab["h1"].cmd("echo $COUNT") == "5\n"
    assert lab["h1"].run("false\nsleep 1\n(exit 7)").returncode == 7
    assert lab["h1"].cmd("\necho one\n") == "one\n"
    assert lab["h1"].cmd("echo two") == "two\n"


@pytest.mark.large
def test_what_waits_for_a_person_in_mininets_command_line_is_ended_and_the_lab_lives(
    lab: linklab.Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LabError, match=r"it would wait for ever: 'python3' \(pid \d+ on h2\)"):
        lab.cli("h2 python3")
    assert lab["h2"].cmd("echo well") == "well\n"
    press = threading.Timer(3.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    press.start()
    with pytest.raises(KeyboardInterrupt):
        lab.cli("h1 ping -c 65000 h2")
    press.join()
    assert "ping statistics" in capsys.readouterr().out, "its last words"
    assert lab.cli("h1 echo well") == "well\n"


def test_ctrl_c_loses_no_ping_that_was_answered(lab: linklab.Lab) -> None:
    press = threading.Timer(3.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    press.start()
    with pytest.raises(MeasurementStopped) as stopped:
        run_together(lab, [PingFlow("h1", "h2", count=65_000)])
    press.join()
    (pings,) = stopped.value.partial.of(PingResult)  # type: ignore[union-attr]
    assert len(pings.rtt_ms) > 10


IN_STEP = ["env; set", "declare -p", "printf '\\177'", 'printf "$PS1"; echo ${PS1@P}', "PS1=x; unset PS1"]
"""Commands that print the sign of the end of an answer, or change it."""


@pytest.mark.parametrize("text", IN_STEP)
def test_an_answer_is_that_of_its_own_command_whatever_was_printed_before(text: str, lab: linklab.Lab) -> None:
    assert lab["h1"].run(f"{text}; (exit 3)").returncode == 3
    assert lab["h1"].cmd("echo one") == "one\n"
    assert lab["h1"].cmd("echo two") == "two\n"
    assert lab["h1"].run(text).returncode == 0


@pytest.mark.parametrize(
    ("text", "status"),
    [("echo last; exit 7", 7), ("set -e; false", 1), ("exec false", 1), ("kill -9 $$", 137)],
)
def test_a_shell_that_ends_is_replaced_and_the_lab_lives(
    text: str, status: int, lab: linklab.Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lab["h1"].cmd("cd /tmp; NAME=linklab")
    done = lab["h1"].run(text)
    assert done.returncode == status
    assert done.output.removesuffix("exit\n") == ("last\n" if "last" in text else "")
    said = "".join(capsys.readouterr())
    assert said.count("\n") == 1
    assert "the shell of h1 has ended" in said
    assert "a new one" in said
    assert lab["h1"].cmd("echo well $NAME") == "well\n"
    assert " 0% packet loss" in lab["h1"].cmd("ping -c 1 10.0.0.2")
    assert lab["h1"].popen("true").wait() == 0


def test_a_shell_that_ended_by_itself_is_replaced_before_the_next_command(lab: linklab.Lab) -> None:
    pid = lab["h1"].cmd("echo $$").strip()
    lab["root"].cmd(f"kill -9 {pid}")
    assert lab["h1"].popen("true").wait() == 0
    lab["root"].cmd(f"kill -9 {lab['h1'].cmd('echo $$').strip()}")
    assert lab["h1"].cmd("echo well") == "well\n"


@pytest.mark.parametrize("text", ["bash", "exec bash", "echo 'open"])
def test_a_shell_that_waits_for_a_person_is_ended_and_the_lab_lives(text: str, lab: linklab.Lab) -> None:
    with pytest.raises(LabError, match=r"was not done after 2 s|waits? "):
        lab["h2"].cmd(text, timeout_s=2)
    assert lab["h2"].cmd("echo well") == "well\n"


def test_ending_a_stubborn_command_ends_that_command_alone(lab: linklab.Lab) -> None:
    lab["h2"].cmd("(while true; do sleep 0.3; done) & sleep 1001 &")
    deaf = "trap '' INT; python3 -c 'import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(1002)'"
    with pytest.raises(LabError, match="was not done after 1 s"):
        lab["h2"].cmd(f"({deaf})", timeout_s=1)
    left = lab["h2"].cmd("ps -eo args")
    assert "sleep 1001" in left
    assert "sleep 0.3" in left
    assert "1002" not in left
    lab["h2"].cmd("kill %1 %2")


PRINTS = """python3 -c '
import time
while True:
    time.sleep(0.02)
    print("a line of some length, as servers print one for each request")
    open("/tmp/last", "w").write(str(int(time.time())))
' &"""


def _wait_in_a_node(net: Any) -> None:
    net["h2"].cmd("sleep 30")


@pytest.mark.parametrize("wait", [lambda lab: lab.sleep(30), lambda lab: lab.call(_wait_in_a_node)])
def test_a_background_program_prints_on_while_nobody_reads(
    wait: Callable[[linklab.Lab], object], lab: linklab.Lab
) -> None:
    """A terminal holds some kB: it stood still, mute, and so did a server that notes its requests."""
    lab["h1"].cmd(PRINTS)
    try:
        wait(lab)
        assert int(lab["h2"].cmd("echo $(($(date +%s) - $(cat /tmp/last)))")) <= 1
        assert "own words" in lab["h1"].cmd("echo own words").splitlines()
    finally:
        lab["h1"].cmd("kill $!; wait")
