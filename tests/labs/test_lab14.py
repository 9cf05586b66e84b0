"""Lab 14's checks on a running network: right controllers and rules in other words, wrong ones that look right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import linklab
from linklab.course import using
from linklab.grade import Result
from linklab.labs.lab14 import networks
from linklab.labs.lab14 import rules as lab14
from linklab.measure import EchoFlow, EchoResult, Origin, PingFlow, PingResult, QueueCounters, Run
from linklab.network import COURSE, Network, expected_state
from linklab.network.variants import variant
from linklab.programs.controller import RunningController, start_controller
from linklab.runtime.backends import Kind
from tests.grade.failures import said
from tests.labs.predicted import commit

from .refused import refused

VARIANT = variant("ada", b"a course secret for trials")


# --- Controllers

HANDLER = """
    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def asked(self, event):
        message, switch, in_port = event.msg, event.msg.datapath, event.msg.match["in_port"]
        frame = packet.Packet(message.data)[0]
        src, dst, here = frame.src, frame.dst, switch.id
        self.port_of[{key}src] = in_port
        port = self.port_of.get(({key}dst), FLOOD)
        {rule}
        {send}
"""
SEND = "self.send(message, port)"
PAIR = '{"in_port": in_port, "eth_src": src, "eth_dst": dst}'
RULE = f"if port != FLOOD: self.add(switch, 1, {PAIR}, port)"


def controller(rule: str = RULE, key: str = "here, ", send: str = SEND) -> str:
    return lab14.HEAD + HANDLER.format(rule=rule, key=key, send=send)


BOTH_WAYS = """if port != FLOOD:
            self.add(switch, 7, {"eth_src": src, "eth_dst": dst}, port)
            self.add(switch, 7, {"eth_src": dst, "eth_dst": src}, in_port)"""
HARD_WIRED = """port = {(1, 1): 1, (1, 2): 2, (1, 3): 3, (1, 4): 3, (2, 1): 3, (2, 2): 3, (2, 3): 1, (2, 4): 2}.get(
            (here, int(dst[-2:], 16)), FLOOD) if dst.startswith("00") else FLOOD
        """
RIGHT = {
    "the frame goes through the switch's table again": controller(
        send="self.send(message, of.OFPP_TABLE if port != FLOOD else port)"
    ),
    "as the solution": controller(),
    "both directions at once, without in_port": controller(BOTH_WAYS),
    "a long idle timeout": controller(RULE.replace(", port)", ", port, idle_s=60)")),
}
PINGS_ALONE = f"""match = {PAIR}
        match["eth_type"] = frame.ethertype
        if frame.ethertype == 0x800: match["ip_proto"] = 1
        if port != FLOOD: self.add(switch, 1, match, port)"""
SWAPPED = PAIR.replace('"eth_src": src, "eth_dst": dst', '"eth_src": dst, "eth_dst": src')
AGAIN, LOST = "about hosts that had answered", "gets no answer from"
WRONG = {
    "a hub": (controller("port = FLOOD"), AGAIN, "does self.add(...) run"),
    "no rule": (controller("pass"), AGAIN, "does self.add(...) run"),
    "one table for all switches": (controller(key=""), LOST, "entries of its own"),
    "a rule without the source": (controller(RULE.replace('"eth_src": src, ', "")), AGAIN, "cannot learn"),
    "a rule of priority 0": (controller(RULE.replace("switch, 1", "switch, 0")), AGAIN, "needs a higher one"),
    "in_port where the frame leaves": (controller(RULE.replace("in_port,", "port,", 1)), AGAIN, "by which they came"),
    "both addresses exchanged": (controller(RULE.replace(PAIR, SWAPPED)), AGAIN, "the other way round"),
    "a rule of one second": (controller(RULE.replace(", port)", ", port, idle_s=1)")), AGAIN, "ends after a timeout"),
    "a rule that floods": (controller(f"self.add(switch, 1, {PAIR}, FLOOD)"), "also reach", "port alone"),
    "a rule for unknown hosts": (controller(f"self.add(switch, 1, {PAIR}, port)"), "never sent a frame", "is known"),
    "the first frame is flooded": (controller(send="self.send(message, FLOOD)"), "also reach", "port alone"),
    "ports by heart": (controller(HARD_WIRED + RULE), "also reach", "port alone"),
    "the frame that was asked about is not sent": (controller(send="pass"), LOST, "must be sent"),
    "rules for pings alone": (controller(PINGS_ALONE), AGAIN, "still ask about"),
    "an exception": (controller("self.ad(switch)"), LOST, "an exception of your code"),
    "only half of the rules": (
        controller(f"if port != FLOOD and in_port < port: self.add(switch, 1, {PAIR}, port)"), AGAIN, "still ask about"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    folder = tmp_path_factory.mktemp("lab14")
    with linklab.start(networks.the_network(), switch="ovs", controller="remote", folder=folder) as lab:
        yield lab


def anew(lab: linklab.Lab, *rules: str) -> None:
    """Empty the tables and the hosts' ARP caches, and write these rules: ``"s1 in_port=1,actions=output:2"``."""
    for switch in ("s1", "s2"):
        lab[switch].cmd(f"ovs-ofctl -O OpenFlow13 del-flows {switch}")
    for host in ("h1", "h2", "h3", "h4"):
        lab[host].cmd("ip neigh flush all")
    for rule in rules:
        switch, text = rule.split(" ", 1)
        assert lab[switch].cmd(f"ovs-ofctl -O OpenFlow13 add-flow {switch} '{text}'") == ""


