"""Verdicts on the switches paper's findings: each that is judged can come out either way, by what is measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.published.switches import CLAIMS, proportional_shares
from linklab.runtime.backends import Kind
from linklab.study import Measured, Study, run
from linklab.study.claims import judged
from linklab.study.own import read_own
from linklab.study.table import Table, read_table
from studies.switches.claims import CISCO, JUDGES
from studies.switches.study import (
    DITHERED,
    EXACT,
    FASTER,
    OFFERED,
    PAYLOADS,
    SWITCHES_FAIRNESS,
    SWITCHES_INTERRUPTS,
    SWITCHES_RTT,
    SWITCHES_THROUGHPUT,
)

from ..study import tables as made

ALL = (SWITCHES_RTT, SWITCHES_THROUGHPUT, SWITCHES_FAIRNESS)
PLACES = (("l3-switch", "intra-vlan"), ("l3-switch", "inter-vlan"), ("router-on-a-stick", "inter-vlan"))
HARDWARE = {
    "switch-cisco-rtt", "switch-ethernet-near", "switch-flat-rtt-intra", "switch-flat-rtt-inter",
    "switch-cisco-throughput", "switch-all-alike-fast", "switch-stick-full", "switch-two-proportional",
    "switch-three-proportional", "switch-cisco-unfair",
}  # fmt: skip
CONSTRUCTED = {
    "switch-software-alike-rtt", "switch-l3-free", "switch-software-alike-throughput", "switch-ten-times",
    "switch-two-fast-unstable", "switch-stick-rtt", "switch-bottleneck-full",
}  # fmt: skip


@cache
def picture() -> dict[str, str]:
    """The verdicts on the paper's picture, in numbers of hardware."""
    return verdicts(tables(), tables((CISCO, "ovs", "lisa"), **CISCO_WINS))


def tables(
    switches: Iterable[str] = ("bridge", "ovs"),
    *,
    rtt: Mapping[str, float] = {},
    more: Mapping[str, float] = {},
    unfair: Mapping[str, float] = {},
    flat: bool = False,
) -> dict[str, Table]:
    """Made-up tables: serialisation, load and proportion. By switch: `rtt` a factor of round trips, `more` one of the
    additional flow, `unfair` what the first sender has more than its share.
    """
    trips, flows, shares = [], [], []
    for switch in switches:
        for testbed, communication in PLACES:
            for rate in (10, 100):
                for size in PAYLOADS:
                    times = 8 if testbed != "l3-switch" else 4
                    at: dict[str, Any] = {"switch": switch, "testbed": testbed, "communication": communication,
                          "rate_mbps": rate, "payload_bytes": size}  # fmt: skip
                    seen = 1440 if flat and rate == 100 and switch != CISCO else size
                    rtt_ms = times * (seen + 66) * 8e-3 / rate * rtt.get(switch, 1)
                    also = {"protocol": "ipv4", "link": "cable", "exchanges": 9}
                    trips.append(({**at, **also}, 1, [Measured("rtt_mean_ms", rtt_ms)]))
                    mbps = rate * (0.2 + size / 24000) * more.get(switch, 1)
                    flows.append((at, 1, [Measured("additional_mbps", mbps)]))
        for rate in (10, 100):
            for setting in OFFERED:
                fair = list(proportional_shares(tuple(map(float, setting.split("/"))), 0.95 * rate))
                fair[0] *= 1 + unfair.get(switch, 0) * rate / 10
                rows = [Measured("share_mbps", it, of=f"h{number}") for number, it in enumerate(fair, 1)]
                levels: dict[str, Any] = {"switch": switch, "rate_mbps": rate, "offered_percent": setting,
                          "sender_link_percent": 100, "queue_packets": 100, "pacing": DITHERED}  # fmt: skip
                shares.append((levels, 1, [*rows, Measured("bottleneck_mbps", 0.999 * rate)]))
    return {
        study.name: made.table(study, measured) for study, measured in zip(ALL, (trips, flows, shares), strict=True)
    }


def verdicts(ours: dict[str, Table], hardware: dict[str, Table] | None = None) -> dict[str, str]:
    return {each.claim.id: each.verdict for each in judged(CLAIMS, JUDGES, ours, hardware)}


def test_claims_about_hardware_are_not_judged_by_emulation_and_what_cannot_fail_is_said_so() -> None:
    expected = dict.fromkeys(HARDWARE, "not testable here") | dict.fromkeys(CONSTRUCTED, "decided by construction")
    assert {claim.id for claim in CLAIMS} == set(expected) == set(JUDGES)
    assert verdicts(tables()) == expected
    assert verdicts(tables(flat=True, unfair={"ovs": 2})) == expected


CISCO_WINS: dict[str, Any] = {"rtt": {CISCO: 0.9}, "more": {CISCO: 1.05}, "unfair": {CISCO: 0.4}, "flat": True}


