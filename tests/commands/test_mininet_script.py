"""``linklab mininet``: other people's scripts as they are, at a terminal, in a pipe, with Ctrl-C; and ``mn``."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linklab import mininet_script
from linklab.errors import LabError
from linklab.runtime.backends import Kind

from .terminal import Terminal, one_line

pytestmark = pytest.mark.lab


COMMON = """
import os, sys
from mininet.cli import CLI
from mininet.link import Link, TCLink
from mininet.log import setLogLevel, info
from mininet.net import Mininet
from mininet.node import CPULimitedHost, Node
from mininet.nodelib import LinuxBridge
from mininet.topo import SingleSwitchTopo, Topo
"""
CHAIN = """
import beside

class Router(Node):
    def config(self, **params):
        super(Router, self).config(**params)
        self.cmd("sysctl net.ipv4.ip_forward=1")

class Chain(Topo):
    def build(self, delay):
        router = self.addNode("r0", cls=Router, ip="10.0.1.1/24")
        for number in (1, 2):
            host = self.addHost(f"h{number}", ip=f"10.0.{number}.2/24", defaultRoute=f"via 10.0.{number}.1")
            self.addLink(host, router, intfName2=f"r0-eth{number}", params2={"ip": f"10.0.{number}.1/24"},
                         bw=10, delay=delay, max_queue_size=100)

if __name__ == "__main__":
    setLogLevel("info")
    net = Mininet(topo=Chain(delay=sys.argv[1]), link=TCLink, controller=None)
    net.start()
    net["h1"].cmd("ping -c 1 10.0.2.2")  # ARP
    print("rtt", net["h1"].cmd("ping -q -c 3 10.0.2.2").split("=")[-1].split("/")[1])
    os.system("sudo -u root sh -c 'echo as root $(id -u)'")
    info("*** done\\n")
    open("written", "w").write(beside.WORD)
    net.stop()
    sys.exit(beside.STATUS)
