"""What several labs ask students to predict of a path: idle round trip, ceiling, full queue, share of a link.

Each function returns a question as data (`linklab.grade.questions.Value`): the number by theory for the path, as
planned or as read back, and the misconceptions that lead to others. `Value` derives mistakes of units and directions.
A prediction fails nobody, so each question has one hint: what to think of, where no slip explains the number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from linklab.analysis import Expectation, Load, MeasuredPath, Share, max_min_shares, measured_path, unloaded_rtt
from linklab.analysis.tcp_model import bottleneck_hop, full_queue_share_ms
from linklab.course import course_network
from linklab.grade.questions import Slip, Value, stated
from linklab.network import Link, NetworkState, goodput_ceiling_mbps, path_mtu_bytes, queueing_delay_ms
from linklab.units import (
    BITS_PER_BYTE,
    ETHERNET_HEADER_BYTES,
    ETHERNET_MTU_BYTES,
    ETHERNET_OVERHEAD_BYTES,
    IPV4_HEADER_BYTES,
    TCP_HEADER_BYTES,
    TCP_TIMESTAMPS_BYTES,
    UDP_HEADER_BYTES,
)

FRAME_BYTES: Final = ETHERNET_MTU_BYTES + ETHERNET_HEADER_BYTES
HEADER_BYTES: Final = ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + TCP_TIMESTAMPS_BYTES
"""The headers of a full frame that carries TCP: 66."""
DATA_BYTES: Final = FRAME_BYTES - HEADER_BYTES

HEADERS: Final = (
    "of each frame of 1514 bytes Ethernet takes 14, IP 20 and TCP 32 (20, and 12 for timestamps): 1448 are data"
)
WEAKEST: Final = "packets cross one link after the other, and the slowest sets the rate"


def path_between(source: str, destination: str, state: NetworkState | None = None) -> MeasuredPath:
    """Return the path between two nodes of the student's course network, as planned or as read back."""
    return measured_path(course_network(), source, destination, state)


def packet_ms(link: Link) -> float:
    """Return the time for one full frame on a link."""
    return queueing_delay_ms(link, 1)


def limited(path: MeasuredPath) -> list[Link]:
    """Return the links of a path that have a rate, in order."""
    return [link for link in path.forward.links if link.rate_mbps is not None]


# --- Round trips


def rtt(key: object, path: MeasuredPath, what: str = "") -> Value:
    """Ask for the round trip of pings on an idle path, in ms."""
    expected = unloaded_rtt(path)
    named = what or f"RTT of {key}"
    hint = "an echo request crosses each link to the destination, and the reply crosses each back"
    rounded = stated(expected.value, "ms", expected.why)
    wide = Expectation(
        expected.value, min(rounded.low, expected.low), max(rounded.high, expected.high), "ms", expected.why, "low",
        allowance=f"{expected.basis}; {rounded.allowance}",
    )  # fmt: skip
    return Value(key, named, wide, hint, tuple(_rtt_slips(path)), round_trip=True)


def _delaying(path: MeasuredPath) -> list[Link]:
    return [link for link in path.forward.links if link.delay_ms]


def _rtt_slips(path: MeasuredPath) -> Iterator[Slip]:
    links, floor = _delaying(path), path.rtt_floor_ms
    if len(links) < 2:
        return
    # first: one direction may be as long as one of several links is in both, and is the likelier slip
    yield Slip(floor / 2, "that is one direction", "a round trip has two")
    every = f"the path crosses {len(links)} links with a delay ({', '.join(link.label for link in links)}): add up"
    yield Slip(2 * sum(link.delay_ms for link in links) / len(links), "that is the mean of the links", every)
    for link in links:
        yield Slip(2 * link.delay_ms, f"that is one link alone, {link.label}", every)
        yield Slip(link.delay_ms, f"that is one link alone, {link.label}, in one direction", every)
        yield Slip(floor - 2 * link.delay_ms, f"{link.label} is missing", every)


