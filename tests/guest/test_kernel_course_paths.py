"""Transports, routes, multicast, tunnels and traces of the lab kernel, each seen on the wire or by what it brings.

h1 - r1 - r2 - r3 - h2 is a chain; r1 and three hosts are on a LAN; p1 and p2 have two links of 10 Mbit/s.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import linklab
from linklab.measure import capture
from linklab.network import End, Host, Link, Network, Router, Switch
from linklab.runtime.backends import Kind

from .inside import Datagrams, Transfer, answers, at, attempt, carry, do, root, send

pytestmark = pytest.mark.lab

PATHS = Network(
    "paths",
    (*(Host(name) for name in ("h1", "h2", "a", "b", "c", "p2")), *(Router(name) for name in ("r1", "r2", "r3", "p1")),
     Switch("s1")),
    (
        Link(End("h1", "h1-eth0", "10.0.1.1/24"), End("r1", "r1-eth0", "10.0.1.254/24")),
        Link(End("r1", "r1-eth1", "10.12.0.1/24"), End("r2", "r2-eth0", "10.12.0.2/24")),
        Link(End("r2", "r2-eth1", "10.23.0.2/24"), End("r3", "r3-eth0", "10.23.0.3/24")),
        Link(End("r3", "r3-eth1", "10.0.2.254/24"), End("h2", "h2-eth0", "10.0.2.2/24")),
        Link(End("r1", "r1-eth2", "10.9.0.254/24"), End("s1", "s1-eth0")),
        Link(End("a", "a-eth0", "10.9.0.1/24"), End("s1", "s1-eth1")),
        Link(End("b", "b-eth0", "10.9.0.2/24"), End("s1", "s1-eth2")),
        Link(End("c", "c-eth0", "10.9.0.3/24"), End("s1", "s1-eth3")),
        Link(End("p1", "p1-eth2", "10.9.0.4/24"), End("s1", "s1-eth4")),
        Link(End("p1", "p1-eth0", "10.21.0.1/24"), End("p2", "p2-eth0", "10.21.0.2/24"), rate_mbps=10, delay_ms=1,
             queue_packets=60, name="one"),
        Link(End("p1", "p1-eth1", "10.22.0.1/24"), End("p2", "p2-eth1", "10.22.0.2/24"), rate_mbps=10, delay_ms=1,
             queue_packets=60, name="two"),
    ),
)  # fmt: skip
TCP, MPTCP, SCTP = socket.IPPROTO_TCP, 262, 132
ONE_LINK_MBPS = 10 * 1448 / 1514
CHAIN = ("r1", "r2", "r3")


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(PATHS, folder=tmp_path_factory.mktemp("paths")) as lab:
        yield lab


@contextlib.contextmanager
def cable(lab: linklab.Lab, one: str, other: str, name: str) -> Iterator[None]:
    """A further cable between two nodes; its ends are called ONE-NAME and OTHER-NAME."""
    pid = lab.call(_pid, other)
    do(lab, one, f"ip link add {one}-{name} type veth peer name {other}-{name} netns {pid}",
       f"ip link set {one}-{name} up")  # fmt: skip
    do(lab, other, f"ip link set {other}-{name} up")
    try:
        yield
    finally:
        attempt(lab, one, f"ip link del {one}-{name}")


def _pid(net: Any, name: str) -> int:
    """Inside the lab: a process in the node's namespace."""
    return int(net[name].pid)


@contextlib.contextmanager
def ipv6(lab: linklab.Lab) -> Iterator[None]:
    """IPv6 on the chain: fdNM::N between rN and rM, with routes from h1 (fd01::1) to h2 (fd02::2) and back."""
    addresses = {
        "h1": {"h1-eth0": "fd01::1"}, "r1": {"r1-eth0": "fd01::a", "r1-eth1": "fd12::1"},
        "r2": {"r2-eth0": "fd12::2", "r2-eth1": "fd23::2"}, "r3": {"r3-eth0": "fd23::3", "r3-eth1": "fd02::a"},
        "h2": {"h2-eth0": "fd02::2"},
    }  # fmt: skip
    routes = {
        "h1": ["default via fd01::a"], "r1": ["fd02::/64 via fd12::2", "fd23::/64 via fd12::2"],
        "r2": ["fd01::/64 via fd12::1", "fd02::/64 via fd23::3"],
        "r3": ["fd01::/64 via fd23::2", "fd12::/64 via fd23::2"], "h2": ["default via fd02::a"],
    }  # fmt: skip
    try:
        for node, ends in addresses.items():
            do(lab, node, "sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.all.forwarding=1 "
                          "net.ipv6.conf.default.accept_dad=0")  # fmt: skip
            do(lab, node, *(f"ip address add {address}/64 dev {name} nodad" for name, address in ends.items()))
        for node, lines in routes.items():
            do(lab, node, *(f"ip -6 route add {line}" for line in lines))
        lab.sleep(3)  # until then it is asked whether link-local addresses are in use already
        yield
    finally:
        for node in addresses:
            attempt(lab, node, "ip -6 route flush proto boot", "sysctl -qw net.ipv6.conf.all.disable_ipv6=1")


# -- Transports


