"""What Lab 10, Switches, asks and how it is judged: VLANs, what a frame's path costs, the shares of a full link.

Expectations follow from the testbeds in `linklab.network.catalogue`, none is written down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from pathlib import Path
from typing import Final

from linklab.analysis import Expectation
from linklab.analysis.sharing import proportional
from linklab.grade.check import Check, Refuse
from linklab.grade.choices import choices, letter
from linklab.grade.measured import measured, results_of
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, asked, asked_each, stated
from linklab.grade.reachability import Checkable, LiveLab, of_topo, ping, pings_answered, running, state_of
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import Wanted, at_least, exactly, refuse_another_network, require_result, require_run
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab10.testbeds import ENDS, fairness_network, senders
from linklab.labs.lab10.vlans import OPEN_VSWITCH, gateway_checks, port_checks
from linklab.measure import ConstantRateFlow, ConstantRateResult, EchoFlow, EchoResult, PingFlow, Run
from linklab.measure.flows import FlowOf
from linklab.network import Network, by_name, path
from linklab.network.catalogue import SWITCH_QUEUE_PACKETS, l3_switch, router_on_a_stick
from linklab.network.state import Membership
from linklab.network.theory import cable_rtt_ms, datagram_wire_bytes
from linklab.units import ETHERNET_HEADER_BYTES, IPV4_HEADER_BYTES, UDP_HEADER_BYTES, transmission_ms

__all__ = ["RTTS", "by_name", "path"]

_FOLDER: Final = Path(__file__).parent
RATE_MBPS: Final = 10


@dataclass(frozen=True)
class EchoPath:
    """A round trip that is asked for: in a testbed, between two hosts, with a payload in bytes."""

    network: Network
    ends: tuple[str, str]
    payload_bytes: int

    @property
    def rtt_ms(self) -> float:
        """The round trip in ms by theory."""
        return cable_rtt_ms(self.network, *self.ends, self.payload_bytes)


_L3, _STICK = l3_switch(RATE_MBPS), router_on_a_stick(RATE_MBPS)
_INSIDE, _BETWEEN = ENDS["intra-vlan"], ENDS["inter-vlan"]
RTTS: Final[Mapping[str, EchoPath]] = {
    "inside, 100": EchoPath(_L3, _INSIDE, 100),
    "inside, 1440": EchoPath(_L3, _INSIDE, 1440),
    "layer-3 switch, 1440": EchoPath(_L3, _BETWEEN, 1440),
    "router on a stick, 1440": EchoPath(_STICK, _BETWEEN, 1440),
}
"""The round trips of the lab, by the names that its dictionaries have."""
SETTINGS: Final = ("70/70", "30/90")
"""The rates of two senders, in percent of the link to t1: the study's 7/7 and 3/9 Mbit/s."""
_FORWARDING_MS: Final = 0.02
_FORWARDING: Final = f"1 %, and {_FORWARDING_MS} ms for each link, which nodes need to forward a frame"
"""Reason for the accepted error. In QEMU computing takes time: 0.012 ms a link at most in trials."""
_LEAST_EXCHANGES: Final = 20
_TRUNK: Final = "s1-eth5"
_SHORTEST_S: Final = 4
"""Least duration of senders that share a link: the text asks for 6 s."""
_MOST_BEFORE: Final = 0.05
"""Largest share of the time that counts in which the queue still fills. All 10 s of a longer run pass."""
_LEAST_COUNTED_S: Final = 2


def _own(lab: Checkable) -> Checkable:
    """Return a lab of the student's cables; refuse the finished network of section 5, which has the same names."""
    return of_topo(lab, "Cables")


@guarded("Lab 10, the switch's ports")
def check_ports(lab: Checkable) -> Iterator[Check]:
    """Judge the VLANs of s1's ports: h1 and h2 in 10, h3 and h4 in 20, and a trunk of both to r1.

    Raises LabError if ``lab`` is neither a running lab nor a NetworkState.
    """
    return port_checks(state_of(_own(lab)))


@guarded("Lab 10, the gateways")
def check_gateways(lab: Checkable) -> Iterator[Check]:
    """Judge r1's sub-interfaces, with the gateways' addresses, and that r1 forwards. Raises as `check_ports`."""
    return gateway_checks(state_of(_own(lab)))