def full_queue_rtt(key: object, what: str, path: MeasuredPath, link: Link | None = None) -> Value:
    """Ask for the round trip in ms next to transfers that have filled the queue of ``link``, else of the bottleneck."""
    narrow = link or bottleneck_hop(path).link
    floor = path.rtt_floor_ms
    right = floor + full_queue_share_ms(narrow)
    hint = "a long transfer fills the queue of the bottleneck, and a ping waits in it like any packet"
    why = "the idle round trip, and the time of the packets that wait at the bottleneck"
    return Value(key, what, stated(right, "ms", why), hint, tuple(_full_queue_slips(path, narrow)))


def _full_queue_slips(path: MeasuredPath, narrow: Link) -> Iterator[Slip]:
    floor, whole, added = path.rtt_floor_ms, queueing_delay_ms(narrow), full_queue_share_ms(narrow)
    others = floor - narrow.delay_ms
    waits = "a ping waits in the full queue like any packet"
    twice = f"packets in flight on {narrow.label} are among those that its limit counts: its delay counts once"
    one_direction = "data fills the queue of one direction; the answers come back through an empty one"
    bits = "a packet has 8 bits for each byte: 1514 * 8 of them"
    yield Slip(floor, "that is the round trip of an idle path", waits)
    yield Slip(floor / 2, "that is an idle path, in one direction", waits)
    yield Slip(floor + whole, f"that counts the delay of {narrow.label} twice", twice)
    yield Slip(floor / 2 + whole, "that is one direction, and the queue", "the answer of a ping travels back too")
    yield Slip(floor + 2 * whole, "that counts the queue in both directions", one_direction)
    yield Slip(floor + 2 * added, "that counts the queue in both directions", one_direction)
    yield Slip(whole, "that is the queue alone", "add the delays of the path, in both directions")
    yield Slip((floor + added) / 2, "that is half of it", "a ping's time has both directions in it")
    for factor, words in ((1 / 8, "the queue's time is an eighth of what it is"), (8, "the queue's time is too long")):
        yield Slip(others + factor * whole, words, bits)
        yield Slip(floor + factor * whole, f"{words}, and the delay of {narrow.label} counts twice", bits)
    yield Slip(
        others + whole * DATA_BYTES / FRAME_BYTES, "that counts the data of each packet alone",
        "a queue holds frames of 1514 bytes",
    )  # fmt: skip
    every = [link for link in limited(path) if link.queue_packets]
    only = f"only the queue of {narrow.label} fills: packets leave the others faster than they arrive"
    if len(every) > 1:
        yield Slip(floor + sum(map(full_queue_share_ms, every)), "that fills the queues of all links", only)
        yield Slip(floor + sum(map(queueing_delay_ms, every)), "that fills all queues, on top of the delays", only)
    for link in every:
        if link != narrow:
            yield Slip(floor + full_queue_share_ms(link), f"that is with the queue of {link.label}", only)
            yield Slip(others + queueing_delay_ms(link), f"that is with the queue of {link.label}", only)


# --- Rates


def ceiling(key: object, path: MeasuredPath, what: str = "") -> Value:
    """Ask for the ceiling of TCP's throughput on a path, in Mbit/s: what headers leave of the slowest link."""
    link = bottleneck_hop(path).link
    right = goodput_ceiling_mbps(link.rate_mbps or 0, path_mtu_bytes(path.forward))
    hint = "a path carries what its slowest link carries, and headers take a part of each frame"
    why = f"headers leave 1448 of each 1514 bytes that {link.label} carries"
    return Value(key, what or f"throughput of {key}", stated(right, "Mbit/s", why), hint, tuple(_rate_slips(path)))


def _rate_slips(path: MeasuredPath) -> Iterator[Slip]:
    yield from header_slips(min(link.rate_mbps or 0.0 for link in limited(path)))
    yield from other_link_slips(path, DATA_BYTES / FRAME_BYTES)


