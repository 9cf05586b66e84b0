"""Compute what theory says of a data centre: flows that a hash spreads over paths, incast, and DCTCP's queue. Pure."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

SURE: Final = 0.999
"""With this chance a sound count lies in the interval that `spread_interval` gives."""


def even_chance(flows: int) -> float:
    """Return the chance that a fair hash puts half of the flows on each of two paths (the binomial law)."""
    return math.comb(flows, flows // 2) / 2.0**flows if flows % 2 == 0 else 0.0


def together_chance(flows: int, paths: int) -> float:
    """Return the chance that all flows take the same one of these equal paths."""
    return float(paths) ** (1 - flows)


def alone_chance(flows: int, paths: int) -> float:
    """Return the chance that each flow has a path of its own, as that all birthdays differ: 0 for too few paths."""
    return math.perm(paths, flows) / float(paths) ** flows


def spread_interval(flows: int, paths: int) -> tuple[float, float]:
    """Return the least and the most flows on one of these paths, in 999 of 1000 trials.

    It is the normal approximation of the binomial law, half a flow wider on both sides (de Moivre and Laplace).
    """
    share = 1 / paths
    wide = NormalDist().inv_cdf((1 + SURE) / 2) * math.sqrt(flows * share * (1 - share)) + 0.5
    return max(0.0, flows * share - wide), min(float(flows), flows * share + wide)


def incast_senders(queue_packets: int, window_packets: int) -> int:
    """Return how many senders overflow a queue if each one's first window arrives at the same instant.

    What the queue sends meanwhile is left out: it is less than a packet for each sender.
    """
    return queue_packets // window_packets + 1


def dctcp_queue(bdp_packets: float, threshold_packets: float) -> tuple[float, float]:
    """Return the least and the largest queue of one flow of DCTCP, in packets, by the model of its sawtooth.

    The window rises to W + 1, where W = `bdp_packets` + `threshold_packets` begins to mark. Then a share a = sqrt(2/W)
    of the packets of a period is marked, and the window falls by a/2 of itself (Alizadeh and others, "Data Center TCP
    (DCTCP)", SIGCOMM 2010, section 3.3).
    """
    window = bdp_packets + threshold_packets
    fall = (window + 1) * math.sqrt(2 / window) / 2
    return threshold_packets + 1 - fall, threshold_packets + 1
