"""Packet filters of the lab kernel: NAT, firewalls and matches, by nft and by iptables, each seen at work."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import linklab
from linklab.measure import capture
from linklab.network import End, Host, Link, Network, Router, Switch
from linklab.runtime.backends import Kind

from .inside import Datagrams, Transfer, answers, at, carry, do, root, send

pytestmark = pytest.mark.lab

# h1 and h2 are inside, r1 is the border, h3 is outside
BORDER = Network(
    "border",
    (Host("h1"), Host("h2"), Host("h3"), Router("r1"), Switch("s1")),
    (
        Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("s1", "s1-eth1")),
        Link(End("h2", "h2-eth0", "10.0.0.2/24"), End("s1", "s1-eth2")),
        Link(End("r1", "r1-eth0", "10.0.0.254/24"), End("s1", "s1-eth3")),
        Link(End("r1", "r1-eth1", "192.0.2.254/24"), End("h3", "h3-eth0", "192.0.2.3/24")),
    ),
)
OUTSIDE = "192.0.2.3"


@pytest.fixture(scope="module")
def whole_lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(BORDER, folder=tmp_path_factory.mktemp("border")) as lab:
        yield lab


@pytest.fixture
def lab(whole_lab: linklab.Lab) -> Iterator[linklab.Lab]:
    """The lab, which has no rules and no connections again after the test."""
    yield whole_lab
    for node in ("h1", "r1"):
        do(whole_lab, node, "nft flush ruleset")
    # connections of earlier tests would be known already: udp forgets after 30 s, tcp's last state after 120
    whole_lab.sleep(200)


def rules(lab: linklab.Lab, text: str, node: str = "r1") -> None:
    """Add what an nft file says."""
    lab.write_file("/tmp/rules.nft", text)
    do(lab, node, "nft -f /tmp/rules.nft")


def counters(lab: linklab.Lab, node: str = "r1") -> list[int]:
    """The packets that each counter of the ruleset has seen."""
    return [int(found) for found in re.findall(r"counter packets (\d+)", do(lab, node, "nft list ruleset"))]


def table(lab: linklab.Lab) -> str:
    """The border's table of connections."""
    return do(lab, "r1", "cat /proc/net/nf_conntrack")


# -- NAT

MASQUERADE = {
    "nft": "nft 'table ip n { chain out { type nat hook postrouting priority 100; oif r1-eth1 masquerade; }; }'",
    "iptables": "iptables -t nat -A POSTROUTING -o r1-eth1 -j MASQUERADE",
}
FORWARD = {
    "nft": "nft 'table ip n { chain in { type nat hook prerouting priority -100; "
    "iif r1-eth1 tcp dport 8080 dnat to 10.0.0.2:80; }; }'",
    "iptables": "iptables -t nat -A PREROUTING -i r1-eth1 -p tcp --dport 8080 -j DNAT --to-destination 10.0.0.2:80",
}
REDIRECT = {
    "nft": "nft 'table ip n { chain in { type nat hook prerouting priority -100; tcp dport 8080 redirect to :81; }; }'",
    "iptables": "iptables -t nat -A PREROUTING -p tcp --dport 8080 -j REDIRECT --to-ports 81",
}


@pytest.mark.parametrize("tool", MASQUERADE)
def test_masquerading_shows_the_address_of_the_border_outside(lab: linklab.Lab, tool: str) -> None:
    do(lab, "r1", MASQUERADE[tool])
    do(lab, "h3", "ip route del default")  # outside nobody knows the way in
    try:
        found = carry(lab, Transfer("h1", "h3", OUTSIDE, 80, from_port=1234))
        assert (found["got"], found["peer"]) == (1000, ["192.0.2.254", 1234])
        forward, reverse = "src=10.0.0.1 dst=192.0.2.3 sport=1234 dport=80", "src=192.0.2.3 dst=192.0.2.254 sport=80"
        assert re.search(f"tcp .*{forward} .*{reverse} dport=1234", table(lab)), table(lab)
        # of two inside with one port the second gets another: RFC 3022's port translation
        assert carry(lab, Transfer("h2", "h3", OUTSIDE, 80, from_port=1234))["peer"][1] != 1234
        assert answers(lab, "h2", OUTSIDE)
    finally:
        do(lab, "h3", "ip route add default via 192.0.2.254")


