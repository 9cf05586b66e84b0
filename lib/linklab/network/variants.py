"""Make each student a variant of the course network: other rates, delays, queues and addresses, equally difficult.

HMAC-SHA256 (RFC 2104) derives a variant from a student's id and a secret of the course. So it is the same on every
machine and in every version of Python, and nobody can compute another student's variant without the secret. Bounds
(:func:`difficulty_problems`) make sure that every lab teaches the same on all variants:

* Which links are where, and all names of nodes, interfaces, links and subnets, are the course network's. So are the
  last numbers of addresses (.1, .2, ...) and the masks.
* Rates are whole Mbit/s within 10 % of the course network's, delays whole ms within 20 %.
* L1 is faster than L2 and L2 faster than L3, and half of L2 is slower than L3. So each path and each combination of
  flows keeps its bottleneck. The paths that end with L3 hold as many packets as the course network's, within 8 %.
* Each queue is the bandwidth-delay product of its link, in packets of 1500 bytes: exactly, and even, on L2, whose
  queue Lab 06 halves and doubles; rounded on L1 and L3. On L1 it is rounded so that the packets that wait in a full
  queue are 2.5 % or more apart from those in flight: Lab 04 asks for the one, and must not take the other for it.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import IPv4Interface, IPv4Network
from itertools import count, product
from typing import Final

from linklab.errors import NetworkError
from linklab.network.catalogue import COURSE
from linklab.network.model import End, Link, Shape, Subnet
from linklab.network.validation import Network
from linklab.units import BITS_PER_BYTE, ETHERNET_HEADER_BYTES, ETHERNET_MTU_BYTES

SHORTEST_SECRET_BYTES: Final = 16
"""Somebody could guess a shorter secret, and then compute every variant."""
RATES_MBPS: Final[Mapping[str, range]] = {"L1": range(36, 45), "L2": range(27, 34), "L3": range(18, 23)}
"""Whole Mbit/s, 10 % below to 10 % above 40, 30 and 20."""
DELAYS_MS: Final[Mapping[str, range]] = {"L1": range(8, 13), "L2": range(16, 25), "L3": range(8, 13)}
"""Whole ms, 20 % below to 20 % above 10, 20 and 10."""
RATE_RATIOS: Final[Mapping[tuple[str, str], tuple[float, float]]] = {
    ("L1", "L2"): (1.2, 1.5),
    ("L2", "L3"): (1.35, 1.5),
}
"""Bounds of one link's rate over another's; the course network has 1.33 and 1.5."""
DELAY_RATIOS: Final[Mapping[tuple[str, str], tuple[float, float]]] = {
    ("L2", "L1"): (1.6, 2.4),
    ("L2", "L3"): (1.6, 2.4),
}
"""Bounds of one link's delay over another's; the course network has 2 in both."""
PATH_PRODUCTS: Final[Mapping[tuple[str, ...], float]] = {("L2", "L3"): 0.08, ("L1", "L2", "L3"): 0.08}
"""The largest relative change of the bandwidth-delay products of h7-h9 and h1-h9 from the course network's.

These products decide how slowly TCP's rate rises after its start, and so how far a transfer of 25 s stays below the
ceiling.
"""
WAITING_OVER_FLYING: Final = 1.025
"""The lowest ratio of L1's waiting packets to those in flight; the course network has 1.028."""
_PACKET_BITS: Final = BITS_PER_BYTE * ETHERNET_MTU_BYTES
_FRAME_BITS: Final = BITS_PER_BYTE * (ETHERNET_MTU_BYTES + ETHERNET_HEADER_BYTES)
_ROUNDED: Final = 0.5
_SECOND: Final = range(1, 255)
_THIRD: Final = range(1, 255)


@dataclass(frozen=True)
class LinkNumbers:
    """Rates in Mbit/s and one-way delays in ms of L1, L2 and L3, in that order; the queues follow from them."""

    rates_mbps: tuple[int, int, int]
    delays_ms: tuple[int, int, int]

    @property
    def queues_packets(self) -> tuple[int, ...]:
        """The bandwidth-delay product of each link, in packets of 1500 bytes, rounded."""
        both = zip(self.rates_mbps, self.delays_ms, strict=True)
        return tuple(round(rate * 2 * delay * 1000 / _PACKET_BITS) for rate, delay in both)


def variant(student: str, secret: bytes) -> Network:
    """Return the course network of one student. The same id and secret always give the same network.

    ``student`` is the id by which the course knows the student; blanks around it and its case do not matter.
    Raises NetworkError for an empty id and for a secret of less than 16 bytes.
    """
    known = normalised(student)
    _refuse_short_secret(secret)
    shapes = _shapes()
    return _network(
        shapes[_number(secret, known, "shape") % len(shapes)],
        _SECOND[_number(secret, known, "second") % len(_SECOND)],
        _third_numbers(secret, known),
        f"course-{_number(secret, known, 'name') % 16**6:06x}",
    )


