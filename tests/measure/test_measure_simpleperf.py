"""What a simpleperf prints is read in full, or refused with what it said last."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.errors import MeasurementError
from linklab.measure import Origin, Sample, SimpleperfFlow, SimpleperfResult
from linklab.measure.tools.simpleperf import SIMPLEPERF, together
from tests.support.printed import parsed

ORIGIN = Origin("simpleperf.py", "7.3.4")
_FOLDER = Path(__file__).with_name("captured")

ONE = SimpleperfFlow("h1", "h4", 3)
TWO = SimpleperfFlow("h1", "h4", 3, streams=2)


def said(name: str, side: str) -> str:
    return (_FOLDER / f"simpleperf-{name}-{side}.txt").read_text("utf-8")


def read(name: str, flow: SimpleperfFlow) -> SimpleperfResult:
    return parsed(SIMPLEPERF, flow, ORIGIN, said(name, "client"), said(name, "server"))


def test_the_server_says_what_arrived_and_the_client_when() -> None:
    result = read("one", ONE)
    assert [sample.end_s for sample in result.samples] == [1.0, 2.0, 3.2]
    assert result.throughput_mbps > result.client_throughput_mbps > 20
    assert result.received_bytes == pytest.approx(result.throughput_mbps * 3.1e6 / 8, rel=0.05)
    (stream,) = result.streams
    assert (stream.samples, stream.throughput_mbps) == (result.samples, result.client_throughput_mbps)


def test_rates_are_added_and_rounded_once() -> None:
    """Whatever Python does in `sum`: 3.12 began to compensate there."""
    connections = {str(port): (Sample(0.0, 1.0, 0.1),) for port in range(10)}
    assert [sample.throughput_mbps for sample in together(connections)] == [1.0]


def test_one_that_was_stopped_keeps_its_rows() -> None:
    first_two = "\n".join(said("one", "client").splitlines()[:7]) + "\n"
    result = parsed(SIMPLEPERF, ONE, ORIGIN, first_two, "", status=None, interrupted=True)
    assert result.interrupted
    assert len(result.samples) == 2
    assert result.received_bytes is None
    rates = [sample.throughput_mbps for sample in result.samples]
    assert result.throughput_mbps == pytest.approx(sum(rates) / 2)
    with pytest.raises(MeasurementError, match="stopped before it had printed a row"):
        parsed(SIMPLEPERF, ONE, ORIGIN, "", "", status=None, interrupted=True)


@pytest.mark.parametrize("zero", ["0e999", "0e-999", "0.0e+99999", "0e0"])
def test_nothing_is_nothing_however_it_is_written(zero: str) -> None:
    rows = f"ID  Interval  Transfer  Rate\n10.0.0.1:5000  0.0-25.0  {zero} MB  {zero} Mbps\n"
    found = parsed(SIMPLEPERF, SimpleperfFlow("h1", "h4", 25), ORIGIN, rows, rows)
    assert (found.throughput_mbps, found.received_bytes) == (0.0, 0)
