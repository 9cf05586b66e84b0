"""A congestion controller: how many packets may be on their way?

Linklab's sender sends packets of 1500 bytes without end, finds out which are lost, sends these again, and asks this
controller how many may fly. `linklab contest controller.py` runs it on the public traces.

Times are in ms since the sender began. What the controller wants to remember it keeps in attributes of its own.
Python's standard library is there, and nothing else.
"""

from __future__ import annotations

NAME = "FAST"  # what the leaderboard calls this controller

START_PACKETS = 10.0  # RFC 6928
LEAST_PACKETS = 2.0
QUEUED_PACKETS = 6.0  # how many packets of ours should wait in the queue
GAIN = 0.5  # how much of the difference to that a round trip makes up for


class Controller:
    """Keeps a few packets in the queue, whatever the link's rate is: the window of FAST TCP.

    D. X. Wei, C. Jin, S. H. Low, S. Hegde, "FAST TCP: Motivation, Architecture, Algorithms, Performance", 2006.
    """

    def __init__(self) -> None:
        self.window_packets = START_PACKETS
        self.least_rtt_ms = float("inf")
        self.starting = True  # until packets wait for the first time, the window doubles with each round trip
        self.reduced_ms = 0.0  # when the window was made smaller for a loss

    def on_acknowledgement(
        self,
        now_ms: float,
        rtt_ms: float,
        acknowledged_packets: int,
        in_flight_packets: int,
    ) -> None:
        """Packets have arrived. `rtt_ms` is the round trip of the last one, `in_flight_packets` what still flies."""
        self.least_rtt_ms = min(self.least_rtt_ms, rtt_ms)
        queued_packets = self.window_packets * (1 - self.least_rtt_ms / rtt_ms)
        if self.starting and queued_packets < QUEUED_PACKETS:
            self.window_packets += acknowledged_packets
            return
        self.starting = False
        change_packets = GAIN * (QUEUED_PACKETS - queued_packets)
        self.window_packets += change_packets * acknowledged_packets / self.window_packets
        self.window_packets = max(self.window_packets, LEAST_PACKETS)

    def on_loss(
        self,
        now_ms: float,
        sent_ms: float,
        lost_packets: int,
        in_flight_packets: int,
    ) -> None:
        """Packets are lost: three that were sent later have arrived. The last of them was sent at `sent_ms`."""
        if sent_ms > self.reduced_ms:  # once for all that were lost together
            self.window_packets = max(self.window_packets / 2, LEAST_PACKETS)
            self.reduced_ms = now_ms
        self.starting = False

    def on_timeout(self, now_ms: float, in_flight_packets: int) -> None:
        """Nothing was heard for long: all `in_flight_packets` are given up, and sent again."""
        self.window_packets = LEAST_PACKETS

    def may_fly(self, now_ms: float) -> float:
        """Return how many packets may be on their way now. It is asked after all else, and at least every 10 ms."""
        return self.window_packets
