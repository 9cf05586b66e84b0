"""What a measurement should give, from theory: a value, an interval, and where the interval comes from."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from linklab.analysis.measured_paths import MeasuredPath
from linklab.analysis.tcp_model import (
    BETA,
    CUBIC_C,
    RENO_PACKETS_PER_RTT,
    bottleneck_hop,
    courses,
    full_queue_share_ms,
    limit_packets,
    pipe_of,
    smooth,
)
from linklab.errors import MeasurementError, NetworkError
from linklab.network import Hop, goodput_ceiling_mbps, path_mtu_bytes, payload_rate_mbps
from linklab.network.theory import as_fragmented, datagram_wire_bytes
from linklab.units import BITS_PER_BYTE, IPV4_HEADER_BYTES, UDP_HEADER_BYTES, transmission_ms

Limit = Literal["low", "high"]
"""The end of an interval that is the network's own limit, so that no measurement lies beyond it: ``"high"`` for
throughput, ``"low"`` for a delay."""


@dataclass(frozen=True)
class Expectation:
    """``value`` is the likeliest; a sound measurement lies from ``low`` to ``high``, in ``unit``.

    ``why`` gives both in words. ``limit`` is the end that the network itself sets, None where neither end is one, as
    of one flow's share.

    ``source`` says what the interval is derived from: a standard, a paper, arithmetic. ``allowance`` is what of it
    nothing derives, with its size and the reason why it is allowed. ``carried_by`` names what carries the verdict
    where the interval is too wide to.

    Raises MeasurementError unless low <= value <= high, all finite, and for an interval with neither source nor
    allowance.
    """

    value: float
    low: float
    high: float
    unit: str
    why: str
    limit: Limit | None = "high"
    source: str = field(default="", kw_only=True)
    allowance: str = field(default="", kw_only=True)
    carried_by: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.value <= self.high):
            raise MeasurementError(
                f"invalid interval: the value {self.value} {self.unit} lies outside {self.low} to {self.high}"
            )
        if self.low < self.high and not (self.source or self.allowance):
            raise MeasurementError(
                f"an expectation of {self.low} to {self.high} {self.unit} says neither what it is derived from nor why "
                "it is allowed: give source, or allowance"
            )

    @property
    def basis(self) -> str:
        """What the interval rests on: what it is derived from, what is allowed besides, what decides instead."""
        parts = [
            f"derived from {self.source}" if self.source else "",
            f"allowed, not derived: {self.allowance}" if self.allowance else "",
            f"too wide to decide: {self.carried_by} does" if self.carried_by else "",
        ]
        return "; ".join(part for part in parts if part)

    @property
    def explanation(self) -> str:
        """`why` and `basis`."""
        return f"{self.why} (interval {self.basis})" if self.basis else self.why

    def holds(self, measured: float) -> bool:
        """Whether a measurement lies in the interval, its ends included."""
        return self.low <= measured <= self.high

    def __str__(self) -> str:
        wide = f" (wide: {self.carried_by} decides)" if self.carried_by else ""
        return f"{self.low:.4g} to {self.high:.4g} {self.unit}{wide}"


def between(value: float, low: float, high: float) -> float:
    """The value, or the nearer of the two bounds if it lies outside."""
    return min(max(value, low), high)


def answered(rtt_ms: Iterable[float | None]) -> tuple[float, ...]:
    """The round trips that were answered, in ms, without the gaps that lost packets leave."""
    return tuple(value for value in rtt_ms if value is not None and math.isfinite(value))


ICMP_HEADER_BYTES = 8
"""RFC 792."""
PING_PACKET_BYTES = 56 + ICMP_HEADER_BYTES + IPV4_HEADER_BYTES
"""Of ping as it is unless asked otherwise."""
_TIMER_MS = 0.05
_TIMER_REASON = f"{_TIMER_MS:g} ms for ping's own clock, its printed digits and the lab's timers"
_QUEUE_SLACK_PACKETS = 2
_QUEUE_REASON = "a packet that is leaving the queue while the ping arrives, and one that the token bucket lets pass"
_AFTER_SLOW_START_S = 0.75
"""Pings further apart than that pass slow start by: beside a transfer they start with it, and it is over then."""
_NEARLY_FULL = 0.99
_BURST_LOSS_PERCENT = 0.5
BURST_BYTES = 15_000
"""Mininet's ``burst`` of HTB: no more passes an idle link at once, which counts in a short measurement. Mostly tc's
``cburst`` of 1600 bytes ends it earlier (`linklab study run burst`)."""
_LEAST_TIMEOUT_S = 0.2
"""What Linux adds to the round trip for TCP's retransmission timeout."""
MODEL_SHARE = 0.01
# of 108 sound transfers over h7-h9 and h1-h9 on 54 variants of the course network, 25 s each on virtual time, the
# lowest was 0.6 % below the model's worst case
_MODEL_REASON = (
    f"{100 * MODEL_SHARE:g} % less, since the fluid model's windows are no whole packets and its slow start ends at "
    "one of three windows"
)
"""Allowed on a path that runs partly empty after a loss."""
_SAWTOOTH_DEVIATION = 1 / math.sqrt(12)
"""Standard deviation of a value that is equally often everywhere from 0 to 1."""