@pytest.mark.slow
def test_the_papers_picture_in_numbers_of_hardware_is_reproduced() -> None:
    found = picture()
    # 2.6 of 3 Mbit/s: the background leaves no more, which is what the paper's arithmetic overlooks
    assert {found[claim] for claim in HARDWARE - {"switch-stick-full"}} == {"reproduced"}
    assert found["switch-stick-full"] == "not reproduced"
    full = tables((CISCO, "ovs"), more={CISCO: 1.25, "ovs": 1.2})
    assert verdicts(tables(), full)["switch-stick-full"] == "reproduced"


def test_what_the_paper_says_of_pcs_that_switch_is_judged_by_their_numbers_too() -> None:
    hardware = tables(("ovs", "lisa"), rtt={"lisa": 1.5}, more={"lisa": 1.5})
    found = {each.claim.id: each for each in judged(CLAIMS, JUDGES, tables(), hardware)}
    for claim, verdict in (
        ("switch-software-alike-rtt", "not reproduced"),
        ("switch-software-alike-throughput", "not reproduced"),
        ("switch-l3-free", "reproduced"),
        ("switch-bottleneck-full", "reproduced"),
    ):
        assert found[claim].verdict == "decided by construction"
        assert f"by the hardware's numbers {verdict}: " in found[claim].because


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "claims"),
    [
        ({"rtt": {CISCO: 1.1}}, {"switch-cisco-rtt"}),
        ({"rtt": {CISCO: 0.5}}, {"switch-ethernet-near"}),
        ({"flat": False}, {"switch-flat-rtt-intra", "switch-flat-rtt-inter"}),
        ({"more": {CISCO: 0.95}}, {"switch-cisco-throughput"}),
        ({"more": {CISCO: 1.3}}, {"switch-all-alike-fast"}),
        (
            {"unfair": {CISCO: 0.4, "ovs": 0.5, "lisa": 0.5}},
            {"switch-two-proportional", "switch-three-proportional", "switch-cisco-unfair"},
        ),
    ],
)
def test_other_numbers_of_hardware_give_other_verdicts(change: dict[str, Any], claims: set[str]) -> None:
    other = verdicts(tables(), tables((CISCO, "ovs", "lisa"), **{**CISCO_WINS, **change}))
    assert {claim for claim in HARDWARE - {"switch-stick-full"} if picture()[claim] != other[claim]} == claims


def fairness(*shares: tuple[Any, int, str, int, tuple[float, ...]]) -> Table:
    """A table of shares: switch, rate, setting, repeat, and what the senders got."""
    same: dict[str, Any] = {"sender_link_percent": 100, "queue_packets": 100, "pacing": DITHERED}
    return made.table(
        SWITCHES_FAIRNESS,
        [
            (
                {"switch": switch, "rate_mbps": rate, "offered_percent": setting, **same},
                repeat,
                [Measured("share_mbps", it, of=f"h{number}") for number, it in enumerate(got, 1)],
            )
            for switch, rate, setting, repeat, got in shares
        ],
    )


def test_three_senders_of_8_mbits_at_10_are_what_the_claim_excepts() -> None:
    fair = [
        ("ovs", rate, setting, 1, proportional_shares(tuple(map(float, setting.split("/"))), 0.95 * rate))
        for rate in (10, 100)
        for setting in ("40/40/40", "40/40/80", "80/80/80")
        if (rate, setting) != (10, "80/80/80")
    ]
    assert JUDGES["switch-three-proportional"]({SWITCHES_FAIRNESS.name: fairness(*fair)}).holds
    excepted = fairness(*fair, ("ovs", 10, "80/80/80", 1, (5.0, 3.0, 2.0)))
    assert JUDGES["switch-three-proportional"]({SWITCHES_FAIRNESS.name: excepted}).holds
    other = fairness(*fair[:-1], ("ovs", 100, "80/80/80", 1, (50.0, 30.0, 20.0)))
    assert not JUDGES["switch-three-proportional"]({SWITCHES_FAIRNESS.name: other}).holds