def md5(address: str, key: bytes) -> tuple[int, int, bytes]:
    """The socket option that makes TCP sign what it sends to an address, and demand as much (RFC 2385)."""
    to = struct.pack("=HH", socket.AF_INET, 0) + socket.inet_aton(address)
    return TCP, 14, to.ljust(128, b"\0") + struct.pack("=BBHi", 0, 0, len(key), 0) + key.ljust(80, b"\0")


def test_tcp_accepts_only_segments_with_the_right_signature(lab: linklab.Lab) -> None:
    def signed(key: bytes) -> Transfer:
        return Transfer("h1", "h2", "10.0.2.2", 179, client=(md5("10.0.2.2", key),),
                        listener=(md5("10.0.1.1", b"secret"),))  # fmt: skip

    with capture(lab, "r2", "r2-eth0", "tcp") as caught:
        assert carry(lab, signed(b"secret"))["got"] == 1000
    kinds = [{option[0] for option in packet["TCP"].options} for packet in caught.packets]
    assert all(19 in kind or "MD5" in kind for kind in kinds), kinds
    assert carry(lab, signed(b"wrong"))["failure"] == "TimeoutError"
    assert carry(lab, Transfer("h1", "h2", "10.0.2.2", 179, listener=(md5("10.0.1.1", b"secret"),)))["failure"]


def test_mptcp_uses_both_paths(lab: linklab.Lab) -> None:
    """RFC 8684: a server tells of its second address, the client opens a subflow to it, the rates add up."""
    bulk = Transfer("p1", "p2", "10.21.0.2", 80, 3_000_000, protocol=MPTCP, ask=(284, 1, 64))
    alone = carry(lab, bulk)
    do(lab, "p2", "ip mptcp limits set subflow 2", "ip mptcp endpoint add 10.22.0.2 dev p2-eth1 signal")
    do(lab, "p1", "ip mptcp limits set subflow 2 add_addr_accepted 2")
    both = carry(lab, bulk)
    do(lab, "p2", "ip mptcp endpoint flush")
    assert (alone["asked"][0], both["asked"][0]) == (0, 1)  # further subflows
    rate_mbps = [3_000_000 * 8 / found["seconds"] / 1e6 for found in (alone, both)]
    assert 0.85 * ONE_LINK_MBPS < rate_mbps[0] < 1.01 * ONE_LINK_MBPS
    assert 1.6 * ONE_LINK_MBPS < rate_mbps[1] < 2.02 * ONE_LINK_MBPS


def test_sctp_keeps_messages_apart(lab: linklab.Lab) -> None:
    """RFC 9260: each message arrives as it was sent, where TCP would make one stream of them."""
    with capture(lab, "r2", "r2-eth0", "sctp") as caught:
        assert lab.call(_sctp_messages) == ["one", "second", "the third"]
    types = {bytes(packet["IP"].payload)[12] for packet in caught.packets}
    assert {1, 2, 10, 11, 0, 3} <= types  # INIT, INIT ACK, COOKIE ECHO, COOKIE ACK, DATA, SACK


def _sctp_messages(net: Any) -> list[str]:
    """Inside the lab: what h2 receives of three messages that h1 sends one after the other."""
    with (
        at(net, "h2"), socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET, SCTP) as server,
        at(net, "h1"), socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET, SCTP) as client,
    ):  # fmt: skip
        server.bind(("", 5000))
        server.listen()
        server.settimeout(5)
        for words in ("one", "second", "the third"):
            client.sendto(words.encode(), ("10.0.2.2", 5000))
        return [server.recv(1000).decode() for _ in range(3)]


def test_ss_shows_sockets_of_each_transport_and_ends_connections(lab: linklab.Lab) -> None:
    listening = {"sctp": SCTP, "mptcp": MPTCP}
    for name, protocol in listening.items():
        assert "5555" in lab.call(_shown_by_ss, protocol, f"ss -nla --{name}"), name
    server = lab["h2"].popen("iperf3 -s -1")
    lab["h2"].wait_listening(5201)
    client, start = lab["h1"].popen("iperf3 -c 10.0.2.2 -b 100k -t 60"), lab.now()
    lab.sleep(2)
    do(lab, "h1", "ss -K dst 10.0.2.2 dport = 5201")
    assert client.wait(60) != 0
    assert lab.now() - start < 10
    server.terminate()


def _shown_by_ss(net: Any, protocol: int, command: str) -> str:
    """Inside the lab: what a command prints on h1 while a socket listens on port 5555."""
    with at(net, "h1"), socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as listener:
        listener.bind(("", 5555))
        listener.listen()
        return str(net["h1"].cmd(command))


# -- Routes


