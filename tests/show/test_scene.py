"""The scene behind a drawing, and the network in words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from mininet.node import Node as MininetNode
from mininet.topo import Topo

from linklab.errors import NetworkError
from linklab.network import (
    COURSE,
    TWO_HOSTS,
    End,
    Host,
    Link,
    NetworkState,
    PlannedNode,
    Router,
    Shape,
    Topology,
    by_name,
)
from linklab.show import network
from linklab.show.stage.scene import Drawable, description, scene_of
from tests.states import PLAN, change, change_node, reshape

from .drawn import SHAPE, routed


def describe(thing: Drawable) -> str:
    return description(scene_of(thing))


class RunningLab:
    def __init__(self, state: NetworkState, network: Topology | None = COURSE, controlled: bool = False) -> None:
        self._state, self.network, self.controlled = state, network, controlled

    def state(self) -> NetworkState:
        return self._state


def test_the_course_network_in_words() -> None:
    lines = describe(COURSE).splitlines()
    assert lines[0] == (
        "Network course: 9 hosts (h1, h2, h3, h4, h5, h6, h7, h8, h9), 2 switches (s1, s2), "
        "4 routers (r1, r2, r3, r4), 14 cables."
    )
    assert "Subnet B, 10.0.1.0/24:" in lines
    assert "  L1: r1-eth1 (10.0.1.1/24) to r2-eth0 (10.0.1.2/24): 40 Mbit/s, 10 ms, 67 packets." in lines
    assert "  h1-eth0 (10.0.0.2/24) to s1-eth1: not shaped." in lines
    assert len(lines) == 1 + 8 + 14


def test_a_dual_stack_network_has_both_prefixes_and_both_addresses() -> None:
    words = describe(by_name("course-dual-stack"))
    assert "Subnet B, 10.0.1.0/24, 2001:db8:0:1::/64:" in words
    assert "h1-eth0 (10.0.0.2/24, 2001:db8::2/64) to s1-eth1" in words
    assert "does not fit" not in words


def test_a_running_lab_is_described_as_it_is_with_the_names_of_the_network_that_it_was_started_with() -> None:
    assert describe(RunningLab(PLAN)).splitlines()[1:] == describe(COURSE).splitlines()[1:]
    nameless = RunningLab(PLAN, TWO_HOSTS)
    assert "  r1-eth1 (10.0.1.1/24) to r2-eth0 (10.0.1.2/24): 40 Mbit/s" in describe(nameless)
    assert "Subnet 10.0.1.0/24:" in describe(nameless)


def test_of_switches_that_ask_a_controller_it_and_their_ports_are_drawn() -> None:
    assert "Its switches ask a controller." in describe(RunningLab(PLAN, controlled=True)).splitlines()
    svg = network(RunningLab(PLAN, controlled=True)).svg
    ports = sum(node.kind == "switch" for node in PLAN.nodes for _ in node.interfaces)
    assert len(re.findall(r">port \d</text>", svg)) == ports
    assert ">controller</text>" in svg
    assert ">controller</text>" not in network(RunningLab(PLAN)).svg


def test_a_students_course_network_has_the_names_of_the_lab_s_text() -> None:
    """Lab 01's students build it as a Topo, which has no names of links and subnets."""
    for built in (PLAN, RunningLab(PLAN, None)):
        assert describe(built).splitlines()[1:] == describe(COURSE).splitlines()[1:]


RESHAPED = change(change(reshape(PLAN, "r3-eth3", loss_percent=1.0), "r1-eth1", mtu_bytes=1400), "r2-eth2", up=False)
UNSHAPED = change(PLAN, "r2-eth2", shape=Shape())


@pytest.mark.parametrize(
    ("state", "link", "says"),
    [
        (reshape(PLAN, "r2-eth0", delay_ms=0.0), "L1:", "40 Mbit/s, 67 packets, r1 to r2 10 ms, r2 to r1 no delay."),
        (RESHAPED, "L3:", "r3 to r4 1 % loss, r4 to r3 no loss"),
        (reshape(PLAN, "r1-eth1", queue_packets=None), "L1:", "40 Mbit/s, 10 ms, r2 to r1 67 packets."),
        (RESHAPED, "L1:", "r1 MTU 1400 / r2 MTU 1500"),
        (RESHAPED, "L2:", "r2-eth2 is down"),
        (change(PLAN, "r2-eth0", shape=Shape()), "L1:", "10 ms, 67 packets, r2 to r1 not shaped."),
        (change(UNSHAPED, "r3-eth0", shape=Shape()), "L2:", "not shaped."),
        (change(PLAN, "h9-eth0", addresses=("10.0.7.2/24", "10.0.7.3/24")), "h9-", "(10.0.7.2/24, 10.0.7.3/24)"),
    ],
)
def test_each_cable_says_what_it_does_in_both_directions(state: NetworkState, link: str, says: str) -> None:
    (line,) = [line for line in describe(RunningLab(state)).splitlines() if link in line]
    assert says in line


