"""Lab 18's network: two homes and a server around a router, derived from a course network. And what runs on it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from linklab.course import course_network
from linklab.grade.reachability import LiveLab
from linklab.labs.bottlenecks import derived
from linklab.measure import Recording
from linklab.measure.headers import ends_of, ip_of
from linklab.network import Network, dual_stack
from linklab.units import ETHERNET_HEADER_BYTES

__all__ = ["call", "flood", "headers", "hide_homes", "homes", "late", "page", "wall"]

ROUTERS: Final = {"h1": "r1", "h2": "r2"}
"""The home router of each host."""
OUTER: Final = {"r1": "r1-eth1", "r2": "r2-eth1"}
"""The interface of a home router that leads to the Internet."""
NARROW_MTU_BYTES: Final = 1400
"""The MTU of the cable between r1 and r3: some tunnel takes the other 100 bytes."""
BACKLOG: Final = 64
"""How many half-open connections the server's program asks the kernel to keep."""
_PROGRAM: Final = "/tmp/lab18.py"
_PORT: Final = 80
_PIECE: Final = 900
"""Characters of a program that one command carries."""


def homes(*, ipv6: bool = False) -> Network:
    """Return the student's own network: homes h1 behind r1 and h2 behind r2, the server h3, and r3 between them all.

    A home's cable to r3 has half the delay of the course network's L1, and the server's cable that of L2.
    """
    course = course_network()
    access, server = ({"delay_ms": course.link(name).delay_ms / 2} for name in ("L1", "L2"))
    network = derived(
        course,
        "homes",
        {
            "A": (("h1-eth0", 2), ("r1-eth0", 1), {}),
            "B": (("h2-eth0", 2), ("r2-eth0", 1), {}),
            "C": (("h3-eth0", 2), ("r3-eth0", 1), server),
            "D": (("r1-eth1", 2), ("r3-eth1", 1), access | {"mtu_bytes": NARROW_MTU_BYTES}),
            "E": (("r2-eth1", 2), ("r3-eth2", 1), access),
        },
    )
    return dual_stack(network) if ipv6 else network


def outer_address(router: str) -> str:
    """Return the address that a home router has on the Internet."""
    return next(str(end.parsed.ip) for end in homes().ends_of(router) if end.interface == OUTER[router])


def rtt_ms() -> float:
    """Return the round-trip time from h1 to h3."""
    network = homes()
    return 2 * sum(network.link(name).delay_ms for name in ("r1-r3", "h3-r3"))


def hide_homes(lab: LiveLab) -> None:
    """Take the routes to both homes away from all routers outside of them: their addresses are private (RFC 1918)."""
    subnets = {host: str(next(iter(homes().ends_of(host))).parsed.network) for host in ROUTERS}
    for router in ("r1", "r2", "r3"):
        for host, subnet in subnets.items():
            if ROUTERS[host] != router:
                lab[router].cmd(f"ip route del {subnet}")


# --- Programs on hosts


def _install(lab: LiveLab, host: str) -> None:
    """Write the lab's program into a host, by commands: a judge has nothing else."""
    text = base64.b64encode(zlib.compress((Path(__file__).parent / "in_the_lab.py").read_bytes(), 9)).decode()
    lab[host].cmd(f"rm -f {_PROGRAM} {_PROGRAM}.z")
    for at in range(0, len(text), _PIECE):
        lab[host].cmd(f"printf %s '{text[at : at + _PIECE]}' >> {_PROGRAM}.z")
    reads = f"import base64, zlib; print(zlib.decompress(base64.b64decode(open('{_PROGRAM}.z').read())).decode())"
    lab[host].cmd(f'python3 -c "{reads}" > {_PROGRAM}')


def _run(lab: LiveLab, host: str, *words: object) -> list[str]:
    """Run a mode of the program to its end, and return the lines that it prints."""
    return lab[host].cmd(f"python3 {_PROGRAM} {' '.join(map(str, words))}").split("\n")


def _begin(lab: LiveLab, host: str, *words: object) -> None:
    """Start a mode of the program, which goes on while other commands run. What it prints goes into a file."""
    lab[host].cmd(f"python3 {_PROGRAM} {' '.join(map(str, words))} > {_PROGRAM}.{words[0]} 2>&1 &")


def _printed(lab: LiveLab, host: str, mode: str) -> list[str]:
    return lab[host].cmd(f"cat {_PROGRAM}.{mode}").split()


def late(lab: LiveLab, silence_s: float, exchanges: int = 0, host: str = "h1") -> bool:
    """Return whether a datagram of h3 still gets home after so many seconds of silence.

    The host sends h3 a datagram, and h3 does not answer. With ``exchanges`` it sends so many, one a second, and h3
    answers each. Then both are silent, until h3 sends one more.
    """
    return exchange(lab, silence_s, exchanges, host)[0]


def exchange(lab: LiveLab, silence_s: float, exchanges: int, host: str) -> tuple[bool, str]:
    """Do what `late` does, and return as well from where the host's datagrams came, as h3 sees it."""
    _install(lab, host)
    port = 7000
    _begin(lab, "h3", "late", port, exchanges, silence_s)
    printed = _run(lab, host, "ask", homes().address_of("h3"), port, exchanges, silence_s)
    return "arrived" in printed, next(iter(_printed(lab, "h3", "late")[2:]), "")


