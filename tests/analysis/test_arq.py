"""The formulas of automatic repeat request against their limits and against each other."""

from __future__ import annotations

from itertools import pairwise

import pytest

from linklab.analysis.arq import go_back_n_share, link_share, rto_s, selective_repeat_share


def test_a_window_of_one_is_stop_and_wait() -> None:
    """Kurose and Ross, section 3.4.2: 8000 bits on 1 Gbit/s with a round trip of 30 ms use 0.027 % of the link."""
    assert link_share(1, 0.008, 30) == pytest.approx(0.00027, abs=0.000005)
    assert link_share(3, 0.008, 30) == pytest.approx(3 * link_share(1, 0.008, 30))
    assert link_share(10_000, 0.008, 30) == 1


def test_without_loss_all_are_the_same() -> None:
    for window in (1, 5, 11, 50):
        share = link_share(window, 4, 40)
        assert selective_repeat_share(window, 4, 40, 0) == share
        assert go_back_n_share(window, 4, 40, 0) == pytest.approx(share)


def test_the_two_branches_of_go_back_n_meet_where_the_window_just_fills_the_link() -> None:
    for loss in (0.01, 0.1, 0.5):
        assert go_back_n_share(11, 4, 40, loss) == pytest.approx(go_back_n_share(12, 4, 40, loss))


def test_go_back_n_is_never_better_than_selective_repeat_and_equal_with_a_window_of_one() -> None:
    for window in (1, 4, 11, 40):
        assert go_back_n_share(window, 4, 40, 0.02) <= selective_repeat_share(window, 4, 40, 0.02) + 1e-12
    assert go_back_n_share(1, 4, 40, 0.02) == pytest.approx(selective_repeat_share(1, 4, 40, 0.02))


def test_the_timeout_of_rfc_6298() -> None:
    assert rto_s([0.1]) == [pytest.approx(0.3)]  # R + 4 R/2
    first, second = rto_s([0.1, 0.2])
    assert second == pytest.approx(0.1125 + 4 * (0.75 * 0.05 + 0.25 * 0.1))
    steady = rto_s([0.1] * 60)
    assert all(late < early for early, late in pairwise(steady[:15]))
    assert steady[-1] == pytest.approx(0.101), "the granularity is what remains"
    assert first == pytest.approx(0.3)
