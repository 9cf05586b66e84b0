"""The parts of the reference that need no network: arguments, amounts, the meter, the rows."""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .reference import load
from .runner import REFERENCE, rows

simpleperf = load()


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize(
    ("text", "count"),
    [("10MB", 10_000_000), ("1000KB", 1_000_000), ("500B", 500), ("1B", 1), ("1000 KB", 1_000_000), ("007KB", 7000)],
)
def test_amounts_are_decimal(text: str, count: int) -> None:
    assert simpleperf.amount_bytes(text) == count


@pytest.mark.parametrize(
    "text",
    ["", "10", "MB", "0MB", "-1MB", "+1MB", "1.5MB", "10mb", "10Mb", "10GB", "1e3B", "10  MB", "10MB ", "٣MB", "1_0B"],
)
def test_other_amounts_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="such as 10MB"):
        simpleperf.amount_bytes(text)


@pytest.mark.parametrize("text", ["0", "6", "-1", "+1", "1.0", "x", "", " 1", "1_0", "٣", "9" * 5000])
def test_only_whole_numbers_in_range(text: str) -> None:
    read = simpleperf.whole_number(1, 5)
    assert [read(str(number)) for number in range(1, 6)] == [1, 2, 3, 4, 5]
    with pytest.raises(argparse.ArgumentTypeError, match="from 1 to 5"):
        read(text)


def test_the_defaults() -> None:
    options = simpleperf.parse(["-c"])
    assert vars(options) == {
        "server": False,
        "client": True,
        "port": 8088,
        "format": "MB",
        "bind": "127.0.0.1",
        "serverip": "127.0.0.1",
        "time": 25,
        "interval": None,
        "parallel": 1,
        "num": None,
    }


def test_long_names() -> None:
    words = "--client --serverip 10.0.5.2 --port 9000 --format KB --time 3 --interval 2 --parallel 5 --num 7KB"
    short = "-c -I 10.0.5.2 -p 9000 -f KB -t 3 -i 2 -P 5 -n 7KB"
    assert simpleperf.parse(words.split()) == simpleperf.parse(short.split())
    assert simpleperf.parse(["--server", "--bind", "10.0.5.2"]) == simpleperf.parse(["-s", "-b", "10.0.5.2"])


def test_a_rate_is_in_millions_of_bits_a_second() -> None:
    assert simpleperf.Span(0.0, 25.0, 0, 85_000_000).rate_mbps == pytest.approx(27.2)
    assert simpleperf.Span(5.0, 10.0, 1_000_000, 11_000_000).rate_mbps == pytest.approx(16.0)
    assert simpleperf.Span(0.0, 0.0, 0, 500).rate_mbps == float("inf")


def test_rows_look_as_in_the_assignment() -> None:
    assert simpleperf.columns("ID", "Interval", "Received", "Rate") == "ID               Interval     Received   Rate"
    row = simpleperf.row("10.0.0.2:33540", simpleperf.Span(0.0, 25.0, 0, 85_000_000), "MB")
    assert row == "10.0.0.2:33540   0.0 - 25.0   85 MB      27.20 Mbps"
    assert simpleperf.banner("A simpleperf server is listening on port 8088").splitlines() == [
        "---------------------------------------------",
        "A simpleperf server is listening on port 8088",
        "---------------------------------------------",
    ]


def test_a_long_name_keeps_the_columns_apart() -> None:
    row = simpleperf.row("192.168.100.200:65535", simpleperf.Span(12345.0, 12350.0, 0, 123_456_789_012), "B")
    assert [one.amount for one in rows(row)] == [123_456_789_012]


def test_the_meter_times_from_start_to_stop() -> None:
    clock = Clock()
    meter = simpleperf.Meter(clock)
    clock.now_s += 7
    meter.start()
    clock.now_s += 2
    meter.add(1000)
    assert meter.total() == simpleperf.Span(0.0, 2.0, 0, 1000)
    clock.now_s += 1
    meter.stop()
    clock.now_s += 100
    assert meter.total() == simpleperf.Span(0.0, 3.0, 0, 1000)


def test_laps_follow_each_other_and_end_where_the_total_ends() -> None:
    clock = Clock()
    meter = simpleperf.Meter(clock)
    laps = []
    for count in (700_000, 0, 1_900_000, 400_000):
        clock.now_s += 5
        meter.add(count)
        laps.append(meter.lap())
    clock.now_s += 3
    meter.add(499_999)
    meter.stop()
    clock.now_s += 50
    laps.append(meter.lap())

    assert [lap.end_s for lap in laps] == [5, 10, 15, 20, 23]
    assert all(one.end_s == next_one.start_s for one, next_one in pairwise(laps))
    assert [lap.end_bytes - lap.start_bytes for lap in laps] == [700_000, 0, 1_900_000, 400_000, 499_999]
    for unit in ("B", "KB", "MB"):
        assert sum(lap.amount(unit) for lap in laps) == meter.total().amount(unit)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 999, 1000, 1001])