def test_flows_spread_over_equal_paths(lab: linklab.Lab) -> None:
    do(lab, "p2", "ip address add 10.99.0.1/32 dev lo")
    do(lab, "p1", "ip route add 10.99.0.1 nexthop via 10.21.0.2 nexthop via 10.22.0.2",
       "sysctl -qw net.ipv4.fib_multipath_hash_policy=1")  # fmt: skip
    rate_mbps = []
    for flows in (1, 8):
        server = lab["p2"].popen("iperf3 -s -1")
        lab["p2"].wait_listening(5201)
        report = json.loads(do(lab, "p1", f"iperf3 --json -c 10.99.0.1 -P {flows} -t 3 -O 1"))
        server.wait(20)
        rate_mbps.append(report["end"]["sum_received"]["bits_per_second"] / 1e6)
    do(lab, "p1", "ip route del 10.99.0.1")
    assert 0.9 * ONE_LINK_MBPS < rate_mbps[0] < 1.01 * ONE_LINK_MBPS
    assert 1.8 * ONE_LINK_MBPS < rate_mbps[1] < 2.02 * ONE_LINK_MBPS


def test_customers_with_the_same_addresses_in_vrfs(lab: linklab.Lab) -> None:
    """Two customers of r1 have 172.16.0.1; each is reached in a table of its own (BPF binds programs to a VRF)."""
    with cable(lab, "a", "r1", "red"), cable(lab, "b", "r1", "blue"):
        for number, (customer, name) in enumerate((("a", "red"), ("b", "blue"))):
            do(lab, "r1", f"ip link add {name} type vrf table {100 + number}", f"ip link set {name} up",
               f"ip link set r1-{name} master {name}", f"ip address add 172.16.0.254/24 dev r1-{name}")  # fmt: skip
            do(lab, customer, f"ip address add 172.16.0.1/24 dev {customer}-{name}")
        try:
            for customer, name in (("a", "red"), ("b", "blue")):
                with capture(lab, customer, f"{customer}-{name}", "icmp") as caught:
                    assert " 0% packet loss" in do(lab, "r1", f"ip vrf exec {name} ping -n -c 2 -i 0.1 172.16.0.1")
                assert len(caught.packets) == 4
            assert not answers(lab, "r1", "172.16.0.1")
        finally:
            attempt(lab, "r1", "ip link del red", "ip link del blue")


def test_labels_are_pushed_swapped_and_popped(lab: linklab.Lab) -> None:
    """Static label switched paths in both directions (RFC 3031)."""
    from scapy.contrib.mpls import MPLS

    for router, name in (("r1", "r1-eth1"), ("r2", "r2-eth0"), ("r2", "r2-eth1"), ("r3", "r3-eth0")):
        do(lab, router, "sysctl -qw net.mpls.platform_labels=1000", f"sysctl -qw net.mpls.conf.{name}.input=1")
    do(lab, "r1", "ip route replace 10.0.2.0/24 encap mpls 100 via 10.12.0.2", "ip -f mpls route add 300 dev lo")
    do(lab, "r2", "ip -f mpls route add 100 as 200 via inet 10.23.0.3",
       "ip -f mpls route add 400 as 300 via inet 10.12.0.1")  # fmt: skip
    do(lab, "r3", "ip route replace 10.0.1.0/24 encap mpls 400 via 10.23.0.2", "ip -f mpls route add 200 dev lo")
    with capture(lab, "r2", "r2-eth0") as first, capture(lab, "r2", "r2-eth1") as second:
        assert answers(lab, "h1", "10.0.2.2")
    for router, back in (("r1", "10.0.2.0/24 via 10.12.0.2"), ("r3", "10.0.1.0/24 via 10.23.0.2")):
        do(lab, router, f"ip route replace {back}")
    for router in CHAIN:
        do(lab, router, "sysctl -qw net.mpls.platform_labels=0")
    assert [packet[MPLS].label for packet in first.packets if MPLS in packet] == [100, 300]
    assert [packet[MPLS].label for packet in second.packets if MPLS in packet] == [200, 400]
    assert [packet[MPLS].ttl for packet in second.packets] == [62, 63]


def test_segments_of_ipv6_lead_packets(lab: linklab.Lab) -> None:
    """RFC 8754: r1 writes the way by r2 and r3 into the packet, r3 takes it out; and proves who it is by an HMAC."""
    way = "segs fd0f::2,fd0f::3"
    with ipv6(lab):
        do(lab, "r1", "ip -6 route add fd0f::/64 via fd12::2",
           f"ip -6 route replace fd02::/64 encap seg6 mode encap {way} dev r1-eth1")  # fmt: skip
        do(lab, "r2", "sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.r2-eth0.seg6_enabled=1",
           "ip -6 route add fd0f::3 via fd23::3",
           "ip -6 route add fd0f::2 encap seg6local action End dev r2-eth0")  # fmt: skip
        do(lab, "r3", "sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.r3-eth0.seg6_enabled=1",
           "ip -6 route add fd0f::3 encap seg6local action End.DX6 nh6 fd02::2 dev r3-eth1")  # fmt: skip
        routed = "ip6 proto 43"
        with capture(lab, "r2", "r2-eth0", routed) as first, capture(lab, "r2", "r2-eth1", routed) as second:
            assert answers(lab, "h1", "fd02::2")
        packets = (*first.packets, *second.packets)
        seen = [(packet["IPv6"].dst, packet["IPv6"].payload.segleft) for packet in packets]
        assert seen == [("fd0f::2", 1), ("fd0f::3", 0)]

        for router in CHAIN:
            do(lab, router, "echo secret | setsid -w ip sr hmac set 7 sha256")
        do(lab, "r2", "sysctl -qw net.ipv6.conf.all.seg6_require_hmac=1 net.ipv6.conf.r2-eth0.seg6_require_hmac=1")
        assert not answers(lab, "h1", "fd02::2")
        do(lab, "r1", f"ip -6 route replace fd02::/64 encap seg6 mode encap {way} hmac 7 dev r1-eth1")
        assert answers(lab, "h1", "fd02::2")
        do(lab, "r2", "echo another | setsid -w ip sr hmac set 7 sha256")
        assert not answers(lab, "h1", "fd02::2")
        do(lab, "r2", "sysctl -qw net.ipv6.conf.all.seg6_require_hmac=0 net.ipv6.conf.r2-eth0.seg6_require_hmac=0")
        for router in ("r1", "r2", "r3"):
            attempt(lab, router, "ip -6 route del fd0f::/64", "ip -6 route del fd0f::2", "ip -6 route del fd0f::3")


