"""Lab 18's networks, derived from a course network, and what runs on them: two homes and a server around a router, and
three hosts at a switch.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from ipaddress import IPv6Interface
from pathlib import Path
from typing import Any, Final

from linklab.course import course_network
from linklab.grade.reachability import LiveLab
from linklab.lab import Lab
from linklab.labs.bottlenecks import derived
from linklab.measure import Recording, recorded
from linklab.measure.headers import ends_of, ip_of, payload_of
from linklab.network import End, Host, Link, Network, Subnet, Switch, dual_stack
from linklab.network.variants import derived_name, first_octets
from linklab.units import ETHERNET_HEADER_BYTES

__all__ = [
    "advertise",
    "call",
    "flood",
    "frames",
    "headers",
    "hide_homes",
    "homes",
    "late",
    "mac",
    "office",
    "page",
    "prefix",
    "spoof",
    "wall",
]

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
_HELLOS: Final = 5
"""Datagrams that a home sends in a call."""
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


def office() -> Network:
    """Return the second network: h1, h2 and h3 at one switch."""
    course = course_network()
    hosts, start = ("h1", "h2", "h3"), first_octets(course)
    return Network(
        name=derived_name(course, "office"),
        nodes=(*map(Host, hosts), Switch("s1")),
        links=tuple(
            Link(End(host, f"{host}-eth0", f"{start}.1.{number}/24"), End("s1", f"s1-eth{number}"), delay_ms=1)
            for number, host in enumerate(hosts, 1)
        ),
        subnets=(Subnet("A", f"{start}.1.0/24"),),
    )


def mac(host: str) -> str:
    """Return a host's MAC address, in both networks: ``"00:00:00:00:00:03"`` for h3."""
    return f"00:00:00:00:00:0{host[1:]}"


def prefix() -> str:
    """Return the IPv6 prefix of h1's home: ``"2001:db8:0:1::/64"``."""
    end = next(iter(homes(ipv6=True).ends_of("h1")))
    return str(IPv6Interface(str(end.ipv6)).network)


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


def late(lab: LiveLab, silence_s: float, exchanges: int = 0) -> bool:
    """Return whether a datagram of h3 still gets home after so many seconds of silence.

    h1 sends h3 a datagram, and h3 does not answer. With ``exchanges`` it sends so many, one a second, and h3
    answers each. Then both are silent, until h3 sends one more.
    """
    return exchange(lab, silence_s, exchanges, "h1")[0]


def exchange(lab: LiveLab, silence_s: float, exchanges: int, host: str) -> tuple[bool, str]:
    """Do what `late` does, with this host, and return as well from where its datagrams came, as h3 sees it."""
    _install(lab, host)
    port = 7000
    _begin(lab, "h3", "late", port, exchanges, silence_s)
    printed = _run(lab, host, "ask", homes().address_of("h3"), port, exchanges, silence_s)
    return "arrived" in printed, next(iter(_printed(lab, "h3", "late")[2:]), "")


def call(lab: LiveLab, h1_begins_s: float = 0, h2_begins_s: float = 2) -> dict[str, list[float]]:
    """Let both homes call each other, and return when each one got the other's datagrams, in seconds.

    h3 tells each of them from where it sees the other one. Then each sends five datagrams to there, one a second.
    """
    address, port = homes().address_of("h3"), 7001
    _install(lab, "h3")
    _begin(lab, "h3", "meet", port)
    _begin(lab, "h2", "call", address, port, h2_begins_s, _HELLOS)
    at_h1 = _run(lab, "h1", "call", address, port, h1_begins_s, _HELLOS)
    lab["h1"].cmd("sleep 1")  # the other one ends a moment later
    return {"h1": _numbers(at_h1), "h2": _numbers(_printed(lab, "h2", "call"))}


def _numbers(lines: Sequence[str]) -> list[float]:
    return [float(line) for line in lines if line.replace(".", "", 1).isdigit()]


def serve(lab: LiveLab) -> None:
    """Start the web server on h3, unless it runs already."""
    _install(lab, "h3")
    _begin(lab, "h3", "web", _PORT, BACKLOG)
    lab["h3"].cmd("sleep 0.5")


def page(lab: LiveLab) -> tuple[int, float]:
    """Let h1 load a page of 100,000 bytes from h3. Return how many arrived within 10 s, and how long it took in s."""
    serve(lab)
    form = "'%{size_download} %{time_total}'"
    size, seconds = lab["h1"].cmd(f"curl -s -o /dev/null -m 10 -w {form} http://{homes().address_of('h3')}/").split()
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


# --- Who has an address


