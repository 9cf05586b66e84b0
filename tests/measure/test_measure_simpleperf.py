"""What a simpleperf prints is read in full, or refused with what it said last."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from linklab.errors import MeasurementError
from linklab.measure import Origin, Sample, SimpleperfFlow, SimpleperfResult
from linklab.measure.program_file import REFERENCE, Brought, program_files, sealed
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


def test_a_table_by_tabs_in_other_words_will_do() -> None:
    client = "Interval\tID\tTransfer\tBandwidth\n"
    client += "[0.0-1.0]\t10.0.0.2:9\t2 MB\t16.00 MBps\n[1.0-2.0]\t10.0.0.2:9\t2 MB\t16.00 MBps\n"
    server = "ID\tInterval\tTransfer\tBandwidth\n10.0.0.2:9\t0.0-2.1\t4 MB\t15.24 MBps\n"
    result = parsed(SIMPLEPERF, ONE, ORIGIN, client + "[0.0-2.0]\t10.0.0.2:9\t4 MB\t16.00 MBps\n", server)
    assert (result.throughput_mbps, result.client_throughput_mbps, len(result.samples)) == (15.24, 16.0, 2)


def test_connections_of_one_name_are_told_apart_by_their_turn() -> None:
    renamed = (
        said("two", "client")
        .replace("10.0.0.2:41808 ", "10.0.5.2:5201  ")
        .replace("10.0.0.2:41810 ", "10.0.5.2:5201  ")
    )
    result = parsed(SIMPLEPERF, TWO, ORIGIN, renamed, said("two", "server"))
    assert [stream.throughput_mbps for stream in result.streams] == [20.61, 6.30]
    assert [len(stream.samples) for stream in result.streams] == [3, 3]


def test_a_server_that_only_sums_up_will_do() -> None:
    server = "ID  Interval  Received  Rate\n[SUM]  0.0 - 3.2   11 MB   27.50 Mbps\n"
    assert parsed(SIMPLEPERF, TWO, ORIGIN, said("two", "client"), server).throughput_mbps == 27.5


@pytest.mark.parametrize(
    ("client", "server", "status", "flow", "reason"),
    [
        ("", said("one", "server"), 0, ONE, "client of simpleperf.py on h1 printed no total .* it printed nothing"),
        ("all is well\n", said("one", "server"), 0, ONE, "it printed last: 'all is well'; try it alone"),
        ("a  0.0 - 3.2  9 MB  22.5 Mbps\n", said("one", "server"), 0, ONE, "no heading stands above this row: a "),
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
    brought = Brought("s.py", "/tmp/s.py", None)
    start = "exec env PYTHONUNBUFFERED=1 python3 /tmp/s.py"
    assert SIMPLEPERF.client(job(TWO, port=5202, extra=brought)) == f"{start} -c -I 10.0.5.2 -p 5202 -t 3 -i 1 -P 2"
    plain = SimpleperfFlow("h1", "h4", 3, interval_s=None)
    assert SIMPLEPERF.client(job(plain, extra=brought)) == f"{start} -c -I 10.0.5.2 -p 5201 -t 3"
    assert SIMPLEPERF.server(job(ONE, extra=brought)) == f"{start} -s -b 10.0.5.2 -p 5201"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"duration_s": 1.5}, "duration_s is 1.5: choose whole seconds"),
        ({"interval_s": 0}, "interval_s is 0"),
        ({"streams": 6}, "streams is 6: choose 1 to 5"),
        ({"start_s": -1.0}, "start_s is -1.0"),
        ({"program": 5}, "program is 5: give the path of a Python file"),
    ],
)
def test_impossible_transfers_are_refused(wrong: dict[str, float], reason: str) -> None:
    with pytest.raises(MeasurementError, match=reason):
        SimpleperfFlow("h1", "h4", **wrong)  # type: ignore[arg-type]


def test_the_program_comes_with_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("x = 1\n")
    (tmp_path / "notes.txt").write_text("no program\n")
    assert list(program_files(tmp_path / "mine.py")) == ["mine.py", "helper.py"]
    assert program_files(None) == {"simpleperf.py": REFERENCE.read_bytes()}
    (tmp_path / "empty.py").write_text("\n")
    with pytest.raises(MeasurementError, match="has 1 bytes: that is no simpleperf"):
        program_files(tmp_path / "empty.py")
    with pytest.raises(MeasurementError, match=r"there is no program .*gone\.py: write it first"):
        program_files(tmp_path / "gone.py")


_HEADING = "ID  Interval  Transfer  Rate\n"
_ROW = "10.0.0.1:5000  0.0-25.0  {}  {}\n"


@pytest.mark.parametrize(
    ("amount", "rate"),
    [
        ("inf MB", "28.8 Mbps"),
        ("nan MB", "28.8 Mbps"),
        ("1e308 MB", "28.8 Mbps"),
        ("-90 MB", "28.8 Mbps"),
        ("90 MB", "nan Mbps"),
        ("90 MB", "inf Mbps"),
        ("90 MB", "-5 Mbps"),
        ("90 MB", "1e308 Mbps"),
        ("90 MB", "0e" + "9" * 5000 + " Mbps"),
    ],
)
@pytest.mark.parametrize("side", ["client", "server"])
def test_a_number_that_is_none_is_no_row(side: str, amount: str, rate: str) -> None:
    good, bad = _HEADING + _ROW.format("90 MB", "28.8 Mbps"), _HEADING + _ROW.format(amount, rate)
    client, server = (bad, good) if side == "client" else (good, bad)
    with pytest.raises(MeasurementError, match=f"the {side} of"):
        parsed(SIMPLEPERF, SimpleperfFlow("h1", "h4", 25), ORIGIN, client, server)


@pytest.mark.parametrize("zero", ["0e999", "0e-999", "0.0e+99999", "0e0"])
def test_nothing_is_nothing_however_it_is_written(zero: str) -> None:
    rows = _HEADING + _ROW.format(f"{zero} MB", f"{zero} Mbps")
    found = parsed(SIMPLEPERF, SimpleperfFlow("h1", "h4", 25), ORIGIN, rows, rows)
    assert (found.throughput_mbps, found.received_bytes) == (0.0, 0)


def test_a_file_beside_it_that_cannot_be_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("print(1)")
    (tmp_path / "other.py").write_text("x = 1")
    whole = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.name == "other.py":
            raise PermissionError(13, "Permission denied")
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert list(program_files(tmp_path / "mine.py")) == ["mine.py"]


def test_a_sealed_program_runs_and_shows_nothing_of_its_text(tmp_path: Path) -> None:
    program = tmp_path / "greet.py"
    program.write_text(
        '"""Secret one."""\ndef greet():\n    """Secret two."""\n    return "hello"  # secret three\nprint(greet())\n'
    )
    closed = tmp_path / "sealed.py"
    closed.write_text(sealed(program))
    said = subprocess.run([sys.executable, closed], capture_output=True, text=True, check=True).stdout
    assert said == "hello\n"
    assert "greet" not in closed.read_text()
    unpacked = subprocess.run(
        [sys.executable, "-c", closed.read_text().replace("exec(", "print(")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "greet" in unpacked
    assert "ecret" not in unpacked
