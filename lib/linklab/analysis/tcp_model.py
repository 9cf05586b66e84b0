"""Model how far one TCP flow fills a path: a fluid model of CUBIC (RFC 9438) at a drop-tail queue.

The window grows along CUBIC's curve or the Reno-friendly line, whichever is higher; when path and queue hold no more
it falls to 0.7 of itself. Up to the bandwidth-delay product the window sets the rate, above it the queue grows.
Nothing here is fitted to measurements: the constants are the RFC's, and what the model does not know (where exactly
slow start ends) is given to it as cases.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Final

from linklab.analysis.measured_paths import MeasuredPath
from linklab.errors import NetworkError
from linklab.network import Hop, Link, path_mtu_bytes, queueing_delay_ms, theory
from linklab.network.theory import packet_ms
from linklab.units import IP_HEADER_BYTES, TCP_HEADER_BYTES, TCP_TIMESTAMPS_BYTES

BETA: Final = 0.7
"""Share of the window that remains after a loss (RFC 9438, section 4.6)."""
CUBIC_C: Final = 0.4
"""CUBIC's constant, in packets per cubic second (section 5)."""
RENO_PACKETS_PER_RTT: Final = 3 * (1 - BETA) / (1 + BETA)
"""Growth of the Reno-friendly window in each round trip (section 4.3): 0.53 packets."""
INITIAL_WINDOW_PACKETS: Final = 10
"""RFC 6928."""
_STEP_S: Final = 0.002
_LOWERED: Final = (1 + BETA) / 2
"""The plateau that fast convergence chooses, as a share of the window at the loss (section 4.7)."""


@dataclass(frozen=True)
class Pipe:
    """The numbers of a path that decide how a TCP flow fills its bottleneck.

    ``packet_ms``: serialisation of one full frame at the bottleneck. ``base_ms``: the round trip without queues.
    ``limit_packets``: the bottleneck's queue limit, which counts packets in its delay line (``delay_ms``, one way)
    too. ``inflow``: how many times the bottleneck's rate a burst of slow start can reach it with, 1 to 2.
    """

    packet_ms: float
    base_ms: float
    delay_ms: float
    limit_packets: float
    inflow: float

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product, in full packets."""
        return self.base_ms / self.packet_ms

    @property
    def room_packets(self) -> float:
        """Packets that can wait: the queue's limit less those in netem's delay line at the full rate."""
        return max(0.0, self.limit_packets - self.delay_ms / self.packet_ms)

    @property
    def full_queue_ms(self) -> float:
        """Time that a full queue adds to a round trip: see `linklab.network.queueing_delay_ms`."""
        return self.room_packets * self.packet_ms

    @property
    def full_window_packets(self) -> float:
        """The window at which the queue is full."""
        return self.most * self.bdp_packets + self.room_packets

    @property
    def most(self) -> float:
        """The largest share of the rate: below 1 only if the queue's limit is less than the delay line needs."""
        return min(1.0, self.limit_packets * self.packet_ms / self.delay_ms) if self.delay_ms else 1.0

    @property
    def burst_window_packets(self) -> float:
        """The window at which a round of slow start first overflows the queue.

        In slow start two packets leave for each one acknowledged, so they come at up to twice the bottleneck's rate
        and ``1 - 1/inflow`` of a round must wait.
        """
        waiting = 1 - 1 / self.inflow
        window = self.room_packets / waiting if waiting > 0 else math.inf
        return min(max(window, INITIAL_WINDOW_PACKETS), self.full_window_packets)


@dataclass(frozen=True)
class ModelledTransfer:
    """A modelled transfer: its share of the bottleneck's rate, and how full the queue was on average, 0 to 1."""

    rate_share: float
    queue_share: float


def smooth(pipe: Pipe, duration_s: float) -> ModelledTransfer:
    """Return the best transfer that is possible: slow start ends where the later oscillation begins."""
    full = pipe.full_window_packets
    return _transfer(pipe, duration_s, until=BETA * full, window=BETA * full, plateau=full)


def slow_start_outcomes(pipe: Pipe, duration_s: float, *, lowered: bool = False) -> tuple[ModelledTransfer, ...]:
    """Return the transfer for each way in which slow start may end: by a loss, by a loss found late, or early.

    A loss that is found late comes after the window has doubled once more. What is sent while a loss is repaired may
    find the queue still full, and the window falls once more, with a lower plateau; but no longer where a round of so
    many packets no longer overflows the queue. HyStart ends slow start early, without a loss, when the acknowledgements
    of a round take half a round trip (RFC 9406 describes its successor): at half of the bandwidth-delay product.

    ``lowered`` lets fast convergence (RFC 9438, section 4.7) put every second plateau at (1 + beta)/2 of the window.
    Linux does so after a loss that comes before the window is as large as at the last one, which chance decides by a
    packet, and never twice in a row: the lower plateau is then the last one.
    """
    found = []
    for found_late in (1.0, 2.0):
        overshot = min(found_late * pipe.burst_window_packets, max(pipe.full_window_packets, INITIAL_WINDOW_PACKETS))
        plateau = _LOWERED * overshot if lowered else overshot
        found.append(_transfer(pipe, duration_s, overshot, BETA * overshot, plateau, lowered))
    early = max(pipe.bdp_packets / 2, INITIAL_WINDOW_PACKETS)
    return (*found, _transfer(pipe, duration_s, early, early, early, lowered))