def test_rules_choose_the_table_of_ipv6(lab: linklab.Lab) -> None:
    with ipv6(lab):
        do(lab, "h1", "ip address add fd01::2/64 dev h1-eth0 nodad", "ip -6 route add unreachable default table 100",
           "ip -6 rule add from fd01::2 lookup 100")  # fmt: skip
        try:
            assert answers(lab, "h1", "fd02::2", "-I fd01::1")
            assert not answers(lab, "h1", "fd02::2", "-I fd01::2")
        finally:
            do(lab, "h1", "ip -6 rule del from fd01::2", "ip -6 route flush table 100")
        assert answers(lab, "h1", "fd02::2", "-I fd01::2")


def test_hosts_prefer_the_router_that_says_so_and_learn_routes(lab: linklab.Lab) -> None:
    """RFC 4191: b advertises itself with high preference, c with low and with a route."""
    from scapy.layers.inet6 import ICMPv6ND_RA, ICMPv6NDOptRouteInfo, IPv6
    from scapy.layers.l2 import Ether

    do(lab, "a", "sysctl -qw net.ipv6.conf.a-eth0.disable_ipv6=0",
       "sysctl -qw net.ipv6.conf.a-eth0.accept_ra_rt_info_max_plen=64")  # fmt: skip
    lab.sleep(3)  # its own address is being looked for
    try:
        for node, preference in (("c", 3), ("b", 1)):
            advert = ICMPv6ND_RA(prf=preference, routerlifetime=1800, chlim=64)
            if node == "c":
                advert /= ICMPv6NDOptRouteInfo(prefix="2001:db8:5::", plen=48, rtlifetime=1800)
            frame = Ether(src=f"02:00:00:00:01:0{preference}", dst="33:33:00:00:00:01")
            frame /= IPv6(src=f"fe80::{node}", dst="ff02::1", hlim=255) / advert
            lab.call(_send_frame, node, base64.b64encode(bytes(frame)).decode())
        found = do(lab, "a", "ip -6 route show")
        chosen = do(lab, "a", "ip -6 route get 2001:db8::1")
    finally:
        do(lab, "a", "sysctl -qw net.ipv6.conf.a-eth0.disable_ipv6=1")
    assert re.search(r"default via fe80::b .*pref high", found), found
    assert re.search(r"default via fe80::c .*pref low", found), found
    assert re.search(r"2001:db8:5::/48 via fe80::c", found), found
    assert "via fe80::b" in chosen


def _send_frame(net: Any, node: str, frame: str) -> None:
    """Inside the lab: put a frame on a node's first cable."""
    with at(net, node), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
        wire.bind((f"{node}-eth0", 0))
        wire.send(base64.b64decode(frame))
    time.sleep(0.1)


# -- Multicast

GROUP = "239.1.1.1"


def test_a_snooping_bridge_forwards_to_members_only(lab: linklab.Lab) -> None:
    """A join is an IGMPv3 report (RFC 3376), by which the bridge knows where members are (RFC 4541)."""
    assert lab.call(_who_hears) == ["a", "r1", "b"]  # flooded
    root(lab, "ip link set s1 type bridge mcast_snooping 1 mcast_querier 1 mcast_igmp_version 3")
    lab.sleep(20)  # the querier asks, and finds out
    try:
        with capture(lab, "a", "a-eth0", "igmp") as caught:
            heard = lab.call(_who_hears)
    finally:
        root(lab, "ip link set s1 type bridge mcast_snooping 0 mcast_querier 0")
    assert heard == ["a"]
    joined = [bytes(packet["IP"].payload) for packet in caught.packets if packet["IP"].src == "10.9.0.1"]
    assert joined[0][0] == 0x22  # a report, version 3
    assert socket.inet_aton(GROUP) in joined[0]


