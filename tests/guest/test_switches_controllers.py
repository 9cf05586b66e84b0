"""OpenFlow controllers inside a lab: command lines and Mininet's classes, and what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mininet.node import OVSController
from mininet.topolib import TreeTopo

import linklab
from linklab.errors import LabError
from linklab.network import End, Host, Link, Network, Switch
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab
_RUN = "/usr/bin/env PYTHONPATH=. osken-manager"

LEARNING = """
from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class Learning(OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.port_of = {}

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def joined(self, event):
        path = event.msg.datapath
        to_me = path.ofproto_parser.OFPActionOutput(path.ofproto.OFPP_CONTROLLER, path.ofproto.OFPCML_NO_BUFFER)
        self.add(path, 0, path.ofproto_parser.OFPMatch(), [to_me])

    def add(self, path, priority, match, actions):
        apply = path.ofproto_parser.OFPInstructionActions(path.ofproto.OFPIT_APPLY_ACTIONS, actions)
        flow = path.ofproto_parser.OFPFlowMod(datapath=path, priority=priority, match=match, instructions=[apply])
        path.send_msg(flow)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def asked(self, event):
        message = event.msg
        path, port = message.datapath, message.match["in_port"]
        proto, parser = path.ofproto, path.ofproto_parser
        frame = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        print(f"{frame.src} is behind port {port} of s{path.id}", flush=True)
        self.port_of[path.id, frame.src] = port
        out = self.port_of.get((path.id, frame.dst), proto.OFPP_FLOOD)
        actions = [parser.OFPActionOutput(out)]
        if out != proto.OFPP_FLOOD:
            self.add(path, 1, parser.OFPMatch(in_port=port, eth_dst=frame.dst), actions)
        path.send_msg(parser.OFPPacketOut(
            datapath=path, buffer_id=proto.OFP_NO_BUFFER, in_port=port, actions=actions, data=message.data))
"""


def loses_nothing(lab: linklab.Lab) -> bool:
    return "0% dropped" in lab.cli("pingall")


@pytest.mark.large
def test_a_students_controller_learns_and_time_goes_on(virtual: Kind, tmp_path: Path) -> None:
    (tmp_path / "learning.py").write_text(LEARNING)
    with linklab.start(TreeTopo(2, 2), switch="ovs", controller=f"{_RUN} learning.py", folder=tmp_path) as lab:
        assert loses_nothing(lab)
        said = lab.read_file("/tmp/c0.log").decode()
        assert re.search(r"00:00:00:00:00:01 is behind port \d of s2", said)
        assert "dl_dst=00:00:00:00:00:01" in lab["s2"].cmd("ovs-ofctl -O OpenFlow13 dump-flows s2")


@pytest.mark.large
@pytest.mark.parametrize("controller", ["ovs-testcontroller ptcp:7001", OVSController], ids=["words", "class"])
def test_open_vswitchs_own_controller(virtual: Kind, tmp_path: Path, controller: str | Callable[..., Any]) -> None:
    network = Network(
        "one-switch",
        nodes=(Host("h1"), Host("h2"), Switch("s1")),
        links=(
            Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("s1", "s1-eth1"), rate_mbps=10, delay_ms=5),
            Link(End("h2", "h2-eth0", "10.0.0.2/24"), End("s1", "s1-eth2")),
        ),
    )
    with linklab.start(network, switch="ovs", controller=controller, folder=tmp_path) as lab:
        assert lab["s1"].cmd("ovs-vsctl get-fail-mode s1").strip() == "secure"
        assert " 0% packet loss" in lab["h1"].cmd("ping -c 2 10.0.0.2")


@pytest.mark.large
def test_without_a_controller_switches_still_learn_by_themselves(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(TreeTopo(1, 2), switch="ovs", folder=tmp_path) as lab:
        assert lab["s1"].cmd("ovs-vsctl get-fail-mode s1").strip() == "standalone"
        assert loses_nothing(lab)


@pytest.mark.large
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("echo no such module; exit 1", "ended at once: no such module"),
        ("echo thinking; sleep 1000", "listens on no port after 30 s: thinking"),
        ("python3 -u -m http.server 8000", "s1 has no connection to its controller; c0: .*400"),
    ],
)
def test_a_controller_that_does_not_work_is_named_with_its_last_words(
    virtual: Kind, tmp_path: Path, words: str, reason: str
) -> None:
    with pytest.raises(LabError, match=reason):
        linklab.start(TreeTopo(1, 2), switch="ovs", controller=words, folder=tmp_path)


def test_a_bridge_has_no_controller(virtual: Kind, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="say switch='ovs'"):
        linklab.start(TreeTopo(1, 2), controller="ovs-testcontroller ptcp:6653", folder=tmp_path)