@functools.lru_cache(maxsize=1024)  # a check asks for the same few transfers again and again, at 10 ms each
def _transfer(
    pipe: Pipe, duration_s: float, until: float, window: float, plateau: float, lowered: bool = False
) -> ModelledTransfer:
    bdp, full = pipe.bdp_packets, max(pipe.full_window_packets, 1.0)
    base_ms, packet_ms, room, most = pipe.base_ms, pipe.packet_ms, pipe.room_packets, bdp * pipe.most
    carried = waiting = time_s = 0.0
    starting: float = INITIAL_WINDOW_PACKETS
    while starting < until and time_s < duration_s:
        carried += min(starting, bdp) * pipe.base_ms / 1000
        time_s += pipe.base_ms / 1000
        starting *= 2
    begun_s, first = time_s, window
    plateau_s = ((plateau - window) / CUBIC_C) ** (1 / 3) if plateau > window else 0.0
    reno, is_lowered = window, False
    while time_s < duration_s:
        since_s = time_s - begun_s
        now = max(CUBIC_C * (since_s - plateau_s) ** 3 + plateau, reno, first)
        if now >= full:
            largest = max(now, 1.0)
            is_lowered = lowered and not is_lowered
            plateau = _LOWERED * largest if is_lowered else largest
            first = reno = BETA * largest
            plateau_s, begun_s = ((plateau - first) / CUBIC_C) ** (1 / 3), time_s
            now = first
        carried += min(now, most) * _STEP_S
        queue = min(max(now - bdp, 0.0), room)
        waiting += queue * _STEP_S
        reno += RENO_PACKETS_PER_RTT * _STEP_S / ((base_ms + queue * packet_ms) / 1000)
        time_s += _STEP_S
    return ModelledTransfer(min(1.0, carried / (bdp * duration_s)), waiting / (room * duration_s) if room else 0.0)


KERNEL_QUEUE_PACKETS: Final = 1000
"""Default limits of the kernel: netem's, and a network device's."""
_MOST_INFLOW: Final = 2.0


def bottleneck_hop(path: MeasuredPath) -> Hop:
    """Return the bottleneck of the forward path. Raises NetworkError if no link there is rate-limited."""
    return theory.bottleneck_hop(path.forward)


def pipe_of(path: MeasuredPath, hop: Hop | None = None) -> Pipe:
    """Return the path as ``hop`` sees it, its bottleneck unless given.

    Raises NetworkError if that hop has no rate, or if data and acknowledgements cross a link in the same direction.
    """
    hop = bottleneck_hop(path) if hop is None else hop
    if hop.link.rate_mbps is None:
        raise NetworkError(f"link {hop.link.label} has no rate, so it is no bottleneck: set rate_mbps")
    _refuse_shared_direction(path)
    mtu_bytes = path_mtu_bytes(path.forward)
    takes_ms = [packet_ms(each, mtu_bytes) if each.link.rate_mbps else 0.0 for each in path.forward.hops]
    at = path.forward.hops.index(hop)
    acknowledgement_bytes = IP_HEADER_BYTES[path.reverse.ip_version] + TCP_HEADER_BYTES + TCP_TIMESTAMPS_BYTES
    cables_ms = math.fsum(
        packet_ms(each, packet_bytes)
        for one, packet_bytes in ((path.forward, mtu_bytes), (path.reverse, acknowledgement_bytes))
        for each in one.hops
        if each.link.overhead_bytes is not None
    )
    return Pipe(
        packet_ms=takes_ms[at],
        # without delays, what serialisation takes of a round trip
        base_ms=max(path.rtt_floor_ms + cables_ms, math.fsum(takes_ms)),
        delay_ms=hop.link.delay_ms,
        limit_packets=limit_packets(hop.link),
        inflow=min([_MOST_INFLOW, *(takes_ms[at] / before_ms for before_ms in takes_ms[:at] if before_ms)]),
    )


def _refuse_shared_direction(path: MeasuredPath) -> None:
    """Raise NetworkError if acknowledgements wait behind the data they answer: the model has no such queue."""
    sends = {hop.out.interface for hop in path.reverse.hops}
    for hop in path.forward.hops:
        if hop.link.rate_mbps is not None and hop.out.interface in sends:
            raise NetworkError(
                f"data of {path.name} and its acknowledgements both leave {hop.out.node} by {hop.out.interface}, and "
                "there is no model of TCP for that: choose a path whose reverse path uses each link the other way round"
            )


def limit_packets(link: Link) -> int:
    """Return the queue limit of a link in packets: its own, or the kernel's default."""
    return KERNEL_QUEUE_PACKETS if link.queue_packets is None else link.queue_packets


def full_queue_share_ms(link: Link, packet_bytes: float | None = None) -> float:
    """Return how much a full queue of a link adds to a round trip, in ms: see `linklab.network.queueing_delay_ms`.

    Its packets are full ones, unless the size of their IP packets is given.

    netem's limit counts packets in the delay line, so this is the queue's own time less the link's delay.
    """
    return max(0.0, queueing_delay_ms(link, limit_packets(link), packet_bytes) - link.delay_ms)
