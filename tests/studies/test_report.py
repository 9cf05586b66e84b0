"""The course report as a study: its levels, its judges on networks on which each conclusion comes out otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.analysis import jain_index
from linklab.errors import MeasurementError
from linklab.measure import PingFlow, SimpleperfFlow, TcpFlow
from linklab.network import COURSE, goodput_ceiling_mbps, path, rtt_floor_ms
from linklab.study.table import StudyTable, read_table
from studies.report.page import JUDGES, PAGE, PUBLISHED, alone, floor_ms
from studies.report.study import (
    EXPLANATIONS,
    IPERF3,
    LINKS,
    OFFSET_S,
    PARALLEL,
    PATHS,
    REPORT_ALONE,
    REPORT_SHARED,
    REPORT_UDP,
    SHARED,
    asked_mbps,
    ends,
    pairs_of,
    shared_flows,
    transfer_flow,
)
from tests.studies.report_variants import course

DATA = Path(__file__).parents[2] / "docs" / "studies" / "data"


@pytest.fixture(scope="module")
def tables() -> dict[str, StudyTable]:
    return {study.name: read_table(study, DATA) for study in PAGE.studies}


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


def test_explanations_are_measured_one_by_one_and_together() -> None:
    for study, count in ((REPORT_ALONE, 2), (REPORT_SHARED, 3)):
        changed = [
            sum(point[factor] != levels[0] for factor, levels in EXPLANATIONS.items())
            + (point["start_offset_s"] != OFFSET_S if count == 3 else 0)
            for point in study.points()
        ]
        assert set(changed) == {0, 1, count}


def test_addresses_that_are_asked_for_make_the_first_ping_longer(tables: dict[str, StudyTable]) -> None:
    """On each link of the way the first of 25 pings waits for a round trip more: 60 ms in 25 pings from h1 to h4."""
    for between in (*LINKS, *PATHS):
        more_ms = alone(tables, "rtt_mean_ms", between, arp="asked").mean - alone(tables, "rtt_mean_ms", between).mean
        assert more_ms == pytest.approx(floor_ms(between) / 25, abs=0.01)


def with_values(table: StudyTable, metric: str, values: Mapping[str, float], column: str) -> StudyTable:
    """The table with other values of a metric, by what stands in a column."""
    frame = table.frame.copy()
    for name, value in values.items():
        frame.loc[(frame["metric"] == metric) & (frame[column] == name), "value"] = value
    return replace(table, frame=frame)


def test_idle_paths_are_those_that_were_measured(tables: dict[str, StudyTable]) -> None:
    """The report's idle h1-h4 takes 69.6 ms, and not 60: what is 69.6 under load is no longer."""
    pairs = ("h1-h4", "h2-h5", "h3-h6", "h7-h9", "h8-h9")
    shared = with_values(tables["report-shared"], "rtt_mean_ms", dict.fromkeys(pairs, 69.6), "of")
    assert JUDGES["report-shared-rtt"]({**tables, "report-shared": shared}).holds
    idle = with_values(tables["report-alone"], "rtt_mean_ms", {"h1-h4": 69.6}, "between")
    found = JUDGES["report-shared-rtt"]({**tables, "report-shared": shared, "report-alone": idle})
    assert not found.holds
    assert "; 0.0 ms more than idle at least, h1-h4" in found.because


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


