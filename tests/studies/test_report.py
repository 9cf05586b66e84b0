"""The course report as a study: its levels, its judges on networks on which each conclusion comes out otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.errors import MeasurementError
from linklab.measure import PingFlow, SimpleperfFlow, TcpFlow
from linklab.network import COURSE
from linklab.study.declare import Study
from linklab.study.table import StudyTable, read_table
from studies.report.judges import JUDGES, PUBLISHED
from studies.report.study import (
    IPERF3,
    KNOWN,
    NEAREST,
    PARALLEL,
    PATHS,
    REPORT_ALONE,
    REPORT_SHARED,
    REPORT_UDP,
    SHARED,
    STUDIES,
    asked_mibps,
    ends,
    pairs_of,
    shared_flows,
    transfer_flow,
)

DATA = Path(__file__).parents[2] / "docs" / "studies" / "data"


@pytest.fixture(scope="module")
def tables() -> dict[str, StudyTable]:
    return {study.name: read_table(study, DATA) for study in STUDIES}


@pytest.mark.parametrize("claim", ["report-three-rtt", "report-three-throughput", "report-parallel-less"])
def test_one_repeat_is_no_sample(claim: str, tables: dict[str, StudyTable]) -> None:
    once = {**tables, "report-shared": tables["report-shared"].select(repeat=1)}
    with pytest.raises(MeasurementError, match="over two repeats or more: 1 is there"):
        JUDGES[claim](once)


def test_round_trips_that_do_not_differ_significantly_are_open(tables: dict[str, StudyTable]) -> None:
    pairs = {1: SHARED[0], 2: SHARED[1]}
    ms = {1: [71.4, 72.0, 72.3, 72.8, 73.1], 2: [71.9, 72.6, 73.1, 73.4, 74.1]}
    frame = tables["report-shared"].frame
    frame = frame[(frame["metric"] == "rtt_mean_ms") & (frame["repeat"] <= 5)].copy()
    for test, values in ms.items():
        for repeat, value in enumerate(values, 1):
            frame.loc[(frame["pairs"] == pairs[test]) & (frame["repeat"] == repeat), "value"] = value
    found = JUDGES["report-three-rtt"]({"report-shared": replace(tables["report-shared"], frame=frame)})
    assert found.holds is None
    assert "difference +0.70 (95 % interval -0.41 to +1.81) ms" in found.because


def with_values(table: StudyTable, metric: str, values: Mapping[str, float], column: str) -> StudyTable:
    """The table with other values of a metric, by what stands in a column."""
    frame = table.frame.copy()
    for name, value in values.items():
        frame.loc[(frame["metric"] == metric) & (frame[column] == name), "value"] = value
    return replace(table, frame=frame)


def test_idle_paths_are_those_that_were_measured(tables: dict[str, StudyTable]) -> None:
    """The report's idle h1-h4 takes 69.6 ms, and not 60: what is 69.6 under load, over the same links, is no longer."""
    pairs = ("h1-h4", "h2-h5", "h3-h6", "h7-h9", "h8-h9")
    shared = with_values(tables["report-shared"], "rtt_mean_ms", dict.fromkeys(pairs, 69.6), "of")
    assert JUDGES["report-shared-rtt"]({**tables, "report-shared": shared}).holds
    idle = with_values(tables["report-alone"], "rtt_mean_ms", {"h1-h4": 69.6}, "between")
    found = JUDGES["report-shared-rtt"]({**tables, "report-shared": shared, "report-alone": idle})
    assert not found.holds
    assert "; 0.0 ms more than idle at least, h3-h6" in found.because


def test_round_trips_that_did_not_grow_are_no_router_s(tables: dict[str, StudyTable]) -> None:
    still = with_values(tables["report-shared"], "rtt_mean_ms", {"h1-h4": 60.0, "h8-h9": 20.0}, "of")
    assert not JUDGES["report-apart-router"]({**tables, "report-shared": still}).holds


