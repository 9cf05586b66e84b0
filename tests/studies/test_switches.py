"""The switches studies: what they refuse, and their short forms in labs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.errors import MeasurementError
from linklab.runtime.backends import Kind
from linklab.study import Level, Point, Study, run, study_by_name
from linklab.study.table import Table
from studies.switches.claims import deviations
from studies.switches.study import (
    STUDIES,
    SWITCHES_FAIRNESS,
    SWITCHES_INTERRUPTS,
    SWITCHES_RTT,
    SWITCHES_STEP,
    SWITCHES_THROUGHPUT,
    cost_testbed,
)
from studies.switches.theory import additional_theory_mbps, loaded_rtt_theory_ms, rtt_theory_ms


def test_all_published_figures_are_measured_on_all_kinds_of_switch() -> None:
    places = ("switch", "testbed", "communication", "rate_mbps")
    rtt = {tuple(it[name] for name in places) for it in SWITCHES_RTT.points()}
    flow = {tuple(it[name] for name in places) for it in SWITCHES_THROUGHPUT.points()}
    # a learning controller knows of no VLANs: at both rates it is measured within one
    assert (len(rtt), len(flow)) == (3 * 6 + 2, 3 * 6)
    for study in (SWITCHES_FAIRNESS, SWITCHES_STEP):
        fair = {(it["switch"], it["rate_mbps"], it["offered_percent"]) for it in study.points()}
        assert len(fair) == 3 * 2 * 8


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
        (SWITCHES_RTT, {"rate_mbps": (0,)}, "rate_mbps is 0"),
        (SWITCHES_RTT, {"link": ("rope",)}, "link is 'rope': choose cable, or token-bucket"),
        (SWITCHES_FAIRNESS, {"offered_percent": ("70/130",)}, "percentages of the link's rate"),
        (SWITCHES_FAIRNESS, {"offered_percent": ("70",)}, "write two or more percentages"),
        (SWITCHES_FAIRNESS, {"offered_percent": ("/".join(["50"] * 253),)}, "2 to 252 senders, not 253"),
        (SWITCHES_FAIRNESS, {"queue_packets": (0,)}, "queue_packets is 0"),
        (SWITCHES_THROUGHPUT, {"rate_mbps": (5000,)}, "rate_mbps is 5000"),
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
    hosts = [len(study.place(point).network.hosts) for point in study.points() if point["sender_link_percent"] == 100]
    assert set(hosts) == {5, 13}


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


def test_all_studies_have_a_short_form_that_belongs_to_them() -> None:
    for study in STUDIES:
        assert set(study.short_form().points())


def short(name: str, folder: Path, repeats: int = 2, levels: Mapping[str, tuple[Level, ...]] = {}) -> Table:
    table = run(replace(study_by_name(name).short_form().with_levels(**levels), repeats=repeats), folder)
    assert table.missing == ()
    return table


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize(
    "levels",
    [
        pytest.param({"switch": ("bridge",), "payload_bytes": (1440,)}, id="one size"),
        pytest.param({}, id="all", marks=pytest.mark.thorough),
    ],
)
def test_round_trips_are_serialisation_over_both_protocols_in_each_repeat(
    virtual: Kind, tmp_path: Path, levels: dict[str, tuple[Level, ...]]
) -> None:
    factors = ("testbed", "communication", "rate_mbps", "payload_bytes", "protocol")
    measured = short("switches-rtt", tmp_path, levels=levels).each("rtt_mean_ms", *factors, "switch")
    assert {key[-2] for key in measured} == {"ipv4", "ipv6"}
    for (*place, _), values in measured.items():
        # repeats are samples: each begins elsewhere between two ticks, which may show in microseconds
        assert all(0 < value - rtt_theory_ms(*place) < 0.006 for value in values.values)


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.thorough
def test_beside_traffic_round_trips_lie_between_idle_and_random_arrivals(virtual: Kind, tmp_path: Path) -> None:
    factors = ("testbed", "communication", "rate_mbps", "payload_bytes")
    measured = short("switches-loaded", tmp_path).each("rtt_mean_ms", *factors)
    for place, values in measured.items():
        assert rtt_theory_ms(*place) < values.low
        # the exchanges' own packets, which theory leaves out, matter on the trunk alone: it is nearly full without them
        assert values.high < loaded_rtt_theory_ms(*place) or place[0] == "router-on-a-stick"


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.thorough
def test_ticking_cards_make_a_range_of_payloads_alike(virtual: Kind, tmp_path: Path) -> None:
    assert SWITCHES_INTERRUPTS.short_repeats == 2
    table = short("switches-interrupts", tmp_path)
    found = {payload: it.mean for (payload,), it in table.each("rtt_mean_ms", "payload_bytes").items()}
    assert found == pytest.approx({500: 0.25, 750: 0.75, 1440: 0.75}, abs=0.002)


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.thorough
def test_the_additional_flow_is_near_theory_and_a_seed_repeats_it(virtual: Kind, tmp_path: Path) -> None:
    table, again = (short("switches-throughput", tmp_path / name, repeats=1) for name in ("one", "two"))
    assert table.csv == again.csv
    factors = ("testbed", "communication", "rate_mbps", "payload_bytes")
    for place, values in table.each("additional_mbps", *factors).items():
        assert values.same == pytest.approx(additional_theory_mbps(*place), rel=0.12)


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.thorough
def test_senders_in_step_are_far_from_proportion_and_out_of_step_near_it(virtual: Kind, tmp_path: Path) -> None:
    loose, exact = (short(name, tmp_path / name, repeats=1) for name in ("switches-fairness", "switches-step"))
    assert max(it for repeats in deviations(loose).values() for it in repeats) < 0.25
    assert min(it for repeats in deviations(exact).values() for it in repeats) > 0.2
    for table in (loose, exact):
        for values in table.each("bottleneck_mbps", "offered_percent").values():
            assert values.same == pytest.approx(100, rel=0.01)


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.thorough
def test_four_senders_fill_a_link_of_any_rate(virtual: Kind, tmp_path: Path) -> None:
    study = SWITCHES_FAIRNESS.with_levels(
        switch=("bridge",), offered_percent=("60/60/60/60",), rate_mbps=(34,), sender_link_percent=(100,)
    )
    table = run(replace(study, name="own", repeats=1), tmp_path)
    assert table.missing == ()
    assert table.lookup("bottleneck_mbps").same == pytest.approx(34, rel=0.01)
    assert table.lookup("share_mbps", of="h4").same > 0


@pytest.mark.lab
@pytest.mark.slow
def test_a_packet_costs_some_processor_time(virtual: Kind, tmp_path: Path) -> None:
    few = {"exchanges": (1000,)}
    costs = short("switches-cost", tmp_path, repeats=1, levels=few).each("cpu_us_per_packet", "switch")
    assert all(1 < it.mean < 100_000 for it in costs.values())
