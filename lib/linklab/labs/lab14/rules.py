"""What Lab 14, Software-defined networking, asks, and how it is judged: by what switches do with frames.

Controllers are judged by their switches alone: pings, what went to the controller meanwhile, and where else it arrived.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.errors import LinklabError
from linklab.grade.check import Check, Hints, Refuse
from linklab.grade.choices import choices, letter
from linklab.grade.measured import measured
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, asked, asked_each, stated
from linklab.grade.reachability import Checkable, LiveLab, pings_answered, running
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import Wanted, at_least, refuse_another_network, require_result, require_run
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab14.networks import HOSTS, SWITCHES, address, mac, the_network
from linklab.labs.printed import round_trips_ms
from linklab.measure import EchoFlow, EchoResult, PingFlow, PingResult, Run
from linklab.network.flow_tables import DUMP, FlowRule, questions, read_rules

__all__ = ["HEAD"]

_FOLDER: Final = Path(__file__).parent
HEAD: Final = """\
from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import packet
from os_ken.ofproto import ofproto_v1_3 as of, ofproto_v1_3_parser as parser
FLOOD = of.OFPP_FLOOD

class Mine(OSKenApp):
    OFP_VERSIONS = [of.OFP_VERSION]
    port_of = {}  # for what you learn

    def add(self, switch, priority, match, port, idle_s=0):  # a rule: these frames leave by this port
        output = parser.OFPActionOutput(port, of.OFPCML_NO_BUFFER)
        do = [parser.OFPInstructionActions(of.OFPIT_APPLY_ACTIONS, [output])]
        switch.send_msg(parser.OFPFlowMod(switch, priority=priority, match=parser.OFPMatch(**match),
                                          instructions=do, idle_timeout=idle_s))

    def send(self, message, port):  # the frame that the switch asked about leaves by this port
        message.datapath.send_msg(parser.OFPPacketOut(
            message.datapath, of.OFP_NO_BUFFER, message.match["in_port"],
            [parser.OFPActionOutput(port)], message.data))

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def joined(self, event):  # frames that meet no other rule go to the controller
        self.add(event.msg.datapath, 0, {}, of.OFPP_CONTROLLER)
"""
"""The first part of each controller of the lab."""
DELAYS_MS: Final = (5, 50)
QUESTIONS: Final = 6
"""How often switches ask a learning controller about the first ping: ARP request, ARP reply and echo request, each at
two switches. The echo reply meets the rules that the ARP reply made."""
_BROADCAST: Final = "ff:ff:ff:ff:ff:ff"
_NEW: Final = "02:00:00:00:00:01"
"""A MAC address that a check gives to h1 for a while."""
_NOBODY: Final = "02:00:00:00:00:99"
"""A MAC address that no host has."""


def rtt_ms() -> float:
    """Return the round trip of h1 and h3 without a controller on the way, in ms."""
    return 2 * the_network().links[-1].delay_ms


# --- What is asked of a running lab


def _pings(lab: LiveLab, source: str, destination: str, count: int = 1) -> int:
    printed = lab[source].cmd(f"ping -n -c {count} -i 0.2 -W 1 {destination}")
    return pings_answered(printed) or 0


def _connects(lab: LiveLab, source: str, destination: str) -> bool:
    """Return whether TCP gets an answer: a refusal, since nobody listens. Ping takes answers of other addresses."""
    return "refused" in lab[source].cmd(f"timeout 3 bash -c '</dev/tcp/{destination}/9' 2>&1")


def _datagram_arrives(lab: LiveLab, source: str, destination: str, sent_to: str = "") -> bool:
    """Return whether a datagram of UDP reaches a host, which counts it, since nobody waits for it there.

    It is sent to the host's own address, or to that of ``sent_to``.
    """
    counter = "nstat -asz UdpNoPorts | awk '/UdpNoPorts/ {print $2}'"
    before = lab[destination].cmd(counter)
    lab[source].cmd(f"bash -c 'echo > /dev/udp/{address(sent_to or destination)}/9'; sleep 0.2")
    return lab[destination].cmd(counter) != before


def _table(lab: LiveLab, switch: str) -> tuple[FlowRule, ...]:
    printed = lab[switch].cmd(f"{DUMP} {switch}")
    try:
        return read_rules(printed)
    except LinklabError as error:
        hint = 'start it with switch="ovs", controller="remote"'
        raise Refuse(f"table of {switch}", str(error), hint, "a flow table") from None


def _asked(lab: LiveLab, switches: Sequence[str] = SWITCHES) -> int:
    return sum(questions(_table(lab, switch)) for switch in switches)


def _received(lab: LiveLab, host: str) -> int:
    return int(lab[host].cmd(f"cat /sys/class/net/{host}-eth0/statistics/rx_packets").split()[-1])


def _forget(lab: LiveLab) -> None:
    """Empty the hosts' ARP caches, except for what is typed for the service: frames must find each host anew."""
    for host in HOSTS:
        typed = "; ".join(f"ip neigh del {address(other)} dev {host}-eth0" for other in HOSTS if other != host)
        lab[host].cmd(f"ip neigh flush all; {typed}")


