"""The UDP echo: round trips by one clock to theory's digits, lost exchanges told apart, late ones lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import EchoFlow, EchoResult, Origin, run
from linklab.network import TWO_HOSTS
from linklab.network.catalogue import dual_stack, l3_switch
from linklab.network.theory import cable_rtt_ms
from linklab.runtime.backends import Kind

ORIGIN = Origin("linklab echo 1", "7.3.4")
RESULT = EchoResult(EchoFlow("h1", "h2", 3), ORIGIN, (1.0, None, 3.0), 1004.0, 17.0)


def test_the_mean_is_that_of_all_together() -> None:
    whole = EchoResult(EchoFlow("h1", "h2", 2), ORIGIN, (1.0, 2.9), 4.0, 17.0)
    assert (whole.rtt_mean_ms, whole.lost) == (2.0, 0)
    assert (RESULT.rtt_mean_ms, RESULT.lost) == (2.0, 1)
    with pytest.raises(MeasurementError, match="no exchange between h1 and h2 was answered"):
        _ = EchoResult(EchoFlow("h1", "h2", 1), ORIGIN, (None,), 1000.0, 17.0).rtt_mean_ms


def test_over_ipv6_less_fits() -> None:
    with pytest.raises(MeasurementError, match="payload_bytes is 1453: choose at most 1452"):
        EchoFlow("h1", "h2", payload_bytes=1453, address="fd00::1")


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(l3_switch(100), folder=tmp_path_factory.mktemp("echo")) as lab:
        yield lab


@pytest.mark.lab
@pytest.mark.parametrize(("destination", "payload"), [("h2", 1440), ("h3", 750)])
def test_a_round_trip_is_serialisation_and_repeats_agree(lab: linklab.Lab, destination: str, payload: int) -> None:
    one, two = (run(lab, EchoFlow("h1", destination, 30, payload_bytes=payload)) for _ in range(2))
    assert one.lost == 0
    assert 0 < one.rtt_mean_ms - cable_rtt_ms(l3_switch(100), "h1", destination, payload) < 0.003
    assert one.rtt_ms == two.rtt_ms


@pytest.mark.lab
def test_over_ipv6_a_round_trip_carries_a_header_of_40_bytes(virtual: Kind, tmp_path: Any) -> None:
    network = dual_stack(l3_switch(100))
    with linklab.start(network, folder=tmp_path) as lab:
        flow = EchoFlow("h1", "h3", 30, payload_bytes=1452, address=lab["h3"].ipv6)
        one, two = run(lab, flow), run(lab, flow)
    assert one.rtt_ms == two.rtt_ms
    assert 0 < one.rtt_mean_ms - 4 * (1452 + 8 + 40 + 14 + 24) * 8e-5 < 0.003
    assert cable_rtt_ms(network, "h1", "h3", 1452, 6) == pytest.approx(4 * (1452 + 8 + 40 + 14 + 24) * 8e-5)


@pytest.mark.lab
def test_what_comes_late_is_lost_and_lengthens_no_wait(virtual: Kind, tmp_path: Any) -> None:
    """Each answer comes during the next exchange."""
    (link,) = TWO_HOSTS.links
    far = replace(TWO_HOSTS, links=(link.reshaped(delay_ms=250),))
    with linklab.start(far, folder=tmp_path) as lab:
        result = run(lab, EchoFlow("h1", "h2", 6, wait_s=0.3))
        assert lab["h1"].cmd("pgrep -fl programs/ech[o]") == ""
    assert result.rtt_ms == (None,) * 6
    assert result.total_ms == pytest.approx(6 * 300, abs=1)
