"""Networks that nobody has seen: two hosts with a chain of routers between them, drawn from a seed. Pure."""

from __future__ import annotations

import math
import random
from typing import Final

from linklab.errors import NetworkError
from linklab.network.model import End, Host, Link, Router
from linklab.network.validation import Network
from linklab.units import BITS_PER_BYTE, ETHERNET_HEADER_BYTES, ETHERNET_MTU_BYTES

LINKS: Final = (2, 6)
"""How many limited links a chain has, unless told otherwise."""
RATE_MBPS: Final = (2.0, 100.0)
"""Between which rates all its links lie, unless told otherwise."""
_DELAY_MS: Final = (1, 20)
_QUEUE: Final = (1.0, 2.0)
_SHORTEST_QUEUE: Final = 30
_FRAME_BITS: Final = BITS_PER_BYTE * (ETHERNET_MTU_BYTES + ETHERNET_HEADER_BYTES)


def random_chain(
    seed: int,
    links: tuple[int, int] = LINKS,
    bottleneck_mbps: tuple[float, float] = RATE_MBPS,
    fastest_mbps: float = RATE_MBPS[1],
) -> Network:
    """The network of a seed: h1, routers r1, r2, ... in a row, h2; the same seed gives the same network.

    The links between the routers, `links` of them, are limited; the cables to the hosts are not. The bottleneck's
    rate is drawn from `bottleneck_mbps`, evenly on a logarithmic scale, so that slow networks are as likely as fast
    ones, and its place from all links. The others lie between it and `fastest_mbps`. Delays are 1 to 20 ms. A queue
    holds one to two times what the link's own round trip holds, and 30 packets at least: netem's limit counts the
    packets that are being delayed as well, so a shorter one could not carry the rate.

    Raises NetworkError for bounds in the wrong order or out of what a link can be.
    """
    _refuse_bounds("links", links, 1, 100)
    _refuse_bounds("bottleneck_mbps", bottleneck_mbps, 0.1, fastest_mbps)
    draw = random.Random(f"linklab chain {seed}")
    count = draw.randint(*links)
    slow_mbps = round(math.exp(draw.uniform(*map(math.log, bottleneck_mbps))), 1)
    rates_mbps = [round(draw.uniform(slow_mbps, fastest_mbps), 1) for _ in range(count)]
    rates_mbps[draw.randrange(count)] = slow_mbps
    routers = [f"r{number}" for number in range(1, count + 2)]
    chain = []
    for number, rate_mbps in enumerate(rates_mbps, 1):
        delay_ms = draw.randint(*_DELAY_MS)
        round_trip_packets = rate_mbps * 1000 * 2 * delay_ms / _FRAME_BITS
        queue_packets = max(_SHORTEST_QUEUE, math.ceil(round_trip_packets * draw.uniform(*_QUEUE)))
        one, two = f"r{number}", f"r{number + 1}"
        chain.append(
            Link(
                End(one, f"{one}-eth1", f"10.0.{number}.1/24"),
                End(two, f"{two}-eth0", f"10.0.{number}.2/24"),
                name=f"L{number}",
                rate_mbps=rate_mbps,
                delay_ms=delay_ms,
                queue_packets=queue_packets,
            )
        )
    last = count + 1
    return Network(
        f"chain-{seed}",
        (Host("h1"), *map(Router, routers), Host("h2")),
        (
            Link(End("h1", "h1-eth0", "10.0.0.2/24"), End("r1", "r1-eth0", "10.0.0.1/24")),
            *chain,
            Link(
                End(f"r{last}", f"r{last}-eth1", f"10.0.{last}.1/24"),
                End("h2", "h2-eth0", f"10.0.{last}.2/24"),
            ),
        ),
    )


def _refuse_bounds(name: str, bounds: tuple[float, float], least: float, most: float) -> None:
    low, high = bounds
    if not least <= low <= high <= most:
        raise NetworkError(f"{name} is {low:g} to {high:g}: choose two numbers in order, from {least:g} to {most:g}")
