"""A prober measures what theory says, counts what it sends, and keeps to its budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import linklab
from linklab.analysis.packets import steady_rate_mbps
from linklab.errors import MeasurementError
from linklab.measure import Prober, prober
from linklab.network import TWO_HOSTS, payload_rate_mbps
from linklab.runtime.backends import Kind


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("prober")) as lab:
        yield lab


@pytest.mark.lab
def test_a_rate_that_fits_and_one_that_does_not(lab: linklab.Lab) -> None:
    mine = Prober(lab, "h1", "h2")
    fits, too_much = mine.send(8), mine.send(20, 2)
    assert fits.loss_percent == 0
    assert fits.received_mbps == pytest.approx(8, rel=0.01)
    ceiling_mbps = payload_rate_mbps(10)
    # what the queue holds at the end still arrives
    assert ceiling_mbps < too_much.received_mbps < ceiling_mbps + 50 * 1448 * 8e-6 / 2
    assert too_much.loss_percent == pytest.approx(100 * (1 - too_much.received_mbps / 20), abs=0.3)
    assert mine.probes == [fits, too_much]
    assert mine.count == 2
    assert mine.sent_bytes == pytest.approx((8 + 40) * 1e6 / 8, rel=0.01)
    assert str(too_much).startswith("20 Mbit/s for 2 s: ")


@pytest.mark.lab
def test_a_train_shows_the_rate_and_is_counted(lab: linklab.Lab) -> None:
    mine = Prober(lab, "h1", "h2")
    arrival_s = mine.train(30)
    assert steady_rate_mbps(arrival_s, 1448) == pytest.approx(payload_rate_mbps(10), rel=0.002)
    assert (mine.sent_bytes, mine.count, mine.probes) == (30 * 1448, 1, [])


@pytest.mark.lab
def test_what_goes_beyond_the_budget_is_refused_and_not_sent(lab: linklab.Lab) -> None:
    mine = Prober(lab, "h1", "h2", budget_bytes=2_000_000, most_probes=2)
    mine.send(8)
    with pytest.raises(MeasurementError, match=r"would send 1\.2 MB, and 1\.0 of the budget of 2 MB are left"):
        mine.send(10)
    with pytest.raises(MeasurementError, match="budget"):
        mine.train(2000)
    assert mine.count == 1
    mine.train(2)
    with pytest.raises(MeasurementError, match="does the search end"):
        mine.train(2)


def test_what_was_sent_is_charged_though_it_could_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []

    def unreadable(lab: object, flow: object) -> None:
        sent.append(flow)
        raise MeasurementError("iperf3 said nothing")

    monkeypatch.setattr(prober, "run", unreadable)
    nobody: Any = None
    mine = Prober(nobody, "h1", "h2", budget_bytes=4_000_000)
    for _ in range(3):
        with pytest.raises(MeasurementError, match="said nothing"):
            mine.send(10)
    with pytest.raises(MeasurementError, match=r"0\.2 of the budget of 4 MB are left"):
        mine.send(10)
    assert (len(sent), mine.count, mine.sent_bytes) == (3, 3, 3_750_000)
