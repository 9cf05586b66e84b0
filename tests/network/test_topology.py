"""Broadcast domains: what switches, tunnels and VLANs join."""

from __future__ import annotations

from linklab.network import (
    TunnelState,
    expected_state,
    path,
)
from linklab.network.topology import segments
from tests.support.networks import GRE, L3, STICK


def test_ways_go_over_the_cables_that_are_there() -> None:
    assert str(path(L3, "h1", "h2")) == str(path(STICK, "h1", "h2")) == "h1 - s1 - h2"
    assert str(path(L3, "h1", "h3")) == "h1 - s1 - h3"
    way = path(STICK, "h1", "h3")
    assert str(way) == "h1 - s1 - r1 - s1 - h3"
    assert [hop.link.label for hop in way.hops] == ["h1-s1", "trunk", "trunk", "h3-s1"]
    assert [hop.out.interface for hop in way.hops] == ["h1-eth0", "s1-eth5", "r1-eth0", "s1-eth3"]
    assert all(hop.link in STICK.links for hop in way.hops)


def test_a_tunnel_is_a_cable_to_frames_and_has_its_carriers() -> None:
    assert path(GRE, "h1", "h2").node_names == ("h1", "s1", "s2", "h2")
    assert path(GRE, "pc1", "pc2").node_names == ("pc1", "s3", "pc2")
    port = expected_state(GRE).interface("s1", "s1-gre1")
    assert port is not None
    assert port.peer == ("s2", "s2-gre1")
    assert port.tunnel == TunnelState("192.168.1.1", "192.168.1.2", "pc1", False)
    assert (port.mtu_bytes, GRE.links[2].mtu_bytes) == (1500, 1538)


def test_a_tunnel_joins_two_domains() -> None:
    assert [domain.switch_names for domain in segments(GRE)] == [("s1", "s2"), ("s3",)]
