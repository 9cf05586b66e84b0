"""The row reader, on lines as honest programs print them."""

from __future__ import annotations

import math
import time
import unicodedata

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


@pytest.mark.parametrize(
    "order",
    [
        "\x1b[32m",
        "\x1b[>c",
        "\x1b[!p",
        "\x1b[?25l",
        "\x9b31m",
        "\x1b]0;a title\x07",
        "\x1b]8;;http://a.b\x1b\\",
        "\x9d0;a title\x9c",
        "\x1bP$q q\x1b\\",
        "\x1b_text\x1b\\",
        "\x1b(B",
        "\x1b#8",
        "\x1bc",
        "\x00\x08\x7f\x94",
        "\u202e\u2066\u200f\u061c",
    ],
)
def test_orders_to_the_terminal_are_removed(order: str) -> None:
    assert rows.clean(f"85{order} MB\n\tx") == "85 MB\n\tx"


def test_no_order_is_left_of_one_inside_another() -> None:
    text = "".join(map(chr, range(160))) + "\x1b\x1b[0m[2J\x1b]\x1b[31m0;x\x1b]0;never ended\n85 MB\x9b"
    left = rows.clean(text)
    assert {char for char in left if unicodedata.category(char) in ("Cc", "Cf")} <= {"\n", "\t"}
    assert left.endswith("85 MB")


def test_white_space_that_is_a_control_still_delimits() -> None:
    assert rows.clean("85 MB\x0b27 Mbps\r\nx\ry") == "85 MB 27 Mbps\nx\ny"


@pytest.mark.parametrize(
    "piece",
    ["\x1b]", "\x1b]0;", "\x1bP", "\x9d", "\x9b", "\x1b[", "\x1b[0", "\x1b[0;", "\x1b[0 ", "\x1b ", "\x1b", "\x9c"],
)
@pytest.mark.parametrize("length", [1, 512_000])
def test_half_a_megabyte_of_orders_takes_little_time(piece: str, length: int) -> None:
    """Both when the beginning of an order is repeated, and when it has half a megabyte behind it."""
    begin_s = time.process_time()
    rows.clean((piece * 512_000)[:512_000])
    rows.clean(piece + piece[-1] * length)
    assert time.process_time() - begin_s < 2


@pytest.mark.parametrize(
    ("rate", "mbps", "step_mbps"),
    [
        ("27.20 Mbps", 27.2, 0.01),
        ("3400 Kbps", 3.4, 0.001),
        ("0.003 Gbps", 3.0, 1.0),
        ("3400000 bps", 3.4, 1e-6),
        ("27.2 MBps", 27.2, 0.1),
    ],
)
def test_the_last_digit_of_a_rate_has_the_scale_of_the_rate(rate: str, mbps: float, step_mbps: float) -> None:
    (row,) = rows.read(lines(f"10.0.0.2:33540 0.0 - 25.0 85 MB {rate}")).rows
    assert rows.rate_mbps(row.rate) == pytest.approx(mbps)
    assert rows.rate_step_mbps(row.rate) == pytest.approx(step_mbps)


def test_the_last_digit_of_a_rate_without_a_unit_is_in_mbps() -> None:
    assert rows.rate_step_mbps(rows.figure("27.2")) == pytest.approx(0.1)


def test_the_end_of_an_interval_alone_is_a_duration() -> None:
    text = "10.0.0.2:33540  2.0 s  1 MB  4 Mbps\n10.0.0.2:33540  4.0 s  2 MB  8 Mbps"
    assert [(row.start_s, row.end_s) for row in rows.read(lines(text)).rows] == [(None, 2.0), (None, 4.0)]