@guarded("Lab 10, reachability")
def check_reachability(lab: Checkable) -> Iterator[Check]:
    """Let h1 ping h2 in its VLAN and h3 in the other, and judge the answers; where both come, let all others ping.

    Raises LabError if no lab is running.
    """
    live = running(_own(lab))
    yield from _pinged(live, [pair for pair in combinations(_HOSTS, 2) if pair not in _SHOWN])


_HOSTS: Final = ("h1", "h2", "h3", "h4")
_SHOWN: Final = (("h1", "h2"), ("h1", "h3"))
"""Pings that have a row each; those of other hosts have one only if they are lost."""


def _pinged(live: LiveLab, others: Sequence[tuple[str, str]]) -> Iterator[Check]:
    state = live.state()
    lost = False
    for source, name in (*_SHOWN, *others):
        if (source, name) not in _SHOWN and lost:
            return
        what, target = f"{source} pings {name}", _STICK.address_of(name)
        printed = ping(live, source, target)
        routed = (source in _INSIDE) != (name in _INSIDE)
        if pings_answered(printed):
            if routed and "ttl=64" in printed:  # Linux sends with 64, and each router takes one off
                hint = f"{source} and {name} are in two VLANs and two subnets: their packets go by r1"
                yield Check.failing(what, "the answer came past no router (ttl=64)", hint, "an answer by r1", "ttl=64")
            elif (source, name) in _SHOWN:
                yield Check.passing(what, "an answer", "answered")
            continue
        lost = True
        broken = [it for it in (*port_checks(state), *(gateway_checks(state) if routed else ())) if not it.passed]
        hint = (
            f"{broken[0].description}: {broken[0].reason}"
            if broken
            else f"find with tcpdump where the packets to {target} get lost"
        )
        yield Check.failing(what, "no answer", hint, "an answer", "none")


@guarded("Lab 10, Open vSwitch")
def check_ovs(lab: Checkable) -> Iterator[Check]:
    """Judge the VLANs of an Open vSwitch's ports, and pings in a VLAN and between the two.

    Raises LabError if no lab is running.
    """
    live = running(lab)
    bridges_and_trunks = live["s1"].cmd(f"ovs-vsctl list-br -- --if-exists get port {_TRUNK} trunks").splitlines()
    if "s1" not in bridges_and_trunks:
        raise Refuse("s1", "this switch is no Open vSwitch", 'start it with lab = start(Cables(), switch="ovs")')
    unset = (_TRUNK,) if "[]" in bridges_and_trunks else ()
    yield from port_checks(live.state(), OPEN_VSWITCH, unset)
    # h4 sends nothing here: what the switch has learned is asked next, and it is to know no address of h4
    yield from _pinged(running(_own(live)), [("h2", "h3")])


def _rtt(name: str, asked_for: EchoPath) -> Value:
    right, payload = asked_for.rtt_ms, asked_for.payload_bytes
    hops = path(asked_for.network, *asked_for.ends).hops
    times = 2 * len(hops)
    frame_bytes = payload + UDP_HEADER_BYTES + IPV4_HEADER_BYTES + ETHERNET_HEADER_BYTES
    slips = [
        Slip(times * transmission_ms(payload, RATE_MBPS), "that is the payload alone",
             "add UDP's 8, IP's 20, Ethernet's 14 and the cable's 24 bytes"),
        Slip(times * transmission_ms(frame_bytes, RATE_MBPS), "that leaves out the bytes that only the cable sees",
             "add preamble, checksum and gap: 24 bytes"),
        Slip(right / times, "that is one link, in one direction", f"request and reply cross {times} links in all"),
    ]  # fmt: skip
    whole = "a switch receives the whole frame before it forwards it"
    if len(hops) > 2:
        slips.append(Slip(2 * right / times, "that is one link, in both directions", whole))
        inside = cable_rtt_ms(_L3, *asked_for.ends, payload)
        slips = [
            Slip(inside, "that leaves out the trunk",
                 "in each direction the frame crosses the trunk twice, to r1 and back"),
            Slip(0.75 * right, "that crosses the trunk once in each direction",
                 "the frame crosses it twice, to r1 and back"),
            *slips,
        ]  # fmt: skip
    else:
        longer = cable_rtt_ms(_STICK, "h1", "h3", payload)
        both = f"a round trip has two directions, and {whole}"
        slips = [
            Slip(right / 2, "that is one direction, or one link in each", both),
            Slip(longer, "that goes through a router outside", "here s1 itself routes, so no frame crosses a trunk"),
            *slips,
        ]
    hint = "count the links, in both directions: the frame takes its transmission time on each of them"
    expected = stated(right, "ms", "serialisation on every link, in both directions")
    return Value(name, f"RTT, {name}", expected, hint, slips, round_trip=True)


