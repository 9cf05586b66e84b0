"""What courses ask of a lab's kernel: each row is set up as a course would, and taken away again.

A kernel that was compiled without a feature refuses its row. That Linux then does what its manual says is Linux's.
"""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest

import linklab
from linklab.guest.namespace import namespace_of
from linklab.network import End, Host, Link, Network, Router
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab

CHAIN = Network(
    "chain",
    (Host("h1"), Router("r1"), Host("h2")),
    (
        Link(End("h1", "h1-eth0", "10.0.1.1/24"), End("r1", "r1-eth0", "10.0.1.254/24")),
        Link(End("r1", "r1-eth1", "10.0.2.254/24"), End("h2", "h2-eth0", "10.0.2.2/24")),
    ),
)


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(CHAIN, folder=tmp_path_factory.mktemp("chain")) as lab:
        yield lab


def table(kind: str, rule: str, hook: str = "type filter hook forward priority 0") -> str:
    """Return an nft command that adds one rule."""
    return f"nft 'table {kind} t {{ chain c {{ {hook}; {rule}; }}; }}'"


QUOTE = "'"
NAT_OUT, NAT_IN = "type nat hook postrouting priority 100", "type nat hook prerouting priority -100"
NFT = {
    "masquerade": table("ip", "oif r1-eth1 masquerade", NAT_OUT),
    "dnat": table("ip", "tcp dport 8080 dnat to 10.0.2.2:80", NAT_IN),
    "redirect": table("ip", "tcp dport 8080 redirect to :81", NAT_IN),
    "state": table("inet", "ct state established,related accept"),
    "reject": table("inet", "tcp dport 80 reject with tcp reset; udp dport 53 reject"),
    "helper": "nft 'table ip t { ct helper ftp { type \"ftp\" protocol tcp; }; }'",
    "mark": table("ip", "udp dport 4000 ct mark set 7"),
    "zone": table("ip", "udp dport 4001 ct zone set 5", "type filter hook prerouting priority -300"),
    "fib": table("inet", "fib saddr . iif oif missing drop", "type filter hook prerouting priority 0"),
    "numgen": table("inet", "numgen inc mod 4 == 0 counter"),
    "limit": table("inet", "limit rate 10/second burst 5 packets counter"),
    "count": table("inet", "ct state new ct count over 2 drop"),
    "quota": table("inet", "quota until 640 bytes counter"),
    "hash": table("inet", "jhash udp sport mod 2 == 0 counter"),
    "log": table("ip", 'udp dport 4000 log prefix "saw "'),
    "queue": table("ip", "udp dport 4000 queue num 3"),
    "ingress": table("netdev", "drop", "type filter hook ingress device r1-eth0 priority 0"),
    "egress": table("netdev", "drop", "type filter hook egress device r1-eth1 priority 0"),
    "bridge": table("bridge", "drop"),
    "arp": table("arp", "drop", "type filter hook input priority 0"),
    "synproxy": table("ip", "tcp dport 80 synproxy mss 1460 wscale 7"),
    "dup": table("ip", "udp dport 4000 dup to 10.0.1.1", "type filter hook prerouting priority 0"),
    "fwd": table("netdev", "fwd to r1-eth1", "type filter hook ingress device r1-eth0 priority 0"),
    "socket": table("ip", "socket transparent 1 accept", "type filter hook prerouting priority -150"),
    "tproxy": table("ip", "tcp dport 80 tproxy to :5000", "type filter hook prerouting priority -150"),
    "shortcut": "nft 'table inet t { flowtable f { hook ingress priority 0; devices = { r1-eth0, r1-eth1 }; }; "
    "chain c { type filter hook forward priority 0; ip protocol tcp flow add @f; }; }'",
    "tftp": "nft 'table ip t { ct helper tftp { type \"tftp\" protocol udp; }; }'",
    "ipv6": table("ip6", "udp dport 4000 reject", "type filter hook input priority 0"),
}
MATCHES = (
    "addrtype --dst-type LOCAL", "bpf --bytecode '1,6 0 0 1'",
    "connbytes --connbytes 5 --connbytes-dir both --connbytes-mode packets", "connlimit --connlimit-above 2",
    "connmark --mark 7", "conntrack --ctstate ESTABLISHED", "dscp --dscp-class EF", "ecn --ecn-ip-ect 1",
    "hashlimit --hashlimit-upto 10/s --hashlimit-burst 5 --hashlimit-mode srcip --hashlimit-name all",
    "limit --limit 10/s --limit-burst 5", "ttl --ttl-eq 9", "iprange --src-range 10.0.0.2-10.0.0.9",
    "length --length 128", "mac --mac-source 00:00:00:00:00:01", "mark --mark 5", "multiport --dports 3999,4000",
    "pkttype --pkt-type broadcast", "state --state ESTABLISHED", "statistic --mode nth --every 4 --packet 0",
    "recent --name knocked --set", "string --algo bm --string attack", "time --datestart 2020-01-01",
    "u32 --u32 '0&0xFFFF=128'", "helper --helper tftp",
)  # fmt: skip
TARGETS = {
    "nat": ("POSTROUTING -o r1-eth1 -j MASQUERADE", "PREROUTING -p tcp --dport 80 -j DNAT --to-destination 10.0.2.2:80",
            "PREROUTING -p tcp --dport 8080 -j REDIRECT --to-ports 81",
            "PREROUTING -d 198.51.100.0/24 -j NETMAP --to 10.0.2.0/24"),
    "filter": ("FORWARD -p tcp -j REJECT --reject-with tcp-reset", "FORWARD -j LOG --log-prefix saw",
               "FORWARD -j NFQUEUE --queue-num 3", "OUTPUT -m owner --uid-owner 0 -j ACCEPT",
               "INPUT -p tcp --dport 80 -j SYNPROXY --mss 1460 --wscale 7"),
    "raw": ("PREROUTING -p udp --dport 4000 -j CT --notrack", "PREROUTING -p udp -j TRACE"),
    "mangle": ("FORWARD -j DSCP --set-dscp 10", "FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 500",
               "POSTROUTING -j CLASSIFY --set-class 1:4", "FORWARD -j MARK --set-mark 9",
               "FORWARD -j CONNMARK --save-mark", "PREROUTING -m rpfilter --invert -j DROP",
               "PREROUTING -p udp -j TEE --gateway 10.0.1.1",
               "PREROUTING -p tcp --dport 80 -j TPROXY --on-port 5000 --tproxy-mark 1"),
}  # fmt: skip
QUEUES = (
    "cake unlimited rtt 30ms", "fq_pie", "fq_codel", "pie limit 1000 ecn", "dualpi2", "drr", "qfq", "ets bands 2",
    "choke limit 1000 bandwidth 10mbit min 10 max 30", "sfb limit 1000 target 20 max 25", "prio bands 4",
    "gred setup DPs 1 default 0", "red limit 200000 min 15140 max 45420 avpkt 1514 burst 17 ecn", "hfsc", "sfq",
    "tbf rate 1mbit burst 5kb latency 70ms", "pfifo_fast", "fq", "codel", "htb",
    "teql0",
)  # fmt: skip
FILTERS = (
    "handle 9 fw flowid 1:2", "u32 match mark 9 0xff flowid 1:2", "route to 5 flowid 1:2",
    "basic match 'cmp(u16 at 2 layer transport eq 4000)' flowid 1:2", "basic match 'meta(nf_mark eq 9)' flowid 1:2",
    "handle 1 flow map key proto-dst addend -3997 baseclass 1:1", "flower ip_proto udp dst_port 4000 flowid 1:2",
    "bpf bytecode '1,6 0 0 4294967295' flowid 1:2", "matchall flowid 1:2",
)  # fmt: skip
ACTIONS = (
    "drop", "skbedit priority 1:2", "pedit ex munge ip ttl set 7 pipe action csum ip", "ct commit zone 3 mark 5",
    "nat egress 10.0.1.1/32 203.0.113.9", "vlan push id 100 priority 3", "mpls push protocol mpls_uc label 77 ttl 9",
    "mirred egress mirror dev r1-eth0", "tunnel_key set src_ip 10.0.2.254 dst_ip 10.0.2.2 id 42", "police rate 1mbit "
    "burst 10k", "bpf bytecode '1,6 0 0 2'", "connmark zone 3", "skbmod set dmac 00:00:00:00:00:09",
    "sample rate 10 group 1",
)  # fmt: skip
CONTROLS = (
    "cubic", "reno", "bbr", "bic", "westwood", "htcp", "highspeed", "hybla", "vegas", "scalable", "veno", "yeah",
    "illinois", "dctcp", "cdg", "lp",
)  # fmt: skip
ENDS = "local 10.0.2.254 remote 10.0.2.2"
XFRM = "ip xfrm state add src 10.0.2.254 dst 10.0.2.2"
LINKS = {
    "vxlan": f"ip link add t0 type vxlan id 42 {ENDS} dstport 4789; ip link del t0",
    "geneve": "ip link add t0 type geneve id 42 remote 10.0.2.2; ip link del t0",
    "ipip": f"ip link add t0 type ipip {ENDS}; ip link del t0",
    "sit": f"ip link add t0 type sit {ENDS}; ip link del t0",
    "gre": f"ip link add t0 type gre {ENDS}; ip link del t0",
    "ip6tnl": "ip link add t0 type ip6tnl mode ipip6 local fd12::1 remote fd23::3; ip link del t0",
    "ip6gre": "ip link add t0 type ip6gre local fd12::1 remote fd23::3; ip link del t0",
    "wireguard": "ip link add t0 type wireguard; wg genkey >/tmp/key; wg set t0 private-key /tmp/key; ip link del t0",
    "esp-cbc": f"{XFRM} proto esp spi 0x77 mode tunnel enc 'cbc(aes)' 0x{'00' * 16} "
    f"auth-trunc 'hmac(sha256)' 0x{'ab' * 32} 128",
    "esp-gcm": f"{XFRM} proto esp spi 0x78 mode tunnel aead 'rfc4106(gcm(aes))' 0x{'cd' * 20} 128",
    "ah": f"{XFRM} proto ah spi 0x77 mode tunnel auth-trunc 'hmac(sha256)' 0x{'ef' * 32} 128",
    "xfrm": "ip link add t0 type xfrm dev r1-eth1 if_id 42; ip link del t0",
    "vrf": "ip link add red type vrf table 100; ip link set red up; ip vrf exec red true; ip link del red",
    "bond": "ip link add bond7 type bond mode active-backup miimon 100; ip link del bond7",
    "macvlan": "ip netns add guest; ip link add v0 link r1-eth0 type macvlan mode bridge; "
    "ip link set v0 netns guest; ip netns del guest",
    "ipvlan": "ip link add v0 link r1-eth0 type ipvlan mode l2; ip link del v0",
    "fou": f"ip fou add port 55 ipproto 4; ip link add t0 type ipip {ENDS} encap fou encap-sport auto encap-dport 55; "
    "ip link del t0; ip fou del port 55",
    "gue": f"ip fou add port 56 gue; ip link add t0 type gre {ENDS} encap gue encap-sport auto encap-dport 56; "
    "ip link del t0; ip fou del port 56",
    "bareudp": "ip link add t0 type bareudp dstport 6635 ethertype mpls_uc; ip link del t0",
    "l2tp in udp": f"ip l2tp add tunnel tunnel_id 1 peer_tunnel_id 2 encap udp {ENDS} udp_sport 6001 udp_dport 6002; "
    "ip l2tp add session name t0 tunnel_id 1 session_id 3 peer_session_id 4; ip l2tp del tunnel tunnel_id 1",
    "l2tp in ip": f"ip l2tp add tunnel tunnel_id 5 peer_tunnel_id 6 encap ip {ENDS}; ip l2tp del tunnel tunnel_id 5",
    "vti": f"ip link add t0 type vti {ENDS} key 42; ip link del t0",
    "macsec": "ip link add link r1-eth1 t0 type macsec encrypt on; ip macsec add t0 tx sa 0 pn 1 on key 01 "
    f"{'00' * 16}; ip link del t0",
    "hsr": "ip link add d0 type dummy; ip link add d1 type dummy; ip link add t0 type hsr slave1 d0 slave2 d1; "
    "ip link del t0; ip link del d0; ip link del d1",
    "prp": "ip link add d0 type dummy; ip link add d1 type dummy; ip link add t0 type hsr slave1 d0 slave2 d1 proto 1; "
    "ip link del t0; ip link del d0; ip link del d1",
    "gvrp": "ip link add link r1-eth1 t0 type vlan id 7 gvrp on; ip link del t0",
    "mvrp": "ip link add link r1-eth1 t0 type vlan id 7 mvrp on; ip link del t0",
    "nlmon": "ip link add t0 type nlmon; ip link del t0",
    "tun": "ip tuntap add t0 mode tap; ip tuntap del t0 mode tap",
}
ROUTES = {
    "rules": "ip rule add fwmark 1 lookup 100; ip rule del fwmark 1",
    "several next hops": "ip route add 10.99.0.1 nexthop via 10.0.1.1 nexthop via 10.0.2.2; ip route del 10.99.0.1",
    "labels": "sysctl -qw net.mpls.platform_labels=1000 net.mpls.conf.r1-eth1.input=1; ip -f mpls route add 100 as 200 "
    "via inet 10.0.2.2; ip route add 10.99.0.2 encap mpls 100 via 10.0.2.2; ip route del 10.99.0.2",
    "segments": "sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.all.seg6_enabled=1; "
    "ip -6 route add fd02::/64 encap seg6 mode encap segs fd0f::2,fd0f::3 dev r1-eth1; "
    "ip -6 route add fd0f::9 encap seg6local action End dev r1-eth1; echo secret | setsid -w ip sr hmac set 7 sha256",
    "rules of ipv6": "sysctl -qw net.ipv6.conf.all.disable_ipv6=0; ip -6 rule add from fd01::2 lookup 100; "
    "ip -6 rule del from fd01::2",
    "router preferences": "sysctl net.ipv6.conf.r1-eth0.accept_ra_rt_info_max_plen",
    "multicast rules": "ip mrule add iif r1-eth0 lookup 7; ip mrule del iif r1-eth0 lookup 7",
    "multipath": "ip mptcp limits set subflow 2 add_addr_accepted 2; ip mptcp endpoint add 10.0.2.254 signal; "
    "ip mptcp endpoint flush",
    "traces": "mount -t tracefs tracefs /sys/kernel/tracing; echo 1 >/sys/kernel/tracing/events/tcp/tcp_probe/enable; "
    "echo 1 >/sys/kernel/tracing/events/skb/kfree_skb/enable; umount /sys/kernel/tracing",
    "a queue for each": "ip link add d0 numtxqueues 4 type dummy; "
    "tc qdisc add dev d0 root handle 1: mqprio num_tc 2 map 0 1 queues 2@0 2@2 hw 0; "
    "tc qdisc add dev d0 parent 1:1 cbs locredit -1470 hicredit 30 sendslope -980000 idleslope 20000; ip link del d0",
    "gates": "ip link add d0 numtxqueues 4 type dummy; tc qdisc add dev d0 parent root handle 1: taprio num_tc 2 "
    "map 0 1 queues 2@0 2@2 base-time 0 sched-entry S 01 300000 sched-entry S 02 300000 clockid CLOCK_TAI; "
    "tc qdisc add dev d0 parent 1:1 etf clockid CLOCK_TAI delta 200000; ip link del d0",
    "SYN cookies": "sysctl -n net.ipv4.tcp_syncookies | grep -q 1; sysctl -qw net.ipv4.tcp_syncookies=2",
    "control groups": "set -e; mkdir -p /run/groups; mount -t cgroup2 none /run/groups; umount /run/groups",
}