@pytest.mark.parametrize(
    ("line", "amount_bytes", "mbps"),
    [
        ("10.0.0.2:33540  0.0 - 25.0  85 000 KB  27.20 Mbps", 85e6, 27.2),
        ("10.0.0.2:33540  0.0 - 25.0  85 123 KB  27.20 Mbps", 85.123e6, 27.2),
        ("10.0.0.2:33540 0.0 - 25.0 85 123 456 B 27 200 Kbps", 85123456, 27.2),
        ("| 10.0.0.2:33540 | 0.0-25.0 | 85 000 KB | 27.20 Mbps |", 85e6, 27.2),
        ("10.0.0.2:33540 sent 85 000 KB in 25.0 s at 27.20 Mbps", 85e6, 27.2),
        # other numbers before an amount of three digits
        ("10.0.0.2:33540 0 - 25 850 KB 27.20 Mbps", 850e3, 27.2),
        ("Client 1 850 KB 0.0 - 25.0 27.20 Mbps", 850e3, 27.2),
    ],
)
def test_a_plain_space_may_group_digits(line: str, amount_bytes: float, mbps: float) -> None:
    (row,) = rows.read(lines(line)).rows
    assert rows.amount_bytes(row) == pytest.approx(amount_bytes)
    assert rows.rate_mbps(row.rate) == pytest.approx(mbps)


@pytest.mark.parametrize(
    "line",
    [
        "10.0.0.2:33540 0 - 25 000 KB 27.20 Mbps",
        "Client 1 000 KB 0.0 - 25.0 27.20 Mbps",
        "10.0.0.2:33540 0.0 - 2.0 2 MB (8.1 Mbps, avg 7.5 Mbps)",
    ],
)
def test_what_has_two_readings_has_none(line: str) -> None:
    assert rows.read(lines(line)) == rows.Reading((), (line,))


def test_columns_of_short_numbers_are_no_groups() -> None:
    text = "ID Start End Transfer Bandwidth\n10.0.0.2:33540 0 25 850 KB 27.20 Mbps"
    (row,) = rows.read(lines(text)).rows
    assert (row.start_s, row.end_s, rows.amount_bytes(row)) == (0.0, 25.0, 850e3)


def test_of_two_rates_in_brackets_that_agree_the_first_is_read() -> None:
    """Once the rate was the one that did not stand directly behind the bracket."""
    (row,) = rows.read(lines("10.0.0.2:33540 0.0 - 2.0 2 MB (8 Mbps, avg 7.5 Mbps)")).rows
    assert row.rate.value == 8.0


@pytest.mark.parametrize("total", ["Total Client 1", "TotalClient 1", "[SUM] Client 1", "Client 1 total", "Client 1"])
def test_the_total_of_one_connection_has_its_name(total: str) -> None:
    text = f"""Client 1  0.0 - 2.0  2 MB  8 Mbps
Client 2  0.0 - 2.0  2 MB  8 Mbps
{total}  0.0 - 4.0  4 MB  8 Mbps
SUM  0.0 - 4.0  8 MB  16 Mbps"""
    found = rows.read(lines(text)).rows
    assert [(row.name, row.is_sum) for row in found] == [
        ("Client 1", False),
        ("Client 2", False),
        ("Client 1", False),
        ("SUM", True),
    ]


@pytest.mark.parametrize("label", ["", "ID: "])
@pytest.mark.parametrize("names", [["Client 1", "Client 2"], ["10.0.0.2:33540", "10.0.0.2:33542"]])
def test_a_list_set_upright_may_be_of_a_connection_or_of_all(label: str, names: list[str]) -> None:
    text = "\n\n".join(f"{label}{one}\n0.0 - 2.0\n2 MB\n8 Mbps" for one in (*names, "SUM"))
    assert [(row.name, row.is_sum) for row in rows.read(lines(text)).rows] == [
        (names[0], False),
        (names[1], False),
        ("SUM", True),
    ]


def test_a_list_set_upright_below_total_is_of_the_only_connection() -> None:
    text = "Total:\n0.0 - 2.0\n2 MB\n8 Mbps"
    assert [(row.name, row.is_sum) for row in rows.read(lines(text)).rows] == [("", False)]
