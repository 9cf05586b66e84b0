"""Compute what theory expects of several TCP loads that run together, each with its pings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from linklab.analysis.expectation import Expectation, full_queue_rtt, tcp_throughput, unloaded_rtt
from linklab.analysis.sharing import Load, Share, direction_of, max_min_shares
from linklab.analysis.tcp_model import BETA, RENO_PACKETS_PER_RTT, pipe_of
from linklab.network import Network, NetworkState, goodput_ceiling_mbps, path_mtu_bytes

_OUTSIDE = 1 / 1000
"""How often one of the shares that are judged together may lie outside by chance: 3.3 standard deviations for one of
them, 4 for each of fifteen (Bonferroni). Shares are judged gently, their sum strictly: a lab that is run again has the
same digits, so honest work that lies outside stays there."""


@dataclass(frozen=True)
class LoadExpectation:
    """What theory expects of one load of an experiment.

    ``total`` is the throughput of all its connections, ``connection`` of one of them. ``rtt_unloaded`` is for pings
    without any load, ``rtt_highest`` for pings beside all loads.
    """

    load: Load
    share: Share
    total: Expectation
    connection: Expectation
    rtt_unloaded: Expectation
    rtt_highest: Expectation


@dataclass(frozen=True)
class Experiment:
    """All loads in order.

    ``sums`` has the throughput of all connections that a link decides for, by its name and the node that sends into it.
    """

    loads: tuple[LoadExpectation, ...]
    sums: dict[tuple[str, str], Expectation]


def experiment(
    network: Network,
    loads: Sequence[Load],
    duration_s: float = 25,
    pings: int = 25,
    state: NetworkState | None = None,
    judged: int = 1,
) -> Experiment:
    """Return what theory expects of TCP loads that start together, over ``duration_s``; the network is as read back
    (``state``), else as planned.

    ``judged`` is how many shares are looked at together, over all runs: the more, the further may one stray by chance.

    A load alone at its bottleneck is `tcp_throughput`. Connections that share one have its max-min share, and scatter
    around it: see `sharing_deviation`. Their sum does not scatter.

    Raises as `max_min_shares`.
    """
    shares = max_min_shares(network, loads, state)
    sums: dict[tuple[str, str], Expectation] = {}
    found = []
    for share in shares:
        name = direction_of(share.bottleneck)
        mine = [other for other in shares if other.bottleneck == share.bottleneck]
        if name not in sums:
            sums[name] = _sum(mine, duration_s)
        found.append(_expected(share, sums[name], duration_s, pings, judged))
    return Experiment(tuple(found), sums)


def sharing_deviation(share: Share, connections: int, duration_s: float) -> float:
    """Return by how much the mean rate of some connections over ``duration_s`` deviates from their fair share.

    It is one standard deviation, relative to the fair share, for n connections that share a full link and suffer
    losses at random. A window that grows by a packets a second and falls to b = 0.7 at random has a relative variance
    of (1 - b) / (1 + b) and forgets its past in tau = its mean / a seconds (both from the moments of the process). A
    mean over T keeps 2 tau/T (1 - tau/T (1 - exp(-T/tau))) of that variance. Slow start decides where the windows
    begin: it splits the link at random, with a relative variance of (n - 1) / (n + 1), of which
    tau/T (1 - exp(-T/tau)) remains in the mean. The sum of all is fixed, which takes 1/n off the first variance. For k
    of n connections both shrink by (n - k) / (k (n - 1)).
    """
    count = share.rivals
    if count <= 1 or connections >= count:
        return 0.0
    pipe = pipe_of(share.path, share.bottleneck)
    mean_window = (1 + BETA) / 2 * pipe.full_window_packets / count
    growth = RENO_PACKETS_PER_RTT * 1000 / (pipe.base_ms + pipe.room_packets * pipe.packet_ms / 2)
    memory = mean_window / growth / duration_s
    forgotten = 1 - math.exp(-1 / memory)
    noise = (1 - BETA) / (1 + BETA) * 2 * memory * (1 - memory * forgotten) * (count - 1) / count
    start = (count - 1) / (count + 1) * (memory * forgotten) ** 2
    some = (count - connections) / (connections * (count - 1))
    return math.sqrt((noise + start) * some)


def _sum(shares: Sequence[Share], duration_s: float) -> Expectation:
    """Return what is expected of all connections of one bottleneck. Several fill it no worse than one."""
    first = shares[0]
    fair = math.fsum(share.total_mbps for share in shares)
    alone = [tcp_throughput(share.path, duration_s, share.bottleneck) for share in shares]
    link = first.bottleneck.link
    ceiling = min(goodput_ceiling_mbps(first.bottleneck, path_mtu_bytes(share.path.forward)) for share in shares)
    lowest, part = min(alone, key=lambda it: it.low), fair / ceiling
    value = lowest.value if first.rivals == 1 else max(it.value for it in alone)
    several = f"{first.rivals} connections fill {link.label} no worse than one: "
    why = lowest.why if first.rivals == 1 else several + lowest.why
    return Expectation(
        part * value,
        part * lowest.low,
        part * max(it.high for it in alone),
        "Mbit/s",
        why,
        source=lowest.source,
        allowance=lowest.allowance,
    )


def _expected(share: Share, whole: Expectation, duration_s: float, pings: int, judged: int) -> LoadExpectation:
    path, hop, rivals = share.path, share.bottleneck, share.rivals
    return LoadExpectation(
        share.load,
        share,
        _some(share, share.load.connections, whole, duration_s, judged),
        _some(share, 1, whole, duration_s, judged),
        unloaded_rtt(path),
        full_queue_rtt(path, hop, rivals, duration_s / pings),
    )


def _some(share: Share, connections: int, whole: Expectation, duration_s: float, judged: int) -> Expectation:
    """Return what is expected of some of the connections at a bottleneck; ``whole`` is the throughput of all.

    A share lies between none and all, so we take the logarithm of its odds to scatter evenly to both sides.
    """
    if connections == share.rivals:
        return whole
    part = connections / share.rivals
    sigmas = NormalDist().inv_cdf(1 - _OUTSIDE / 2 / judged)
    odds = math.exp(sigmas * sharing_deviation(share, connections, duration_s) / (1 - part))
    least, most = part / (part + (1 - part) * odds), part * odds / (part * odds + 1 - part)
    why = (
        f"{connections} of {share.rivals} connections through {share.bottleneck.link.label}: "
        f"{share.connection_mbps * connections:.3g} Mbit/s if all were equal; losses fall on them at random, which "
        f"over {duration_s:g} s makes it {least / part:.2g} to {most / part:.2g} times as much ({sigmas:.2g} standard "
        "deviations)"
    )
    low, high, value = least * whole.low, most * whole.high, part * whole.value
    source = (
        "the moments of windows that grow evenly (RFC 9438, section 4.3) and fall at random, the logarithm of a "
        f"share's odds taken for normal: 1 in {judged / _OUTSIDE:g} lies outside"
    )
    too_wide = f"the sum through {share.bottleneck.link.label}" if high - low > value else ""
    return Expectation(
        value, low, high, "Mbit/s", why, None, source=source, allowance=whole.allowance, decided_by=too_wide
    )
