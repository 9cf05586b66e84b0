"""What theory says of a data centre: against counting, and against what the papers say."""

from __future__ import annotations

from itertools import product

import pytest

from linklab.analysis.data_centre import (
    alone_chance,
    dctcp_queue,
    even_chance,
    incast_senders,
    spread_interval,
    together_chance,
)


@pytest.mark.parametrize(("flows", "paths"), [(2, 2), (3, 2), (4, 2), (4, 4), (3, 5)])
def test_chances_are_those_of_all_cases_counted(flows: int, paths: int) -> None:
    cases = list(product(range(paths), repeat=flows))
    assert alone_chance(flows, paths) == pytest.approx(sum(len(set(it)) == flows for it in cases) / len(cases))
    assert together_chance(flows, paths) == pytest.approx(sum(len(set(it)) == 1 for it in cases) / len(cases))
    if paths == 2:
        assert even_chance(flows) == pytest.approx(sum(2 * sum(it) == flows for it in cases) / len(cases))


def test_of_100_flows_33_to_67_take_one_of_two_paths() -> None:
    assert spread_interval(100, 2) == pytest.approx((50 - 16.95, 50 + 16.95), abs=0.01)


@pytest.mark.parametrize(("queue", "senders"), [(93, 9), (88, 9), (87, 8)])
def test_the_first_window_that_does_not_fit_loses(queue: int, senders: int) -> None:
    assert incast_senders(queue, 11) == senders


def test_a_queue_of_dctcp_stays_above_zero_for_a_threshold_of_a_seventh_of_the_path() -> None:
    """Section 3.4 of the paper, for long paths."""
    assert dctcp_queue(10_000, 10_000 / 6.9)[0] > 0 > dctcp_queue(10_000, 10_000 / 500)[0]


def test_a_queue_of_dctcp_ends_one_packet_above_the_threshold() -> None:
    assert dctcp_queue(6.6, 20) == pytest.approx((17.22, 21), abs=0.01)