def unloaded_rtt(path: MeasuredPath) -> Expectation:
    """The mean round trip of pings while nothing else is sent, in ms."""
    floor, (least, most) = path.rtt_floor_ms, path.lone_rtt_ms(PING_PACKET_BYTES)
    why = (
        f"propagation: the links' delays in both directions are {floor:g} ms; serialisation of {PING_PACKET_BYTES} "
        f"bytes adds {least - floor:.2g} ms on cables and {most - least:.2g} ms at most behind token buckets"
    )
    source = "delays and rates of the links, store and forward (RFC 1242)"
    low, high = least - _TIMER_MS, most + _TIMER_MS
    return Expectation(least, low, high, "ms", why, "low", source=source, allowance=_TIMER_REASON)


def full_queue_rtt(
    path: MeasuredPath, hop: Hop | None = None, connections: int = 1, interval_s: float = 1.0
) -> Expectation:
    """The largest round trip of pings beside a long TCP transfer that fills the queue of ``hop``, in ms.

    ``hop`` is the path's bottleneck unless given. The interval's low end is the queue one ping interval before it is
    full, which all ``connections`` together fill: each by CUBIC's curve (RFC 9438, section 4.2), or by 0.53 packets a
    round trip where that is more. The curve is steepest at its end, and the further it has come from its plateau, the
    steeper: for a connection alone 15 % of its window, where fast convergence has lowered the plateau (section 4.7);
    for one of several 30 % of it, where it takes what another gave up.

    Its high end counts the queues of slower links behind ``hop``: a connection gets less than they carry on average,
    and its packets in a row leave ``hop`` faster than that. For pings that come often enough to meet slow start it
    counts those before ``hop`` too whose links carry less than twice as much: each acknowledgement lets two packets go.
    """
    hop = bottleneck_hop(path) if hop is None else hop
    pipe = pipe_of(path, hop)
    base = path.lone_rtt_ms(PING_PACKET_BYTES)[0]
    full = base + pipe.full_queue_ms
    past_s = ((1 - BETA) * pipe.full_window_packets / max(2, connections) / CUBIC_C) ** (1 / 3)
    by_curve = CUBIC_C * (past_s**3 - max(0.0, past_s - interval_s) ** 3)
    by_line = RENO_PACKETS_PER_RTT * 1000 / full * interval_s
    low = max(base, full - (1 + connections * max(by_curve, by_line)) * pipe.packet_ms)
    slack_ms = _QUEUE_SLACK_PACKETS * pipe.packet_ms
    hops, rate_mbps = path.forward.hops, hop.link.rate_mbps or math.inf
    after = next(number for number, it in enumerate(hops, 1) if it.out == hop.out)
    behind = [it.link for it in hops[after:] if (it.link.rate_mbps or math.inf) < rate_mbps]
    before = [it.link for it in hops[: after - 1] if rate_mbps < (it.link.rate_mbps or math.inf) < 2 * rate_mbps]
    crossed = [*behind, *(before if interval_s < _AFTER_SLOW_START_S else ())]
    bursts_ms = math.fsum(full_queue_share_ms(link) for link in crossed)
    why = (
        f"{base:g} ms of delays less {hop.link.label}'s own {hop.link.delay_ms:g}, which its queue counts "
        f"in, plus {pipe.limit_packets:g} packets * {pipe.packet_ms:.4g} ms; a ping every {interval_s:g} s may miss "
        f"the peak by {full - low:.2g} ms"
    )
    if crossed:
        names = " and ".join(link.label for link in crossed)
        why += f"; packets in a row may wait once more, for {names}, up to {bursts_ms:.2g} ms"
    return Expectation(
        full,
        low,
        full + bursts_ms + slack_ms + _TIMER_MS,
        "ms",
        why,
        "low",
        source="the queue's limit, and how fast windows grow (RFC 9438, sections 4.2 and 4.3)",
        allowance=f"{slack_ms:.2g} ms more, {_QUEUE_REASON}; {_TIMER_REASON}",
    )


