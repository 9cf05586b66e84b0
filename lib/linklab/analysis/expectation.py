"""Compute from theory what a measurement should give: a value, an interval, and the source of the interval."""

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
    full_queue_share_ms,
    limit_packets,
    pipe_of,
    slow_start_outcomes,
    smooth,
)
from linklab.errors import MeasurementError, NetworkError
from linklab.network import Hop, goodput_ceiling_mbps, path_mtu_bytes, payload_rate_mbps
from linklab.network.theory import as_fragmented, hop_datagram_bytes
from linklab.units import BITS_PER_BYTE, IP_HEADER_BYTES, UDP_HEADER_BYTES, transmission_ms

Limit = Literal["low", "high"]
"""The end of an interval that the network itself sets, so that no measurement can lie beyond it: ``"high"`` for
throughput, ``"low"`` for a delay."""


@dataclass(frozen=True)
class Expectation:
    """What a sound measurement gives: most likely ``value``, at least ``low`` and at most ``high`` (in ``unit``).

    ``why`` explains value and interval. ``limit`` is the end that the network itself sets: the high one unless given,
    None if it sets neither (the share of one flow among several).

    ``source`` says what the interval is derived from: a standard, a paper, arithmetic. ``allowance`` is the part of
    the interval that is not derived: its size, and why it is allowed. ``decided_by`` names what decides about a
    measurement if the interval is too wide to do so.

    Raises MeasurementError unless low <= value <= high and both ends are finite, and for an interval with neither
    source nor allowance.
    """

    value: float
    low: float
    high: float
    unit: str
    why: str
    limit: Limit | None = "high"
    source: str = field(default="", kw_only=True)
    allowance: str = field(default="", kw_only=True)
    decided_by: str = field(default="", kw_only=True)

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
        """What the interval is derived from, what is also allowed, and what decides if the interval is too wide."""
        parts = [
            f"derived from {self.source}" if self.source else "",
            f"allowed, not derived: {self.allowance}" if self.allowance else "",
            f"too wide to decide: {self.decided_by} does" if self.decided_by else "",
        ]
        return "; ".join(part for part in parts if part)

    @property
    def explanation(self) -> str:
        """`why`, followed by `basis` in brackets."""
        return f"{self.why} (interval {self.basis})" if self.basis else self.why

    def holds(self, measured: float) -> bool:
        """Return whether a measurement lies in the interval, its ends included."""
        return self.low <= measured <= self.high

    def __str__(self) -> str:
        wide = f" (wide: {self.decided_by} decides)" if self.decided_by else ""
        return f"{self.low:.4g} to {self.high:.4g} {self.unit}{wide}"


def clamp(value: float, low: float, high: float) -> float:
    """Return the value, or the nearer of the two bounds if it lies outside."""
    return min(max(value, low), high)


def answered(rtt_ms: Iterable[float | None]) -> tuple[float, ...]:
    """Return the round-trip times of the pings that were answered, in ms, without None or NaN for lost ones."""
    return tuple(value for value in rtt_ms if value is not None and math.isfinite(value))


ICMP_HEADER_BYTES = 8
"""Size of the header of an echo request of ICMP (RFC 792), and of ICMPv6 (RFC 4443)."""
_TIMER_MS = 0.05
"""Milliseconds allowed on both sides of a round-trip time, for `_TIMER_REASON`."""
_TIMER_REASON = f"{_TIMER_MS:g} ms for ping's own clock, its printed digits and the lab's timers"
_QUEUE_SLACK_PACKETS = 2
"""Packets that a ping may find in front of it beyond the queue's limit, for `_QUEUE_REASON`."""
_QUEUE_REASON = "a packet that is leaving the queue while the ping arrives, and one that the token bucket lets pass"
_AFTER_SLOW_START_S = 0.75
"""Seconds after which slow start is over. Pings start with the transfer: the first finds an empty queue, and with at
least this interval the second comes after slow start."""
_NEARLY_FULL = 0.99
"""Share of the ceiling from which on a UDP sender's own bursts may overflow the queue."""
_BURST_LOSS_PERCENT = 0.5
"""Loss in percent that is allowed for these bursts."""
BURST_BYTES = 15_000
"""Bytes that HTB lets pass above its rate after an idle time (Mininet's ``burst``). They raise the mean of a short
measurement. Usually tc's ``cburst`` of 1600 bytes limits the burst first (`linklab study run burst`)."""
_LEAST_TIMEOUT_S = 0.2
"""Seconds that Linux adds at least to the round-trip time for TCP's retransmission timeout."""
MODEL_ERROR_SHARE = 0.01
"""Share of the throughput that is allowed for the model's error on a path that runs partly empty after a loss."""
# of 108 sound transfers over h7-h9 and h1-h9 on 54 variants of the course network, 25 s each on virtual time, the
# lowest was 0.6 % below the model's worst case
_MODEL_REASON = (
    f"{100 * MODEL_ERROR_SHARE:g} % less, since the fluid model's windows are not whole packets and its slow start "
    "ends at one of three windows"
)
_SAWTOOTH_DEVIATION = 1 / math.sqrt(12)
"""Standard deviation of a uniform distribution on [0, 1]."""


