"""Cards that hold interrupts back: refused where they cannot, timed as they do, and links come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import EchoFlow, moderated, run
from linklab.network.catalogue import l3_switch
from linklab.runtime.backends import Kind


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(l3_switch(100), folder=tmp_path_factory.mktemp("devices")) as lab:
        yield lab


@pytest.mark.lab
@pytest.mark.parametrize(
    ("ports", "interval_us", "how", "says"),
    [
        (("s1-eth1", "s1-eth9"), 250, "ticking", "s1-eth9 is no port of a switch"),
        (("s1-eth1", "s1-eth1"), 250, "ticking", "not two ports of one switch"),
        (("s1-eth1", "s1-eth2"), -1, "ticking", "choose 0 to 10000"),
        (("s1-eth1", "s1-eth2"), 250, "sleeping", "choose one of throttled, ticking"),
    ],
)
def test_interrupts_that_cannot_be_held_back(
    lab: linklab.Lab, ports: tuple[str, str], interval_us: float, how: Any, says: str
) -> None:
    with pytest.raises(MeasurementError, match=says), moderated(lab, ports, interval_us, how):
        pass


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize(
    ("how", "interval_us", "expected"),
    [
        ("throttled", 0, (0.263, 0.484)),
        ("ticking", 250, (0.75, 0.75)),
        # 250 us after each of two cards' last interrupt, and then the way out of the other
        ("throttled", 250, (0.5 + 2 * 816 * 8e-5, 0.5 + 2 * 1506 * 8e-5)),
    ],
)
def test_cards_that_hold_interrupts_back(
    virtual: Kind, tmp_path: Any, how: Any, interval_us: float, expected: tuple[float, float]
) -> None:
    with (
        linklab.start(l3_switch(100), folder=tmp_path) as lab,
        moderated(lab, ("s1-eth1", "s1-eth2"), interval_us, how),
    ):
        found = [run(lab, EchoFlow("h1", "h2", 20, payload_bytes=L)).rtt_mean_ms for L in (750, 1440)]
    assert found == pytest.approx(list(expected), abs=0.012)


@pytest.mark.lab
def test_ports_come_back_to_their_bridge_at_ctrl_c(lab: linklab.Lab) -> None:
    with pytest.raises(KeyboardInterrupt), moderated(lab, ("s1-eth1", "s1-eth2"), 10.0):
        raise KeyboardInterrupt
    assert lab["s1"].cmd("ls /sys/class/net/s1/brif").split()[:2] == ["s1-eth1", "s1-eth2"]
    assert "tx-checksumming: on" in lab["h1"].cmd("ethtool -k h1-eth0")
