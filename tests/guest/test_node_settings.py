"""Who knows whose Ethernet address: known from the start, kept, and learned anew when an address moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mininet.topo import SingleSwitchTopo

import linklab
from linklab.errors import LabError
from linklab.network import COURSE, differences, dual_stack, expected_state
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab
HOSTS = 60


@pytest.fixture(scope="module")
def many(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(SingleSwitchTopo(HOSTS), folder=tmp_path_factory.mktemp("many")) as lab:
        yield lab


@pytest.fixture
def four(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(SingleSwitchTopo(4), folder=tmp_path_factory.mktemp("four")) as lab:
        yield lab


@pytest.fixture(scope="module")
def dual(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(dual_stack(COURSE), folder=tmp_path_factory.mktemp("dual")) as lab:
        yield lab


def reaches(lab: linklab.Lab, one: str, target: str) -> bool:
    """One ping of one second."""
    return " 0% packet loss" in lab[one].cmd(f"ping -c 1 -W 1 {target}")


def states(lab: linklab.Lab, host: str) -> list[str]:
    return [line.split()[-1] for line in lab[host].cmd("ip -4 neigh show").splitlines()]


@pytest.mark.large
def test_all_know_all_for_hours_and_ask_nobody(many: linklab.Lab) -> None:
    capture = many["h2"].popen("tcpdump -i h2-eth0 -n -l arp")
    many.sleep(3 * 3600)
    assert reaches(many, "h1", "10.0.0.2")
    capture.terminate()
    capture.wait()
    assert "ARP" not in capture.output
    for number in range(1, HOSTS + 1):
        assert states(many, f"h{number}") == ["REACHABLE"] * (HOSTS - 1)


def test_an_address_that_mininet_moves_is_announced(four: linklab.Lab) -> None:
    """As when a spare server takes over: who spoke to the first one speaks to the second at once."""

    def move(net: Any) -> None:
        net["h1"].setIP("10.0.0.11/8")
        net["h2"].setIP("10.0.0.1/8")

    assert reaches(four, "h3", "10.0.0.1")
    four.call(move)
    four["h2"].cmd("ip neigh flush all")
    assert reaches(four, "h3", "10.0.0.1")
    assert reaches(four, "h2", "10.0.0.4")
    assert reaches(four, "h3", "10.0.0.11")


def test_an_address_moved_by_hand_and_announced(four: linklab.Lab) -> None:
    four["h1"].cmd("ip addr del 10.0.0.1/8 dev h1-eth0")
    four["h2"].cmd("ip addr add 10.0.0.1/8 dev h2-eth0")
    assert not reaches(four, "h3", "10.0.0.1")
    four["h2"].cmd("arping -U -c 1 -I h2-eth0 10.0.0.1")
    assert reaches(four, "h3", "10.0.0.1")
    assert reaches(four, "h4", "10.0.0.1")


def test_a_cable_replaced_while_the_lab_runs(four: linklab.Lab) -> None:
    def replug(net: Any) -> None:
        h1, s1 = net["h1"], net["s1"]
        net.delLinkBetween(h1, s1)
        link = net.addLink(h1, s1)
        s1.cmd(f"brctl addif s1 {link.intf2.name}")
        link.intf1.setIP("10.0.0.1/8")

    four.call(replug)
    four.sleep(2)  # until the kernel has looked at the cable
    assert reaches(four, "h2", "10.0.0.1")
    assert reaches(four, "h1", "10.0.0.3")


def test_a_host_that_joins_later_announces_itself_too(four: linklab.Lab) -> None:
    def join(net: Any) -> None:
        h9 = net.addHost("h9", ip="10.9.0.9/24")
        link = net.addLink(net["h1"], h9)
        link.intf1.setIP("10.9.0.1/24")
        h9.configDefault()

    def set_mac(net: Any) -> None:
        net["h9"].setMAC("02:00:00:00:99:09")

    four.call(join)
    assert reaches(four, "h1", "10.9.0.9")
    four.call(set_mac)
    assert reaches(four, "h1", "10.9.0.9")
    assert four["h9"].cmd("sysctl -n net.ipv4.tcp_congestion_control").strip() == "cubic"


def test_a_dual_stack_network_reads_back_as_planned(dual: linklab.Lab) -> None:
    assert differences(expected_state(dual_stack(COURSE)), dual.state()) == ()


def test_every_host_reaches_every_other_over_ipv6(dual: linklab.Lab) -> None:
    hosts = [host.name for host in COURSE.hosts]
    assert all(reaches(dual, "h1", dual[host].ipv6) and reaches(dual, host, dual["h5"].ipv6) for host in hosts)


def test_a_node_of_a_dual_stack_has_an_address_of_each_version(dual: linklab.Lab) -> None:
    assert (dual["r1"].address, dual["r1"].ipv6) == ("10.0.0.1", "2001:db8::1")
    assert dual["r1"].addresses == {"r1-eth0": "10.0.0.1/24", "r1-eth1": "10.0.1.1/24"}
    with pytest.raises(LabError, match="s1 has no IPv6 address"):
        _ = dual["s1"].ipv6


def test_ipv6_says_nothing_of_itself_once_a_lab_has_started(virtual: Kind, tmp_path: Any) -> None:
    with linklab.start(dual_stack(COURSE), folder=tmp_path) as lab:
        captures = [lab["r2"].popen(f"tcpdump -i r2-eth{number} -n -l") for number in (0, 1)]
        lab.sleep(3600)
        for capture in captures:
            capture.terminate()
            capture.wait()
            assert " IP6 " not in capture.output


def test_neighbours_are_known_over_ipv6_too(dual: linklab.Lab) -> None:
    known = dual["h1"].cmd("ip -6 neigh show").splitlines()
    assert {line.split()[0] for line in known} == {"2001:db8::1", "2001:db8::3", "2001:db8::4"}
    assert {line.split()[-1] for line in known} == {"REACHABLE"}
