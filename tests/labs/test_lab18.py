"""Lab 18's checks: right rules in other words on a running network, and wrong answers that look right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import linklab
from linklab import measure
from linklab.analysis.half_open import full_after_s, lasting_entries
from linklab.course import using
from linklab.errors import MeasurementError
from linklab.labs.lab18 import networks
from linklab.labs.lab18 import rules as lab18
from linklab.labs.lab18.questions import PREDICTIONS, SPOOFED_REQUESTS
from linklab.network import COURSE
from linklab.network.variants import variant
from linklab.runtime.backends import Kind
from tests.grade.failures import said

from .predicted import commit
from .refused import Table, refused, refuses

VARIANT = variant("ada", b"a course secret for trials")
PROBES: dict[str, dict[int, bool]] = {
    "one": {29: True, 30: False},
    "four": {100: True, 119: True, 120: False},
}


# --- Theory


@pytest.mark.parametrize(
    ("rate", "low", "high"),
    [
        (0.4, 25, 27),
        (0.5, 31, 33),
        (1, 31, 32),
        (2, 31, 33),
        (4, 33, 33),
        (5, 38, 40),
        (6, 47, 49),
        (7, 54, 55),
        (8, 63, 64),
        (16, 64, 65),
    ],
)
def test_theory_says_how_many_half_open_connections_a_kernel_kept(rate: float, low: int, high: int) -> None:
    assert low - 1 <= lasting_entries(rate, 64) <= high + 1


def test_a_backlog_that_is_never_full_has_no_instant_at_which_it_is() -> None:
    assert full_after_s(16, 64) == 4
    assert full_after_s(2, 64) is None


# --- What is measured


def flood(rate: float, seconds: int, served: dict[float, bool], life_s: float = 63, most: int = 65) -> dict[str, Any]:
    """What a flood returns of a server that keeps each entry for so long."""
    counts = [min(most, round(rate * min(at + 0.5, life_s) + 0.5)) for at in range(seconds)]
    return {"rate": rate, "half_open": counts, "served": served}


SLOW = flood(0.4, 100, {90.0: True})
FAST = flood(16.0, 10, {3.0: True, 5.0: False})
SHOWS = flood(2.0, 80, {70.0: True}, most=33)


def test_what_kernels_do_passes() -> None:
    for result in (
        lab18.check_life(PROBES),
        lab18.check_flood({"slow": SLOW, "fast": FAST}),
        lab18.check_claim(2, SHOWS),
        lab18.check_eyeballs(230.0),
    ):
        assert result.passed, str(result)


@pytest.mark.parametrize("more", [{"one": {29.53: True, 30.31: False}}, {"none": {3: True}}], ids=["bisected", "other"])
def test_probes_of_fractions_and_of_another_case_pass(more: dict[str, dict[float, bool]]) -> None:
    result = lab18.check_life(PROBES | more)
    assert result.passed, str(result)


def test_a_prediction_is_shown_beside_what_the_student_measured() -> None:
    committed = {
        "flood": {"entries": 20, "full_s": 5},
        "life": {"one": 20, "four": 60},
        "spoof": {"requests": 3, "replies": 3},
    }
    for name, numbers in committed.items():
        commit(PREDICTIONS, name, numbers)
    floods = lab18.check_flood({"slow": SLOW | {"half_open": [26] * 100}, "fast": FAST})
    rows = (floods, lab18.check_life(PROBES), lab18.check_spoof(FRAMES, 5))
    measured = [row.measured for result in rows for row in result.surprises]
    assert measured == [26, 4.5, 30, 120, 1, 0]


def test_a_variant_has_a_round_trip_of_its_own() -> None:
    with using(VARIANT):
        assert lab18.check_eyeballs(200 + networks.rtt_ms()).passed
        assert networks.homes().address_of("h3") != "10.0.3.2"


FRAMES = [
    " 1  0.000  00:00:00:00:00:01 > ff:ff:ff:ff:ff:ff  ARP: who has 10.0.1.2? Tell 10.0.1.1",
    " 2  0.003  00:00:00:00:00:02 > 00:00:00:00:00:01  ARP: 10.0.1.2 is at 00:00:00:00:00:02",
    " 3  0.004  00:00:00:00:00:01 > 00:00:00:00:00:02  ICMP, echo request, 10.0.1.1 > 10.0.1.2",
    " 4  0.007  00:00:00:00:00:02 > 00:00:00:00:00:01  ICMP, echo reply, 10.0.1.2 > 10.0.1.1",
    " 5  1.395  00:00:00:00:00:03 > 00:00:00:00:00:01  ARP: 10.0.1.2 is at 00:00:00:00:00:03",
    " 6  2.000  00:00:00:00:00:01 > 00:00:00:00:00:03  ICMP, echo request, 10.0.1.1 > 10.0.1.2",
    " 7  2.005  00:00:00:00:00:02 > 00:00:00:00:00:01  ICMP, echo reply, 10.0.1.2 > 10.0.1.1",
    " 8  3.446  00:00:00:00:00:02 > ff:ff:ff:ff:ff:ff  ARP: 10.0.1.2 is at 00:00:00:00:00:02",
]
TRUE_FRAMES = [*FRAMES[:4], *FRAMES[6:]]


@pytest.mark.parametrize("number", [5, 5.0])
def test_the_forged_frame_passes_as_any_kind_of_number(number: float) -> None:
    assert lab18.check_spoof(FRAMES, number).passed


WRONG: Table = {
    lab18.check_life: [
        (PROBES | {"one": {119: True, 120: False}}, "this is not so here"),
        (PROBES | {"four": {29: True, 30: False}}, "did h3 answer as often as this"),
        (PROBES | {"one": {29: True, 30: False, 50: True}}, "does not come back"),
        (PROBES | {"four": {100: True, 120: False}}, "until they are one second apart"),
        (PROBES | {"one": {30: False}}, "try shorter and longer silences"),
        (PROBES | {"one": {}}, "no probes yet"),
        ({"one": 30, "four": 120}, "no probes yet"),
    ],
    lab18.check_flood: [
        ({"slow": FAST, "fast": SLOW}, "the rate was 16"),
        ({"slow": flood(0.4, 50, {40.0: True}), "fast": FAST}, "it lasted 50 s"),
        # the entries of an earlier flood, five repetitions without the last pause, and no client
        ({"slow": flood(0.4, 100, {90.0: True}, life_s=31), "fast": FAST}, "half-open connections at the end"),
        ({"slow": SLOW | {"served": {}}, "fast": FAST}, "there was none"),
        # cookies were on
        ({"slow": SLOW, "fast": flood(16.0, 10, {3.0: True, 5.0: True})}, "tcp_syncookies=0"),
        ({"slow": SLOW, "fast": flood(16.0, 10, {3.0: True, 5.0: False}, most=40)}, "was never full"),
        ({"slow": SLOW, "fast": flood(16.0, 10, {3.0: False, 5.0: False})}, "Wait 100 s between two"),
    ],
    lab18.check_claim: [
        (2, None, "a flood of your own, with a client"),
        (3, SHOWS, "stopped growing"),
        (2, FAST, "the sentence speaks of two a second"),
        (2, SLOW, "the sentence speaks of two a second"),
        (2, flood(2.0, 30, {20.0: True}), "ended too early"),
        (2, SHOWS | {"served": {10.0: True}}, "no client tried late enough"),
        (2, SHOWS | {"served": {90.0: True}}, "no client tried late enough"),  # the flood is over
        (2, SHOWS | {"served": {70.0: False}}, "so it is true here"),
    ],
    lab18.check_eyeballs: [
        (0.230017, "looks like seconds"),
        (30.0, "a round trip alone"),
        (270.0, "too much"),
        (260.0, "that has two round trips"),
        (200.0, "the pause alone"),
        (215.0, "one direction only"),
        (220.0, "less than this network can give"),
    ],
    lab18.check_spoof: [
        (FRAMES, 2, "that is a true answer"),
        (FRAMES, 8, "that is a true answer"),
        (FRAMES, 1, "that is a question of ARP"),
        (FRAMES, 6, "that is a ping"),
        (FRAMES, 4, "that is a ping"),
        (FRAMES, "00:00:00:00:00:03", "give a plain number"),
        (FRAMES, None, "not filled in yet"),
        (TRUE_FRAMES, 2, "0 forged answers"),
        ("\n".join(FRAMES), 5, "store what lab18.frames(...) returns"),
        (None, 5, "not recorded yet"),
    ],
    lab18.check_hang: [("c", "some 70 bytes")],
    lab18.check_fragment: [("a", "a router must not cut"), ("c", "extension header")],
}


test_what_is_wrong_is_refused_and_named = refused(WRONG)


# --- Rules on a running network


@pytest.fixture(scope="module")
def lab(virtual: Kind) -> Iterator[linklab.Lab]:
    with linklab.start(networks.homes()) as lab:
        networks.hide_homes(lab)
        yield lab


def anew(lab: linklab.Lab, *rules: str) -> None:
    """Empty all tables and mappings, and write these rules at both home routers; ROUTER stands for the router."""
    hooks = ("out { type nat hook postrouting priority srcnat; }", "in { type filter hook input priority filter; }")
    for router in ("r1", "r2"):
        lab[router].cmd("nft flush ruleset; conntrack -F; nft add table ip home")
        for hook in (*hooks, "through { type filter hook forward priority mangle; }"):
            lab[router].cmd(f"nft 'add chain ip home {hook}'")
        for rule in rules:
            lab[router].cmd(f"nft add rule ip home {rule.replace('ROUTER', router)}")


NAT = "out oifname ROUTER-eth1 masquerade"
DROP = "in iifname ROUTER-eth1 ct state new drop"
CLAMP = "through tcp flags syn tcp option maxseg size set rt mtu"


@pytest.mark.parametrize("rule", [NAT, "out iifname ROUTER-eth0 oifname ROUTER-eth1 counter masquerade"])
def test_a_home_behind_nat_passes(lab: linklab.Lab, rule: str) -> None:
    anew(lab, rule)
    result = lab18.check_nat(lab)
    assert result.passed, str(result)


@pytest.mark.parametrize("rule", ["out oifname ROUTER-eth0 masquerade", "out oifname ROUTER-eth1 accept"])
def test_a_home_without_nat_fails(lab: linklab.Lab, rule: str) -> None:
    anew(lab, rule)
    assert "a private address" in said(lab18.check_nat(lab))


@pytest.mark.parametrize("rule", [DROP, "in iifname ROUTER-eth1 ct state != { established, related } drop"])
def test_a_call_passes_with_a_router_that_drops_what_it_does_not_expect(lab: linklab.Lab, rule: str) -> None:
    anew(lab, NAT, rule)
    result = lab18.check_call(lab)
    assert result.passed, str(result)


@pytest.mark.parametrize(
    "rule", ["in iifname ROUTER-eth1 ct state new accept", "in iifname ROUTER-eth0 ct state new drop"]
)
def test_a_call_fails_where_a_router_answers(lab: linklab.Lab, rule: str) -> None:
    anew(lab, NAT, rule)
    assert "nothing arrived at" in said(lab18.check_call(lab))


def test_a_page_arrives_with_an_mss_that_fits_and_not_without(lab: linklab.Lab) -> None:
    networks.wall(lab)
    anew(lab, NAT, CLAMP)
    result = lab18.check_page(lab)
    assert result.passed, str(result)
    anew(lab, NAT, "through tcp flags syn tcp option maxseg size set 1400")
    assert "0 bytes arrived" in said(lab18.check_page(lab))


def test_a_page_that_arrives_by_another_filter_of_the_server_fails(lab: linklab.Lab) -> None:
    anew(lab, NAT)
    networks.wall(lab)
    lab["h3"].cmd("nft insert rule ip wall in ct state related accept")
    assert "it is another one" in said(lab18.check_page(lab))


def test_a_page_that_arrives_by_a_smaller_mtu_of_the_host_fails(lab: linklab.Lab) -> None:
    anew(lab, NAT)
    networks.wall(lab)
    lab["h1"].cmd("ip link set h1-eth0 mtu 1400")
    assert "h1-eth0 has 1400" in said(lab18.check_page(lab))
    lab["h1"].cmd("ip link set h1-eth0 mtu 1500")


@pytest.mark.parametrize("rule", ["out oifname ROUTER-eth1 ip protocol udp masquerade"])
def test_a_home_whose_nat_is_for_udp_alone_fails(lab: linklab.Lab, rule: str) -> None:
    anew(lab, rule)
    assert "its ping is not" in said(lab18.check_nat(lab))


# --- Who has an address


def test_pings_go_to_the_host_that_answered_last_and_replies_do_not(virtual: Kind) -> None:
    with linklab.start(networks.office()) as lab:
        for _ in range(2):  # a student runs the cell again
            lines = networks.frames(networks.spoof(lab))
            assert sum("> 00:00:00:00:00:03  ICMP, echo request" in line for line in lines) == SPOOFED_REQUESTS
            assert sum("echo reply" in line for line in lines) == 6
            assert not any("> 00:00:00:00:00:03  ICMP, echo reply" in line for line in lines)
            assert "10.0.1.2 is at 00:00:00:00:00:03" in lines[6]
            assert lab18.check_spoof(lines, 7).passed


FORMED = "2001:db8:0:1:200:ff:fe00:1"


@pytest.fixture(scope="module")
def both_kinds(virtual: Kind) -> Iterator[linklab.Lab]:
    with linklab.start(networks.homes(ipv6=True)) as lab:
        yield lab


@pytest.mark.parametrize("address", [FORMED, "2001:0DB8:0:1:0200:00FF:FE00:0001", FORMED + "/64"])
def test_the_address_that_a_host_forms_passes_in_other_words(both_kinds: linklab.Lab, address: str) -> None:
    result = lab18.check_slaac(both_kinds, address)
    assert result.passed, str(result)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("2001:db8:0:1:0:ff:fe00:1", "one bit is not flipped"),
        ("fe80::200:ff:fe00:1", "the prefix that r1 advertises"),
        ("2001:db8:0:3:200:ff:fe00:1", "the prefix that r1 advertises"),
        ("2001:db8:0:1::2", "h1 has another one"),
        ("2001:db8:0:1:200:ff:fe00:4", "h1 has another one"),
        ("2001:db8:0:1:200::1", "h1 has another one"),
        ("00:00:00:00:00:01", "no address of IPv6"),
        (None, "not filled in yet"),
    ],
)
def test_an_address_that_a_host_does_not_form_fails(both_kinds: linklab.Lab, address: str | None, says: str) -> None:
    refuses(lab18.check_slaac, (both_kinds, address), says)


def test_a_host_that_hears_no_router_is_named(both_kinds: linklab.Lab) -> None:
    both_kinds["h1"].cmd("sysctl -w net.ipv6.conf.h1-eth0.accept_ra=0")
    assert "h1 has formed none" in said(lab18.check_slaac(both_kinds, FORMED))
    both_kinds["h1"].cmd("sysctl -w net.ipv6.conf.h1-eth0.accept_ra=1")


def test_cookies_serve_a_client_in_a_flood(virtual: Kind) -> None:
    with linklab.start(networks.homes(ipv6=True)) as lab:
        lab["h3"].cmd("sysctl -w net.ipv4.tcp_syncookies=0")
        for _ in range(3):  # entries of the flood before would make way for the client
            assert "a client at 6 s of a faster flood: no answer" in said(lab18.check_cookies(lab))
        lab["h3"].cmd("sysctl -w net.ipv4.tcp_syncookies=1")
        result = lab18.check_cookies(lab)
        assert result.passed, str(result)


def test_a_lab_of_another_network_is_refused(lab: linklab.Lab) -> None:
    with using(VARIANT):
        assert "another network" in said(lab18.check_nat(lab))
    with using(COURSE):
        assert "another network" not in said(lab18.check_nat(lab))


def test_the_headers_of_a_recording_name_addresses_on_both_sides_and_messages(lab: linklab.Lab) -> None:
    anew(lab, NAT)
    with measure.recorded(lab) as recording:
        lab["h1"].cmd(f"ping -c 1 {lab['h3'].address}")
    inside, outside = (networks.headers(recording, name).split("\n")[1] for name in ("h1-eth0", "r1-eth1"))
    assert "10.0.1.2" in inside
    assert "10.0.4.2" in outside
    assert "echo request" in outside
    with pytest.raises(MeasurementError):
        networks.headers(recording, "r9-eth9")