def judged(lab: linklab.Lab, source: str) -> tuple[Result, RunningController]:
    anew(lab)
    running = start_controller(lab, source)
    try:
        return lab14.check_learning(lab), running
    finally:
        running.stop()


@pytest.mark.lab
@pytest.mark.large
@pytest.mark.parametrize("name", RIGHT)
def test_a_learning_switch_passes_however_it_is_written(lab: linklab.Lab, name: str) -> None:
    result, running = judged(lab, RIGHT[name])
    assert result.passed, str(result) + running.output


@pytest.mark.lab
@pytest.mark.large
@pytest.mark.parametrize("name", WRONG)
def test_what_only_looks_like_a_learning_switch_is_named(lab: linklab.Lab, name: str) -> None:
    source, says, hint = WRONG[name]
    result, running = judged(lab, source)
    assert not result.passed
    assert says in said(result), str(result)
    assert hint in str(result)
    assert bool(running.problem) == (name == "an exception")


# --- Rules

KNOWN = [
    f"{switch} priority=1,dl_dst={networks.mac(host)},actions=output:{port}"
    for switch, ports in (("s1", (1, 2, 3, 3)), ("s2", (3, 3, 1, 2)))
    for host, port in zip(("h1", "h2", "h3", "h4"), ports, strict=True)
]
FLOODED = [f"{switch} dl_dst=ff:ff:ff:ff:ff:ff,actions=FLOOD" for switch in ("s1", "s2")]
WIDE = "dl_dst=01:00:00:00:00:00/01:00:00:00:00:00,actions=FLOOD"
HUB = [
    f"{switch} in_port={port},actions={','.join(f'output:{other}' for other in (1, 2, 3) if other != port)}"
    for switch in ("s1", "s2")
    for port in (1, 2, 3)
]
H = {host: networks.address(host) for host in ("h1", "h2", "h3", "h4", "service")}
DROP = f"s1 priority=10,icmp,nw_src={H['h2']},nw_dst={H['h4']},actions=drop"


def balanced(client: str, server: str, port: int, rewrites: bool = True) -> list[str]:
    there = f"mod_dl_dst:{networks.mac(server)},mod_nw_dst:{H[server]},output:3"
    back = f"mod_nw_src:{H['service']}," if rewrites else ""
    return [
        f"s1 priority=20,ip,nw_src={H[client]},nw_dst={H['service']},actions={there}",
        f"s1 priority=20,ip,nw_src={H[server]},nw_dst={H[client]},actions={back}output:{port}",
    ]


