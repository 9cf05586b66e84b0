"""A prober measures what theory says, counts what it sends, and keeps to its budget."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import linklab
from linklab.analysis.packets import steady_rate_mbps
from linklab.errors import MeasurementError
from linklab.measure import Prober
from linklab.network import TWO_HOSTS, payload_rate_mbps
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("prober")) as lab:
        yield lab


def test_a_rate_that_fits_and_one_that_does_not(lab: linklab.Lab) -> None:
    prober = Prober(lab, "h1", "h2")
    fits, too_much = prober.send(8), prober.send(20, 2)
    assert fits.loss_percent == 0
    assert fits.received_mbps == pytest.approx(8, rel=0.01)
    ceiling_mbps = payload_rate_mbps(10)
    # what the queue holds at the end still arrives
    assert ceiling_mbps < too_much.received_mbps < ceiling_mbps + 50 * 1448 * 8e-6 / 2
    assert too_much.loss_percent == pytest.approx(100 * (1 - too_much.received_mbps / 20), abs=0.3)
    assert prober.probes == [fits, too_much]
    assert prober.count == 2
    assert prober.sent_bytes == pytest.approx((8 + 40) * 1e6 / 8, rel=0.01)
    assert str(too_much).startswith("20 Mbit/s for 2 s: ")


def test_a_train_shows_the_rate_and_is_counted(lab: linklab.Lab) -> None:
    prober = Prober(lab, "h1", "h2")
    arrival_s = prober.train(30)
    assert steady_rate_mbps(arrival_s, 1448) == pytest.approx(payload_rate_mbps(10), rel=0.002)
    assert (prober.sent_bytes, prober.count, prober.probes) == (30 * 1448, 1, [])


def test_what_goes_beyond_the_budget_is_refused_and_not_sent(lab: linklab.Lab) -> None:
    prober = Prober(lab, "h1", "h2", budget_bytes=2_000_000)
    prober.send(8)
    with pytest.raises(MeasurementError, match=r"would send 1\.2 MB, and 1\.0 of the budget of 2 MB are left"):
        prober.send(10)
    with pytest.raises(MeasurementError, match="budget"):
        prober.train(2000)
    assert prober.count == 1


def test_a_search_without_end_is_stopped(lab: linklab.Lab) -> None:
    prober = Prober(lab, "h1", "h2", most_probes=2)
    prober.train(2)
    prober.train(2)
    with pytest.raises(MeasurementError, match="does the search end"):
        prober.train(2)


@pytest.mark.parametrize("rate_mbps", [0, -1, float("nan")])
def test_a_rate_that_is_none_is_refused(lab: linklab.Lab, rate_mbps: float) -> None:
    prober = Prober(lab, "h1", "h2")
    with pytest.raises(MeasurementError, match="rate_mbps"):
        prober.send(rate_mbps)
    assert prober.count == 0