@pytest.mark.parametrize(
    ("state", "interfaces"),
    [
        (PLAN, set()),
        (change(PLAN, "h1-eth0", addresses=("10.0.0.2/8",)), {"h1-eth0"}),
        (change(PLAN, "h7-eth0", addresses=("10.0.2.2/16",)), {"h7-eth0"}),
        (change(PLAN, "h2-eth0", addresses=("10.0.0.2/24",)), {"h1-eth0", "h2-eth0"}),
        (change(PLAN, "h9-eth0", addresses=("10.0.9.2/24",)), {"h9-eth0"}),
        (change(PLAN, "h9-eth0", addresses=()), set()),
    ],
)
def test_addresses_that_do_not_fit_are_found(state: NetworkState, interfaces: set[str]) -> None:
    assert {it.name for it in scene_of(state).interfaces if not it.fits} == interfaces


def test_kinds_follow_what_nodes_do() -> None:
    state = change_node(change_node(PLAN, "r2", forwarding=False), "h8", forwarding=True)
    kinds = scene_of(state).kinds
    assert [kinds[name] for name in ("r1", "r2", "h8", "h7", "s1")] == ["router", "idle", "router", "host", "switch"]
    assert "1 node with several interfaces that does not forward (r2)" in describe(state)


ODD = End("h1", "h1-eth0", "10.0.0.1/24"), End("h2", "h2-eth0", "10.0.1.2/24")
CUT_OFF = change(change_node(PLAN, "h8", interfaces=()), "r3-eth1", peer=None)


@pytest.mark.parametrize(
    ("thing", "line"),
    [
        (CUT_OFF, "r3-eth1 (10.0.4.1/24) has no cable."),
        (CUT_OFF, "Not connected: h8."),
        (NetworkState(tuple(node for node in PLAN.nodes if node.name != "h9")), "r4-eth1 (10.0.7.1/24) has no cable."),
        (replace(COURSE, subnets=()), "Subnet 10.0.1.0/24:"),
        (  # a trunk's end has the addresses of its sub-interfaces
            by_name("router-on-a-stick-10"),
            "trunk: s1-eth5 to r1-eth0 (10.0.10.254/24, 10.0.20.254/24): 10 Mbit/s, 100 packets.",
        ),
        (  # nobody has validated it
            Topology("odd", (Host("h1"), Host("h2")), (Link(*ODD, rate_mbps=10),)),
            "  h1-eth0 (10.0.0.1/24) to h2-eth0 (10.0.1.2/24, does not fit its neighbours): 10 Mbit/s.",
        ),
    ],
)
def test_what_is_missing_or_odd_has_a_line(thing: Drawable, line: str) -> None:
    assert line in describe(thing).splitlines()


def test_two_links_between_the_same_nodes_keep_their_names() -> None:
    nodes: list[PlannedNode] = [Router("r1"), Router("r2"), Host("h1"), Host("h2")]
    pairs = [("r1", "r2"), ("r1", "r2"), ("h1", "r1"), ("h2", "r2")]
    scene = scene_of(routed("pair", nodes, pairs, **SHAPE))
    assert [cable.name for cable in scene.cables] == ["L1", "L2", "", ""]


def test_a_mininet_topo_is_described_as_far_as_it_says() -> None:
    topo, own = Topo(), type("Own", (MininetNode,), {})
    topo.addSwitch("s1")
    for name, cls in (("h1", None), ("h2", own), ("r1", None), ("r2", own), ("r3", own)):
        topo.addHost(name, **({"cls": cls} if cls else {}))
    topo.addLink("h1", "s1", params1={"ip": "10.0.0.1/24"}, bw=10, delay="5ms", max_queue_size=50)
    for pair in (("s1", "r1"), ("r1", "r2"), ("r2", "r3"), ("r2", "r3"), ("r3", "h2")):
        topo.addLink(*pair)
    first, *cables = describe(topo).splitlines()
    assert first.startswith("Network: 2 hosts (h1, h2), 1 switch (s1), 2 routers (r2, r3), ")
    assert first.endswith("1 node with several interfaces that does not forward (r1), 6 cables.")
    assert "  h1-eth0 (10.0.0.1/24) to s1-eth1: 10 Mbit/s, 5 ms, 50 packets." in cables
    ends = {frozenset(cable.strip(" .").partition(": ")[0].split(" to ")) for cable in cables}
    assert {frozenset({"r2-eth1", "r3-eth0"}), frozenset({"r2-eth2", "r3-eth1"})} <= ends
    assert {frozenset({"r1-eth1", "r2-eth0"}), frozenset({"r3-eth2", "h2-eth0"})} <= ends


def test_something_else_is_refused() -> None:
    with pytest.raises(NetworkError, match="cannot draw a int: give a network"):
        describe(3)
