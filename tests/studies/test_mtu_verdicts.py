"""Verdicts on the MTU study's findings: a repeat at a time, and open where chance leaves both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.published.mtu import CLAIMS
from linklab.study.claims import judged
from linklab.study.table import Table
from studies.mtu.claims import JUDGES

from .measured import PRINTED, changed, on, repeated, short

REPRODUCED, NOT, OPEN, DECIDED = "reproduced", "not reproduced", "open", "decided by construction"
PAPERS = {"sending": "paced", "switch": "openflow", "form": "direct"}
"""The setting that is nearest to the paper's."""


def verdicts(table: Table) -> dict[str, str]:
    printed = {"mtu": PRINTED["mtu"]}
    return {it.claim.id: it.verdict for it in judged(CLAIMS, JUDGES, {"mtu": table}, printed=printed)}


EXPECTED = {
    "mtu-first-packets": NOT,
    "mtu-settles": REPRODUCED,
    "mtu-start-below": REPRODUCED,
    "mtu-bandwidth-size": REPRODUCED,
    "mtu-jitter-size": NOT,
    "mtu-jitter-start": REPRODUCED,
    "mtu-over-capacity": DECIDED,
    "mtu-light-load": REPRODUCED,
    "mtu-bandwidth-near": REPRODUCED,
    "mtu-real-less": REPRODUCED,
    "mtu-jitter-real": REPRODUCED,
}


def test_each_claim_has_a_verdict_in_the_papers_setting() -> None:
    assert verdicts(short("mtu")) == EXPECTED
    assert list(EXPECTED) == [claim.id for claim in CLAIMS]


def test_a_claim_about_hardware_is_judged_by_the_papers_own_numbers_and_says_so() -> None:
    found = {it.claim.id: it for it in judged(CLAIMS, JUDGES, {"mtu": short("mtu")}, printed={"mtu": PRINTED["mtu"]})}
    for claim in CLAIMS:
        if claim.about == "hardware":
            assert found[claim.id].because.startswith("by the paper's own hardware numbers: 2 of 2 repeats")


def test_reasons_say_where_other_senders_and_switches_differ() -> None:
    told = on("mtu-first-packets", short("mtu")).because
    assert told.startswith(
        "paced, openflow, direct: 2 of 4 runs, alike with every seed, at most 1.251 times the link's "
    )
    assert "greedy, bridge, direct: 4 of 4 runs" in told
    assert "paced, bridge, direct: 0 of 4 runs" in told


def chance(factors: list[float], *metrics: str, **levels: Any) -> Table:
    """Repeats whose metrics are those of the first one, each times a factor of its own."""
    table = repeated(short("mtu"), len(factors))
    for repeat, factor in enumerate(factors, 1):
        for metric in metrics:
            table = changed(table, factor, metric=metric, repeat=repeat, **levels)
    return table


def test_the_largest_jitter_is_at_the_start_in_each_repeat_whatever_the_others_have() -> None:
    """The least of several repeats at a packet never reaches the largest of any of them, wherever that is."""
    table = chance([1 + it / 10 for it in range(10)], "jitter_ms", "jitter_max_ms")
    found = on("mtu-jitter-start", table)
    assert found.verdict == REPRODUCED
    assert "10 of 10 repeats (95 % interval 69 to 100 %)" in found.because
    later = changed(table, 2, metric="jitter_ms", number=50)
    assert on("mtu-jitter-start", later).verdict == REPRODUCED, "packet 50 is no later than it was"
    elsewhere = changed(table, 1.5, metric="jitter_max_ms", frame_bytes=7999, rates="100/10")
    assert on("mtu-jitter-start", elsewhere).verdict == NOT


@pytest.mark.parametrize(("fast", "verdict"), [(1, NOT), (10, OPEN), (19, REPRODUCED)])
def test_what_the_first_packets_usually_get_is_a_share_of_runs_and_may_be_open(fast: int, verdict: str) -> None:
    """Twenty runs: ten repeats of two sizes. The least of a run's repeats says nothing of how often it happens."""
    table = repeated(short("mtu"), 10)
    settings = [(size, repeat) for size in (1518, 7999) for repeat in range(1, 11)]
    frame = table.frame.copy()
    for number, (size, repeat) in enumerate(settings):
        chosen = frame["metric"].eq("bandwidth_max_mbps") & frame["frame_bytes"].eq(size) & frame["repeat"].eq(repeat)
        frame.loc[chosen & frame["switch"].eq("openflow"), "value"] = 10 + 5 * (number < fast) + repeat / 1000
    found = on("mtu-first-packets", replace(table, frame=frame))
    assert found.verdict == verdict
    assert f"{fast} of 20 runs (95 % interval" in found.because


@pytest.mark.parametrize(("repeats", "verdict"), [(range(1, 10), NOT), (range(1, 6), OPEN), (range(1, 2), REPRODUCED)])
def test_one_repeat_does_not_decide_for_the_others(repeats: range, verdict: str) -> None:
    table = repeated(short("mtu"), 10)
    for repeat in repeats:
        table = changed(table, 0.5, metric="bandwidth_settled_mbps", repeat=repeat, rates="10/10", **PAPERS)
    assert on("mtu-settles", table).verdict == verdict


def test_sizes_are_compared_within_a_repeat() -> None:
    """All sizes vary together from repeat to repeat: between sizes there is no difference."""
    table = chance([1 + it / 50 for it in range(10)], "bandwidth_settled_mbps", **PAPERS)
    assert on("mtu-bandwidth-size", table).verdict == REPRODUCED


@pytest.mark.slow
def test_how_many_packets_we_send_does_not_decide_on_jitter() -> None:
    """A late first packet, divided by the number of packets, is above or below any threshold as one likes."""
    few = changed(short("mtu"), 10, metric="jitter_mean_ms", frame_bytes=1518)
    assert on("mtu-jitter-size", few).verdict == NOT
    late = changed(short("mtu"), 2, metric="jitter_ms", frame_bytes=1518)
    assert on("mtu-jitter-size", late).verdict == REPRODUCED


def test_how_many_packets_we_send_does_not_decide_beside_hardware() -> None:
    """The wait for a controller is part of a mean over all packets, the less the more packets are sent."""
    assert verdicts(changed(short("mtu"), 0.8, metric="bandwidth_mean_mbps")) == EXPECTED


def test_what_the_study_says_of_real_networks_is_not_judged_by_ours() -> None:
    """The sentence at the end of IV.3 compares Mininet with a real network's capacity, and not with its link's."""
    (claim,) = (it for it in CLAIMS if it.id == "mtu-over-capacity")
    assert "real network" in claim.says
    assert "more than a cable carries" in on(claim.id, short("mtu")).because


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"frame_bytes": 1}, "has no run with form="),
        ({"frame_bytes": 1518}, "one size of frames only"),
        ({"rates": "100/10"}, "no traffic that fills its link"),
    ],
)
def test_a_table_without_the_runs_gives_no_verdict(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        verdicts(short("mtu").select(**settings))
