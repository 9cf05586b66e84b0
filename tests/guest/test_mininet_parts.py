"""What Mininet accepts starts as Mininet would start it, and what cannot be read back is told."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mininet.link import Link, TCIntf, TCLink, TCULink
from mininet.node import CPULimitedHost, Host, Node, OVSBridge, OVSSwitch, UserSwitch
from mininet.nodelib import LinuxBridge
from mininet.topo import SingleSwitchTopo, Topo

import linklab
from linklab.errors import LabError
from linklab.network import Shape
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def tiny(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    """Two hosts on a switch, at 10 Mbit/s. Only for what changes nothing."""
    topo = SingleSwitchTopo(2, lopts={"bw": 10})
    with linklab.start(topo, folder=tmp_path_factory.mktemp("tiny")) as lab:
        yield lab


def reaches(lab: linklab.Lab, one: str, target: str) -> bool:
    return " 0% packet loss" in lab[one].cmd(f"ping -c 1 -W 1 {target}")


# iperf


def _mbps(said: str) -> float:
    number, unit = said.split()
    return float(number) * {"Mbits/sec": 1.0, "Kbits/sec": 1e-3}[unit]


def _iperf(net: Any, hosts: list[str], options: dict[str, Any]) -> Any:
    """Inside the lab: Mininet's measurement between two hosts, the first and the last where none is named."""
    return net.iperf([net[name] for name in hosts] or None, **options)


def test_iperf_as_mininet_has_it(tiny: linklab.Lab) -> None:
    server, client = tiny.call(_iperf, [], {})
    assert 9 < _mbps(server) < 10 == round(_mbps(client))
    kbits = tiny.call(_iperf, ["h2", "h1"], {"fmt": "k", "seconds": 2, "port": 6001})
    assert all(each.endswith("Kbits/sec") and 8 < _mbps(each) < 11.5 for each in kbits)
    asked, server, client = tiny.call(_iperf, ["h1", "h2"], {"l4Type": "UDP", "udpBw": "2M"})
    assert asked == "2M"
    assert _mbps(server) == pytest.approx(2 * 1.048576, rel=0.01)
    assert _mbps(client) == pytest.approx(2 * 1.048576, rel=0.01)
    assert "iperf" not in tiny["h1"].cmd("ps -eo comm")


def test_iperf_says_why_there_is_no_result(tiny: linklab.Lab) -> None:
    server = tiny["h2"].popen("iperf3 -s -p 5001")
    tiny["h2"].wait_listening(5001)
    with pytest.raises(LabError, match=r"iperf's server has no result: .*Address already in use"):
        tiny.call(_iperf, [], {"seconds": 1})
    server.terminate()
    server.wait()
    with pytest.raises(LabError, match="speaks TCP or UDP, not SCTP"):
        tiny.call(_iperf, [], {"l4Type": "SCTP"})


# links


