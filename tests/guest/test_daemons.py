"""What daemons of switches and routers know is read from their sockets, and that takes no time of the lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mininet.topo import SingleSwitchTopo

import linklab
from linklab import frr
from linklab.guest.request_loop import BEAT_NS
from linklab.network import NodeTables
from linklab.network.flow_tables import read_rules
from linklab.programs.controller import rules
from linklab.runtime.backends import Kind

from ..test_frr import DIAMOND, ospf_of

pytestmark = pytest.mark.lab


def _asking_ns(net: Any, bridges: list[str], routers: list[str]) -> int:
    import time

    from linklab.guest import daemons

    begin_ns = time.monotonic_ns()
    daemons.flow_tables(bridges)
    daemons.routing(routers)
    return time.monotonic_ns() - begin_ns


def tables_in_no_time(lab: linklab.Lab, bridges: list[str], routers: list[str]) -> NodeTables:
    """What daemons know, of which reading moves no request: it takes a small part of a beat."""
    assert lab.call(_asking_ns, bridges, routers) < BEAT_NS / 10
    before_s = lab.now()
    found = lab.tables()
    assert lab.now() == before_s
    return found


def test_a_switch_has_the_rules_that_its_own_tool_shows(virtual: Kind, lab_folder: Path) -> None:
    with linklab.start(SingleSwitchTopo(2), switch="ovs", controller="remote", folder=lab_folder) as lab:
        for rule in ("in_port=1,actions=output:2", "priority=7,ip,nw_dst=10.0.0.0/8,actions=drop"):
            lab["s1"].cmd(f"ovs-ofctl -O OpenFlow13 add-flow s1 '{rule}'")
        found = tables_in_no_time(lab, ["s1"], [])
        assert read_rules(found["s1"]["flows"]) == rules(lab, "s1")


def test_a_router_has_its_routes_and_neighbours(virtual: Kind, lab_folder: Path) -> None:
    with linklab.start(DIAMOND, folder=lab_folder) as lab:
        assert lab.tables() == {}
        frr.configure(lab, {"r1": ospf_of("r1"), "r2": ospf_of("r2")})
        lab.sleep(10)
        found = tables_in_no_time(lab, [], ["r1", "r2"])
        assert set(found) == {"r1", "r2"}
        for what in ("ip route", "ip ospf neighbor"):
            assert set(json.loads(found["r1"][what])) == set(frr.show(lab, "r1", what))
