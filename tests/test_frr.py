"""FRR's daemons in a lab: what is configured is there, what is refused is named, and routes are awaited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import linklab
from linklab import frr
from linklab.errors import LabError, LabTimeout
from linklab.network import TWO_HOSTS, End, Host, Link, Network, Router, Subnet
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab

DIAMOND = Network(
    name="diamond",
    nodes=(Host("h1"), Host("h2"), Router("r1"), Router("r2"), Router("r3"), Router("r4")),
    links=(
        Link(End("h1", "h1-eth0", "10.0.1.2/24"), End("r1", "r1-eth0", "10.0.1.1/24")),
        Link(End("r1", "r1-eth1", "10.0.2.1/24"), End("r2", "r2-eth0", "10.0.2.2/24")),
        Link(End("r1", "r1-eth2", "10.0.3.1/24"), End("r3", "r3-eth0", "10.0.3.3/24")),
        Link(End("r2", "r2-eth1", "10.0.4.2/24"), End("r4", "r4-eth0", "10.0.4.4/24")),
        Link(End("r3", "r3-eth1", "10.0.5.3/24"), End("r4", "r4-eth1", "10.0.5.4/24")),
        Link(End("r4", "r4-eth2", "10.0.6.4/24"), End("r2", "r2-eth2", "10.0.6.2/24"), delay_ms=1),
        Link(End("h2", "h2-eth0", "10.0.7.2/24"), End("r4", "r4-eth3", "10.0.7.4/24")),
    ),
    subnets=tuple(Subnet(f"s{third}", f"10.0.{third}.0/24") for third in range(1, 8)),
)
OSPF = """
router ospf
 network 10.0.0.0/8 area 0
exit
"""
FASTER = """
interface {name}-eth{number}
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 3
exit
"""


def ospf_of(name: str) -> str:
    return "".join(FASTER.format(name=name, number=number) for number in range(3)) + OSPF


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(DIAMOND, folder=tmp_path_factory.mktemp("frr")) as lab:
        yield lab


@pytest.mark.large
def test_what_was_built_goes_routes_come_and_equal_paths_are_all_there(lab: linklab.Lab) -> None:
    with pytest.raises(LabError, match=r"FRR on r1 does not show 'ip route'.*frr\.configure first"):
        frr.show(lab, "r1", "ip route")
    frr.configure(lab, {"r1": ospf_of("r1")})
    with pytest.raises(LabTimeout, match=r"r1 has no route to 10\.0\.7\.0/24 after 2 s"):
        frr.wait_for_routes(lab, 2)
    frr.configure(lab, {name: ospf_of(name) for name in ("r2", "r3", "r4")})
    assert 0 < frr.wait_for_routes(lab) < 15
    neighbours = frr.show(lab, "r1", "ip ospf neighbor")["neighbors"]
    assert [it["nbrState"] for one in neighbours.values() for it in one] == ["Full/-", "Full/-"]
    r1 = lab.state().node("r1")
    assert r1 is not None
    # the network between r3 and r4 costs one link by r3; that between r2 and r4 is as near by r2 alone
    assert {it.via for it in r1.routes if it.destination == "10.0.5.0/24"} == {"10.0.3.3"}
    frr.configure(lab, {"r1": "interface r1-eth2\n ip ospf cost 20\nexit\n"})
    lab.sleep(6)
    r1 = lab.state().node("r1")
    assert r1 is not None
    assert {it.via for it in r1.routes if it.destination == "10.0.5.0/24"} == {"10.0.2.2", "10.0.3.3"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("interface r1-eth1\n ip ospf hello-intervall 1\n", "line 2, 'ip ospf hello-intervall 1': unknown command"),
        ("router ospf\n ospf router-id 1.1.1\nexit\n", "line 2, 'ospf router-id 1.1.1': "),
        ("router ospff\n", "line 1, 'router ospff': unknown command"),
        ("interface r1-eth1\n ip ospf dead-interval 99999\n", "line 2, 'ip ospf dead-interval 99999'"),
        ("router bgp 1\n neighbor 10.0.2.2 route-map X in\nexit\n",
         "line 2, 'neighbor 10.0.2.2 route-map X in': Specify remote-as"),
        ("ip prefix-list a seq 5 permit 10.0.0.0/24 le 20\n",
         "the line 'ip prefix-list a seq 5 permit 10.0.0.0/24 le 20': Invalid prefix range"),
    ],
)  # fmt: skip
def test_a_line_that_is_refused_is_named(lab: linklab.Lab, text: str, says: str) -> None:
    with pytest.raises(LabError) as refused:
        frr.configure(lab, {"r1": text})
    assert f"FRR on r1 refuses {says}" in str(refused.value)


def test_without_a_node_that_forwards_there_is_nothing_to_wait_for(virtual: Kind, lab_folder: Path) -> None:
    with linklab.start(TWO_HOSTS, folder=lab_folder) as two, pytest.raises(LabError, match="ip_forward=1"):
        frr.wait_for_routes(two)


def test_no_router_is_configured_where_one_line_cannot_be_read(lab: linklab.Lab) -> None:
    frr.configure(lab, {"r2": "interface r2-eth1\n ip ospf cost 7\n"})
    with pytest.raises(LabError, match="FRR on r3 refuses line 2"):
        frr.configure(
            lab, {"r2": "interface r2-eth1\n ip ospf cost 77\n", "r3": "interface r3-eth1\n ip ospf cots 1\n"}
        )
    running = lab["r2"].cmd("vtysh -N r2 -c 'show running-config'")
    assert "cost 7" in running
    assert "cost 77" not in running
