"""Read what tools printed in a lab, as students hand it in: iperf3, ping, tc and ss.

Each reader gives rows whose fields have names and units, and no row where the text is not the tool's. A student may
hand in any text, so every pattern is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from linklab.grade.check import Hints, Refuse, a_kind
from linklab.grade.questions import is_missing

Row = TypeVar("Row")


def require_printed(
    what: str, printed: object, tool: str, read: Callable[[str], Sequence[Row]], command: Hints
) -> Sequence[Row]:
    """Return the rows in what a tool printed, one at least; refuse everything else.

    ``tool`` names what prints such rows, ``command`` says what to type.
    """
    if is_missing(printed):
        raise Refuse(what, "not filled in yet", command, "a text", "None")
    if not isinstance(printed, str):
        raise Refuse(what, f"this is {a_kind(printed)}, not a text", command, "a text")
    rows = read(printed)
    if not rows:
        reason = f"this is not the output of {tool}: it ends with {last_line(printed)!r}"
        raise Refuse(what, reason, command, "a text")
    return rows


def last_line(printed: str) -> str:
    """Return the last line, where tools say what went wrong; its first 200 characters."""
    return printed.strip().splitlines()[-1].strip()[:200]


# --- iperf3

_NUMBER: Final = r"(\d{1,6}(?:\.\d{1,6})?)"
_TRANSFER: Final = re.compile(
    rf"\b0\.00-{_NUMBER}\s+sec\s+[\d.]+ [KMG]?Bytes\s+{_NUMBER}\s+([KMG]?)bits/sec\s+"
    r"(?:[\d.]+ ms\s+(\d{1,9})/(\d{1,9})\s+\([^)\n]{0,20}\)\s+|\d{1,9}\s+)?(sender|receiver)"
)
_MBPS: Final = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3}
"""What iperf3's units are in Mbit/s, by the letter before ``bits/sec``."""


@dataclass(frozen=True)
class Transfer:
    """A whole test, as one side of it counts: ``side`` is "sender" or "receiver". Datagrams are None with TCP."""

    side: str
    lasted_s: float
    rate_mbps: float
    lost_datagrams: int | None
    all_datagrams: int | None


def transfers(printed: str) -> list[Transfer]:
    """Return the last lines of what ``iperf3 -c`` printed."""
    return [
        Transfer(
            side, float(seconds), float(rate) * _MBPS[unit], int(lost) if lost else None, int(every) if every else None
        )
        for seconds, rate, unit, lost, every, side in _TRANSFER.findall(printed)
    ]


_ENDS_OF_TRANSFER: Final = re.compile(r"\blocal ([\d.]{7,15}) port \d{1,5} connected to ([\d.]{7,15}) port")
_CWND: Final = re.compile(
    r"\[ *\d{1,4}\] +[\d.]{1,9}-(\d{1,6}\.\d{1,6}) +sec [^\n]{1,60}bits/sec +\d{1,9} +([\d.]{1,12}) ([KM]?)Bytes"
)


def ends_of_transfers(printed: str) -> list[tuple[str, str]]:
    """Return the addresses of both ends of each connection with data, iperf3's own first."""
    return _ENDS_OF_TRANSFER.findall(printed)


def windows_bytes(printed: str) -> list[tuple[float, float]]:
    """Return the congestion windows that ``iperf3 -c`` printed, in bytes, each with the end of its interval in s."""
    return [(float(until), float(size) * _SIZES[unit]) for until, size, unit in _CWND.findall(printed)]


_SIZES: Final = {"": 1, "K": 1024, "M": 1024**2}
"""What iperf3's units of a window are in bytes."""


# --- ping

_PINGED: Final = re.compile(r"PING .{0,300}?\(([\d.]+)\)")
_COUNTS: Final = re.compile(
    r"(\d{1,9}) packets transmitted, (\d{1,9}) received(?:[^%\n]{0,60}? (\d{1,3}(?:\.\d{1,6})?)% packet loss)?"
)
_RTT: Final = re.compile(r"\btime=(\d{1,6}(?:\.\d{1,6})?) ms")


@dataclass(frozen=True)
class Pings:
    """What one ping says in the end: the address, how many requests were sent and answered, and the loss it prints."""

    address: str
    sent: int
    received: int
    lost_percent: float | None


def pings(printed: str) -> list[Pings]:
    """Return the first and the last lines of what ``ping`` printed, as a row."""
    head = _PINGED.search(printed)
    counts = _COUNTS.search(printed, head.end()) if head is not None else None
    if head is None or counts is None:
        return []
    return [Pings(head[1], int(counts[1]), int(counts[2]), float(counts[3]) if counts[3] else None)]


def round_trips_ms(printed: str) -> list[float]:
    """Return the round trips in what ``ping`` printed, also before its end."""
    return [float(time_ms) for time_ms in _RTT.findall(printed)]


# --- tc

_NETEM: Final = re.compile(
    r"^qdisc netem .*?\blimit (\d{1,9})\b.*\n\s*Sent (\d{1,15}) bytes (\d{1,12}) pkts? \(dropped (\d{1,12})\b.*"
    r"\n\s*backlog \S+ (\d{1,9})p",
    re.MULTILINE,
)
_FACTORS: Final = {"K": 1024, "M": 1024**2, "us": 0.001, "s": 1000}
"""tc's units of bytes, and of times in ms."""


@dataclass(frozen=True)
class Queue:
    """A queue of netem: its limit, the packets that it sent and dropped since it was made, and those that it holds."""

    limit_packets: int
    sent_packets: int
    dropped_packets: int
    held_packets: int


def queues(printed: str) -> list[Queue]:
    """Return the queues of netem in what ``tc -s qdisc`` printed."""
    found = _NETEM.findall(printed)
    return [Queue(int(limit), int(sent), int(dropped), int(held)) for limit, _, sent, dropped, held in found]


def setting(discipline: str, name: str) -> float:
    """Return a number in tc's words for a queue (``limit 16p``, ``target 5ms``): packets, bytes or ms; 0 for none."""
    found = re.search(rf"\b{name} ([\d.]+)([KM]?)(us|ms|s|b|p)?", discipline)
    if found is None:
        return 0.0
    return float(found[1]) * _FACTORS.get(found[2], 1) * _FACTORS.get(found[3] or "", 1)


# --- ss

_ENDS: Final = re.compile(r"(?:[A-Z][\w-]{0,20}\s+)?\d+\s+\d+\s+\S+:\d+\s+\[?(?:::ffff:)?([\d.]+)\]?:\d+")
_VALUE: Final = re.compile(r"(?<!\S)(\w{1,40}):(\d[\d./]{0,40})")


@dataclass(frozen=True)
class Connection:
    """A connection of TCP: the address of the other end, and its values as ss prints them, by name."""

    peer: str
    values: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str, part: int = 0) -> float | None:
        """Return a value, of two with a slash between them the first (0) or the second (1); None where it is not."""
        parts = self.values.get(name, "").split("/")
        return float(parts[part]) if len(parts) > part and parts[part] else None


def connections(printed: str) -> list[Connection]:
    """Return the connections in what ``ss -tin`` printed, but those that are being closed."""
    found: list[Connection] = []
    listed = False
    for line in printed.splitlines():
        if ends := _ENDS.match(line):
            listed = line.startswith("ESTAB") or line[0].isdigit()
            if listed:
                found.append(Connection(ends[1], dict(_VALUE.findall(line[ends.end() :]))))  # with -O all stands here
        elif listed:
            found[-1] = Connection(found[-1].peer, {**found[-1].values, **dict(_VALUE.findall(line))})
    return found