def call(lab: LiveLab, h1_begins_s: float = 0, h2_begins_s: float = 2, hellos: int = 5) -> dict[str, list[float]]:
    """Let both homes call each other, and return when each one got the other's datagrams, in seconds.

    h3 tells each of them from where it sees the other one. Then each sends so many datagrams to there, one a second.
    """
    address, port = homes().address_of("h3"), 7001
    _install(lab, "h3")
    _begin(lab, "h3", "meet", port)
    _begin(lab, "h2", "call", address, port, h2_begins_s, hellos)
    at_h1 = _run(lab, "h1", "call", address, port, h1_begins_s, hellos)
    lab["h1"].cmd("sleep 1")  # the other one ends a moment later
    return {"h1": _numbers(at_h1), "h2": _numbers(_printed(lab, "h2", "call"))}


def _numbers(lines: Sequence[str]) -> list[float]:
    return [float(line) for line in lines if line.replace(".", "", 1).isdigit()]


def serve(lab: LiveLab) -> None:
    """Start the web server on h3, unless it runs already."""
    _install(lab, "h3")
    _begin(lab, "h3", "web", _PORT, BACKLOG)
    lab["h3"].cmd("sleep 0.5")


def page(lab: LiveLab, host: str = "h1") -> tuple[int, float]:
    """Load a page of 100,000 bytes from h3. Return how many bytes arrived within 10 s, and how long it took in s."""
    serve(lab)
    form = "'%{size_download} %{time_total}'"
    size, seconds = lab[host].cmd(f"curl -s -o /dev/null -m 10 -w {form} http://{homes().address_of('h3')}/").split()
    return int(size), float(seconds)


WALL: Final = "nft add rule ip wall in meta l4proto icmp icmp type != echo-request drop"
"""The one rule of the server's filter."""


def wall(lab: LiveLab) -> str:
    """Give h3 a filter that drops all messages of ICMP but pings, and return it as nft shows it."""
    lab["h3"].cmd("nft add table ip wall; nft 'add chain ip wall in { type filter hook input priority filter; }'")
    lab["h3"].cmd("nft flush table ip wall; " + WALL)
    return lab["h3"].cmd("nft list table ip wall")


def flood(lab: LiveLab, rate: float, seconds: int, clients_s: Sequence[float] = ()) -> dict[str, Any]:
    """Flood h3 with so many SYNs a second from h2, each from another address that nobody has.

    Return ``rate``, ``half_open`` (how many half-open connections h3 has after 0.5 s, 1.5 s, ...) and ``served``: for
    each instant of ``clients_s`` whether h1, a real client, got a connection then.
    """
    network = homes()
    address = network.address_of("h3")
    lab["r3"].cmd("ip route replace blackhole 198.51.100.0/24")
    serve(lab)
    for host in ("h1", "h2"):
        _install(lab, host)
    if clients_s:
        _begin(lab, "h1", "connect", address, _PORT, *clients_s)
    _begin(lab, "h2", "flood", address, _PORT, rate, seconds)
    counts = _run(lab, "h3", "watch", _PORT, seconds)
    lab["h1"].cmd("wait")
    served = _printed(lab, "h1", "connect") if clients_s else []
    return {
        "rate": rate,
        "half_open": [int(line) for line in counts if line.isdigit()],
        "served": {float(at): said == "served" for at, said in zip(served[::2], served[1::2], strict=True)},
    }


_MESSAGES: Final = {
    (1, 0): "echo reply",
    (1, 3): "unreachable",
    (1, 8): "echo request",
    (58, 2): "packet too big",
    (58, 128): "echo request",
    (58, 129): "echo reply",
    (58, 135): "neighbour solicitation",
    (58, 136): "neighbour advertisement",
}
"""Messages of ICMP (RFC 792) and ICMPv6 (RFC 4443, RFC 4861), by the number of the protocol and the type."""
_FRAGMENT: Final = 44
"""The number of IPv6's header for fragments (RFC 8200, section 4.5)."""


def headers(recording: Recording, *interfaces: str) -> str:
    """Return a line for each packet that left by one of these interfaces: its IP packet's bytes, addresses, ports."""
    sent = [hop for name in interfaces for hop in recording.of(name) if hop.left_ns is not None]
    lines = [f"{'s':>8}  {'from':<9}{'bytes':>5}  {'source':<22}destination"]
    for hop in sorted(sent, key=lambda it: it.left_ns or 0):
        ends = ends_of(hop.head)
        at_s = (hop.left_ns or 0) / 1e9 - recording.begin_s
        size_bytes = hop.length_bytes - ETHERNET_HEADER_BYTES
        where = f"{ends.source:<22}{ends.destination}"
        lines.append(f"{at_s:8.3f}  {hop.interface:<9}{size_bytes:5d}  {where}  {_kind(hop.head, ends.protocol)}")
    return "\n".join(lines)


def _kind(head: bytes, protocol: str) -> str:
    """Return what a packet is: its protocol, and of a message of ICMP which one."""
    ip = ip_of(head)
    if ip is None:
        return protocol
    if ip.protocol == _FRAGMENT:
        return "fragment"
    message = _MESSAGES.get((ip.protocol, head[ip.data])) if len(head) > ip.data else None
    return f"{protocol}, {message}" if message else protocol