def variants(students: Iterable[str], secret: bytes) -> dict[str, Network]:
    """Return the network of each student, by the id as given.

    Raises NetworkError as :func:`variant`, and if two ids are the same, or if two students would have the same numbers
    throughout. There are more than 10**20 networks, so the latter must be a mistake in the list.
    """
    found: dict[str, Network] = {}
    seen: dict[str, str] = {}
    taken: dict[tuple[object, ...], str] = {}
    for student in students:
        known = normalised(student)
        if known in seen:
            raise NetworkError(f"{student!r} is listed twice (as {seen[known]!r}): list each student once")
        seen[known] = student
        network = variant(student, secret)
        other = taken.setdefault(numbers_of(network), student)
        if other != student:
            raise NetworkError(f"{student!r} and {other!r} have the same network: choose another course secret")
        found[student] = network
    return found


def derived_name(course: Network, name: str) -> str:
    """Return the name of a network that is derived from a course network; behind it stands the variant's, if any."""
    return name if course.name == "course" else f"{name}-{course.name.removeprefix('course-')}"


def first_octets(course: Network) -> str:
    """Return the first two numbers of all addresses of a course network, such as ``10.0``."""
    return ".".join(course.subnets[0].prefix.split(".")[:2])


def normalised(student: str) -> str:
    """Return a student's id in composed Unicode, without blanks around it, in small letters.

    Raises NetworkError if nothing is left of it.
    """
    known = unicodedata.normalize("NFC", student).strip().casefold()
    if not known:
        raise NetworkError("a student's id is empty: give each student one")
    return known


def numbers_of(network: Network) -> tuple[object, ...]:
    """Return all numbers that a student has to compute with: shapes of L1 to L3, and every address."""
    return (
        *(network.link(name).shape for name in RATES_MBPS),
        *(end.address for link in network.links for end in link.ends),
    )


def difficulty_problems(network: Network) -> Iterator[str]:
    """Yield a line for each way in which a network is not as difficult as the course network."""
    if _without_numbers(network) != _without_numbers(COURSE):
        yield "nodes, links, interfaces or subnets are not the course network's"
        return
    for name in RATES_MBPS:
        link = network.link(name)
        if link.rate_mbps not in RATES_MBPS[name]:
            yield f"the rate of {name} is {link.rate_mbps} Mbit/s"
        if link.delay_ms not in DELAYS_MS[name]:
            yield f"the delay of {name} is {link.delay_ms} ms"
        if replace(link.shape, rate_mbps=None, delay_ms=0, queue_packets=None) != Shape():
            yield f"{name} has more than a rate, a delay and a queue"
        if link.mtu_bytes != ETHERNET_MTU_BYTES:
            yield f"{name} has another MTU"
        product_packets = (link.rate_mbps or 0) * 2 * link.delay_ms * 1000 / _PACKET_BITS
        if abs((link.queue_packets or 0) - product_packets) > (0 if name == "L2" else _ROUNDED):
            yield f"the queue of {name} is {link.queue_packets} packets and its product {product_packets:g}"
    for links, most in PATH_PRODUCTS.items():
        rate, delay = network.link("L3").rate_mbps or 0, sum(network.link(name).delay_ms for name in links)
        change = _product_change(rate, delay, links)
        if abs(change) > most:
            where = ", ".join(links)
            yield f"the bandwidth-delay product over {where} is {100 * change:+.3g} % from the course network's"
    l1 = network.link("L1")
    if not _waiting_differs(l1.rate_mbps or 0, l1.delay_ms, l1.queue_packets or 0):
        yield "in L1's full queue as many packets wait as are in flight, or nearly"
    if (network.link("L2").queue_packets or 0) % 2:
        yield "half of L2's queue is no whole number"
    for (one, two), (low, high) in RATE_RATIOS.items():
        ratio = (network.link(one).rate_mbps or 0) / (network.link(two).rate_mbps or 1)
        if not low <= ratio <= high:
            yield f"{one} is {ratio:.3g} times as fast as {two}"
    for (one, two), (low, high) in DELAY_RATIOS.items():
        ratio = network.link(one).delay_ms / (network.link(two).delay_ms or 1)
        if not low <= ratio <= high:
            yield f"the delay of {one} is {ratio:.3g} times that of {two}"


def _without_numbers(network: Network) -> object:
    """Return everything but the name, the first three numbers of addresses, and the shapes of L1 to L3."""
    links = tuple(
        (
            link.name,
            *((end.node, end.interface, _host_part(end.address)) for end in link.ends),
            None if link.name in RATES_MBPS else (link.shape, link.mtu_bytes),
        )
        for link in network.links
    )
    return network.nodes, links, tuple(subnet.name for subnet in network.subnets)


def _host_part(address: str | None) -> str | None:
    return None if address is None else address.rpartition(".")[2]