"""


def mininet(folder: Path, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "linklab", "mininet", *words],
        cwd=folder, input=typed, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


def write(folder: Path, text: str) -> None:
    (folder / "script.py").write_text(COMMON + text)


def ran(folder: Path, text: str, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """A script of these lines below what scripts import, run to its end."""
    write(folder, text)
    return mininet(folder, "script.py", *words, typed=typed)


def test_a_script_runs_as_it_is_with_its_folder_its_arguments_and_its_status(virtual: Kind, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("WORD, STATUS = 'kept', 3")
    done = ran(tmp_path, CHAIN, "20ms")
    assert done.returncode == 3, done.stderr
    assert (tmp_path / "written").read_text() == "kept"
    assert done.stdout.splitlines()[-1] == "as root 0"
    # twice through two links of 20 ms, and 98 bytes four times at 10 Mbit/s, which HTB lets pass at once
    rtt_ms = float(re.findall(r"rtt ([\d.]+)", done.stdout)[0])
    assert rtt_ms == pytest.approx(80, abs=0.5)
    assert done.stderr.startswith("*** Creating network\n")
    assert "*** done\n" in done.stderr


@pytest.mark.large
def test_what_a_script_measures_is_the_same_each_time_and_plain_links_shape_nothing(
    virtual: Kind, tmp_path: Path
) -> None:
    text = (
        "for link in (Link, TCLink):\n"
        "    net = Mininet(topo=SingleSwitchTopo(2), switch=LinuxBridge, controller=None, build=False)\n"
        "    net = Mininet(switch=LinuxBridge, controller=None, link=link)\n"
        "    one, two, switch = net.addHost('h1'), net.addHost('h2'), net.addSwitch('s1')\n"
        "    net.addLink(one, switch, bw=10, delay='5ms', loss=10)\n"
        "    net.addLink(two, switch)\n"
        "    net.start()\n"
        "    print(one.cmd('tc qdisc show dev h1-eth0'))\n"
        "    print(one.cmd('ping -i 0.01 -c 100 10.0.0.2 | tail -3'))\n"
        "    print(two.cmd('iperf -s &'), one.cmd('iperf -c 10.0.0.2 -t 2 | tail -1'))\n"
        "    net.stop()\n"
    )
    first, second = (ran(tmp_path, text) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    plain, shaped = first.stdout.split("htb")[0], first.stdout
    assert " 0% packet loss" in plain
    assert "netem" in shaped
    assert re.search(r"[1-9]\d*% packet loss", shaped.split("htb", 1)[1])


def test_the_command_line_of_mininet_reads_a_pipe(virtual: Kind, tmp_path: Path) -> None:
    text = (
        "net = Mininet(topo=SingleSwitchTopo(2), switch=LinuxBridge, controller=None)\n"
        "net.start()\nCLI(net)\nprint('after', input())\nnet.stop()\n"
    )
    done = ran(tmp_path, text, typed="nodes\nh1 ping -c 1 h2\npy 6 * 7\nexit\nthe end\n")
    assert done.returncode == 0, done.stderr
    assert "h1 h2 s1" in done.stderr
    assert " 0% packet loss" in done.stderr
    assert "\n42\n" in done.stderr
    assert done.stdout.endswith("after the end\n")


def test_time_stands_still_while_a_person_types_and_ctrl_c_ends_what_runs(virtual: Kind, tmp_path: Path) -> None:
    text = (
        "import time\nnet = Mininet(topo=SingleSwitchTopo(2), switch=LinuxBridge, controller=None)\nnet.start()\n"
        "before = time.monotonic()\ninput('name? ')\nprint('waited', time.monotonic() - before < 0.1)\nCLI(net)\n"
    )
    write(tmp_path, text)
    with Screen(tmp_path) as screen:
        screen.wait_for("name? ")
        time.sleep(1)
        screen.type("somebody\n")
        screen.wait_for("waited True")
        screen.wait_for("mininet> ")
        screen.type("h1 ping h2\n")
        screen.wait_for("icmp_seq=3 ")
        screen.type("\x03")
        screen.wait_for("packets transmitted")
        screen.wait_for("mininet> ")
        screen.type("\x03")
        screen.wait_for("Interrupt")
        screen.wait_for("mininet> ")
        screen.type("py 6 * 7\n")
        screen.wait_for("\r\n42\r\n")
        screen.type("exit\n")
        assert screen.running.wait(PATIENCE_S) == 0


PATIENCE_S = 300


class Screen:
    """`linklab mininet script.py` at a terminal of its own."""

    def __init__(self, folder: Path) -> None:
        self._ours, theirs = pty.openpty()
        self.running = subprocess.Popen(
            [sys.executable, "-m", "linklab", "mininet", "script.py"],
            cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=_own_terminal,
        )  # fmt: skip
        os.close(theirs)
        self._unread = ""

    def type(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._ours, keys.encode())

    def wait_for(self, text: str) -> None:
        """Reads on until `text` was shown."""
        while text not in self._unread:
            ready = select.select([self._ours], [], [], PATIENCE_S)[0]
            assert ready, f"{text!r} does not come, but: {self._unread}"
            self._unread += os.read(self._ours, 65536).decode(errors="replace")
        self._unread = self._unread.partition(text)[2]

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None:
        if self.running.poll() is None:
            self.running.kill()
            self.running.wait()
        os.close(self._ours)


def _own_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_shell_script_runs_too_and_its_pythons_find_ours(virtual: Kind, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text('#!/bin/sh\nsudo mn -c 2>/dev/null\nsudo python3 one.py "$1"\nexit 4\n')
    (tmp_path / "one.py").write_text(COMMON + "print(sys.argv[1], Mininet.__name__, input())\n")
    done = mininet(tmp_path, "run.sh", "word", typed="line\n")
    assert done.stdout == "word ScriptNetwork line\n", done.stderr
    assert done.returncode == 4


def test_a_shell_script_needs_no_first_line_and_may_start_a_controller_before_any_switch(
    virtual: Kind, tmp_path: Path
) -> None:
    (tmp_path / "both.sh").write_text(
        "ovs-testcontroller ptcp:6653 > c.log 2>&1 &\n"
        "mn --topo single,2 --mac --switch ovsk --controller remote --test pingall\n"
    )
    assert "0% dropped" in mininet(tmp_path, "both.sh").stderr


def test_a_script_that_says_nothing_gets_open_vswitch_and_its_controller(virtual: Kind, tmp_path: Path) -> None:
    text = (
        "os.system('ovs-vsctl show')\n"
        "net = Mininet(topo=SingleSwitchTopo(3), host=CPULimitedHost)\nnet.start()\n"
        "print('neighbours:', net['h1'].cmd('ip neigh'))\n"
        "print(net.controllers, net['s1'].failMode, net.pingAll())\nnet.stop()\n"
    )
    done = ran(tmp_path, text)
    assert done.returncode == 0, done.stderr
    assert "neighbours: \n" in done.stdout, "a controller is to see what hosts ask for"
    assert "<Controller c0: 127.0.0.1:6653" in done.stdout
    assert done.stdout.endswith("secure 0.0\n")


@pytest.mark.large
def test_nothing_is_told_of_a_controller_that_switches_reach_later(virtual: Kind, tmp_path: Path) -> None:
    text = (
        "from mininet.topo import LinearTopo\nnet = Mininet(LinearTopo(8))\nnet.start()\n"
        "print(net.ping(net.hosts[:2]))\n"
    )
    done = ran(tmp_path, text)
    assert done.stdout == "0.0\n"
    assert "c0" not in done.stderr


SHELLS = """
from mininet.node import Host

