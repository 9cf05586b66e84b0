"""Reads the rows that a simpleperf prints, whatever its tables look like. Pure.

A number is known by what it means, not by where it stands: an interval is two numbers with a dash or the like between
them, an amount stands before a unit of bytes, a rate before one of bits or bytes per second. Where a table says the
units in its heading, the columns are counted.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from linklab.measure.results import Sample

_LONGEST_LINE: Final = 500
"""Longer ones are no rows: patterns take a time on them that grows with the square of their length."""
_LARGEST: Final = 1e15
"""No bytes, bits a second or seconds of a measurement are more."""
_LONGEST_RAW: Final = 4 * _LONGEST_LINE
"""With colours and cursor movements."""
_NUMBER = r"(?<!\d)[-+]?(?:\d{1,3}(?:[,_]\d{3})+(?!\d)|\d+)?(?:\.\d+|(?<=\d)\.?)(?:[eE][-+]?\d+)?|[-+]?(?:inf|nan)\b"
_PLAIN = r"\d+(?:\.\d+)?"
_SECONDS = r"(?:seconds?|secs?|s)?"
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]")
_BARS: Final = re.compile("[|\u2500-\u257f]+")
_STAMP: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]?(?:\d\d:\d\d:\d\d(?:[.,]\d+)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b")
_ADDRESS: Final = re.compile(
    r"(\d{1,3}(?:\.\d{1,3}){3})(?!\.?\d)(?:(?:'\s*,\s*|\s*:\s*|\s*,?\s*port:?\s*)(\d{1,5})\b)?", re.I
)
_RATE: Final = re.compile(
    rf"({_NUMBER})\s*[\[(]?\s*((?:[kmg]i?|mega|kilo|giga)?(?:bits?|bytes?|b)(?:ps|p/s|/\s*s(?:ec(?:onds?)?)?|\s+per\s+sec(?:ond)?)"
    r"|(?:[kmg]bit))(?![a-z])",
    re.I,
)
_AMOUNT: Final = re.compile(rf"({_NUMBER})\s*[\[(]?\s*((?:[kmg]i?|mega|kilo|giga)?(?:bytes?|b))(?![a-z/])", re.I)
_INTERVAL: Final = re.compile(
    rf"(?<![\d.])({_PLAIN})\s*{_SECONDS}\s*(?:-+>?|=>|\u2013|\u2014|\u2212|\u2192|\u2010|\.\.+|~|\bto\b)\s*({_PLAIN})\s*{_SECONDS}(?![\d.]*\d)",
    re.I,
)
_PAIR: Final = re.compile(rf"[\[(]\s*({_PLAIN})\s*{_SECONDS}\s*[,;:]\s*({_PLAIN})\s*{_SECONDS}\s*[\])]", re.I)
_DURATION: Final = re.compile(rf"(?<![\d.])({_PLAIN})\s*(?:seconds?|secs?|s)\b", re.I)
_CELLS: Final = re.compile(r"\s*\|\s*|\t+\s*|\s{2,}|\s*;\s*|,\s+")
_COLUMNS: Final = {
    "interval": re.compile(r"interval|duration|^time|elapsed", re.I),
    "amount": re.compile(r"transfer|receiv|sent|amount|data|bytes|size|total|volume", re.I),
    "rate": re.compile(r"band\s*width|rate|throughput|speed|bps|bit", re.I),
    "name": re.compile(r"^id$|client|connection|address|host|peer|^from|^to", re.I),
}
_UNIT_IN_HEADING: Final = re.compile(r"[\[(]\s*([a-zA-Z/]+)\s*[\])]|\b((?:[kmg]?b(?:it)?(?:ps|/s))|[KMG]?B)\b", re.I)
_SUM: Final = re.compile(r"\b(?:sum|total|all|aggregate)\b", re.I)


@dataclass(frozen=True)
class Figure:
    """A number as printed: its value, the step of its last digit, and the unit beside it, as written ("" if none)."""

    value: float
    step: float
    unit: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table: seconds since the transfer began, an amount and a rate.

    ``name`` is the connection's: its address where it has one, else the text before the numbers. ``start_s`` is None
    where only a duration is printed. ``at_s`` is when the row was printed. ``is_sum`` marks a row over all connections.
    """

    line: str
    name: str
    start_s: float | None
    end_s: float
    time_step_s: float
    amount: Figure
    rate: Figure
    is_sum: bool = False
    at_s: float = 0.0

    @property
    def is_possible(self) -> bool:
        """Whether its numbers can be those of a measurement: finite, and none below 0."""
        numbers = (self.start_s or 0.0, self.end_s, amount_bytes(self), 1e6 * rate_mbps(self.rate))
        return all(0 <= number <= _LARGEST for number in numbers)

    @property
    def duration_s(self) -> float:
        """How long it lasted."""
        return self.end_s - (self.start_s or 0.0)