class OfAStudent(TCLink):  # type: ignore[misc]
    """Slow in a way of its own."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **{**options, "bw": 3})


def _words(options: dict[str, Any]) -> str:
    """A name for a test of these options, without addresses in memory."""
    return "-".join(f"{name}={getattr(value, '__name__', value)}" for name, value in options.items())


RATE_10 = Shape(rate_mbps=10)


LINKS: list[tuple[dict[str, Any], Shape, str | None]] = [
    ({"bw": 10, "use_tbf": True}, RATE_10, "h{}-eth0: its rate is a token bucket's, by Mininet"),
    ({"bw": 10, "use_hfsc": True}, RATE_10, None),
    (
        {"bw": 10, "delay": "5ms", "enable_red": True, "max_queue_size": 20},
        Shape(rate_mbps=10, delay_ms=5),
        "s{}-eth1: its queue is RED, by Mininet: thresholds not checked",
    ),
    ({"bw": 10, "speedup": 20}, RATE_10, None),
    ({"bw": 10, "disable_gro": True}, RATE_10, None),
    ({"bw": 1500, "delay": "2ms"}, Shape(delay_ms=2, queue_packets=1000), "h{}-eth0: bw=1500 not applied"),
    ({"bw": 10, "max_queue_size": "100"}, Shape(rate_mbps=10, queue_packets=100), None),
    ({"cls": partial(TCLink, bw=10)}, RATE_10, None),
    ({"cls": partial(TCLink, bw=10), "bw": 5}, Shape(rate_mbps=5), None),
    ({"cls": TCULink, "bw": 10, "enable_ecn": True}, RATE_10, "h{}-eth0: its queue is RED, by Mininet"),
    ({"cls1": TCIntf, "bw": 10}, RATE_10, None),
    ({"cls": Link, "bw": 10}, Shape(), "h{}-eth0: bw not applied, Mininet's Link has none"),
    (
        {"cls": OfAStudent},
        Shape(rate_mbps=3),
        "h{}-eth0: of class OfAStudent: rate, delay, loss and queue not checked",
    ),
    (
        {"delay": "10ms", "jitter": "2ms"},
        Shape(delay_ms=10, jitter_ms=2, queue_packets=1000),
        None,
    ),
    ({"delay": "100usecs"}, Shape(delay_ms=0.1, queue_packets=1000), None),
    ({"bw": 10, "params1": {"bw": 5}}, RATE_10, None),
]
"""Options of a link, its shape, and what is told of it; {} is its number."""


class Links(Topo):  # type: ignore[misc]
    """A cable with each of these options, with two hosts and a switch of its own: h - s - g."""

    def build(self) -> None:
        for number, (options, _, _) in enumerate(LINKS):
            near, far = (
                self.addHost(f"{name}{number}", ip=f"10.0.{number}.{at}/24") for at, name in ((1, "h"), (2, "g"))
            )
            self.addLink(near, self.addSwitch(f"s{number}", dpid=f"{number + 1:x}"), **options)
            self.addLink(f"s{number}", far)


def test_links_that_mininet_accepts(virtual: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with linklab.start(Links(), folder=tmp_path) as lab:
        state, told_of = lab.state(), 0
        for number, (options, shape, told) in enumerate(LINKS):
            what = _words(options)
            near, far = (state.interface(*each) for each in _ends(number))
            assert near is not None
            assert far is not None
            assert reaches(lab, f"h{number}", f"10.0.{number}.2"), what
            assert near.shape == shape, what
            assert far.shape.rate_mbps == (options.get("speedup") or shape.rate_mbps), what
            assert (near.offloads_on, far.offloads_on) == ((), ()), what
            said = [line for line in lab.not_checked if any(f"{end}:" in line for _, end in _ends(number))]
            assert (told is not None) == bool(said), (what, said)
            assert told is None or any(told.format(number) in line for line in said), (what, said)
            told_of += len(said)
    assert told_of == len(lab.not_checked), "of the plain cables there is nothing to tell"
    assert capsys.readouterr().err == f"Links: {'; '.join(lab.not_checked)}\n", "one line"


def _ends(number: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """The two ends of the link: node and interface."""
    return (f"h{number}", f"h{number}-eth0"), (f"s{number}", f"s{number}-eth1")


# hosts


class VlanHost(Host):  # type: ignore[misc]
    """As in Mininet's examples: its address is on a VLAN interface of its own."""

    def config(self, vlan: int = 100, **params: Any) -> Any:
        done = super().config(**params)
        below = self.defaultIntf()
        name = f"{below}.{vlan}"
        self.cmd(f"ifconfig {below} inet 0; ip link add link {below} name {name} type vlan id {vlan}")
        self.cmd(f"ifconfig {name} inet {params['ip']}")
        below.name = name
        self.nameToIntf[name] = below
        return done


class Limited(CPULimitedHost):  # type: ignore[misc]
    """A student's own."""


class Hosts(Topo):  # type: ignore[misc]
    """Four hosts on a switch, the first two of them of a kind."""

    def build(self, **options: Any) -> None:
        switch = self.addSwitch("s1")
        for name in ("h1", "h2"):
            self.addLink(self.addHost(name, **options), switch, bw=10)
        for name in ("h3", "h4"):
            self.addLink(self.addHost(name), switch, bw=10)


def test_hosts_that_make_their_own_interfaces(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(Hosts(cls=VlanHost, vlan=7), folder=tmp_path) as lab:
        assert reaches(lab, "h1", "10.0.0.2")
        assert not reaches(lab, "h1", "10.0.0.3")
        assert reaches(lab, "h3", "10.0.0.4")
        h1 = lab.state().node("h1")
    assert h1 is not None
    assert {each.name for each in h1.interfaces} == {"h1-eth0", "h1-eth0.7"}
    assert lab.not_checked[0].startswith("h1: configured by its class VlanHost: ")
    assert len(lab.not_checked) == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"cls": partial(Host, ip=None)}, ""),
        ({"cls": partial(CPULimitedHost, sched="cfs", cpu=0.1, cores=0)}, "cpu and cores not applied, a lab does not"),
        ({"cls": Limited, "cpu": 0.5}, "cpu not applied, a lab does not limit processors"),
        ({"cls": Node}, ""),
    ],
    ids=lambda value: _words(value) if isinstance(value, dict) else "",
)
def test_hosts_of_classes_of_mininets(virtual: Kind, tmp_path: Path, options: dict[str, Any], told: str) -> None:
    with linklab.start(Hosts(**options), folder=tmp_path) as lab:
        assert reaches(lab, "h1", "10.0.0.2")
        assert reaches(lab, "h3", "10.0.0.1")
        assert lab["h1"].popen("echo hello").wait() == 0
    assert ["h1", "h2"] * bool(told) == [line.partition(": ")[0] for line in lab.not_checked if told in line]
    assert bool(told) == bool(lab.not_checked)


