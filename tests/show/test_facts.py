"""What the inspector says of a network's parts."""

from __future__ import annotations

from linklab.network import by_name
from linklab.show.stage.facts import about_network
from linklab.show.stage.scene import scene_of


def test_a_layer_3_switch_has_its_addresses() -> None:
    about = about_network(scene_of(by_name("l3-switch-10")))["nodes"]["s1"]
    addresses = {address for _, address, *_ in about["interfaces"]}
    assert {"10.0.10.254/24", "10.0.20.254/24"} <= addresses


def test_a_switch_s_ports_have_their_vlans() -> None:
    nodes = about_network(scene_of(by_name("router-on-a-stick-10")))["nodes"]
    vlans = {name: vlan for it in nodes.values() for name, *_, vlan in it["interfaces"]}
    assert "VLAN 10" in vlans.values()
    assert "trunk of VLANs 10, 20" in vlans.values()
