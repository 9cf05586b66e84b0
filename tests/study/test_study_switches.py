"""The switches studies: what they refuse, and their short forms in labs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import LabError, MeasurementError
from linklab.runtime.backends import Kind
from linklab.study import Study, run, study_by_name
from linklab.study.declare import Point
from linklab.study.switches.cost import testbed as cost_testbed
from linklab.study.switches.fairness import SWITCHES_FAIRNESS
from linklab.study.switches.rtt import SWITCHES_INTERRUPTS, SWITCHES_RTT
from linklab.study.switches.throughput import SWITCHES_THROUGHPUT
from linklab.study.table import Table


def test_all_published_figures_are_measured_on_all_kinds_of_switch() -> None:
    rtt = {(it["switch"], it["testbed"], it["communication"], it["rate_mbps"]) for it in SWITCHES_RTT.points()}
    flow = {(it["switch"], it["testbed"], it["communication"], it["rate_mbps"]) for it in SWITCHES_THROUGHPUT.points()}
    assert len(rtt) == len(flow) == 3 * 6
    fair = {(it["switch"], it["rate_mbps"], it["offered_percent"]) for it in SWITCHES_FAIRNESS.points()}
    assert len(fair) == 3 * 2 * 8


@pytest.mark.parametrize(
    ("study", "levels", "says"),
    [
        (SWITCHES_RTT, {"switch": ("cisco",)}, "switch is 'cisco': choose one of bridge, ovs, ovs-user"),
        (SWITCHES_RTT, {"testbed": ("ring",)}, "testbed is 'ring'"),
        (SWITCHES_RTT, {"rate_mbps": (0,)}, "rate_mbps is 0"),
        (SWITCHES_FAIRNESS, {"offered_percent": ("70/130",)}, "percentages of the link's rate"),
        (SWITCHES_THROUGHPUT, {"rate_mbps": (5000,)}, "rate_mbps is 5000"),
    ],
)
def test_levels_that_cannot_be_are_one_line(study: Study, levels: dict[str, tuple[object, ...]], says: str) -> None:
    changed = study.with_levels(**levels)  # type: ignore[arg-type]
    with pytest.raises(MeasurementError) as caught:
        [changed.place(point) for point in changed.points()]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_switch_there_are_no_vlans() -> None:
    with pytest.raises(MeasurementError, match="choose a kind of switch"):
        cost_testbed(Point("switches-cost", (("switch", "none"), ("communication", "inter-vlan"))))


def short(name: str, folder: Path, repeats: int = 2) -> Table:
    table = run(replace(study_by_name(name).short_form(), repeats=repeats), folder)
    assert table.missing == ()
    return table


def by_repeat(table: Table) -> list[list[float]]:
    repeats = sorted({row["repeat"] for row in table})
    assert len(repeats) == 2
    return [[row["value"] for row in table if row["repeat"] == repeat] for repeat in repeats]


@pytest.mark.lab
@pytest.mark.slow
def test_round_trips_are_serialisation_on_both_switches_and_repeats_agree(virtual: Kind, tmp_path: Path) -> None:
    table = short("switches-rtt", tmp_path)
    one, two = by_repeat(table)
    assert one == two
    for switch in ("bridge", "ovs"):
        for testbed, communication, times in (("l3-switch", "intra-vlan", 4), ("l3-switch", "inter-vlan", 4)):
            rows = table.where("rtt_mean_ms", switch=switch, testbed=testbed, communication=communication)
            for row in rows:
                assert row["value"] == pytest.approx(times * (row["payload_bytes"] + 66) * 8e-5, abs=0.003)
        for row in table.where("rtt_mean_ms", switch=switch, testbed="router-on-a-stick"):
            assert row["value"] == pytest.approx(8 * (row["payload_bytes"] + 68) * 8e-5, abs=0.006)


@pytest.mark.lab
@pytest.mark.slow
def test_ticking_cards_make_a_range_of_payloads_alike(virtual: Kind, tmp_path: Path) -> None:
    assert SWITCHES_INTERRUPTS.repeats == 2
    table = short("switches-interrupts", tmp_path)
    found = {row["payload_bytes"]: row["value"] for row in table.where("rtt_mean_ms")}
    assert found == pytest.approx({500: 0.25, 750: 0.75, 1440: 0.75}, abs=0.002)


@pytest.mark.lab
@pytest.mark.slow
def test_the_additional_flow_is_near_theory_and_a_seed_repeats_it(virtual: Kind, tmp_path: Path) -> None:
    from linklab.study.switches.figures import additional_theory_mbps

    table, again = (short("switches-throughput", tmp_path / name, repeats=1) for name in ("one", "two"))
    assert list(table) == list(again)
    for row in table.where("additional_mbps"):
        levels = (row["testbed"], row["communication"], row["rate_mbps"], row["payload_bytes"])
        assert row["value"] == pytest.approx(additional_theory_mbps(*levels), rel=0.12)


@pytest.mark.lab
@pytest.mark.slow
def test_senders_in_step_are_far_from_proportion_and_out_of_step_near_it(virtual: Kind, tmp_path: Path) -> None:
    from linklab.study.switches.values import deviations

    table = short("switches-fairness", tmp_path)
    loose, exact = (deviations(list(table), pacing=pacing) for pacing in ("dithered", "exact"))
    assert max(loose.values()) < 0.25
    assert min(exact.values()) > 0.2
    assert all(row["value"] == pytest.approx(100, rel=0.01) for row in table.where("bottleneck_mbps"))


@pytest.mark.lab
@pytest.mark.slow
def test_a_packet_costs_some_processor_time(virtual: Kind, tmp_path: Path) -> None:
    table = short("switches-cost", tmp_path)
    assert all(1 < row["value"] < 100_000 for row in table.where("cpu_us_per_packet"))


def test_open_vswitch_missing_and_an_unknown_kind_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from linklab.emulation import switches

    context: Any = None  # neither comes as far as to need it
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(LabError, match="Open vSwitch is missing: sudo apt-get install openvswitch-switch"):
        switches.prepare(context, "ovs")
    with pytest.raises(LabError, match="switch 'cisco' is unknown: say one of bridge, ovs, ovs-user"):
        switches.prepare(context, "cisco")
