"""One seed for a lab: losses are as likely as they were asked for, and the same seed draws the same numbers again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mininet.topo import Topo
from scipy.stats import binom  # type: ignore[import-untyped]

import linklab
from linklab import measure
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]
PAIRS, FRAMES = 100, 24
LEVELS_PERCENT = (1, 2, 5, 10)
# of 96 counts one in 10^4 labs lies outside by chance
TAIL = 5e-7


class Pairs(Topo):  # type: ignore[misc]
    """Many cables with two hosts each."""

    def build(self) -> None:
        for number in range(PAIRS):
            for side in "ab":
                self.addHost(f"{side}{number}", ip=f"10.0.{number}.{1 + (side == 'b')}/24")
            self.addLink(f"a{number}", f"b{number}", loss=1)


def arrivals(net: Any, loss_percent: float, frames: int) -> list[list[bool]]:
    """For each interface, shaped anew with this loss, which of its first frames arrive at the other end."""
    import socket

    from linklab.guest.namespace import namespace_of

    found = []
    for link in net.links:
        for near, far in ((link.intf1, link.intf2), (link.intf2, link.intf1)):
            near.config(loss=loss_percent)
            ends = []
            for end in (near, far):
                with namespace_of(end.node).entered():
                    ends.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5)))
                ends[-1].bind((end.name, 0x88B5))
            for number in range(frames):
                ends[0].send(bytes(12) + b"\x88\xb5" + bytes([number]) * 46)
            ends[1].setblocking(False)
            there = set()
            try:
                while True:
                    there.add(ends[1].recv(100)[14])
            except BlockingIOError:
                pass
            for end in ends:
                end.close()
            found.append([number in there for number in range(frames)])
    return found


@pytest.mark.large
def test_each_packet_of_many_links_is_lost_as_often_as_asked_for(virtual: Kind, lab_folder: Path) -> None:
    """netem's random numbers came from the seeds 1, 2, 3 ...: the first packets of all links were lost together."""
    with linklab.start(Pairs(), folder=lab_folder) as lab:
        for percent in LEVELS_PERCENT:
            arrived = lab.call(arrivals, percent, FRAMES)
            interfaces = len(arrived)
            assert interfaces == 2 * PAIRS
            least, most = (binom.ppf(share, interfaces, percent / 100) for share in (TAIL, 1 - TAIL))
            for number in range(FRAMES):
                lost = sum(not row[number] for row in arrived)
                assert least <= lost <= most, f"packet {number + 1} at {percent} %: {lost} of {interfaces} lost"
            in_all = sum(not there for row in arrived for there in row)
            bounds = [binom.ppf(share, interfaces * FRAMES, percent / 100) for share in (TAIL, 1 - TAIL)]
            assert bounds[0] <= in_all <= bounds[1], f"{in_all} lost at {percent} %"


LOSSY = replace(TWO_HOSTS, name="lossy", links=(TWO_HOSTS.links[0].reshaped(loss_percent=10),))


def lost(lab_folder: Path, seed: int) -> list[int]:
    """Which of 40 pings are lost in a lab with this seed."""
    with linklab.start(LOSSY, folder=lab_folder, seed=seed) as lab:
        result = measure.run(lab, measure.PingFlow("h1", "h2", count=40))
    assert result.origin.seed == seed
    return [number for number, rtt_ms in enumerate(result.rtt_ms) if rtt_ms is None]


def test_seeds_give_samples_and_the_same_ones_again(virtual: Kind, lab_folder: Path) -> None:
    one, two, again = (lost(lab_folder, seed) for seed in (1, 2, 1))
    assert one == again != two