def test_iperf_s_mega_is_binary() -> None:
    assert asked_mbps("25M") == pytest.approx(26.2144)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: asked_mbps("25"), "write a rate as for iperf's -b"),
        (lambda: asked_mbps("0M"), "write a rate as for iperf's -b"),
        (lambda: ends(COURSE, "L9"), "is no link and no pair of hosts"),
        (lambda: pairs_of("h1-h4+h1-h4"), "once each"),
        (lambda: transfer_flow(COURSE, "L1", "netperf", 25), "choose simpleperf or iperf3"),
    ],
)
def test_a_level_that_is_none_is_one_line(wrong: object, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        wrong()  # type: ignore[operator]


def test_the_committed_tables_are_whole(tables: dict[str, StudyTable]) -> None:
    for study in (REPORT_UDP, REPORT_ALONE, REPORT_SHARED):
        frame = tables[study.name].frame
        measured = frame[[*study.factors, "repeat"]].drop_duplicates()
        assert len(measured) == len(study.points())


def test_a_variant_differs_from_the_course_network_in_what_it_says() -> None:
    changed = course(L2={"rate_mbps": 28})
    differing = [link.name for link, other in zip(COURSE.links, changed.links, strict=True) if link != other]
    assert differing == ["L2"]


# --- What the report printed

MEBI = 1048576 / 1e6
SHOWN = [(quantity, name, text) for quantity, each in PUBLISHED["differs"].items() for name, text in each.items()]
"""The explanations that labs 04 and 05 show."""


def number(case: int, name: str, quantity: str) -> float:
    return float(PUBLISHED.row("numbers", case=case, name=name, quantity=quantity)["value"])


def throughputs(case: int, test: int) -> list[float]:
    return [row["value"] for row in PUBLISHED.rows("numbers", case=case, test=test, quantity="throughput_mbps")]


def test_the_five_tables_are_complete() -> None:
    assert [len(PUBLISHED.rows("numbers", case=case)) for case in range(1, 6)] == [3, 6, 6, 18, 4]
    assert len(PUBLISHED["numbers"]) == 37
    assert sum(row["value"] for row in PUBLISHED.rows("numbers", quantity="rtt_ms")) == pytest.approx(
        21.855 + 44.678 + 22.815 + 69.606 + 69.404 + 92.323
        + 96.784 + 97.071 + 101.251 + 102.070 + 104.231 + 98.571 + 99.721 + 85.571 + 38.819
    )  # fmt: skip


def test_each_row_names_two_nodes_of_the_course_network() -> None:
    for row in PUBLISHED["numbers"]:
        assert path(COURSE, row["source"], row["destination"])
        assert row["quantity"] in ("rtt_ms", "throughput_mbps")


def test_each_number_that_labs_show_has_an_explanation_and_no_other_has() -> None:
    shown = [(row["quantity"], row["name"]) for case in (2, 3) for row in PUBLISHED.rows("numbers", case=case)]
    assert sorted(shown) == sorted((quantity, name) for quantity, name, _ in SHOWN)


@pytest.mark.parametrize(("quantity", "name", "text"), SHOWN)
def test_an_explanation_is_one_sentence_and_calls_probable_what_numbers_do_not_show(
    quantity: str, name: str, text: str
) -> None:
    assert text.endswith(".")
    assert not re.search(r"[.?!] [A-Z]", text)
    assert len(text) < 260
    assert not re.search(r"\b(ours?|both (are|lie)|virtual time|in both)\b", text, re.IGNORECASE)
    blamed = re.search(r"timer|machine|two segments|seconds apart|by chance", text)
    if blamed and "machine nor" not in text and "machine, loaded" not in text:
        assert "probabl" in text


def test_udp_rates_are_what_iperf_sends_for_whole_numbers_of_m() -> None:
    assert round(25 * MEBI, 1) == number(1, "h1-h4", "throughput_mbps")
    assert round(16 * MEBI, 1) == number(1, "h1-h9", "throughput_mbps")
    assert round(15 * MEBI, 1) == 15.7
    # the losses in the text, of 30M over 30 Mbit/s and 20M over 20, from headers and the M alone
    assert pytest.approx(0.073, abs=0.0005) == 1 - 1 / (MEBI * 1512 / 1470)


def test_the_sums_that_the_sentences_speak_of() -> None:
    ceiling = goodput_ceiling_mbps(30)
    assert sum(throughputs(4, 1)) == pytest.approx(28.73)
    assert sum(throughputs(4, 2)) == pytest.approx(29.79)
    assert sum(throughputs(4, 3)) == pytest.approx(28.68)
    assert sum(throughputs(5, 1)) == pytest.approx(29.22)
    assert sum(throughputs(4, 2)) > sum(throughputs(5, 1)) > ceiling > sum(throughputs(4, 3))


def test_a_path_s_excess_is_mostly_that_of_its_links() -> None:
    excess = {
        name: number(2 if name[0] == "L" else 3, name, "rtt_ms") - rtt_floor_ms(path(COURSE, *ends))
        for name, ends in {
            "L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4"),
            "h1-h4": ("h1", "h4"), "h7-h9": ("h7", "h9"), "h1-h9": ("h1", "h9"),
        }.items()
    }  # fmt: skip
    assert (excess["L1"] + excess["L2"]) / excess["h1-h4"] == pytest.approx(0.68, abs=0.01)
    assert (excess["L2"] + excess["L3"]) == pytest.approx(7.5, abs=0.05)
    assert (excess["L1"] + excess["L2"] + excess["L3"]) / excess["h1-h9"] == pytest.approx(0.76, abs=0.01)


def test_jain_s_index_is_that_of_the_table() -> None:
    for row in PUBLISHED["fairness"]:
        index = jain_index(throughputs(row["case"], row["test"]))
        assert row["recomputed"] == pytest.approx(index, abs=5e-5)
        assert (abs(row["value"] - index) < 0.005) == ("does not agree" not in row["remark"])


def test_contradictions_are_named() -> None:
    text = " ".join(it.what for it in PUBLISHED.inconsistencies)
    for each in ("21.855", "21.885", "16.78", "29.79", "29.22", "0.99"):
        assert each in text
