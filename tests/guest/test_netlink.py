"""What netlink makes is what Mininet's commands make, and what it reads is what iproute2 reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mininet.topo import Topo

import linklab
from linklab.guest.request_loop import RequestLoop
from linklab.labs.lab00 import rules as lab00
from linklab.network import COURSE, TWO_HOSTS, Shape, expected_state
from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess
from tests.grade.failures import failed

pytestmark = pytest.mark.lab

SHAPES: list[dict[str, Any]] = [
    {"bw": 40, "delay": "10ms", "max_queue_size": 67},
    {"bw": 9.5, "delay": "2.5ms", "loss": 1.5},
    {"bw": 1000},
    {"bw": 0.064},
    {"delay": "100ms"},
    {"delay": "10ms", "jitter": "2ms"},
    {"loss": 12.5},
    {"max_queue_size": 1},
    {"delay": "37"},
    {"delay": "6s"},
    {"bw": 10, "use_hfsc": True},
    {"bw": 10, "use_tbf": True},
    {"bw": 10, "delay": "5ms", "enable_red": True},
    {"bw": 10, "enable_ecn": True, "max_queue_size": 20},
    {},
]


def shaped(context: RequestLoop, ours: bool, shapes: list[dict[str, Any]]) -> list[list[str]]:
    """Inside a lab: what tc shows of a link of each shape, made by Mininet's class or by ours."""
    import subprocess

    from mininet.link import TCLink

    from linklab.guest.mininet_parts import LabLink
    from linklab.guest.net import LabNetwork

    net = LabNetwork(link=LabLink if ours else TCLink)
    one, two = net.addHost("h1"), net.addHost("h2")
    found: list[list[str]] = []
    for wish in shapes:
        link = net.addLink(one, two, **wish)
        found.append([])
        for what in ("qdisc", "class"):
            done = one.popen(["tc", "-d", what, "show", "dev", link.intf1.name], stdin=subprocess.DEVNULL)
            found[-1] += done.communicate()[0].decode().replace(link.intf1.name, "IF").splitlines()
        net.delLink(link)
    net.stop()
    return found


# what the kernel chooses at random, and rate tables that today's kernels do not read
_BUCKET = re.compile(r"\b(c?burst) (\d+)(b|Kb|Mb)")
_UNITS = {"b": 1, "Kb": 1024, "Mb": 1024**2}
_VARIES = re.compile(r" seed \d+| cell_log \d+|/\d+ mpu 0b| linklayer ethernet")


def test_shapes_are_those_that_mininets_commands_make(virtual: Kind, tmp_path: Path) -> None:
    with LabProcess.spawn(virtual, tmp_path) as process:
        plain = process.call(shaped, False, SHAPES)
        ours = process.call(shaped, True, SHAPES)
    for wish, expected, found in zip(SHAPES, plain, ours, strict=True):
        if wish == {"delay": "37"}:
            # a number without a unit has become nanoseconds in tc; Mininet's users mean what it was
            expected = [line.replace("37ns", "37us") for line in expected]
        assert _words(found) == _words(expected), wish
        # a bucket is kept as the time it takes to empty, by tc in nanoseconds
        most_bytes = wish.get("bw", 0) / 8 + 1
        more_bytes = [there - here for here, there in zip(_buckets(found), _buckets(expected), strict=True)]
        assert all(0 <= more <= most_bytes for more in more_bytes), wish


def _words(lines: list[str]) -> list[str]:
    return [_BUCKET.sub(r"\1 ...", _VARIES.sub("", line)) for line in lines]


def _buckets(lines: list[str]) -> list[int]:
    return [int(found[2]) * _UNITS[found[3]] for line in lines for found in _BUCKET.finditer(line)]


