"""What a simpleperf prints is read in full, or refused with what it said last."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.errors import MeasurementError
from linklab.measure import Origin, Sample, SimpleperfFlow, SimpleperfResult
from linklab.measure.tools.simpleperf import SIMPLEPERF, together
from tests.support.printed import job, parsed

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


def test_connections_add_up_on_both_sides() -> None:
    result = read("two", TWO)
    assert result.throughput_mbps == pytest.approx(21.03 + 6.43)
    assert result.client_throughput_mbps == pytest.approx(20.61 + 6.30)
    assert result.received_bytes == 11_000_000
    assert [len(stream.samples) for stream in result.streams] == [3, 3]
    assert result.samples[0].throughput_mbps == pytest.approx(21.50 + 7.17)
    assert result.samples[-1].end_s == 3.3


def test_rates_are_added_and_rounded_once() -> None:
    """Whatever Python does in `sum`: 3.12 began to compensate there."""
    connections = {str(port): (Sample(0.0, 1.0, 0.1),) for port in range(10)}
    assert [sample.throughput_mbps for sample in together(connections)] == [1.0]


def test_without_intervals_there_are_totals_alone() -> None:
    result = read("totals", SimpleperfFlow("h1", "h4", 3, interval_s=None))
    assert result.samples == ()
    assert result.streams[0].samples == ()
    assert result.throughput_mbps > 20


def test_a_server_that_only_sums_up_will_do() -> None:
    server = "ID  Interval  Received  Rate\n[SUM]  0.0 - 3.2   11 MB   27.50 Mbps\n"
    assert parsed(SIMPLEPERF, TWO, ORIGIN, said("two", "client"), server).throughput_mbps == 27.5


@pytest.mark.parametrize(
    ("client", "server", "status", "flow", "reason"),
    [
        ("", said("one", "server"), 0, ONE, "client of simpleperf.py on h1 printed no total .* it printed nothing"),
        ("all is well\n", said("one", "server"), 0, ONE, "it printed last: 'all is well'; try it alone"),
        (
            "a  0.0 - 3.2  9 MB  22.5 Mbps\n",
            said("one", "server"),
            0,
            ONE,
            "stands above this row: a ",
        ),
        (said("one", "client"), "", 0, ONE, "server of simpleperf.py on h4 printed no total"),
        (said("two", "client"), said("one", "server"), 0, TWO, r"server .* totals of 1 connections, not 2: try its -P"),
        (said("one", "client"), said("two", "server"), 0, TWO, r"client .* totals of 1 connections, not 2"),
        (
            "Traceback (most recent call last):\nValueError: no\n",
            "",
            1,
            ONE,
            "status 1; it printed last: 'ValueError: no'",
        ),
        ("x.py: error: unrecognized arguments: -i 1\n", "", 2, ONE, "arguments: -i 1'; measure with interval_s=None"),
        ("error: unrecognized arguments: -P 2\n", "", 2, TWO, "arguments: -P 2'; measure with streams=1"),
        (
            "ModuleNotFoundError: No module named 'tabulate'",
            "",
            1,
            ONE,
            r"the package tabulate: .*\(pip install tabulate\)",
        ),
    ],
)
def test_what_is_not_known_is_refused_in_one_line(
    client: str, server: str, status: int, flow: SimpleperfFlow, reason: str
) -> None:
    with pytest.raises(MeasurementError, match=reason) as caught:
        parsed(SIMPLEPERF, flow, ORIGIN, client, server, status=status)
    assert "\n" not in str(caught.value)


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


def test_the_commands_in_full() -> None:
    two = SIMPLEPERF.client(job(TWO, port=5202, extra="python3 s.py"))
    assert two == "python3 s.py -c -I 10.0.5.2 -p 5202 -t 3 -i 1 -P 2"
    plain = SimpleperfFlow("h1", "h4", 3, interval_s=None)
    assert SIMPLEPERF.client(job(plain, extra="python3 s.py")) == "python3 s.py -c -I 10.0.5.2 -p 5201 -t 3"
    assert SIMPLEPERF.server(job(ONE, extra="python3 s.py")) == "python3 s.py -s -b 10.0.5.2 -p 5201"


@pytest.mark.parametrize("zero", ["0e999", "0e-999", "0.0e+99999", "0e0"])
def test_nothing_is_nothing_however_it_is_written(zero: str) -> None:
    rows = f"ID  Interval  Transfer  Rate\n10.0.0.1:5000  0.0-25.0  {zero} MB  {zero} Mbps\n"
    found = parsed(SIMPLEPERF, SimpleperfFlow("h1", "h4", 25), ORIGIN, rows, rows)
    assert (found.throughput_mbps, found.received_bytes) == (0.0, 0)