class Own(Host):
    pass

topo = Topo()
topo.addLink(topo.addHost("h1"), topo.addHost("h2", cls=Own))
net = Mininet(topo=topo, controller=None)
net.start()
for host, other in (net.hosts, net.hosts[::-1]):
    host.cmd("env; set")
    texts = ("echo one", "printf '\\\\177'", "a=2\\necho $a", "PS1=x", "exec true", "echo three")
    print([host.cmd(text) for text in texts])
    host.cmd("sleep 5 &")
    pid = str(host.lastPid)
    print(host.cmd("echo $!").strip() == pid, " 0% packet loss" in host.cmd("ping -c 1", other.IP()))
    host.sendInt()
    print([host.cmd("echo four")])
CLI(net)
"""


def test_answers_are_in_step_and_shells_that_end_are_replaced_with_every_class_of_host(
    virtual: Kind, tmp_path: Path
) -> None:
    done = ran(tmp_path, SHELLS, typed="h2 exit\nh2 echo five\n")
    assert done.returncode == 0, done.stderr
    answers = "['one\\r\\n', '\\x7f', '2\\r\\n', '', '', 'three\\r\\n']\nTrue True\n['four\\r\\n']\n"
    assert done.stdout.startswith(answers * 2)
    assert done.stderr.count("the shell of h1 has ended with 'exec true'") == 1
    assert done.stderr.count("the shell of h2 has ended") == 2
    assert "five" in done.stderr + done.stdout


STRANGE = """
from mininet.link import TCIntf

class OwnIntf(TCIntf):
    pass