@pytest.mark.parametrize(
    ("claim", "table", "says"),
    [
        (
            "switch-cisco-unfair",
            fairness(
                (CISCO, 10, "70/70", 1, (5, 4)), ("lisa", 10, "70/70", 1, (5, 4)), ("lisa", 100, "70/70", 1, (5, 4))
            ),
            "no setting with a switch 'cisco' at 100 Mbit/s",
        ),
        ("switch-two-proportional", fairness(("lisa", 10, "70/x", 1, (5, 4))), "offered_percent is '70/x'"),
        (
            "switch-two-proportional",
            fairness(("lisa", 10, "70/70", 1, (5,)), ("lisa", 10, "40/80", 1, (3, 6))),
            "has not the shares of 2 senders",
        ),
        (
            "switch-two-proportional",
            fairness(("lisa", 10, "70/70", 1, (5, 4)), ("lisa", 10, "70/70", 2, (5,))),
            "not every sender has all repeats",
        ),
    ],
)
def test_hardwares_numbers_that_do_not_suffice_are_one_line(claim: str, table: Table, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        JUDGES[claim]({SWITCHES_FAIRNESS.name: table})


def test_a_switch_with_a_number_for_a_name_is_a_switch(tmp_path: Path) -> None:
    table = fairness(
        *(
            it
            for rate in (10, 100)
            for it in ((CISCO, rate, "70/70", 1, (5 + rate, 4)), ("3560", rate, "70/70", 1, (5, 4)))
        )
    )
    path = tmp_path / "switches-fairness.csv"
    path.write_text(table.csv)
    for read in (read_own([SWITCHES_FAIRNESS], str(path)), read_table(SWITCHES_FAIRNESS, tmp_path)):
        assert read.levels("switch") == (CISCO, "3560")
        assert JUDGES["switch-cisco-unfair"]({SWITCHES_FAIRNESS.name: read}).holds


def test_nothing_that_arrived_is_not_alike() -> None:
    given = tables(more={"ovs": 0.0})
    found = JUDGES["switch-software-alike-throughput"](given)
    assert not found.holds
    assert not JUDGES["switch-ten-times"](given).holds


def test_a_table_without_the_runs_gives_no_verdict_but_one_line() -> None:
    given = tables()
    lacking: dict[str, tuple[Study, dict[str, Any], str]] = {
        "switch-software-alike-rtt": (SWITCHES_RTT, {"switch": "ovs"}, "one kind of switch only"),
        "switch-flat-rtt-intra": (SWITCHES_RTT, {"payload_bytes": (100, 1440)}, "not both payloads of 750 and 1440"),
        "switch-l3-free": (SWITCHES_RTT, {"communication": "intra-vlan"}, "not both communications"),
        "switch-stick-rtt": (SWITCHES_RTT, {"testbed": "l3-switch"}, "not both testbeds"),
        "switch-cisco-rtt": (SWITCHES_RTT, {}, "no setting with a switch 'cisco'"),
        "switch-ten-times": (SWITCHES_THROUGHPUT, {"rate_mbps": 100}, "not both rates"),
        "switch-stick-full": (SWITCHES_THROUGHPUT, {}, "linklab study run switches-throughput"),
        "switch-bottleneck-full": (SWITCHES_FAIRNESS, {"rate_mbps": 100}, "linklab study run switches-fairness"),
        "switch-two-proportional": (SWITCHES_FAIRNESS, {"offered_percent": "80/80/80"}, "no run of 2 senders"),
    }
    for claim, (study, kept, says) in lacking.items():
        with pytest.raises(MeasurementError, match=says) as caught:
            JUDGES[claim]({**given, study.name: given[study.name].select(**kept)})
        assert "\n" not in str(caught.value)


def measured(study: Study, folder: Path, **levels: Any) -> Table:
    """The table of a study of one bridge with a few levels, each measured once."""
    factors = {**{name: (each[0],) for name, each in study.factors.items()}, **levels}
    table = run(replace(study.with_levels(**factors), belongs=None, repeats=1), folder / study.name)
    assert table.missing == ()
    return table


def finding(claim: str, table: Table) -> tuple[bool | None, str]:
    found = JUDGES[claim]({table.study.name: table})
    return found.holds, found.because


@pytest.mark.lab
@pytest.mark.slow
def test_a_queue_of_one_packet_leaves_a_bottleneck_idle(virtual: Kind, tmp_path: Path) -> None:
    levels: dict[str, Any] = {"offered_percent": ("70/70", "30/90"), "rate_mbps": (10,)}
    large, small = (measured(SWITCHES_FAIRNESS, tmp_path / str(it), **levels, queue_packets=(it,)) for it in (100, 1))
    assert finding("switch-bottleneck-full", large)[0]
    assert not finding("switch-bottleneck-full", small)[0]


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.thorough
def test_senders_with_faster_links_share_in_proportion_and_others_do_not(virtual: Kind, tmp_path: Path) -> None:
    levels: dict[str, Any] = {"offered_percent": ("70/70", "30/90", "40/40/40"), "rate_mbps": (10,)}
    at_random = measured(SWITCHES_FAIRNESS, tmp_path / "random", **levels, sender_link_percent=(FASTER,))
    in_step = measured(SWITCHES_FAIRNESS, tmp_path / "step", **levels, pacing=(EXACT,))
    for claim in ("switch-two-proportional", "switch-three-proportional"):
        assert finding(claim, at_random)[0]
        assert not finding(claim, in_step)[0]


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.thorough
def test_ticking_cards_keep_the_round_trip_flat_and_plain_ones_do_not(virtual: Kind, tmp_path: Path) -> None:
    levels: dict[str, Any] = {"rate_mbps": (100,), "payload_bytes": (750, 1440), "exchanges": (20,)}
    table = measured(SWITCHES_INTERRUPTS, tmp_path, **levels, cards=("plain", "ticking"))
    for cards, flat in (("plain", False), ("ticking", True)):
        found = table.each("rtt_mean_ms", "payload_bytes", cards=cards)
        place = {"switch": cards, "testbed": "l3-switch", "communication": "intra-vlan", "rate_mbps": 100,
                 "protocol": "ipv4", "link": "cable", "exchanges": 20}  # fmt: skip
        rows = [
            ({**place, "payload_bytes": payload}, 1, [Measured("rtt_mean_ms", it.mean)])
            for (payload,), it in found.items()
        ]
        assert finding("switch-flat-rtt-intra", made.table(SWITCHES_RTT, rows))[0] is flat
