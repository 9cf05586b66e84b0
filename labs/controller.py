"""A congestion controller: how many packets may be on their way?

Linklab's sender sends packets of 1500 bytes without end, finds out which are lost, sends these again, and asks this
controller how many may fly. `linklab contest controller.py` runs it on the public traces.

Times are in ms since the sender began. What the controller wants to remember it keeps in attributes of its own.
Python's standard library is there, and nothing else.
"""

from __future__ import annotations

NAME = "a name"  # what the leaderboard calls this controller: choose one

START_PACKETS = 10.0  # RFC 6928


class Controller:
    """Keeps a window that never changes."""

    def __init__(self) -> None:
        self.window_packets = START_PACKETS

    def on_acknowledgement(
        self,
        now_ms: float,
        rtt_ms: float,
        acknowledged_packets: int,
        in_flight_packets: int,
    ) -> None:
        """Packets have arrived. `rtt_ms` is the round trip of the last one, `in_flight_packets` what still flies."""
        # TODO 1: make the window larger. By how much? What does rtt_ms say of the queue?

    def on_loss(
        self,
        now_ms: float,
        sent_ms: float,
        lost_packets: int,
        in_flight_packets: int,
    ) -> None:
        """Packets are lost: three that were sent later have arrived. The last of them was sent at `sent_ms`."""
        # TODO 1: make the window smaller, once for all packets that were lost together.

    def on_timeout(self, now_ms: float, in_flight_packets: int) -> None:
        """Nothing was heard for long: all `in_flight_packets` are given up, and sent again."""
        # TODO 1: begin again with a small window.

    def may_fly(self, now_ms: float) -> float:
        """Return how many packets may be on their way now. It is asked after all else, and at least every 10 ms."""
        return self.window_packets
