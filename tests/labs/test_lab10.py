"""Lab 10, what the recorded answers do not say: what is told of switches and routers that are configured wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linklab import start
from linklab.labs.lab00 import rules as lab00
from linklab.labs.lab10 import rules as lab10
from linklab.labs.lab10 import testbeds
from linklab.measure import ConstantRateResult, EchoFlow, EchoResult, Origin, PingFlow, PingResult, Run
from linklab.network import TWO_HOSTS, NetworkState, expected_state
from linklab.network.catalogue import fairness, router_on_a_stick
from linklab.network.state import Membership
from tests.grade.failures import also_wrong, failed, hints, said, the_failure
from tests.labs.predicted import commit
from tests.labs.refused import refused

BUILT = expected_state(router_on_a_stick(10))


def live(which: str, node: str = "s1", *, state: NetworkState = BUILT, **changes: Any) -> NetworkState:
    """The state with one interface changed; removed where it is changed to nothing."""
    nodes = []
    for each in state.nodes:
        interfaces = [replace(it, **changes) if it.name == which else it for it in each.interfaces]
        if not changes:
            interfaces = [it for it in interfaces if it.name != which]
        nodes.append(replace(each, interfaces=tuple(interfaces)) if each.name == node else each)
    return NetworkState(tuple(nodes))


@pytest.mark.parametrize(
    ("name", "vlans"),
    [
        ("s1-eth1", Membership(None, (), (10,))),
        ("s1-eth3", Membership(20, (), (10,))),
        ("s1-eth5", Membership(None, (10, 20), (30,))),
    ],
)
def test_a_port_through_which_frames_also_leave_without_a_tag_is_named(name: str, vlans: Membership) -> None:
    assert the_failure(lab10.check_ports(live(name, vlans=vlans))).description.startswith(name)


def test_a_switch_without_filtering_says_how_to_begin() -> None:
    without = (
        replace(node, interfaces=tuple(replace(it, vlans=None) for it in node.interfaces)) for node in BUILT.nodes
    )
    state = NetworkState(tuple(without))
    assert len(failed(lab10.check_ports(state))) == 5
    given = []
    for number in range(3):
        result = lab10.check_ports(state)
        given.append(result.checks[0].hint)
        also_wrong(result, number)
    assert ["vlan_filtering 1" in hint for hint in given] == [False, False, True]


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (live("r1-eth0.10", "r1", vlans=Membership(30)), "type vlan id 10"),
        (live("r1-eth0.10", "r1", addresses=("10.0.10.1/24",)), "ip addr add 10.0.10.254/24"),
    ],
)
def test_a_gateway_that_is_not_there_is_named_and_its_command_is_the_last_hint(state: NetworkState, says: str) -> None:
    assert the_failure(lab10.check_gateways(state)).description == "gateway of VLAN 10"
    first, *_, last = hints(lambda: lab10.check_gateways(state))
    assert says in last
    assert says not in first


def test_a_gateway_s_address_on_another_sub_interface_fails() -> None:
    both = live("r1-eth0.10", "r1", addresses=("10.0.10.254/24", "10.0.20.254/24"))
    assert the_failure(lab10.check_gateways(both)).description == "gateway of VLAN 20"


def test_a_sub_interface_may_be_called_as_one_likes_and_must_forward() -> None:
    assert lab10.check_gateways(live("r1-eth0.20", "r1", name="vlan20")).passed
    nodes = tuple(replace(node, forwarding=False) if node.name == "r1" else node for node in BUILT.nodes)
    assert "ip_forward=1" in hints(lambda: lab10.check_gateways(NetworkState(nodes)))[-1]


EVERY = ("10.0.10.1", "10.0.10.2", "10.0.20.3", "10.0.20.4")


class Pinged:
    """A lab whose pings are answered, or not. ``lost`` are two hosts of which the first gets no answer."""

    def __init__(self, state: NetworkState, *answered: str, ttl: int = 63, lost: tuple[str, str] | None = None) -> None:
        self._state, self._answered, self._ttl, self._lost = state, answered, ttl, lost
        self.asked: list[tuple[str, str]] = []
        self._source = ""

    def state(self) -> NetworkState:
        """As given."""
        return self._state

    def __getitem__(self, name: str) -> Pinged:
        self._source = name
        return self

    def cmd(self, command: str) -> str:
        """What ping says."""
        address = command.split()[-1]
        pair = (self._source, f"h{address[-1]}")
        self.asked.append(pair)
        count = int(address in self._answered and pair != self._lost)
        ttl = 64 if {*pair} in ({"h1", "h2"}, {"h3", "h4"}) else self._ttl
        reply = f"64 bytes from h: icmp_seq=1 ttl={ttl} time=1 ms\n\n" if count else "\n"
        return f"{reply}1 packets transmitted, {count} received, {100 - 100 * count}% packet loss\n"


class Mended(Pinged):
    """A lab in which the first ping gets the error of a question from before."""

    said = ""

    def cmd(self, command: str) -> str:
        """What ping says."""
        before, self.said = self.said, super().cmd(command)
        return self.said if before else "1 packets transmitted, 0 received, +1 errors, 100% packet loss\n"


def test_a_ping_is_tried_again_as_its_error_may_be_of_a_question_from_before() -> None:
    assert lab10.check_reachability(Mended(BUILT, *EVERY)).passed


def test_a_ping_that_is_lost_names_what_is_configured_wrong() -> None:
    both = ("10.0.10.2", "10.0.20.3")
    assert lab10.check_reachability(Pinged(BUILT, *EVERY)).passed
    wrong = live("s1-eth5", vlans=Membership(None, (10,)))
    found = the_failure(lab10.check_reachability(Pinged(wrong, both[0])))
    assert found.description == "h1 pings h3"
    assert "s1-eth5, the port of r1" in found.hint
    found = the_failure(lab10.check_reachability(Pinged(BUILT, both[0])))
    assert "tcpdump" in found.hint
    assert "sends packets" in the_failure(lab10.check_reachability(BUILT)).reason
    found = failed(lab10.check_reachability(Pinged(BUILT, *EVERY, ttl=64)))[0]
    assert (found.description, "no router" in found.reason) == ("h1 pings h3", True)


@pytest.mark.parametrize("pair", [("h1", "h4"), ("h2", "h3"), ("h2", "h4"), ("h3", "h4")])
def test_pings_of_the_other_hosts_are_told_where_they_are_lost(pair: tuple[str, str]) -> None:
    """A rule on r1 that drops what one host sends is no setting of a port, a gateway or of forwarding."""
    found = the_failure(lab10.check_reachability(Pinged(BUILT, *EVERY, lost=pair)))
    assert (found.description, found.reason) == (f"{pair[0]} pings {pair[1]}", "no answer")


def test_on_open_vswitch_nothing_is_asked_of_h4_whose_address_the_switch_is_not_to_learn() -> None:
    switch = OpenVSwitch(BUILT, *EVERY)
    assert lab10.check_ovs(switch).passed
    assert switch.asked == [("h1", "h2"), ("h1", "h3"), ("h2", "h3")]
    assert "h2 pings h3" in said(lab10.check_ovs(OpenVSwitch(BUILT, *EVERY, lost=("h2", "h3"))))


ORIGIN = Origin("linklab echo 1", "7.3.4")


def echoed(pair: tuple[str, str], payload: int, rtt_ms: float) -> EchoResult:
    """Exchanges that took the same time each."""
    return EchoResult(EchoFlow(*pair, 100, payload_bytes=payload), ORIGIN, (rtt_ms,) * 100, 100 * rtt_ms, 20.0)


def sent(setting: str, *shares_mbps: float) -> Run:
    """Senders of a setting, and what arrived of each."""
    results = tuple(
        ConstantRateResult(flow, ORIGIN, 5000, 4000, round(share * 4e6 / 8 / 1470), 4.0)
        for flow, share in zip(testbeds.senders(setting, 10), shares_mbps, strict=True)
    )
    return Run(results, 0.0)


RTT_RUNS = {name: echoed(it.ends, it.payload_bytes, it.rtt_ms + 0.002) for name, it in lab10.RTTS.items()}
SHARE_RUNS = {"70/70": sent("70/70", 4.7, 4.87), "30/90": sent("30/90", 2.0, 7.57)}


def test_predictions_stand_next_to_what_was_measured() -> None:
    stick = {"layer-3 switch, 1440": lab10.RTTS["layer-3 switch, 1440"].rtt_ms / 2, "router on a stick, 1440": 7.24}
    commit(lab10.PREDICTIONS, "rtt", stick)
    result = lab10.check_rtt_runs(RTT_RUNS)
    slips = ["that is one direction, or one link in each", "that crosses the trunk once in each direction"]
    assert [it.slip for it in result.surprises] == slips
    commit(lab10.PREDICTIONS, "shares", {"70/70 h1": 7, "30/90 h1": 4.785})
    found = lab10.check_share_runs(SHARE_RUNS).surprises
    assert [it.slip for it in found] == ["that is what h1 offers", "that shares equally, as TCP tends to do"]
    assert [it.measured for it in found] == pytest.approx([4.7, 2.0], rel=0.01)


@pytest.mark.parametrize(
    ("duration_s", "window_s", "says"),
    [
        (6, (0, 6), "8 % of the time that counts"),
        (6, None, "8 % of the time that counts"),
        (6, (0, 0.5), "97 % of the time that counts"),
        (6, (5.5, 6), "only 0.5 s count"),
        (6, (2, 6), ""),
        (10, (2, 10), ""),
        (10, None, ""),
    ],
)
def test_the_time_that_counts_begins_when_the_queue_is_full(
    duration_s: float, window_s: tuple[float, float] | None, says: str
) -> None:
    sent = SHARE_RUNS["30/90"].of(ConstantRateResult)
    results = tuple(replace(it, flow=replace(it.flow, duration_s=duration_s, window_s=window_s)) for it in sent)
    result = lab10.check_share_runs({**SHARE_RUNS, "30/90": Run(results, 0.0)})
    assert says in the_failure(result).reason if says else result.passed


@pytest.mark.parametrize(("change", "says"), [({"dither": False}, "dither=False"), ({"duration_s": 1}, "duration_s=1")])
def test_senders_in_step_and_short_ones_are_another_experiment(change: dict[str, Any], says: str) -> None:
    sent = SHARE_RUNS["70/70"].of(ConstantRateResult)
    results = tuple(replace(it, flow=replace(it.flow, **change)) for it in sent)
    other = {**SHARE_RUNS, "70/70": Run(results, 0.0)}
    assert says in the_failure(lab10.check_share_runs(other)).reason


def test_a_round_trip_between_hosts_of_these_names_elsewhere_is_refused() -> None:
    """Two cables of 10 Mbit/s give the same round trip, whatever is between them."""
    name = "layer-3 switch, 1440"
    elsewhere = Origin("linklab echo 1", "7.3.4", expected_state(fairness(10, 3)))
    given = {**RTT_RUNS, name: replace(RTT_RUNS[name], origin=elsewhere)}
    assert "another network" in the_failure(lab10.check_rtt_runs(given)).reason


@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
def test_the_finished_network_is_not_the_student_s_work() -> None:
    with start(router_on_a_stick(10)) as lab:
        for check in (lab10.check_ports, lab10.check_gateways, lab10.check_reachability):
            assert "not your Topo" in the_failure(check(lab)).reason
    with start(TWO_HOSTS) as lab:
        assert "not your Topo" in the_failure(lab00.check_network(lab)).reason


# --- Open vSwitch, numbers and letters, and the claim


class OpenVSwitch(Pinged):
    """The same with a switch that `ovs-vsctl list-br` names."""

    trunks = "[10, 20]"

    def cmd(self, command: str) -> str:
        """What ovs-vsctl or ping says."""
        return f"s1\n{self.trunks}\n" if command.startswith("ovs-vsctl") else super().cmd(command)


class Unset(OpenVSwitch):
    """A trunk without a setting passes all VLANs, and reads as one of those that other ports have."""

    trunks = "[]"


def test_an_open_vswitch_is_judged_by_its_ports_and_by_pings() -> None:
    both = EVERY
    assert lab10.check_ovs(OpenVSwitch(BUILT, *both)).passed
    assert "no Open vSwitch" in said(lab10.check_ovs(Pinged(BUILT, *both)))
    found = the_failure(lab10.check_ovs(Unset(BUILT, *both)))
    assert (found.description, found.found) == ("s1-eth5, the port of r1", "trunk of all VLANs")
    wrong = live("s1-eth3", vlans=Membership(10))
    assert "s1-eth3, the port of h3" in [it.description for it in failed(lab10.check_ovs(OpenVSwitch(wrong, *both)))]


WITHOUT_20 = live("s1-eth5", vlans=Membership(None, (10,)))
OTHER_H1 = live("s1-eth1", vlans=Membership(30), state=WITHOUT_20)
BOTH_IN_10 = live("s1-eth4", vlans=Membership(10), state=live("s1-eth3", vlans=Membership(10), state=WITHOUT_20))


def pinged(source: str, destination: str, answered: int, state: NetworkState = WITHOUT_20) -> PingResult:
    rtts_ms = tuple(0.1 if k < answered else None for k in range(3))
    origin = Origin("t", "7", network=state)
    return PingResult(PingFlow(source, destination, count=3), origin, rtts_ms, None, None, None, None, 0, 0)


FRAMES = {"ttl": 63, "changed": "b"}
PAIRS = {"free": 1.367, "pair": "b", "step": "a"}


def test_right_answers_on_frames_and_pairs_and_the_claim_pass() -> None:
    assert lab10.check_frames(FRAMES).passed
    assert lab10.check_pairs(PAIRS).passed
    assert lab10.check_learned({"to": "c", "rows": 5}).passed
    for ends in (("h3", "h4"), ("h4", "h3")):
        assert lab10.check_claim(3, pinged(*ends, 3)).passed


test_wrong_ones_are_refused_and_named = refused(
    {
        lab10.check_frames: [
            (FRAMES | {"ttl": 64}, "that is what h1 sent"),
            (FRAMES | {"ttl": 62}, "counts two routers"),
            (FRAMES | {"changed": "a"}, "only a router moves a packet"),
            (FRAMES | {"changed": "c"}, "both times"),
        ],
        lab10.check_learned: [
            ({"to": "d", "rows": 5}, "h3 and h4 see none of them"),
            ({"to": "c", "rows": 4}, "the table before this ping"),
            ({"to": "c", "rows": 6}, "r1 has rows already"),
        ],
        lab10.check_pairs: [
            (PAIRS | {"free": 1.43}, "leaves out the headers"),
            (PAIRS | {"free": 0.684}, "two packets of any sender"),
            (PAIRS | {"free": 0.7315}, "upside down"),
            (PAIRS | {"pair": "c"}, "both send the same"),
            (PAIRS | {"step": "b"}, "each would get half"),
        ],
        lab10.check_claim: [
            (5, pinged("h3", "h4", 3), "you set up both"),
            (None, pinged("h3", "h4", 3), "not answered yet"),
            (3, None, "not measured yet"),
            (3, pinged("h3", "h4", 3, BUILT), "s1-eth5 was: trunk of VLANs 10, 20"),
            (3, pinged("h3", "h4", 3, live("s1-eth5", vlans=None)), "s1-eth5 was: trunk of all VLANs"),
            (3, pinged("h3", "h4", 3, live("s1-eth5", vlans=Membership(None, (10, 30)))), "trunk of VLANs 10, 30"),
            (3, pinged("h3", "h4", 3, live("s1-eth5", vlans=Membership(10))), "s1-eth5 was: VLAN 10"),
            (3, pinged("h3", "h4", 3, OTHER_H1), "h1's port was of VLAN 30"),
            (3, pinged("h3", "h4", 3, BOTH_IN_10), "h3's port was of VLAN 10"),
            (3, pinged("h1", "h3", 0), "there is no PingFlow h3-h4"),
            (3, pinged("h3", "h4", 0), "0 of 3 pings were answered"),
            (3, replace(pinged("h3", "h4", 3), interrupted=True), "stopped before its end"),
        ],
    }
)
