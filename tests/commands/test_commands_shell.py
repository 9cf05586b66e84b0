"""``linklab shell``: on a lab of its own and as a visitor of a running one, whose owner sees no harm."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import linklab
from linklab.cli import main
from linklab.errors import LabError
from linklab.lab import Lab
from linklab.network import TWO_HOSTS
from linklab.runtime.door import Door, Visit, open_door, running_labs
from linklab.runtime.kinds import Kind

from .terminal import Terminal, one_line

NOBODY = 65534


@pytest.fixture(scope="module")
def running(virtual: Kind) -> Iterator[Lab]:
    with linklab.start(TWO_HOSTS, "virtual") as lab:
        yield lab


def name_of(door: Door) -> str:
    """What `linklab shell --lab` takes."""
    return next(name for name, address in running_labs().items() if address == door.address)


def refuse(node: str, command: str, show: Callable[[str], None], stop: Callable[[], bool]) -> None:
    raise AssertionError("nobody asked")


@pytest.fixture
def door() -> Iterator[Door]:
    opened = open_door("nobody's lab", lambda: ["h1"], refuse)
    yield opened
    opened.close()


@pytest.mark.lab
def test_a_lab_of_its_own(virtual: Kind, tmp_path: Path) -> None:
    with Terminal(tmp_path, "shell", "--network", "two-hosts", "--clock", "virtual") as shell:
        shell.type(
            "ping -c 2 10.0.0.2", "on h2", "ip -br address show h2-eth0", "on h9", "on root", "id -un; ls -d /sys"
        )
        shell.type("exit", "echo not any more")
        assert shell.end() == 0
        assert "a new lab, two-hosts, in virtual time" in shell.said
        assert "rtt min/avg/max/mdev = 20.0" in shell.said
        assert re.search(r"h2-eth0\S* +UP +10\.0\.0\.2/24", shell.said)
        assert "there is no 'h9' here: choose one of root, h1, h2" in shell.said
        assert "root\n/sys\n" in shell.said
        assert "not any more" not in shell.said
        assert shell.left() == {}


@pytest.mark.lab
def test_ctrl_c_ends_the_command_and_not_the_lab(virtual: Kind, tmp_path: Path) -> None:
    with Terminal(tmp_path, "shell", "h2", "--network", "two-hosts", "--clock", "virtual") as shell:
        shell.type("ping 10.0.0.1 | grep --line-buffered seq=7")
        shell.wait_for("icmp_seq=7 ")
        shell.interrupt()
        shell.type("echo still $((40 + 2))")
        shell.wait_for("still 42")
        shell.interrupt()  # while nothing runs
        shell.type("echo again $((40 + 3))")
        shell.wait_for("again 43")
        assert shell.end() == 0
        assert "Traceback" not in shell.said
        assert shell.left() == {}


@pytest.mark.lab
def test_nothing_is_left_of_a_shell_that_was_killed(virtual: Kind, tmp_path: Path) -> None:
    with Terminal(tmp_path, "shell", "--network", "two-hosts", "--clock", "virtual") as shell:
        shell.wait_for("a new lab")
        assert any("supervisor.py" in words for words in shell.alive().values())
        shell.process.kill()
        shell.process.wait()
        assert shell.left() == {}


@pytest.mark.lab
def test_a_visitor_sees_the_lab_and_its_owner_sees_no_harm(running: Lab, tmp_path: Path) -> None:
    running["h1"].cmd("message='the owner was here'")
    with Terminal(tmp_path, "shell", "--lab", name_of(running.door)) as visitor:
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
def test_a_visitor_killed_during_a_command_leaves_the_lab_usable(running: Lab, tmp_path: Path) -> None:
    with Terminal(tmp_path, "shell", "h2", "--lab", name_of(running.door)) as visitor:
        visitor.type("ping 10.0.0.1 | grep --line-buffered seq=7")
        visitor.wait_for("icmp_seq=7 ")
        visitor.process.kill()
    assert running["h2"].cmd("echo free") == "free\n"


@pytest.mark.lab
def test_a_visitor_during_the_end_of_the_lab_is_told(virtual: Kind, tmp_path: Path) -> None:
    with (
        linklab.start(TWO_HOSTS, "virtual") as lab,
        Terminal(tmp_path, "shell", "--lab", name_of(lab.door)) as visitor,
    ):
        visitor.type("ping 10.0.0.2 | grep --line-buffered seq=7")
        visitor.wait_for("icmp_seq=7 ")
        lab.stop()
        assert visitor.end() == 1
        assert one_line(visitor.said.splitlines()[-1])
        assert lab.door.address not in running_labs().values()


@pytest.mark.lab
def test_unknown_hosts_and_labs_are_named(running: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "h9", "--lab", name_of(running.door)]) == 1
    assert "choose one of root, h1, h2" in capsys.readouterr().err
    assert main(["shell", "--lab", "no such lab"]) == 1
    assert name_of(running.door) in one_line(capsys.readouterr().err)


@pytest.mark.lab
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_another_user_is_not_let_in(running: Lab) -> None:
    code = """