@pytest.mark.parametrize("tool", FORWARD)
def test_a_forwarded_port_leads_to_a_server_inside(lab: linklab.Lab, tool: str) -> None:
    inward = Transfer("h3", "h2", "192.0.2.254", 80, to_port=8080)
    assert carry(lab, inward)["failure"] == "ConnectionRefusedError"
    do(lab, "r1", FORWARD[tool])
    found = carry(lab, inward)
    assert (found["got"], found["peer"][0]) == (1000, OUTSIDE)


@pytest.mark.parametrize("tool", REDIRECT)
def test_a_redirected_port_leads_to_the_border_itself(lab: linklab.Lab, tool: str) -> None:
    do(lab, "r1", REDIRECT[tool])
    assert carry(lab, Transfer("h1", "r1", OUTSIDE, 81, to_port=8080))["got"] == 1000


def test_a_network_is_mapped_onto_another(lab: linklab.Lab) -> None:
    do(lab, "r1", "iptables -t nat -A PREROUTING -i r1-eth1 -d 198.51.100.0/24 -j NETMAP --to 10.0.0.0/24")
    do(lab, "h3", "ip route add 198.51.100.0/24 via 192.0.2.254")
    assert carry(lab, Transfer("h3", "h2", "198.51.100.2", 80))["got"] == 1000
    do(lab, "h3", "ip route del 198.51.100.0/24")


def test_a_transparent_proxy_answers_for_a_server(lab: linklab.Lab) -> None:
    do(
        lab, "r1",
        "iptables -t mangle -A PREROUTING -i r1-eth0 -p tcp --dport 80 -j TPROXY --on-port 5000 --tproxy-mark 1",
        "ip rule add fwmark 1 lookup 100", "ip route add local 0.0.0.0/0 dev lo table 100",
    )  # fmt: skip
    transparent = ((socket.IPPROTO_IP, 19, 1),)
    assert carry(lab, Transfer("h1", "r1", OUTSIDE, 5000, to_port=80, listener=transparent))["got"] == 1000
    do(lab, "r1", "ip rule del fwmark 1", "ip route flush table 100")


# -- Firewalls

STATEFUL = {
    "nft": ("nft 'table inet f { chain f { type filter hook forward priority 0; policy drop; "
            "ct state established,related accept; iif r1-eth0 accept; }; }'",),
    "iptables-conntrack": ("iptables -P FORWARD DROP; iptables -A FORWARD -i r1-eth0 -j ACCEPT",
                           "iptables -A FORWARD -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT"),
    "iptables-state": ("iptables -P FORWARD DROP; iptables -A FORWARD -i r1-eth0 -j ACCEPT",
                       "iptables -A FORWARD -m state --state ESTABLISHED,RELATED -j ACCEPT"),
}  # fmt: skip
REJECT = {
    "nft": "nft 'table inet f { chain f { type filter hook forward priority 0; tcp dport 80 reject with tcp reset; "
    "udp dport 53 reject; }; }'",
    "iptables": "iptables -A FORWARD -p tcp --dport 80 -j REJECT --reject-with tcp-reset; "
    "iptables -A FORWARD -p udp --dport 53 -j REJECT",
}


@pytest.mark.parametrize("way", STATEFUL)
def test_a_stateful_firewall_passes_answers_and_drops_what_is_new_from_outside(lab: linklab.Lab, way: str) -> None:
    inward = Transfer("h3", "h1", "10.0.0.1", 80)
    assert carry(lab, inward)["got"] == 1000
    do(lab, "r1", *STATEFUL[way])
    assert carry(lab, Transfer("h1", "h3", OUTSIDE, 80))["got"] == 1000
    assert carry(lab, inward)["failure"] == "TimeoutError"  # silence
    assert answers(lab, "h1", OUTSIDE)
    assert not answers(lab, "h3", "10.0.0.1")


