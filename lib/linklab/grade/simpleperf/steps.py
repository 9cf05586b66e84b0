"""The steps in which simpleperf is written, each graded alone."""

from __future__ import annotations

from typing import Final

STEPS: Final[dict[str, str]] = {
    "transfer": "sockets and one transfer",
    "clock": "the clock and the units",
    "intervals": "-i, a row for each interval",
    "amount": "-n, an amount instead of a time",
    "parallel": "-P, several connections",
    "many": "many clients, restarts and abrupt peers",
    "arguments": "arguments, errors and help",
}
"""Name and subject of each step, in the order in which a student comes to them."""
