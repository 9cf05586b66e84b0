"""The checks of Lab 10, Switches: VLANs, what a frame's way costs, and who gets how much of a full link.

Each function returns a :class:`~linklab.grade.result.Result`. In a notebook,
``lab10.check_rtt(predicted_ms).require()`` shows the table if all passed and fails the cell with hints if not.

Expectations follow from the testbeds in `linklab.network.switch_testbeds`, none is written down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.analysis.sharing import proportional
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.measured import measured_check, stopped, unless_busy
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.reachability import Checkable, ping_counts, running, state_of
from linklab.grade.real_time import late_ms
from linklab.grade.result import Result, guarded
from linklab.labs.lab10.vlans import gateway_checks, port_checks
from linklab.measure import AtOnce, ConstantRateResult, EchoResult, verdict_on
from linklab.measure.trust import MISSED_PERCENT
from linklab.network import Network, path
from linklab.network.switch_testbeds import l3_switch, router_on_a_stick
from linklab.network.theory import cable_rtt_ms, datagram_wire_bytes
from linklab.published.switches_loads import ENDS, fairness_network, senders

RATE_MBPS: Final = 10


@dataclass(frozen=True)
class Way:
    """A round trip that is asked for: in a testbed, within a VLAN or between VLANs, with a payload in bytes."""

    network: Network
    communication: str
    payload_bytes: int

    @property
    def ends(self) -> tuple[str, str]:
        """The host that asks, and the one that answers."""
        return ENDS[self.communication]

    @property
    def rtt_ms(self) -> float:
        """What theory says."""
        return cable_rtt_ms(self.network, *self.ends, self.payload_bytes)


_L3, _STICK = l3_switch(RATE_MBPS), router_on_a_stick(RATE_MBPS)
RTTS: Final[Mapping[str, Way]] = {
    "inside, 100": Way(_L3, "intra-vlan", 100),
    "inside, 1440": Way(_L3, "intra-vlan", 1440),
    "layer-3 switch, 1440": Way(_L3, "inter-vlan", 1440),
    "router on a stick, 1440": Way(_STICK, "inter-vlan", 1440),
}
"""The round trips of the lab, by the names that its dictionaries have."""
SETTINGS: Final = ("70/70", "30/90")
"""What two senders offer of the link to t1, in percent: the study's 7/7 and 3/9 Mbit/s."""
_ASKED_SHARES: Final = tuple(f"{setting} h{number}" for setting in SETTINGS for number in (1, 2))
_SHARE_TOLERANCE: Final = 0.02
_FORWARDING: Final = "1 % and 0.01 ms for what nodes need to pass a frame on"
_LEAST_EXCHANGES: Final = 20


@guarded
def check_ports(lab: Checkable) -> Result:
    """The VLANs of s1's ports: h1 and h2 in 10, h3 and h4 in 20, and a trunk of both to r1.

    Raises LabError if ``lab`` is neither a running lab nor a NetworkState.
    """
    return Result("Lab 10, the switch's ports", tuple(port_checks(state_of(lab))))


@guarded
def check_gateways(lab: Checkable) -> Result:
    """r1's sub-interfaces with the gateways' addresses, and that it forwards. Raises as `check_ports`."""
    return Result("Lab 10, the gateways", tuple(gateway_checks(state_of(lab))))


@guarded
def check_reachability(lab: Checkable) -> Result:
    """h1 pings h2, in its VLAN, and h3, in the other one. Raises LabError if ``lab`` is not a running lab."""
    live = running(lab)
    state = live.state()
    checks = []
    for name, target in (("h2", "10.0.10.2"), ("h3", "10.0.20.3")):
        counts = ping_counts(live["h1"].cmd(f"ping -n -c 1 -w 2 {target}"))
        what = f"h1 pings {name}"
        if counts is not None and counts.answered:
            checks.append(Check.passing(what, "an answer", "answered"))
            continue
        broken = [it for it in (*port_checks(state), *(gateway_checks(state) if name == "h3" else ())) if not it.passed]
        hint = f"{broken[0].description}: {broken[0].reason}" if broken else f"look with tcpdump how far {target} is"
        checks.append(Check.failing(what, "no answer", hint, "an answer", "none"))
    return Result("Lab 10, reachability", tuple(checks))


