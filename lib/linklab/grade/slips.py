"""The numbers that known mistakes lead to: for round trips, throughput and shares of a way through the network.

Each function gives the mistakes that fit a quantity, for `linklab.grade.predictions` and `linklab.grade.measured`.
The likelier comes first; a mistake whose number is a right one never speaks, because right numbers are looked at
before.
"""

from __future__ import annotations

from collections.abc import Iterator

from linklab.analysis import Expectation, MeasuredPath, Share, full_queue_share_ms
from linklab.analysis.tcp_model import bottleneck_hop
from linklab.grade.numbers import Mistake
from linklab.network import queueing_delay_ms

_BYTES = "a byte has 8 bits, and rates are in Mbit/s, millions of bits per second"
_HEADERS = (
    "the rate carries headers too: of each frame of 1514 bytes take away Ethernet's 14, IP's 20 and TCP's 32 "
    "(20, and 12 for timestamps)"
)
_WEAKEST = "packets pass all links of the way, and the slowest of them sets the rate"
_NARROW, _WIDEST = 0.005, 0.15


def scaled(expected: Expectation, factor: float, reason: str, hint: str) -> Mistake:
    """The mistake of a whole interval times a factor: a wrong unit."""
    middle = (expected.low + expected.high) / 2
    half = (expected.high - expected.low) / 2 / middle if middle else 0.0
    return Mistake(factor * middle, reason, hint, min(max(1.2 * half, 0.01), _WIDEST))


def rtt_slips(it: MeasuredPath, expected: Expectation) -> tuple[Mistake, ...]:
    """For the round trip of an idle way, in ms."""
    links = [link for link in it.forward.links if link.delay_ms]
    found = [
        scaled(expected, 0.5, "that is one way", "an echo request goes there, and the reply comes back: count both"),
        scaled(expected, 2, "that is two round trips", "a delay counts once for each direction"),
        *_units_of_time(expected),
    ]
    if len(links) > 1:
        one = "that is one link alone"
        every = f"the way crosses {len(links)} links with a delay ({', '.join(link.label for link in links)}): add up"
        mean = 2 * sum(link.delay_ms for link in links) / len(links)
        found += [
            Mistake(mean, "that is the mean of the links", every, _NARROW),
            *(Mistake(2 * link.delay_ms, f"{one}, {link.label}", every, _NARROW) for link in links),
            *(
                Mistake(link.delay_ms, f"{one}, {link.label}, one way", f"{every}, there and back", _NARROW)
                for link in links
            ),
            *(
                Mistake(expected.value - 2 * link.delay_ms, f"{link.label} is missing", every, _NARROW)
                for link in links
            ),
        ]
    return tuple(found)


def loaded_rtt_slips(it: MeasuredPath, expected: Expectation, share: Share | None = None) -> tuple[Mistake, ...]:
    """For the round trip beside transfers that fill a queue, its mean or its peak, in ms."""
    hop = bottleneck_hop(it) if share is None or share.bottleneck is None else share.bottleneck
    link, floor = hop.link, it.rtt_floor_ms
    packets = 0 if link.queue_packets is None else link.queue_packets
    whole = queueing_delay_ms(link) if packets else 0.0
    in_flight = (
        f"the queue of {packets} packets on {link.label} counts those in flight on the link too: a full queue takes "
        f"{packets} packets' time in all, the link's delay included"
    )
    queue = "a long transfer fills the bottleneck's queue, and a ping waits in it like any packet"
    return (
        Mistake(floor, "that is the round trip of an idle path", queue, _NARROW),
        Mistake(floor / 2, "that is one way, and idle", f"there and back; and {queue}", _NARROW),
        Mistake(floor + whole, "that is the delay and the full queue besides", in_flight, 0.0015),
        Mistake(floor + 2 * whole, "that counts the queue in both directions", "data fills one direction only", 0.01),
        Mistake(
            floor + 2 * full_queue_share_ms(link),
            "that counts the queue in both directions",
            "data fills the queue in one direction; the answers come back through an empty one",
            0.0015,
        ),
        Mistake(whole, "that is the queue alone", "add the delays of the way, there and back", 0.01),
        scaled(expected, 0.5, "that is half of it", "a ping's time is there and back"),
        *_units_of_time(expected),
    )