BALANCED = [*balanced("h1", "h4", 1), *balanced("h2", "h3", 2)]
TWO = ["s1 in_port=1,actions=2", "s1 in_port=2,actions=1"]
BOTH = ((1, 2), (2, 1))
ALSO_H3 = f",mod_dl_dst:{networks.mac('h3')},mod_nw_dst:{H['h3']},output:3"
HIGH = [rule.replace("priority=1,", "") for rule in KNOWN]
SILENT = [rule.replace(",output:1", "") for rule in balanced("h1", "h4", 1)]
PASSES = [
    (lab14.check_hand, ["s1 in_port=1,actions=2", "s1 in_port=2,actions=1"]),
    (lab14.check_hand, ["s1 in_port=1,arp,actions=2", "s1 in_port=1,ip,actions=2", "s1 in_port=2,actions=in_port,1"]),
    (lab14.check_proactive, KNOWN + FLOODED),
    (lab14.check_firewall, [*KNOWN, *FLOODED, DROP]),
    (lab14.check_proactive, [*KNOWN, *(f"{switch} {WIDE}" for switch in ("s1", "s2"))]),
    (lab14.check_firewall, [*KNOWN, *FLOODED, DROP.replace("s1 ", "s2 ")]),
    (lab14.check_firewall, [*KNOWN, *FLOODED, *(DROP.replace("icmp", f"icmp,icmp_type={kind}") for kind in (8, 0))]),
    (lab14.check_balancer, [*KNOWN, *FLOODED, *balanced("h1", "h4", 1), *balanced("h2", "h3", 2)]),
]
FAILS = [
    (lab14.check_hand, [], "s1 has no rule"),
    (lab14.check_hand, ["s1 in_port=1,actions=2,3", "s1 in_port=2,actions=1"], "leave s1 by port 3"),
    (lab14.check_hand, ["s1 in_port=1,actions=2", "s1 in_port=2,actions=1,3"], "leave s1 by port 3"),
    (lab14.check_hand, [*KNOWN[:2], FLOODED[0], "s2 actions=drop"], "leave s1 by port 3"),
    # what looks like it, as long as only pings are sent
    (
        lab14.check_hand,
        [f"s1 in_port={one},{what},actions={two}" for one, two in BOTH for what in ("arp", "icmp")],
        "TCP or UDP of h1 to h2 does not",
    ),
    (lab14.check_hand, [*TWO, "s1 priority=40000,in_port=1,tcp,actions=drop"], "TCP or UDP of h1 to h2 does not"),
    (lab14.check_hand, [*TWO, "s1 priority=40000,in_port=1,udp,actions=2,3"], "leave s1 by port 3"),
    (
        lab14.check_proactive,
        [*FLOODED, *(it.replace("dl_dst", f"{what},dl_dst") for it in KNOWN for what in ("arp", "icmp"))],
        "TCP or UDP of h1 to h2 does not",
    ),
    (lab14.check_proactive, [*KNOWN, *FLOODED, "s1 priority=5,udp,actions=FLOOD"], "also leave by port 3 of s1"),
    (
        lab14.check_firewall,
        [*KNOWN, *FLOODED, DROP, f"s1 priority=10,tcp,nw_dst={H['h3']},actions=drop"],
        "TCP or UDP of h1 to h3 does not",
    ),
    # all of a client's packets are sent to its server, and all that comes to it has the service's address
    (
        lab14.check_balancer,
        [*KNOWN, *FLOODED, *(it.replace(f",nw_dst={H['service']}", "") for it in BALANCED)],
        "own address does not arrive",
    ),
    (
        lab14.check_balancer,
        [
            *KNOWN,
            *FLOODED,
            *(
                BALANCED[at].replace(f"nw_src={H[it]},", "")
                for at, it in ((0, "service"), (1, "h4"), (2, "service"), (3, "h3"))
            ),
        ],
        "own address does not arrive",
    ),
    # the service for TCP alone
    (lab14.check_balancer, [*KNOWN, *FLOODED, *(it.replace(",ip,", ",tcp,") for it in BALANCED)], "and UDP does not"),
    (lab14.check_hand, ["s1 in_port=1,actions=2"], "h1 gets no answer from h2"),
    (lab14.check_hand, ["s1 in_port=1,ip,actions=2", "s1 in_port=2,ip,actions=1"], "h1 gets no answer from h2"),
    (lab14.check_hand, ["s1 actions=NORMAL"], "s1 has actions=NORMAL"),
    (lab14.check_hand, ["s1 actions=FLOOD"], "leave s1 by port 3"),
    (lab14.check_hand, [*KNOWN, *FLOODED], "leave s1 by port 3"),
    (
        lab14.check_hand,
        ["s1 actions=FLOOD", "s1 priority=7,in_port=1,actions=2", "s1 priority=7,in_port=2,actions=1"],
        "s1 has the rule priority=32768,actions=FLOOD",
    ),
    (lab14.check_proactive, [], "s1 has no rule"),
    (lab14.check_proactive, HUB, "also leave by port 3 of s1"),
    (lab14.check_proactive, ["s1 actions=FLOOD", "s2 actions=FLOOD"], "also leave by port 3 of s1"),
    (lab14.check_proactive, [*KNOWN[:4], *FLOODED, *HUB[3:]], "also leave by port 2 of s2"),
    (lab14.check_proactive, [*KNOWN, *(f"{switch} arp,actions=FLOOD" for switch in ("s1", "s2"))], "also leave by"),
    (lab14.check_proactive, [*KNOWN, "s1 priority=0,actions=FLOOD", "s2 priority=0,actions=FLOOD"], "that no host has"),
    (lab14.check_proactive, [*KNOWN[:3], KNOWN[3] + ",output:2", *KNOWN[4:], *FLOODED], "also leave by port 2 of s1"),
    (lab14.check_proactive, KNOWN, "no rule of s1 matches broadcasts"),
    (lab14.check_proactive, [*KNOWN[:4], *FLOODED], "gets no answer"),
    (lab14.check_proactive, ["s1 actions=NORMAL", "s2 actions=NORMAL"], "s1 has actions=NORMAL"),
    (lab14.check_proactive, [*KNOWN, *FLOODED, "s1 priority=0,actions=CONTROLLER"], "asks the controller"),
    (lab14.check_firewall, [*KNOWN, *FLOODED], "they are answered"),
    (lab14.check_firewall, [*HIGH, *FLOODED, DROP], "without priority= has 32768"),
    (lab14.check_firewall, [*KNOWN, *FLOODED, DROP.replace("icmp", "ip")], "TCP is dropped as well"),
    (lab14.check_firewall, [*KNOWN, *FLOODED, DROP.replace("icmp", "icmp,icmp_type=8")], "they are answered"),
    (lab14.check_firewall, [*KNOWN, *FLOODED, DROP.replace("icmp", "icmp,icmp_type=0")], "they are answered"),
    (
        lab14.check_firewall,
        [*KNOWN, *FLOODED, DROP.replace("icmp", "ip"), "s1 priority=11,tcp,in_port=2,actions=output:3"],
        "UDP is dropped as well",
    ),
    (lab14.check_firewall, [*KNOWN, *FLOODED, "s1 priority=10,icmp,actions=drop"], "gets no answer"),
    (lab14.check_firewall, [*KNOWN, *FLOODED, "s1 priority=10,actions=drop", DROP], "Is it an old one?"),
    (lab14.check_balancer, [*KNOWN, *FLOODED], "no frame reaches h4"),
    (
        lab14.check_balancer,
        [
            *KNOWN,
            *FLOODED,
            balanced("h1", "h4", 1)[0] + ALSO_H3,
            *balanced("h1", "h4", 1)[1:],
            *balanced("h2", "h3", 2),
        ],
        "h3 gets the frames as well",
    ),
    (
        lab14.check_balancer,
        [*KNOWN, *FLOODED, *balanced("h1", "h3", 1), *balanced("h2", "h4", 2)],
        "h3 gets the frames",
    ),
    (lab14.check_balancer, [*KNOWN, *FLOODED, *balanced("h1", "h4", 1, False)], "does not accept an answer"),
    (lab14.check_balancer, [*KNOWN, *FLOODED, *SILENT], "sends them nowhere"),
    (lab14.check_balancer, [*HIGH, *FLOODED, *balanced("h1", "h4", 1)], "without priority= has 32768"),
]