def loaded_rtt(path: MeasuredPath, duration_s: float = 25, pings: int = 25) -> Expectation:
    """The mean round trip of pings, spread over a TCP transfer of one connection that begins with them, in ms.

    Raises MeasurementError for less than one ping.
    """
    if pings < 1:
        raise MeasurementError(f"pings is {pings}: there must be one at least")
    hop = bottleneck_hop(path)
    pipe = pipe_of(path, hop)
    base, most = path.lone_rtt_ms(PING_PACKET_BYTES)[0], pipe.full_queue_ms
    shares = [course.queue_share for course in courses(pipe, duration_s)]
    least = min(*shares, *(course.queue_share for course in courses(pipe, duration_s, lowered=True)))
    sinking = (1 - BETA) * pipe.full_window_packets / pipe.room_packets if pipe.room_packets else 1.0
    fullest = max(*shares, smooth(pipe, duration_s).queue_share, 1 - min(sinking, 1.0) / 2)
    first = 1 / pings
    sampling = 2 * _SAWTOOTH_DEVIATION / math.sqrt(pings)
    likely = between(statistics.median(shares), 0, 1)
    low = max(0.0, least - first - sampling)
    high = min(1.0, fullest + sampling)
    why = (
        f"{base:g} ms of delays, and of the {most:.3g} ms that {hop.link.label}'s full queue adds "
        f"{100 * low:.0f} to {100 * high:.0f} %: CUBIC's window swings between 0.7 and 1 of what fills path and queue, "
        f"the first ping meets an empty queue, and {pings} pings sample the rest to {100 * sampling:.0f} %"
    )
    slack_ms = _QUEUE_SLACK_PACKETS * pipe.packet_ms
    return Expectation(
        base + between(likely, low, high) * most,
        base + low * most - _TIMER_MS,
        base + high * most + slack_ms + _TIMER_MS,
        "ms",
        why,
        "low",
        source="a fluid model of CUBIC (RFC 9438), and two standard deviations of so many samples of a sawtooth",
        allowance=f"{slack_ms:.2g} ms more, {_QUEUE_REASON}; {_TIMER_REASON}",
    )


