"""A Mininet Topo goes into a lab as data: where its class was written does not matter, what its options name does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mininet.node import Node
from mininet.topo import LinearTopo, Topo
from mininet.topolib import TorusTopo

import linklab
from linklab.errors import LabError
from linklab.guest.function_transfer import packed
from linklab.guest.topo import as_data
from linklab.guest.topo_expectation import expectation_of
from linklab.runtime.backends import Kind

SCRIPT = """
import linklab
from mininet.link import TCLink
from mininet.node import OVSSwitch
from mininet.topo import Topo

class Star(Topo):
    def __init__(self, hosts):
        self.names = [f"h{number}" for number in range(1, hosts + 1)]
        Topo.__init__(self)
    def build(self):
        switch = self.addSwitch("s1", cls=OVSSwitch)
        for name in self.names:
            self.addLink(self.addHost(name), switch, cls=TCLink, bw=10, delay=f"{5}ms")

lab = linklab.start(Star(hosts=3), folder=FOLDER)
print("answered:", lab["h1"].cmd("ping -c 1 10.0.0.3"))
lab.stop()
"""


@pytest.mark.lab
def test_a_topo_needs_no_file(virtual: Kind, tmp_path: Path) -> None:
    """As it is typed at Python's prompt."""
    script = SCRIPT.replace("FOLDER", repr(str(tmp_path)))
    done = subprocess.run([sys.executable, "-i"], input=script, capture_output=True, text=True, check=False)
    assert "time=20.0 ms" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "topo",
    [LinearTopo(3, 2), TorusTopo(3, 3, sopts={"stp": True})],
    ids=lambda topo: type(topo).__name__,
)
def test_mininets_own_topos_ask_for_the_same_as_data(topo: Topo) -> None:
    assert expectation_of(as_data(topo)) == expectation_of(topo)


class LinuxRouter(Node):  # type: ignore[misc]
    """As in Mininet's own example."""

    def config(self, **params: Any) -> None:
        super().config(**params)
        self.cmd("sysctl net.ipv4.ip_forward=1")


def _routed(router: Any) -> Topo:
    topo = Topo()
    topo.addHost("r0", cls=router, ip="10.0.1.1/24")
    for number in (1, 2):
        topo.addHost(f"h{number}", ip=f"10.0.{number}.2/24", defaultRoute=f"via 10.0.{number}.1")
        topo.addLink(f"h{number}", "r0", params2={"ip": f"10.0.{number}.1/24"})
    return topo


@pytest.mark.lab
def test_a_host_class_of_a_students_own_goes_along_as_its_source(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(_routed(LinuxRouter), folder=tmp_path) as lab:
        assert lab["h1"].run("ping -c 1 10.0.2.2").returncode == 0


def test_an_option_that_cannot_go_is_one_line() -> None:
    with pytest.raises(LabError, match=r"<lambda> cannot go into a lab") as refused:
        packed(as_data(_routed(lambda name, **options: None)))
    assert "\n" not in str(refused.value)