def spoof(lab: Lab) -> Recording:
    """Let h1 ping h2 six times, one a second from 0 s on, and return a recording of it.

    Between the second and the third ping h3 tells h1 that h2's address is at h3. Between the fourth and the fifth one
    h2 tells all hosts that it is at h2. h3 sends on to h2 what it gets for it, as a router does. Before the recording
    all hosts get to know each other, and then h1 forgets.
    """
    one, two = (office().address_of(host) for host in ("h1", "h2"))
    for host in ("h1", "h2", "h3"):
        _install(lab, host)
        lab[host].cmd("ip neigh flush all; sysctl -w net.ipv4.ip_forward=0 net.ipv4.conf.all.send_redirects=0")
    for host, others in (("h1", two), ("h2", one), ("h3", f"{one} {two}")):
        lab[host].cmd(f"for other in {others}; do ping -c 1 $other; done")
    lab["h3"].cmd("sysctl -w net.ipv4.ip_forward=1 net.ipv4.conf.h3-eth0.send_redirects=0")
    lab.sleep(8)  # until all have asked each other anew, as kernels do after five seconds
    lab["h1"].cmd("ip neigh flush all")
    with recorded(lab) as found:
        _begin(lab, "h3", "announce", "h3-eth0", two, 1.5, one)
        _begin(lab, "h2", "announce", "h2-eth0", two, 3.5)
        lab["h1"].cmd(f"ping -c 6 {two}")
    return found


def frames(recording: Recording) -> list[str]:
    """Return a line for each frame on h1's cable: number, instant in s, both MAC addresses, and what it says."""
    hops = [hop for name in ("h1-eth0", "s1-eth1") for hop in recording.of(name) if hop.left_ns is not None]
    hops.sort(key=lambda it: it.left_ns or 0)
    begin_ns = (hops[0].left_ns or 0) if hops else 0
    return [
        f"{number:2d} {((hop.left_ns or 0) - begin_ns) / 1e9:6.3f}  {_macs(hop.head)}  {_said(hop.head)}"
        for number, hop in enumerate(hops, 1)
    ]


def _macs(head: bytes) -> str:
    return f"{head[6:12].hex(':')} > {head[:6].hex(':')}"


def _said(head: bytes) -> str:
    """Return what a frame says: of ARP (RFC 826) the question or the answer, else addresses and kind of its packet."""
    at, _ = payload_of(head)
    ends = ends_of(head)
    if ends.protocol != "ARP":
        return f"{_kind(head, ends.protocol)}, {ends.source} > {ends.destination}"
    source, wanted = (".".join(map(str, head[at + first : at + first + 4])) for first in (14, 24))
    if head[at + 7] == 1:
        return f"ARP: who has {wanted}? Tell {source}"
    return f"ARP: {source} is at {head[at + 8 : at + 14].hex(':')}"


def advertise(lab: LiveLab) -> str:
    """Take h1's IPv6 address and default route away, and let r1 advertise `prefix`. Return the address of h1 then."""
    _install(lab, "r1")
    lab["h1"].cmd("ip -6 addr flush dev h1-eth0 scope global; ip -6 route flush default")
    _run(lab, "r1", "advertise", "r1-eth0", prefix().partition("/")[0])
    lab["h1"].cmd("sleep 1")
    words = lab["h1"].cmd("ip -6 -o addr show dev h1-eth0 scope global dynamic").split()
    return words[words.index("inet6") + 1].partition("/")[0] if "inet6" in words else ""


_MESSAGES: Final = {
    (1, 0): "echo reply",
    (1, 3): "unreachable",
    (1, 8): "echo request",
    (58, 2): "packet too big",
    (58, 128): "echo request",
    (58, 129): "echo reply",
    (58, 134): "router advertisement",
    (58, 135): "neighbour solicitation",
    (58, 136): "neighbour advertisement",
}
"""Messages of ICMP (RFC 792) and ICMPv6 (RFC 4443, RFC 4861), by the number of the protocol and the type."""
_TOO_BIG: Final = b"\x03\x04"
"""Type and code by which a router tells that a packet is too large to pass on (RFC 1191); RFC 4443 has an own type."""
_FRAGMENT: Final = 44
"""The number of IPv6's header for fragments (RFC 8200, section 4.5)."""


def headers(recording: Recording, *interfaces: str) -> str:
    """Return a line for each packet that left by one of these interfaces: its IP packet's bytes, addresses, ports."""
    sent = [hop for name in interfaces for hop in recording.of(name) if hop.left_ns is not None]
    wide = max(22, 2 + max((len(ends_of(hop.head).source) for hop in sent), default=0))
    lines = [f"{'s':>8}  {'from':<9}{'bytes':>5}  {'source':<{wide}}destination"]
    for hop in sorted(sent, key=lambda it: it.left_ns or 0):
        ends = ends_of(hop.head)
        at_s = (hop.left_ns or 0) / 1e9 - recording.begin_s
        size_bytes = hop.length_bytes - ETHERNET_HEADER_BYTES
        where = f"{ends.source:<{wide}}{ends.destination}"
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
    if ip.protocol == 1 and head[ip.data : ip.data + 2] == _TOO_BIG:
        message = "packet too big"
    return f"{protocol}, {message}" if message else protocol
