"""Verdicts on the switches study's findings: they follow the numbers, whichever way these point. And its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.published.switches import CLAIMS, FIGURES, proportional_shares
from linklab.study.page import Picture
from linklab.study.switches.claims import judge_switches
from linklab.study.switches.fairness import OFFERED
from linklab.study.switches.page import COST, page
from linklab.study.switches.rtt import PAYLOADS
from linklab.study.switches.values import FAIRNESS, INTERRUPTS, RTT, THROUGHPUT
from linklab.study.write_page import as_markdown

Row = dict[str, Any]
Tables = dict[str, list[Row]]
KINDS = ("bridge", "ovs", "ovs-user")
WAYS = (("l3-switch", "intra-vlan"), ("l3-switch", "inter-vlan"), ("router-on-a-stick", "inter-vlan"))


def row(metric: str, value: float, of: str = "", **levels: Any) -> Row:
    return {**levels, "repeat": 1, "of": of, "number": None, "metric": metric, "value": value, "unit": "1"}


def tables() -> Tables:
    """As virtual time has them: kinds alike, serialisation, proportion out of step, lock-out in step."""
    rtt, throughput, fairness, interrupts = [], [], [], []
    for switch in KINDS:
        for testbed, communication in WAYS:
            for rate in (10, 100):
                for size in PAYLOADS:
                    levels: dict[str, Any] = {"switch": switch, "testbed": testbed, "communication": communication,
                              "rate_mbps": rate, "payload_bytes": size}  # fmt: skip
                    times = 8 if testbed != "l3-switch" else 4
                    more: dict[str, Any] = {**levels, "background": "idle", "exchanges": 9}
                    rtt.append(row("rtt_mean_ms", times * (size + 66) * 8e-3 / rate, **more))
                    rtt.append(row("rtt_mean_ms", 99.0, **{**more, "background": "loaded"}))
                    throughput.append(row("additional_mbps", rate * (0.2 + size / 24000), **levels))
        for rate in (10, 100):
            for setting in OFFERED:
                parts = tuple(map(float, setting.split("/")))
                for pacing in ("dithered", "exact"):
                    fair = proportional_shares(parts, 0.95 * rate)
                    if pacing == "exact":
                        fair = (0.94 * rate, *[0.01 * rate / (len(parts) - 1)] * (len(parts) - 1))
                    levels = {"switch": switch, "rate_mbps": rate, "offered_percent": setting, "pacing": pacing,
                              "seed": 1}  # fmt: skip
                    fairness += [row("share_mbps", it, f"h{no}", **levels) for no, it in enumerate(fair, 1)]
                    fairness.append(row("bottleneck_mbps", 0.999 * rate, **levels))
    for cards, grows in (("plain", 1e-4), ("throttled", 5e-5), ("ticking", 0.0)):
        for rate in (10, 100):
            for size in PAYLOADS:
                levels = {"cards": cards, "interval_us": 250.0, "rate_mbps": rate, "payload_bytes": size}
                interrupts.append(row("rtt_mean_ms", 0.75 + grows * size, exchanges=9, **levels))
    return {RTT: rtt, THROUGHPUT: throughput, FAIRNESS: fairness, INTERRUPTS: interrupts}


EXPECTED = {
    "switch-cisco-rtt": "not testable here",
    "switch-software-alike-rtt": "confirmed",
    "switch-flat-rtt-intra": "refuted",
    "switch-flat-rtt-inter": "refuted",
    "switch-l3-free": "confirmed",
    "switch-stick-rtt": "confirmed",
    "switch-cisco-throughput": "not testable here",
    "switch-software-alike-throughput": "confirmed",
    "switch-ten-times": "confirmed",
    "switch-stick-full": "not testable here",
    "switch-bottleneck-full": "confirmed",
    "switch-two-proportional": "confirmed",
    "switch-two-fast-unstable": "refuted",
    "switch-three-proportional": "confirmed",
    "switch-cisco-unfair": "not testable here",
}


def verdicts(given: Tables) -> dict[str, str]:
    return {judged.claim.id: judged.verdict for judged in judge_switches(given)}


def test_every_claim_has_a_verdict_and_numbers() -> None:
    assert list(EXPECTED) == [claim.id for claim in CLAIMS]
    assert verdicts(tables()) == EXPECTED
    because = {judged.claim.id: judged.because for judged in judge_switches(tables())}
    assert "0.261 to 0.482 ms" in because["switch-flat-rtt-intra"]
    assert "cards that are ticking: 0.750 to 0.750 ms" in because["switch-flat-rtt-intra"]
    assert "2.00 to 2.00 times as long" in because["switch-stick-rtt"]
    assert "10.00 to 10.00 times" in because["switch-ten-times"]
    assert "296 % off (30/90" in because["switch-cisco-unfair"]


def change(given: Tables, study: str, factor: float, wanted: Callable[[Row], bool]) -> Tables:
    rows = [{**it, "value": it["value"] * factor} if wanted(it) else it for it in given[study]]
    assert rows != given[study]
    return {**given, study: rows}


def idle(it: Row) -> bool:
    return bool(it["background"] == "idle")


@pytest.mark.parametrize(
    ("study", "factor", "wanted", "changed"),
    [
        (RTT, 1.3, lambda it: it["switch"] == "ovs", {"switch-software-alike-rtt": "refuted"}),
        (RTT, 1.3, lambda it: it["switch"] == "ovs-user", {}),
        (RTT, 0.1, lambda it: it["switch"] == "ovs-user" and it["testbed"] == "router-on-a-stick", {}),
        (FAIRNESS, 0.6, lambda it: it["switch"] == "ovs-user" and it["of"] == "h1", {}),
        (RTT, 9.0, lambda it: not idle(it), {}),
        (
            RTT, 1.3, lambda it: idle(it) and (it["testbed"], it["communication"]) == ("l3-switch", "inter-vlan"),
            {"switch-l3-free": "refuted"},
        ),
        (RTT, 0.5, lambda it: it["testbed"] == "router-on-a-stick", {"switch-stick-rtt": "refuted"}),
        (THROUGHPUT, 0.8, lambda it: it["switch"] == "bridge", {"switch-software-alike-throughput": "refuted"}),
        (
            THROUGHPUT, 0.8, lambda it: it["rate_mbps"] == 100, {"switch-ten-times": "refuted"},
        ),
        (
            FAIRNESS, 0.9, lambda it: it["metric"] == "bottleneck_mbps" and it["rate_mbps"] == 10,
            {"switch-bottleneck-full": "refuted"},
        ),
        (
            FAIRNESS, 0.6,
            lambda it: it["of"] == "h1" and it["rate_mbps"] == 10 and it["offered_percent"].count("/") == 1,
            {"switch-two-proportional": "refuted"},
        ),
        (
            FAIRNESS, 0.9, lambda it: it["of"] == "h1" and it["rate_mbps"] == 100,
            {"switch-two-fast-unstable": "confirmed"},
        ),
        (
            FAIRNESS, 0.6, lambda it: it["of"] == "h2" and it["offered_percent"].count("/") == 2,
            {"switch-three-proportional": "refuted"},
        ),
    ],
)  # fmt: skip
def test_other_numbers_give_other_verdicts(
    study: str, factor: float, wanted: Callable[[Row], bool], changed: dict[str, str]
) -> None:
    assert verdicts(change(tables(), study, factor, wanted)) == EXPECTED | changed


@pytest.mark.parametrize(
    ("communication", "claim"), [("intra-vlan", "switch-flat-rtt-intra"), ("inter-vlan", "switch-flat-rtt-inter")]
)
def test_a_flat_round_trip_would_be_confirmed(communication: str, claim: str) -> None:
    given = tables()
    flat = [
        {**it, "value": 0.5} if it["communication"] == communication and it["rate_mbps"] == 100 else it
        for it in given[RTT]
    ]
    assert verdicts({**given, RTT: flat})[claim] == "confirmed"


@pytest.mark.parametrize(
    ("study", "wanted", "says"),
    [
        (RTT, lambda it: it["switch"] == "bridge", "one kind of switch only"),
        (RTT, lambda it: it["payload_bytes"] != 750, "no payload of 750 bytes"),
        (THROUGHPUT, lambda it: it["rate_mbps"] == 100, "one rate only"),
        (FAIRNESS, lambda it: it["pacing"] == "dithered", "the tables lack share_mbps"),
    ],
)
def test_a_table_without_the_runs_gives_no_verdict(study: str, wanted: Callable[[Row], bool], says: str) -> None:
    given = tables()
    with pytest.raises(MeasurementError, match=says):
        judge_switches({**given, study: [it for it in given[study] if wanted(it)]})


def test_the_page_has_every_figure_with_what_the_text_says() -> None:
    cost = [
        row("cpu_us_per_packet", value, switch=switch, communication="intra-vlan", payload_bytes=100, exchanges=9)
        for switch, value in (("none", 100.0), ("bridge", 104.0), ("ovs-user", 260.0))
    ]
    given = tables()
    for it in given[RTT]:
        if (it["switch"], it["rate_mbps"], it["payload_bytes"], it["background"]) == ("ovs-user", 100, 500, "idle"):
            it["value"] += 0.7
    made = page({**given, COST: cost})
    pictures = {part.name: part for chapter in made.chapters for part in chapter.parts if isinstance(part, Picture)}
    assert list(pictures)[:16] == [f"figure-{figure.number}" for figure in FIGURES]
    text = as_markdown(made)
    for words in ("not testable here", "virtual time", "e1000e", "phase effects", "prints no numbers"):
        assert words in text
    assert "| Open vSwitch, user space | intra-vlan | 100 | 260 | 160 |" in text
    assert text.count("Open vSwitch, user space at 500 bytes: the switch's program never rested there") == 3
    for name in ("figure-14", "figure-23", "figure-26", "figure-28", "interrupts"):
        drawn = pictures[name].draw()
        assert drawn.axes
        assert pictures[name].alt_text