def test_bye_is_found_however_the_stream_is_cut(size: int) -> None:
    stream = b"x" * 2500 + b"BYE"
    assert _received(*(stream[start : start + size] for start in range(0, len(stream), size))) == 2500


@pytest.mark.parametrize(
    "stream",
    [
        b"BYE",
        b"BBYE",
        b"BYBYE",
        b"xxBYExxBYE",
        b"BYEBYE",
        b"BYE" * 1000 + b"BYE",
        b"x" * 997 + b"BYE" + b"y" * 1000 + b"BYE",
    ],
)
def test_bye_inside_the_data_is_data(stream: bytes) -> None:
    assert _received(stream) == len(stream) - 3


def test_bye_with_something_behind_it_is_not_the_end() -> None:
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(0.1)
        assert simpleperf.is_quiet(here)
        there.sendall(b"x")
        assert not simpleperf.is_quiet(here)
        assert here.recv(10) == b"x"
        there.close()
        assert simpleperf.is_quiet(here)


def _received(*parts: bytes) -> int:
    """How many bytes the server counts when the parts come one by one."""
    here, there = socket.socketpair()
    meter = simpleperf.Meter()
    with here, there:

        def send() -> None:
            for part in parts:
                there.sendall(part)

        sender = threading.Thread(target=send)
        sender.start()
        simpleperf.receive(here, meter)
        sender.join()
        total: int = meter.total().end_bytes
    return total


def test_the_clock_stands_at_the_last_byte() -> None:
    clock = Clock()
    meter = simpleperf.Meter(clock)

    class Silent(socket.socket):
        """A connection that falls silent for a minute after its first bytes."""

        bytes_left = 1000

        def recv_into(self, *_: Any) -> int:
            size, self.bytes_left = self.bytes_left, 0
            clock.now_s += 4 if size else 60
            if not size:
                raise TimeoutError
            return size

    with Silent() as connection, pytest.raises(TimeoutError):
        simpleperf.receive(connection, meter)
    assert meter.total() == simpleperf.Span(0.0, 4.0, 0, 1000)


def test_a_closed_connection_is_told_from_bye() -> None:
    here, there = socket.socketpair()
    meter = simpleperf.Meter()
    with here:
        there.sendall(b"x" * 1000 + b"BY")
        there.close()
        with pytest.raises(ConnectionError, match="without BYE"):
            simpleperf.receive(here, meter)
    assert meter.total().end_bytes == 1002


def test_the_data_never_contains_bye() -> None:
    assert b"BYE" not in simpleperf.CHUNK * 2
    assert len(simpleperf.CHUNK) == 1000
    assert b"BYE" not in simpleperf.CHUNK + b"BYE"[:2]


def test_its_types_hold(tmp_path: Path) -> None:
    python = [sys.executable, "-m"]
    if subprocess.run([*python, "mypy", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("needs mypy: make install-tests")
    checked = subprocess.run(
        [*python, "mypy", "--strict", "--cache-dir", str(tmp_path), str(REFERENCE)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", ["server or client mode"]),
        ("-s -c", ["server or client mode"]),
        ("-c -p 80", ["--port", "1024", "65535", "80"]),
        ("-s -p 65536", ["--port", "1024", "65535"]),
        ("-s -p http", ["--port", "1024"]),
        ("-s -b 10.0.0", ["--bind", "IPv4"]),
        ("-s -b 10.0.0.256", ["--bind", "IPv4"]),
        ("-s -b h1", ["--bind", "IPv4"]),
        ("-c -I ::1", ["--serverip", "IPv4"]),
        ("-c -f GB", ["--format", "KB"]),
        ("-s -f mb", ["--format", "KB"]),
        ("-c -t 0", ["--time", "1"]),
        ("-c -t -5", ["--time", "-5"]),
        ("-c -t 2.5", ["--time", "whole"]),
        ("-c -i 0", ["--interval", "1"]),
        ("-c -i soon", ["--interval", "soon"]),
        ("-c -P 0", ["--parallel", "1", "5"]),
        ("-c -P 6", ["--parallel", "1", "5"]),
        ("-c -n 10", ["--num", "10MB"]),
        ("-c -n 0MB", ["--num", "10MB"]),
        ("-c -n lots", ["--num", "10MB"]),
        ("-c -t", ["--time", "argument"]),
        ("-c --speed 3", ["--speed"]),
        ("-c --par 3", ["--par"]),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(
    arguments: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        simpleperf.parse(arguments.split())
    said = capsys.readouterr().err
    assert (ended.value.code, said.count("\n"), said.startswith("Error: ")) == (2, 1, True)
    assert all(word in said for word in words)
