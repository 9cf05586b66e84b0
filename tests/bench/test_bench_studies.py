"""The parts that are studies: their verdicts are met by right rows, not met by any that is spoilt, else open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import LinklabError
from linklab.labs.lab03.unknown import random_chain
from linklab.runtime.backends import Kind
from linklab.study import run
from tools.bench.fidelity import FIDELITY as FIDELITY_STUDY
from tools.bench.fidelity import ROWS, Sameness, agreement
from tools.bench.part import Record, Settings, Verdict, having
from tools.bench.parts import FIDELITY, SEARCH, SWITCHES, refuse_other
from tools.bench.search import INCREASE, SEARCHES, TRAIN, truth_mbps
from tools.bench.search import SEARCH as SEARCH_STUDY

from .made import FEW, at, claim_on, fidelity_records, search_records, switch_records, verdicts


def test_right_rows_meet_every_claim() -> None:
    found = FIDELITY.report(fidelity_records(), FEW)
    assert verdicts(found) == [Verdict.MET] * 4
    assert claim_on(found, "UDP at").numbers == "0 of 324000 packets lost"
    assert "36 of 36 the same" in claim_on(found, "same three digits").numbers
    assert all(len(row) == len(table.headings) for table in found.tables for row in table.rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "value", "words", "said"),
    [
        ("rtt_mean_ms", 20.02, "mean RTT", "largest difference 0.0200 ms"),
        ("lost_pings", 1, "mean RTT", "1 pings lost"),
        ("tcp_mbps", 37.4, "TCP on each link", "L1 97."),
        ("udp_lost_packets", 1, "UDP at", "1 of 324000 packets lost"),
        ("udp_sent_mbps", 30.0, "UDP at", "1 times less sent than asked for"),
        ("tcp_mbps", 37.9, "same three digits", "1 different (L1 TCP)"),
    ],
)
def test_one_spoilt_row_refutes(metric: str, value: float, words: str, said: str) -> None:
    records = fidelity_records()
    at(records, metric)[0]["value"] = value
    claim = claim_on(FIDELITY.report(records, FEW), words)
    assert claim.verdict is Verdict.NOT_MET
    assert said in claim.numbers


def test_a_round_trip_without_any_answer_refutes() -> None:
    records = fidelity_records()
    records.remove(at(records, "rtt_mean_ms")[0])
    assert claim_on(FIDELITY.report(records, FEW), "mean RTT").verdict is Verdict.NOT_MET


def test_where_no_ping_at_all_was_answered_is_no_round_trip() -> None:
    records = [record for record in fidelity_records() if record["metric"] != "rtt_mean_ms"]
    claim = claim_on(FIDELITY.report(records, FEW), "mean RTT")
    assert claim.verdict is Verdict.NOT_MET
    assert "largest difference inf ms" in claim.numbers


def test_a_rounding_edge_is_named_and_no_difference() -> None:
    records = fidelity_records()
    for number, record in enumerate(at(records, "tcp_mbps", of="L3", number=0)):
        record["value"] = 18.949 if number % 2 else 18.951
    claim = claim_on(FIDELITY.report(records, FEW), "same three digits")
    assert claim.verdict is Verdict.MET
    assert claim.numbers == "35 of 36 the same, 1 on a rounding edge (L3 TCP)"
    assert "rounding edge (within a tenth of the third digit) counts as the same" in claim.text


def test_what_is_measured_again_is_compared_with_its_like() -> None:
    records = fidelity_records()
    again = at(records, "tcp_mbps", of="h1-h9", number=1)
    for record in again:
        record["value"] *= 1.02
    assert claim_on(FIDELITY.report(records, FEW), "same three digits").verdict is Verdict.MET
    again[0]["value"] *= 1.02
    claim = claim_on(FIDELITY.report(records, FEW), "same three digits")
    assert (claim.verdict, claim.numbers) == (Verdict.NOT_MET, "35 of 36 the same, 1 different (h1-h9 TCP again (1))")


@pytest.mark.parametrize("left", [{"machine": "idle"}, {"repeat": 1}])
def test_a_part_of_the_points_confirms_nothing(left: Record) -> None:
    some = having(fidelity_records(), **left)
    assert verdicts(FIDELITY.report(some, FEW)) == [Verdict.NOT_MEASURED] * 4


def test_an_earlier_run_must_agree_too() -> None:
    same = FIDELITY.report(fidelity_records(), replace(FEW, earlier=tuple(fidelity_records())))
    assert claim_on(same, "an earlier run").verdict is Verdict.MET
    changed = [record | {"value": 1.01 * record["value"]} for record in fidelity_records()]
    other = FIDELITY.report(fidelity_records(), replace(FEW, earlier=tuple(changed)))
    assert claim_on(other, "an earlier run").verdict is Verdict.NOT_MET
    assert claim_on(other, "in every fresh lab").verdict is Verdict.MET


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda records: [], "has no rows of study fidelity"),
        (lambda records: [{"ways": "old form"}], "has no rows of study fidelity"),
        (lambda records: [{**record, "study": "x"} for record in records], "has no rows of study fidelity"),
        (lambda records: [without(record, "link_s") for record in records], "has rows without link_s"),
        (lambda records: [{**record, "pings": 10} for record in records], "has pings=10, and this run has 26"),
        (lambda records: [it for it in records if it["metric"] != "udp_mbps"], "has no udp_mbps of L1"),
    ],
)
def test_an_earlier_run_that_cannot_be_compared_is_refused_at_the_start(spoil: Any, says: str) -> None:
    refuse_other(fidelity_records(), FEW, "bench.json")
    with pytest.raises(LinklabError, match=f"^bench.json {says}") as caught:
        refuse_other(spoil(fidelity_records()), FEW, "bench.json")
    assert "\n" not in str(caught.value)


def without(record: Record, key: str) -> Record:
    return {name: value for name, value in record.items() if name != key}


def test_an_earlier_run_of_other_durations_is_refused() -> None:
    with pytest.raises(LinklabError, match="has pings=26, and this run has 10: compare with a run of the same form"):
        refuse_other(fidelity_records(), replace(FEW, quick=True), "bench.json")


def test_udps_offered_rate_fills_95_percent_of_the_bottleneck() -> None:
    # 30 Mbit/s of frames of 1514 bytes, of which 1472 are payload
    row = ROWS["h1-h4"]
    assert row.udp_offered_mbps == pytest.approx(0.95 * 30 * 1472 / 1514)
    assert row.udp_payload_bytes == 1472
    addresses = {"L1": "10.0.1.2", "L2": "10.0.3.2", "L3": "10.0.6.2"}
    assert {row.name: row.address for row in ROWS.values() if row.is_link} == addresses
    assert [row.rtt_floor_ms for row in ROWS.values()] == [20, 40, 20, 60, 60, 80]


@pytest.mark.parametrize(
    ("values", "sameness", "rounded"),
    [
        ([20.0, 20.001, 20.0], Sameness.SAME, (20.0,)),
        ([27.86, 27.94], Sameness.SAME, (27.9,)),
        ([27.949, 27.951], Sameness.EDGE, (27.9, 28.0)),  # 0.02 units apart, an edge between them
        ([27.94, 27.97], Sameness.DIFFERENT, (27.9, 28.0)),  # 0.3 units apart
        ([27.0, 28.0], Sameness.DIFFERENT, (27.0, 28.0)),
        ([99.96, 100.04], Sameness.SAME, (100.0,)),
        ([0.0, 0.0], Sameness.SAME, (0.0,)),
        ([143.4, 143.6], Sameness.DIFFERENT, (143.0, 144.0)),
        ([60.0], Sameness.SAME, (60.0,)),
    ],
)
def test_agreement_in_three_digits(values: list[float], sameness: Sameness, rounded: tuple[float, ...]) -> None:
    found = agreement(values)
    assert (found.sameness, found.rounded) == (sameness, rounded)


def test_the_spread_is_in_units_of_the_last_digit() -> None:
    assert agreement([27.90, 27.93]).spread == pytest.approx(0.3)
    assert agreement([143, 145]).spread == pytest.approx(2)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_nothing_agrees_with_no_number(values: list[float]) -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        agreement(values)


def test_switches_are_measured_against_the_bridge() -> None:
    found = SWITCHES.report(switch_records(), FEW)
    assert verdicts(found) == [Verdict.MET] * 2
    assert [row[0] for row in found.tables[0].rows] == ["bridge", "ovs", "ovs-user"]


@pytest.mark.parametrize(
    ("metric", "value", "said"), [("lost_pings", 10, "10 pings lost"), ("tcp_mbps", 27.0, "TCP 96.4% of the bridge's")]
)
def test_a_switch_that_does_not_forward_is_not_met(metric: str, value: float, said: str) -> None:
    records = switch_records()
    having(records, switch="ovs", metric=metric)[0]["value"] = value
    found = SWITCHES.report(records, FEW)
    assert verdicts(found) == [Verdict.NOT_MET, Verdict.MET]
    assert said in found.claims[0].numbers


def test_switches_without_the_bridge_are_not_judged() -> None:
    others = [record for record in switch_records() if record["switch"] != "bridge"]
    assert verdicts(SWITCHES.report(others, FEW)) == [Verdict.NOT_MEASURED] * 2


def test_one_repeat_of_three_confirms_nothing() -> None:
    first = [record for record in switch_records() if record["repeat"] == 1]
    assert verdicts(SWITCHES.report(first, Settings())) == [Verdict.NOT_MEASURED] * 2


def test_a_search_is_judged_by_error_and_traffic() -> None:
    found = SEARCH.report(search_records(-1.25), Settings())
    assert verdicts(found) == [Verdict.MET]
    assert found.tables[0].rows[-1] == (TRAIN, "30", "1.25", "1.25", "1.00", "30", "1", "2.0")
    assert verdicts(SEARCH.report(search_records(-9.0), Settings())) == [Verdict.NOT_MET]
    assert verdicts(SEARCH.report(search_records(1.0, 50.0), Settings())) == [Verdict.NOT_MET]
    few = [record for record in search_records() if record["seed"] < 9]
    assert verdicts(SEARCH.report(few, Settings())) == [Verdict.NOT_MEASURED]


@pytest.mark.large
@pytest.mark.lab
def test_a_train_beats_the_plain_increase_on_a_network(virtual: Kind, tmp_path: Path) -> None:
    network = random_chain(3, bottleneck_mbps=(8, 12))
    study = replace(SEARCH_STUDY.with_levels(seed=(3,)), testbed=lambda _: network)
    table = run(study, tmp_path)
    assert table.missing == ()
    error, sent = (
        {name: table.lookup(metric, of=name).same for name in SEARCHES}
        for metric in ("error_percent", "sent_megabytes")
    )
    assert 8 * 0.9 < truth_mbps(network) < 12
    assert abs(error[TRAIN]) < 1
    assert abs(error[TRAIN]) < abs(error[INCREASE]) < 15
    assert sent[TRAIN] < sent[INCREASE] / 2


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.usefixtures("virtual", "nothing_left")
def test_fidelity_is_measured_in_full(tmp_path: Path) -> None:
    few = FIDELITY_STUDY.with_levels(machine=("idle",), pings=(5,), link_s=(2,), path_s=(1,), udp_s=(1,))
    table = run(replace(few, repeats=1), tmp_path)
    assert table.missing == ()
    for row in ROWS.values():
        rtts_ms, rates = (table.series(metric, of=row.name)["mean"] for metric in ("rtt_mean_ms", "tcp_mbps"))
        assert list(rtts_ms) == pytest.approx([row.rtt_floor_ms] * 3, abs=0.01)
        assert all(0.4 < rate / row.tcp_ceiling_mbps < 1 for rate in rates)
        assert set(table.series("udp_lost_packets", of=row.name)["mean"]) == {0}