@pytest.mark.parametrize("tool", REJECT)
def test_a_firewall_that_rejects_says_so(lab: linklab.Lab, tool: str) -> None:
    do(lab, "r1", REJECT[tool])
    assert carry(lab, Transfer("h1", "h3", OUTSIDE, 80))["failure"] == "ConnectionRefusedError"  # at once
    with capture(lab, "h1", "h1-eth0", "icmp") as caught:
        send(lab, Datagrams("h1", OUTSIDE, 53))
    (answer,) = caught.packets
    assert (answer["IP"].src, answer["ICMP"].type, answer["ICMP"].code) == ("10.0.0.254", 3, 3)  # port unreachable


def test_a_helper_lets_the_data_connection_of_ftp_through(lab: linklab.Lab) -> None:
    """RFC 959's active mode: the client names a port, the server connects to it."""
    rules(
        lab,
        """table ip f {
            ct helper ftp { type "ftp" protocol tcp; }
            chain p { type filter hook prerouting priority 0; tcp dport 21 ct helper set "ftp"; }
            chain f { type filter hook forward priority 0; policy drop;
                iif r1-eth0 accept; ct state established,related accept; }
        }""",
    )
    inward = Transfer("h3", "h1", "10.0.0.1", 5001)
    assert carry(lab, inward)["failure"] == "TimeoutError"
    words = (b"USER x\r\n", b"PORT 10,0,0,1,19,137\r\n")
    assert carry(lab, Transfer("h1", "h3", OUTSIDE, 21, 0, first_words=words))["got"] == 8 + 22
    assert "dport=5001 ftp" in do(lab, "r1", "cat /proc/net/nf_conntrack_expect")
    assert carry(lab, inward)["got"] == 1000


def test_marks_and_zones_of_connections_stand_in_the_table(lab: linklab.Lab) -> None:
    rules(
        lab,
        """table ip c {
            chain z { type filter hook prerouting priority -300; udp dport 4001 ct zone set 5; }
            chain m { type filter hook forward priority 0;
                udp dport 4000 ct mark set 7; udp length 108 ct mark 7 counter; }
        }""",
    )
    send(lab, Datagrams("h1", OUTSIDE, 4000, 3), Datagrams("h1", OUTSIDE, 4001, 3))
    lines = {port: line for line in table(lab).splitlines() for port in ("4000", "4001") if f"dport={port}" in line}
    assert "mark=7" in lines["4000"]
    assert "zone=5" in lines["4001"]
    assert counters(lab) == [3]


def test_programs_hear_of_new_connections(lab: linklab.Lab) -> None:
    rules(lab, "table ip c { chain f { type filter hook forward priority 0; ct state new accept; }; }")
    assert lab.call(_hear_of_connection) == ["10.0.0.1", OUTSIDE]


