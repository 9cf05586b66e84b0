"""What other courses' assignments are made of, each with a network of our own: routing daemons.

Networks are Mininet's topologies, commands are those that such assignments give to students.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from mininet.node import Node
from mininet.topo import Topo

import linklab
from linklab.runtime.backends import Kind

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

DEAD_INTERVAL_S = 40
"""OSPF's RouterDeadInterval on Ethernet (RFC 2328, appendix C.3): as long does a router wait for others before it
elects the designated one, and as long does it believe in a silent neighbour.
"""


class Router(Node):  # type: ignore[misc]
    """A node that forwards."""

    def config(self, **params: Any) -> dict[str, Any]:
        """Switch forwarding on."""
        configured: dict[str, Any] = super().config(**params)
        self.cmd("sysctl -w net.ipv4.ip_forward=1")
        return configured


class Triangle(Topo):  # type: ignore[misc]
    """Three routers, each linked with both others, and a host behind each of the first two; no routes."""

    def build(self) -> None:
        """Number the networks by their routers: 10.0.12.0/24 lies between r1 and r2."""
        for number in (1, 2, 3):
            self.addNode(f"r{number}", cls=Router, ip=None)
        for number in (1, 2):
            host = self.addHost(f"h{number}", ip=f"10.0.{number}.10/24", defaultRoute=f"via 10.0.{number}.1")
            self.addLink(f"r{number}", host, intfName1=f"r{number}-host", params1={"ip": f"10.0.{number}.1/24"})
        for one, other in ((1, 2), (2, 3), (1, 3)):
            self.addLink(
                f"r{one}",
                f"r{other}",
                intfName1=f"r{one}-r{other}",
                intfName2=f"r{other}-r{one}",
                params1={"ip": f"10.0.{one}{other}.1/24"},
                params2={"ip": f"10.0.{one}{other}.2/24"},
            )


def lost_percent(said: str) -> float:
    found = re.search(r"([\d.]+)% packet loss", said)
    assert found is not None, said
    return float(found.group(1))


def seconds(up_time: str) -> float:
    """A time as FRR prints it, "20.090s" or "1m05s"."""
    found = re.fullmatch(r"(?:(\d+)m)?([\d.]+)s", up_time)
    assert found is not None, up_time
    return 60 * float(found.group(1) or 0) + float(found.group(2))


def start_frr(lab: linklab.Lab, name: str, daemon: str, configuration: str) -> None:
    """Start FRR on a router as its own script does on a machine, with its files in a folder for each router."""
    lab[name].cmd(f"install -d -o frr -g frrvty /etc/frr/{name}; install -d -o frr -g frr /var/log/frr/{name}")
    lab.write_file(f"/etc/frr/{name}/daemons", f'{daemon}=yes\nvtysh_enable=yes\nzebra_options="-A 127.0.0.1"\n')
    lab.write_file(f"/etc/frr/{name}/vtysh.conf", "service integrated-vtysh-config\n")
    lab.write_file(f"/etc/frr/{name}/frr.conf", configuration)
    said = lab[name].cmd(f"chown -R frr:frr /etc/frr/{name}; /usr/lib/frr/frrinit.sh start {name}")
    assert "Started watchfrr" in said, said


@pytest.mark.large
def test_ospf_by_frr_finds_routes_when_the_standard_says_and_others_when_a_link_fails(
    virtual: Kind, lab_folder: Path
) -> None:
    with linklab.start(Triangle(), folder=lab_folder) as lab:
        for name in ("r1", "r2", "r3"):
            start_frr(lab, name, "ospfd", "router ospf\n network 10.0.0.0/8 area 0\n")
        started = lab.now()
        lab.sleep(DEAD_INTERVAL_S / 2)
        assert lost_percent(lab["h1"].cmd("ping -c 2 10.0.2.10")) == 100
        lab.sleep(DEAD_INTERVAL_S)
        assert lost_percent(lab["h1"].cmd("ping -c 4 10.0.2.10")) == 0
        neighbours = lab["r1"].cmd("vtysh -N r1 -c 'show ip ospf neighbor'")
        far_side = lab["r1"].cmd("ip route show 10.0.23.0/24")
        passed_s = lab.now() - started
        lab["r1"].cmd("ip link set r1-r2 down")
        detour = lab["h1"].cmd("ping -c 10 10.0.2.10")
        route = lab["r1"].cmd("ip route get 10.0.2.10")
    # the network between the other two costs the same by either of them: the kernel has both ways
    assert "via 10.0.12.2" in far_side
    assert "via 10.0.13.2" in far_side
    up_s = [seconds(line.split()[3]) for line in neighbours.splitlines() if "Full/" in line]
    assert len(up_s) == 2
    # the election comes after the waiting time; a hello interval of 10 s is what daemons may differ by
    assert all(DEAD_INTERVAL_S - 1 <= passed_s - up <= DEAD_INTERVAL_S + 11 for up in up_s)
    assert lost_percent(detour) <= 10
    assert "via 10.0.13.2" in route