def ping_packet_bytes(path: MeasuredPath) -> int:
    """Return the size in bytes of the IP packet that ping sends over a path by default."""
    return 56 + ICMP_HEADER_BYTES + IP_HEADER_BYTES[path.forward.ip_version]


def unloaded_rtt(path: MeasuredPath) -> Expectation:
    """Return the mean round-trip time of pings while nothing else is sent, in ms."""
    packet_bytes = ping_packet_bytes(path)
    floor, (least, most) = path.rtt_floor_ms, path.unloaded_rtt_ms(packet_bytes)
    why = (
        f"propagation: the links' delays in both directions are {floor:g} ms; serialisation of {packet_bytes} "
        f"bytes adds {least - floor:.2g} ms on cables and {most - least:.2g} ms at most behind token buckets"
    )
    source = "delays and rates of the links, store and forward (RFC 1242)"
    low, high = least - _TIMER_MS, most + _TIMER_MS
    return Expectation(least, low, high, "ms", why, "low", source=source, allowance=_TIMER_REASON)


def full_queue_rtt(
    path: MeasuredPath, hop: Hop | None = None, connections: int = 1, interval_s: float = 1.0
) -> Expectation:
    """Return the largest round-trip time of pings during a long TCP transfer that fills the queue of ``hop``, in ms.

    ``hop`` is the path's bottleneck unless given. The transfer has ``connections`` connections.

    Low end: the last ping before a loss may come one ping interval before the queue is full. During this interval each
    connection's window grows by CUBIC's curve (RFC 9438, section 4.2), or by 0.53 packets per round trip if that is
    more. The curve grows fastest just before a loss, the more so the farther the window is above the plateau: 15 % of
    the window for a single connection (fast convergence lowers the plateau, section 4.7), 30 % for one of several (it
    takes what another released).

    High end: packets that leave ``hop`` back to back can queue again at slower links downstream, although the
    connection's mean rate is below the rates of these links. If pings are frequent enough to see slow start, upstream
    links with less than twice the rate of ``hop`` count too, since in slow start each acknowledgement releases two
    packets.
    """
    hop = bottleneck_hop(path) if hop is None else hop
    pipe = pipe_of(path, hop)
    base = path.unloaded_rtt_ms(ping_packet_bytes(path))[0]
    full = base + pipe.full_queue_ms
    past_s = ((1 - BETA) * pipe.full_window_packets / max(2, connections) / CUBIC_C) ** (1 / 3)
    by_curve = CUBIC_C * (past_s**3 - max(0.0, past_s - interval_s) ** 3)
    by_line = RENO_PACKETS_PER_RTT * 1000 / full * interval_s
    low = max(base, full - (1 + connections * max(by_curve, by_line)) * pipe.packet_ms)
    slack_ms = _QUEUE_SLACK_PACKETS * pipe.packet_ms
    hops, rate_mbps = path.forward.hops, hop.link.rate_mbps or math.inf
    index = next(number for number, it in enumerate(hops) if it.out == hop.out)
    downstream = [it.link for it in hops[index + 1 :] if (it.link.rate_mbps or math.inf) < rate_mbps]
    upstream = [it.link for it in hops[:index] if rate_mbps < (it.link.rate_mbps or math.inf) < 2 * rate_mbps]
    extra_queues = [*downstream, *(upstream if interval_s < _AFTER_SLOW_START_S else ())]
    bursts_ms = math.fsum(full_queue_share_ms(link) for link in extra_queues)
    why = (
        f"{base:g} ms without load, less the {hop.link.delay_ms:g} ms of {hop.link.label}, whose queue limit counts "
        f"packets in flight on the link too, plus {pipe.limit_packets:g} packets * {pipe.packet_ms:.4g} ms; a ping "
        f"every {interval_s:g} s may miss the peak by {full - low:.2g} ms"
    )
    if extra_queues:
        names = " and ".join(link.label for link in extra_queues)
        why += f"; packets sent back to back may queue once more, at {names}, for up to {bursts_ms:.2g} ms"
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


