"""Static routes, and the paths that follow them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    COURSE,
    End,
    Host,
    Link,
    Network,
    Route,
    Router,
    Switch,
    dual_stack,
    path,
    static_routes,
)
from tests.support.networks import GRE

DEFAULT = "0.0.0.0/0"


HOSTS = [host.name for host in COURSE.hosts]


def test_hosts_of_the_course_have_one_default_route() -> None:
    routes = static_routes(COURSE)
    for host, third in zip(HOSTS, (0, 0, 0, 5, 5, 5, 2, 4, 7), strict=True):
        assert routes[host] == (Route(DEFAULT, f"10.0.{third}.1", f"{host}-eth0"),)


@pytest.mark.parametrize(
    ("router", "hops"),
    [
        ("r1", dict.fromkeys([2, 3, 4, 5, 6, 7], ("10.0.1.2", "r1-eth1"))),
        (
            "r2",
            {0: ("10.0.1.1", "r2-eth0"), **dict.fromkeys([4, 5, 6, 7], ("10.0.3.2", "r2-eth2"))},
        ),
        ("r3", {**dict.fromkeys([0, 1, 2], ("10.0.3.1", "r3-eth0")), 7: ("10.0.6.2", "r3-eth3")}),
        ("r4", dict.fromkeys([0, 1, 2, 3, 4, 5], ("10.0.6.1", "r4-eth0"))),
    ],
)
def test_routers_of_the_course_have_a_route_to_each_remote_subnet(
    router: str, hops: dict[int, tuple[str, str]]
) -> None:
    expected = {Route(f"10.0.{third}.0/24", via, out) for third, (via, out) in hops.items()}
    assert set(static_routes(COURSE)[router]) == expected
    assert len(static_routes(COURSE)[router]) == len(expected)


def test_every_host_of_the_course_reaches_every_other_and_back_the_same_way() -> None:
    for source, target in permutations(HOSTS, 2):
        there, back = path(COURSE, source, target), path(COURSE, target, source)
        assert (there.node_names[0], there.node_names[-1]) == (source, target)
        assert there.node_names == back.node_names[::-1]
        assert there.links == back.links[::-1]
        for (near, far), hop in zip(pairwise(there.node_names), there.hops, strict=True):
            assert (hop.out.node, hop.into.node) == (near, far)
            assert {hop.out, hop.into} == set(hop.link.ends)


@pytest.mark.parametrize(
    ("source", "target", "nodes"),
    [
        ("h1", "h2", "h1 - s1 - h2"),
        ("h1", "h4", "h1 - s1 - r1 - r2 - r3 - s2 - h4"),
        ("h7", "h9", "h7 - r2 - r3 - r4 - h9"),
        ("r4", "r1", "r4 - r3 - r2 - r1"),
        ("h8", "r3", "h8 - r3"),
    ],
)
def test_paths_of_the_course(source: str, target: str, nodes: str) -> None:
    assert str(path(COURSE, source, target)) == nodes


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("h1", "h1", "to itself"),
        ("h1", "s1", "s1 is a switch"),
        ("s1", "h1", "s1 is a switch"),
        ("h1", "h10", "no node 'h10'"),
    ],
)
def test_paths_that_cannot_be_asked_for(source: str, target: str, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        path(COURSE, source, target)


@pytest.mark.parametrize(
    ("router", "route", "message"),
    [
        ("r2", None, "r2 has no route to 10.0.5.2: add one"),
        ("r2", Route("10.0.5.0/24", "10.0.1.1", "r2-eth0"), r"in a circle \(r1 - r2 - r1\)"),
        ("r2", Route("10.0.5.0/24", "10.0.3.9", "r2-eth2"), "no neighbour has that address"),
        ("r2", Route("10.0.5.0/24", None, "r2-eth2"), "no neighbour has that address"),
        ("r2", Route("10.0.5.0/24", "10.0.3.2", "r2-eth9"), "by r2-eth9, which it lacks"),
    ],
)
def test_a_path_over_wrong_routes_says_where_it_ends(router: str, route: Route | None, message: str) -> None:
    routes = static_routes(COURSE)
    kept = tuple(entry for entry in routes[router] if entry.destination != "10.0.5.0/24")
    routes[router] = (*kept, *((route,) if route else ()))
    with pytest.raises(NetworkError, match=message):
        path(COURSE, "h1", "h4", routes)


def router_cable(one: str, two: str, third: int) -> Link:
    return Link(End(one, f"{one}-to-{two}", f"10.0.{third}.1/24"), End(two, f"{two}-to-{one}", f"10.0.{third}.2/24"))


def ring(size: int) -> Network:
    """Routers in a ring, a host at each."""
    names = [f"r{number}" for number in range(size)]
    links = [router_cable(one, names[(i + 1) % size], i) for i, one in enumerate(names)]
    links += [router_cable(f"h{i}", name, 100 + i) for i, name in enumerate(names)]
    return Network("ring", (*(Host(f"h{i}") for i in range(size)), *(Router(name) for name in names)), tuple(links))


@pytest.mark.parametrize("size", [3, 6])
def test_in_a_ring_every_path_is_shortest_and_the_same_in_both_directions(size: int) -> None:
    network = ring(size)
    for i, j in permutations(range(size), 2):
        there, back = path(network, f"h{i}", f"h{j}"), path(network, f"h{j}", f"h{i}")
        assert len(there.hops) == 2 + min((i - j) % size, (j - i) % size)
        assert there.node_names == back.node_names[::-1]


def test_among_equal_paths_the_choice_is_the_same_in_both_directions() -> None:
    # Two routers between the same two switches: nothing but the order of the links decides.
    def port(node: str, interface: str, address: str, switch: str, number: int) -> Link:
        return Link(End(node, interface, address), End(switch, f"{switch}-eth{number}"))

    network = Network(
        "diamond",
        (Host("h1"), Host("h2"), *(Router(f"r{n}") for n in range(1, 5)), Switch("s1"), Switch("s2")),
        (
            router_cable("h1", "r1", 1),
            router_cable("r4", "h2", 2),
            port("r1", "r1-eth1", "10.0.3.1/24", "s1", 1),
            port("r2", "r2-eth0", "10.0.3.2/24", "s1", 2),
            port("r3", "r3-eth0", "10.0.3.3/24", "s1", 3),
            port("r4", "r4-eth1", "10.0.4.1/24", "s2", 1),
            port("r3", "r3-eth1", "10.0.4.3/24", "s2", 2),
            port("r2", "r2-eth1", "10.0.4.2/24", "s2", 3),
        ),
    )
    assert path(network, "h1", "h2").node_names == path(network, "h2", "h1").node_names[::-1]


def test_a_host_beside_two_routers_takes_the_first_of_them() -> None:
    network = Network(
        "two gateways",
        (Host("h1"), Router("r2"), Router("r1"), Host("h2"), Switch("s1")),
        (
            Link(End("h1", "h1-eth0", "10.0.0.10/24"), End("s1", "s1-eth1")),
            Link(End("r1", "r1-eth0", "10.0.0.1/24"), End("s1", "s1-eth2")),
            Link(End("r2", "r2-eth0", "10.0.0.2/24"), End("s1", "s1-eth3")),
            router_cable("r1", "h2", 1),
        ),
    )
    routes = static_routes(network)
    assert routes["h1"] == (Route(DEFAULT, "10.0.0.2", "h1-eth0"),)
    assert routes["r2"] == (Route("10.0.1.0/24", "10.0.0.1", "r2-eth0"),)
    assert routes["r1"] == ()
    assert str(path(network, "h1", "h2")) == "h1 - s1 - r2 - s1 - r1 - h2"


def test_routers_may_carry_a_tunnel_and_have_no_route_to_what_is_inside() -> None:
    nodes = tuple(Router(node.name) if node.name in ("pc1", "pc2") else node for node in GRE.nodes)
    assert static_routes(replace(GRE, nodes=nodes)) == {"h1": (), "h2": (), "pc1": (), "pc2": ()}


def test_ipv6_has_the_routes_of_ipv4_behind_them() -> None:
    for node, routes in static_routes(dual_stack(COURSE)).items():
        (*both,) = routes
        old = static_routes(COURSE)[node]
        assert tuple(both[: len(old)]) == old
        assert [it.interface for it in both[len(old) :]] == [it.interface for it in old]
    assert static_routes(dual_stack(COURSE))["h1"][-1] == Route("::/0", "2001:db8::1", "h1-eth0")


def test_a_path_of_ipv6_follows_its_own_routes() -> None:
    network = dual_stack(COURSE)
    tables = {name: [it for it in table if "." in it.destination] for name, table in static_routes(network).items()}
    assert path(network, "h1", "h9", ip_version=6).node_names == path(network, "h1", "h9").node_names
    assert path(network, "h1", "h9", tables).ip_version == 4
    with pytest.raises(NetworkError, match="h1 has no route to 2001:db8:0:7::2"):
        path(network, "h1", "h9", tables, ip_version=6)


def test_only_a_part_of_a_network_may_have_ipv6() -> None:
    network = dual_stack(COURSE)
    links = tuple(
        replace(link, b=replace(link.b, ipv6=None)) if link.b.node in ("h8", "h9") else link for link in network.links
    )
    routes = static_routes(replace(network, links=links))
    assert [it.destination for it in routes["h9"]] == [DEFAULT]
    assert Route("2001:db8:0:7::/64", "2001:db8:0:1::2", "r1-eth1") in routes["r1"]
