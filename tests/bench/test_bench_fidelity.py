"""The verdicts on fidelity: met by right records, not met by any that is spoilt, open where records are missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.bench.course import ROWS
from tools.bench.fidelity_report import report
from tools.bench.findings import Verdict, having

from .made import FEW, claim_on, fidelity_records, verdicts


def test_right_records_meet_every_claim() -> None:
    found = report(fidelity_records(), FEW)
    assert verdicts(found) == [Verdict.MET] * 4
    assert "0 of 324000 packets lost, 3 repeats idle and 3 repeats busy" in claim_on(found, "UDP at").numbers
    assert "36 of 36 the same" in claim_on(found, "same three digits").numbers


@pytest.mark.parametrize(
    ("spoilt", "words", "said"),
    [
        ({"rtt_mean_ms": 20.02}, "mean RTT", "largest difference 0.0200 ms"),
        ({"rtt_mean_ms": None, "pings_lost": 26}, "mean RTT", "largest difference"),
        ({"pings_lost": 1}, "mean RTT", "largest difference"),
        ({"tcp_mbps": 37.4}, "TCP on each link", "L1 97."),
        ({"udp_lost_packets": 1}, "UDP at", "1 of 324000 packets lost"),
        ({"udp_sent_mbps": 30.0}, "UDP at", "1 times less was sent than asked for"),
        ({"tcp_mbps": 37.9}, "same three digits", "1 different (L1 TCP)"),
    ],
)
def test_one_spoilt_record_refutes(spoilt: dict[str, float], words: str, said: str) -> None:
    records = fidelity_records()
    records[0] |= spoilt
    assert records[0]["row"] == "L1"
    claim = claim_on(report(records, FEW), words)
    assert claim.verdict is Verdict.NOT_MET
    assert said in claim.numbers


def test_a_rounding_edge_is_named_and_no_difference() -> None:
    records = fidelity_records()
    for number, record in enumerate(having(records, row="L3", round=0)):
        record["tcp_mbps"] = 18.949 if number % 2 else 18.951
    claim = claim_on(report(records, FEW), "same three digits")
    assert claim.verdict is Verdict.MET
    assert claim.numbers == "35 of 36 the same, 1 on a rounding edge (L3 TCP)"


def test_what_is_measured_again_is_compared_with_its_like() -> None:
    records = fidelity_records()
    again = having(records, row="h1-h9", round=1)
    for record in again:
        record["tcp_mbps"] *= 1.02
    assert claim_on(report(records, FEW), "same three digits").verdict is Verdict.MET
    again[0]["tcp_mbps"] *= 1.02
    claim = claim_on(report(records, FEW), "same three digits")
    assert (claim.verdict, claim.numbers) == (Verdict.NOT_MET, "35 of 36 the same, 1 different (h1-h9 TCP again (1))")


def test_records_of_one_load_alone_confirm_nothing() -> None:
    idle = having(fidelity_records(), load="idle")
    assert verdicts(report(idle, FEW)) == [Verdict.NOT_MEASURED] * 4
    idle[0] |= {"udp_lost_packets": 5}
    assert claim_on(report(idle, FEW), "UDP at").verdict is Verdict.NOT_MET


def test_repeats_in_the_same_lab_do_not_count_as_fresh_ones() -> None:
    same = [record for record in fidelity_records() if record["repeat"] == 1]
    assert verdicts(report(same, FEW)) == [Verdict.NOT_MEASURED] * 4


def test_no_records_are_no_failure() -> None:
    found = report([], FEW)
    assert verdicts(found) == [Verdict.NOT_MEASURED] * 4
    assert found.tables == ()


def test_real_time_has_a_table_and_no_verdict() -> None:
    spoilt = [record | {"tcp_mbps": 1.0, "udp_lost_packets": 99} for record in fidelity_records("real")]
    found = report([*fidelity_records(), *spoilt], FEW)
    assert verdicts(found) == [Verdict.MET] * 4
    assert [table.title for table in found.tables] == [
        "On virtual time", "The same three digits, on virtual time", "In real time, for the contrast: no verdict",
    ]  # fmt: skip
    assert all(len(row) == len(table.headings) for table in found.tables for row in table.rows)


def test_an_earlier_run_must_agree_too() -> None:
    same = report(fidelity_records(), replace(FEW, earlier=tuple(fidelity_records())))
    assert claim_on(same, "an earlier run").verdict is Verdict.MET
    changed = [record | {"tcp_mbps": 1.01 * record["tcp_mbps"]} for record in fidelity_records()]
    other = report(fidelity_records(), replace(FEW, earlier=tuple(changed)))
    assert claim_on(other, "an earlier run").verdict is Verdict.NOT_MET
    assert claim_on(other, "in every fresh lab").verdict is Verdict.MET


def test_udps_offered_rate_fills_95_percent_of_the_bottleneck() -> None:
    # 30 Mbit/s of frames of 1514 bytes, of which 1472 are payload
    (row,) = [row for row in ROWS if row.name == "h1-h4"]
    assert row.udp_offered_mbps == pytest.approx(0.95 * 30 * 1472 / 1514)
    assert row.udp_payload_bytes == 1472
    assert [(row.name, row.address) for row in ROWS[:3]] == [("L1", "10.0.1.2"), ("L2", "10.0.3.2"), ("L3", "10.0.6.2")]
    assert [row.rtt_floor_ms for row in ROWS] == [20, 40, 20, 60, 60, 80]