def _who_hears(net: Any) -> list[str]:
    """Inside the lab: to which of a, r1, b a frame comes that c sends to the group, once a has joined."""
    with contextlib.ExitStack() as stack:
        ears = {}
        for node, name in (("a", "a-eth0"), ("r1", "r1-eth2"), ("b", "b-eth0")):
            with at(net, node):
                ears[node] = stack.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800)))
            ears[node].bind((name, 0x0800))
        with at(net, "a"):
            member = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        join = socket.inet_aton("239.1.1.1") + socket.inet_aton("10.9.0.1")
        member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, join)
        time.sleep(3)
        with at(net, "c"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.9.0.3"))
            sender.sendto(b"to the group", ("239.1.1.1", 5000))
        time.sleep(0.1)
        heard = []
        for node, ear in ears.items():
            ear.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while b"to the group" not in ear.recv(2000):
                    pass
                heard.append(node)
        return heard


@pytest.mark.parametrize("table", [0, 7])
def test_a_multicast_router_forwards_as_its_table_says(lab: linklab.Lab, table: int) -> None:
    """What PIM's and IGMP's daemons do: r1 takes the group from h1's link and sends it to the LAN (ip(7), mroute)."""
    if table:
        do(lab, "r1", f"ip mrule add iif r1-eth0 lookup {table}")
    try:
        assert lab.call(_through_multicast_router, table) == [False, True]
    finally:
        if table:
            do(lab, "r1", f"ip mrule del iif r1-eth0 lookup {table}")


def _through_multicast_router(net: Any, table: int) -> list[bool]:
    """Inside the lab: whether a hears h1's group before r1 has a route for it, and with one."""
    init, add_vif, add_mfc, table_option, use_index = 200, 202, 204, 209, 8
    with (
        at(net, "r1"), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP) as router,
        at(net, "a"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as member,
        at(net, "h1"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):  # fmt: skip
        member.bind(("", 5000))
        join = socket.inet_aton("239.1.1.1") + socket.inet_aton("10.9.0.1")
        member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, join)
        member.settimeout(0.2)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 8)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.0.1.1"))
        if table:
            router.setsockopt(socket.IPPROTO_IP, table_option, table)
        router.setsockopt(socket.IPPROTO_IP, init, 1)
        with at(net, "r1"):
            for vif, name in enumerate(("r1-eth0", "r1-eth2")):
                index = socket.if_nametoindex(name)
                router.setsockopt(socket.IPPROTO_IP, add_vif, struct.pack("=HBBIII", vif, use_index, 1, 0, index, 0))
        heard = []
        for known in (False, True):
            if known:
                time.sleep(11)  # what waited for a route is given up
                way = socket.inet_aton("10.0.1.1") + socket.inet_aton("239.1.1.1") + struct.pack("=H", 0)
                way += bytes([0, 1]).ljust(32, b"\0") + bytes(2) + bytes(12) + bytes(4)
                router.setsockopt(socket.IPPROTO_IP, add_mfc, way)
            sender.sendto(b"x", ("239.1.1.1", 5000))
            try:
                heard.append(member.recv(10) == b"x")
            except TimeoutError:
                heard.append(False)
        return heard


def test_a_multicast_router_of_ipv6(lab: linklab.Lab) -> None:
    with ipv6(lab):
        for node, name, address in (("a", "a-eth0", "fd09::1"), ("r1", "r1-eth2", "fd09::a")):
            do(lab, node, f"sysctl -qw net.ipv6.conf.{name}.disable_ipv6=0",
               f"ip address add {address}/64 dev {name} nodad")  # fmt: skip
        try:
            assert lab.call(_through_multicast_router_of_ipv6) == [False, True]
        finally:
            do(lab, "a", "sysctl -qw net.ipv6.conf.a-eth0.disable_ipv6=1")


def _through_multicast_router_of_ipv6(net: Any) -> list[bool]:
    """Inside the lab: whether a hears h1's group before r1 has a route for it, and with one."""
    init, add_mif, add_mfc = 200, 202, 204
    group = socket.inet_pton(socket.AF_INET6, "ff05::5")
    with (
        at(net, "r1"), socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as router,
        at(net, "a"), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as member,
        at(net, "h1"), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender,
    ):  # fmt: skip
        indices = {}
        for node, name in (("r1", "r1-eth0"), ("r1", "r1-eth2"), ("a", "a-eth0"), ("h1", "h1-eth0")):
            with at(net, node):
                indices[name] = socket.if_nametoindex(name)
        member.bind(("", 5000))
        member.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + struct.pack("=I", indices["a-eth0"]))
        member.settimeout(0.2)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 8)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, indices["h1-eth0"])
        router.setsockopt(socket.IPPROTO_IPV6, init, 1)
        for mif, name in enumerate(("r1-eth0", "r1-eth2")):
            router.setsockopt(socket.IPPROTO_IPV6, add_mif, struct.pack("=HBBHxxI", mif, 0, 1, indices[name], 0))
        heard = []
        for known in (False, True):
            if known:
                time.sleep(11)  # what waited for a route is given up
                origin = socket.inet_pton(socket.AF_INET6, "fd01::1")
                way = b"".join(struct.pack("=HHI16sI", socket.AF_INET6, 0, 0, it, 0) for it in (origin, group))
                way += struct.pack("=Hxx", 0) + struct.pack("=I", 1 << 1).ljust(32, b"\0")
                router.setsockopt(socket.IPPROTO_IPV6, add_mfc, way)
            sender.sendto(b"x", ("ff05::5", 5000))
            try:
                heard.append(member.recv(10) == b"x")
            except TimeoutError:
                heard.append(False)
        return heard


