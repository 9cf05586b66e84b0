"""Searches on a path that is a formula: what they find, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from linklab.analysis.searching import increase
from linklab.errors import MeasurementError


@dataclass(frozen=True)
class Lost:
    loss_percent: float


class Formula:
    """A path of a rate, which loses `stray_percent` at any rate."""

    def __init__(self, rate_mbps: float, stray_percent: float = 0.0) -> None:
        self.rate_mbps, self.stray_percent = rate_mbps, stray_percent
        self.sent_mbit = 0.0

    def send(self, rate_mbps: float, duration_s: int = 1) -> Lost:
        self.sent_mbit += rate_mbps * duration_s
        return Lost(max(0.0, 100 * (1 - self.rate_mbps / rate_mbps)) + self.stray_percent)


@pytest.mark.parametrize("rate_mbps", [2.3, 17.9, 88.8])
def test_the_last_rate_without_loss_is_found(rate_mbps: float) -> None:
    assert rate_mbps - 1 <= increase(Formula(rate_mbps)) <= rate_mbps


def test_it_pays_with_the_square_of_the_rate() -> None:
    path = Formula(60.5)
    increase(path)
    assert path.sent_mbit == sum(range(1, 62))


def test_a_stray_packet_ends_it_only_where_none_is_allowed() -> None:
    with pytest.raises(MeasurementError, match=r"1 Mbit/s is too much already \(.* % were lost\): begin lower"):
        increase(Formula(17.9, stray_percent=0.25))
    assert increase(Formula(17.9, stray_percent=0.25), stray_percent=0.5) == 17


def test_a_path_that_loses_at_once_or_never_is_refused() -> None:
    with pytest.raises(MeasurementError, match="begin lower"):
        increase(Formula(0.5))
    with pytest.raises(MeasurementError, match="look further up"):
        increase(Formula(50), most_mbps=20)