def _own(lab: Checkable) -> LiveLab:
    live = running(lab)
    refuse_another_network("the lab", live.state(), the_network())
    return live


def _unfiltered(lab: Checkable) -> LiveLab:
    """Return the lab; refuse one whose hosts filter or rewrite packets by themselves, in place of the switches."""
    live = _own(lab)
    for host in HOSTS:
        if live[host].cmd("nft list ruleset").strip():
            hint = f"the switches must do it, by rules: {host} gets rid of its own by nft flush ruleset"
            raise Refuse("the hosts", f"{host} filters or rewrites packets itself", hint, "no filter", "nft's ruleset")
    return live


def _reached(lab: LiveLab, pairs: Sequence[tuple[str, str]], what: str, hints: Hints) -> Check:
    _forget(lab)
    lost = [(one, other) for one, other in pairs if not _pings(lab, one, address(other), 2)]
    if lost:
        said = f"{lost[0][0]} gets no answer from {lost[0][1]}" + (f" ({len(lost)} pairs in all)" if lost[1:] else "")
        return Check.failing(what, said, hints, "all pings answered", f"{len(pairs) - len(lost)} of {len(pairs)} pairs")
    for one, other in pairs:
        if not (_connects(lab, one, address(other)) and _datagram_arrives(lab, one, other)):
            hint = "match no protocol: a rule for icmp alone carries no other packet"
            said = f"pings pass, and TCP or UDP of {one} to {other} does not"
            return Check.failing(what, said, hint, "all packets pass", "pings alone")
    return Check.passing(what, "all pings answered")


def _sent_by_ports(lab: LiveLab) -> Counter[str]:
    """Return how many frames each port of a switch has sent so far: ``{"s1-eth3": 12}``."""
    printed = lab["s1"].cmd("cd /sys/class/net && grep . s[12]-eth*/statistics/tx_packets")
    return Counter({line.partition("/")[0]: int(line.rpartition(":")[2]) for line in printed.split()})


def _port(interface: str) -> str:
    switch, port = interface.split("-eth")
    return f"port {port} of {switch}"


def _without_help(lab: LiveLab, needed: Sequence[str]) -> Check:
    """Judge that each needed switch has a rule, that none asks the controller, or lets the switch choose the port."""
    what, expected = "rules", "rules that name a port, and no question to a controller"
    for switch in SWITCHES:
        table = _table(lab, switch)
        if not table and switch in needed:
            hint = f'what did add(...) print? Each text is one rule: add(lab, "{switch}", "in_port=1,actions=...")'
            return Check.failing(what, f"{switch} has no rule", hint, expected, "an empty table")
        for rule in table:
            if rule.asks:
                hint = "this lab has no controller: remove the rule, and write what the controller would answer"
                return Check.failing(what, f"a rule of {switch} asks the controller", hint, expected)
            if "NORMAL" in rule.outputs:
                hint = "NORMAL lets the switch choose the port, as a usual switch does: name the port"
                return Check.failing(what, f"{switch} has actions={','.join(rule.actions)}", hint, expected)
    return Check.passing(what, expected)


def _still(lab: LiveLab, wrong: Callable[[FlowRule], object], what: str, switch: str = "s1") -> str:
    """Return a hint that names the first such rule of a switch: perhaps an old one, which the student has mended."""
    found = next((rule for rule in _table(lab, switch) if wrong(rule)), None)
    if found is None:
        return f"no rule may send frames {what}"
    match = ",".join(f"{name}={value}" if value else name for name, value in found.match.items())
    text = f"priority={found.priority}{match and ','}{match},actions={','.join(found.actions) or 'drop'}"
    stays = f"a rule stays until you remove it: ovs-ofctl -O OpenFlow13 del-flows {switch} empties the table"
    return f"{switch} has the rule {text}, which sends frames {what}. Is it an old one? {stays}"


PAIRS: Final = tuple(permutations(HOSTS, 2))


