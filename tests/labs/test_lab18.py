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
from linklab.network import COURSE
from linklab.network.variants import variant
from linklab.runtime.backends import Kind
from tests.grade.failures import said

from .refused import Table, refused

VARIANT = variant("ada", b"a course secret for trials")
PROBES: dict[str, dict[int, bool]] = {
    "nothing": {29: True, 30: False},
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
        lab18.check_claim(3, SHOWS),
        lab18.check_eyeballs(230.0),
    ):
        assert result.passed, str(result)


def test_a_variant_has_a_round_trip_of_its_own() -> None:
    with using(VARIANT):
        assert lab18.check_eyeballs(200 + networks.rtt_ms()).passed
        assert networks.homes().address_of("h3") != "10.0.3.2"


def right(mac: str) -> str:
    one, *others = mac.split(":")
    two, three, four, five, six = others
    return f"FE80:0:0:0:{int(one, 16) ^ 2:X}{two}:{three}FF:FE{four}:{five}{six}"


def no_bit(mac: str) -> str:
    one, two, three, four, five, six = mac.split(":")
    return f"fe80::{one}{two}:{three}ff:fe{four}:{five}{six}"


def test_an_address_passes_in_other_words() -> None:
    assert lab18.check_link_local(right).passed


WRONG: Table = {
    lab18.check_life: [
        (PROBES | {"one": {119: True, 120: False}}, "this is not so here"),
        (PROBES | {"four": {29: True, 30: False}}, "was this the case"),
        (PROBES | {"four": {100: True, 120: False}}, "until they are one second apart"),
        (PROBES | {"nothing": {30: False}}, "try shorter and longer silences"),
        (PROBES | {"nothing": {}}, "no probes yet"),
        ({"nothing": 30, "one": 30, "four": 120}, "no probes yet"),
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
        (2, SHOWS, "stopped growing after 63 s"),
        (3, FAST, "the sentence speaks of two a second"),
        (3, SLOW, "the sentence speaks of two a second"),
        (3, flood(2.0, 30, {20.0: True}), "ended too early"),
        (3, SHOWS | {"served": {10.0: True}}, "no client tried late enough"),
        (3, SHOWS | {"served": {70.0: False}}, "so it is true here"),
    ],
    lab18.check_eyeballs: [
        (0.230017, "looks like seconds"),
        (30.0, "was the path of IPv6 dead"),
        (260.0, "too much"),
        (215.0, "less than this network can give"),
    ],
    lab18.check_link_local: [
        (no_bit, "universal/local bit is missing"),
        (lambda mac: "fe80::" + mac.replace(":", ""), "it gives"),
        (lambda mac: "fe80::200:ff:fe00:3", "it gives fe80::200:ff:fe00:3"),
        (lambda mac: 7, "it gives 7"),
        (None, "not written yet"),
    ],
    lab18.check_hello: [("a", "Linux compares both ends"), ("b", "the recording")],
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


def test_cookies_serve_a_client_in_a_flood(virtual: Kind) -> None:
    with linklab.start(networks.homes(ipv6=True)) as lab:
        lab["h3"].cmd("sysctl -w net.ipv4.tcp_syncookies=0")
        assert "a client at 6 s of a fast flood: no answer" in said(lab18.check_cookies(lab))
        lab.sleep(100)
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
