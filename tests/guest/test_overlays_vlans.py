"""VLANs on all three kinds of switch: built, read back, and passing what they should and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import linklab
from linklab.errors import LabError
from linklab.guest.readback import tables_of
from linklab.measure import run
from linklab.network import Network, differences, expected_state
from linklab.network.catalogue import l3_switch, router_on_a_stick
from linklab.network.state import Membership
from linklab.runtime.backends import Kind
from linklab.units import SwitchName

pytestmark = pytest.mark.lab
KINDS: tuple[SwitchName, ...] = ("bridge", "ovs", "ovs-user")


def answered(lab: linklab.Lab, source: str, address: str) -> bool:
    return "1 received" in lab[source].cmd(f"ping -n -c 1 -w 1 {address}")


@pytest.mark.large
@pytest.mark.parametrize("switch", KINDS)
@pytest.mark.parametrize("network", [l3_switch(10), router_on_a_stick(10)], ids=["l3-switch", "stick"])
def test_vlans_are_read_back_as_built_and_as_changed(
    virtual: Kind, lab_folder: Path, switch: SwitchName, network: Network
) -> None:
    with linklab.start(network, switch=switch, folder=lab_folder) as lab:
        assert differences(expected_state(network), lab.state()) == ()
        assert answered(lab, "h1", "10.0.10.2")
        assert answered(lab, "h1", "10.0.20.3")
        # without its gateway h1 reaches nobody of the other VLAN, though they are on one switch
        lab["h1"].cmd("ip route del default; ip route add 10.0.20.0/24 dev h1-eth0")
        assert not answered(lab, "h1", "10.0.20.3")
        if network.name.startswith("l3"):
            return
        if switch == "bridge":
            lab["s1"].cmd("bridge vlan del dev s1-eth2 vid 10; bridge vlan add dev s1-eth2 vid 20 pvid untagged")
            lab["s1"].cmd("bridge vlan del dev s1-eth5 vid 20")
        else:
            lab["s1"].cmd("ovs-vsctl set port s1-eth2 tag=20 -- set port s1-eth5 trunks=10")
        state = lab.state()
        port, trunk = state.interface("s1", "s1-eth2"), state.interface("s1", "s1-eth5")
        assert port is not None
        assert trunk is not None
        assert (port.vlans, trunk.vlans) == (Membership(20), Membership(None, (10,)))
        found = map(str, differences(expected_state(network), state))
        assert any("s1-eth2 on s1: VLAN 20, expected VLAN 10" in line for line in found)
        assert not answered(lab, "h1", "10.0.10.2")


def test_a_sub_interface_of_802_1ad_is_in_no_vlan(virtual: Kind, lab_folder: Path) -> None:
    """Its frames carry another kind of tag, which a bridge of 802.1Q does not know."""
    with linklab.start(router_on_a_stick(10), folder=lab_folder) as lab:
        lab["r1"].cmd("ip link add link r1-eth0 name q type vlan id 7")
        lab["r1"].cmd("ip link add link r1-eth0 name ad type vlan proto 802.1ad id 8")
        q, ad = lab.state().interface("r1", "q"), lab.state().interface("r1", "ad")
    assert q is not None
    assert ad is not None
    assert (q.vlans, ad.vlans) == (Membership(7), None)


def test_a_vlan_that_was_left_at_a_port_is_read_back(virtual: Kind, lab_folder: Path) -> None:
    """Another VLAN for incoming frames leaves the first one at the port: its frames still go out there."""
    with linklab.start(router_on_a_stick(10), folder=lab_folder) as lab:
        lab["s1"].cmd("bridge vlan add dev s1-eth2 vid 20 pvid untagged")
        port = lab.state().interface("s1", "s1-eth2")
        assert port is not None
        assert port.vlans == Membership(20, (), (10,))


def test_the_bridge_tool_says_the_same(virtual: Kind, lab_folder: Path) -> None:
    with linklab.start(l3_switch(10), folder=lab_folder) as lab:
        said = json.loads(lab["s1"].cmd("bridge -j vlan"))
        links = lab["s1"].cmd("ip -d link show s1.20")
    vlans = {port["ifname"]: [(it["vlan"], sorted(it.get("flags", []))) for it in port["vlans"]] for port in said}
    untagged = ["Egress Untagged", "PVID"]
    assert vlans["s1-eth1"] == [(10, untagged)]
    assert vlans["s1-eth4"] == [(20, untagged)]
    assert vlans["s1"] == [(10, []), (20, [])]
    assert "vlan protocol 802.1Q id 20" in links


def test_what_is_not_as_asked_is_refused(virtual: Kind, lab_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab is told another state than its network has: it must not start."""
    network = l3_switch(10)
    plan = expected_state(network)
    wrong = tuple(
        replace(node, interfaces=tuple(
            replace(it, vlans=Membership(20)) if it.name == "s1-eth1" else it for it in node.interfaces
        ))
        for node in plan.nodes
    )  # fmt: skip
    monkeypatch.setattr("linklab.lab.expected_state", lambda _: replace(plan, nodes=wrong))
    with pytest.raises(LabError, match="the network is not as asked: s1-eth1 on s1: VLAN 10, expected VLAN 20"):
        linklab.start(network, folder=lab_folder)


@pytest.mark.large
@pytest.mark.parametrize("switch", KINDS)
def test_a_cable_serialises_each_frame_tag_included(virtual: Kind, lab_folder: Path, switch: SwitchName) -> None:
    from linklab.measure import EchoFlow
    from linklab.network.theory import cable_rtt_ms

    network = router_on_a_stick(10)
    with linklab.start(network, switch=switch, folder=lab_folder) as lab:
        found = {L: run(lab, EchoFlow("h1", "h3", 20, payload_bytes=L)) for L in (100, 1440)}
    for payload, result in found.items():
        right = cable_rtt_ms(network, "h1", "h3", payload)
        # a switch in user space sleeps between packets, and the kernel lets sleepers sleep some 50 us longer
        assert 0 < result.rtt_mean_ms - right < (0.4 if switch == "ovs-user" else 0.01)
    if switch != "ovs-user":
        grown = found[1440].rtt_mean_ms - found[100].rtt_mean_ms
        assert grown == pytest.approx(8 * 1340 * 8 / 10_000, abs=0.003)


def test_tables_of_open_vswitch() -> None:
    """Rows that come and go, and sets of which some go, out of the file of its database."""
    transactions = [
        {"Port": {"1": {"name": "p1", "trunks": 10}, "2": {"name": "p2", "tag": 7, "trunks": ["set", [10, 20]]}}},
        {"Bridge": {"3": {"name": "s1", "ports": ["set", [["uuid", "1"], ["uuid", "2"]]]}}, "Open_vSwitch": {"4": {}}},
        {"_is_diff": True, "Port": {"2": {"tag": ["set", []], "trunks": ["set", [10, 30]]}, "1": None}},
        {"_is_diff": True, "Bridge": {"3": {"ports": ["uuid", "1"]}}, "_comment": "ovs-vsctl: del-port"},
    ]
    log = "".join(f"OVSDB JSON 0 hash\n{json.dumps(it)}\n" for it in ({"name": "schema"}, *transactions))
    found = tables_of(log)
    assert found["Port"] == {"2": {"name": "p2", "tag": (), "trunks": {20, 30}}}
    assert found["Bridge"] == {"3": {"name": "s1", "ports": {"2"}}}