@guarded
def check_rtt_runs(runs: object) -> Result:
    """Judge the measured round trips of `RTTS`: what `measure.run` returned for each, next to the prediction."""

    def judge(name: str, given: object) -> Check:
        asked_for = RTTS[name]
        how, right = "store what measure.run(net, measure.EchoFlow(...)) returns", asked_for.rtt_ms
        run = require_result(f"run of {name}", given, _wanted_echo(asked_for), how)
        refuse_another_network(f"run of {name}", run.origin.network, asked_for.network)
        links = 2 * len(path(asked_for.network, *asked_for.ends).hops)
        high = 1.01 * right + _FORWARDING_MS * links
        expected = Expectation(
            right, 0.999 * right, high, "ms", "serialisation on every link", "low", allowance=_FORWARDING
        )
        other = "did you measure on the network of this name, and did nothing else run there?"
        return measured(f"RTT, {name}", run.rtt_mean_ms, expected, other)

    result = asked_each("Lab 10, measured round trips", runs, RTTS, judge, '{"inside, 100": measure.run(...), ...}')
    seen = {name: run.rtt_mean_ms for name, run in results_of(runs, EchoResult).items()}
    return PREDICTIONS.compared(result, "rtt", seen)


def _wanted_echo(asked_for: EchoPath) -> Wanted[EchoResult]:
    fields = (
        exactly("payload_bytes", asked_for.payload_bytes),
        at_least("count", _LEAST_EXCHANGES, "write count=100"),
        exactly("lost", 0, "measure on an idle network"),
    )
    return Wanted(EchoFlow, asked_for.ends, fields, either_way=True)


def _share(setting: str, number: int) -> Value:
    parts = proportional(fairness_network(setting, RATE_MBPS), senders(setting, RATE_MBPS))
    mine = parts[number - 1]
    offered, whole = mine.flow.rate_mbps, fsum(it.flow.rate_mbps for it in parts)
    equal = fsum(it.throughput_mbps for it in parts) / len(parts)
    slips = (
        Slip(offered, "that is what h1 offers", "together the senders offer more than the link to t1 carries"),
        Slip(RATE_MBPS * offered / whole, "that counts headers as payload",
             "of 1536 bytes on the cable 1470 are payload"),
        Slip(equal, "that shares equally, as TCP tends to do", "UDP senders never slow down"),
    )  # fmt: skip
    hint = "the full queue drops packets of both senders: each sender loses the same share of its packets"
    expected = stated(mine.throughput_mbps, "Mbit/s", "each sender loses the same share of its packets")
    return Value(f"{setting} h{number}", f"share of h{number} at {setting}", expected, hint, slips)


@guarded
def check_share_runs(runs: object) -> Result:
    """Judge what `measure.run_together` returned for each of `SETTINGS`: the right flows, and a full link."""

    def judge(setting: str, given: object) -> Check:
        what, how = f"run of {setting}", "store what measure.run_together(fair, lab10.senders(...)) returns"
        send = f'send lab10.senders("{setting}", 10), and nothing else'
        alike = (
            exactly("dither", True, "omit dither=: senders in step come later, in a cell of their own"),
            at_least("duration_s", _SHORTEST_S, "write duration_s=6: at first the queue fills, and nobody loses"),
        )
        wanted = [
            Wanted(
                ConstantRateFlow, (it.source, it.destination), (exactly("rate_mbps", it.rate_mbps), *alike), step=send
            )
            for it in senders(setting, RATE_MBPS)
        ]
        run = require_run(what, given, wanted, how, {FlowOf: send})
        link = fairness_network(setting, RATE_MBPS).link("t1-s1")
        for it in run.of(ConstantRateResult):
            _refuse_window(what, it.flow, _filling_s(setting))
        passing = sum(
            it.throughput_mbps * datagram_wire_bytes(link, it.flow.payload_bytes) / it.flow.payload_bytes
            for it in run.of(ConstantRateResult)
        )
        allowance = "frames that the ends of the measured time cut"
        expected = Expectation(
            RATE_MBPS, 0.97 * RATE_MBPS, 1.01 * RATE_MBPS, "Mbit/s", "the link to t1 is full", allowance=allowance
        )
        how = "both senders must send at the same time: give both flows to one measure.run_together"
        return measured(f"what reaches t1 at {setting}, with headers", passing, expected, how)

    example = '{"70/70": measure.run_together(...), ...}'
    result = asked_each("Lab 10, measured shares", runs, SETTINGS, judge, example)
    seen = {
        f"{setting} {it.flow.source}": it.throughput_mbps
        for setting, run in results_of(runs, Run).items()
        for it in run.of(ConstantRateResult)
    }
    return PREDICTIONS.compared(result, "shares", seen)


