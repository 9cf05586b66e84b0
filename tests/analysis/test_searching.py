"""Searches on a path that is a formula: what they find, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from linklab.analysis.searching import bisect, from_train, increase
from linklab.errors import MeasurementError


@dataclass(frozen=True)
class Lost:
    loss_percent: float


class Formula:
    """A path of a rate, with a queue that swallows some Mbit; `shown_mbps` is what its trains show."""

    def __init__(
        self, rate_mbps: float, queue_mbit: float = 0.0, shown_mbps: float | None = None, stray_percent: float = 0.0
    ) -> None:
        self.rate_mbps, self.queue_mbit, self.shown_mbps = rate_mbps, queue_mbit, shown_mbps or rate_mbps
        self.stray_percent = stray_percent
        self.sent_mbit, self.rates = 0.0, list[float]()

    def send(self, rate_mbps: float, duration_s: int = 1) -> Lost:
        self.sent_mbit += rate_mbps * duration_s
        self.rates.append(rate_mbps)
        too_much = (rate_mbps - self.rate_mbps) * duration_s - self.queue_mbit
        return Lost(max(0.0, 100 * too_much / (rate_mbps * duration_s)) + self.stray_percent)

    def train(self, packets: int = 50, payload_bytes: int = 1448) -> tuple[float, ...]:
        self.sent_mbit += packets * payload_bytes * 8e-6
        return tuple(number * payload_bytes * 8e-6 / self.shown_mbps for number in range(packets))


@pytest.mark.parametrize("rate_mbps", [2.3, 17.9, 88.8])
def test_each_search_finds_the_rate_as_closely_as_it_says(rate_mbps: float) -> None:
    assert rate_mbps - 1 <= increase(Formula(rate_mbps)) <= rate_mbps
    assert 0.98 * rate_mbps - 0.01 <= bisect(Formula(rate_mbps), 0, 200) <= rate_mbps
    assert from_train(Formula(rate_mbps)) == pytest.approx(rate_mbps)


def test_the_plain_increase_pays_with_the_square_of_the_rate() -> None:
    plain, halving, train = Formula(60.5), Formula(60.5), Formula(60.5)
    increase(plain)
    bisect(halving, 0, 128)
    from_train(train)
    assert plain.sent_mbit == sum(range(1, 62))
    assert train.sent_mbit < 61 < halving.sent_mbit < 600


def test_a_stray_packet_ends_an_increase_only_where_none_is_allowed() -> None:
    with pytest.raises(MeasurementError, match=r"1 Mbit/s is too much already \(.* % were lost\): begin lower"):
        increase(Formula(17.9, stray_percent=0.25))
    assert increase(Formula(17.9, stray_percent=0.25), stray_percent=0.5) == 17


def test_a_queue_hides_what_is_too_much_from_a_short_probe() -> None:
    assert bisect(Formula(10, queue_mbit=1), 0, 100) > 10.7
    assert bisect(Formula(10, queue_mbit=1), 0, 100, duration_s=10) < 10.2
    assert from_train(Formula(10, queue_mbit=1)) == pytest.approx(10)


def test_a_train_that_shows_too_much_is_not_believed() -> None:
    found = from_train(Formula(10, shown_mbps=14))
    assert 9.7 <= found <= 10


@pytest.mark.parametrize("shown_mbps", [45, 20_000])
def test_a_train_that_a_bucket_swallowed_leads_to_no_rate_that_nothing_probed(shown_mbps: float) -> None:
    path = Formula(20, shown_mbps=shown_mbps)
    found = from_train(path)
    assert 19.6 <= found <= 20
    assert found in path.rates


def test_a_path_that_lets_nothing_through_has_no_rate() -> None:
    with pytest.raises(MeasurementError, match=r"packets were lost even at 0\.0.* Mbit/s"):
        from_train(Formula(0, shown_mbps=10))


def test_what_cannot_be_searched_is_refused() -> None:
    with pytest.raises(MeasurementError, match="begin lower"):
        increase(Formula(0.5))
    with pytest.raises(MeasurementError, match="look further up"):
        increase(Formula(50), most_mbps=20)
    with pytest.raises(MeasurementError, match="a lower and a higher"):
        bisect(Formula(50), 20, 10)
    dead = Formula(0)
    with pytest.raises(MeasurementError, match="packets were lost even at"):
        bisect(dead, 0, 128)
    assert len(dead.rates) < 20


@pytest.mark.parametrize("resolution", [0, float("nan")])
def test_a_resolution_that_no_halving_reaches_is_refused(resolution: float) -> None:
    with pytest.raises(MeasurementError, match="resolution"):
        bisect(Formula(10), 0, 100, resolution)
