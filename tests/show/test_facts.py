"""What the inspector says of a network's parts."""

from __future__ import annotations

from linklab.network import by_name
from linklab.show.stage.facts import about_network
from linklab.show.stage.scene import scene_of


def test_a_layer_3_switch_has_its_addresses() -> None:
    about = about_network(scene_of(by_name("l3-switch-10")))["nodes"]["s1"]
    addresses = {address for _, address, _, _ in about["interfaces"]}
    assert {"10.0.10.254/24", "10.0.20.254/24"} <= addresses