def _filling_s(setting: str) -> float:
    """Return how long the queue of t1's link fills, during which nobody loses a packet, by theory."""
    link = fairness_network(setting, RATE_MBPS).link("t1-s1")
    flows = senders(setting, RATE_MBPS)
    frame_bytes = datagram_wire_bytes(link, flows[0].payload_bytes)
    offered_mbps = fsum(it.rate_mbps for it in flows) * frame_bytes / flows[0].payload_bytes
    return SWITCH_QUEUE_PACKETS * transmission_ms(frame_bytes, offered_mbps - RATE_MBPS) / 1000


def _refuse_window(what: str, flow: ConstantRateFlow, filling_s: float) -> None:
    """Refuse a run of which too little time counts, or too much of it before the queue is full."""
    start_s, end_s = flow.window
    before = max(0.0, min(end_s, filling_s) - start_s) / (end_s - start_s)
    how, expected = "write window_s=(2, 6), as in the text above", "the last 4 s of 6"
    found = f"{start_s:g} to {end_s:g} s"
    if before > _MOST_BEFORE:
        reason = f"{100 * before:.0f} % of the time that counts, {found}, is before the queue is full: nobody loses"
        raise Refuse(what, reason, how, expected, found)
    if end_s - start_s < _LEAST_COUNTED_S:
        raise Refuse(what, f"only {end_s - start_s:g} s count, {found}: that is chance", how, expected, found)


# --- What is predicted, and questions with options

PREDICTED_RTTS: Final = ("layer-3 switch, 1440", "router on a stick, 1440")
PREDICTIONS: Final = Predictions(
    "Lab 10",
    {
        "rtt": lambda: [_rtt(name, RTTS[name]) for name in PREDICTED_RTTS],
        "shares": lambda: [_share(setting, 1) for setting in SETTINGS],
    },
)


check_tag = letter("Lab 10, tags", _FOLDER, "tag")
"""Judge the letter: why frames on a trunk carry a tag."""
check_kinds = letter("Lab 10, kinds of switches", _FOLDER, "kinds")
"""Judge the letter: what equal round trips of two kinds of switches say on virtual time."""


_TTL: Final = 64
"""The TTL with which Linux sends; each router takes one off."""


@guarded
def check_frames(answers: object) -> Result:
    """Judge the TTL of the ping when it reaches h3, and the letter of what r1 changes."""
    slips = (
        Slip(_TTL, "that is what h1 sent", "tcpdump shows the request twice: before r1 and behind it"),
        Slip(_TTL - 2, "that counts two routers", "the request crosses r1's cable twice, and r1 once"),
    )
    hints = (
        "each router takes one off: which devices on the way from h1 to h3 are routers?",
        "tcpdump prints the request twice at r1: read the ttl of the one that r1 sends on",
    )
    expected = stated(_TTL - 1, "", "64, less one for r1", digits=4)
    ttl = Value("ttl", "TTL of the request at h3", expected, hints, slips, by_tool=True)
    return asked("Lab 10, two frames", answers, (ttl, *choices(_FOLDER, "changed")))


@guarded
def check_learned(answers: object) -> Result:
    """Judge where a switch sends a frame to an address that it does not know, and its table after a ping of h2."""
    slips = (
        Slip(4, "that is the table before this ping", "h2 answers: what does its frame tell the switch?"),
        Slip(6, "that is one too many", "r1 has rows already, and no frame of h4 comes in"),
        Slip(3, "that is a row for each host", "r1 has a row in each VLAN"),
    )
    hints = (
        "a switch learns from the source of each frame that comes in: which machines send, and in which VLAN?",
        'let h1 ping h2, and print it: lab["s1"].cmd("ovs-appctl fdb/show s1")',
    )
    rows = Value("rows", "rows of the table", stated(5, "", "h1, h2, h3, and r1 in both VLANs"), hints, slips)
    return asked("Lab 10, what a switch learns", answers, (*choices(_FOLDER, "to"), rows))


