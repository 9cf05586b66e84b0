"""Amounts and rates against true ones, where the programs that were tried leave something open."""

from __future__ import annotations

import pytest

from linklab.measure.simpleperf_rows import Quantity, Row, read
from linklab.programs.simpleperf.quantities import amount_fits, read_rate


@pytest.mark.parametrize("rate_mbps", [0.0, -3.2, float("inf"), 1.3])
def test_a_rate_that_fits_nothing_is_not_explained(rate_mbps: float) -> None:
    spans = {"whole": (4.9, 5.0), "asked": (1.998, 2.002), "sent": (2.01, 3.2)}
    assert read_rate(Quantity(rate_mbps, 0.001, "Mbps"), 2_000_000, spans) is None


def test_a_rate_without_decimals_has_no_factor_in_it() -> None:
    assert read_rate(Quantity(1.0, 1.0, "Mbps"), 8_000_000, {"whole": (5.0, 5.0)}) is None


def row(kilobytes: float) -> Row:
    heading = "ID  Interval  Transfer  Bandwidth"
    (made,) = read([(0.0, heading), (0.0, f"a  0.0 - 2.0  {kilobytes} KB  8.00 Mbps")]).rows
    return made


def test_amounts_may_be_rounded_any_way_but_not_counted_in_1024() -> None:
    for shown in (2000, 2001):
        assert amount_fits(row(shown), 2_000_400)
    assert not amount_fits(row(1953), 2_000_400)