@guarded("Lab 14, rules by hand")
def check_hand(lab: Checkable) -> Iterator[Check]:
    """Judge that h1 and h2 reach each other by rules of s1, and that no frame of theirs leaves it for s2."""
    live = _own(lab)
    yield _without_help(live, ("s1",))
    hints = (
        "a ping needs a rule for each direction",
        "ARP comes before the ping: a rule that matches in_port alone serves both",
        "in_port=1,actions=output:2 and in_port=2,actions=output:1",
    )
    before = _sent_by_ports(live)
    reached = _reached(live, [("h1", "h2"), ("h2", "h1")], "h1 and h2", hints)  # by ping, TCP and UDP
    yield reached
    for one, other in (("h1", "h3"), ("h2", "h4")):
        _pings(live, one, address(other))
    frames, what, expected = (_sent_by_ports(live) - before)["s1-eth3"], "s2", "gets no frame"
    if frames:
        hint = _still(live, lambda rule: {"3", "FLOOD", "ALL"} & set(rule.outputs), "to port 3, which leads to s2")
        yield Check.failing(what, f"frames of h1 or h2 leave s1 by port 3 ({frames})", hint, expected, f"{frames}")
    elif reached.passed:
        yield Check.passing(what, expected)


BEHIND: Final = {
    "s1": {"h1": 1, "h2": 2, "h3": 3, "h4": 3},
    "s2": {"h1": 3, "h2": 3, "h3": 1, "h4": 2},
}
"""The port by which each switch reaches each host."""


def _fault(lab: LiveLab) -> str:
    """Return what is wrong with the first rule that a learning switch would not have; empty where all are right."""
    written = [(switch, rule) for switch in SWITCHES for rule in _table(lab, switch) if not rule.asks]
    if not written:
        return "no switch has a rule but the first one: does self.add(...) run once the destination's port is known?"
    for switch, rule in written:
        ports = {mac(host): str(port) for host, port in BEHIND[switch].items()}
        out, to = rule.outputs[0] if rule.outputs else "no port", rule.match.get("dl_dst", "any host")
        said = f"a rule of {switch} sends frames for {to} by port {out}"
        if out in (rule.match.get("in_port"), "IN_PORT"):
            return (
                f"{said}, by which they came. Is the port that of frame.dst, and not in_port? And has each switch "
                "entries of its own in self.port_of? A host has another port at s1 than at s2"
            )
        if out != ports.get(to, out):
            return f"{said}, and this host is behind port {ports[to]}: " + (
                "are eth_src and eth_dst the other way round?" if out == ports.get(rule.match.get("dl_src", "")) else
                "do you note the port of frame.src, and for each switch by itself?"
            )  # fmt: skip
        if rule.priority == 0:
            return f"{said} with priority 0, as the rule that asks the controller: it needs a higher one"
        if "dl_src" not in rule.match:
            return (
                f"{said}, whoever sent them: the controller never sees the sender again, and cannot learn where it is. "
                "Match in_port, eth_src and eth_dst"
            )
        if rule.idle_timeout_s or rule.hard_timeout_s:
            return f"{said}, and ends after a timeout of a few seconds: this lab's rules stay"
    return ""


@guarded("Lab 14, learning switch")
def check_learning(lab: Checkable) -> Iterator[Check]:
    """Judge a learning controller by its switches: all pings, no question asked twice, no frame at a stranger."""
    live = _own(lab)
    what, expected = "pings of all pairs", "all pings answered"
    if "true" not in live["s1"].cmd("ovs-vsctl --bare --columns=is_connected list Controller"):
        hint = "start_controller(lab, learning) says why yours does not run: run its cell again"
        yield Check.failing(what, "the switches have no controller", hint, expected, "no controller")
        return
    reached = _reached(live, PAIRS, what, "")
    if not reached.passed:
        fault = _fault(live)
        if not fault or fault.startswith("no switch"):
            fault = (
                "print(controller) shows an exception of your code. Where there is none: each frame that the "
                "controller is asked about must be sent, self.send(...), also where a rule was written"
            )
        yield replace(reached, hint=fault)
        return
    yield reached
    before = _asked(live)
    for one, other in PAIRS:
        _pings(live, one, address(other))
        _connects(live, one, address(other))
    again, what, expected = _asked(live) - before, "known hosts", "no frame goes to the controller"
    if again:
        _pings(live, "h1", address("h3"))  # so that a rule that ends soon is there to be read
        hint = _fault(live) or "which frames does the switch still ask about? Look at the rules of s1 and s2"
        said = f"switches asked again about hosts that had answered ({again} frames)"
        yield Check.failing(what, said, hint, expected, f"{again} frames")
    else:
        yield Check.passing(what, expected)
    yield _strangers(live)