ROWS = {
    "nft": [f"{each}; nft flush ruleset" for each in NFT.values()],
    "matches of iptables": [f"iptables -A FORWARD -p udp -m {each}" for each in MATCHES],
    "targets of iptables": [f"iptables -t {name} -A {it}" for name, each in TARGETS.items() for it in each],
    "queues": [f"tc qdisc add dev r1-eth1 root handle 10: {each}; tc qdisc del dev r1-eth1 root" for each in QUEUES],
    "filters": [
        "tc qdisc add dev r1-eth1 root handle 1: prio",
        *(f"tc filter add dev r1-eth1 parent 1: protocol ip prio {n} {each}" for n, each in enumerate(FILTERS, 1)),
        "tc qdisc del dev r1-eth1 root",
    ],
    "actions": [
        "tc qdisc add dev r1-eth1 clsact",
        *(f"tc filter add dev r1-eth1 egress protocol ip prio {n} flower ip_proto udp dst_port 4000 action {each}"
          for n, each in enumerate(ACTIONS, 1)),
        "tc qdisc del dev r1-eth1 clsact",
    ],
    "congestion controls": [f"sysctl -qw net.ipv4.tcp_congestion_control={each}" for each in CONTROLS],
    "links and tunnels": [*LINKS.values()],
    "routes and more": [*ROUTES.values()],
}  # fmt: skip


