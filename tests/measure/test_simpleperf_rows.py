"""Rows are read by the heading above them; what has none is told so."""

from __future__ import annotations

import math

import pytest

from linklab.measure.simpleperf_rows import (
    Quantity,
    Reading,
    amount_bytes,
    clean,
    intervals,
    label_says_bytes,
    plain_rows,
    quantity,
    rate_mbps,
    read,
    total_mbps,
)

ID, HEADING = "10.0.0.2:33540", "ID               Interval     Transfer   Bandwidth"
ROW = f"{ID}   0.0 - 25.0   85 MB      27.20 Mbps"


def reading(text: str) -> Reading:
    return read((1.5, line) for line in text.split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADING}\n{ROW}",
        f"ID\tInterval\tReceived\tRate\n{ID}\t0.0-25.0\t85 MB\t27.20 Mbps",
        f"| ID | Interval | Transfer | Bandwidth |\n| {ID} | [0.0 - 25.0] | 85.00MB | 27.20 Mbit/s |",
        f"\u2502 ID \u2502 Interval \u2502 Transfer \u2502 Rate \u2502\n"
        f"\u2502 {ID} \u2502 0.0-25.0 \u2502 85 MB \u2502 27.20 Mbps \u2502",
        f"id  interval  transfer  bandwidth\n\x1b[32m{ID}\x1b[0m  0s -> 25.00 s  85000000 B  27200 Kbps",
    ],
)
def test_spacing_bars_and_decimals_are_free(text: str) -> None:
    found = reading(text)
    (row,) = found.rows
    assert found.complaint == ""
    assert (row.name, row.start_s, row.end_s, row.at_s) == (ID, 0.0, 25.0, 1.5)
    assert amount_bytes(row) == pytest.approx(85e6)
    assert rate_mbps(row.rate) == pytest.approx(27.2)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (ROW, "no heading such as the starter's stands above this row"),
        (f"Bandwidth  Transfer  Interval  ID\n{ROW}", "no heading such as the starter's stands above this row"),
        (f"ID  Interval  Rate  Received\n{ID}  0.0 - 25.0  27.20 Mbps  85 MB", "no heading such as the starter's"),
        (f"{HEADING}\n{ID}  0.0 - 25.0  85  27.20", "2 MB and a rate with its unit"),
        (f"{HEADING}\n{ID}  25 s  85 MB  27.20 Mbps", "lacks a begin and an end"),
        (f"{HEADING}\n{ID}  0.0 - 25.0  27.20 Mbps", "lacks an amount"),
        (f"{HEADING}\n  0.0 - 25.0   85 MB  27.20 Mbps", "lacks a name"),
    ],
)
def test_a_row_that_no_heading_explains_is_told_and_not_guessed(text: str, complaint: str) -> None:
    found = reading(text)
    assert found.rows == ()
    assert complaint in found.complaint
    assert "\n" not in found.complaint


def test_what_is_no_row_is_left_alone() -> None:
    text = (
        "---------------\nA simpleperf server is listening on port 8088\n"
        f"A simpleperf client with {ID} is connected with 10.0.5.2:8088\n{HEADING}\n+------+------+\nsending for 25 s"
    )
    assert reading(text) == Reading(())


@pytest.mark.parametrize(
    ("names", "is_sum"),
    [
        (["1:1", "1:2", "SUM"], [False, False, True]),
        (["1:1", "1:2", "Total 1:1", "Total1:2"], [False] * 4),
        (["1:1", "Total"], [False, False]),
    ],
)
def test_a_sum_over_connections_is_told_from_a_connections_total(names: list[str], is_sum: list[bool]) -> None:
    rows = reading("\n".join([HEADING, *(f"{name}  0.0 - 2.0  2 MB  8.00 Mbps" for name in names)])).rows
    assert [row.is_sum for row in rows] == is_sum
    assert {row.name for row in rows if not row.is_sum} == {name for name in names if name.startswith("1")}


def test_printed_numbers() -> None:
    assert quantity("1500.50") == Quantity(1500.5, 0.01)
    assert quantity("2.5e3", "KB") == Quantity(2500.0, 100.0, "KB")
    assert math.isinf(quantity("inf").value)
    assert label_says_bytes(Quantity(1, 1, "MBps"))
    assert not label_says_bytes(Quantity(1, 1, "Mbps"))


@pytest.mark.parametrize("amount", ["inf MB", "nan MB", "1e308 MB", "-90 MB"])
@pytest.mark.parametrize("rate", ["nan Mbps", "inf Mbps", "-5 Mbps", "1e308 Mbps", "0e" + "9" * 5000 + " Mbps"])
def test_a_number_that_is_none_is_in_no_plain_row(amount: str, rate: str) -> None:
    lines = [HEADING, f"x  0.0 - 2.0  {amount}  8 Mbps", f"x  0.0 - 2.0  5 MB  {rate}", "x  0.0 - 2.0  5 MB  20 Mbps"]
    assert [row.rate.value for row in plain_rows(lines)] == [20.0]


def test_intervals_by_connection_without_totals() -> None:
    rows = ["a  0.0 - 1.0  1 MB  8 Mbps", "b  0.0 - 1.0  1 MB  8 Mbps", "a  1.0 - 2.02  1 MB  8 Mbps"]
    totals = ["a  0.0 - 2.0  2 MB  8 Mbps", "b  0.0 - 1.0  1 MB  9 Mbps"]
    found = intervals([HEADING, *rows, *totals])
    assert {name: [sample.end_s for sample in samples] for name, samples in found.items()} == {
        "a": [1.0, 2.02],
        "b": [1.0],
    }
    assert total_mbps([HEADING, *rows, *totals]) == 17.0
    assert total_mbps([]) is None


@pytest.mark.timeout(20)
@pytest.mark.parametrize("line", ["1" * 100_000, "1,111" * 20_000, "1 - " + " " * 390 + "x", "a " * 190 + "0 - 1 " * 3])
def test_a_line_without_end_is_no_row(line: str) -> None:
    assert len(plain_rows([HEADING, line, ROW])) == 1


def test_what_a_terminal_takes_as_orders_is_dropped() -> None:
    assert clean("\x1b]0;title\x07\x1b[1;32mgreen\x1b[0m\x00\r\nnext\rover\u202e") == "green\nnext\nover"
