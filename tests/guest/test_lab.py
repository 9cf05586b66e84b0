"""Real networks in real labs: built, read back, used as a notebook uses them."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mininet.topo import Topo

import linklab
from linklab.errors import LabEnded, LabError, LabTimeout, NetworkError, UnknownNode
from linklab.lab import Completed, Node, tell_of_commands
from linklab.network import COURSE, TWO_HOSTS, End, Host, Link, Network, Shape, Switch, differences, expected_state
from linklab.runtime.backends import Kind
from linklab.units import SwitchName

pytestmark = pytest.mark.lab

SWITCHED = Network(
    "switched",
    nodes=(Host("h1"), Host("h2"), Switch("s1"), Switch("s2")),
    links=(
        Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("s1", "s1-eth1"), mtu_bytes=1400),
        Link(End("s1", "s1-eth2"), End("s2", "s2-eth1"), rate_mbps=20, delay_ms=3, loss_percent=0.5, queue_packets=40,
             mtu_bytes=1400),
        Link(End("s2", "s2-eth2"), End("h2", "h2-eth0", "10.0.0.2/24"), mtu_bytes=1400),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def course(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(COURSE, folder=tmp_path_factory.mktemp("course")) as lab:
        yield lab


def test_the_course_network_is_read_back_as_described(course: linklab.Lab) -> None:
    assert differences(expected_state(COURSE), course.state()) == ()


def test_every_pair_of_hosts_is_answered(course: linklab.Lab) -> None:
    addresses = {host.name: COURSE.address_of(host.name) for host in COURSE.hosts}
    lost = [
        (one, two)
        for one in addresses
        for two, address in addresses.items()
        if one != two and " 0% packet loss" not in course[one].cmd(f"ping -c 1 -W 1 {address}")
    ]
    assert lost == []


def test_a_command_is_told_from_its_beginning_to_its_end(course: linklab.Lab) -> None:
    told: list[str] = []
    tell_of_commands(told.append)
    course["h1"].cmd("ping -c 2 10.0.5.2")
    assert "h1: ping -c 2 10.0.5.2, begun at" in told[0]


def test_a_program_that_says_nothing_is_told(course: linklab.Lab) -> None:
    told: list[str] = []
    tell_of_commands(told.append)
    course["h1"].popen("sleep 2").wait()
    assert "no output since" in told[0]


def test_cmd_ends_at_the_labs_own_time_and_the_shell_lives_on(course: linklab.Lab) -> None:
    course["h1"].cmd("cd /tmp; NAME=linklab")
    with pytest.raises(LabError, match=r"not done after 5 s.*5 received"):
        course["h1"].cmd("ping 10.0.5.2", timeout_s=5)
    deaf = "python3 -c 'import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(1000)'"
    with pytest.raises(LabError, match="not done after 1 s"):
        course["h1"].cmd(deaf, timeout_s=1)
    assert course["h1"].cmd("echo $NAME in $PWD").strip() == "linklab in /tmp"


def test_output_comes_while_the_command_runs(course: linklab.Lab, capsys: pytest.CaptureFixture[str]) -> None:
    output = course["h1"].cmd("echo one; sleep 2; echo two", show=True)
    assert output == capsys.readouterr().out == "one\ntwo\n"


def test_programs_run_on_and_are_read_line_by_line(course: linklab.Lab) -> None:
    server = course["h4"].popen("iperf3 -s -1 --forceflush")
    course["h4"].wait_listening(5201)
    client = course["h1"].popen(["iperf3", "-c", "10.0.5.2", "-t", "2", "--forceflush"])
    lines = list(client)
    assert client.wait() == 0
    assert server.wait(5) == 0
    assert sum("Mbits/sec" in line for line in lines) >= 3
    assert server.poll() == 0


def test_programs_are_ended_with_what_they_started(course: linklab.Lab) -> None:
    program = course["h1"].popen("sleep 1000 & sleep 1000")
    assert program.poll() is None
    with pytest.raises(LabError, match="still runs after 3 s"):
        program.wait(3)
    program.terminate()
    assert "sleep" not in course["h1"].cmd("ps -eo comm")


def test_files_go_in_and_out(course: linklab.Lab) -> None:
    data = bytes(range(256)) * 300
    course.write_file("/tmp/data.bin", data)
    assert course.read_file("/tmp/data.bin") == data
    course.write_file("/tmp/hello", "#!/bin/sh\necho hello\n", executable=True)
    assert course["h3"].cmd("/tmp/hello") == "hello\n"
    with pytest.raises(LabError, match="/no/such cannot be read in the lab: No such file"):
        course.read_file("/no/such")


def test_mininets_own_command_line(course: linklab.Lab) -> None:
    assert "r1-eth1<->r2-eth0 (OK OK)" in course.cli("links")
    assert "available nodes are:" in course.cli("nodes")
    assert course.cli("h1 echo hello").strip() == "hello"


def test_a_second_lab_does_not_meet_the_first(course: linklab.Lab, tmp_path: Path) -> None:
    with linklab.start(COURSE, folder=tmp_path) as other:
        other["r1"].cmd("ip link set r1-eth1 down")
        other.write_file("/tmp/mine", "x")
        assert "100% packet loss" in other["h1"].cmd("ping -c 1 -W 1 10.0.5.2")
        assert " 0% packet loss" in course["h1"].cmd("ping -c 1 -W 1 10.0.5.2")
        with pytest.raises(LabError, match="cannot be read"):
            course.read_file("/tmp/mine")


@pytest.mark.large
@pytest.mark.parametrize("switch", ["bridge", "ovs", "ovs-user"])
def test_every_kind_of_switch(virtual: Kind, tmp_path: Path, switch: SwitchName) -> None:
    with linklab.start(SWITCHED, switch=switch, folder=tmp_path) as lab:
        said = lab["h1"].cmd("ping -c 20 -i 0.2 -s 1000 10.0.0.2")
    assert int(said.split(" received")[0].split()[-1]) >= 18
    assert 6.0 <= float(said.rpartition("= ")[2].split("/")[0]) < 6.5


class StudentsTopo(Topo):  # type: ignore[misc]
    """As a student writes it."""

    def build(self, **_: Any) -> None:
        one, two, switch = self.addHost("h1"), self.addHost("h2", ip="10.0.0.9/8"), self.addSwitch("s1")
        self.addLink(one, switch, bw=10, delay="5ms", max_queue_size=30)
        self.addLink(switch, two, bw=20, delay="2ms", loss=1)


def test_a_students_own_topo_is_built_and_read_back(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(StudentsTopo(), folder=tmp_path) as lab:
        state = lab.state()
        assert (lab.network, lab["h2"].address) == (None, "10.0.0.9")
        assert " 0% packet loss" in lab["h1"].cmd("ping -c 1 10.0.0.9")
    near, far = state.interface("h1", "h1-eth0"), state.interface("h2", "h2-eth0")
    assert near is not None
    assert far is not None
    assert near.shape == Shape(rate_mbps=10, delay_ms=5, queue_packets=30)
    assert (far.shape.rate_mbps, far.shape.delay_ms) == (20, 2)
    assert far.shape.loss_percent == pytest.approx(1, abs=0.001)
    assert near.peer == ("s1", "s1-eth1")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"network": "course"}, "start a Network or a Mininet Topo, not str"),
        ({"network": StudentsTopo}, r"StudentsTopo is a class .*: start\(StudentsTopo\(\)\), with parentheses"),
        ({"kind": "vmware"}, "kind 'vmware' is unknown"),
        ({"seed": -1}, "seed is -1: choose a whole number from 0 to 2"),
        ({"folder": "missing"}, "is not a folder"),
        ({"folder": "/"}, "holds more than a lab may write to"),
        ({"folder": 5}, "folder is 5: write the path of a folder, as a text"),
        (
            {"folder": "a\0b"},
            r"folder is 'a\\x00b', which (names no folder \(.*\): choose another one)|is not a folder",
        ),
        ({"folder": "long" * 100}, r"folder is 'long.*\.\.\..*', which names no folder \(File name too long\)"),
        ({"reads": "data"}, "reads is 'data': write a list of folders"),
        ({"reads": [None]}, "reads is None: write the path of a folder"),
        ({"reads": ["/"]}, "/ is the system's"),
        ({"reads": ["/proc/self"]}, "/proc/.* is the system's"),
        ({"reads": ["/etc"]}, "/etc is the system's"),
        ({"reads": ["/missing"]}, "/missing is not a folder"),
        ({"wall_limit_s": "5"}, "wall_limit_s is '5': choose a number"),
        ({"wall_limit_s": 0}, "wall_limit_s is 0: choose a number above 0"),
        ({"wall_limit_s": math.inf}, "wall_limit_s is inf"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_what_a_lab_cannot_be_started_with_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], says: str
) -> None:
    monkeypatch.setattr("linklab.runtime.client.UserModeLab", lambda *_, **__: pytest.fail("a lab was started"))
    with pytest.raises(LabError, match=says) as caught:
        linklab.start(**{"network": TWO_HOSTS, "folder": tmp_path, **options})
    assert "\n" not in str(caught.value)


def test_a_line_that_printed_too_much_does_not_fill_the_notebook(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def call(*_: object, on_print: Callable[[str], None]) -> None:
        on_print("first")
        on_print("more")

    lab: Any = SimpleNamespace(process=SimpleNamespace(call=call))
    monkeypatch.setattr("linklab.program.LONGEST_OUTPUT", 8)
    with pytest.raises(LabError, match="'yes' printed more than"):
        linklab.Lab.cli(lab, "yes")
    assert capsys.readouterr().out == ""


class Begun(Exception):
    """A lab would be started."""


@pytest.fixture
def without_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(*_: object, **__: object) -> None:
        raise Begun

    monkeypatch.setattr("linklab.lab.lab_process", begin)


@pytest.mark.usefixtures("without_lab")
@pytest.mark.parametrize(
    "place", [place for place in ["/home", "/mnt", "/opt", "/root", "/srv"] if os.path.isdir(place)]
)
def test_a_lab_may_read_where_people_work(place: str, tmp_path: Path) -> None:
    with pytest.raises(Begun):
        linklab.start(TWO_HOSTS, folder=tmp_path, reads=[place])


@pytest.mark.usefixtures("without_lab")
def test_who_has_no_home_may_have_labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(Begun):
        linklab.start(TWO_HOSTS, folder=tmp_path)


def test_a_wrong_word_of_a_command_is_named() -> None:
    nowhere: Any = None
    wrong: Any = ["ping", "-c", 1]
    with pytest.raises(LabError, match="word 3 of the command is 1: give a text, in quotes"):
        Node(nowhere, "h1").popen(wrong)


def test_a_current_folder_that_was_removed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(LabError, match="the current folder was removed: change to another one, or say folder= in full"):
        linklab.start(TWO_HOSTS)


DOORS: list[Callable[[linklab.Lab, Any], object]] = [
    lambda lab, value: lab["h1"].cmd(value),
    lambda lab, value: lab["h1"].cmd("true", timeout_s=value),
    lambda lab, value: lab["h1"].popen(value),
    lambda lab, value: lab["h1"].wait_listening(value),
    lambda lab, value: lab["h1"].wait_listening(80, value),
    lambda lab, value: lab.cli(value),
    lambda lab, value: lab.sleep(value),
    lambda lab, value: lab.read_file(value),
    lambda lab, value: lab.write_file(value, ""),
    lambda lab, value: lab["h1"].popen("true").wait(value),
    lambda lab, value: lab["h1"].popen("true").send_signal(value),
]


@pytest.mark.parametrize("door", DOORS)
def test_a_value_of_a_wrong_type_or_range_is_one_line_and_the_lab_lives(
    course: linklab.Lab, door: Callable[[linklab.Lab, Any], object]
) -> None:
    for value in (-1, math.nan, math.inf, True, 99_999_999_999, ["ls", 1], [], "a\0b", "a" * 5_000_000):
        with pytest.raises(LabError) as caught:
            door(course, value)
        assert len(str(caught.value)) < 300
    assert course["h1"].cmd("echo well") == "well\n"


class Pair(Topo):  # type: ignore[misc]
    """Two hosts and a cable between these two ends."""

    def build(self, one: str = "h1", two: str = "h2", address: str | None = None, **options: Any) -> None:
        self.addHost(one, **({"ip": address} if address else {}))
        self.addHost("h2")
        self.addLink(one, two, **options)


def test_which_part_of_a_network_cannot_be_built_is_said(virtual: Kind, tmp_path: Path) -> None:
    what = r"^Mininet could not build this network: .*Invalid argument.* \(while making h 1-h2\)$"
    with pytest.raises(LabError, match=what) as caught:
        linklab.start(Pair(one="h 1"), folder=tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [{"address": "10.0.0.300/24"}, {"params1": {"ip": "10.0.0/33"}}])
def test_what_is_no_address_is_said_with_its_interface(virtual: Kind, tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(NetworkError, match=r"^h1-eth0: '.*' is no IPv4 address"):
        linklab.start(Pair(**options), folder=tmp_path)


class Parallel(Topo):  # type: ignore[misc]
    """Two cables between two hosts; the first takes the name that Mininet gives the second."""

    def build(self) -> None:
        self.addHost("h1")
        self.addHost("h2")
        self.addLink("h1", "h2", intfName2="h2-eth1")
        self.addLink("h1", "h2")


def test_a_name_of_an_interface_that_is_taken_is_said_with_the_cable_that_has_it(virtual: Kind, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=r"^h2 has .* h2-eth1 already, on its cable to h1: .*intfName2"):
        linklab.start(Parallel(), folder=tmp_path)


def test_a_queue_of_50_packets_holds_50_packets(virtual: Kind, tmp_path: Path) -> None:
    """TCP must not join segments: 50 frames of 1514 bytes on 10 Mbit/s are 60.6 ms, and the way back takes 10."""
    with linklab.start(TWO_HOSTS, folder=tmp_path) as lab:
        server = lab["h2"].popen("iperf3 -s -1")
        lab["h2"].wait_listening(5201)
        client = lab["h1"].popen("iperf3 -c 10.0.0.2 -t 8")
        worst_ms = float(lab["h1"].cmd("ping -c 30 -i 0.2 10.0.0.2").rpartition("= ")[2].split("/")[2])
        for program in (client, server):
            program.wait(30)
    assert 50 < worst_ms <= 71


def test_a_node_says_its_addresses_and_a_command_its_exit_status(course: linklab.Lab) -> None:
    assert course.network is COURSE
    assert course["h1"].address == COURSE.address_of("h1")
    assert set(course["r1"].addresses.values()) == {end.address for end in COURSE.ends_of("r1")}
    assert course["h1"].run("echo out; exit_with() { return 3; }; exit_with") == Completed("out\n", 3)
    assert course["h1"].run("true").returncode == 0
    ping = course["h1"].run(f"ping -c 1 {course['h2'].address}")
    assert (ping.returncode, " 0% packet loss" in ping.output) == (0, True)
    assert course["root"].run("id -un").output == "root\n"
    assert "\x1b" not in course["h1"].cmd("ip address"), "Debian's ip colours what it says to a terminal"
    with pytest.raises(LabError, match="s1 has no address: ask for a host or a router"):
        _ = course["s1"].address


def test_a_command_may_print_anything(course: linklab.Lab) -> None:
    assert course["h2"].cmd(r"printf 'a\377b\001c'") == "a\ufffdb\x01c"
    done = course["h2"].run("(sleep 0.2; echo late) & sleep 0.5; false")
    assert (done.output.splitlines()[-1], done.returncode) == ("late", 1)
    assert course["h2"].cmd("echo well") == "well\n"


@pytest.mark.parametrize("program", ["apt install nmap", "systemctl start ssh", "nano a", "man ip", "dig h4", "ssh h4"])
def test_a_program_that_a_lab_has_not_says_what_there_is_instead(course: linklab.Lab, program: str) -> None:
    done = course["h1"].run(program)
    assert done.returncode == 127
    assert "a lab has no" in done.output
    assert done.output.count("\n") == 1


def test_a_name_of_a_host_is_answered_with_how_hosts_are_reached(
    course: linklab.Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    course["h1"].cmd("ping -c 1 h4")
    assert 'lab["h4"].address' in capsys.readouterr().err


def test_errors_can_be_told_apart(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(TWO_HOSTS, folder=tmp_path) as lab:
        with pytest.raises(UnknownNode, match="choose one of h1, h2"):
            lab["h9"]
        with pytest.raises(LabTimeout, match="was not done after 2 s"):
            lab["h1"].cmd("sleep 10", timeout_s=2)
        with pytest.raises(LabTimeout, match="nothing on h1 listens"):
            lab["h1"].wait_listening(80, 1)
    with pytest.raises(LabEnded, match="has been stopped"):
        lab.now()


def test_at_home_one_line_says_that_the_lab_has_no_folder(
    virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert virtual.image is not None
    monkeypatch.setenv("LINKLAB_IMAGE", str(virtual.image.folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    with linklab.start(TWO_HOSTS):
        said = capsys.readouterr().err
    assert f"{tmp_path} holds more than a lab may write to, so it has no folder of this machine" in said


def test_a_lab_ends_with_its_last_name(virtual: Kind, tmp_path: Path) -> None:
    lab = linklab.start(TWO_HOSTS, folder=tmp_path)
    process = lab.process
    lab = linklab.start(TWO_HOSTS, folder=tmp_path)
    assert not process.running
    assert lab.process.running
    lab.stop()


@pytest.mark.large
def test_a_file_larger_than_a_message_comes_out_and_goes_in(course: linklab.Lab) -> None:
    course["root"].cmd("yes 0123456 | head -c 50M > /tmp/large")
    data = course.read_file("/tmp/large")
    assert data == b"0123456\n" * (50 * 2**17)
    course.write_file("/tmp/again", data[: 17 * 2**20])
    assert course["root"].run("cmp -n 17M /tmp/large /tmp/again").output == ""
    course["root"].cmd("rm /tmp/large /tmp/again")


def test_mininets_command_line_computes_no_longer_for_many_lines_than_a_command(course: linklab.Lab) -> None:
    def computed_s(show: Callable[[], str]) -> float:
        before_s = course.process.cpu_s()
        assert len(show().splitlines()) == 5000
        return course.process.cpu_s() - before_s

    many = "yes | head -n 5000"
    of_command_s = computed_s(lambda: course["h1"].cmd(many))
    # the kernel counts in ticks of 10 ms, so a command may count as none
    assert computed_s(lambda: course.cli(f"h1 {many}")) < 10 * max(of_command_s, 0.05)


@pytest.mark.large
def test_a_file_or_command_without_end_is_refused_and_the_lab_lives_on(
    course: linklab.Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("linklab.lab.LARGEST_FILE_BYTES", 20_000_000)
    monkeypatch.setattr("linklab.program.LONGEST_OUTPUT", 1_000_000)
    with pytest.raises(LabError, match="/dev/zero has 20 MB or more"):
        course.read_file("/dev/zero")
    with pytest.raises(LabError, match="on h1 printed more than 1 MB"):
        course["h1"].cmd("yes | head -n 2000000")
    with pytest.raises(LabError, match="2000000' printed more than 1 MB"):
        course.cli("h1 yes | head -n 2000000")
    program = course["h1"].popen("yes")
    with pytest.raises(LabError, match="'yes' printed more than 1 MB"):
        program.prints("no", 1.0)
    assert program.wait() == -signal.SIGKILL
    assert course["h1"].cmd("echo answers") == "answers\n"


def test_what_is_too_long_to_be_handed_over_is_refused_and_the_lab_lives_on(course: linklab.Lab) -> None:
    def answer(net: Any, text: str, times: int) -> str:
        return text * times

    with pytest.raises(LabError, match="the answer has 64 MB"):
        course.call(answer, "x", 64_000_000)
    with pytest.raises(LabError, match="the request has 48 MB"):
        course.call(answer, "x" * 48_000_000, 0)
    assert course.call(answer, "answers", 1) == "answers"