def test_a_link_that_gives_a_third_is_not_close_to_what_it_has(tables: dict[str, StudyTable]) -> None:
    assert JUDGES["report-apart-throughput"](tables).holds
    third = with_values(tables["report-shared"], "throughput_mbps", {"h1-h4": 10.0}, "of")
    found = JUDGES["report-apart-throughput"]({**tables, "report-shared": third})
    assert not found.holds
    assert "33.3 % of the rate" in found.because
    assert "h1-h4: 10 of 10 repeats, alike with every seed, 100.0 % of alone" in found.because


def names(**at: int) -> list[str]:
    return [row["name"] for row in PUBLISHED.rows("numbers", **at)]


def test_the_pairs_are_the_report_s() -> None:
    for test, pairs in enumerate(SHARED, 1):
        assert list(pairs_of(pairs)) == list(dict.fromkeys(names(case=4, test=test)))
    assert list(pairs_of(PARALLEL)) == list(dict.fromkeys(names(case=5)))
    assert pairs_of(PARALLEL)["h1-h4"] == 2
    assert set(PATHS) == set(names(case=1))


def test_more_than_the_bottleneck_is_not_asked_for() -> None:
    asked = {str(point["asked"]) for point in REPORT_UDP.points() if point["between"] == "h1-h9"}
    assert asked == {"10M", "15M", "16M", "18M", "20M"}


@pytest.mark.parametrize("study", [REPORT_ALONE, REPORT_SHARED], ids=lambda it: it.name)
def test_the_nearest_setting_and_linklabs_own_have_ten_repeats(study: Study) -> None:
    by_setting = Counter(point.levels for point in study.points())
    for levels, repeats in by_setting.items():
        near = [level == NEAREST[factor] for factor, level in levels if factor in NEAREST]
        assert repeats == (10 if all(near) or not any(near) else 3)
        assert all(near) or sum(near) <= 1
    assert len(by_setting) == (6 * 4 if study is REPORT_ALONE else 5 * 5 + 2)


def test_claims_are_judged_in_the_nearest_setting(tables: dict[str, StudyTable]) -> None:
    for study, claim, pair in (
        ("report-alone", "report-path-throughput", {"between": "h1-h9"}),
        ("report-shared", "report-shared-fair", {"pairs": SHARED[0]}),
    ):
        found = JUDGES[claim](tables)
        frame = tables[study].frame.copy()
        other = frame["arp"] == KNOWN
        for factor, level in pair.items():
            other &= frame[factor] == level
        frame.loc[other, "value"] = 0.0
        assert JUDGES[claim]({**tables, study: replace(tables[study], frame=frame)}) == found


def test_each_pair_starts_first_in_turn() -> None:
    for turn in range(6):
        flows = shared_flows(COURSE, SHARED[1], IPERF3, 25, 25, turn)
        starts_ms = {flow.source: round(1000 * flow.start_s) for flow in flows}
        assert sorted(starts_ms.values()) == [0, 2, 4]
        assert starts_ms[f"h{turn % 3 + 1}"] == 0
        assert [type(flow) for flow in flows[:2]] == [PingFlow, TcpFlow]


def test_a_link_is_meant_by_its_far_end_s_address() -> None:
    assert ends(COURSE, "L2") == ("r2", "r3", "10.0.3.2")
    assert ends(COURSE, "h7-h9") == ("h7", "h9", "10.0.7.2")
    assert isinstance(transfer_flow(COURSE, "L1", "simpleperf", 25), SimpleperfFlow)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: asked_mibps("25"), "write a rate as for iperf's -b"),
        (lambda: asked_mibps("0M"), "write a rate as for iperf's -b"),
        (lambda: ends(COURSE, "L9"), "is no link and no pair of hosts"),
        (lambda: pairs_of("h1-h4+h1-h4"), "once each"),
        (lambda: transfer_flow(COURSE, "L1", "netperf", 25), "choose simpleperf or iperf3"),
    ],
)
def test_a_level_that_is_none_is_one_line(wrong: object, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        wrong()  # type: ignore[operator]