def other_link_slips(path: MeasuredPath, data: float) -> Iterator[Slip]:
    """Give the slips of taking another rate than the slowest link's; ``data`` is the share that headers leave."""
    rates = [link.rate_mbps or 0.0 for link in limited(path)]
    if len(rates) < 2:
        return
    names = ", ".join(f"{link.label} {link.rate_mbps:g}" for link in limited(path))
    slowest = f"{WEAKEST} ({names} Mbit/s)"
    for factor, less in ((1.0, ""), (data, ", less headers")):
        yield Slip(factor * sum(rates), f"that is the sum of the links' rates{less}", slowest)
        yield Slip(factor * sum(rates) / len(rates), f"that is the mean of the links' rates{less}", slowest)
        for rate in rates:
            if rate > min(rates):
                yield Slip(factor * rate, f"that is the rate of a link that is not the slowest{less}", slowest)


def header_slips(rate_mbps: float, parts: float = 1.0) -> Iterator[Slip]:
    """Give the slips of counting headers otherwise, for ``parts`` of what a link of that rate carries of data."""
    no_options = ETHERNET_MTU_BYTES - IPV4_HEADER_BYTES - TCP_HEADER_BYTES
    said = (
        (1.0, "that counts headers as data"),
        (no_options / ETHERNET_MTU_BYTES, "that leaves out Ethernet's header and TCP's timestamps"),
        (no_options / FRAME_BYTES, "that leaves out TCP's timestamps"),
        (DATA_BYTES / ETHERNET_MTU_BYTES, "that leaves out Ethernet's header"),
        (DATA_BYTES / (FRAME_BYTES + ETHERNET_OVERHEAD_BYTES), "that counts a real cable's preamble, checksum and gap"),
        (ETHERNET_MTU_BYTES / FRAME_BYTES, "that takes off Ethernet's header alone"),
        ((ETHERNET_MTU_BYTES - IPV4_HEADER_BYTES - UDP_HEADER_BYTES) / FRAME_BYTES, "that takes off UDP's header"),
        (1 / BITS_PER_BYTE, "that is in MByte/s, and counts headers as data"),
    )
    for part, reason in said:
        yield Slip(parts * rate_mbps * part, reason, HEADERS)


# --- Shares of a link


def share_of(loads: Sequence[Load], name: str) -> Share:
    """Return the share of one of several loads in the student's course network, by max-min fairness."""
    return next(share for share in max_min_shares(course_network(), loads) if share.load.name == name)


def fair_share(key: object, what: str, share: Share) -> Value:
    """Ask for what a load gets of the link that it shares, in Mbit/s."""
    hint = "connections that meet at a full link share it, each as much as any other"
    why = "the max-min fair share of what headers leave"
    return Value(key, what, stated(share.total_mbps, "Mbit/s", why), hint, tuple(_share_slips(share)))


def _share_slips(share: Share) -> Iterator[Slip]:
    link = share.bottleneck.link
    rate, label, mine = link.rate_mbps or 0.0, link.label, share.load.connections
    among = f"{share.rivals} connections share {label}, and TCP shares by connection, not by host"
    least = "compare what each link of the path has for one connection: the least of them decides"
    yield from header_slips(rate, mine / share.rivals)
    if share.rivals > mine:
        yield Slip(share.connection_mbps * share.rivals, "that is the sum of all connections", f"{among}: divide")
        yield Slip(rate, "that is the whole rate of the link", f"{among}: divide")
    if mine > 1:
        yield Slip(share.connection_mbps, "that is one of its connections", f"{mine} of them are asked for")
    for other in limited(share.path):
        if other == link:
            continue
        for whole, less in ((goodput_ceiling_mbps(other.rate_mbps or 0), ", less headers"), (other.rate_mbps or 0, "")):
            yield Slip(whole, f"that is what {other.label} carries{less}", least)
            if share.rivals > 1:
                yield Slip(whole * mine / share.rivals, f"that is a part of {other.label}{less}", least)
    if share.rivals == 1:
        apart = "follow both paths in the figure: which link do both cross?"
        yield Slip(share.total_mbps / 2, "that is a half, as if a link were shared", apart)
        yield Slip(rate / 2, "that is half of the rate, as if a link were shared", apart)
