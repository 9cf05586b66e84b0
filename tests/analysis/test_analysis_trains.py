"""The rate of a train: exact where nothing disturbs it, robust where something does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from linklab.analysis.packets import steady_rate_mbps, train_rate_mbps
from linklab.errors import MeasurementError

GAP_S = 1448 * 8e-6 / 10
EVEN = [0.05 + GAP_S * number for number in range(40)]


def test_an_even_train_shows_its_rate_in_each_way() -> None:
    assert train_rate_mbps(EVEN, 1448) == pytest.approx(10)
    assert steady_rate_mbps(EVEN, 1448) == pytest.approx(10)


def test_two_packets_are_a_pair() -> None:
    assert train_rate_mbps(EVEN[:2], 1448) == pytest.approx(10)


def test_a_burst_at_the_head_moves_the_plain_rate_and_not_the_steady_one() -> None:
    burst = [EVEN[10]] * 10 + EVEN[11:]
    assert train_rate_mbps(burst, 1448) > 12.5
    assert steady_rate_mbps(burst, 1448) == pytest.approx(10)


def test_a_packet_that_came_late_moves_the_plain_rate_and_not_the_steady_one() -> None:
    late = [*EVEN[:-1], EVEN[-1] + 0.05]
    assert train_rate_mbps(late, 1448) < 5
    assert steady_rate_mbps(late, 1448) == pytest.approx(10)


@pytest.mark.parametrize("rate", [train_rate_mbps, steady_rate_mbps])
@pytest.mark.parametrize(
    ("arrival_s", "payload_bytes", "says"),
    [
        ([], 1448, "0 packets of the train"),
        ([1.0], 1448, "1 packets of the train"),
        ([1, 2, 4, 3, 5], 1448, "not in order"),
        (EVEN, 0, "above 0"),
    ],
)
def test_what_shows_no_rate_is_refused(
    rate: Callable[[Sequence[float], int], object], arrival_s: list[float], payload_bytes: int, says: str
) -> None:
    with pytest.raises(MeasurementError, match=says):
        rate(arrival_s, payload_bytes)


@pytest.mark.parametrize("rate", [train_rate_mbps, steady_rate_mbps])
def test_packets_of_one_instant_show_no_rate(rate: Callable[[Sequence[float], int], float]) -> None:
    with pytest.raises(MeasurementError, match="one instant"):
        rate([1.0] * 10, 1448)
