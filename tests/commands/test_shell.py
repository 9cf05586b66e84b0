"""``linklab shell``: on a lab of its own and as a visitor of a running one, whose owner sees no harm."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import linklab
from linklab.cli import main
from linklab.errors import LabError
from linklab.lab import Lab
from linklab.network import TWO_HOSTS
from linklab.runtime.attach import Visit, VisitorListener, listen, running_labs
from linklab.runtime.backends import Kind

from .terminal import Terminal

NOBODY = 65534


@pytest.fixture(scope="module")
def running(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of this process, whose working folder it is the only one to have."""
    with contextlib.chdir(tmp_path_factory.mktemp("notebooks")), linklab.start(TWO_HOSTS) as lab:
        yield lab


def refuse(node: str, command: str, stop: Callable[[], bool]) -> Iterator[str]:
    raise AssertionError("nobody asked")


@pytest.fixture
def listener() -> Iterator[VisitorListener]:
    opened = listen("nobody's lab", lambda: ["h1"], refuse)
    yield opened
    opened.close()


@pytest.mark.lab
def test_a_lab_of_its_own(virtual: Kind, tmp_path: Path) -> None:
    with Terminal(tmp_path, "shell", "--network", "two-hosts") as shell:
        shell.type(
            "ping -c 2 10.0.0.2", "on h2", "ip -br address show h2-eth0", "on h9", "on root", "id -un; ls -d /sys"
        )
        shell.type("exit", "echo not any more")
        assert shell.end() == 0
        assert "a new lab, two-hosts; it ends" in shell.said
        assert "rtt min/avg/max/mdev = 20.0" in shell.said
        assert re.search(r"h2-eth0\S* +UP +10\.0\.0\.2/24", shell.said)
        assert "there is no 'h9' here: choose one of root, h1, h2" in shell.said
        assert "root\n/sys\n" in shell.said
        assert "not any more" not in shell.said
        assert shell.left() == {}


@pytest.mark.large
@pytest.mark.lab
def test_ctrl_c_ends_the_command_and_not_the_lab(virtual: Kind, tmp_path: Path) -> None:
    with Terminal(tmp_path, "shell", "h2", "--network", "two-hosts") as shell:
        shell.type("ping 10.0.0.1 | grep --line-buffered seq=7")
        shell.wait_for("icmp_seq=7 ")
        shell.interrupt()
        shell.type("echo still $((40 + 2))")
        shell.wait_for("still 42")
        shell.interrupt()  # while nothing runs: what it reads from its input just then is lost
        while "again 43" not in shell.said:
            shell.type("echo again $((40 + 3))")
            shell.listen(3.0)
        assert shell.end() == 0
        assert "Traceback" not in shell.said
        assert shell.left() == {}


@pytest.mark.lab
def test_nothing_is_left_of_a_shell_that_was_killed(virtual: Kind, tmp_path: Path) -> None:
    with Terminal(tmp_path, "shell", "--network", "two-hosts") as shell:
        shell.wait_for("a new lab")
        assert any("supervisor.py" in words for words in shell.alive().values())
        shell.process.kill()
        shell.process.wait()
        assert shell.left() == {}


@pytest.mark.lab
def test_a_visitor_sees_the_lab_and_its_owner_sees_no_harm(running: Lab) -> None:
    running["h1"].cmd("message='the owner was here'")
    with Terminal(Path.cwd(), "shell") as visitor:
        visitor.type('echo "$message"', "ping 10.0.0.2 | grep --line-buffered seq=7")
        visitor.wait_for("icmp_seq=7 ")
        visitor.interrupt()
        visitor.type("nosuchcommand", "echo on h1 $((40 + 2))", "on root", "hostname; echo back")
        visitor.wait_for("back")
        assert "the owner was here" in visitor.said
        assert "not found" in visitor.said
        assert "on h1 42" in visitor.said
        assert visitor.end() == 0
        assert "it goes on when you leave" in visitor.said
    assert running["h1"].cmd('echo "$message"') == "the owner was here\n"
    assert " 0% packet loss" in running["h1"].cmd("ping -c 1 10.0.0.2")