@pytest.mark.large
@pytest.mark.parametrize("name", ROWS)
def test_the_kernel_takes_what_courses_ask_for(lab: linklab.Lab, name: str) -> None:
    lines = [f"(set -e; {row})\n[ $? = 0 ] || echo 'refused: {row.replace(QUOTE, '')}'" for row in ROWS[name]]
    lab.write_file("/tmp/rows.sh", "\n".join(lines))
    said = lab["r1"].cmd("sh /tmp/rows.sh 2>&1; nft flush ruleset")
    assert "refused: " not in said, said


def _opened(net: Any) -> list[str]:
    """Inside the lab: sockets and options of one, each as a course's program asks for it; those that are refused."""
    signed = struct.pack("=HH", socket.AF_INET, 0) + socket.inet_aton("10.0.2.2")
    signed = signed.ljust(128, b"\0") + struct.pack("=BBHi", 0, 0, 6, 0) + b"secret".ljust(80, b"\0")
    refused = []
    for name, kind, protocol, level, option, value in (
        ("SCTP", socket.SOCK_SEQPACKET, 132, None, 0, b""),
        ("MPTCP", socket.SOCK_STREAM, 262, None, 0, b""),
        ("signatures of TCP (RFC 2385)", socket.SOCK_STREAM, 0, socket.IPPROTO_TCP, 14, signed),
        ("transparent proxies", socket.SOCK_STREAM, 0, socket.IPPROTO_IP, 19, struct.pack("=i", 1)),
        ("multicast routing", socket.SOCK_RAW, socket.IPPROTO_IGMP, socket.IPPROTO_IP, 200, struct.pack("=i", 1)),
        ("a multicast routing table of one's own", socket.SOCK_RAW, socket.IPPROTO_IGMP, socket.IPPROTO_IP, 209,
         struct.pack("=i", 7)),
    ):  # fmt: skip
        with namespace_of(net["r1"]).entered():
            try:
                with socket.socket(socket.AF_INET, kind, protocol) as opened:
                    if level is not None:
                        opened.setsockopt(level, option, value)
            except OSError as error:
                refused.append(f"{name}: {error.strerror}")
    return refused


def test_the_kernel_opens_the_sockets_that_courses_ask_for(lab: linklab.Lab) -> None:
    assert lab.call(_opened) == []


@pytest.mark.parametrize("command", [NFT["masquerade"], f"iptables -t nat -A {TARGETS['nat'][0]}"])
def test_a_border_that_masquerades_shows_its_own_address_outside(lab: linklab.Lab, command: str) -> None:
    lab["h2"].cmd("ip route del default")  # outside nobody knows the way in
    assert lab["h1"].run("ping -c 1 -W 1 10.0.2.2").returncode == 1
    lab["r1"].cmd(command)
    assert lab["h1"].run("ping -c 1 -W 1 10.0.2.2").returncode == 0
    known = lab["r1"].cmd("cat /proc/net/nf_conntrack")
    lab["r1"].cmd("nft flush ruleset")
    lab["h2"].cmd("ip route add default via 10.0.2.254")
    assert re.search(r"icmp .*src=10.0.1.1 dst=10.0.2.2 .*src=10.0.2.2 dst=10.0.2.254", known), known
