"""Tunnels as data: what they are to frames, what is refused, and what of them is compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    Network,
    NetworkState,
    Router,
    Tunnel,
    TunnelEnd,
    TunnelState,
    expected_state,
    first_difference,
    path,
    static_routes,
)
from linklab.network.catalogue import mtu_direct, mtu_gre
from linklab.network.theory import ip_packet_bytes, payload_of_frame_bytes
from linklab.units import GRE_OVERHEAD_BYTES

GRE = mtu_gre()
(TUNNEL,) = GRE.tunnels
PLAN = expected_state(GRE)


def changed(**values: object) -> Network:
    return replace(GRE, tunnels=(replace(TUNNEL, **values),))  # type: ignore[arg-type]


def test_a_tunnel_is_a_cable_to_frames_and_has_its_carriers() -> None:
    assert path(GRE, "h1", "h2").node_names == ("h1", "s1", "s2", "h2")
    assert path(GRE, "pc1", "pc2").node_names == ("pc1", "s3", "pc2")
    port = PLAN.interface("s1", "s1-gre1")
    assert port is not None
    assert port.peer == ("s2", "s2-gre1")
    assert port.tunnel == TunnelState("192.168.1.1", "192.168.1.2", "pc1", False)
    assert (port.mtu_bytes, GRE.links[2].mtu_bytes) == (1500, 1538)


def test_routers_may_carry_a_tunnel_and_have_no_route_to_what_is_inside() -> None:
    nodes = tuple(Router(node.name) if node.name in ("pc1", "pc2") else node for node in GRE.nodes)
    assert static_routes(replace(GRE, nodes=nodes)) == {"h1": (), "h2": (), "pc1": (), "pc2": ()}


def test_overhead_is_38_bytes_and_the_outside_mtu_says_whether_it_fragments() -> None:
    assert GRE_OVERHEAD_BYTES == 38
    assert [mtu_gre(1518, outside_mtu_bytes=mtu).tunnels[0].fragments for mtu in (1537, 1538)] == [True, False]
    assert mtu_gre(7999).links[-1].mtu_bytes == 7981 + 38
    assert payload_of_frame_bytes(1518) == 1472
    assert ip_packet_bytes(7999) == 7981


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: changed(b=TunnelEnd("s9", "s9-gre1", "pc2")), "tunnel s1-s9 needs 's9', which is no node"),
        (lambda: changed(b=TunnelEnd("s2", "s2-gre1", "pc9")), "tunnel s1-s2 needs 'pc9', which is no node"),
        (lambda: changed(b=TunnelEnd("h2", "h2-gre1", "pc2")), "ends at h2, which is no switch"),
        (lambda: changed(b=TunnelEnd("s2", "s2-gre1", "s3")), "carried by switch s3, which has no address"),
        (lambda: changed(b=TunnelEnd("s2", "s2-gre1", "pc1")), "leads back to where it begins"),
        (lambda: changed(b=TunnelEnd("s2", "s2-eth1", "pc2")), "interface s2-eth1 is there already"),
        (lambda: changed(a=TunnelEnd("s1", "a-name-much-too-long", "pc1")), "Linux takes at most 15"),
        (lambda: changed(mtu_bytes=67), "mtu_bytes is 67: choose 68 to 65497"),
        (lambda: changed(mtu_bytes=65498), "headers take 38 of the largest IPv4 packet"),
        (lambda: changed(mtu_bytes="1500"), "which is not a whole number"),
        (
            lambda: changed(mtu_bytes=1501),
            "packets of 1539 bytes and its links take 1538: give the links mtu_bytes=1539",
        ),
        (lambda: replace(GRE, tunnels=()), "10.0.0.0/24 at h1-eth0 and .* no switch joins"),
        (lambda: mtu_gre(65516), "mtu_bytes is 65536: choose 68 to 65535"),
        (lambda: mtu_direct(57), "a frame of 57 bytes has no room for the headers .* choose 58 or more"),
        (lambda: mtu_direct(70000), "mtu_bytes is 69982: choose 68 to 65535"),
        (lambda: mtu_direct(1518, 2000), "rate_mbps is 2000: choose 0.001 to 1000"),
    ],
)
def test_what_cannot_be_is_one_line(make: Callable[[], Network], says: str) -> None:
    with pytest.raises(NetworkError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_tunnel_beside_a_cable_is_a_ring() -> None:
    link = replace(TUNNEL.link, a=replace(TUNNEL.link.a, interface="s1-x"), b=replace(TUNNEL.link.b, interface="s2-x"))
    with pytest.raises(NetworkError, match=r"switches in a ring \(s1, s2\)"):
        replace(GRE, links=(*GRE.links, link))


def test_carriers_without_a_way_are_refused() -> None:
    with pytest.raises(NetworkError, match="carried by pc2, which has no link: connect it"):
        replace(GRE, links=GRE.links[:3])


def with_tunnel(state: TunnelState | None) -> NetworkState:
    nodes = tuple(
        replace(
            node,
            interfaces=tuple(replace(it, tunnel=state) if it.name == "s1-gre1" else it for it in node.interfaces),
        )
        for node in PLAN.nodes
    )
    return NetworkState(nodes)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (None, "tunnel is none, expected GRE 192.168.1.1 to 192.168.1.2 by pc1, no fragments: no tunnel was made"),
        (TunnelState("192.168.1.1", "192.168.1.2", None, False), "by the switches themselves, .* another namespace"),
        (TunnelState("192.168.1.1", "192.168.1.9", "pc1", False), "192.168.1.9 by pc1.* made with other options"),
        (TunnelState("192.168.1.1", "192.168.1.2", "pc1", True), "pc1, fragments, expected .*made with other options"),
    ],
)
def test_a_tunnel_that_is_not_as_asked_is_told(found: TunnelState | None, says: str) -> None:
    difference = first_difference(PLAN, with_tunnel(found))
    assert difference is not None
    assert difference.field == "tunnel"
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(str(difference))
    assert first_difference(PLAN, with_tunnel(PLAN.interface("s1", "s1-gre1").tunnel)) is None  # type: ignore[union-attr]


def test_a_state_with_a_tunnel_loads_again_and_one_from_before_tunnels_too() -> None:
    data = PLAN.to_json()
    assert NetworkState.from_json(data) == PLAN
    plain = expected_state(mtu_direct())
    old = plain.to_json()
    for node in old["nodes"]:
        for interface in node["interfaces"]:
            del interface["tunnel"]
    assert NetworkState.from_json(old) == plain


def test_a_tunnel_has_a_name_for_messages() -> None:
    assert TUNNEL.label == "s1-s2"
    assert Tunnel(TUNNEL.a, TUNNEL.b, name="G").link.label == "G"
    assert Tunnel(TUNNEL.a, TUNNEL.b).mtu_bytes == 1462