net = Mininet(switch=LinuxBridge, controller=None)
h1, h2, h3, s1 = net.addHost("h1"), net.addHost("h2", ip="10.0.0.1/8"), net.addHost("h3"), net.addSwitch("s1")
link = net.addLink(h1, s1, intf=OwnIntf, bw=10)
net.addLink(h2, s1, cls=TCLink, delay=5, max_queue_size=88.2)
net.addLink(h3, s1, bw=5)
net.start()
print([type(end).__name__ for end in (link.intf1, link.intf2)], "rate 10Mbit" in h1.cmd("tc class show dev h1-eth0"))
print("fe80::" in h1.cmd("ip -6 address show h1-eth0"))
print([h1.cmd(f"ip tunnel add {kind}9 mode {kind} remote 10.0.0.3 local 10.0.0.1") for kind in ("ipip", "gre", "sit")])
print(net.iperf((h1, h3), port=70000, seconds=1))
print([h1.cmd(f"modprobe {name} 2>&1; echo $?") for name in ("tcp_bbr", "sch_netem", "8021q", "ip_gre", "veth")])
print(h1.cmd("modprobe never 2>/dev/null; echo $?"), h1.cmd("sudo -n echo as root"))
print(h1.cmd("xterm -title x -e 'echo inside' 2>/dev/null; python3 -c 'import requests' && ryu-manager --version"))
import numpy
"""


@pytest.mark.large
def test_what_strangers_scripts_count_on_is_there_and_mistakes_are_told(virtual: Kind, tmp_path: Path) -> None:
    done = ran(tmp_path, STRANGE)
    assert done.stdout.split("\n") == [
        "['OwnIntf', 'OwnIntf'] True",
        "True",
        "['', '', '']",
        "['', '']",
        str(["0\r\n"] * 5),
        "1",
        " as root",
        "",
        "inside",
        "osken-manager 3.0.1",
        "",
        "",
    ], done.stderr
    told = (
        *("max_queue_size=88.2 is rounded down to 88 packets", "delay=5 has no unit", "h3-s1: bw not applied"),
        *("h1, h2: all have the address 10.0.0.1", "iperf does not listen on port 70000", "numpy is not in the lab"),
    )
    assert [line for line in told if line not in done.stderr] == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("net.addLink(h1, h2, cls=TCLink, bw=0)", r"script\.py:\d+: h1's end of h1-h2: bw=0 lets nothing pass"),
        ("net.addLink(h1, h2, cls=TCLink, bw='10Mbps')", r"script\.py:\d+: h1's end of h1-h2: bw="),
    ],
)
def test_a_mistake_with_which_mininet_cannot_go_on_is_one_line(
    line: str, told: str, virtual: Kind, tmp_path: Path
) -> None:
    text = f"net = Mininet(controller=None)\nh1, h2 = net.addHost('h1'), net.addHost('h2')\n{line}\n"
    done = ran(tmp_path, text)
    assert done.returncode == 1
    assert re.search(told, one_line(done.stderr))


@pytest.mark.large
@pytest.mark.parametrize("address", ["nonsense", "10.0.0.300/24", "10.0.0.1/33"])
def test_what_is_no_address_is_told_and_mininet_goes_on(address: str, virtual: Kind, tmp_path: Path) -> None:
    done = ran(tmp_path, f"net = Mininet(controller=None)\nnet.addHost('h1', ip='{address}')\nprint('goes on')\n")
    assert done.stdout == "goes on\n"
    assert f"{address!r} is no IPv4 address" in done.stderr


@pytest.mark.large
@pytest.mark.parametrize(
    "text",
    [
        "net = Mininet(controller=None)\nh1, h2 = net.addHost('h1'), net.addHost('h2')\nnet.addLink(h1, h2)\n"
        "print(h1.cmd(f'ping -c 1 {h2.IP()}'))\n",
        "net = Mininet(SingleSwitchTopo(2), controller=None)\nnet.pingAll()\n",
    ],
)
def test_a_network_that_nobody_started_is_told(text: str, virtual: Kind, tmp_path: Path) -> None:
    assert ran(tmp_path, text).stderr.count("call net.start()") == 1


def test_of_a_host_that_is_to_have_no_address_nothing_is_told(virtual: Kind, tmp_path: Path) -> None:
    text = (
        "net = Mininet(controller=None)\nh1, h2 = net.addHost('h1', ip=None), net.addHost('h2')\n"
        "net.addLink(h1, h2)\nprint(h1.IP())\n"
    )
    done = ran(tmp_path, text)
    assert done.stdout == "None\n"
    assert "call net.start()" not in done.stderr


def test_a_mask_in_place_of_a_length_and_a_loss_as_text_are_taken(virtual: Kind, tmp_path: Path) -> None:
    text = (
        "net = Mininet(controller=None, link=TCLink)\nh1, h2 = net.addHost('h1'), net.addHost('h2')\n"
        "net.addLink(h1, h2, loss='5')\nh1.setIP(' 10.0.0.1/255.255.255.0')\n"
        "print(h1.cmd('ip -4 address show h1-eth0; tc qdisc show dev h1-eth0'), h1.IP())\n"
    )
    said = ran(tmp_path, text).stdout
    assert "inet 10.0.0.1/24 " in said
    assert "loss 5%" in said
    assert said.endswith(" 10.0.0.1\n")


def test_equal_addresses_are_told_where_they_meet_and_nowhere_else(virtual: Kind, tmp_path: Path) -> None:
    """Two homes have the same addresses, each behind a router of its own; a controller of one's own may part hosts."""
    text = (
        "from functools import partial\nfrom mininet.node import Controller, OVSSwitch\n"
        "net = Mininet(switch=LinuxBridge, controller=None)\n"
        "for home in 'ab':\n"
        "    router, inside = net.addHost(f'r{home}', ip=None), net.addSwitch(f's{home}1')\n"
        "    net.addLink(router, inside, params1={'ip': '192.168.1.1/24'})\n"
        "    net.addLink(net.addHost(f'h{home}', ip='192.168.1.2/24'), inside)\n"
        "net.addLink('ra', 'rb', params1={'ip': '10.0.0.1/24'}, params2={'ip': '10.0.0.2/24'})\n"
        "net.addLink(net.addHost('guest', ip='192.168.1.2/24'), 'sb1')\n"
        "net.addController('c0', partial(Controller, command='false'))\n"
        "net.addSwitch('s9', cls=OVSSwitch)\n"
        "for name in ('one', 'two'):\n"
        "    net.addLink(net.addHost(name, ip='192.168.1.3/24'), 's9')\n"
        "net.start()\n"
    )
    assert re.findall(r"^\*\*\* (.*): .*192\.168", ran(tmp_path, text).stderr, re.MULTILINE) == ["hb, guest"]


