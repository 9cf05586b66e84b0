"""Right answers in other forms than the reference's: other routes, other switch ports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linklab.labs.lab01 import rules as lab01
from linklab.network import NetworkState, Route
from tests.states import PLAN, change_node

from .fake_lab import FakeLab, reroute, without_route

ALL = (
    lab01.check_nodes,
    lab01.check_addresses,
    lab01.check_links,
    lab01.check_forwarding,
    lab01.check_routes,
    lab01.check_reachability,
)
DEFAULT = "0.0.0.0/0"


def _only(state: NetworkState, node: str, *routes: Route) -> NetworkState:
    return reroute(state, node, *routes, drop=lambda route: True)


def _other_ports(state: NetworkState) -> NetworkState:
    """The cables of both switches in other ports, with other names."""
    names = {
        it.name: f"{node.name}-eth{20 - position}"
        for node in state.nodes
        if node.kind == "switch"
        for position, it in enumerate(node.interfaces)
    }
    return NetworkState(
        tuple(
            replace(
                node,
                interfaces=tuple(
                    replace(
                        it,
                        name=names.get(it.name, it.name),
                        peer=it.peer and (it.peer[0], names.get(it.peer[1], it.peer[1])),
                    )
                    for it in reversed(node.interfaces)
                ),
            )
            for node in reversed(state.nodes)
        )
    )


RIGHT = {
    "default routes on r1 and r4": _only(
        _only(PLAN, "r1", Route(DEFAULT, "10.0.1.2", "r1-eth1")), "r4", Route(DEFAULT, "10.0.6.1", "r4-eth0")
    ),
    "summaries": _only(
        PLAN, "r2", Route("10.0.0.0/24", "10.0.1.1", "r2-eth0"), Route("10.0.4.0/22", "10.0.3.2", "r2-eth2")
    ),
    "routes to hosts, one by one": without_route(
        PLAN, "r4", "10.0.0.0/24", *(Route(f"10.0.0.{number}/32", "10.0.6.1", "r4-eth0") for number in (2, 3, 4))
    ),
    "two routes on h9": _only(
        PLAN, "h9", *(Route(half, "10.0.7.1", "h9-eth0") for half in ("0.0.0.0/1", "128.0.0.0/1"))
    ),
    "a default route besides, that nothing uses": reroute(PLAN, "r3", Route(DEFAULT, "10.0.3.1", "r3-eth0")),
    "other ports of the switches, other order": _other_ports(PLAN),
    "another congestion control": change_node(PLAN, "h1", congestion_control="reno"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_right_answers_in_other_forms_pass(case: str) -> None:
    for check in ALL:
        check(FakeLab(RIGHT[case])).require()


def test_a_summary_that_covers_too_little_does_not_pass() -> None:
    short = without_route(PLAN, "r4", "10.0.0.0/24", Route("10.0.0.0/30", "10.0.6.1", "r4-eth0"))
    result = lab01.check_routes(short)
    assert [check.description for check in result.checks if not check.passed] == ["routes of r4"]
    assert "r4 has no route to 10.0.0.0/24, so h9 cannot reach h3" in str(result)


def test_a_state_serves_where_nothing_is_sent() -> None:
    for check in ALL[:-1]:
        assert check(PLAN).passed
    assert "give it the lab" in str(lab01.check_reachability(PLAN))


@pytest.mark.parametrize("check", ALL)
@pytest.mark.parametrize("value", [None, "lab"])
def test_something_else_than_a_lab_has_failed_and_leaves_no_points_open(check: Any, value: object) -> None:
    found = check(value)
    assert (found.outcome, found.open_points) == ("failed", 0)
    assert "give it the lab" in str(found)
