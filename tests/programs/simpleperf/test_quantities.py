"""ProgramRun amounts and rates against true ones."""

from __future__ import annotations

import pytest

from linklab.measure.simpleperf_rows import Quantity, Row, read
from linklab.programs.simpleperf.quantities import amount_fits, amount_mistake, rate_shown, read_rate

SPANS = {"whole": (4.9, 5.0), "asked": (1.998, 2.002), "sent": (2.01, 3.2)}
CARRIED = 2_000_000
TRUE_MBPS = CARRIED * 8e-6 / 5.0


@pytest.mark.parametrize(
    ("rate_mbps", "span", "mistake"),
    [
        (TRUE_MBPS, "whole", None),
        (CARRIED * 8e-6 / 2.0, "asked", None),
        (CARRIED * 8e-6 / 2.8, "sent", None),
        (TRUE_MBPS / 8, "whole", "bits and bytes: the factor 8 is missing"),
        (TRUE_MBPS * 8, "whole", "bits and bytes: multiplied by 8 twice"),
        (TRUE_MBPS / 1.048576 * 0.999, "whole", "1000 and 1024 mixed"),
        (TRUE_MBPS / 1.024, "whole", "1000 and 1024 mixed"),
    ],
)
def test_a_rate_tells_its_time_and_its_units(rate_mbps: float, span: str, mistake: str | None) -> None:
    reading = read_rate(Quantity(round(rate_mbps, 3), 0.001, "Mbps"), CARRIED, SPANS)
    assert reading is not None
    assert (reading.span, reading.mistake and reading.mistake.title) == (span, mistake)


@pytest.mark.parametrize("rate_mbps", [0.0, -3.2, float("inf"), 1.3])
def test_a_rate_that_fits_nothing_is_not_explained(rate_mbps: float) -> None:
    assert read_rate(Quantity(rate_mbps, 0.001, "Mbps"), CARRIED, SPANS) is None


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


@pytest.mark.parametrize(
    ("kilobytes", "side", "mistake"),
    [
        (1953, "client", "1000 and 1024 mixed"),
        (16_000, "client", "the amount is not what was carried"),
        (1500, "client", "bytes counted are not the bytes sent"),
        (1500, "server", "bytes are missing"),
        (2500, "server", "each read counted as a full buffer"),
    ],
)
def test_what_an_amount_shows_is_in_its_ratio_to_the_true_one(kilobytes: float, side: str, mistake: str) -> None:
    assert amount_mistake(row(kilobytes), 2_000_400, side).title == mistake


def test_a_rate_in_another_unit_is_shown_in_mbits_too() -> None:
    assert rate_shown(Quantity(4221, 1, "Kbps")) == "4221 Kbps (4.221 Mbit/s)"
    assert rate_shown(Quantity(4.22, 0.01, "Mbps")) == "4.22 Mbps"
