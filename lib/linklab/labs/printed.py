"""Read what commands printed in a lab, as students hand it in."""

from __future__ import annotations

import re
from typing import Final

from linklab.grade.check import Check, Hints, Refuse
from linklab.grade.questions import is_missing

NETEM: Final = re.compile(
    r"^qdisc netem .*?\blimit (\d{1,9})\b.*\n\s*Sent (\d{1,15}) bytes (\d{1,12}) pkts? \(dropped (\d{1,12})\b.*"
    r"\n\s*backlog \S+ (\d{1,9})p",
    re.MULTILINE,
)
"""A queue of netem in what ``tc -s qdisc`` prints: its limit, the bytes and frames that it sent, the frames that it
dropped, and those that it holds."""
PINGS: Final = re.compile(r"PING .{0,300}?\(([\d.]+)\).*?(\d{1,9}) packets transmitted, (\d{1,9}) received", re.DOTALL)
"""What ping prints: the address, the requests that it sent, and the answers that it got."""
RTT: Final = re.compile(r"\btime=(\d{1,6}(?:\.\d{1,6})?) ms")
"""A round trip in what ping prints, in ms."""
MBPS: Final = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3}
"""What iperf3's units are in Mbit/s, by the letter before ``bits/sec``."""


def require_match(
    what: str, printed: object, pattern: re.Pattern[str], otherwise: str, command: Hints
) -> re.Match[str]:
    """Return the match of a pattern in what a command printed; refuse an output without one.

    ``otherwise`` is the reason where the pattern is not found, ``command`` what to type.
    """
    if is_missing(printed):
        raise Refuse(Check.failing(what, "not filled in yet", command, "a text"))
    found = pattern.search(printed) if isinstance(printed, str) else None
    if found is None:
        raise Refuse(Check.failing(what, otherwise, command, "a text"))
    return found