@guarded
def check_rtt(predicted_ms: object) -> Result:
    """The predicted round trips of :data:`RTTS` in ms, within 1 % of serialisation on all links of the way."""

    def check(key: Any, value: object) -> Check:
        way = RTTS[key]
        right = way.rtt_ms
        expected = Expectation(right, right, right, "ms", "serialisation on every link, there and back", "above")
        how = "bytes on the cable * 8 / rate, for every link that the frame crosses, there and back"
        return number_check(Number(key, f"RTT, {key}", expected, _rtt_slips(way), how, 0.01), value)

    return each("Lab 10, predicted round trips", predicted_ms, RTTS, '{"inside, 100": 1.2, ...}, in ms', check)


def _rtt_slips(way: Way) -> tuple[Mistake, ...]:
    right, payload = way.rtt_ms, way.payload_bytes
    hops = path(way.network, *way.ends).hops
    times = 2 * len(hops)
    bare = times * payload * 8 / (RATE_MBPS * 1000)
    headers = times * (payload + 42) * 8 / (RATE_MBPS * 1000)
    slips = [
        Mistake(right / 2, "that is one way", "a round trip goes there and back", 0.01),
        Mistake(
            bare, "that is the payload alone", "add UDP's 8, IP's 20, Ethernet's 14 and the cable's 24 bytes", 0.004
        ),
        Mistake(headers, "that leaves out what only the cable has", "add preamble, checksum and gap: 24 bytes", 0.004),
        Mistake(right / times, "that is one link, one way", f"the frame crosses {times} links in all", 0.01),
        Mistake(
            2 * right / times, "that is one link", "a switch takes in the whole frame before it passes it on", 0.01
        ),
        Mistake(right / 8, "that is an eighth of it", "a byte has 8 bits", 0.01),
        Mistake(right / 1000, "that looks like seconds", "multiply by 1000", 0.01),
        Mistake(right * 1000, "that looks like microseconds", "divide by 1000", 0.01),
    ]
    if len(hops) > 2:
        inside = cable_rtt_ms(_L3, *way.ends, payload)
        # half of the whole way is within a tag's length of the way without the trunk
        trunk = Mistake(inside, "that leaves out the trunk", "each way goes up the trunk to r1 and down again", 0.0007)
        slips = [trunk, *slips]
        slips += [
            Mistake(0.75 * right, "that crosses the trunk once each way", "it goes up to r1 and down again", 0.01),
        ]
    else:
        longer = cable_rtt_ms(_STICK, "h1", "h3", payload)
        slips.append(Mistake(longer, "that goes over a router outside", "here s1 passes it on itself", 0.01))
    return tuple(slips)


@guarded
def check_rtt_runs(runs: object) -> Result:
    """The measured round trips of :data:`RTTS`: what `measure.run` returned for each."""

    def check(key: Any, run: object) -> Iterator[Check]:
        way = RTTS[key]
        problem = _wrong_echo(key, run, way)
        if problem is not None:
            yield problem
        elif isinstance(run, EchoResult):
            right = way.rtt_ms
            links = 2 * len(path(way.network, *way.ends).hops)
            high = 1.01 * right + 0.01 + late_ms(run.fidelity, links)
            expected = Expectation(
                right, 0.999 * right, high, "ms", "serialisation on every link", "above", allowance=_FORWARDING
            )
            other = "was it measured on the network that its name says? 10 Mbit/s, and nothing else running"
            yield measured_check(
                f"RTT, {key}", run.rtt_mean_ms, expected, inconclusive=verdict_on(run).trouble, how=other
            )

    return each("Lab 10, measured round trips", runs, RTTS, '{"inside, 100": measure.run(...), ...}', check)


def _wrong_echo(key: str, run: object, way: Way) -> Check | None:
    what = f"run of {key}"
    if run is None or run is ...:
        return Check.failing(
            what, "not measured yet", "keep what measure.run(lab, EchoFlow(...)) returns", "an EchoResult"
        )
    if not isinstance(run, EchoResult):
        kind = type(run).__name__
        return Check.failing(
            what, f"this is a {kind}", "keep what measure.run(lab, EchoFlow(...)) returns", "an EchoResult"
        )
    ends, asked = (run.flow.source, run.flow.destination), way.ends
    if ends not in (asked, asked[::-1]):
        reason = f"it went from {ends[0]} to {ends[1]}"
        return Check.failing(what, reason, f"measure between {asked[0]} and {asked[1]}", " to ".join(asked))
    if run.flow.payload_bytes != way.payload_bytes:
        reason = f"its payload was {run.flow.payload_bytes} bytes"
        return Check.failing(what, reason, f"give payload_bytes={way.payload_bytes}", f"{way.payload_bytes} bytes")
    if (cut := stopped(what, run)) is not None:
        return cut
    if run.flow.count < _LEAST_EXCHANGES or run.lost:
        reason = f"{run.flow.count} exchanges, {run.lost} of them lost"
        hint, expected = "give count=100, on an idle network", "100 exchanges, none lost"
        failed = Check.failing(what, reason, hint, expected, reason)
        return failed if run.flow.count < _LEAST_EXCHANGES else unless_busy(failed, verdict_on(run).trouble)
    return None


