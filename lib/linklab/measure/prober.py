"""Probes for a search for the bandwidth of an unknown network, within a budget of bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure.runner import run
from linklab.measure.tools.iperf3 import UdpFlow
from linklab.measure.tools.packet_train import TrainFlow

BUDGET_BYTES: Final = 60_000_000
"""Default budget of a prober."""
MOST_PROBES: Final = 200
"""Default limit on the number of sends and trains."""
PAYLOAD_BYTES: Final = 1448
"""Payload of each datagram of `Prober.send`."""


@dataclass(frozen=True)
class Probe:
    """What was measured by sending at one rate. Rates are of UDP payload, in Mbit/s (10**6 bits).

    `received_mbps` is the payload that arrived, divided by the time of *sending*. So it equals `rate_mbps` if nothing
    was lost and the sender kept up. (iperf3's own rate divides by the receiver's time, which is longer by a round trip
    and a full queue: several percent of a second.) `jitter_ms` is RFC 3550's.
    """

    rate_mbps: float
    duration_s: float
    loss_percent: float
    received_mbps: float
    jitter_ms: float

    def __str__(self) -> str:
        return (
            f"{self.rate_mbps:g} Mbit/s for {self.duration_s:g} s: {self.loss_percent:.2f} % lost, "
            f"{self.received_mbps:.2f} Mbit/s received, jitter {self.jitter_ms:.3f} ms"
        )


class Prober:
    """Sends from one node to another, counts the bytes sent, and refuses to send more than a budget.

    `sent_bytes` is UDP payload, `probes` all that `send` measured, `count` the number of sends and trains.
    """

    def __init__(
        self,
        lab: Lab,
        source: str,
        destination: str,
        budget_bytes: int = BUDGET_BYTES,
        most_probes: int = MOST_PROBES,
    ) -> None:
        self._lab, self._source, self._destination = lab, source, destination
        self.budget_bytes, self._most_probes = budget_bytes, most_probes
        self.sent_bytes, self.count = 0, 0
        self.probes: list[Probe] = []

    def send(self, rate_mbps: float, duration_s: int = 1) -> Probe:
        """Send datagrams of 1448 bytes at a rate of `rate_mbps` (their payload), for `duration_s` whole seconds.

        Raises MeasurementError where that would go beyond the budget, and as `linklab.measure.run`.
        """
        flow = UdpFlow(self._source, self._destination, rate_mbps, duration_s, payload_bytes=PAYLOAD_BYTES)
        planned_bytes = self._charge(rate_mbps * 1e6 / 8 * duration_s)
        result = run(self._lab, flow)
        self.sent_bytes += result.sent_packets * PAYLOAD_BYTES - planned_bytes
        received_mbps = result.sent_mbps * (1 - result.loss_percent / 100)
        probe = Probe(rate_mbps, duration_s, result.loss_percent, received_mbps, result.jitter_ms)
        self.probes.append(probe)
        return probe

    def train(self, packets: int = 50, payload_bytes: int = PAYLOAD_BYTES) -> tuple[float, ...]:
        """Send a packet train back to back. Return when the packets that came arrived, in seconds, in order.

        Raises MeasurementError where that would go beyond the budget, and as `linklab.measure.run`.
        """
        flow = TrainFlow(self._source, self._destination, packets, payload_bytes)
        planned_bytes = self._charge(packets * payload_bytes)
        result = run(self._lab, flow)
        self.sent_bytes += result.sent * payload_bytes - planned_bytes
        return result.arrivals_s

    def _charge(self, planned_bytes: float) -> int:
        """Charge planned bytes to the budget, before they are sent; return them as a whole number."""
        more_bytes = math.ceil(planned_bytes)
        left_bytes = self.budget_bytes - self.sent_bytes
        if more_bytes > left_bytes:
            raise MeasurementError(
                f"this probe would send {more_bytes / 1e6:.1f} MB, and {left_bytes / 1e6:.1f} of the budget of "
                f"{self.budget_bytes / 1e6:g} MB are left: probe fewer rates, lower ones, or for a shorter time"
            )
        if self.count >= self._most_probes:
            raise MeasurementError(f"{self.count} probes were sent, and no more are allowed: does the search end?")
        self.count += 1
        self.sent_bytes += more_bytes
        return more_bytes

    def __repr__(self) -> str:
        return (
            f"<prober {self._source} to {self._destination}: {self.count} probes, {self.sent_bytes / 1e6:.2f} MB sent>"
        )