def test_what_is_read_over_netlink_is_what_iproute2_shows(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(COURSE, folder=tmp_path) as lab:
        lab["h1"].cmd("ip addr add 192.168.7.1/24 dev h1-eth0; ip link set dev h1-eth0 mtu 1400")
        lab["r3"].cmd("ip route add 172.16.0.0/12 via 10.0.6.2; ip route add blackhole 192.0.2.0/24")
        lab["r4"].cmd("ip route add default dev r4-eth1; ip link set dev r4-eth0 down")
        lab["r1"].cmd("ip route add 198.51.100.0/24 nexthop via 10.0.1.2 nexthop via 10.0.0.9")
        shown = {name: [json.loads(lab[name].cmd(f"ip -j -d {what}")) for what in ("address", "route")]
                 for name in ("h1", "r1", "r3", "r4")}  # fmt: skip
        state = lab.state()
    for name, (devices, routes) in shown.items():
        found = state.node(name)
        assert found is not None
        assert {(it.name, it.addresses, it.mtu_bytes, it.up) for it in found.interfaces} == {
            (it["ifname"], tuple(f"{one['local']}/{one['prefixlen']}" for one in it["addr_info"]), it["mtu"],
             "UP" in it["flags"])
            for it in devices if it["ifname"] != "lo"
        }  # fmt: skip
        assert {it["gso_max_segs"] for it in devices if it["ifname"] != "lo"} == {1}
        assert {(_short(it.destination), it.via, it.interface) for it in found.routes} == {
            (it["dst"], hop.get("gateway"), hop.get("dev", ""))
            for it in routes if it.get("protocol") != "kernel"
            for hop in it.get("nexthops", [it])
        }  # fmt: skip


@pytest.mark.parametrize("early", ["enable_red", "enable_ecn"])
def test_a_queue_that_drops_before_it_is_full_has_no_limit_in_packets(
    early: str, virtual: Kind, tmp_path: Path
) -> None:
    class TwoHosts(Topo):  # type: ignore[misc]
        def build(self) -> None:
            self.addHost("h1", ip="10.0.0.1/24")
            self.addHost("h2", ip="10.0.0.2/24")
            self.addLink("h1", "h2", bw=10, delay="10ms", max_queue_size=50, **{early: True})

    with linklab.start(TwoHosts(), folder=tmp_path) as lab:
        found = failed(lab00.check_network(lab))
    assert [it.description for it in found] == ["h1-h2: queue on both sides"]
    assert any("enable_red= or enable_ecn= drops packets" in hint for hint in (found[0].hint, *found[0].further))


def test_a_router_forwards_where_all_its_interfaces_do(virtual: Kind, tmp_path: Path) -> None:
    """The kernel asks the interface that a packet comes in by. ip_forward sets them all; each may be set after it."""
    with linklab.start(COURSE, folder=tmp_path) as lab:

        def forwards(name: str) -> bool:
            node = lab.state().node(name)
            assert node is not None
            return node.forwarding

        assert (forwards("r2"), forwards("h1")) == (True, False)
        lab["r2"].cmd("sysctl -w net.ipv4.conf.r2-eth2.forwarding=0")
        assert not forwards("r2")
        lab["r2"].cmd("sysctl -w net.ipv4.ip_forward=0")
        lab["r2"].cmd("for each in /proc/sys/net/ipv4/conf/r2-*; do echo 1 > $each/forwarding; done")
        assert forwards("r2")


@pytest.mark.parametrize(
    ("queue", "limit"),
    [("pfifo limit 17", 17), ("bfifo limit 30000", None), ("codel", None), ("fq_codel", None)],
)
def test_a_limit_is_read_where_the_queue_counts_packets_against_it(
    queue: str, limit: int | None, virtual: Kind, tmp_path: Path
) -> None:
    with linklab.start(COURSE, folder=tmp_path) as lab:
        lab["r1"].cmd(f"tc qdisc replace dev r1-eth1 parent 5:1 {queue}")
        replaced = lab.state().interface("r1", "r1-eth1")
    assert replaced is not None
    assert replaced.shape == Shape(rate_mbps=40, queue_packets=limit)


def _short(destination: str) -> str:
    return {"0.0.0.0/0": "default"}.get(destination, destination)


def test_a_refusal_has_the_kernels_words_and_a_node_no_shell_until_it_needs_one(virtual: Kind, tmp_path: Path) -> None:
    def refused(net: Any) -> list[str | None]:
        from linklab.guest.namespace import namespace_of
        from linklab.guest.netlink import links

        said: list[str | None] = []
        there = namespace_of(net["h1"])
        for request in (
            links.route("10.9.0.0/16", "192.168.1.1", there.index("h1-eth0")),
            links.bridge("h1-eth0"),
            links.change(4711, up=True),
        ):
            try:
                there.kernel.ask(*request)
            except OSError as error:
                said.append(error.strerror)
        return said

    def look(net: Any) -> list[Any]:
        before = [node.has_shell for node in net.hosts]
        said = net["h1"].cmd("readlink /proc/self/ns/net; ls -d /sys/class/net/*/ | xargs -n 1 basename; echo $$")
        return [before, [node.has_shell for node in net.hosts], said.split(), net["h1"].pid, net["h2"].IP()]

    with linklab.start(TWO_HOSTS, folder=tmp_path) as lab:
        assert lab.call(refused) == ["Nexthop has invalid gateway", "File exists", "No such device"]
        before, after, said, pid, address = lab.call(look)
    assert before == [False, False]
    assert after == [True, False]
    assert {"lo", "h1-eth0"} == set(said[1:-1]), "the shell's /sys shows its own network"
    assert int(said[-1]) == pid
    assert address == "10.0.0.2"


class Chain(Topo):  # type: ignore[misc]
    """Switches in a row, a host at each."""

    def build(self, switches: int) -> None:
        for number in range(1, switches + 1):
            self.addLink(self.addHost(f"h{number}"), self.addSwitch(f"s{number}"), bw=100, delay="1ms")
            if number > 1:
                self.addLink(f"s{number - 1}", f"s{number}", bw=100, delay="1ms")


def effort(context: Any, wish: Any, expected: Any) -> list[int]:
    """Inside a lab: how many programs a network takes to be built, and how often the kernel is asked."""
    import subprocess

    from linklab.guest import build
    from linklab.guest.netlink.socket import Netlink

    counted = {"programs": 0, "questions": 0}

    def counting(owner: Any, name: str, what: str) -> None:
        real = getattr(owner, name)

        def count(*words: Any, **more: Any) -> Any:
            counted[what] += 1
            return real(*words, **more)

        setattr(owner, name, count)

    counting(subprocess.Popen, "__init__", "programs")
    counting(Netlink, "ask_all", "questions")
    counting(Netlink, "dump", "questions")
    build.build_network(context, wish, expected, "bridge", None)
    return [counted["programs"], counted["questions"]]


def test_building_starts_no_program_and_grows_with_the_number_of_nodes(virtual: Kind, tmp_path: Path) -> None:
    found = []
    for wish, expected in ((COURSE, expected_state(COURSE)), (Chain(5), None), (Chain(40), None)):
        with LabProcess.spawn(virtual, tmp_path) as process:
            found.append(process.call(effort, wish, expected))
    assert [programs for programs, _ in found] == [0, 0, 0]
    questions_per_node = [questions / nodes for (_, questions), nodes in zip(found[1:], (10, 80), strict=True)]
    assert questions_per_node[1] <= 1.2 * questions_per_node[0]