@pytest.mark.lab
def test_an_unknown_host_is_named(running: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "h9"]) == 1
    assert "choose one of root, h1, h2" in capsys.readouterr().err


def test_labs_of_this_folder_and_below_are_found_and_no_other(listener: VisitorListener, tmp_path: Path) -> None:
    assert listener.address in running_labs(Path.cwd().parent).values()
    assert running_labs(tmp_path) == {}


@pytest.mark.lab
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_another_user_is_not_let_in(running: Lab) -> None:
    code = """
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.connect(chr(0) + sys.argv[1])
listener.settimeout(300)
try:
    listener.sendall(b'{"node": "h1", "command": "echo in"}\\n')
    print("said:", listener.recv(100))
except OSError:
    print("said:", b"")
"""
    done = subprocess.run(
        ["/usr/bin/python3", "-c", code, running.listener.address[1:]], user=NOBODY, group=NOBODY, extra_groups=[],
        capture_output=True, text=True, check=True, cwd="/", timeout=600,
    )  # fmt: skip
    assert done.stdout.strip() == "said: b''", done


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_door_with_our_name_of_another_user_is_not_entered() -> None:
    address = f"linklab-lab-{os.getuid()}-{os.getpid()}-0-trap"
    code = f"""
import socket
listener = socket.socket(socket.AF_UNIX)
listener.bind(chr(0) + {address!r})
listener.listen()
print("open", flush=True)
visitor = listener.accept()[0]
visitor.recv(100)
"""
    with subprocess.Popen(
        ["/usr/bin/python3", "-c", code], user=NOBODY, group=NOBODY, extra_groups=[], stdout=subprocess.PIPE, cwd="/"
    ) as trap:
        assert trap.stdout is not None
        assert trap.stdout.readline() == b"open\n"
        assert "\0" + address in running_labs(Path.cwd()).values()
        with pytest.raises(LabError, match="is another user's"):
            Visit("\0" + address)
        trap.kill()


@pytest.mark.lab
def test_a_visitor_who_stops_reading_does_not_keep_the_notebook_waiting(running: Lab) -> None:
    with Terminal(Path.cwd(), "shell", "h2") as visitor:
        visitor.type("yes")
        visitor.wait_for("y\ny\n")
        visitor.process.send_signal(signal.SIGSTOP)
        for _ in range(20):
            assert running["h1"].cmd("echo free") == "free\n"
        with pytest.raises(LabError, match=r"h2 is still busy with 'yes', perhaps in a linklab shell"):
            running["h2"].cmd("echo free")
        visitor.process.kill()
        visitor.process.send_signal(signal.SIGCONT)
        visitor.process.wait()
        _wait_until_free(running, "h2")


@pytest.mark.lab
@pytest.mark.parametrize("command", ["cat", "sleep 1e9", "ping -q 10.0.0.2"])
def test_a_visitors_long_command_does_not_keep_the_notebook_waiting(running: Lab, command: str) -> None:
    with Terminal(Path.cwd(), "shell", "h1") as visitor:
        visitor.type(f"echo be''gins; {command}")
        visitor.wait_for("begins")
        for _ in range(20):
            assert running["h2"].cmd("echo free") == "free\n"
        visitor.interrupt()
        visitor.type("echo en''ded")
        visitor.wait_for("ended")
    assert running["h1"].cmd("echo free") == "free\n"


def _wait_until_free(lab: Lab, node: str) -> None:
    for _ in range(600):
        with contextlib.suppress(LabError):
            assert lab[node].cmd("echo free") == "free\n"
            return
        time.sleep(0.1)
    pytest.fail(f"{node} is still busy")


def test_a_visitor_that_talks_nonsense_does_no_harm(listener: VisitorListener) -> None:
    rude = socket.socket(socket.AF_UNIX)
    rude.connect(listener.address)
    rude.sendall(b"GET / HTTP/1.1\n\n")
    while rude.recv(1000):
        pass
    rude.close()
    Visit(listener.address).close()
