"""The UDP echo: round trips by one clock to theory's digits, lost exchanges told apart, refused where wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import linklab
from linklab.errors import LabError, MeasurementError
from linklab.measure import EchoFlow, EchoResult, Origin, load_result, moderated, run
from linklab.measure.tools.echo import ECHO
from linklab.network import TWO_HOSTS
from linklab.network.catalogue import l3_switch
from linklab.network.theory import cable_rtt_ms
from linklab.runtime.backends import Kind

from .captured import parsed

ORIGIN = Origin("linklab echo 1", "7.3.4")
RESULT = EchoResult(EchoFlow("h1", "h2", 3), ORIGIN, (1.0, None, 3.0), 1004.0, 17.0)


def test_the_mean_is_that_of_all_together() -> None:
    whole = EchoResult(EchoFlow("h1", "h2", 2), ORIGIN, (1.0, 2.9), 4.0, 17.0)
    assert (whole.rtt_mean_ms, whole.lost) == (2.0, 0)
    assert (RESULT.rtt_mean_ms, RESULT.lost) == (2.0, 1)
    with pytest.raises(MeasurementError, match="no exchange between h1 and h2 was answered"):
        _ = EchoResult(EchoFlow("h1", "h2", 1), ORIGIN, (None,), 1000.0, 17.0).rtt_mean_ms


def test_json_and_back() -> None:
    assert load_result(json.loads(json.dumps(RESULT.to_json()))) == RESULT


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 4}, "version 4"),
        ({"rtt_ms": [1.0]}, "one time for each exchange"),
        ({"rtt_ms": ["soon", 1, 2]}, "damaged"),
        ({"flow": {}}, "damaged"),
    ],
)
def test_damaged_data_are_refused(change: dict[str, object], says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        load_result({**RESULT.to_json(), **change})


@pytest.mark.parametrize("said", [{}, {"rtts_ns": [1], "begin_ns": 0, "end_ns": 1}, {"rtts_ns": None}])
def test_what_the_program_never_says_is_refused(said: Any) -> None:
    with pytest.raises(MeasurementError, match="gave no times that can be read"):
        parsed(ECHO, EchoFlow("h1", "h2", 3), ORIGIN, json.dumps(said))


@pytest.mark.parametrize(
    "make",
    [
        lambda: EchoFlow("h1", "h2", payload_bytes=11),
        lambda: EchoFlow("h1", "h2", payload_bytes=1473),
        lambda: EchoFlow("h1", "h2", payload_bytes=1453, address="fd00::1"),
        lambda: EchoFlow("h1", "h2", payload_bytes=True),
        lambda: EchoFlow("h1", "h2", count=0),
        lambda: EchoFlow("h1", "h2", warm_up=-1),
        lambda: EchoFlow("h1", "h2", wait_s=0),
    ],
)
def test_flows_that_cannot_be_are_refused(make: Callable[[], EchoFlow]) -> None:
    with pytest.raises(MeasurementError, match="choose"):
        make()


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(l3_switch(100), folder=tmp_path_factory.mktemp("echo")) as lab:
        yield lab


@pytest.mark.lab
@pytest.mark.parametrize(("destination", "payload"), [("h2", 100), ("h2", 1440), ("h3", 750)])
def test_a_round_trip_is_serialisation_and_repeats_agree(lab: linklab.Lab, destination: str, payload: int) -> None:
    one, two = (run(lab, EchoFlow("h1", destination, 30, payload_bytes=payload)) for _ in range(2))
    assert one.lost == 0
    assert 0 < one.rtt_mean_ms - cable_rtt_ms(l3_switch(100), "h1", destination, payload) < 0.003
    assert one.rtt_ms == two.rtt_ms


@pytest.mark.lab
def test_over_ipv6_a_round_trip_carries_a_header_of_40_bytes(virtual: Kind, tmp_path: Any) -> None:
    with linklab.start(l3_switch(100), folder=tmp_path) as lab:
        for number in (1, 2):
            lab[f"h{number}"].cmd(
                f"echo 0 > /proc/sys/net/ipv6/conf/h{number}-eth0/disable_ipv6;"
                f"ip -6 address add fd00::{number}/64 dev h{number}-eth0 nodad"
            )
        flow = EchoFlow("h1", "h2", 30, payload_bytes=1452, address="fd00::2")
        one, two = run(lab, flow), run(lab, flow)
    assert one.rtt_ms == two.rtt_ms
    assert 0 < one.rtt_mean_ms - 4 * (1452 + 8 + 40 + 14 + 24) * 8e-5 < 0.003


@pytest.mark.lab
def test_lost_exchanges_are_a_result_and_nothing_is_left(lab: linklab.Lab) -> None:
    neighbour = lab["h1"].cmd("ip neigh show 10.0.10.2").split()
    there = neighbour[neighbour.index("lladdr") + 1]
    lab["h1"].cmd("ip neigh replace 10.0.10.2 lladdr 02:00:00:00:ff:ff dev h1-eth0 nud permanent")
    try:
        result = run(lab, EchoFlow("h1", "h2", 2, wait_s=0.1, warm_up=0))
    finally:
        lab["h1"].cmd(f"ip neigh replace 10.0.10.2 lladdr {there} dev h1-eth0 nud permanent")
    assert result.rtt_ms == (None, None)
    assert lab["h1"].cmd("pgrep -fl programs/ech[o]") == ""


@pytest.mark.lab
def test_a_node_that_is_not_there_is_said(lab: linklab.Lab) -> None:
    with pytest.raises(LabError, match="no node 'h77'"):
        run(lab, EchoFlow("h77", "h2"))


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
def test_what_comes_late_is_lost_and_lengthens_no_wait(virtual: Kind, tmp_path: Any) -> None:
    """Each answer comes during the next exchange."""
    (link,) = TWO_HOSTS.links
    far = replace(TWO_HOSTS, links=(replace(link, delay_ms=250),))
    with linklab.start(far, folder=tmp_path) as lab:
        result = run(lab, EchoFlow("h1", "h2", 6, wait_s=0.3))
    assert result.rtt_ms == (None,) * 6
    assert result.total_ms == pytest.approx(6 * 300, abs=1)
