"""The course report's numbers: all there, found by name, and the sentences beside them agree with the numbers."""

from __future__ import annotations

import re

import pytest

from linklab.errors import MeasurementError
from linklab.network import COURSE, goodput_ceiling_mbps, path, rtt_floor_ms
from linklab.published.report import FAIRNESS, INCONSISTENCIES, ROWS, ReportedFairness, ReportRow, find, rows

MEBI = 1048576 / 1e6


def throughputs(case: int, test: int) -> list[float]:
    return [row.value for row in rows(case, test) if row.quantity == "throughput_mbps"]


def test_the_five_tables_are_complete() -> None:
    assert [len(rows(case)) for case in range(1, 6)] == [3, 6, 6, 18, 4]
    assert len(ROWS) == 37
    assert sum(row.value for row in ROWS if row.quantity == "rtt_ms") == pytest.approx(
        21.855 + 44.678 + 22.815 + 69.606 + 69.404 + 92.323
        + 96.784 + 97.071 + 101.251 + 102.070 + 104.231 + 98.571 + 99.721 + 85.571 + 38.819
    )  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.case}.{row.test}-{row.name}-{row.quantity}")
def test_each_row_names_two_nodes_of_the_course_network(row: ReportRow) -> None:
    assert path(COURSE, row.source, row.destination)
    assert row.unit in ("ms", "Mbit/s")


SHOWN = tuple(row for row in ROWS if row.case in (2, 3))
"""Whose explanations labs 04 and 05 show."""


def test_an_explanation_that_nobody_sees_is_not_there() -> None:
    assert [row for row in ROWS if row.differs] == list(SHOWN)


@pytest.mark.parametrize("row", SHOWN, ids=lambda row: f"{row.case}.{row.test}-{row.name}-{row.quantity}")
def test_a_row_says_in_one_sentence_why_another_measurement_differs(row: ReportRow) -> None:
    assert row.differs.endswith(".")
    assert not re.search(r"[.?!] [A-Z]", row.differs)
    assert len(row.differs) < 260


def test_a_cause_that_does_not_follow_from_the_numbers_is_called_probable() -> None:
    blamed = re.compile(r"timer|machine|two segments|seconds apart|by chance")
    for row in ROWS:
        if blamed.search(row.differs) and "machine nor" not in row.differs and "machine, loaded" not in row.differs:
            assert "probabl" in row.differs, row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.case}.{row.test}-{row.name}-{row.quantity}")
def test_a_typed_sentence_says_nothing_of_our_own_measurements(row: ReportRow) -> None:
    assert not re.search(r"\b(ours?|both (are|lie)|virtual time|in both)\b", row.differs, re.IGNORECASE)


def test_rows_are_found_by_name() -> None:
    assert find(2, "L1", "rtt_ms").value == 21.855
    assert find(3, "h1-h4", "rtt_ms").value == 69.606
    assert find(4, "h1-h4", "throughput_mbps", test=4).value == 28.39
    assert find(5, "h1-h4", "throughput_mbps", connection=2).value == 7.88
    assert find(5, "h2-h5", "throughput_mbps").value == 7.48


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((3, "h1-h5", "rtt_ms"), "has no rtt_ms of h1-h5 in test case 3: it has rtt_ms of h1-h4"),
        ((1, "h1-h4", "rtt_ms"), "it has throughput_mbps of h1-h4"),
        ((4, "h1-h4", "rtt_ms"), "has 4 numbers for rtt_ms of h1-h4 in test case 4: give test="),
        ((5, "h1-h4", "throughput_mbps"), "give test= or connection="),
        ((6, "h1-h4", "rtt_ms"), "no such test"),
    ],
)
def test_what_is_not_there_or_not_unique_is_refused(arguments: tuple[int, str, str], says: str) -> None:
    with pytest.raises(MeasurementError, match=re.escape(says)):
        find(*arguments)  # type: ignore[arg-type]


def test_udp_rates_are_what_iperf_sends_for_whole_numbers_of_m() -> None:
    assert round(25 * MEBI, 1) == find(1, "h1-h4", "throughput_mbps").value
    assert round(16 * MEBI, 1) == find(1, "h1-h9", "throughput_mbps").value
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
        name: find(2 if name[0] == "L" else 3, name, "rtt_ms").value - rtt_floor_ms(path(COURSE, *ends))
        for name, ends in {
            "L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4"),
            "h1-h4": ("h1", "h4"), "h7-h9": ("h7", "h9"), "h1-h9": ("h1", "h9"),
        }.items()
    }  # fmt: skip
    assert (excess["L1"] + excess["L2"]) / excess["h1-h4"] == pytest.approx(0.68, abs=0.01)
    assert (excess["L2"] + excess["L3"]) == pytest.approx(7.5, abs=0.05)
    assert (excess["L1"] + excess["L2"] + excess["L3"]) / excess["h1-h9"] == pytest.approx(0.76, abs=0.01)


@pytest.mark.parametrize("fairness", FAIRNESS, ids=lambda it: f"{it.case}.{it.test}")
def test_jain_s_index_is_that_of_the_table(fairness: ReportedFairness) -> None:
    it = fairness
    values = throughputs(it.case, it.test)
    index = sum(values) ** 2 / (len(values) * sum(value**2 for value in values))
    assert it.recomputed == pytest.approx(index, abs=5e-5)
    agrees = abs(it.value - index) < 0.005
    assert agrees == (it.remark != FAIRNESS[3].remark)


def test_contradictions_are_named() -> None:
    text = " ".join(it.what for it in INCONSISTENCIES)
    for number in ("21.855", "21.885", "16.78", "29.79", "29.22", "0.99"):
        assert number in text
