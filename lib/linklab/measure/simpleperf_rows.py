"""Read the rows that a simpleperf prints below its heading. Pure.

Lab 02's starter prints the table, and students keep its heading: below it stands a row for each connection and
interval, which its first column names::

    ID               Interval     Transfer   Bandwidth
    10.0.0.2:33540   0.0 - 25.0   85 MB      27.20 Mbps

The server's heading says ``Received`` and ``Rate``. Spacing, bars and decimals are free. A row without the heading is
not read; `Reading.complaint` says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from linklab.measure.results import Sample

_LONGEST_LINE: Final = 400
"""Characters. Longer lines are no rows."""
_LARGEST: Final = 1e15
"""No bytes, bits a second or seconds of a measurement are more."""
_ROUNDED_S: Final = 0.06
"""A row may seem to begin so long before the end of the one above: some print 2.02 as an end and 2.0 as a begin."""


@dataclass(frozen=True)
class Quantity:
    """A number as printed: its value, the step of its last digit, and its unit, as written."""

    value: float
    step: float
    unit: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table: seconds since the transfer began, an amount and a rate.

    ``name`` is the connection's. ``time_step_s`` is the last digit of the times. ``is_sum`` marks a row over several
    connections. ``at_s`` is when the row was printed.
    """

    line: str
    name: str
    start_s: float
    end_s: float
    time_step_s: float
    amount: Quantity
    rate: Quantity
    is_sum: bool = False
    at_s: float = 0.0

    @property
    def is_possible(self) -> bool:
        """Whether its numbers can be those of a measurement: finite, and none below 0."""
        numbers = (self.start_s, self.end_s, amount_bytes(self), 1e6 * rate_mbps(self.rate))
        return all(0 <= number <= _LARGEST for number in numbers)

    @property
    def duration_s(self) -> float:
        """How long it lasted."""
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Reading:
    """The rows of a text, in order, and why a line that looks like a row is none; "" if there is no such line."""

    rows: tuple[Row, ...]
    complaint: str = ""


_ESCAPES: Final = re.compile(
    r"""(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]) [^\n\r\x07\x1b\x80-\x9f]*+ (?:\x07|\x1b\\|\x9c)  # a string, as a title
    |(?:\x1b\[|\x9b) [0-?]*+[\ -/]*+[@-~]  # a control sequence, as a colour
    |\x1b[\ -/]*+[0-~]  # another escape""",
    re.X,
)
"""What terminals take as orders, by ECMA-48."""
_CONTROLS: Final = dict.fromkeys(
    [*range(9), *range(11, 32), *range(127, 160), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
) | dict.fromkeys([*range(11, 13), *range(28, 32), 0x85], " ")
"""Controls, and marks that turn the direction of writing; those that are white space become a space."""


def clean(text: str) -> str:
    """Return text that may be shown on a terminal: without colours, cursor movements and all other controls.

    A carriage return begins a new line.
    """
    return _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)


# --- Rows

_HEADING: Final = re.compile(r"^\W*ID\W+Interval\W+(?:Transfer|Received)\W+(?:Bandwidth|Rate)\W*$", re.I)
_NUMBER: Final = r"[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d{1,5})?|inf|nan)"
_SECONDS: Final = r"\ ?(?:s|secs?|seconds?)?"
_INTERVAL: Final = re.compile(
    rf"(?P<start>{_NUMBER}){_SECONDS}\ *(?:-+>?|\u2013|to)\ *(?P<end>{_NUMBER}){_SECONDS}(?![\w.])", re.I | re.X
)
_BETWEEN: Final = r"[^\w.+-]+"
"""What stands between two columns: spaces, tabs, bars, brackets."""
_AMOUNT: Final = rf"(?P<amount>{_NUMBER})\ *(?P<amount_unit>[KMGT]?i?(?:bytes?|bits?|B))"
_RATE: Final = rf"(?P<rate>{_NUMBER})\ *(?P<rate_unit>[KMGT]?i?(?:bytes?|bits?|b)\ ?(?:ps|/\ ?s(?:ec)?))"
_ROW: Final = re.compile(
    rf"^\W*(?P<name>\w.*?) {_BETWEEN} {_INTERVAL.pattern} {_BETWEEN} {_AMOUNT} {_BETWEEN} {_RATE} \W*$", re.I | re.X
)
_COLUMNS: Final = {
    "a begin and an end, such as 0.0 - 2.0": _INTERVAL,
    "an amount with its unit, such as 2 MB": re.compile(rf"{_AMOUNT}(?![\w/])", re.I),
    "a rate with its unit, such as 8.00 Mbps": re.compile(rf"{_RATE}(?!\w)", re.I),
}
"""What each row has beside its name."""
_SHOWN: Final = 120
_SUM: Final = re.compile(r"(?:sum|total|overall)(?![^\W\d_])|(?<![^\W_])all(?![^\W_])", re.I)
_EDGES: Final = " \t'\"[](){}|,:;=-\u2013\u2014"
_PREFIXES: Final = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