def tcp_throughput(path: MeasuredPath, duration_s: float = 25, hop: Hop | None = None) -> Expectation:
    """The application data of one TCP connection (CUBIC) that has the path to itself, in Mbit/s.

    The high end is what headers leave of the bottleneck (`goodput_ceiling_mbps`) and HTB's burst, where there is one.
    The low end is the model's worst case (`linklab.analysis.tcp_model.courses`), over the transfer's time and a
    last full-queue round trip more; where a loss leaves the path partly empty, less `MODEL_SHARE`.

    Raises NetworkError for a path with a link that loses packets at random, of which there is no model.
    """
    lossy_link = next((link for link in (*path.forward.links, *path.reverse.links) if link.loss_percent), None)
    if lossy_link is not None:
        raise NetworkError(
            f"{lossy_link.label} loses {lossy_link.loss_percent:g} % at random: there is no model of TCP over links "
            "that do, set loss_percent to 0"
        )
    hop = bottleneck_hop(path) if hop is None else hop
    pipe = pipe_of(path, hop)
    ceiling = goodput_ceiling_mbps(hop, path_mtu_bytes(path.forward))
    shares = [course.rate_share for course in courses(pipe, duration_s)]
    worst = min(*shares, *(course.rate_share for course in courses(pipe, duration_s, lowered=True)))
    last_s = (pipe.base_ms + pipe.full_queue_ms) / 1000
    late = duration_s / (duration_s + last_s)
    sinks = BETA * pipe.full_window_packets < pipe.bdp_packets
    least = worst * late * (1 - (MODEL_SHARE if sinks else 0.0))
    why = (
        f"headers leave {ceiling:.4g} of {hop.link.label}'s {hop.link.rate_mbps:g} Mbit/s; path and queue hold "
        f"{pipe.full_window_packets:.0f} packets and the path alone {pipe.bdp_packets:.0f}, so after a loss (0.7 of "
        f"the window) {_filled(pipe.full_window_packets, pipe.bdp_packets)}; chance decides where slow start ends and "
        f"whether fast convergence lowers the window, which over {duration_s:g} s costs up to {100 * (1 - least):.2g} %"
    )
    value = ceiling * statistics.median(shares) * late
    burst_bytes = BURST_BYTES if hop.link.overhead_bytes is None else 0
    most = ceiling * (1 + transmission_ms(burst_bytes, hop.link.rate_mbps or math.inf) / 1000 / duration_s)
    source = "headers (RFC 6349, section 4.1), and a fluid model of CUBIC with slow start at its worst (RFC 9438)"
    allowance = _MODEL_REASON if sinks else ""
    return Expectation(value, ceiling * least, most, "Mbit/s", why, source=source, allowance=allowance)


def _filled(full: float, bdp: float) -> str:
    if BETA * full >= bdp:
        return "the path stays full"
    return f"it sinks to {100 * BETA * full / bdp:.0f} % of the rate for a while"


def udp_throughput(
    path: MeasuredPath, offered_mbps: float, duration_s: float = 10, payload_bytes: int = 1448
) -> Expectation:
    """The payload that arrives of datagrams sent at ``offered_mbps`` of payload, in Mbit/s.

    Raises MeasurementError for rates, sizes or durations that are not above 0.
    """
    if not duration_s > 0:
        raise MeasurementError(f"duration_s is {duration_s}: it must be above 0")
    if not offered_mbps > 0:
        raise MeasurementError(f"offered_mbps is {offered_mbps}: it must be above 0")
    ceiling = udp_ceiling_mbps(path, payload_bytes)
    filled, arriving, chance = _course(path, offered_mbps, payload_bytes, duration_s)
    hop = filled[-1] if filled else bottleneck_hop(path)
    packet_bytes = min(payload_bytes + UDP_HEADER_BYTES + IPV4_HEADER_BYTES, path_mtu_bytes(path.forward))
    queues_ms = math.fsum(full_queue_share_ms(each.link, packet_bytes) for each in filled or [hop])
    drain_s = (path.rtt_floor_ms + queues_ms) / 1000
    datagram = payload_bytes * BITS_PER_BYTE / 1e6 / duration_s
    # a queue that overflows may take the tool's own word that the test is over, which TCP then sends again
    late_s = drain_s + (_LEAST_TIMEOUT_S + drain_s if filled else 0.0)
    stray_mbps = chance * offered_mbps
    low = max(0.0, (arriving - stray_mbps) * duration_s / (duration_s + late_s) - datagram)
    # what waits in the queue at the end still arrives
    drained = arriving * (1 + drain_s / duration_s) if filled else arriving
    high = min(offered_mbps, drained + stray_mbps) + datagram
    why = (
        f"{payload_bytes} of {datagram_wire_bytes(hop.link, payload_bytes, hop.tagged):g} bytes that a datagram "
        f"occupies {hop.link.label} with are payload, so it carries {ceiling:.4g} Mbit/s of it, and {offered_mbps:.4g} "
        f"are sent; a test of {duration_s:g} s ends up to {1000 * late_s:.0f} ms late"
    )
    source = "headers, the queues that fill, and Linux's least retransmission timeout of 200 ms (RFC 6298 asks for 1 s)"
    return Expectation(arriving, low, high, "Mbit/s", why, source=source)