def _unused() -> str:
    """Return an address that neither a host nor the service has."""
    return address("h1").rpartition(".")[0] + ".99"


def _strangers(lab: LiveLab) -> Check:
    """Judge that frames of known hosts reach nobody else, with a rule and without one, and that a host may change."""
    what, expected = "strangers", "h2 and h4 get no frame of h1 and h3"
    lab["h1"].cmd(f"ip link set dev h1-eth0 address {_NEW}")
    try:
        _forget(lab)
        _pings(lab, "h1", address("h3"), 2)
        for switch in SWITCHES:
            for known in (_NEW, mac("h3")):
                lab[switch].cmd(f"ovs-ofctl -O OpenFlow13 del-flows {switch} dl_dst={known}")
        counts = {host: _received(lab, host) for host in ("h2", "h4")}
        _pings(lab, "h1", address("h3"), 3)
        _datagram_arrives(lab, "h1", "h3")
        flooded = [host for host, count in counts.items() if _received(lab, host) > count]
        lab["h1"].cmd(f"ip neigh replace {_unused()} lladdr {_NOBODY} dev h1-eth0")
        _pings(lab, "h1", _unused())
        kept = [switch for switch in SWITCHES for rule in _table(lab, switch) if rule.match.get("dl_dst") == _NOBODY]
    finally:
        lab["h1"].cmd(f"ip neigh del {_unused()} dev h1-eth0; ip link set dev h1-eth0 address {mac('h1')}")
        _forget(lab)
    if flooded:
        hints = (
            "the check gave h1 another MAC address and removed rules of h1 and h3: the controller must learn the new "
            "one, and send a frame for a host that it knows to this host's port alone",
            "a rule and self.send(...) have the same port: the learned one, and FLOOD only where there is none",
        )
        said = f"frames between h1 and h3 also reach {' and '.join(flooded)}"
        return Check.failing(what, said, hints, expected, f"at {' and '.join(flooded)}")
    if kept:
        hint = "write a rule only where the port of frame.dst is known: else the host is flooded when it is known, too"
        return Check.failing(what, f"{kept[0]} has a rule for a host that never sent a frame", hint, expected, "a rule")
    return Check.passing(what, expected)


def _takes_broadcasts(rule: FlowRule) -> bool:
    return rule.match.get("dl_dst", _BROADCAST) == _BROADCAST and bool(rule.outputs)


@guarded("Lab 14, proactive rules")
def check_proactive(lab: Checkable) -> Iterator[Check]:
    """Judge rules that let all hosts reach each other without a controller, and flood nothing but broadcasts."""
    live = _own(lab)
    yield _without_help(live, SWITCHES)
    deaf = [switch for switch in SWITCHES if not any(map(_takes_broadcasts, _table(live, switch)))]
    broadcasts = (f"no rule of {deaf[0]} matches broadcasts",) if deaf else ()
    reached = _reached(live, PAIRS, "pings of all pairs", (
        *broadcasts,
        "each switch needs a rule for each host, also for those at the other switch",
        "ARP requests are broadcasts: who sends them on?",
        f"four rules dl_dst=MAC,actions=output:PORT a switch, and dl_dst={_BROADCAST},actions=FLOOD",
    ))  # fmt: skip
    yield reached
    if reached.passed:
        yield _not_flooded(live)


def _not_flooded(lab: LiveLab) -> Check:
    """Judge by the ports' counters that frames of each pair take the path alone, but for one ARP request."""
    what, expected = "other ports", "send broadcasts alone"
    hints = ("name one port for each host: only broadcasts may be flooded", f"dl_dst={_BROADCAST},actions=FLOOD")
    for one, other in combinations(HOSTS, 2):
        _forget(lab)
        before = _sent_by_ports(lab)
        _pings(lab, one, address(other), 2)
        for source, destination in ((one, other), (other, one)):
            _connects(lab, source, address(destination))
            _datagram_arrives(lab, source, destination)
        switches = [switch for switch, port_of in BEHIND.items() if {port_of[one], port_of[other]} != {3}]
        path = {f"{switch}-eth{BEHIND[switch][host]}" for switch in switches for host in (one, other)}
        for port, frames in (_sent_by_ports(lab) - before).items():
            if port not in path and frames > 1:
                said = f"frames between {one} and {other} also leave by {_port(port)} ({frames} of a few packets)"
                return Check.failing(what, said, hints, expected, f"{frames} frames")
    before = _sent_by_ports(lab)
    lab["h1"].cmd(f"ip neigh replace {_unused()} lladdr {_NOBODY} dev h1-eth0")
    try:
        _pings(lab, "h1", _unused(), 2)
    finally:
        lab["h1"].cmd(f"ip neigh del {_unused()} dev h1-eth0")
    for port, frames in (_sent_by_ports(lab) - before).items():
        said = f"frames for a MAC address that no host has leave by {_port(port)}"
        return Check.failing(what, said, hints, expected, f"{frames} frames")
    return Check.passing(what, expected)