def read(lines: Iterable[tuple[float, str]]) -> Reading:
    """Return the rows on lines, which are given with the time at which each was printed."""
    has_heading, rows, complaint = False, list[Row](), ""
    for at_s, raw in lines:
        for line in clean(raw).split("\n"):
            if len(line) > _LONGEST_LINE:
                continue
            has_heading = has_heading or bool(_HEADING.match(line))
            hit = _ROW.match(line)
            if hit and has_heading:
                rows.append(_row(hit, at_s))
            elif not complaint:
                complaint = _complaint(line, has_heading)
    return Reading(tuple(_with_own_totals(rows)), complaint)


def _row(hit: re.Match[str], at_s: float) -> Row:
    start, end = quantity(hit["start"]), quantity(hit["end"])
    amount, rate = quantity(hit["amount"], hit["amount_unit"]), quantity(hit["rate"], hit["rate_unit"])
    name = hit["name"].strip(_EDGES)
    return Row(hit[0].strip(), name, start.value, end.value, end.step, amount, rate, False, at_s)


def quantity(text: str, unit: str = "") -> Quantity:
    """Return a printed number. Raises ValueError."""
    digits, _, exponent = text.lower().partition("e")
    value = float(f"{digits}e{exponent}" if exponent else digits)
    has_step = math.isfinite(value) and abs(int(exponent or 0)) < 300
    step = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])) if has_step else 0.0
    return Quantity(value, step, unit)


def _complaint(line: str, has_heading: bool) -> str:
    """Return why a line that looks like a row is none; "" for any other line."""
    shown = line.strip()[:_SHOWN]
    missing = [what for what, column in _COLUMNS.items() if not column.search(line)]
    if not has_heading:
        return "" if missing else f"no heading such as the starter's stands above this row: {shown}"
    if not (_INTERVAL.search(line) or len(missing) == 1):
        return ""
    return f"this row lacks {' and '.join(missing) or 'a name, or the order of the heading'}: {shown}"


def _with_own_totals(rows: Sequence[Row]) -> list[Row]:
    """Return rows in which "Total Client 1" is a row of "Client 1". Others that are called so are sums over several
    connections, or the total of the only one.
    """
    names = {row.name for row in rows if not _SUM.search(row.name)}
    only = next(iter(names)) if len(names) == 1 else None
    found = []
    for row in rows:
        own = _SUM.sub("", row.name).strip(_EDGES)
        if own != row.name and own in names:
            row = replace(row, name=own)
        elif own != row.name:
            row = replace(row, is_sum=True) if only is None else replace(row, name=only)
        found.append(row)
    return found


# --- Units


def unit_bytes(unit: str) -> float:
    """Return how many bytes a unit of amounts is: B, KB, MB, in any spelling, or bits; always decimal."""
    bits = 8.0 if "bit" in unit.lower() else 1.0
    return _PREFIXES.get(unit[:1].lower(), 1.0) / bits


def rate_mbps(rate: Quantity) -> float:
    """Return a printed rate in Mbit/s, whether its label says bits or bytes (MBps is often meant as Mbit/s)."""
    return rate.value * _PREFIXES.get(rate.unit[:1].lower(), 1.0) / 1e6


def rate_step_mbps(rate: Quantity) -> float:
    """Return the last digit of a printed rate, in Mbit/s as `rate_mbps` has it."""
    return rate_mbps(replace(rate, value=rate.step))


def label_says_bytes(rate: Quantity) -> bool:
    """Return whether the label reads as bytes per second: a capital B, or the word."""
    return "byte" in rate.unit.lower() or "B" in rate.unit


def amount_bytes(row: Row) -> float:
    """Return the amount in bytes, by its label."""
    return row.amount.value * unit_bytes(row.amount.unit)


def amount_step(row: Row) -> float:
    """Return the last digit of the amount, in bytes; 1 at least."""
    return max(1.0, row.amount.step * unit_bytes(row.amount.unit))


# --- Connections


def intervals(lines: Sequence[str]) -> dict[str, tuple[Sample, ...]]:
    """Return the rows of ``-i`` by connection, without the totals, from what a client has printed so far.

    A row that begins before the one above it has ended is a total. A client without ``-i`` gives its totals, for
    they are all there is.
    """
    return by_connection(plain_rows(lines))


def by_connection(found_rows: Sequence[Row]) -> dict[str, tuple[Sample, ...]]:
    """Return the same as `intervals`, of rows."""
    found: dict[str, tuple[Sample, ...]] = {}
    for row in found_rows:
        before = found.get(row.name, ())
        if not before or row.start_s >= before[-1].end_s - max(row.time_step_s, _ROUNDED_S):
            found[row.name] = (*before, sample(row))
    return found


def totals(found_rows: Sequence[Row]) -> dict[str, Row]:
    """Return the last row of each connection: its total, once the program has come to its end."""
    return {row.name: row for row in found_rows}


def total_mbps(lines: Sequence[str]) -> float | None:
    """Return what all connections carried together by their last rows, in Mbit/s; None if no row was printed."""
    last = totals(plain_rows(lines))
    return math.fsum(rate_mbps(row.rate) for row in last.values()) if last else None


def plain_rows(lines: Sequence[str]) -> list[Row]:
    """Return the rows of single connections, in order, without those whose numbers are none."""
    return [row for row in read((0.0, line) for line in lines).rows if not row.is_sum and row.is_possible]


def sample(row: Row) -> Sample:
    """Return a row as an interval."""
    return Sample(row.start_s, row.end_s, rate_mbps(row.rate))
