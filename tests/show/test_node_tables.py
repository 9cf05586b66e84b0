"""What nodes and links know, as tables."""

from __future__ import annotations

from linklab.measure import QueueCounters
from linklab.measure.seconds import Second, Socket
from linklab.network import COURSE, expected_state
from linklab.show.network.scene import scene_of
from linklab.show.node_tables import Neighbour, NetworkLook, link_title, socket_table, tables_of

STATE = expected_state(COURSE)
QUEUE = QueueCounters("r1", "r1-eth1", 24_420, 36_937_752, 37, 11_801, 5)
LOOK = NetworkLook(STATE, {"h1": (Neighbour("10.0.0.1", "", "h1-eth0"),)}, Second(0.0, (QUEUE,), {}))
SCENE = scene_of(COURSE)
TABLES = tables_of(LOOK, SCENE)


def test_a_host_has_interfaces_routes_and_neighbours() -> None:
    interfaces, routes, neighbours = TABLES["h1"]
    assert interfaces["rows"] == [["h1-eth0", "10.0.0.2/24", "up", "1500 bytes"]]
    assert routes["rows"] == [["10.0.0.0/24", "connected", "h1-eth0"], ["0.0.0.0/0", "10.0.0.1", "h1-eth0"]]
    assert neighbours["rows"] == [["10.0.0.1", "no answer yet", "h1-eth0"]]


def test_a_switch_has_interfaces_alone() -> None:
    (ports,) = TABLES["s1"]
    assert len(ports["rows"]) == 4


def test_a_link_has_a_column_for_each_direction() -> None:
    cable = next(cable for cable in SCENE.cables if cable.name == "L1")
    (table,) = TABLES[link_title(cable)]
    rows = {name: values for name, *values in table["rows"]}
    assert table["head"] == ["direction", "r1 to r2", "r2 to r1"]
    assert rows["rate"] == ["40 Mbit/s", "40 Mbit/s"]
    assert rows["dropped so far"] == ["37 packets", ""]
    assert rows["command"][0] == "tc -s qdisc show dev r1-eth1"


def test_each_node_and_each_link_has_tables() -> None:
    assert set(TABLES) == {node.name for node in SCENE.nodes} | {link_title(cable) for cable in SCENE.cables}


def test_connected_sockets_come_before_those_that_wait() -> None:
    server = Socket("TCP", "0.0.0.0:5201", "0.0.0.0:*", "LISTEN", 0, 0, 10)
    sender = Socket("TCP", "10.0.0.2:40000", "10.0.5.2:5201", "ESTABLISHED", 14_480, 0, 33)
    echo = Socket("UDP", "0.0.0.0:7", "0.0.0.0:*", "", 0, 0, None)
    assert socket_table([server, sender, echo]) == [
        ["TCP", "established", "10.0.0.2:40000", "10.0.5.2:5201", "33 segments", "14,480 bytes"],
        ["TCP", "listen", "0.0.0.0:5201", "anybody", "", ""],
        ["UDP", "open", "0.0.0.0:7", "anybody", "", "0 bytes"],
    ]