def _useless(lab: LiveLab) -> str:
    """Return which rule for IP addresses cannot do its work: others come before it, or it has no output."""
    for switch in SWITCHES:
        table = _table(lab, switch)
        deep = [rule for rule in table if {"nw_src", "nw_dst"} & set(rule.match)]
        plain = [rule for rule in table if rule not in deep and "arp" not in rule.match]
        first = max((rule.priority for rule in plain if rule.match.get("dl_dst") != _BROADCAST), default=-1)
        for rule in deep:
            if rule.priority <= first:
                return (
                    f"{switch} has a rule of priority {rule.priority} for IP addresses, and others of priority {first} "
                    "come before it: a rule without priority= has 32768. Write those anew with priority=1"
                )
            if rule.actions and not rule.outputs:
                return f"a rule of {switch} rewrites frames and sends them nowhere: its last action is output:PORT"
    return ""


_FIREWALL: Final = (
    "a rule of a higher priority, with actions=drop, comes before the others",
    "icmp,nw_src=...,nw_dst=... matches pings between two hosts alone, not TCP and not ARP",
    "priority=10,icmp,nw_src={},nw_dst={},actions=drop at s1",
)


def _drops_more_than_pings(rule: FlowRule) -> bool:
    return not rule.outputs and not {"icmp", "arp"} & set(rule.match)


@guarded("Lab 14, firewall")
def check_firewall(lab: Checkable) -> Iterator[Check]:
    """Judge that pings between h2 and h4 are dropped, and that all else passes."""
    live = _unfiltered(lab)
    hints: Hints = (*_FIREWALL[:2], _FIREWALL[2].format(address("h2"), address("h4")))
    wide = [switch for switch in SWITCHES if any(map(_drops_more_than_pings, _table(live, switch)))]
    beyond = _still(live, _drops_more_than_pings, "nowhere", wide[0]) if wide else hints[1:]
    for one, other in (("h2", "h4"), ("h4", "h2")):
        what = f"pings of {one} to {other}"
        if _pings(live, one, address(other)):
            yield Check.failing(what, "they are answered", _useless(live) or hints, "dropped", "answered")
        else:
            yield Check.passing(what, "dropped")
        what, expected = f"TCP and UDP of {one} to {other}", f"reach {other}"
        if not _connects(live, one, address(other)):
            yield Check.failing(what, "TCP is dropped as well", beyond, expected, "dropped")
        elif not _datagram_arrives(live, one, other):
            yield Check.failing(what, "UDP is dropped as well", beyond, expected, "dropped")
        else:
            yield Check.passing(what, expected)
    others = [pair for pair in PAIRS if set(pair) != {"h2", "h4"}]
    yield _reached(live, others, "pings of all other pairs", beyond)


_CONNECTIONS: Final = 5
"""Connections that are tried: a host that gets as many frames gets theirs, and not a few ARP requests alone."""


