"""Lab 10's checks: right answers, wrong ones that look right, and switches that are configured wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linklab.errors import LabError
from linklab.grade import Result
from linklab.labs import lab10
from linklab.measure import AtOnce, ConstantRateResult, EchoFlow, EchoResult, Origin
from linklab.network import NetworkState, expected_state
from linklab.network.state import Membership
from linklab.network.switch_testbeds import router_on_a_stick

from .failures import failed, failed_alone, the_failure

ORIGIN = Origin("linklab echo 1", "virtual", "7.3.4")
INSIDE, STICK = 4 * 1506 * 8e-4, 4 * (1506 + 1510) * 8e-4
RTT = {
    "inside, 100": 4 * 166 * 8e-4,
    "inside, 1440": INSIDE,
    "layer-3 switch, 1440": INSIDE,
    "router on a stick, 1440": STICK,
}
FULL = 10 * 1470 / 1536
SHARES = {"70/70 h1": FULL / 2, "70/70 h2": FULL / 2, "30/90 h1": FULL / 4, "30/90 h2": 3 * FULL / 4}
ANSWERS = {"tag": "a", "growth_us": 220.8, "flat": "b", "kinds": "b", "step": "c"}
BUILT = expected_state(router_on_a_stick(10))


def echoed(pair: tuple[str, str], payload: int, rtt_ms: float, count: int = 100, **more: Any) -> EchoResult:
    flow = EchoFlow(*pair, count, payload_bytes=payload)
    return EchoResult(flow, more.get("origin", ORIGIN), (rtt_ms,) * count, count * rtt_ms, 20.0)


RUNS = {name: echoed(way.ends, way.payload_bytes, way.rtt_ms + 0.002) for name, way in lab10.RTTS.items()}


def sent(setting: str, shares: tuple[float, ...], origin: Origin = ORIGIN) -> AtOnce:
    from linklab.published.switches_loads import senders

    flows = senders(setting, 10)
    results = tuple(
        ConstantRateResult(flow, origin, 5000, 4000, round(share * 4e6 / 8 / 1470), 4.0)
        for flow, share in zip(flows, shares, strict=True)
    )
    return AtOnce(results, 0.0)


SHARE_RUNS = {"70/70": sent("70/70", (4.7, 4.87)), "30/90": sent("30/90", (2.0, 7.57))}


def test_right_answers_pass() -> None:
    assert lab10.check_ports(BUILT).passed
    assert lab10.check_gateways(BUILT).passed
    assert lab10.check_rtt(RTT).passed
    assert lab10.check_rtt({key: round(value, 2) for key, value in RTT.items()}).passed
    assert lab10.check_rtt_runs(RUNS).passed
    assert lab10.check_shares(SHARES).passed
    assert lab10.check_shares({"70/70 h1": 4.8, "70/70 h2": 4.8, "30/90 h1": 2.4, "30/90 h2": 7.2}).passed
    assert lab10.check_share_runs(SHARE_RUNS).passed
    assert lab10.check_questions(ANSWERS).passed


def live(which: str, node: str = "s1", **changes: Any) -> NetworkState:
    """The state with one interface changed; removed where it is changed to nothing."""
    nodes = []
    for each in BUILT.nodes:
        interfaces = [replace(it, **changes) if it.name == which else it for it in each.interfaces]
        if not changes:
            interfaces = [it for it in interfaces if it.name != which]
        nodes.append(replace(each, interfaces=tuple(interfaces)) if each.name == node else each)
    return NetworkState(tuple(nodes))


@pytest.mark.parametrize(
    ("name", "vlans", "says"),
    [
        ("s1-eth2", Membership(20), "access port of the wrong VLAN: whoever is behind s1-eth2 hears VLAN 20"),
        ("s1-eth4", Membership(10), "access port of the wrong VLAN"),
        ("s1-eth1", Membership(), "in no VLAN: put it into VLAN 10"),
        ("s1-eth1", Membership(None, (10,)), "it is a trunk: an access port"),
        ("s1-eth5", Membership(None, (10,)), "the trunk lacks VLAN 20"),
        ("s1-eth5", Membership(10), "the trunk lacks VLAN 10, 20"),
        ("s1-eth5", Membership(10, (10, 20)), "a trunk is to have none"),
    ],
)
def test_a_port_that_is_configured_wrong_is_named(name: str, vlans: Membership, says: str) -> None:
    found = the_failure(lab10.check_ports(live(name, vlans=vlans)))
    assert found.description.startswith(name)
    assert says in found.hint


def test_a_switch_without_filtering_says_how_to_begin() -> None:
    without = (
        replace(node, interfaces=tuple(replace(it, vlans=None) for it in node.interfaces)) for node in BUILT.nodes
    )
    found = failed(lab10.check_ports(NetworkState(tuple(without))))
    assert len(found) == 5
    assert all("vlan_filtering 1" in check.hint for check in found)


@pytest.mark.parametrize(
    ("state", "description", "says"),
    [
        (live("r1-eth0.20", "r1"), "gateway of VLAN 20", "type vlan id 20"),
        (live("r1-eth0.10", "r1", vlans=Membership(30)), "gateway of VLAN 10", "type vlan id 10"),
        (live("r1-eth0.10", "r1", addresses=()), "gateway of VLAN 10", "ip addr add 10.0.10.254/24"),
        (live("r1-eth0.20", "r1", addresses=("10.0.20.1/24",)), "gateway of VLAN 20", "ip addr add 10.0.20.254/24"),
        (live("r1-eth0.20", "r1", up=False), "gateway of VLAN 20", "ip link set r1-eth0.20 up"),
    ],
)
def test_a_gateway_that_is_not_there_is_named(state: NetworkState, description: str, says: str) -> None:
    found = the_failure(lab10.check_gateways(state))
    assert found.description == description
    assert says in found.hint


def test_a_sub_interface_may_be_called_as_one_likes_and_must_forward() -> None:
    assert lab10.check_gateways(live("r1-eth0.20", "r1", name="vlan20")).passed
    nodes = tuple(replace(node, forwarding=False) if node.name == "r1" else node for node in BUILT.nodes)
    assert "ip_forward=1" in the_failure(lab10.check_gateways(NetworkState(nodes))).hint


class Pinged:
    """A lab whose pings are answered, or not."""

    def __init__(self, state: NetworkState, *answered: str) -> None:
        self._state, self._answered = state, answered

    def state(self) -> NetworkState:
        """As given."""
        return self._state

    def __getitem__(self, name: str) -> Pinged:
        return self

    def cmd(self, command: str) -> str:
        """What ping says."""
        count = int(command.split()[-1] in self._answered)
        return f"1 packets transmitted, {count} received, {100 - 100 * count}% packet loss\n"


def test_a_ping_that_is_lost_names_what_is_configured_wrong() -> None:
    both = ("10.0.10.2", "10.0.20.3")
    assert lab10.check_reachability(Pinged(BUILT, *both)).passed
    wrong = live("s1-eth5", vlans=Membership(None, (10,)))
    found = the_failure(lab10.check_reachability(Pinged(wrong, both[0])))
    assert found.description == "h1 pings h3"
    assert "s1-eth5, the port of r1" in found.hint
    found = the_failure(lab10.check_reachability(Pinged(BUILT, both[0])))
    assert "tcpdump" in found.hint
    with pytest.raises(LabError, match="sends packets"):
        lab10.check_reachability(BUILT)


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("inside, 100", 2 * 166 * 8e-4, "one way"),
        ("inside, 100", 4 * 100 * 8e-4, "the payload alone"),
        ("inside, 100", 4 * 142 * 8e-4, "what only the cable has"),
        ("inside, 1440", INSIDE / 4, "one link, one way"),
        ("inside, 1440", INSIDE / 8, "an eighth"),
        ("inside, 1440", INSIDE / 1000, "seconds"),
        ("inside, 1440", INSIDE * 1000, "microseconds"),
        ("layer-3 switch, 1440", STICK, "over a router outside"),
        ("router on a stick, 1440", INSIDE, "leaves out the trunk"),
        ("router on a stick, 1440", 0.75 * STICK, "crosses the trunk once each way"),
        ("router on a stick, 1440", STICK / 2, "one way"),
        ("router on a stick, 1440", None, "not filled in yet"),
        ("inside, 100", "0.5", "is a text"),
    ],
)
def test_a_wrong_round_trip(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab10.check_rtt, RTT, name, wrong).reason


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (None, "not measured yet"),
        (4.82, "this is a float"),
        (echoed(("h1", "h3"), 1440, INSIDE), "it went from h1 to h3"),
        (echoed(("h1", "h2"), 100, RTT["inside, 100"]), "its payload was 100 bytes"),
        (echoed(("h1", "h2"), 1440, INSIDE, count=3), "3 exchanges"),
        (echoed(("h1", "h2"), 1440, INSIDE / 10), "less than this network can give"),
        (echoed(("h1", "h2"), 1440, 2 * INSIDE), "more than it should be"),
    ],
)
def test_a_run_that_is_another(run: object, says: str) -> None:
    found = failed_alone(lab10.check_rtt_runs, RUNS, "inside, 1440", run)
    assert says in found.reason


def test_in_real_time_a_slow_round_trip_is_inconclusive_and_a_fast_one_is_not() -> None:
    real = Origin("linklab echo 1", "real", "6.1")
    slow = lab10.check_rtt_runs({**RUNS, "inside, 1440": echoed(("h1", "h2"), 1440, 9.0, origin=real)})
    assert slow.outcome == "inconclusive"
    fast = lab10.check_rtt_runs({**RUNS, "inside, 1440": echoed(("h1", "h2"), 1440, 1.0, origin=real)})
    assert fast.outcome == "failed"


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("70/70 h1", 7, "what it offers"),
        ("70/70 h1", 5, "counts no headers"),
        ("30/90 h1", FULL / 2, "shares equally"),
        ("30/90 h2", FULL / 2, "shares equally"),
        ("30/90 h1", 3, "what it offers"),
        ("30/90 h2", 7.5, "counts no headers"),
        ("30/90 h2", 3 * FULL / 32, "MByte/s"),
        ("30/90 h1", 1.0, "less than theory says"),
        ("30/90 h1", None, "not filled in yet"),
    ],
)
def test_a_wrong_share(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab10.check_shares, SHARES, name, wrong).reason


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (None, "not measured yet"),
        ([1], "this is a list"),
        (SHARE_RUNS["70/70"], "its flows are h1-t1 at 7, h2-t1 at 7"),
        (replace(SHARE_RUNS["30/90"], results=SHARE_RUNS["30/90"].results[:1]), "its flows are h1-t1 at 3"),
        (sent("30/90", (1.0, 5.0)), "less than it should be"),
    ],
)
def test_shares_of_another_run(run: object, says: str) -> None:
    assert says in failed_alone(lab10.check_share_runs, SHARE_RUNS, "30/90", run).reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("tag", "b", "destination address"),
        ("tag", "c", "routes by IP addresses"),
        ("growth_us", 55.2, "one link"),
        ("growth_us", 110.4, "one way"),
        ("growth_us", 2208, "10 Mbit/s"),
        ("growth_us", 0.2208, "milliseconds"),
        ("flat", "a", "own links"),
        ("flat", "d", "full queue"),
        ("kinds", "a", "computing takes no time"),
        ("kinds", "d", "slows nobody down"),
        ("step", "a", "random instants"),
        ("step", "b", "drops its tail"),
    ],
)
def test_a_wrong_answer(name: str, wrong: object, says: str) -> None:
    found = failed_alone(lab10.check_questions, ANSWERS, name, wrong)
    assert says in f"{found.reason} {found.hint}"


@pytest.mark.parametrize("check", [lab10.check_rtt, lab10.check_rtt_runs, lab10.check_shares, lab10.check_share_runs])
def test_what_is_no_dictionary(check: Callable[[object], Result]) -> None:
    for given, says in ((None, "not filled in yet"), ([1], "this is a list")):
        (one,) = check(given).checks
        assert says in one.reason