def test_a_rendezvous_point_opens_register_messages(lab: linklab.Lab) -> None:
    """RFC 7761: a sender's router wraps its multicast in PIM messages; r1 takes it out and sends it to the LAN."""
    from scapy.layers.inet import IP, UDP

    inner = bytes(IP(src="198.51.100.7", dst=GROUP, ttl=8) / UDP(sport=9, dport=5000) / b"registered")
    assert lab.call(_through_register, base64.b64encode(inner).decode()) == ["registered", "198.51.100.7"]


def _through_register(net: Any, inner: str) -> list[str]:
    """Inside the lab: what a hears of a packet that h1 sends to r1 within a PIM register message, and of whom."""
    init, add_vif, add_mfc, register, use_index = 200, 202, 204, 4, 8
    with (
        at(net, "r1"), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP) as router,
        at(net, "a"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as member,
        at(net, "h1"), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_PIM) as sender,
    ):  # fmt: skip
        member.bind(("", 5000))
        join = socket.inet_aton("239.1.1.1") + socket.inet_aton("10.9.0.1")
        member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, join)
        member.settimeout(1)
        router.setsockopt(socket.IPPROTO_IP, init, 1)
        with at(net, "r1"):
            lan = socket.if_nametoindex("r1-eth2")
        for vif, flags, index in ((0, register, 0), (1, use_index, lan)):
            router.setsockopt(socket.IPPROTO_IP, add_vif, struct.pack("=HBBIII", vif, flags, 1, 0, index, 0))
        way = socket.inet_aton("198.51.100.7") + socket.inet_aton("239.1.1.1") + struct.pack("=H", 0)
        way += bytes([0, 1]).ljust(32, b"\0") + bytes(2) + bytes(12) + bytes(4)
        router.setsockopt(socket.IPPROTO_IP, add_mfc, way)
        header = struct.pack(">BBHI", 0x21, 0, 0xFFFF - 0x2100, 0)  # version 2, register, checksum, no flags
        sender.sendto(header + base64.b64decode(inner), ("10.0.1.254", 0))
        data, (origin, _) = member.recvfrom(100)
        return [data.decode(), origin]


# -- Tunnels: between r1 and r3, seen by r2


@dataclass(frozen=True)
class TunnelCase:
    """Commands for r1 (``{me}``, ``{you}`` and ``{n}``, which is 1 and 2), and the length of the outer packet (or the
    IPv6 payload) of a ping of 128 bytes, header included. `hidden` says whether the ping can be read in it.
    """

    commands: tuple[str, ...]
    expression: str
    length: int
    hidden: bool = False
    over_ipv6: bool = False
    ping: str = "192.168.77.2"


ADDRESS = ("ip address add 192.168.77.{n}/24 dev t0", "ip link set t0 up")
KEYS = {
    # as many bytes as the cipher takes; of a GCM key the last 4 are salt
    "cbc": "enc 'cbc(aes)' 0x000102030405060708090a0b0c0d0e0f auth-trunc 'hmac(sha256)' 0x" + "ab" * 32 + " 128",
    "gcm": "aead 'rfc4106(gcm(aes))' 0x" + "cd" * 20 + " 128",
    "ah": "auth-trunc 'hmac(sha256)' 0x" + "ef" * 32 + " 128 flag align4",
}


def ipsec(proto: str, keys: str, more: str = "") -> tuple[str, ...]:
    """Security associations and policies of both directions (RFC 4301), in tunnel mode."""
    ends = (("{me}", "{you}", "out"), ("{you}", "{me}", "in"))
    return tuple(
        line
        for source, target, way in ends
        for line in (
            f"ip xfrm state add src {source} dst {target} proto {proto} spi 0x77 mode tunnel {keys} {more}",
            f"ip xfrm policy add src 192.168.77.0/24 dst 192.168.77.0/24 dir {way} "
            f"tmpl src {source} dst {target} proto {proto} mode tunnel {more}",
        )
    )