@guarded("Lab 14, load balancer")
def check_balancer(lab: Checkable) -> Iterator[Check]:
    """Judge that the service's address leads h1 to h4 and h2 to h3, and that the answers come from it.

    What is for another address goes there as before.
    """
    live = _unfiltered(lab)
    for host in HOSTS:
        if live[host].cmd(f"ip -brief address show to {address('service')}").strip():
            hint = f"{host} must not have the service's address: s1 rewrites it, on the way there and back"
            raise Refuse("the service", f"{host} has its address", hint, "no host has it", host)
    for client, server, other in (("h1", "h4", "h3"), ("h2", "h3", "h4")):
        what, expected = f"{client} at the service", f"{server} answers"
        counts = {host: _received(live, host) for host in (server, other)}
        answers = [_connects(live, client, address("service")) for _ in range(_CONNECTIONS)]
        got = {host: _received(live, host) - count >= _CONNECTIONS for host, count in counts.items()}
        hints = (
            "on the way there the destination changes (IP and MAC address), on the way back the source",
            f"at s1: ip,nw_src={address(client)},nw_dst={address('service')}: mod_dl_dst, mod_nw_dst, then output",
            f"at s1: ip,nw_src={address(server)},nw_dst={address(client)}, and then mod_nw_src to the service",
        )
        useless = _useless(live)
        if got[other] or not got[server]:
            also = " as well" if got[server] else ""
            said = f"{other} gets the frames{also}" if got[other] else f"no frame reaches {server}"
            yield Check.failing(what, said, useless or hints, expected, said)
        elif not all(answers):
            said = f"{server} gets the frames, and {client} does not accept an answer"
            yield Check.failing(what, said, useless or (hints[0], hints[2]), expected, "no answer")
        elif not _datagram_arrives(live, client, server, "service"):
            said = f"TCP of {client} reaches {server}, and UDP does not"
            hint = "match ip, and not tcp, there and back: the service gets all IP packets"
            yield Check.failing(what, said, hint, expected, "TCP alone")
        else:
            yield Check.passing(what, expected)

    for client, host in (("h1", "h2"), ("h2", "h1"), ("h1", "h3"), ("h2", "h4")):
        if not _connects(live, client, address(host)):
            apart = (
                "the rules for the service must meet packets for its address alone, and their answers",
                f"there nw_src={address(client)},nw_dst={address('service')}, and back nw_src of the server",
            )
            said = f"TCP of {client} to {host}'s own address does not arrive any more"
            yield Check.failing(f"{client} at {host} itself", said, apart, f"{host} answers", "no answer")


@guarded("Lab 14, shortest paths")
def check_ring(lab: Checkable) -> Iterator[Check]:
    """Judge that each pair of the ring's four hosts has the round trip of its shortest path."""
    live, delay_ms = running(lab), the_network().links[-1].delay_ms
    names = [f"s{number}" for number in range(1, 5)]
    if any(live.state().node(name) is None for name in names):
        raise Refuse("the lab", "this is not the ring", "give it ring", "four switches")
    for number, other in permutations(range(1, 5), 2):
        if number > other:
            continue
        hops = min((other - number) % 4, (number - other) % 4)
        printed = live[f"h{number}"].cmd(f"ping -n -c 2 -i 0.2 -W 1 10.0.0.{other}")
        times = round_trips_ms(printed)
        what = f"h{number} and h{other}"
        hints = (
            "on a ring there are two ways: count the cables of each",
            "port 1 leads to the own host, port 2 to the next switch and port 3 to the one before",
            "(host - switch) % 4 is the number of steps to the next one: by port 2 up to 2 steps, else by port 3",
        )
        if not times:
            yield Check.failing(what, "no ping is answered", hints, f"{2 * hops * delay_ms:g} ms", "lost")
            continue
        if "DUP!" in printed:
            hint = "one rule for each destination: dump-flows shows them, and each names one port"
            yield Check.failing(what, "frames arrive more than once", hint, "once", "twice")
            continue
        ideal = 2 * hops * delay_ms
        why = f"{hops} cables of {delay_ms:g} ms, there and back"
        expected = Expectation(
            ideal, ideal * 0.98, ideal * 1.05, "ms", why, "low", source="the delays", allowance="5 %"
        )
        yield measured(f"round trip, {what}", min(times), expected, hints)


# --- The first ping


def _first() -> list[Value]:
    floor = rtt_ms()
    found = []
    for delay in DELAYS_MS:
        every = 2 * QUESTIONS * delay
        hint = "which frames pass before the first answer is there, and which switches ask about each?"
        slips = (
            Slip(2 * delay, "that is one question alone", "both switches ask, about each of three frames"),
            Slip(2 * delay + floor, "that is one question", "both switches ask, and ARP comes before the ping"),
            Slip(2 * delay + 2 * floor, "that is one question", "both switches ask, and about each new frame"),
            Slip(4 * delay + floor, "that is one frame at two switches", "ARP comes before the ping"),
            Slip(4 * 2 * delay + floor, "that is two frames at two switches, and one round trip",
                 "what must h1 learn by ARP before the ping?"),
            Slip(8 * 2 * delay + 2 * floor, "that is eight questions", "the echo reply meets rules that ARP made"),
            Slip(every + floor, "that forgets the round trip of ARP", "ARP takes a round trip as well"),
        )  # fmt: skip
        why = "six questions to the controller and two round trips"
        found.append(
            Value(f"{delay} ms", f"first ping, {delay} ms", stated(every + 2 * floor, "ms", why, 2), hint, slips)
        )
    return found