def throughput_slips(it: MeasuredPath, expected: Expectation) -> tuple[Mistake, ...]:
    """For what one TCP connection carries that has the way to itself, in Mbit/s."""
    rates = [link.rate_mbps for link in it.forward.links if link.rate_mbps is not None]
    narrow = min(rates)
    names = ", ".join(f"{link.label} {link.rate_mbps:g}" for link in it.forward.links if link.rate_mbps is not None)
    found = [Mistake(narrow, "that is the link's rate, headers and all", _HEADERS, _NARROW)]
    if len(rates) > 1:
        slowest = f"{_WEAKEST} ({names} Mbit/s)"
        part = expected.high / narrow
        mean = sum(rates) / len(rates)
        for factor, with_headers in ((1.0, ""), (part, ", less headers")):
            other = f"that is the rate of a link that is not the bottleneck{with_headers}"
            found += [
                Mistake(factor * sum(rates), f"that is the sum of the links' rates{with_headers}", slowest, 0.01),
                *(Mistake(factor * rate, other, slowest, 0.01) for rate in rates if rate != narrow),
                Mistake(factor * mean, f"that is the mean of the links' rates{with_headers}", slowest, 0.01),
            ]
    return (*found, *rate_unit_slips(expected), Mistake(narrow / 8, "that is the link's rate in MByte/s", _BYTES, 0.01))


def share_slips(share: Share, expected: Expectation, connections: int = 1) -> tuple[Mistake, ...]:
    """For what ``connections`` of those that share a bottleneck get, in Mbit/s."""
    if share.bottleneck is None:
        return rate_unit_slips(expected)
    label, rate = share.bottleneck.link.label, share.bottleneck.link.rate_mbps or 0.0
    fair = share.connection_mbps * connections
    whole = share.connection_mbps * share.rivals
    among = f"{share.rivals} connections share {label}, and TCP shares by connection, not by host"
    found = [
        Mistake(rate * connections / share.rivals, "that is a part of the rate, headers and all", _HEADERS, _NARROW),
        Mistake(whole, "that is the sum of all connections", f"{among}: divide", 0.02),
        Mistake(rate, "that is the whole rate of the link", f"{among}: divide; and {_HEADERS}", _NARROW),
    ]
    if share.load.connections > 1:
        other = share.total_mbps if connections == 1 else share.connection_mbps
        said = "of the whole host" if connections == 1 else "of one of its connections"
        found.append(Mistake(other, f"that is the share {said}", among, 0.02))
    return (*found, *(slip for slip in rate_unit_slips(expected) if abs(slip.value - fair) > 0.2 * fair))


def rate_unit_slips(expected: Expectation) -> tuple[Mistake, ...]:
    """Wrong units of a rate that is to be in Mbit/s."""
    kibi = "a Mbit is 1,000,000 bits; 1,048,576 is what some tools mean by M"
    return (
        scaled(expected, 1 / 8, "that looks like MByte/s", f"multiply by 8: {_BYTES}"),
        scaled(expected, 8, "that is eight times too much", f"divide by 8: {_BYTES}"),
        scaled(expected, 1e3, "that looks like kbit/s", "divide by 1000: give it in Mbit/s"),
        scaled(expected, 1e6, "that looks like bit/s", "divide by 1,000,000: give it in Mbit/s"),
        scaled(expected, 1e-3, "that looks like Gbit/s", "multiply by 1000: give it in Mbit/s"),
        scaled(expected, 1 / 1.048576, "that is Mebibit/s, 4.9 % less", kibi),
        scaled(expected, 1.048576, "that is 4.9 % too much, as if M meant 1,048,576", kibi),
        scaled(expected, 1 / 8 / 1.048576, "that looks like MiByte/s", f"{_BYTES}; and {kibi}"),
    )


def loss_slips(expected: Expectation) -> tuple[Mistake, ...]:
    """For a share of packets, in percent."""
    return (
        Mistake(expected.value / 100, "that is a share of 1", "multiply by 100: give it in percent", 0.05),
        Mistake(100 - expected.value, "that is what arrives", "the loss is what is left to 100 %", 0.01),
    )


def jain_slips(expected: Expectation, others: dict[str, float]) -> tuple[Mistake, ...]:
    """For Jain's index. ``others`` are indices of other takers, by what they are of: ``{"hosts": 0.92}``."""
    return (
        *(
            Mistake(
                value, f"that is the index of the {what}", "say first who counts as one: each taker is one x", 0.003
            )
            for what, value in others.items()
        ),
        scaled(expected, 100, "that is in percent", "the index lies between 1/n and 1"),
    )


def _units_of_time(expected: Expectation) -> Iterator[Mistake]:
    yield scaled(expected, 1e-3, "that looks like seconds", "multiply by 1000: give it in ms")
    yield scaled(expected, 1e3, "that looks like microseconds", "divide by 1000: give it in ms")
    yield scaled(expected, 0.5e-3, "that looks like one way, in seconds", "both ways, and in ms")