def loaded_rtt(path: MeasuredPath, duration_s: float = 25, pings: int = 25, *, in_step: bool = False) -> Expectation:
    """Return the mean RTT of pings during a TCP transfer of one connection that starts with them, in ms.

    The pings are spread evenly over the transfer. Pings ``in_step`` with the queue's sawtooth all meet one moment of a
    tooth, or two: their mean says no more than one ping (RFC 2330, section 11.1, on periodic samples).

    Raises MeasurementError for less than one ping.
    """
    if pings < 1:
        raise MeasurementError(f"pings is {pings}: there must be at least one")
    hop = bottleneck_hop(path)
    pipe = pipe_of(path, hop)
    base, most = path.unloaded_rtt_ms(ping_packet_bytes(path))[0], pipe.full_queue_ms
    shares = [outcome.queue_share for outcome in slow_start_outcomes(pipe, duration_s)]
    # how full the queue is on average, as a share of its room: in the model's worst case, and at most
    least = min(*shares, *(outcome.queue_share for outcome in slow_start_outcomes(pipe, duration_s, lowered=True)))
    # the queue's swing: by how much of its room it falls at a loss; a steady sawtooth is full less half of that
    swing = (1 - BETA) * pipe.full_window_packets / pipe.room_packets if pipe.room_packets else 1.0
    fullest = max(*shares, smooth(pipe, duration_s).queue_share, 1 - min(swing, 1.0) / 2)
    first_ping = 1 / pings  # it finds an empty queue
    two_standard_errors = 2 * _SAWTOOTH_DEVIATION / math.sqrt(1 if in_step else pings)
    likely = clamp(statistics.median(shares), 0, 1)
    low = max(0.0, least - first_ping - two_standard_errors)
    high = min(1.0, fullest + two_standard_errors)
    why = (
        f"{base:g} ms without load, plus {100 * low:.0f} to {100 * high:.0f} % of the {most:.3g} ms that "
        f"{hop.link.label}'s full queue adds: CUBIC's window swings between 0.7 and 1 of what fills path and queue, "
        f"the first ping meets an empty queue, and the mean of {pings} pings{' in step with it' if in_step else ''} is "
        f"off by up to {100 * two_standard_errors:.0f} %"
    )
    slack_ms = _QUEUE_SLACK_PACKETS * pipe.packet_ms
    return Expectation(
        base + clamp(likely, low, high) * most,
        base + low * most - _TIMER_MS,
        base + high * most + slack_ms + _TIMER_MS,
        "ms",
        why,
        "low",
        source="a fluid model of CUBIC (RFC 9438), and two standard errors of the mean of so many sawtooth samples",
        allowance=f"{slack_ms:.2g} ms more, {_QUEUE_REASON}; {_TIMER_REASON}",
    )


