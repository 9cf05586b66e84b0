"""Tunnels as they are built: over each kind of switch, read back, and seen in captures of the network outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import linklab
from linklab.guest.overlays import pairs
from linklab.measure import TrainFlow, capture, layers, run
from linklab.network import TunnelState, differences, expected_state
from linklab.network.catalogue import mtu_gre
from linklab.network.theory import payload_of_frame_bytes
from linklab.runtime.backends import Kind

GRE = mtu_gre(1518, 10)


def test_ports_belong_together_by_their_addresses() -> None:
    def port(local: str, remote: str) -> TunnelState:
        return TunnelState(local, remote, "pc", False)

    places = {("s1", "a"): port("1", "2"), ("s2", "b"): port("2", "1"), ("s3", "c"): port("2", "3")}
    assert list(pairs(places)) == [(("s1", "a"), ("s2", "b"))]


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(GRE, folder=tmp_path_factory.mktemp("gre")) as lab:
        yield lab


@pytest.mark.lab
def test_what_is_read_back_is_what_was_asked_for(lab: linklab.Lab) -> None:
    assert differences(expected_state(GRE), lab.state()) == ()
    shown = lab["s1"].cmd("ip -d link show s1-gre1")
    assert "gretap remote 192.168.1.2 local 192.168.1.1" in shown
    assert "mtu 1500" in shown


@pytest.mark.lab
def test_the_overhead_of_38_bytes_is_in_the_capture_outside(lab: linklab.Lab) -> None:
    with capture(lab, "h1", "h1-eth0", "udp") as inside, capture(lab, "pc1", "pc1-eth0") as outside:
        result = run(lab, TrainFlow("h1", "h2", 4, payload_of_frame_bytes(1518)))
    assert result.received == 4
    assert [packet.wirelen for packet in inside.packets] == [1514] * 4
    assert [packet.wirelen for packet in outside.packets] == [1552] * 4
    names = [(it.name, it.size_bytes) for it in layers(outside.packets[0])]
    assert names[:3] == [("Ethernet", 14), ("IPv4", 20), ("GRE", 4)]
    assert names[3:] == [(it.name, it.size_bytes) for it in layers(inside.packets[0])]
    assert outside.packets[0]["IP"].dst == "192.168.1.2"


@pytest.mark.large
@pytest.mark.lab
def test_without_room_outside_there_are_fragments_and_without_room_inside_nothing(
    virtual: Kind, tmp_path: Path
) -> None:
    cut = mtu_gre(1518, 10, outside_mtu_bytes=1500)
    with linklab.start(cut, switch="ovs", folder=tmp_path) as lab:
        with capture(lab, "pc1", "pc1-eth0") as outside:
            assert run(lab, TrainFlow("h1", "h2", 3, payload_of_frame_bytes(1518))).received == 3
        assert [packet.wirelen for packet in outside.packets] == [1514, 72] * 3
        assert [it.name for it in layers(outside.packets[1])] == ["Ethernet", "IPv4", "data"]
    narrow = replace(cut, tunnels=(replace(cut.tunnels[0], mtu_bytes=1462, fragments=False),))
    with linklab.start(narrow, switch="ovs-user", folder=tmp_path) as lab:
        with capture(lab, "pc1", "pc1-eth0") as outside:
            assert run(lab, TrainFlow("h1", "h2", 3, payload_of_frame_bytes(1518))).received == 0
            assert run(lab, TrainFlow("h1", "h2", 3, payload_of_frame_bytes(1480))).received == 3
        assert [packet.wirelen for packet in outside.packets] == [1514] * 3


@pytest.mark.lab
def test_a_tunnel_that_was_changed_is_found(lab: linklab.Lab) -> None:
    def first_told() -> str:
        return str(differences(expected_state(GRE), lab.state())[0])

    lab["s2"].cmd("ip link set s2-gre1 mtu 1400")
    assert "s2-gre1 on s2: mtu is 1400 bytes, expected 1500 bytes" in first_told()
    lab["s2"].cmd("ip link set s2-gre1 mtu 1500")
    lab["s1"].cmd("ip link del s1-gre1; ip link add s1-gre1 type gretap local 192.168.1.1 remote 192.168.1.2")
    lab["s1"].cmd("ip link set s1-gre1 up mtu 1500 gso_max_segs 1 master s1")
    assert "by the switches themselves" in first_told()
