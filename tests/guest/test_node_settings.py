"""Who knows whose Ethernet address: known from the start, kept, and learned anew when an address moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mininet.topo import SingleSwitchTopo

import linklab
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
