"""Intervals and totals among the rows that a client prints."""

from __future__ import annotations

from linklab.measure.simpleperf_rows import intervals

_ROWS = """ID                   Interval             Transfer             Bandwidth
10.0.0.1:37578       [0.0 - 1.00]         0.63 MB              5.03 Mbps
10.0.0.1:37578       [1.0 - 2.02]         0.53 MB              4.13 Mbps
10.0.0.1:37578       [2.0 - 3.11]         0.64 MB              4.73 Mbps
10.0.0.1:37578       [0.0 - 3.11]         1.80 MB              4.63 Mbps"""


def test_a_begin_with_fewer_digits_than_the_end_before_is_no_total() -> None:
    """With Debian 13's Python a client printed "2.0" after "2.02", and the interval was lost."""
    (found,) = intervals(_ROWS.splitlines()).values()
    assert [one.end_s for one in found] == [1.00, 2.02, 3.11]


def test_a_total_after_a_single_interval_is_a_total() -> None:
    lines = _ROWS.splitlines()
    (found,) = intervals(
        [*lines[:2], "10.0.0.1:37578       [0.0 - 1.02]         0.64 MB              5.01 Mbps"]
    ).values()
    assert [one.end_s for one in found] == [1.00]