IDLE_S: Final = 10
PINGS: Final = 7
"""Number of h1's pings to h2, a second apart, before their rules are left alone."""
_LOOKS_S: Final = 1.5
"""Longest delay of Open vSwitch, which looks for expired rules now and then. It was 0.6 s late at most."""


def _idle() -> list[Value]:
    last_s = PINGS - 1
    why = f"{PINGS} pings take {last_s} s, and {IDLE_S} s after the last one the time is over"
    hint = "the time begins anew with each frame: when does the last one come?"
    slips = (
        Slip(IDLE_S, "that counts from the rule's writing, as a hard timeout does", hint),
        Slip(IDLE_S + PINGS, "that counts a gap for each ping", f"{PINGS} pings have {last_s} gaps between them"),
        Slip(IDLE_S * PINGS, "that adds up all timeouts", "each frame begins the time anew: it does not lengthen it"),
    )
    return [Value("gone", "life of the rules", stated(last_s + IDLE_S, "s", why, 2), hint, slips)]


PREDICTIONS: Final = Predictions("Lab 14", {"first": _first, "idle": _idle})


@guarded
def check_first(given: object) -> Result:
    """Judge pings of h1 to h3 with a controller that is 5 and 50 ms away: ``{5: ..., 50: ...}``, as runs or results."""
    title = "Lab 14, first packets"
    if isinstance(given, dict):
        given = {delay: _its_pings(it) for delay, it in given.items()}
    result = asked_each(title, given, DELAYS_MS, _first_check, "{5: first_ping(5), 50: first_ping(50)}")
    seen: dict[str, Any] = {}
    if isinstance(given, dict):
        seen = {f"{delay} ms": it.rtt_ms[0] for delay, it in given.items() if isinstance(it, PingResult)}
    if result.passed and isinstance(given, dict):
        asked = {delay: _asked_by(delay, given[delay].rtt_ms[0]) for delay in DELAYS_MS}
        if len(set(asked.values())) > 1:
            said = " and ".join(f"{count} questions at {delay} ms" for delay, count in asked.items())
            hint = f"the controller asks as often at each distance: was its delay the one of the name? {_AS_IT_IS}"
            check = Check.failing("both first pings", f"they took the time of {said}", hint, "as many questions")
            result = replace(result, checks=(*result.checks, check))
    return PREDICTIONS.compared(result, "first", seen)


def _its_pings(given: object) -> object:
    """Return the pings of a run of these alone, and all else as it is."""
    pings = given.of(PingResult) if isinstance(given, Run) else ()
    return pings[0] if len(pings) == 1 else given


def _asked_by(delay_ms: float, first_ms: float) -> int:
    """Return how many questions to a controller at this distance a first ping has waited for."""
    return max(1, min(8, round((first_ms - 2 * rtt_ms()) / (2 * delay_ms))))


_AS_IT_IS: Final = "take first_ping as it is"


def _first_check(delay: Any, given: object) -> Check:
    what, floor = f"first ping, {delay} ms", rtt_ms()
    wanted = Wanted(PingFlow, ("h1", "h3"), (at_least("sent_packets", 3, _AS_IT_IS),), step=_AS_IT_IS)
    result = require_result(what, given, wanted, "keep what first_ping returns")
    refuse_another_network(what, result.origin.network, the_network())
    first, *later = result.rtt_ms
    if first is None or None in later:
        hint = "does your controller pass check_learning? It must send each frame that it was asked about"
        raise Refuse(what, "a ping got no answer", hint, "all answered", "lost")
    asked = _asked_by(delay, first)
    ideal = 2 * asked * delay + 2 * floor
    why = f"{asked} questions of 2 * {delay} ms, and a round trip each for ARP and ping"
    expected = Expectation(ideal, ideal * 0.95, ideal * 1.05, "ms", why, "low", source="the delays", allowance="5 %")
    if max(later[1:]) > 1.05 * floor:  # type: ignore[type-var, operator]
        hint = "later pings meet rules: does the controller write them?"
        return Check.failing(
            what, "later pings go to the controller too", hint, f"later {floor:g} ms", f"{later[-1]} ms"
        )
    hints = ("is the controller's delay on, and was the lab a new one?", f"theory: {why}")
    return measured(what, first, expected, hints)


ASKED: Final = {"ARP request": 2, "ARP reply": 2, "echo request": 2, "echo reply": 0}
"""How many switches ask about each frame of the first ping of h1 to h3."""