@dataclass(frozen=True)
class Reading:
    """What was found: rows in order, and lines that looked like rows but were not understood."""

    rows: tuple[Row, ...]
    unread: tuple[str, ...]


@dataclass(frozen=True)
class _Parts:
    line: str
    name: str = ""
    interval: tuple[float | None, float, float] | None = None
    amount: Figure | None = None
    rate: Figure | None = None

    @property
    def count(self) -> int:
        return sum(part is not None for part in (self.interval, self.amount, self.rate))


def clean(text: str) -> str:
    """Text without colours and cursor movements; a carriage return begins a new line."""
    return _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


def read(lines: Iterable[tuple[float, str]]) -> Reading:
    """Reads lines, given with the time at which each was printed."""
    parts: list[tuple[float, _Parts]] = []
    heading: list[str] = []
    headings, number_of = 0, {}
    for at_s, raw in lines:
        line = _STAMP.sub(" ", clean(raw[:_LONGEST_RAW])).strip()
        cells = _cells(line)
        if _is_heading(cells):
            heading = cells if len(cells) > 1 else heading
            headings += 1
        elif line and len(line) <= _LONGEST_LINE:
            found = _by_meaning(line)
            if found.count < 3 and heading:
                found = _by_heading(found, cells, heading)
            parts.append((at_s, found))
            number_of[id(found)] = headings
    rows = []
    tables: dict[int, int] = {}
    for at_s, found in parts:
        if found.count == 3:
            rows.append(_row(found, at_s))
            tables[id(rows[-1])] = number_of[id(found)]
    rows = _last_of_growing(rows, tables) if rows else _upright(parts)
    unread = [found.line for _, found in parts if 0 < found.count < 3 and _looks_like_a_row(found)]
    return Reading(tuple(rows), tuple(unread))


def figure(text: str, unit: str = "") -> Figure:
    """A printed number. Raises ValueError."""
    plain = text.replace(",", "").replace("_", "")
    value = float(plain)
    mantissa, _, exponent = plain.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    # 0e999 is 0, and its last digit beyond all numbers
    has_step = math.isfinite(value) and len(exponent) <= 3
    return Figure(value, 10.0 ** (min(int(exponent or 0), 300) - decimals) if has_step else 0.0, unit.strip())


def _cells(line: str) -> list[str]:
    return [cell for cell in _CELLS.split(_BARS.sub("|", line).strip("| \t")) if cell]


def _is_heading(cells: list[str]) -> bool:
    words = " ".join(cells)
    kinds = sum(bool(pattern.search(words)) for name, pattern in _COLUMNS.items() if name != "name")
    return kinds >= 2 and not re.search(r"\d", words)


