"""How many round trips a page takes: its connections, slow start, and which objects wait for a lost packet. Pure."""

from __future__ import annotations

from typing import Final

from linklab.analysis.tcp_model import INITIAL_WINDOW_PACKETS
from linklab.grade.path_questions import DATA_BYTES

HANDSHAKES: Final = {"1.0": 2, "1.1": 2, "2": 2, "3": 1}
"""Round trips before the first request: TCP and TLS 1.3, or both in one by QUIC (RFC 8446, RFC 9000)."""


def slow_start_rounds(size_bytes: int, first_window: int = INITIAL_WINDOW_PACKETS, growth: int = 2) -> int:
    """Return how many round trips a file takes from its request on, if nothing is lost: the window doubles in each."""
    rounds, window, sent = 0, first_window, 0
    while sent * DATA_BYTES < size_bytes:
        rounds, sent, window = rounds + 1, sent + window, window * growth
    return rounds


def page_rounds(http: str, connections: int, objects: int, *, warm: bool = False) -> int:
    """Return how many round trips a page takes whose base file and objects fit into one first window each.

    A connection that is free takes the next object, and each object takes one round trip there. ``warm`` is a request
    in TLS's first message (RFC 8446, section 2.3), over TCP.
    """
    first = HANDSHAKES[http] + 1 - warm
    if http == "1.0":
        return first * (1 + objects)
    if http in ("2", "3"):
        return first + (objects > 0)
    rounds, left = first, objects
    while left > 0:
        rounds += 1
        left -= 1 if rounds < first + 3 else connections  # the others open with the objects' first request
    return rounds


def waiting(http: str, lost: int, objects: int) -> tuple[int, ...]:
    """Return the objects that wait for a retransmission, by number, where each is one packet and this one is lost.

    TCP hands its bytes over in order, whatever stream they belong to; QUIC does so within a stream (RFC 9000, 2.2).
    """
    return (lost,) if http == "3" else tuple(range(lost, objects + 1))
