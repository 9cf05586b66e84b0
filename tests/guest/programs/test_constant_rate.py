"""The plan of a sender at a constant rate."""

from __future__ import annotations

from itertools import pairwise

import pytest

from linklab.guest.programs.constant_rate import instants


@pytest.mark.parametrize("dither", [True, False])
def test_the_plan_keeps_the_rate_whatever_the_dither(dither: bool) -> None:
    planned = list(instants(1000.5, dither, "1 3", 5_000, 1_005_500))
    assert len(planned) == 1000
    assert all(0 <= due - (5_000 + number * 1000.5) < 1001 for number, due in enumerate(planned)) or not dither
    assert planned == sorted(planned)
    assert planned == list(instants(1000.5, dither, "1 3", 5_000, 1_005_500))
    gaps = {later - early for early, later in pairwise(planned)}
    assert (len(gaps) > 100) == dither
