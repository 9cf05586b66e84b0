"""The fluid model of one TCP transfer, held against what CUBIC's own formula (RFC 9438) gives in closed form."""

from __future__ import annotations

import math

import pytest

from linklab.analysis.tcp_model import BETA, CUBIC_C, INITIAL_WINDOW_PACKETS, Pipe, smooth


@pytest.mark.parametrize("bdp_packets", [5_000, 20_000])
def test_from_seven_tenths_cubic_takes_k_seconds_to_its_plateau_and_carries_925_per_mille(bdp_packets: int) -> None:
    """Without a queue the window is what is carried; Reno's line stays below so large a window's cubic."""
    pipe = Pipe(packet_ms=100 / bdp_packets, base_ms=100, delay_ms=0, limit_packets=0, inflow=2)
    k_s = ((1 - BETA) * bdp_packets / CUBIC_C) ** (1 / 3)
    rounds = math.ceil(math.log2(BETA * bdp_packets / INITIAL_WINDOW_PACKETS))
    slow_start_s, in_slow_start = rounds * 0.1, INITIAL_WINDOW_PACKETS * (2**rounds - 1) * 0.1
    # the mean of plateau - C * (K - t)^3 over K seconds is plateau - (1 - BETA) * plateau / 4
    after = (1 - (1 - BETA) / 4) * bdp_packets * k_s
    expected = (in_slow_start + after) / (bdp_packets * (slow_start_s + k_s))
    assert smooth(pipe, slow_start_s + k_s).rate_share == pytest.approx(expected, rel=0.01)