def played(lab: linklab.Lab, rules: list[str]) -> None:
    anew(lab, *rules)
    for host in ("h1", "h2"):
        lab[host].cmd(f"ip neigh replace {H['service']} lladdr 00:00:00:00:00:aa dev {host}-eth0")


@pytest.mark.lab
@pytest.mark.large
def test_right_rules_pass_and_wrong_ones_are_named(lab: linklab.Lab) -> None:
    for check, rules in PASSES:
        played(lab, rules)
        assert check(lab).passed, f"{rules}: {check(lab)}"
    for check, rules, says in FAILS:
        played(lab, rules)
        result = check(lab)
        assert not result.passed
        assert says in str(result), f"{rules}: {result}"


@pytest.mark.lab
@pytest.mark.large
def test_the_service_s_own_address_is_left_as_it_was(lab: linklab.Lab) -> None:
    played(lab, [*KNOWN, *FLOODED])
    assert lab14.check_proactive(lab).passed
    assert "00:00:00:00:00:aa" in lab["h1"].cmd(f"ip neigh show {H['service']}")


@pytest.mark.lab
@pytest.mark.large
def test_what_an_arp_cache_holds_helps_no_rules(lab: linklab.Lab) -> None:
    anew(lab, *KNOWN, *FLOODED)
    assert " 0% packet loss" in lab["h1"].cmd(f"ping -c 1 -W 1 {H['h2']}")
    lab["s1"].cmd("ovs-ofctl -O OpenFlow13 del-flows s1")
    lab["s1"].cmd("ovs-ofctl -O OpenFlow13 add-flow s1 ip,in_port=1,actions=2")
    lab["s1"].cmd("ovs-ofctl -O OpenFlow13 add-flow s1 ip,in_port=2,actions=1")
    assert "h1 gets no answer from h2" in said(lab14.check_hand(lab))