def udp_loss_percent(
    path: MeasuredPath, offered_mbps: float, duration_s: float = 10, payload_bytes: int = 1448
) -> Expectation:
    """Return what is lost of the datagrams, in percent of those sent. Raises as `udp_throughput`."""
    through = udp_throughput(path, offered_mbps, duration_s, payload_bytes)
    ceiling = udp_ceiling_mbps(path, payload_bytes)
    filled, arriving, chance = _course(path, offered_mbps, payload_bytes, duration_s)
    lost = 100 * (1 - arriving / offered_mbps)
    sent = offered_mbps * 1e6 * duration_s / (BITS_PER_BYTE * payload_bytes)
    waiting = sum(limit_packets(hop.link) for hop in filled)
    low = max(0.0, lost - 100 * (waiting / sent + chance))
    is_far_from_full = not filled and offered_mbps < _NEARLY_FULL * ceiling
    high = lost + 100 * chance if is_far_from_full else lost + 100 * (1 / sent + chance) + _BURST_LOSS_PERCENT
    high = min(high, 100.0)
    at_random = ", and what links lose at random (to three standard deviations)" if chance else ""
    held = f"less the {waiting:g} packets that full queues hold{at_random}"
    why = f"what is sent beyond the ceiling, {held} ({through.why})"
    source = "the payload that the path carries and the limits of its queues"
    allowance = (
        f"{_BURST_LOSS_PERCENT:g} points from {100 * _NEARLY_FULL:g} % of the ceiling on, since the sending program's "
        "own bursts may overflow a queue that is nearly full"
    )
    allowance = "" if is_far_from_full else allowance
    return Expectation(lost, low, max(high, lost), "%", why, "low", source=source, allowance=allowance)


def _course(
    path: MeasuredPath, offered_mbps: float, payload_bytes: int, duration_s: float
) -> tuple[list[Hop], float, float]:
    """Follow datagrams over the forward path, which netem loses before they meet a link's rate.

    Return the hops to which more is sent than they carry, so that their queues fill, what arrives in Mbit/s, and by
    what share of all that is sent random loss strays: three standard deviations of so many datagrams (binomial).
    """
    filled, arriving, kept = [], offered_mbps, 1.0
    for hop in as_fragmented(path.forward.hops):
        arriving *= 1 - hop.link.loss_percent / 100
        kept *= 1 - hop.link.loss_percent / 100
        if hop.link.rate_mbps is not None and arriving > payload_rate_mbps(hop, payload_bytes):
            filled.append(hop)
            arriving = payload_rate_mbps(hop, payload_bytes)
    sent = offered_mbps * 1e6 * duration_s / (BITS_PER_BYTE * payload_bytes)
    return filled, arriving, 3 * math.sqrt(kept * (1 - kept) / sent)


def udp_ceiling_mbps(path: MeasuredPath, payload_bytes: int = 1448) -> float:
    """The most UDP payload that the path carries, in Mbit/s. Raises NetworkError without a rate-limited link."""
    return payload_rate_mbps(path.forward, payload_bytes)


@dataclass(frozen=True)
class Comparison:
    """A row of a table, and a line of a figure. None stands for what is not there (yet).

    ``quantity`` says what and where: ``"RTT of h1-h4"``. ``theory`` is one number, or an `Expectation` with its
    interval. All numbers are in ``unit``. ``report_theory`` is what theory says of the network that the report
    measured, where that is another than the one measured here; None where it is the same.
    """

    quantity: str
    unit: str
    predicted: float | None = None
    theory: float | Expectation | None = None
    report: float | None = None
    measured: float | None = None
    remark: str = ""
    report_theory: float | None = None

    @property
    def theory_value(self) -> float | None:
        """Theory as one number."""
        return self.theory.value if isinstance(self.theory, Expectation) else self.theory

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where a sound measurement lies by theory, if theory says so."""
        return (self.theory.low, self.theory.high) if isinstance(self.theory, Expectation) else None
