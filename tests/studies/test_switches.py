"""The switches paper's studies: what they refuse, their evaluation, their short forms in labs; and verdicts: each that
is judged can come out either way, by what is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.runtime.backends import Kind
from linklab.study import Level, Measured, Point, Study, run, study_by_name
from linklab.study.claims import judged
from linklab.study.table import StudyTable, read_own, read_table
from studies.switches.judges import CISCO, CLAIMS, JUDGES, proportional_shares
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
    cost_testbed,
)
from studies.switches.theory import additional_theory_mbps, loaded_rtt_theory_ms, rtt_theory_ms

from ..study import tables as made


def test_where_chance_has_a_part_each_kind_of_switch_has_five_seeds_of_its_own() -> None:
    for study in (SWITCHES_THROUGHPUT, SWITCHES_FAIRNESS):
        seeds: dict[object, set[int]] = {}
        for point in study.with_levels(switch=("bridge", "ovs", "openflow:mine {port}", "other")).points():
            seeds.setdefault(point["switch"], set()).add(study.seed_of(point))
        assert {len(it) for it in seeds.values()} == {5}
        assert len(set[int]().union(*seeds.values())) == 20


@pytest.mark.parametrize(
    ("study", "levels", "says"),
    [
        (SWITCHES_RTT, {"switch": ("cisco",)}, "switch is 'cisco': choose one of bridge, ovs, ovs-user"),
        (SWITCHES_RTT, {"testbed": ("ring",)}, "testbed is 'ring'"),
        (SWITCHES_RTT, {"link": ("rope",)}, "link is 'rope': choose cable, or token-bucket"),
        (SWITCHES_FAIRNESS, {"offered_percent": ("70/130",)}, "percentages of the link's rate"),
        (SWITCHES_FAIRNESS, {"offered_percent": ("70",)}, "write two or more percentages"),
        (SWITCHES_FAIRNESS, {"offered_percent": ("/".join(["50"] * 253),)}, "2 to 252 senders, not 253"),
    ],
)
def test_levels_that_cannot_be_are_one_line(study: Study, levels: dict[str, tuple[object, ...]], says: str) -> None:
    changed = study.with_levels(**levels)  # type: ignore[arg-type]
    with pytest.raises(MeasurementError) as caught:
        [changed.place(point) for point in changed.points()]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_there_may_be_many_senders_at_any_rate() -> None:
    study = SWITCHES_FAIRNESS.with_levels(offered_percent=("60/60/60/60", "/".join(["9"] * 12)), rate_mbps=(34,))
    points = [point for point in study.points() if point["sender_link_percent"] == 100]
    assert {len(place.network.hosts) for place in map(study.place, points) if place is not None} == {5, 13}


def test_without_a_switch_there_are_no_vlans() -> None:
    with pytest.raises(MeasurementError, match="choose a kind of switch"):
        cost_testbed(Point("switches-cost", (("switch", "none"), ("communication", "inter-vlan"))))


def test_a_header_of_ipv6_and_other_traffic_make_round_trips_longer() -> None:
    place = ("l3-switch", "intra-vlan", 10, 500)
    assert rtt_theory_ms(*place, "ipv6") - rtt_theory_ms(*place) == pytest.approx(4 * 20 * 8 / 10e3)
    # at each of four ports three flows of 625 packets a second that take 566 bytes' time: load 0.849
    assert loaded_rtt_theory_ms(*place) - rtt_theory_ms(*place) == pytest.approx(4 * 0.4528 * 0.849 / (2 * 0.151))
    with pytest.raises(MeasurementError, match="protocol is 'ipx': choose one of ipv4, ipv6"):
        rtt_theory_ms(*place, "ipx")
    with pytest.raises(MeasurementError, match="communication is 'outside'"):
        rtt_theory_ms("l3-switch", "outside", 10, 500)


def short(name: str, folder: Path, repeats: int = 2, levels: Mapping[str, tuple[Level, ...]] = {}) -> StudyTable:
    table = run(replace(study_by_name(name).short_form().with_levels(**levels), repeats=repeats), folder)
    assert table.missing == ()
    return table


@pytest.mark.large
@pytest.mark.lab
def test_round_trips_are_serialisation_over_both_protocols_in_each_repeat(virtual: Kind, tmp_path: Path) -> None:
    levels: dict[str, tuple[Level, ...]] = {"switch": ("bridge",), "payload_bytes": (1440,)}
    factors = ("testbed", "communication", "rate_mbps", "payload_bytes", "protocol")
    measured = short("switches-rtt", tmp_path, levels=levels).each("rtt_mean_ms", *factors, "switch")
    assert {key[-2] for key in measured} == {"ipv4", "ipv6"}
    for (*place, _), values in measured.items():
        # repeats are samples: each begins elsewhere between two ticks, which may show in microseconds
        assert all(0 < value - rtt_theory_ms(*place) < 0.006 for value in values.values)


@pytest.mark.large
@pytest.mark.lab
def test_beside_traffic_a_round_trip_and_a_flow_are_near_theory(virtual: Kind, tmp_path: Path) -> None:
    one: dict[str, tuple[Level, ...]] = {"testbed": ("l3-switch",), "communication": ("inter-vlan",)}
    place = ("l3-switch", "inter-vlan", 100, 1440)
    rtt = short("switches-loaded", tmp_path, repeats=1, levels=one).lookup("rtt_mean_ms").same
    assert rtt_theory_ms(*place) < rtt < loaded_rtt_theory_ms(*place)
    flow = short("switches-throughput", tmp_path, repeats=1, levels=one).lookup("additional_mbps").same
    assert flow == pytest.approx(additional_theory_mbps(*place), rel=0.12)


@pytest.mark.large
@pytest.mark.lab
def test_ticking_cards_make_a_range_of_payloads_alike(virtual: Kind, tmp_path: Path) -> None:
    assert SWITCHES_INTERRUPTS.short_repeats == 2
    table = short("switches-interrupts", tmp_path)
    found = {payload: it.mean for (payload,), it in table.each("rtt_mean_ms", "payload_bytes").items()}
    assert found == pytest.approx({500: 0.25, 750: 0.75, 1440: 0.75}, abs=0.002)


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.slow
def test_a_packet_costs_some_processor_time(virtual: Kind, tmp_path: Path) -> None:
    few = {"exchanges": (1000,)}
    costs = short("switches-cost", tmp_path, repeats=1, levels=few).each("cpu_us_per_packet", "switch")
    assert all(1 < it.mean < 100_000 for it in costs.values())


# --- Verdicts

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


def tables(
    switches: Iterable[str] = ("bridge", "ovs"),
    *,
    rtt: Mapping[str, float] = {},
    more: Mapping[str, float] = {},
    unfair: Mapping[str, float] = {},
    flat: bool = False,
) -> dict[str, StudyTable]:
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


def verdicts(ours: dict[str, StudyTable], hardware: dict[str, StudyTable] | None = None) -> dict[str, str]:
    return {each.claim.id: each.verdict for each in judged(CLAIMS, ours, hardware)}


def test_claims_about_hardware_are_not_judged_by_emulation_and_what_cannot_fail_is_said_so() -> None:
    expected = dict.fromkeys(HARDWARE, "not testable here") | dict.fromkeys(CONSTRUCTED, "decided by construction")
    assert {claim.id for claim in CLAIMS.claims} == set(expected) == set(JUDGES)
    assert verdicts(tables()) == expected
    assert verdicts(tables(flat=True, unfair={"ovs": 2})) == expected


CISCO_WINS: dict[str, Any] = {"rtt": {CISCO: 0.9}, "more": {CISCO: 1.05}, "unfair": {CISCO: 0.4}, "flat": True}


def fairness(*shares: tuple[Any, int, str, int, tuple[float, ...]]) -> StudyTable:
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
        ("switch-two-proportional", fairness(("lisa", 10, "70/x", 1, (5, 4))), "offered_percent is '70/x'"),
        (
            "switch-two-proportional",
            fairness(("lisa", 10, "70/70", 1, (5, 4)), ("lisa", 10, "70/70", 2, (5,))),
            "not every sender has all repeats",
        ),
    ],
)
def test_hardwares_numbers_that_do_not_suffice_are_one_line(claim: str, table: StudyTable, says: str) -> None:
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


def test_a_table_without_the_runs_gives_no_verdict_but_one_line() -> None:
    given = tables()
    lacking: dict[str, tuple[Study, dict[str, Any], str]] = {
        "switch-software-alike-rtt": (SWITCHES_RTT, {"switch": "ovs"}, "has not two kinds of switch"),
        "switch-l3-free": (SWITCHES_RTT, {"communication": "intra-vlan"}, "not both communications"),
        "switch-cisco-rtt": (SWITCHES_RTT, {}, "no setting with a switch 'cisco'"),
        "switch-ten-times": (SWITCHES_THROUGHPUT, {"rate_mbps": 100}, "not both rates"),
        "switch-stick-full": (SWITCHES_THROUGHPUT, {}, "linklab study run switches-throughput"),
        "switch-two-proportional": (SWITCHES_FAIRNESS, {"offered_percent": "80/80/80"}, "no run of 2 senders"),
    }
    for claim, (study, kept, says) in lacking.items():
        with pytest.raises(MeasurementError, match=says) as caught:
            JUDGES[claim]({**given, study.name: given[study.name].select(**kept)})
        assert "\n" not in str(caught.value)


def measured(study: Study, folder: Path, **levels: Any) -> StudyTable:
    """The table of a study of one bridge with a few levels, each measured once."""
    factors = {**{name: (each[0],) for name, each in study.factors.items()}, **levels}
    table = run(replace(study.with_levels(**factors), belongs=None, repeats=1), folder / study.name)
    assert table.missing == ()
    return table


def finding(claim: str, table: StudyTable) -> tuple[bool | None, str]:
    found = JUDGES[claim]({table.study.name: table})
    return found.holds, found.because


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.slow
def test_a_queue_of_one_packet_leaves_a_bottleneck_idle(virtual: Kind, tmp_path: Path) -> None:
    levels: dict[str, Any] = {"offered_percent": ("70/70", "30/90"), "rate_mbps": (10,)}
    large, small = (measured(SWITCHES_FAIRNESS, tmp_path / str(it), **levels, queue_packets=(it,)) for it in (100, 1))
    assert finding("switch-bottleneck-full", large)[0]
    assert not finding("switch-bottleneck-full", small)[0]


@pytest.mark.large
@pytest.mark.lab
def test_senders_with_faster_links_share_in_proportion_and_others_do_not(virtual: Kind, tmp_path: Path) -> None:
    levels: dict[str, Any] = {"offered_percent": ("70/70", "30/90"), "rate_mbps": (10,)}
    at_random = measured(SWITCHES_FAIRNESS, tmp_path / "random", **levels, sender_link_percent=(FASTER,))
    in_step = measured(SWITCHES_FAIRNESS, tmp_path / "step", **levels, pacing=(EXACT,))
    assert finding("switch-two-proportional", at_random)[0]
    assert not finding("switch-two-proportional", in_step)[0]


def test_a_bottleneck_without_favour_shares_in_proportion() -> None:
    assert proportional_shares((4, 8), 10) == pytest.approx((10 / 3, 20 / 3))
    assert proportional_shares((1, 2), 10) == (1, 2)