def test_a_loss_that_zero_does_not_take_away_is_told(virtual: Kind, tmp_path: Path) -> None:
    text = (
        "net = Mininet(controller=None, link=TCLink)\nh1, h2 = net.addHost('h1'), net.addHost('h2')\n"
        "end = net.addLink(h1, h2, loss=10).intf1\nend.config(loss=0)\n"
        "print(h1.cmd('tc qdisc show dev h1-eth0'))\nend.config(bw=10, loss=0)\n"
        "print(h1.cmd('tc qdisc show dev h1-eth0'))\n"
    )
    done = ran(tmp_path, text)
    kept, taken = done.stdout.split("qdisc")[1:]
    assert "loss 10%" in kept
    assert "loss" not in taken
    assert done.stderr.count("takes no loss away") == 1


def test_links_are_printed_as_mininet_prints_them(virtual: Kind, tmp_path: Path) -> None:
    done = mininet(tmp_path, "mn", "--link", "tc,bw=100,delay=1ms,loss=0", "--switch", "lxbr", "--test", "none")
    end = "(100.00Mbit 1ms delay 0.00000% loss)"
    assert f"*** Adding links:\n{end} {end} (h1, s1) {end} {end} (h2, s1) \n" in done.stderr


@pytest.mark.parametrize(
    "text", ["print 'hello'\n", "if 1:\n        x = 1\n\ty = 2\n", "try:\n    x\nexcept E, e:\n    pass\n"]
)
def test_a_script_in_python_2_is_named(text: str, tmp_path: Path) -> None:
    assert "is written for Python 2" in one_line(ran(tmp_path, text).stderr)


RYU = """
from ryu.base import app_manager
from ryu.controller import ofp_event
from ryu.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from ryu.ofproto import ofproto_v1_3

class Hub(app_manager.RyuApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def begin(self, event):
        switch = event.msg.datapath
        ofproto, parser = switch.ofproto, switch.ofproto_parser
        flood = parser.OFPInstructionActions(
            ofproto.OFPIT_APPLY_ACTIONS, [parser.OFPActionOutput(ofproto.OFPP_FLOOD)]
        )
        switch.send_msg(parser.OFPFlowMod(datapath=switch, match=parser.OFPMatch(), instructions=[flood]))
"""