IN_LOOPBACK = (
    "ip address add 192.168.77.{n}/32 dev lo",
    "ip route add 192.168.77.{other} dev {out} src 192.168.77.{n}",
)
TUNNELS = {
    # Ethernet 14, VXLAN or Geneve 8, UDP 8, IP 20 (RFC 7348, RFC 8926)
    "vxlan": TunnelCase(("ip link add t0 type vxlan id 42 local {me} remote {you} dstport 4789", *ADDRESS),
                        "udp dst port 4789", 128 + 50),
    "geneve": TunnelCase(("ip link add t0 type geneve id 42 remote {you}", *ADDRESS), "udp dst port 6081", 128 + 50),
    # RFC 4213: IPv6 in IPv4; a ping of 100 bytes is 148 bytes of IPv6
    "sit": TunnelCase(("ip link add t0 type sit local {me} remote {you}",
                       "sysctl -qw net.ipv6.conf.t0.disable_ipv6=0 || true", "ip link set t0 up",
                       "ip address add fd77::{n}/64 dev t0 nodad"), "ip proto 41", 148 + 20, ping="fd77::2"),
    # RFC 2473; the length of an IPv6 packet is that of its payload
    "ip6tnl": TunnelCase(("ip link add t0 type ip6tnl mode ipip6 local {me} remote {you} encaplimit none", *ADDRESS),
                         "ip6 proto 4", 128, over_ipv6=True),
    "ip6gre": TunnelCase(("ip link add t0 type ip6gre local {me} remote {you} encaplimit none", *ADDRESS),
                         "ip6 proto 47", 128 + 4, over_ipv6=True),
    # header 16, tag 16, UDP 8, IP 20; the packet is padded to a multiple of 16
    "wireguard": TunnelCase((), "udp port 51820 and udp[8] == 4", 128 + 32 + 28, hidden=True),
    # RFC 4303: IP 20, SPI and number 8, IV 16, padding to 16 with 2 bytes of trailer, check value 16
    "esp-cbc": TunnelCase((*IN_LOOPBACK, *ipsec("esp", KEYS["cbc"])), "esp", 20 + 8 + 16 + 144 + 16, hidden=True),
    # RFC 4106: IV 8, padding to 4
    "esp-gcm": TunnelCase((*IN_LOOPBACK, *ipsec("esp", KEYS["gcm"])), "esp", 20 + 8 + 8 + 132 + 16, hidden=True),
    # RFC 4302: a header of 12 bytes and a check value of 16; nothing is encrypted
    "ah": TunnelCase((*IN_LOOPBACK, *ipsec("ah", KEYS["ah"])), "ah", 20 + 28 + 128),
    "xfrm-interface": TunnelCase(("ip link add t0 type xfrm dev {out} if_id 42", *ADDRESS,
                                  *ipsec("esp", KEYS["gcm"], "if_id 42")), "esp", 20 + 8 + 8 + 132 + 16, hidden=True),
}  # fmt: skip


@pytest.mark.parametrize("name", TUNNELS)
def test_a_tunnel_carries_a_ping_and_adds_what_its_standard_says(lab: linklab.Lab, name: str) -> None:
    case = TUNNELS[name]
    commands = wireguard(lab) if name == "wireguard" else [case.commands] * 2
    with ipv6(lab) if case.over_ipv6 else contextlib.nullcontext():
        one, two = ("fd12::1", "fd23::3") if case.over_ipv6 else ("10.12.0.1", "10.23.0.3")
        try:
            for router, me, you, n, out, words in (
                ("r1", one, two, 1, "r1-eth1", commands[0]),
                ("r3", two, one, 2, "r3-eth0", commands[1]),
            ):
                do(lab, router, *(word.format(me=me, you=you, n=n, other=3 - n, out=out) for word in words))
            attempt(lab, "r1", f"ping -c 1 -W 2 {case.ping}")  # who is where, and WireGuard's handshake
            with capture(lab, "r2", "r2-eth0", case.expression) as caught:
                assert answers(lab, "r1", case.ping, "-s 100 -p 6c61622d")  # "lab-", again and again
        finally:
            for router in ("r1", "r3"):
                attempt(lab, router, "ip link del t0", "ip xfrm state flush", "ip xfrm policy flush",
                        "ip address del 192.168.77.1/32 dev lo", "ip address del 192.168.77.2/32 dev lo",
                        "ip route del 192.168.77.1", "ip route del 192.168.77.2")  # fmt: skip
    assert len(caught.packets) == 2
    lengths = {packet["IPv6"].plen if case.over_ipv6 else packet["IP"].len for packet in caught.packets}
    assert lengths == {case.length}
    assert {b"lab-lab-" in bytes(packet) for packet in caught.packets} == {not case.hidden}


def wireguard(lab: linklab.Lab) -> list[tuple[str, ...]]:
    """Commands for both ends, each of which knows the other's public key."""
    keys = [do(lab, router, "wg genkey").split()[-1] for router in ("r1", "r3")]
    public = [do(lab, "r1", f"echo {key} | wg pubkey").split()[-1] for key in keys]
    return [
        (f"echo {keys[n]} > /tmp/wg{n}", "ip link add t0 type wireguard",
         f"wg set t0 listen-port 51820 private-key /tmp/wg{n} peer {public[1 - n]} "
         "endpoint {you}:51820 allowed-ips 192.168.77.0/24", *ADDRESS)
        for n in (0, 1)
    ]  # fmt: skip


# -- Devices that stand for others


def test_a_bond_goes_on_with_its_other_cable(lab: linklab.Lab) -> None:
    with cable(lab, "a", "b", "one"), cable(lab, "a", "b", "two"):
        try:
            for node, n in (("a", 1), ("b", 2)):
                do(lab, node, "ip link add bond7 type bond mode active-backup miimon 100",
                   *(f"ip link set {node}-{name} down; ip link set {node}-{name} master bond7"
                     for name in ("one", "two")),
                   "ip link set bond7 up", f"ip address add 172.17.0.{n}/24 dev bond7")  # fmt: skip
            do(lab, "a", "ip link set bond7 type bond active_slave a-one")
            do(lab, "b", "ip link set bond7 type bond active_slave b-one")
            lab.sleep(1)
            program = lab["a"].popen("ping -n -i 0.1 -c 30 172.17.0.2")
            lab.sleep(1)
            do(lab, "a", "ip link set a-one down")  # both ends lose the cable's carrier
            program.wait(10)
            shown = do(lab, "b", "cat /proc/net/bonding/bond7")
        finally:
            for node in ("a", "b"):
                attempt(lab, node, "ip link del bond7")
    said = program.read()
    lost = [n for n in range(1, 31) if f"icmp_seq={n} " not in said]
    assert "Currently Active Slave: b-two" in shown
    assert len(lost) <= 3  # the monitor looks every 100 ms
    assert "icmp_seq=30 " in said


