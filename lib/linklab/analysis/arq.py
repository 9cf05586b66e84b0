"""Theory of protocols that send lost packets again (automatic repeat request, ARQ). Pure.

Sources: J. Kurose and K. Ross, "Computer Networking", section 3.4; D. Bertsekas and R. Gallager, "Data Networks",
section 2.4; W. Stallings, "Data and Computer Communications", appendix on the performance of ARQ, for the formulas with
``a``, the one-way propagation delay in transmission times of a packet. RFC 6298 for the timeout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def link_share(window_packets: int, packet_ms: float, rtt_ms: float) -> float:
    """Return the share of time in which a window keeps a link busy if nothing is lost: ``min(1, W / (1 + 2a))``.

    ``packet_ms`` is a packet's transmission time, ``rtt_ms`` the propagation delay there and back. With a window of 1
    that is stop-and-wait: ``L/R / (RTT + L/R)``.
    """
    return min(1.0, window_packets * packet_ms / (packet_ms + rtt_ms))


def filling_window(packet_ms: float, rtt_ms: float) -> int:
    """Return the smallest window that keeps a link busy if nothing is lost: ``1 + 2a``, rounded up."""
    return math.ceil(1 + rtt_ms / packet_ms)


def selective_repeat_share(window_packets: int, packet_ms: float, rtt_ms: float, loss: float) -> float:
    """Return selective repeat's share of the link: ``(1 - P) * min(1, W / (1 + 2a))``; each packet is lost with P."""
    return (1 - loss) * link_share(window_packets, packet_ms, rtt_ms)


def go_back_n_share(window_packets: int, packet_ms: float, rtt_ms: float, loss: float) -> float:
    """Return go-back-N's share of the link: a lost packet costs all packets that were sent after it.

    ``(1-P) / (1 + 2aP)`` where the window fills the link, and else ``W (1-P) / ((1 + 2a) (1 - P + W P))``.
    """
    filled = 1 + rtt_ms / packet_ms
    if window_packets >= filled:
        return (1 - loss) / (1 + (filled - 1) * loss)
    return window_packets * (1 - loss) / (filled * (1 - loss + window_packets * loss))


def rto_s(rtts_s: Sequence[float], granularity_s: float = 0.001) -> list[float]:
    """Return the retransmission timeout after each round trip, in seconds: RFC 6298, rules 2.2 and 2.3, no minimum."""
    found: list[float] = []
    srtt_s = rttvar_s = 0.0
    for number, rtt_s in enumerate(rtts_s):
        if number == 0:
            srtt_s, rttvar_s = rtt_s, rtt_s / 2
        else:
            rttvar_s = 0.75 * rttvar_s + 0.25 * abs(srtt_s - rtt_s)
            srtt_s = 0.875 * srtt_s + 0.125 * rtt_s
        found.append(srtt_s + max(granularity_s, 4 * rttvar_s))
    return found
