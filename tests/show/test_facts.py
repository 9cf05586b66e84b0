"""What the inspector says of a network's parts."""

from __future__ import annotations

import json
from typing import Any

from linklab.network import COURSE, by_name
from linklab.show.stage.facts import about_network
from linklab.show.stage.scene import scene_of


def test_a_layer_3_switch_has_its_addresses() -> None:
    about = about_network(scene_of(by_name("l3-switch-10")), {})["nodes"]["s1"]
    addresses = {address for _, address, *_ in about["interfaces"]}
    assert {"10.0.10.254/24", "10.0.20.254/24"} <= addresses


def test_a_switch_s_ports_have_their_vlans() -> None:
    nodes = about_network(scene_of(by_name("router-on-a-stick-10")), {})["nodes"]
    vlans = {name: vlan for it in nodes.values() for name, *_, vlan in it["interfaces"]}
    assert "VLAN 10" in vlans.values()
    assert "trunk of VLANs 10, 20" in vlans.values()


def tables(node: str, **said: Any) -> dict[str, list[list[str]]]:
    """The rows of a node's tables by their titles, of what daemons said."""
    texts = {what.replace("_", " "): it if isinstance(it, str) else json.dumps(it) for what, it in said.items()}
    return {title: rows for title, _, rows in about_network(scene_of(COURSE), {node: texts})["nodes"][node]["tables"]}


def test_a_switch_has_its_flow_table() -> None:
    printed = "n_packets=3, priority=9,tcp,tp_dst=80,actions=drop\ntable_id=1, n_packets=1, priority=5,actions=ALL,2\n"
    assert tables("s1", flows=printed) == {
        "Flow table": [["9", "tcp, tp_dst=80", "drop", "3"], ["5, table 1", "all", "ALL, 2", "1"]]
    }


def test_a_router_has_frr_s_routes_those_that_are_not_used_too() -> None:
    near = {"protocol": "connected", "selected": True, "distance": 0, "metric": 0}
    far = {"protocol": "ospf", "selected": True, "distance": 110, "metric": 20}
    routes = {
        "10.0.1.0/24": [
            {**far, "selected": False, "metric": 10, "nexthops": [{"interfaceName": "r1-eth1"}]},
            {**near, "nexthops": [{"interfaceName": "r1-eth1", "directlyConnected": True}]},
        ],
        "10.0.1.1/32": [{**near, "protocol": "local", "nexthops": [{"interfaceName": "r1-eth1"}]}],
        "10.0.2.0/24": [{**far, "nexthops": [{"ip": f"10.0.{n}.2", "interfaceName": f"r1-eth{n}"} for n in (1, 3)]}],
    }
    assert tables("r1", ip_route=routes)["FRR's routes"] == [
        ["10.0.1.0/24", "ospf, not used", "110/10", "", "eth1"],
        ["10.0.1.0/24", "connected", "0/0", "", "eth1"],
        ["10.0.2.0/24", "ospf", "110/20", "10.0.1.2", "eth1"],
        ["10.0.2.0/24", "ospf", "110/20", "10.0.3.2", "eth3"],
    ]


def test_a_router_has_its_neighbours() -> None:
    hears = {"nbrState": "Full/DR", "ifaceAddress": "10.0.1.2", "ifaceName": "r1-eth1:10.0.1.1", "deadTime": "3.010s"}
    peers = {
        "10.0.1.2": {"remoteAs": 65002, "state": "Established", "peerUptime": "00:00:01", "pfxRcd": 2, "pfxSnt": 3},
        "10.0.3.3": {"remoteAs": 65003, "state": "Active", "peerUptime": "never"},
    }
    found = tables(
        "r1", ip_ospf_neighbor={"neighbors": {"10.0.7.1": [hears]}}, bgp_summary={"ipv4Unicast": {"peers": peers}}
    )
    assert found == {
        "OSPF's neighbours": [["10.0.7.1", "Full/DR", "10.0.1.2", "eth1", "3.010s"]],
        "BGP's neighbours": [
            ["10.0.1.2", "65002", "Established", "00:00:01", "2", "3"],
            ["10.0.3.3", "65003", "Active", "never", "0", "0"],
        ],
    }


def test_a_table_that_is_empty_is_left_out_and_one_that_cannot_be_read_says_so() -> None:
    assert tables("r1", ip_route={}, ip_ospf_neighbor={}, bgp_summary={}) == {}
    assert "state" in str(tables("r1", bgp_summary={"ipv4Unicast": {"peers": {"10.0.1.2": {"remoteAs": 65002}}}}))