@guarded
def check_account(asks: object, reply: object) -> Result:
    """Judge how many switches ask the controller about each frame of a first ping, and the letter of the last one."""
    title, hints = "Lab 14, the first ping frame by frame", (
        "a switch asks if none of its rules matches the frame: which rules has the controller written by then?",
        "the controller writes a rule when a frame's destination is known: who has sent a frame before?",
        "step through the replay: at which switches does the frame stay for 100 ms?",
    )  # fmt: skip
    questions = [
        Value(frame, f"switches that ask about the {frame}", stated(right, "switches", "no rule matches", 6), hints,
              (Slip(2 - right, "every switch has the same rules here" if right else "rules match this frame", hints[1]),
               Slip(1, "both switches have to forward it", "look at the other switch, too")))
        for frame, right in ASKED.items()
    ]  # fmt: skip
    result = asked(title, asks, questions, '{"ARP request": ..., ...}')
    return replace(result, checks=(*result.checks, *asked(title, {"reply": reply}, choices(_FOLDER, "reply")).checks))


check_dies = letter("Lab 14, the controller ends", _FOLDER, "dies")
"""Judge the letter: what goes on without the controller."""
_REMOVED: Final = re.compile(r"OFPT_FLOW_REMOVED.*reason=(\w+).* duration([\d.]+)s idle(\d+)")


@guarded
def check_idle(removed: object, predicted: object) -> Result:
    """Judge how long rules with an idle timeout lived, by the lines in which the switch says that they are gone."""
    committed = PREDICTIONS.check_predicted(predicted)
    if not committed.passed:
        return replace(committed, title="Lab 14, idle timeout")
    what, (asked,) = "life of the rules, measured", _idle()
    lines = removed if isinstance(removed, list) else []
    found = [it for line in lines if (it := _REMOVED.search(str(line)))]
    if not found or any(it[1] != "idle" or int(it[3]) != IDLE_S for it in found):
        hint = f"run the cell above as it is: rules with idle_timeout={IDLE_S}, pings, and some time without frames"
        raise Refuse(what, "the switch does not say so of these rules", hint, "reason=idle")
    life_s, right = max(float(it[2]) for it in found), asked.expected.value
    expected = Expectation(
        right, right - 0.1, right + _LOOKS_S, "s", asked.expected.explanation, "low",
        source="OpenFlow 1.3.5, section 5.5", allowance=f"Open vSwitch may notice {_LOOKS_S} s later",
    )  # fmt: skip
    result = Result("Lab 14, idle timeout", (*committed.checks, measured(what, life_s, expected, asked.hints)))
    return PREDICTIONS.compared(result, "idle", {"gone": life_s})


# --- A claim to test


def _rewritten(given: object) -> Check:
    """Judge datagrams of a client to its server's own address, and to the other server in the same run."""
    what, how = "the run that shows it", "give what measure.run_together returned for two EchoFlows of one client"
    network = the_network()
    flows = [it.flow for it in given.results] if isinstance(given, Run) else []
    client, server, other = ("h2", "h3", "h4") if any(flow.source == "h2" for flow in flows) else ("h1", "h4", "h3")
    run = require_run(what, given, [Wanted(EchoFlow, (client, server)), Wanted(EchoFlow, (client, other))], how)
    refuse_another_network(what, run.results[0].origin.network, network)
    answers = {it.flow.destination: it.flow.count - it.lost for it in run.of(EchoResult)}
    if not answers[other]:
        hint = f"do all hosts reach each other, apart from the balancer? {client} must reach {other} in the same run"
        raise Refuse(what, f"{other} does not answer either", hint, f"answers of {other}")
    flow = run.of(EchoResult)[0].flow
    count = flow.count
    if not answers[server]:
        # a client that refuses an answer gets it, all the same
        came = run.results[0].origin.queue("s2", "s2-eth3")
        if came is not None and came.sent_packets < answers[other] + count + 2 * flow.warm_up:
            hint = f"something drops what {client} and {server} send: keep the balancer's rules, and take others back"
            raise Refuse(what, f"no answer of {server} came to {client} at all", hint, "answers that are refused")
    return contradicts(
        f"{client} reaches {server} at its own address",
        f"{answers[server]} of {count} answers of {server} are accepted, and {answers[other]} of {other}",
        is_wrong=not answers[server],
        step="are the rules of the load balancer in the table? check_balancer must pass before",
    )


check_claim = claim("Lab 14, a claim to test", _FOLDER, _rewritten)
"""Judge the number of the wrong sentence on a load balancer, and the run that shows it."""