def all_typed(lab: linklab.Lab) -> None:
    for host in ("h1", "h2", "h3", "h4"):
        for other in {"h1", "h2", "h3", "h4"} - {host}:
            lab[host].cmd(f"ip neigh replace {H[other]} lladdr {networks.mac(other)} dev {host}-eth0")


@pytest.mark.lab
@pytest.mark.large
def test_addresses_that_are_typed_at_the_hosts_help_no_rules(lab: linklab.Lab) -> None:
    for check, rules in (
        (lab14.check_hand, ["s1 in_port=1,ip,actions=2", "s1 in_port=2,ip,actions=1"]),
        (lab14.check_proactive, KNOWN),
    ):
        anew(lab, *rules)
        all_typed(lab)
        assert "gets no answer" in said(check(lab))


@pytest.mark.lab
@pytest.mark.large
def test_what_hosts_do_themselves_is_not_taken_for_the_switches_work(lab: linklab.Lab) -> None:
    played(lab, [*KNOWN, *FLOODED])
    lab["h2"].cmd(f"iptables -A OUTPUT -p icmp -d {H['h4']} -j DROP")
    try:
        for check in (lab14.check_firewall, lab14.check_balancer):
            assert "h2 filters or rewrites packets itself" in said(check(lab))
    finally:
        lab["h2"].cmd("nft flush ruleset")
    lab["h3"].cmd(f"ip address add {H['service']}/32 dev lo")
    try:
        assert "h3 has its address" in said(lab14.check_balancer(lab))
    finally:
        lab["h3"].cmd(f"ip address del {H['service']}/32 dev lo")


# --- First pings


def pings(*rtt_ms: float | None, source: str = "h1") -> PingResult:
    flow = PingFlow(source, "h3", len(rtt_ms), 1)
    origin = Origin("t", "7", expected_state(networks.the_network()))
    return PingResult(flow, origin, rtt_ms, None, None, None, None, 0, 0)


FIRST = {5: pings(80, 10, 10, 10, 10), 50: pings(620, 10, 10, 10, 10)}


def test_first_pings_pass_also_with_a_controller_that_asks_less() -> None:
    runs = {delay: Run((it,), 0.0) for delay, it in FIRST.items()}
    for given in (FIRST, runs, {5: pings(60, 10, 10), 50: pings(420, 10, 10)}):
        assert lab14.check_first(given).passed, str(lab14.check_first(given))


test_other_first_pings_are_refused = refused(
    {
        lab14.check_first: [
            (FIRST | {50: FIRST[5]}, "first ping, 50 ms"),
            (FIRST | {5: pings(80, 70, 70, 70)}, "later pings go to the controller"),
            (FIRST | {5: pings(None, 10, 10)}, "a ping got no answer"),
            # measured with the controller 40 ms away
            (FIRST | {50: pings(500, 10, 10)}, "6 questions at 5 ms and 5 questions at 50 ms"),
            (FIRST | {5: pings(20, 10, 10)}, "first ping, 5 ms"),
            (FIRST | {5: pings(80, 10, 10, source="h2")}, "no PingFlow h1-h3"),
        ]
    }
)


def test_predictions_stand_next_to_what_was_measured() -> None:
    commit(lab14.PREDICTIONS, "first", {"5 ms": 30, "50 ms": 620})
    five, fifty = lab14.check_first(FIRST).surprises
    assert (five.slip, five.measured) == ("that is one question", 80)
    assert (fifty.slip, fifty.theory) == ("", 620)


