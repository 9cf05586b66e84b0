"""What the rows of a simpleperf say, in Mbit/s and bytes: of connections, and of all of them together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from linklab.measure import rows
from linklab.measure.results import Sample
from linklab.measure.rows import Figure, Row

_PREFIXES: Final = {"k": 1e3, "m": 1e6, "g": 1e9}
_ROUNDED_S: Final = 0.06
"""How far a row may seem to begin before the end of the one above: some print 2.02 as an end and 2.0 as a begin."""


def unit_bytes(unit: str, default: str = "B") -> float:
    """How many bytes a unit of amounts is: B, KB, MB, in any spelling; always decimal."""
    return _PREFIXES.get((unit or default)[:1].lower(), 1.0)


def rate_mbps(rate: Figure) -> float:
    """A printed rate in Mbit/s, whether its label says bits or bytes (MBps is often meant as Mbit/s)."""
    if not rate.unit:
        return rate.value
    return rate.value * _PREFIXES.get(rate.unit[:1].lower(), 1.0) / 1e6


def label_says_bytes(rate: Figure) -> bool:
    """Whether the label reads as bytes per second: a capital B, or the word."""
    return "byte" in rate.unit.lower() or "B" in rate.unit


def amount_bytes(row: Row, default_unit: str = "B") -> float:
    """The amount in bytes, by its label."""
    return row.amount.value * unit_bytes(row.amount.unit, default_unit)


def amount_step(row: Row, default_unit: str = "B") -> float:
    """The last digit of the amount, in bytes."""
    return max(1.0, row.amount.step * unit_bytes(row.amount.unit, default_unit))


def intervals(lines: Sequence[str]) -> dict[str, tuple[Sample, ...]]:
    """The rows of ``-i`` by connection, without the totals, from what a client has printed so far.

    Any layout that the checks understand will do. A row that begins before the one above it has ended is a total. Of a
    client without ``-i`` it is the totals, for they are all there is.
    """
    return by_connection(plain_rows(lines))


def by_connection(found_rows: Sequence[Row]) -> dict[str, tuple[Sample, ...]]:
    """As `intervals`, of rows."""
    found: dict[str, tuple[Sample, ...]] = {}
    for row in found_rows:
        before = found.get(row.name, ())
        slack_s = max(row.time_step_s, _ROUNDED_S)
        if not before or (row.start_s is not None and row.start_s >= before[-1].end_s - slack_s):
            found[row.name] = (*before, sample(row))
    return found


def told_apart(found_rows: Sequence[Row], connections: int) -> list[Row]:
    """The rows, with names of their own where all connections have one name, as that of the server's address.

    Each connection has a row in each round then, over about the same time. Left as they are where that is not so.
    """
    names = {row.name for row in found_rows}
    rounds = [found_rows[start : start + connections] for start in range(0, len(found_rows), connections)]
    if connections == 1 or len(names) != 1 or not all(_is_round(one, connections) for one in rounds):
        return list(found_rows)
    return [replace(row, name=f"{row.name} #{number % connections + 1}") for number, row in enumerate(found_rows)]


def _is_round(found_rows: Sequence[Row], connections: int) -> bool:
    starts_s = [row.start_s or 0.0 for row in found_rows]
    together = max(starts_s) - min(starts_s) < min(row.duration_s for row in found_rows) / 2
    return len(found_rows) == connections and together


def totals(found_rows: Sequence[Row]) -> dict[str, Row]:
    """The last row of each connection: its total, once the program has come to its end."""
    return {row.name: row for row in found_rows}


def total_mbps(lines: Sequence[str]) -> float | None:
    """What all connections carried together by their last rows, in Mbit/s; None if no row was printed."""
    last = totals(plain_rows(lines))
    return sum(rate_mbps(row.rate) for row in last.values()) if last else None


def plain_rows(lines: Sequence[str]) -> list[Row]:
    """The rows of single connections, in order."""
    return [row for row in rows.read((0.0, line) for line in lines).rows if not row.is_sum]


def sample(row: Row) -> Sample:
    """A row as an interval."""
    return Sample(row.start_s or 0.0, row.end_s, rate_mbps(row.rate))
