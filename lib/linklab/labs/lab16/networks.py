"""Lab 16's network: a client behind an access link, three name servers and a web server, derived from a course network.

What a browser measures here is round trips: the links are fast, and as far apart as those of the Internet.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from linklab.course import course_network
from linklab.errors import LabError
from linklab.lab import Lab
from linklab.labs.bottlenecks import Cable, derived
from linklab.network import Network, path, rtt_floor_ms

__all__ = ["lose_object", "lost_object", "rtt_ms", "web"]

CLIENT: Final = "client"
ROOT, TOP, ZONE, WWW = "nsroot", "nstop", "nszone", "www"
NAME_SERVERS: Final = (ROOT, TOP, ZONE)
"""In the order in which a resolver asks them."""
SUB: Final = "nssub"
"""A name server more, in the lab of the resolver's check: `ZONE` refers to it."""
_FAST: Final = 10
"""The access link is so many times as fast as the course network's L1."""


def web(rate_mbps: float | None = None) -> Network:
    """Return the student's own network: `client` behind r1, servers behind r2, each at a distance of its own.

    The access link, r1-r2, has the delay of the course network's L1, and ten times its rate: 400 Mbit/s on the plain
    one. ``rate_mbps`` gives it another rate.
    """
    hosts = dict.fromkeys((*NAME_SERVERS, WWW), 2)
    return _servers("web" if rate_mbps is None else f"web-{rate_mbps:g}", hosts, rate_mbps)


def other_web(text: str) -> Network:
    """Return a network for the check of a resolver: with `SUB`, and with addresses of servers that follow from a text.

    The text is the resolver's, so a resolver with an address written in is another text, and meets other addresses.
    """
    drawn = random.Random(text)
    return _servers("other-web", {server: drawn.randrange(20, 250) for server in (WWW, SUB, *NAME_SERVERS[::-1])})


def _servers(name: str, hosts: Mapping[str, int], rate_mbps: float | None = None) -> Network:
    """Return a network with these servers, in this order, by the last number of their addresses."""
    course = course_network()
    delays = {name: course.link(name).delay_ms for name in ("L1", "L2", "L3")}
    access = {
        "delay_ms": delays["L1"],
        "rate_mbps": rate_mbps or _FAST * (course.link("L1").rate_mbps or 0.0),
        "queue_packets": 1000,
    }
    away: Mapping[str, float] = {
        ROOT: delays["L1"], TOP: 1.5 * delays["L3"], ZONE: delays["L2"], SUB: delays["L3"], WWW: 1.5 * delays["L2"],
    }  # fmt: skip
    cables: dict[str, Cable] = {
        "A": (("client-eth0", 2), ("r1-eth0", 1), {}),
        "B": (("r1-eth1", 1), ("r2-eth0", 2), access),
    }
    for number, (server, host) in enumerate(hosts.items(), 1):
        cables["CDEFG"[number - 1]] = (
            (f"r2-eth{number}", 1), (f"{server}-eth0", host), {"delay_ms": away[server]},
        )  # fmt: skip
    return derived(course, name, cables)


def rtt_ms(server: str) -> float:
    """Return the round trip from the client to a server of the student's own network, in ms."""
    return rtt_floor_ms(path(web(), CLIENT, server))


def lookup_ms() -> float:
    """Return how long a resolver takes that knows nothing: one round trip to each name server."""
    return sum(map(rtt_ms, NAME_SERVERS))


def lost_object() -> int:
    """Return which of the page's objects is lost in section 6: 2, 3 or 4, by the student's own network."""
    return 2 + int(course_network().link("L2").delay_ms) % 3


def lose_object(lab: Lab) -> None:
    """Let r2 lose the packet that carries `lost_object` of the next page, once, over HTTP/2 and over HTTP/3.

    Each object is one packet of 900 to 1400 bytes, and so is the base file. Of TLS's handshake one packet is as
    large, of QUIC's two.
    """
    number = lost_object()
    rule = "add rule ip lost passing ip saddr {} ip length 900-1400 {} sport != 0 numgen inc mod 1000000 == {} drop"
    address = lab[WWW].address
    lines = ["table ip lost", "delete table ip lost", "add table ip lost",
             "add chain ip lost passing { type filter hook forward priority 0; }",
             rule.format(address, "tcp", number + 1), rule.format(address, "udp", number + 2)]  # fmt: skip
    lab.write_file("/tmp/lost.nft", "\n".join(lines) + "\n")
    printed = lab["r2"].cmd("nft -f /tmp/lost.nft")
    if printed:
        raise LabError(f"r2 cannot lose a packet: {printed.strip()}")