# switches


@pytest.mark.large
@pytest.mark.parametrize("cls", [partial(OVSSwitch, failMode="standalone"), OVSBridge, UserSwitch])
def test_a_switch_of_a_class_of_mininets(virtual: Kind, tmp_path: Path, cls: Any) -> None:
    with linklab.start(SingleSwitchTopo(2, sopts={"cls": cls}), folder=tmp_path) as lab:
        assert reaches(lab, "h1", "10.0.0.2")
        server = lab["h2"].popen("iperf3 -s -1")
        lab["h2"].wait_listening(5201)
        assert "receiver" in lab["h1"].cmd("iperf3 -c 10.0.0.2 -n 1M")
        server.wait()
    assert [line for line in lab.not_checked if "UserSwitch" in line] == list(lab.not_checked)
    assert bool(lab.not_checked) == (cls is UserSwitch)


class Ring(Topo):  # type: ignore[misc]
    """Three switches in a ring, a host at each."""

    def build(self, **options: Any) -> None:
        for number in (1, 2, 3):
            self.addLink(self.addHost(f"h{number}"), self.addSwitch(f"s{number}", **options))
        for one, two in (("s1", "s2"), ("s2", "s3"), ("s3", "s1")):
            self.addLink(one, two, delay="1ms")


@pytest.mark.large
@pytest.mark.parametrize("cls", [LinuxBridge, OVSBridge])
def test_a_ring_of_switches_with_a_spanning_tree(virtual: Kind, tmp_path: Path, cls: type) -> None:
    with linklab.start(Ring(cls=cls, stp=True), folder=tmp_path) as lab:
        lab.sleep(40)  # twice the forward delay, and a while
        assert all(reaches(lab, "h1", f"10.0.0.{number}") for number in (2, 3))
        lab["h1"].cmd("ip neigh flush all")
        assert reaches(lab, "h1", "10.0.0.3")
    assert lab.not_checked == ()


# while the lab runs


def test_a_host_is_deleted_and_the_rest_is_stopped_as_mininet_stops_it(virtual: Kind, tmp_path: Path) -> None:
    def delete(net: Any) -> list[str]:
        net.delHost(net["h2"])
        return [net["h1"].cmd("ping -c 1 -W 1 10.0.0.3"), net["s1"].cmd("ls /sys/class/net")]

    def stop(net: Any) -> None:
        net.stop()

    with linklab.start(SingleSwitchTopo(3), folder=tmp_path) as lab:
        said, ports = lab.call(delete)
        assert {node.name for node in lab.state().nodes} == set(lab.nodes) == {"h1", "h3", "s1"}
        lab.call(stop)
    assert " 0% packet loss" in said
    assert "s1-eth2" not in ports
    assert "s1-eth3" in ports


def test_a_host_joins_and_is_of_use(virtual: Kind, tmp_path: Path) -> None:
    def join(net: Any) -> None:
        h9 = net.addHost("h9", ip="10.0.0.9/8")
        link = net.addLink(h9, net["s1"], bw=5)
        net["s1"].cmd(f"brctl addif s1 {link.intf2.name}")
        h9.configDefault()

    def leave(net: Any) -> None:
        net.delHost(net["h9"])

    with linklab.start(SingleSwitchTopo(2), folder=tmp_path) as lab:
        with pytest.raises(LabError, match="no node 'h9' here: choose one of h1, h2, s1"):
            lab["h9"]
        lab.call(join)
        assert "h9" in lab.nodes
        assert lab.nodes == list(lab)
        lab.sleep(2)
        assert reaches(lab, "h9", "10.0.0.1")
        assert reaches(lab, "h2", "10.0.0.9")
        lab.call(leave)
        assert "h9" not in lab.nodes
        with pytest.raises(LabError, match="no node 'h9'"):
            lab["h9"].cmd("true")