def _by_meaning(line: str) -> _Parts:
    rest = _BARS.sub("  ", line)
    address = _ADDRESS.search(rest)
    rest = _ADDRESS.sub(" ", rest)
    rate, amount = _RATE.search(rest), None
    if rate:
        rest = rest[: rate.start()] + "  " + rest[rate.end() :]
    amount = _AMOUNT.search(rest)
    if amount:
        rest = rest[: amount.start()] + "  " + rest[amount.end() :]
    span = _PAIR.search(rest) or _INTERVAL.search(rest)
    duration = None if span else _DURATION.search(rest)
    first = min((hit.start() for hit in (span, duration) if hit), default=0)
    name = ":".join(filter(None, address.groups())) if address else rest[:first].strip(" \t'\"[]()|,:;-")
    interval: tuple[float | None, float, float] | None = None
    if span:
        interval = (float(span[1]), float(span[2]), figure(span[2]).step)
    elif duration:
        interval = (None, float(duration[1]), figure(duration[1]).step)
    return _Parts(
        line,
        name,
        interval,
        figure(amount[1], amount[2]) if amount else None,
        figure(rate[1], rate[2]) if rate else None,
    )


def _by_heading(found: _Parts, cells: list[str], heading: list[str]) -> _Parts:
    """What the units in the heading tell, where a row has as many cells as the heading."""
    if len(cells) != len(heading):
        return found
    for cell, title in zip(cells, heading, strict=True):
        unit = _UNIT_IN_HEADING.search(title)
        label = next(filter(None, unit.groups()), "") if unit else ""
        number = re.fullmatch(rf"\s*({_NUMBER})\s*\D*", cell)
        if _COLUMNS["interval"].search(title) and found.interval is None and number:
            found = replace(found, interval=(None, figure(number[1]).value, figure(number[1]).step))
        elif _COLUMNS["rate"].search(title) and found.rate is None and number:
            found = replace(found, rate=figure(number[1], label))
        elif _COLUMNS["amount"].search(title) and found.amount is None and number:
            found = replace(found, amount=figure(number[1], label))
    return found


def _looks_like_a_row(found: _Parts) -> bool:
    return found.rate is not None or (found.interval is not None and found.amount is not None)


def _row(found: _Parts, at_s: float) -> Row:
    assert found.interval is not None
    assert found.amount is not None
    assert found.rate is not None
    start_s, end_s, step_s = found.interval
    is_sum = bool(_SUM.search(found.name)) and not _ADDRESS.search(found.name)
    return Row(found.line, found.name, start_s, end_s, step_s, found.amount, found.rate, is_sum, at_s)


def _upright(parts: list[tuple[float, _Parts]]) -> list[Row]:
    """Rows printed as a list of values, each on a line of its own."""
    rows, open_row = [], _Parts("")
    for at_s, found in parts:
        if found.count != 1:
            continue
        merged = replace(
            open_row,
            line=f"{open_row.line} {found.line}".strip(),
            interval=open_row.interval or found.interval,
            amount=open_row.amount or found.amount,
            rate=open_row.rate or found.rate,
        )
        open_row = merged
        if merged.count == 3:
            rows.append(_row(merged, at_s))
            open_row = _Parts("")
    return rows


def _last_of_growing(rows: list[Row], tables: dict[int, int]) -> list[Row]:
    """Without the earlier states of a table that is printed anew, heading and all, one row longer each time.

    ``tables`` gives the number of the table of each row, by the row's identity.
    """
    by_table: dict[int, list[str]] = {}
    for row in rows:
        by_table.setdefault(tables[id(row)], []).append(row.line)
    states = list(by_table.values())
    grows = len(states) > 1 and all(
        later[: len(earlier)] == earlier and len(later) > len(earlier) for earlier, later in itertools.pairwise(states)
    )
    last = max(by_table, default=0)
    return [row for row in rows if tables[id(row)] == last] if grows else rows


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
    """The rows of single connections, in order, without those whose numbers are none."""
    return [row for row in read((0.0, line) for line in lines).rows if not row.is_sum and row.is_possible]


def sample(row: Row) -> Sample:
    """A row as an interval."""
    return Sample(row.start_s or 0.0, row.end_s, rate_mbps(row.rate))
