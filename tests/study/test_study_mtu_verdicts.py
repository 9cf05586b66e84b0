"""Verdicts on the MTU study's findings: each comes out both ways, by tables that were measured."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.published.mtu import CLAIMS
from linklab.study.claims import judged
from linklab.study.mtu.claims import JUDGES
from linklab.study.table import Table

from .measured import changed, on, real_mtu, short, twice

REPRODUCED, NOT, UNKNOWN = "reproduced", "not reproduced", "not testable here"


def verdicts(table: Table, hardware: Table | None = None, *, partial: bool = False) -> dict[str, str]:
    beside = {"mtu": hardware} if hardware is not None else None
    return {it.claim.id: it.verdict for it in judged(CLAIMS, JUDGES, {"mtu": table}, beside, partial=partial)}


EXPECTED = {
    "mtu-first-packets": NOT,
    "mtu-settles": REPRODUCED,
    "mtu-start-below": REPRODUCED,
    "mtu-bandwidth-size": REPRODUCED,
    "mtu-jitter-size": NOT,
    "mtu-jitter-start": REPRODUCED,
    "mtu-over-capacity": REPRODUCED,
    "mtu-light-load": UNKNOWN,
    "mtu-bandwidth-near": UNKNOWN,
    "mtu-real-less": UNKNOWN,
    "mtu-jitter-real": UNKNOWN,
}


def test_each_claim_has_a_verdict_in_the_papers_setting() -> None:
    assert verdicts(short("mtu")) == EXPECTED
    assert list(EXPECTED) == [claim.id for claim in CLAIMS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "claim", "verdict"),
    [
        # the paper sends each packet when its time has come (III.B); what a greedy sender does is another matter
        ({"frame_bytes": 7999}, "mtu-first-packets", REPRODUCED),
        ({"sending": "greedy", "switch": "bridge"}, "mtu-first-packets", REPRODUCED),
        ({"switch": "bridge"}, "mtu-first-packets", NOT),
        ({"form": "cable"}, "mtu-first-packets", NOT),
        ({"form": "gre"}, "mtu-settles", NOT),
        ({"switch": "bridge"}, "mtu-start-below", NOT),
        ({"form": "gre"}, "mtu-bandwidth-size", NOT),
        ({"sending": "greedy", "switch": "bridge"}, "mtu-jitter-size", REPRODUCED),
        ({"switch": "bridge"}, "mtu-jitter-start", NOT),
        ({"form": "cable"}, "mtu-over-capacity", NOT),
        ({"form": "gre"}, "mtu-over-capacity", NOT),
    ],
)
def test_another_testbed_gives_another_verdict(settings: dict[str, Any], claim: str, verdict: str) -> None:
    assert on(claim, short("mtu").select(**settings), partial=True).verdict == verdict


def test_reasons_say_where_other_senders_and_switches_differ() -> None:
    told = on("mtu-first-packets", short("mtu")).because
    assert told.startswith("paced, openflow, direct: 1 of 2 full runs, at most 12.5 Mbit/s with 7999 bytes at 10/10; ")
    assert "greedy, bridge, direct: 2 of 2 full runs" in told
    assert "paced, bridge, direct: 0 of 2 full runs" in told


@pytest.mark.slow
@pytest.mark.parametrize("repeat", [1, 2])
def test_every_repeat_counts(repeat: int) -> None:
    table = twice(short("mtu"))
    assert verdicts(table) == EXPECTED
    half = changed(
        table, 0.5, metric="bandwidth_settled_mbps", sending="paced", switch="openflow", rates="10/10", repeat=repeat
    )
    assert on("mtu-settles", half).verdict == NOT
    assert "49.97 % off at most" in on("mtu-settles", half).because


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "hardware", "verdict"),
    [
        ("mtu-light-load", real_mtu(), REPRODUCED),
        ("mtu-light-load", short("mtu").select(form="direct", sending="paced", switch="openflow"), NOT),
        ("mtu-bandwidth-near", real_mtu(), REPRODUCED),
        ("mtu-bandwidth-near", changed(real_mtu(), 0.9, metric="bandwidth_mean_mbps"), NOT),
        ("mtu-real-less", real_mtu(), REPRODUCED),
        ("mtu-real-less", short("mtu").select(form="direct", sending="paced", switch="openflow"), NOT),
        ("mtu-jitter-real", real_mtu(), REPRODUCED),
        ("mtu-jitter-real", short("mtu").select(form="direct", sending="paced", switch="bridge"), NOT),
    ],
)
def test_a_claim_about_hardware_is_judged_by_hardwares_numbers(claim: str, hardware: Table, verdict: str) -> None:
    assert on(claim, short("mtu"), hardware).verdict == verdict


@pytest.mark.slow
def test_how_many_packets_we_send_does_not_decide_on_jitter() -> None:
    """A late first packet, divided by the number of packets, is above or below any threshold as one likes."""
    few = changed(short("mtu"), 10, metric="jitter_mean_ms", frame_bytes=1518)
    assert on("mtu-jitter-size", few).verdict == NOT
    late = changed(short("mtu"), 2, metric="jitter_ms", frame_bytes=1518)
    assert on("mtu-jitter-size", late).verdict == REPRODUCED
    assert " ms between sizes at most, of all by " in on("mtu-jitter-size", few).because


def test_what_the_study_says_of_real_networks_is_not_judged_by_ours() -> None:
    """S1: the sentence at the end of IV.3 compares Mininet with a real network's capacity, and not with its link's."""
    (claim,) = (it for it in CLAIMS if it.id == "mtu-over-capacity")
    assert "real network" in claim.says
    assert "where a cable carries" in on(claim.id, short("mtu")).because


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