def _hear_of_connection(net: Any) -> list[str]:
    """Inside the lab: the addresses in the kernel's first message on a new connection over the border."""
    with at(net, "r1"), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as ear:
        ear.bind((0, 1))  # the group of new connections
        with at(net, "h1"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", ("192.0.2.3", 4000))
        ear.settimeout(1)
        told = ear.recv(1 << 16)
    assert struct.unpack_from("=IH", told)[1] == 1 << 8  # a connection, new
    return [name for name in ("10.0.0.1", "10.0.0.2", "192.0.2.3") if socket.inet_aton(name) in told]


# -- What rules match, and what they do. Each is tried on packets that it should count, and on others.

SOME = Datagrams("h1", OUTSIDE, 4000, 5)
OTHERS = Datagrams("h1", OUTSIDE, 4001, 5)
FROM_H2 = Datagrams("h2", OUTSIDE, 4000, 5)


@dataclass(frozen=True)
class Case:
    """A rule and what is sent through it; it must count `least` to `most` packets."""

    rule: str
    sent: tuple[Datagrams, ...] = (SOME, OTHERS)
    least: int = 5
    most: int | None = None
    node: str = "r1"


def many(count: int, **more: Any) -> tuple[Datagrams, ...]:
    return (Datagrams("h1", OUTSIDE, 4000, count, **more),)


SECOND = many(100, gap_ms=10)
MATCHES = {
    "addrtype": Case("addrtype --dst-type LOCAL", (Datagrams("h1", "10.0.0.254", 4000, 5), SOME)),
    "bpf": Case("bpf --bytecode '4,40 0 0 22,21 0 1 4000,6 0 0 1,6 0 0 0'"),
    "connbytes": Case("connbytes --connbytes 5 --connbytes-dir both --connbytes-mode packets", many(10), 6),
    "connlimit": Case("connlimit --connlimit-above 2", many(1, flows=4), 2),
    "connmark": Case("connmark --mark 7"),
    "conntrack": Case("conntrack --ctorigdstport 4000"),
    "dscp": Case("dscp --dscp-class EF", (Datagrams("h1", OUTSIDE, 4000, 5, tos=46 << 2), SOME)),
    "ecn": Case("ecn --ecn-ip-ect 1", (Datagrams("h1", OUTSIDE, 4000, 5, tos=1), SOME)),
    # a bucket of 5 that gets 10 a second
    "hashlimit": Case(
        "hashlimit --hashlimit-upto 10/s --hashlimit-burst 5 --hashlimit-mode srcip --hashlimit-name all",
        SECOND, 14, 16,
    ),
    "limit": Case("limit --limit 10/s --limit-burst 5", SECOND, 14, 16),
    "hl": Case("ttl --ttl-eq 9", (Datagrams("h1", OUTSIDE, 4000, 5, ttl=9), SOME)),
    "iprange": Case("iprange --src-range 10.0.0.2-10.0.0.9", (SOME, FROM_H2)),
    "length": Case("length --length 128", (SOME, Datagrams("h1", OUTSIDE, 4000, 5, payload=b"short"))),
    "mac": Case("mac --mac-source 00:00:00:00:00:01", (SOME, FROM_H2)),
    "mark": Case("mark --mark 5", (Datagrams("h1", OUTSIDE, 4000, 5, mark=5), SOME), node="h1"),
    "multiport": Case("multiport --dports 3999,4000"),
    "owner": Case("owner --uid-owner 0", node="h1", least=10),
    "pkttype": Case("pkttype --pkt-type broadcast", (Datagrams("h1", "10.0.0.255", 4000, 5), SOME)),
    "rpfilter": Case("rpfilter --invert", (Datagrams("h1", OUTSIDE, 4000, 5, from_address="203.0.113.1"), SOME)),
    "statistic": Case("statistic --mode nth --every 4 --packet 0", many(100), 25),
    "statistic-random": Case("statistic --mode random --probability 0.25", many(1000), 200, 300),
    "string": Case("string --algo bm --string attack", (Datagrams("h1", OUTSIDE, 4000, 5, payload=b"-attack-"), SOME)),
    "time": Case("time --datestart 2020-01-01", least=10),
    "time-past": Case("time --datestop 2020-01-01", least=0),
    "u32": Case("u32 --u32 '0&0xFFFF=128'", (SOME, Datagrams("h1", OUTSIDE, 4000, 5, payload=b"short"))),
}  # fmt: skip


@pytest.mark.parametrize("name", MATCHES)
def test_matches_of_iptables(lab: linklab.Lab, name: str) -> None:
    case = MATCHES[name]
    chain = "OUTPUT" if case.node == "h1" else "PREROUTING"
    if name == "connmark":
        do(lab, "r1", "iptables -t mangle -A PREROUTING -p udp --dport 4000 -j CONNMARK --set-mark 7")
    do(lab, case.node, f"iptables -t mangle -A {chain} -p udp -m comment --comment counted -m {case.rule}")
    if name == "rpfilter":
        do(lab, "h1", "ip address add 203.0.113.1/32 dev lo")
    send(lab, *case.sent)
    if name == "owner":
        do(lab, "h1", f"setpriv --reuid 1234 bash -c 'echo hello > /dev/udp/{OUTSIDE}/4000'")
    if name == "rpfilter":
        do(lab, "h1", "ip address del 203.0.113.1/32 dev lo")
    shown = do(lab, case.node, f"iptables -t mangle -nvxL {chain}")
    (counted,) = (int(line.split()[0]) for line in shown.splitlines() if "/* counted */" in line)
    assert case.least <= counted <= (case.most or case.least), shown


def test_port_knocking(lab: linklab.Lab) -> None:
    """`recent` keeps the addresses of those who knocked."""
    do(
        lab, "r1", "iptables -A FORWARD -p udp --dport 3999 -m recent --name knocked --set",
        "iptables -A FORWARD -p udp --dport 4000 -m recent --name knocked ! --rcheck --seconds 60 -j DROP",
    )  # fmt: skip
    knock = Datagrams("h1", OUTSIDE, 3999)
    with capture(lab, "h3", "h3-eth0", "udp dst port 4000") as caught:
        send(lab, SOME, knock, SOME, FROM_H2)
        lab.sleep(61)
        send(lab, SOME)
    assert [packet["IP"].src for packet in caught.packets] == ["10.0.0.1"] * 5
    assert "src=10.0.0.1" in do(lab, "r1", "cat /proc/net/xt_recent/knocked")


NFT_MATCHES = {
    "fib": Case("fib saddr . iif oif missing", (Datagrams("h1", OUTSIDE, 4000, 5, from_address="203.0.113.1"), SOME)),
    "fib-type": Case("fib daddr type local", (Datagrams("h1", "10.0.0.254", 4000, 5), SOME)),
    "numgen": Case("numgen inc mod 4 == 0", many(100), 25),
    "limit": Case("limit rate 10/second burst 5 packets", SECOND, 14, 16),
    "ct count": Case("ct state new ct count over 2", many(1, flows=4), 2),
    "quota": Case("quota until 640 bytes", many(20), 5),
    # 64 flows on two ways: each flow keeps its way, and each way gets about half
    "jhash": Case("jhash udp sport mod 2 == 0", many(3, flows=64, from_port=5000), 3 * 20, 3 * 44),
}


@pytest.mark.parametrize("name", NFT_MATCHES)
def test_matches_of_nft(lab: linklab.Lab, name: str) -> None:
    case = NFT_MATCHES[name]
    rules(lab, f"table inet f {{ chain p {{ type filter hook prerouting priority 0; "
               f"meta l4proto udp {case.rule} counter; }}; }}")  # fmt: skip
    do(lab, "h1", "ip address add 203.0.113.1/32 dev lo")
    send(lab, *case.sent)
    do(lab, "h1", "ip address del 203.0.113.1/32 dev lo")
    (counted,) = counters(lab)
    assert case.least <= counted <= (case.most or case.least)
    assert name != "jhash" or counted % 3 == 0


@pytest.mark.parametrize("hook", ["ingress", "egress"])
def test_filters_on_one_interface(lab: linklab.Lab, hook: str) -> None:
    device = "r1-eth0" if hook == "ingress" else "r1-eth1"
    rules(lab, f"table netdev n {{ chain c {{ type filter hook {hook} device {device} priority 0; "
               f"ip saddr 10.0.0.2 drop; }}; }}")  # fmt: skip
    assert answers(lab, "h1", OUTSIDE)
    assert not answers(lab, "h2", OUTSIDE)
    assert answers(lab, "h2", "10.0.0.254") == (hook == "egress")


def test_filters_on_a_bridge_and_of_arp(lab: linklab.Lab) -> None:
    root(lab, "nft 'table bridge b { chain f { type filter hook forward priority 0; "
              "ether saddr 00:00:00:00:00:01 ip daddr 10.0.0.2 drop; }; }'")  # fmt: skip
    assert not answers(lab, "h1", "10.0.0.2")
    assert answers(lab, "h1", "10.0.0.254")
    root(lab, "nft flush ruleset")
    assert answers(lab, "h1", "10.0.0.2")

    rules(lab, "table arp a { chain i { type filter hook input priority 0; arp operation request counter drop; }; }")
    known = do(lab, "h1", "ip neigh show 10.0.0.254").split()
    do(lab, "h1", "ip neigh del 10.0.0.254 dev h1-eth0")
    assert not answers(lab, "h1", "10.0.0.254")
    assert counters(lab)[0] >= 1
    do(lab, "h1", f"ip neigh replace 10.0.0.254 dev h1-eth0 lladdr {known[known.index('lladdr') + 1]}")


IPV6 = {
    "nft": "nft 'table ip6 f { chain i { type filter hook input priority 0; udp dport 4000 fib daddr type local "
    "counter reject; }; }'",
    "ip6tables": "ip6tables -A INPUT -p udp --dport 4000 -j REJECT",
}


@pytest.mark.parametrize("tool", IPV6)
def test_filters_of_ipv6(lab: linklab.Lab, tool: str) -> None:
    for node, address in (("h1", "fd00::1"), ("r1", "fd00::2")):
        do(lab, node, f"sysctl -qw net.ipv6.conf.{node}-eth0.disable_ipv6=0",
           f"ip address add {address}/64 dev {node}-eth0 nodad")  # fmt: skip
    do(lab, "r1", IPV6[tool])
    with capture(lab, "h1", "h1-eth0", "icmp6 and ip6[40] == 1") as caught:
        send(lab, Datagrams("h1", "fd00::2", 4000))
    for node in ("h1", "r1"):
        do(lab, node, f"sysctl -qw net.ipv6.conf.{node}-eth0.disable_ipv6=1")
    assert counters(lab) == [1]
    # port unreachable: RFC 4443
    told = [(packet["IPv6"].src, packet["IPv6"].payload.code) for packet in caught.packets]
    assert told == [("fd00::2", 4)]


def test_targets_of_iptables_change_the_packets(lab: linklab.Lab) -> None:
    do(lab, "r1", "iptables -t mangle -A FORWARD -p udp --dport 4000 -j DSCP --set-dscp 10",
       "iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 500",
       "iptables -t mangle -A POSTROUTING -p tcp --tcp-flags SYN,RST SYN -m tcpmss --mss 500 "
       "-m comment --comment counted")  # fmt: skip
    with capture(lab, "h3", "h3-eth0", "udp dst port 4000 or tcp") as caught:
        send(lab, SOME)
        mss = carry(lab, Transfer("h1", "h3", OUTSIDE, 80, 3000, ask=(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 4)))
    assert {packet["IP"].tos for packet in caught.packets if "UDP" in packet} == {10 << 2}
    sizes = {len(packet["TCP"].payload) for packet in caught.packets if "TCP" in packet and packet["IP"].len > 100}
    assert max(sizes) <= 500
    assert int.from_bytes(mss["asked"], "little") <= 500
    assert re.search(r"^ *2 .*counted", do(lab, "r1", "iptables -t mangle -nvxL POSTROUTING"), re.M)  # SYN, SYN ACK


def test_marks_and_classes_of_iptables_steer_packets(lab: linklab.Lab) -> None:
    """CONNMARK keeps a mark for the whole connection, answers as well; CLASSIFY chooses a class of the queue."""
    back = "iptables -t mangle -A FORWARD -i r1-eth1 -p tcp -m comment --comment counted"
    do(lab, "r1", "tc qdisc add dev r1-eth1 root handle 1: prio bands 4",
       "tc qdisc add dev r1-eth1 parent 1:4 handle 4: pfifo",
       "iptables -t mangle -A POSTROUTING -p udp --dport 4000 -j CLASSIFY --set-class 1:4",
       "iptables -t mangle -A FORWARD -i r1-eth0 -p tcp --dport 80 -j MARK --set-mark 9",
       "iptables -t mangle -A FORWARD -m mark --mark 9 -j CONNMARK --save-mark",
       "iptables -t mangle -A PREROUTING -i r1-eth1 -j CONNMARK --restore-mark",
       f"{back} -m mark --mark 9", back)  # fmt: skip
    send(lab, SOME, OTHERS)
    carry(lab, Transfer("h1", "h3", OUTSIDE, 80, 10_000))
    carry(lab, Transfer("h1", "h3", OUTSIDE, 81, 10_000))
    queue = do(lab, "r1", "tc -s qdisc show dev r1-eth1 parent 1:4")
    do(lab, "r1", "tc qdisc del dev r1-eth1 root")
    assert " 5 pkt" in queue
    shown = do(lab, "r1", "iptables -t mangle -nvxL FORWARD")
    marked, every = (int(found) for found in re.findall(r"^ *(\d+) .*counted", shown, re.M))
    assert marked >= 3  # SYN ACK, ACK, FIN ACK
    assert every == 2 * marked


LOGS = {
    "nft": "nft 'table ip f {{ chain f {{ type filter hook forward priority 0; udp dport 4000 log {0}; }}; }}'",
    "iptables": "iptables -A FORWARD -p udp --dport 4000 -j {0}",
}


@pytest.mark.parametrize("tool", LOGS)
def test_logged_packets_are_in_the_kernels_log(lab: linklab.Lab, tool: str) -> None:
    root(lab, "sysctl -w net.netfilter.nf_log_all_netns=1")
    do(lab, "r1", LOGS[tool].format(f'prefix "{tool}-saw "' if tool == "nft" else f"LOG --log-prefix '{tool}-saw '"))
    send(lab, SOME, OTHERS)
    lines = [line for line in do(lab, "r1", "dmesg").splitlines() if f"{tool}-saw " in line]
    assert len(lines) == 5
    assert "SRC=10.0.0.1 DST=192.0.2.3" in lines[0]
    assert "DPT=4000" in lines[0]


def test_logged_packets_go_to_a_program(lab: linklab.Lab) -> None:
    do(lab, "r1", LOGS["nft"].format("group 5"))
    program = lab["r1"].popen("timeout 4 tcpdump -n -i nflog:5 2>&1")
    lab.sleep(1)
    send(lab, SOME, OTHERS)
    program.wait()
    said = program.read()
    assert said.count("> 192.0.2.3.4000: UDP, length 100") == 5, said
    assert "192.0.2.3.4001" not in said


QUEUES = {
    "nft": "nft 'table ip f { chain f { type filter hook forward priority 0; udp dport 4000 queue num 3; }; }'",
    "iptables": "iptables -A FORWARD -p udp --dport 4000 -j NFQUEUE --queue-num 3",
}


@pytest.mark.parametrize("tool", QUEUES)
def test_queued_packets_pass_when_a_program_lets_them(lab: linklab.Lab, tool: str) -> None:
    do(lab, "r1", QUEUES[tool])
    with capture(lab, "h3", "h3-eth0", "udp dst port 4000") as caught:
        send(lab, SOME)  # nobody is there who could say yes
    assert caught.packets == ()
    with capture(lab, "h3", "h3-eth0", "udp dst port 4000") as caught:
        assert lab.call(_let_every_second_pass) == 6
    assert [packet["Raw"].load for packet in caught.packets] == [b"0", b"2", b"4"]


def _let_every_second_pass(net: Any) -> int:
    """Inside the lab: be the program behind queue 3 for six packets, and accept every second of them."""
    subsystem, packet, verdict, config = 3 << 8, 0, 1, 2

    def message(kind: int, attribute: int, body: bytes) -> bytes:
        whole = struct.pack(">BBH", 0, 0, 3) + struct.pack("=HH", 4 + len(body), attribute) + body
        whole += bytes(-len(whole) % 4)
        return struct.pack("=IHHII", 16 + len(whole), subsystem | kind, 1, 0, 0) + whole

    with at(net, "r1"), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as queue:
        queue.bind((0, 0))
        queue.settimeout(1)
        queue.send(message(config, 1, struct.pack(">BBH", 1, 0, 0)))  # this socket is the program
        queue.send(message(config, 2, struct.pack(">IB", 0, 1)))  # it needs no packet, only its number
        with at(net, "h1"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.bind(("", 7777))
            for number in range(6):
                sender.sendto(str(number).encode(), ("192.0.2.3", 4000))
        for number in range(6):
            told = queue.recv(1 << 16)
            assert struct.unpack_from("=IH", told)[1] == subsystem | packet
            (packet_id,) = struct.unpack_from(">I", told, 24)
            queue.send(message(verdict, 2, struct.pack(">II", 1 - number % 2, packet_id)))
        return 6  # so many packets came