@guarded
def check_shares(predicted_mbps: object) -> Result:
    """The predicted shares at t1 of both senders in each setting, in Mbit/s of payload, within 2 % of proportion."""

    def check(key: Any, value: object) -> Check:
        setting, number = key.split()[0], int(key[-1])
        parts = proportional(fairness_network(setting, RATE_MBPS), senders(setting, RATE_MBPS))
        right = parts[number - 1].throughput_mbps
        expected = Expectation(right, right, right, "Mbit/s", "the same share of every sender's packets is lost")
        offered = parts[number - 1].flow.rate_mbps
        whole = sum(it.flow.rate_mbps for it in parts)
        equal = sum(it.throughput_mbps for it in parts) / len(parts)
        slips = [
            Mistake(offered, "that is what it offers", "together they offer more than the link to t1 carries", 0.005),
            Mistake(
                RATE_MBPS * offered / whole, "that counts no headers", "of 1536 bytes on the cable 1470 are data", 0.01
            ),
            Mistake(equal, "that shares equally, as TCP tends to", "these senders never slow down", 0.005),
            Mistake(right / 8, "that looks like MByte/s", "give it in Mbit/s", 0.01),
        ]
        how = "the link's payload rate times what it offers, divided by what both offer"
        slips = [it for it in slips if abs(it.value / right - 1) > _SHARE_TOLERANCE]
        number_asked = Number(key, f"share of h{number} at {setting}", expected, slips, how, _SHARE_TOLERANCE)
        return number_check(number_asked, value)

    return each("Lab 10, predicted shares", predicted_mbps, _ASKED_SHARES, '{"70/70 h1": 1.2, ...}, in Mbit/s', check)


@guarded
def check_share_runs(runs: object) -> Result:
    """What `measure.at_once` returned for each of :data:`SETTINGS`: the right flows, and a full link."""

    def check(setting: Any, run: object) -> Iterator[Check]:
        what, hint = f"run of {setting}", "keep what measure.at_once(lab, senders(...)) returns"
        if not isinstance(run, AtOnce):
            reason = "not measured yet" if run is None or run is ... else f"this is a {type(run).__name__}"
            yield Check.failing(what, reason, hint, "an AtOnce")
            return
        results = run.of(ConstantRateResult)
        wanted = {it.name: it.rate_mbps for it in senders(setting, RATE_MBPS)}
        found = {it.flow.name: it.flow.rate_mbps for it in results}
        if found != wanted or len(results) != len(run.results):
            text = ", ".join(f"{name} at {rate:g}" for name, rate in found.items()) or "others"
            yield Check.failing(what, f"its flows are {text}", f'send senders("{setting}", 10)', str(wanted), text)
            return
        if (cut := stopped(what, run)) is not None:
            yield cut
            return
        network = fairness_network(setting, RATE_MBPS)
        link = network.link("t1-s1")
        passing = sum(
            it.throughput_mbps * datagram_wire_bytes(link, it.flow.payload_bytes) / it.flow.payload_bytes
            for it in results
        )
        low = 0.97 if run.fidelity is None or run.fidelity.clock == "virtual" else 1 - MISSED_PERCENT / 100
        expected = Expectation(
            RATE_MBPS,
            low * RATE_MBPS,
            1.01 * RATE_MBPS,
            "Mbit/s",
            "the link to t1 is full",
            allowance="frames cut by the window's ends, and what a quiet machine may miss in real time",
        )
        how = "both must send to t1 at the same time: give measure.at_once() both flows"
        trouble = verdict_on(run).trouble
        yield measured_check(f"what reaches t1 at {setting}", passing, expected, inconclusive=trouble, how=how)

    return each("Lab 10, measured shares", runs, SETTINGS, '{"70/70": measure.at_once(...), ...}', check)