@guarded
def check_pairs(answers: object) -> Result:
    """Judge how many places become free between two pairs at 70/70, and the letters of what this does."""
    flow = senders(SETTINGS[0], RATE_MBPS)[0]
    link = fairness_network(SETTINGS[0], RATE_MBPS).link("t1-s1")
    frame_bytes = datagram_wire_bytes(link, flow.payload_bytes)
    between_ms, frame_ms = transmission_ms(flow.payload_bytes, flow.rate_mbps), transmission_ms(frame_bytes, RATE_MBPS)
    right = between_ms / frame_ms
    slips = (
        Slip(RATE_MBPS / flow.rate_mbps, "that leaves out the headers",
             f"on the cable a frame has {frame_bytes} bytes, and 7 Mbit/s are payload"),
        Slip(right / 2, "that is between two packets of any sender", "how long is it from one pair to the next?"),
        Slip(1 / right, "that is upside down", "divide the time between two pairs by the time of one frame"),
        Slip(between_ms, "that is the time between two pairs, in ms", "how many frames leave in this time?"),
        Slip(frame_ms, "that is the time of one frame, in ms", "how many of them fit between two pairs?"),
    )  # fmt: skip
    hints = (
        "one place becomes free each time a frame leaves by t1's link",
        "a sender of 7 Mbit/s sends 1470 bytes of payload every so many ms; a frame of 1536 bytes leaves at 10 Mbit/s",
        "(1470 * 8 / 7000) / (1536 * 8 / 10,000)",
    )
    why = "time between two pairs over the time of a frame"
    free = Value("free", "places that become free", stated(right, "", why), hints, slips, by_tool=True)
    return asked("Lab 10, senders in step", answers, (free, *choices(_FOLDER, "pair", "step")))


_CUT_VLAN: Final = 20
_CUT_TRUNK: Final = Membership(None, (10,))


def _stays_inside(given: object) -> Check:
    """Judge pings of h3 and h4 while the trunk lacks their VLAN: they pass."""
    what, how = "the run that shows it", "give what measure.run returned for two hosts of VLAN 20"
    run = require_result(what, given, Wanted(PingFlow, ("h3", "h4"), either_way=True), how)
    state = run.origin.network
    refuse_another_network(what, state, _STICK)
    trunk = state.interface("s1", _TRUNK) if state is not None else None
    vlans = trunk.vlans if trunk is not None else None
    if vlans is None or _CUT_VLAN in (vlans.untagged, *vlans.tagged):
        step = (
            "the sentence speaks of a trunk without VLAN 20: remove it there before you ping",
            "Open vSwitch: ovs-vsctl set port s1-eth5 trunks=10. A bridge: bridge vlan del dev s1-eth5 vid 20",
        )
        raise Refuse(what, f"{_TRUNK} was: {vlans or 'trunk of all VLANs'}", step, "a trunk without VLAN 20")
    if vlans != _CUT_TRUNK:
        only = f"the sentence removes VLAN {_CUT_VLAN} from the trunk, and changes nothing else"
        raise Refuse(what, f"{_TRUNK} was: {vlans}", only, str(_CUT_TRUNK), str(vlans))
    for name, vlan in (("h3", _CUT_VLAN), ("h4", _CUT_VLAN), ("h1", 10), ("h2", 10)):
        port = f"s1-eth{name[1:]}"
        face = state.interface("s1", port) if state is not None else None
        found = face.vlans if face is not None else None
        if found != Membership(vlan):
            hint = f"the sentence speaks of hosts of VLAN {_CUT_VLAN}: {port} must be an access port of it"
            if vlan != _CUT_VLAN:
                hint = f"the sentence changes the trunk alone: {port} must be an access port of VLAN {vlan}, as before"
            raise Refuse(what, f"{name}'s port was of {found or 'no VLAN'}", hint, f"VLAN {vlan}")
    answered = run.sent_packets - run.lost_packets
    return contradicts(
        "h3 and h4 are cut off from each other",
        f"{answered} of {run.sent_packets} pings were answered",
        is_wrong=answered > 0,
        step="is each of the two still at an access port of VLAN 20? ovs-vsctl show",
    )


check_claim = claim("Lab 10, a claim to test", _FOLDER, _stays_inside)
"""Judge the number of the wrong sentence on VLANs, and the run that shows it."""