def with_ryu(folder: Path, application: str) -> subprocess.CompletedProcess[str]:
    """A script whose controller is an application for Ryu."""
    (folder / "hub.py").write_text(application)
    return ran(
        folder,
        "from functools import partial\nfrom mininet.node import Controller, OVSSwitch\n"
        "ryu = partial(Controller, command='ryu-manager', cargs='--ofp-tcp-listen-port %d hub.py')\n"
        "ovs = partial(OVSSwitch, protocols='OpenFlow13')\n"
        "net = Mininet(SingleSwitchTopo(2), switch=ovs, controller=ryu)\n"
        "net.start()\nprint(net.pingAll('1'))\n",
    )


@pytest.mark.large
def test_an_application_for_ryu_may_import_what_it_does_not_use(virtual: Kind, tmp_path: Path) -> None:
    done = with_ryu(tmp_path, "import ryu.app.wsgi\nfrom ryu.app.wsgi import ControllerBase\n" + RYU)
    assert done.stdout == "0.0\n", done.stderr


@pytest.mark.large
@pytest.mark.parametrize(
    "use", ["class X(ControllerBase): pass", "ControllerBase('x')", "import ryu.app.simple_switch"]
)
def test_the_last_words_of_a_controller_that_ends_reach_the_terminal(use: str, virtual: Kind, tmp_path: Path) -> None:
    said = with_ryu(tmp_path, f"from ryu.app.wsgi import ControllerBase\n{use}\n" + RYU).stderr
    assert "os-ken, which stands for Ryu in a lab, has no ryu.app." in said
    assert "is not in the lab" not in said


@pytest.mark.large
def test_an_application_for_ryu_runs_by_its_name(virtual: Kind, tmp_path: Path) -> None:
    (tmp_path / "hub.py").write_text(RYU)
    text = (
        "import subprocess, time\nfrom functools import partial\nfrom mininet.node import OVSSwitch, RemoteController\n"
        "running = subprocess.Popen(['ryu-manager', 'hub.py'], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)\n"
        "time.sleep(5)\nremote = partial(RemoteController, ip='127.0.0.1', port=6653)\n"
        "ovs = partial(OVSSwitch, protocols='OpenFlow13')\n"
        "net = Mininet(topo=SingleSwitchTopo(2), switch=ovs, controller=remote)\n"
        "net.start()\ntime.sleep(2)\nprint(net.pingAll())\nrunning.kill()\n"
    )
    done = ran(tmp_path, text)
    assert done.stdout == "0.0\n", done.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import time\nprint('ready')\nwhile True: time.sleep(1000)\n", "ready"),
        pytest.param("while True: pass\n", "printed nothing for 10 s; little or none", marks=pytest.mark.large),
        pytest.param(
            "import time\nwhile True: time.sleep(0.01)\n",
            "printed nothing for 10 s; the lab's time is at",
            marks=pytest.mark.large,
        ),
    ],
)
def test_ctrl_c_ends_what_waits_and_what_computes_and_the_lab(
    text: str, told: str, virtual: Kind, tmp_path: Path
) -> None:
    write(tmp_path, text)
    with Terminal(tmp_path, "mininet", "script.py") as terminal:
        terminal.wait_for(told)
        terminal.interrupt()
        assert terminal.end() != 0
        assert terminal.left() == {}


@pytest.mark.large
@pytest.mark.parametrize(
    ("endless", "told"),
    [("time.sleep(100)", r"no answer in 300,000 s of the lab's time"), ("pass", r"silent for 12 s of real time")],
)
def test_a_script_without_end_is_ended_and_its_program_and_line_are_named(
    endless: str,
    told: str,
    virtual: Kind,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "script.py").write_text(f"import time\ndef wait():\n    while True: {endless}\nwait()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mininet_script, "WALL_LIMIT_S", 12.0)
    with pytest.raises(LabError, match=rf"{told}.*'python3 script\.py' \(pid \d+\) (waits|computes)"):
        mininet_script.run(["script.py"])
    assert 'script.py", line 3, in wait' in capfd.readouterr().err