import socket, sys
door = socket.socket(socket.AF_UNIX)
door.connect(chr(0) + sys.argv[1])
door.settimeout(300)
try:
    door.sendall(b'{"node": "h1", "command": "echo in"}\\n')
    print("said:", door.recv(100))
except OSError:
    print("said:", b"")
"""
    done = subprocess.run(
        ["/usr/bin/python3", "-c", code, running.door.address[1:]], user=NOBODY, group=NOBODY, extra_groups=[],
        capture_output=True, text=True, check=True, cwd="/", timeout=600,
    )  # fmt: skip
    assert done.stdout.strip() == "said: b''", done


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_door_with_our_name_of_another_user_is_not_entered() -> None:
    address = f"linklab-lab-{os.getuid()}-1-1-trap"
    code = f"""
import socket
door = socket.socket(socket.AF_UNIX)
door.bind(chr(0) + {address!r})
door.listen()
print("open", flush=True)
visitor = door.accept()[0]
visitor.sendall(b'{{"nodes": ["h1"]}}\\n')
visitor.recv(100)
"""
    with subprocess.Popen(
        ["/usr/bin/python3", "-c", code], user=NOBODY, group=NOBODY, extra_groups=[], stdout=subprocess.PIPE, cwd="/"
    ) as trap:
        assert trap.stdout is not None
        assert trap.stdout.readline() == b"open\n"
        assert "\0" + address in running_labs().values()
        with pytest.raises(LabError, match="is another user's"):
            Visit("\0" + address)
        trap.kill()


def test_a_silent_command_is_ended_before_the_lab_is_taken_for_hung() -> None:
    def silent(node: str, command: str, show: Callable[[str], None], stop: Callable[[], bool]) -> None:
        show("begun")
        while not stop():
            pass
        raise KeyboardInterrupt

    opened, said = open_door("silent", lambda: ["h1"], silent, silence_limit_s=0.01), list[str]()
    visit = Visit(opened.address)
    with pytest.raises(RuntimeError, match=r"silent for 0\.01 s"):
        visit.run("h1", "iperf3 -s", said.append)
    assert said == ["begun"]
    visit.close()
    opened.close()


@pytest.mark.parametrize("name", ["a b\nc", "ä" * 200, "x" * 500, ""])
def test_any_name_makes_a_door(name: str) -> None:
    opened = open_door(name, lambda: ["h1"], refuse)
    assert opened.address in running_labs().values()
    opened.close()


def test_a_closed_door_is_gone(door: Door) -> None:
    visit = Visit(door.address)
    door.close()
    door.close()
    assert door.address not in running_labs().values(), "though a visitor is still there"
    with pytest.raises(LabError, match="has just ended"):
        Visit(door.address)
    visit.close()


def test_the_newest_lab_comes_last() -> None:
    doors = [open_door("same", lambda: ["h1"], refuse) for _ in range(12)]
    ours = [address for address in running_labs().values() if address in {door.address for door in doors}]
    assert ours == [door.address for door in doors]
    for door in doors:
        door.close()


def test_several_visitors_at_once() -> None:
    def echo(node: str, command: str, show: Callable[[str], None], stop: Callable[[], bool]) -> None:
        show(command)

    opened = open_door("echo", lambda: ["h1"], echo)
    answers: dict[str, str] = {}

    def visit(word: str) -> None:
        one = Visit(opened.address)
        for _ in range(20):
            one.run("h1", word, lambda text: answers.update({word: answers.get(word, "") + text}))
        one.close()

    visitors = [threading.Thread(target=visit, args=(word,)) for word in ("a", "b", "c")]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join(60)
    opened.close()
    assert answers == {word: word * 20 for word in ("a", "b", "c")}


def test_a_visitor_that_talks_nonsense_does_no_harm(door: Door) -> None:
    rude = socket.socket(socket.AF_UNIX)
    rude.connect(door.address)
    rude.sendall(b"GET / HTTP/1.1\n\n")
    while rude.recv(1000):
        pass
    rude.close()
    Visit(door.address).close()
