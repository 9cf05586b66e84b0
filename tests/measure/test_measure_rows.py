"""The row reader, on lines as honest programs print them."""

from __future__ import annotations

import math

import pytest

from linklab.measure import simpleperf_rows as rows

ROW = ("10.0.0.2:33540", 0.0, 25.0, 85e6, 27.2)


@pytest.mark.parametrize(
    "line",
    [
        "10.0.0.2:33540   0.0 - 25.0   85 MB      27.20 Mbps",
        "10.0.0.2:33540\t0.0-25.0\t85 MB\t27.20 Mbps",
        "10.0.0.2:33540 [0.0 - 25.0] 85.00MB 27.20 MBps",
        "('10.0.0.2', 33540)  0.00s - 25.00s  85.00 MB  27.20 Mbit/s",
        "| 10.0.0.2:33540 | 0.0-25.0 | 85 MB | 27.20 Mbps |",
        "\u2502 10.0.0.2:33540 \u2502 0.0-25.0 \u2502 85 MB \u2502 27.20 Mbps \u2502",
        "\x1b[32m10.0.0.2:33540\x1b[0m 0 -> 25 85,000,000 B 27.20 Mb/s",
        "Client 10.0.0.2 port 33540: 0.0 to 25.0 sec, 85000 KBytes, 27.2 Mbits/sec",
        "2024-01-02 10:00:00,123 INFO 10.0.0.2:33540 0.0\u201325.0 85e6 bytes 2.72e+01 Mbps",
        "10.0.0.2:33540 (0.0, 25.0) 85 MB 27.20 megabits per second",
        "ID=10.0.0.2:33540; Interval=0.0..25.0; Transfer=85 MB; Bandwidth=27.20 Mbps",
        "10.0.0.2:33540  0.0 - 25.0  85 MB  27200 Kbps",
    ],
)
def test_a_row_is_read_whatever_it_looks_like(line: str) -> None:
    found = rows.read([(1.5, line)])
    assert not found.unread
    (row,) = found.rows
    assert (row.name, row.start_s, row.end_s) == ROW[:3]
    assert rows.amount_bytes(row) == pytest.approx(ROW[3])
    assert rows.rate_mbps(row.rate) == pytest.approx(ROW[4])
    assert row.at_s == 1.5


def lines(text: str) -> list[tuple[float, str]]:
    return [(0.0, line) for line in text.split("\n")]


def test_units_may_stand_in_the_heading() -> None:
    text = "ID  Interval  Transfer (MB)  Bandwidth (Mbps)\n10.0.0.2:33540  0.0 - 25.0  85  27.20"
    (row,) = rows.read(lines(text)).rows
    assert (row.amount.unit, row.rate.unit) == ("MB", "Mbps")
    assert (row.amount.value, row.rate.value) == (85.0, 27.2)


def test_a_row_may_be_a_list_of_values() -> None:
    text = "ID: 10.0.0.2:33540\nInterval: 0.0 - 25.0\nReceived: 85 MB\nRate: 27.20 Mbps"
    (row,) = rows.read(lines(text)).rows
    assert (row.end_s, row.amount.value, row.rate.value) == (25.0, 85.0, 27.2)


def test_a_duration_instead_of_an_interval_will_do() -> None:
    (row,) = rows.read(lines("Received 85 MB in 25.03 seconds at 27.20 Mbps")).rows
    assert (row.start_s, row.end_s, row.duration_s) == (None, 25.03, 25.03)


def test_what_is_no_row_is_left_alone() -> None:
    text = (
        "---------------------------------------------\nA simpleperf server is listening on port 8088\n"
        "A simpleperf client with 10.0.0.2:33540 is connected with 10.0.5.2:8088\n"
        "ID               Interval     Received   Rate\n+------+------+\nsending for 25 s"
    )
    assert rows.read(lines(text)) == rows.Reading((), ())


def test_a_row_without_an_amount_is_named() -> None:
    found = rows.read(lines("10.0.0.2:33540 0.0 - 25.0 27.20 Mbps"))
    assert not found.rows
    assert found.unread == ("10.0.0.2:33540 0.0 - 25.0 27.20 Mbps",)


def test_negative_and_infinite_rates_are_numbers() -> None:
    first, second = rows.read(lines("x 0.0 - 2.0 5 MB -3.20 Mbps\nx 0.0 - 0.0 5 MB inf Mbps")).rows
    assert first.rate.value == -3.2
    assert math.isinf(second.rate.value)


def test_only_the_last_state_of_a_growing_table_counts() -> None:
    heading, one, two = (
        "| ID | Interval | Transfer | Rate |",
        "| a | 0-2 | 2 MB | 8 Mbps |",
        "| a | 2-4 | 2 MB | 8 Mbps |",
    )
    assert len(rows.read(lines("\n".join([heading, one, heading, one, two]))).rows) == 2


def test_rows_that_are_alike_stay_several() -> None:
    row = "10.0.0.2:33540\t0.0-2.0\t2 MB\t8.00 Mbps"
    assert len(rows.read(lines("\n".join(["ID\tInterval\tTransfer\tBandwidth", row, row, row]))).rows) == 3


def test_a_sum_over_connections_is_marked() -> None:
    (row,) = rows.read(lines("[SUM] 0.0-5.0 5 MB 8 Mbps")).rows
    assert row.is_sum


@pytest.mark.parametrize(
    ("text", "value", "step"), [("85", 85, 1), ("85.25", 85.25, 0.01), ("1,000", 1000, 1), ("8.5e+07", 8.5e7, 1e6)]
)
def test_a_figure_knows_its_last_digit(text: str, value: float, step: float) -> None:
    found = rows.figure(text)
    assert found.value == pytest.approx(value)
    assert found.step == pytest.approx(step)
