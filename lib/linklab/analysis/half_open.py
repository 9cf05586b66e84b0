"""How many half-open connections a server keeps, by how many SYNs reach it that nobody completes. Pure.

A server answers a SYN, keeps an entry, and repeats its answer after 1, 2, 4, ... seconds (RFC 6298, sections 2.1 and
5.5) until it gives up. Linux gives up sooner where more than half of the backlog is taken: then it takes one repetition
off as long as there are more than 2, 4, 8 times the entries of the last second (`reqsk_timer_handler` of
net/ipv4/inet_connection_sock.c). So above one half no more than eight seconds' worth of SYNs stay.
"""

from __future__ import annotations

from typing import Final

RETRIES: Final = 5
"""How often Linux repeats its SYN-ACK (tcp_synack_retries)."""
_SECONDS_WHEN_CROWDED: Final = 8
"""Seconds' worth of SYNs that stay where more than half of the backlog is taken."""


def lifetime_s(retries: int = RETRIES) -> int:
    """Return how long an entry is kept that nobody completes: 1 + 2 + 4 + ..., a term more than repetitions."""
    return (2 << retries) - 1


def lasting_entries(rate: float, backlog: int) -> float:
    """Return how many entries there are after a while, if so many SYNs come each second: none is completed.

    Up to half of the backlog each is kept for `lifetime_s`. Above it old ones go, but no fewer than one half are left.
    """
    kept = min(rate * lifetime_s(), backlog / 2)
    return min(backlog, max(kept, rate * _SECONDS_WHEN_CROWDED))


def full_after_s(rate: float, backlog: int) -> float | None:
    """Return after how many seconds the backlog is full; None where it never is."""
    return backlog / rate if lasting_entries(rate, backlog) >= backlog else None