@cache
def _shapes() -> tuple[LinkNumbers, ...]:
    """Return all numbers within the bounds, in a fixed order: another order would change every student's network."""
    names = tuple(RATES_MBPS)
    found = []
    for rates in product(*(RATES_MBPS[name] for name in names)):
        rate = dict(zip(names, rates, strict=True))
        if not _within(rate, RATE_RATIOS):
            continue
        for delays in product(*(DELAYS_MS[name] for name in names)):
            delay = dict(zip(names, delays, strict=True))
            # the product of L2 must be a whole and even number of packets
            if rate["L2"] * delay["L2"] * 2000 % (2 * _PACKET_BITS) or not _within(delay, DELAY_RATIOS):
                continue
            shape = LinkNumbers((rates[0], rates[1], rates[2]), (delays[0], delays[1], delays[2]))
            products = (
                _product_change(rate["L3"], sum(delay[name] for name in links), links) for links in PATH_PRODUCTS
            )
            if not all(abs(one) <= most for one, most in zip(products, PATH_PRODUCTS.values(), strict=True)):
                continue
            if _waiting_differs(shape.rates_mbps[0], shape.delays_ms[0], shape.queues_packets[0]):
                found.append(shape)
    return tuple(found)


def _product_change(rate_mbps: float, delay_ms: float, links: tuple[str, ...]) -> float:
    """Return the relative change of a path's bandwidth-delay product (of the bottleneck L3) from the plain one."""
    plain = (COURSE.link("L3").rate_mbps or 0) * sum(COURSE.link(name).delay_ms for name in links)
    return rate_mbps * delay_ms / plain - 1


def _waiting_differs(rate_mbps: float, delay_ms: float, queue_packets: int) -> bool:
    """Return True if the packets waiting in a full queue differ enough from those in the link's delay."""
    flying = rate_mbps * delay_ms * 1000 / _FRAME_BITS
    return queue_packets - flying >= WAITING_OVER_FLYING * flying


def _within(values: Mapping[str, int], ratios: Mapping[tuple[str, str], tuple[float, float]]) -> bool:
    return all(low <= values[one] / values[two] <= high for (one, two), (low, high) in ratios.items())


def _refuse_short_secret(secret: bytes) -> None:
    if len(secret) < SHORTEST_SECRET_BYTES:
        raise NetworkError(
            f"the course secret has {len(secret)} bytes, and {SHORTEST_SECRET_BYTES} is the least: make one with "
            "`head -c 32 /dev/urandom | base64 > FILE`"
        )


def _number(secret: bytes, student: str, what: str) -> int:
    """Return a number of 256 bits. It has so many bits that a remainder favours nobody."""
    message = f"linklab variant 1\0{what}\0{student}".encode()
    return int.from_bytes(hmac.new(secret, message, hashlib.sha256).digest(), "big")


def _third_numbers(secret: bytes, student: str) -> tuple[int, ...]:
    """Return the third number of each subnet's addresses: all different, in the order of COURSE's subnets."""
    found: list[int] = []
    for attempt in count():
        number = _THIRD[_number(secret, student, f"third {attempt}") % len(_THIRD)]
        if number not in found:
            found.append(number)
        if len(found) == len(COURSE.subnets):
            break
    return tuple(found)


def _network(shape: LinkNumbers, second: int, third: Sequence[int], name: str) -> Network:
    three = zip(shape.rates_mbps, shape.delays_ms, shape.queues_packets, strict=True)
    shapes = {
        link: Shape(rate, delay, queue_packets=queue)
        for link, (rate, delay, queue) in zip(RATES_MBPS, three, strict=True)
    }
    subnets = {subnet.name: f"10.{second}.{number}.0/24" for subnet, number in zip(COURSE.subnets, third, strict=True)}
    return variant_of_numbers(name, shapes, subnets)


def variant_of_numbers(name: str, shapes: Mapping[str, Shape], subnets: Mapping[str, str]) -> Network:
    """Return the course network with other numbers.

    ``shapes`` has the shapes of L1 to L3, and ``subnets`` the prefix of each subnet, by their names. Raises
    NetworkError if that is no valid network, or not within the bounds of variants; KeyError or TypeError if something
    is missing or of another kind.
    """
    first = {IPv4Network(subnet.prefix): IPv4Network(subnets[subnet.name]).network_address for subnet in COURSE.subnets}

    def end(old: End) -> End:
        if old.address is None:
            return old
        was = IPv4Interface(old.address)
        host = int(was.ip) - int(was.network.network_address)
        return replace(old, address=f"{first[was.network] + host}/{was.network.prefixlen}")

    def link(old: Link) -> Link:
        moved = replace(old, a=end(old.a), b=end(old.b))
        return replace(moved, shape=shapes[old.name]) if old.name in RATES_MBPS else moved

    if not isinstance(name, str):
        raise NetworkError("the name of a network is a text")
    plan = tuple(Subnet(subnet.name, subnets[subnet.name]) for subnet in COURSE.subnets)
    network = Network(name, COURSE.nodes, tuple(map(link, COURSE.links)), plan)
    problem = next(difficulty_problems(network), None)
    if problem is not None:
        raise NetworkError(f"{problem}, which no variant of the course network has")
    return network