def removed(seconds: float, reason: str = "idle") -> str:
    return f"OFPT_FLOW_REMOVED (OF1.3) (xid=0x0): in_port=1 reason={reason} table_id=0 duration{seconds}s idle10 pkts9"


def test_a_rule_s_life_stands_next_to_its_prediction() -> None:
    predicted = lab14.PREDICTIONS.predict("idle", 10, sure=50)
    result = lab14.check_idle([removed(16.4), removed(16.2)], predicted)
    assert result.passed, str(result)
    assert [it.slip for it in result.surprises] == ["that counts from the rule's writing, as a hard timeout does"]


IDLE = lab14.PREDICTIONS.predict("idle", 16, sure=50)
test_other_lives_are_refused = refused(
    {
        lab14.check_idle: [
            ([removed(16.4)], lab14.PREDICTIONS.predict("idle", None, sure=50), "not filled in yet"),
            ([], IDLE, "does not say so"),
            ([removed(3.0, "delete")], IDLE, "does not say so"),
            ([removed(10.4)], IDLE, "life of the rules"),
        ]
    }
)


def test_the_delay_is_the_student_s_own() -> None:
    with using(VARIANT):
        assert networks.the_network().links[-1].delay_ms == VARIANT.link("L1").delay_ms / 2
        assert "another network" in said(lab14.check_first(FIRST))
    assert networks.the_network().links[-1].delay_ms == COURSE.link("L1").delay_ms / 2


# --- The first ping frame by frame, and the claim

ASKS = {"ARP request": 2, "ARP reply": 2, "echo request": 2, "echo reply": 0}


def echoed(lost: dict[str, int], source: str = "h1", network: Network | None = None) -> Run:
    """Five datagrams to each of these hosts, of which so many are not answered."""
    origin = Origin("t", "7", network=expected_state(network or networks.the_network()))
    results = [
        EchoResult(EchoFlow(source, name, count=5), origin, (None,) * count + (10.0,) * (5 - count), 1.0, 1.0)
        for name, count in lost.items()
    ]
    return Run(tuple(results), 0.0)


def sent_by_s2(frames: int, found: Run) -> Run:
    """The run, if so many frames crossed the cable from the servers to the clients."""
    counted = QueueCounters("s2", "s2-eth3", frames, 100 * frames, 0, 0, 0)
    results = (replace(it, origin=replace(it.origin, queues=(counted,))) for it in found.results)
    return replace(found, results=tuple(results))


def test_right_answers_on_the_first_ping_and_the_claim_pass() -> None:
    assert lab14.check_account(ASKS, "a").passed
    assert lab14.check_claim(4, echoed({"h3": 0, "h4": 5})).passed
    assert lab14.check_claim(4, echoed({"h3": 5, "h4": 0}, "h2")).passed
    with using(VARIANT):
        assert lab14.check_claim(4, echoed({"h4": 5, "h3": 1})).passed
    assert lab14.check_claim(4, sent_by_s2(14, echoed({"h3": 0, "h4": 5}))).passed


test_wrong_ones_are_refused_and_named = refused(
    {
        lab14.check_account: [
            (ASKS | {"ARP request": 1}, "a", "both switches have to forward it"),
            (ASKS | {"ARP reply": 0}, "a", "every switch has the same rules"),
            (ASKS | {"echo reply": 2}, "a", "rules match this frame"),
            (ASKS, "b", "each switch asks for itself"),
            (ASKS, None, "not answered yet"),
        ],
        lab14.check_claim: [
            (1, echoed({"h3": 0, "h4": 5}), "nw_src of the client"),
            (None, echoed({"h3": 0, "h4": 5}), "not answered yet"),
            (4, None, "not measured yet"),
            (4, echoed({"h4": 5}), "there is no EchoFlow h1-h3"),
            (4, echoed({"h3": 5, "h4": 5}), "h3 does not answer either"),
            (4, sent_by_s2(7, echoed({"h3": 0, "h4": 5})), "no answer of h4 came to h1 at all"),
            (4, echoed({"h3": 0, "h4": 0}), "5 of 5 answers of h4 are accepted"),
            (4, echoed({"h3": 0, "h4": 5}, network=COURSE), "on another network"),
            (4, replace(echoed({"h3": 0, "h4": 5}), interrupted=True), "stopped before its end"),
        ],
    }
)