@pytest.mark.parametrize("kind", ["macvlan", "ipvlan"])
def test_a_container_on_a_hosts_cable(lab: linklab.Lab, kind: str) -> None:
    """A namespace beside the host a, on its interface: with macvlan under a MAC address of its own, with ipvlan under
    the host's.
    """
    mode = {"macvlan": "macvlan mode bridge", "ipvlan": "ipvlan mode l2"}[kind]
    do(lab, "a", "ip netns add guest", f"ip link add v0 link a-eth0 type {mode}", "ip link set v0 netns guest",
       "ip -n guest address add 10.9.0.77/24 dev v0", "ip -n guest link set v0 up")  # fmt: skip
    try:
        with capture(lab, "b", "b-eth0", "icmp") as caught:
            assert answers(lab, "b", "10.9.0.77")
            assert answers(lab, "b", "10.9.0.1")
    finally:
        do(lab, "a", "ip netns del guest")
        do(lab, "b", "ip neigh del 10.9.0.77 dev b-eth0")
    senders = {packet["IP"].src: packet.src for packet in caught.packets if packet["IP"].dst == "10.9.0.2"}
    assert (senders["10.9.0.77"] == senders["10.9.0.1"]) is (kind == "ipvlan")


# -- Looking inside


def test_trace_points_show_the_congestion_window(lab: linklab.Lab) -> None:
    """It starts at ten segments (RFC 6928), and slow start lets it grow."""
    folder = "/sys/kernel/tracing"
    root(lab, f"mount -t tracefs tracefs {folder}; echo 1 > {folder}/events/tcp/tcp_probe/enable")
    try:
        carry(lab, Transfer("p1", "p2", "10.21.0.2", 80, 200_000))
        lines = [line for line in root(lab, f"cat {folder}/trace").splitlines() if "dest=10.21.0.2:80" in line]
    finally:
        root(lab, f"echo 0 > {folder}/events/tcp/tcp_probe/enable; echo > {folder}/trace; umount {folder}")
    windows = [int(found[1]) for line in lines if (found := re.search(r"snd_cwnd=(\d+)", line))]
    assert windows[0] == 10
    assert max(windows) > 20


def test_trace_points_say_why_a_packet_is_dropped(lab: linklab.Lab) -> None:
    folder = "/sys/kernel/tracing"
    root(lab, f"mount -t tracefs tracefs {folder}; echo 1 > {folder}/events/skb/kfree_skb/enable")
    try:
        send(lab, Datagrams("h1", "10.0.2.2", 4000, 3))
        said = root(lab, f"cat {folder}/trace")
    finally:
        root(lab, f"echo 0 > {folder}/events/skb/kfree_skb/enable; echo > {folder}/trace; umount {folder}")
    assert said.count("reason: NO_SOCKET") == 3


def test_a_program_of_bpf_drops_what_a_control_group_sends(lab: linklab.Lab) -> None:
    """The program answers 0 to each packet that processes of the group send."""
    root(lab, "mkdir -p /run/groups; mount -t cgroup2 none /run/groups; mkdir -p /run/groups/silent")
    assert lab.call(_load_dropper, "/run/groups/silent") == ""
    shell, heard = lab.call(_pid, "h1"), []
    for group in ("/run/groups/silent", "/run/groups"):
        root(lab, f"echo {shell} > {group}/cgroup.procs")
        heard.append(answers(lab, "h1", "10.0.2.2"))
    root(lab, "rmdir /run/groups/silent; umount /run/groups")
    assert heard == [False, True]


def _load_dropper(net: Any, group: str) -> str:
    """Inside the lab: load ``return 0`` as a filter of a control group's packets, and attach it; "" or the error."""
    import ctypes
    import os

    bpf, load, attach = 321, 5, 8
    cgroup_skb, egress = 8, 1
    libc = ctypes.CDLL(None, use_errno=True)
    program = bytes.fromhex("b7000000000000009500000000000000")  # r0 = 0; exit
    words, licence = ctypes.create_string_buffer(program), ctypes.create_string_buffer(b"GPL")
    request = struct.pack("=IIQQ", cgroup_skb, 2, ctypes.addressof(words), ctypes.addressof(licence)).ljust(128, b"\0")
    loaded = libc.syscall(bpf, load, request, len(request))
    if loaded < 0:
        return f"load: {os.strerror(ctypes.get_errno())}"
    where = os.open(group, os.O_RDONLY)
    request = struct.pack("=IIII", where, loaded, egress, 0).ljust(128, b"\0")
    failed = libc.syscall(bpf, attach, request, len(request))
    os.close(where)
    os.close(loaded)
    return f"attach: {os.strerror(ctypes.get_errno())}" if failed else ""
