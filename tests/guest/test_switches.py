"""Open vSwitch on virtual time, both datapaths, in labs of their own, several at once, beside the Linux bridge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import linklab
from linklab.network import COURSE, goodput_ceiling_mbps, path, rtt_floor_ms
from linklab.runtime.backends import Kind
from linklab.units import SwitchName

pytestmark = pytest.mark.lab

DATAPATH = {"ovs": '""', "ovs-user": "netdev"}  # the kernel's is the default, which has no name
BETWEEN = path(COURSE, "h1", "h4")  # through both switches


def root(lab: linklab.Lab, command: str) -> str:
    """A command in the lab's first namespace, where the switches and their daemons live."""
    return lab["root"].cmd(command)


def rtts_ms(lab: linklab.Lab, source: str, target: str, count: int) -> list[float]:
    said = lab[source].cmd(f"ping -i 0.2 -c {count} {target}")
    return [float(line.partition("time=")[2].split()[0]) for line in said.splitlines() if "time=" in line]


@pytest.mark.large
@pytest.mark.parametrize("switch", ["bridge", "ovs", "ovs-user"])
@pytest.mark.usefixtures("nothing_left")
def test_the_course_network_measures_the_same_on_every_switch(
    virtual: Kind, lab_folder: Path, switch: SwitchName
) -> None:
    with linklab.start(COURSE, switch=switch, folder=lab_folder) as lab:
        if switch in DATAPATH:
            assert root(lab, "ovs-vsctl list-br").split() == ["s1", "s2"]
            assert root(lab, "ovs-vsctl get bridge s1 datapath_type").strip() == DATAPATH[switch]
        _, *later = rtts_ms(lab, "h1", "10.0.5.2", 12)
        server = lab["h4"].popen("iperf3 -s -1")
        lab["h4"].wait_listening(5201)
        report = json.loads(lab["h1"].cmd("iperf3 --json -c 10.0.5.2 -t 2 -O 1"))
        server.wait(30)
    assert len(later) == 11
    # a switch in user space sleeps between packets, and the kernel lets sleepers sleep some 50 us longer
    assert later == pytest.approx([rtt_floor_ms(BETWEEN)] * 11, abs=0.2 if switch == "ovs-user" else 0.01)
    rate_mbps = report["end"]["sum_received"]["bits_per_second"] / 1e6
    # in user space it also polls, which moves the clock, and so what is lost in slow start: 88 to 99 % were seen
    least = 0.85 if switch == "ovs-user" else 0.93
    assert least * goodput_ceiling_mbps(BETWEEN) <= rate_mbps <= 1.001 * goodput_ceiling_mbps(BETWEEN)


@pytest.mark.large
@pytest.mark.usefixtures("nothing_left")
def test_labs_with_daemons_of_their_own_run_side_by_side(virtual: Kind, lab_folder: Path) -> None:
    kinds: tuple[SwitchName, ...] = ("ovs", "ovs-user", "ovs", "bridge")
    labs = [linklab.start(COURSE, switch=kind, folder=lab_folder) for kind in kinds]
    try:
        root(labs[0], "ovs-vsctl del-br s1")
        assert root(labs[0], "ovs-vsctl list-br").split() == ["s2"]
        for lab in labs[1:3]:
            assert root(lab, "ovs-vsctl list-br").split() == ["s1", "s2"]
        assert rtts_ms(labs[0], "h1", "10.0.0.3", 2) == []
        for lab in labs[1:]:
            assert len(rtts_ms(lab, "h1", "10.0.0.3", 3)) == 3
        labs[1].stop()
        assert len(rtts_ms(labs[2], "h2", "10.0.5.3", 3)) == 3
    finally:
        for lab in labs:
            lab.stop()


@pytest.mark.usefixtures("nothing_left")
def test_an_idle_network_is_silent(virtual: Kind, lab_folder: Path) -> None:
    """A bridge that snoops on multicast joins a group itself, and its reports came in the midst of measurements."""
    with linklab.start(COURSE, folder=lab_folder) as lab:
        captures = [lab[host].popen(f"timeout 400 tcpdump -nei {host}-eth0 2>/dev/null") for host in ("h1", "h9")]
        lab.sleep(300)
        lab["h1"].cmd("ping -c 1 10.0.5.2")
        lab.sleep(200)
        ping, nothing = ("\n".join(capture) for capture in captures)
    assert nothing == ""
    assert [line.count("ICMP echo") for line in ping.splitlines()] == [1, 1]  # a capture misses nothing