def tcp_throughput(path: MeasuredPath, duration_s: float = 25, hop: Hop | None = None) -> Expectation:
    """Return the goodput of one TCP connection (CUBIC) that has the path to itself, in Mbit/s.

    High end: the bottleneck's rate without headers (`goodput_ceiling_mbps`), plus HTB's burst if the link has HTB.
    Low end: the model's worst case (`linklab.analysis.tcp_model.slow_start_outcomes`), averaged over the duration plus
    one full-queue RTT, and lower by `MODEL_ERROR_SHARE` if the path runs partly empty after a loss.

    Raises NetworkError for a path with a link that loses packets at random: there is no model of TCP for it.
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
    shares = [outcome.rate_share for outcome in slow_start_outcomes(pipe, duration_s)]
    worst = min(*shares, *(outcome.rate_share for outcome in slow_start_outcomes(pipe, duration_s, lowered=True)))
    full_queue_rtt_s = (pipe.base_ms + pipe.full_queue_ms) / 1000
    late = duration_s / (duration_s + full_queue_rtt_s)
    path_runs_empty = BETA * pipe.full_window_packets < pipe.bdp_packets
    least = worst * late * (1 - (MODEL_ERROR_SHARE if path_runs_empty else 0.0))
    after_loss = _after_loss_text(pipe.full_window_packets, pipe.bdp_packets)
    why = (
        f"headers leave {ceiling:.4g} of {hop.link.label}'s {hop.link.rate_mbps:g} Mbit/s; path and queue hold "
        f"{pipe.full_window_packets:.0f} packets and the path alone {pipe.bdp_packets:.0f}, so after a loss (0.7 of "
        f"the window) {after_loss}; chance decides where slow start ends and whether fast convergence lowers "
        f"the window, which over {duration_s:g} s costs up to {100 * (1 - least):.2g} %"
    )
    value = ceiling * statistics.median(shares) * late
    burst_bytes = BURST_BYTES if hop.link.overhead_bytes is None else 0
    most = ceiling * (1 + transmission_ms(burst_bytes, hop.link.rate_mbps or math.inf) / 1000 / duration_s)
    source = "headers (RFC 6349, section 4.1), and a fluid model of CUBIC with slow start at its worst (RFC 9438)"
    allowance = _MODEL_REASON if path_runs_empty else ""
    return Expectation(value, ceiling * least, most, "Mbit/s", why, source=source, allowance=allowance)


def _after_loss_text(full_window_packets: float, bdp_packets: float) -> str:
    if BETA * full_window_packets >= bdp_packets:
        return "the path stays full"
    return f"throughput falls to {100 * BETA * full_window_packets / bdp_packets:.0f} % of the rate for a while"


def udp_throughput(
    path: MeasuredPath, offered_mbps: float, duration_s: float = 10, payload_bytes: int = 1448
) -> Expectation:
    """Return the UDP goodput if payload is sent at ``offered_mbps``, in Mbit/s.

    Raises MeasurementError for rates, sizes or durations that are not above 0.
    """
    if not duration_s > 0:
        raise MeasurementError(f"duration_s is {duration_s}: it must be above 0")
    if not offered_mbps > 0:
        raise MeasurementError(f"offered_mbps is {offered_mbps}: it must be above 0")
    ceiling = udp_ceiling_mbps(path, payload_bytes)
    overloaded, arriving_mbps, loss_share_3sd = _follow_datagrams(path, offered_mbps, payload_bytes, duration_s)
    hop = overloaded[-1] if overloaded else bottleneck_hop(path)
    header_bytes = UDP_HEADER_BYTES + IP_HEADER_BYTES[hop.ip_version]
    packet_bytes = min(payload_bytes + header_bytes, path_mtu_bytes(path.forward))
    queues_ms = math.fsum(full_queue_share_ms(each.link, packet_bytes) for each in overloaded or [hop])
    drain_s = (path.rtt_floor_ms + queues_ms) / 1000
    one_datagram_mbps = payload_bytes * BITS_PER_BYTE / 1e6 / duration_s
    # a full queue may drop the tool's control message that ends the test; TCP retransmits it after its timeout
    late_s = drain_s + (_LEAST_TIMEOUT_S + drain_s if overloaded else 0.0)
    loss_margin_mbps = loss_share_3sd * offered_mbps
    low = max(0.0, (arriving_mbps - loss_margin_mbps) * duration_s / (duration_s + late_s) - one_datagram_mbps)
    # what waits in full queues at the end of the test still arrives
    with_queued_mbps = arriving_mbps * (1 + drain_s / duration_s) if overloaded else arriving_mbps
    high = min(offered_mbps, with_queued_mbps + loss_margin_mbps) + one_datagram_mbps
    why = (
        f"{payload_bytes} of the {hop_datagram_bytes(hop, payload_bytes):g} bytes of a datagram on "
        f"{hop.link.label} are payload, so the path carries {ceiling:.4g} Mbit/s of payload, and {offered_mbps:.4g} "
        f"Mbit/s are sent; a test of {duration_s:g} s ends up to {1000 * late_s:.0f} ms late"
    )
    source = (
        "headers, the queues that fill, and Linux's minimum retransmission timeout, the round-trip time plus 200 ms "
        "(RFC 6298 asks for 1 s)"
    )
    return Expectation(arriving_mbps, low, high, "Mbit/s", why, source=source)


def udp_loss_percent(
    path: MeasuredPath, offered_mbps: float, duration_s: float = 10, payload_bytes: int = 1448
) -> Expectation:
    """Return the loss in percent of the datagrams sent. Raises as `udp_throughput`."""
    through = udp_throughput(path, offered_mbps, duration_s, payload_bytes)
    ceiling = udp_ceiling_mbps(path, payload_bytes)
    overloaded, arriving_mbps, loss_share_3sd = _follow_datagrams(path, offered_mbps, payload_bytes, duration_s)
    lost = 100 * (1 - arriving_mbps / offered_mbps)
    sent = offered_mbps * 1e6 * duration_s / (BITS_PER_BYTE * payload_bytes)
    waiting = sum(limit_packets(hop.link) for hop in overloaded)
    low = max(0.0, lost - 100 * (waiting / sent + loss_share_3sd))
    is_far_from_full = not overloaded and offered_mbps < _NEARLY_FULL * ceiling
    if is_far_from_full:
        high = lost + 100 * loss_share_3sd
    else:
        high = lost + 100 * (1 / sent + loss_share_3sd) + _BURST_LOSS_PERCENT
    high = max(min(high, 100.0), lost)  # no loss is above 100 %
    at_random = ", and what links lose at random (to three standard deviations)" if loss_share_3sd else ""
    held = f"less the {waiting:g} packets that full queues hold{at_random}"
    why = f"what is sent beyond the ceiling, {held} ({through.why})"
    source = "the payload that the path carries and the limits of its queues"
    allowance = (
        f"{_BURST_LOSS_PERCENT:g} points from {100 * _NEARLY_FULL:g} % of the ceiling on, since the sending program's "
        "own bursts may overflow a queue that is nearly full"
    )
    allowance = "" if is_far_from_full else allowance
    return Expectation(lost, low, high, "%", why, "low", source=source, allowance=allowance)


def _follow_datagrams(
    path: MeasuredPath, offered_mbps: float, payload_bytes: int, duration_s: float
) -> tuple[list[Hop], float, float]:
    """Follow datagrams over the forward path: netem drops them at random before a link's rate limits them.

    Return the overloaded hops (those that are sent more than they carry, so that their queues fill), the arriving rate
    in Mbit/s, and three standard deviations (binomial) of the share that is lost at random.
    """
    overloaded, arriving_mbps, kept = [], offered_mbps, 1.0
    for hop in as_fragmented(path.forward.hops):
        arriving_mbps *= 1 - hop.link.loss_percent / 100
        kept *= 1 - hop.link.loss_percent / 100
        if hop.link.rate_mbps is not None and arriving_mbps > payload_rate_mbps(hop, payload_bytes):
            overloaded.append(hop)
            arriving_mbps = payload_rate_mbps(hop, payload_bytes)
    sent = offered_mbps * 1e6 * duration_s / (BITS_PER_BYTE * payload_bytes)
    return overloaded, arriving_mbps, 3 * math.sqrt(kept * (1 - kept) / sent)


def udp_ceiling_mbps(path: MeasuredPath, payload_bytes: int = 1448) -> float:
    """Return the most UDP payload that the path carries, in Mbit/s. Raises NetworkError without a rate-limited link."""
    return payload_rate_mbps(path.forward, payload_bytes)


@dataclass(frozen=True)
class Comparison:
    """One quantity as predicted, by theory, in the course report and as measured: a row of a table or a figure.

    ``quantity`` says what and where: ``"RTT of h1-h4"``. ``predicted`` is the student's prediction, ``report`` what
    the course report published. ``theory`` is one number, or an `Expectation` with its interval. ``report_theory`` is
    what theory gives for the network that the report measured; None if that is the network measured here. All numbers
    are in ``unit``. None: not known (yet).
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
        """The interval that theory gives, from low to high; None if it gives only a number or nothing."""
        return (self.theory.low, self.theory.high) if isinstance(self.theory, Expectation) else None
