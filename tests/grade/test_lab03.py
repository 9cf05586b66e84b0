"""Lab 03's checks: right answers, wrong ones that look right, and functions that find a bandwidth badly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from linklab.grade import Check, Result
from linklab.labs import lab03
from linklab.measure import Fidelity, Origin, UdpFlow, UdpResult
from linklab.network import COURSE, NetworkState, payload_rate_mbps
from tests.grade.failures import failed_alone

BOTTLENECKS = {"h1-h4": "L2", "h1-h9": "L3", "h7-h9": "L3"}
NOMINAL = {"h1-h4": 30.0, "h1-h9": 20.0, "h7-h9": 20.0}
CEILINGS = {name: rate * 1448 / 1490 for name, rate in NOMINAL.items()}
LOSSES = {"h1-h4 at 100 %": 2.8188, "h1-h4 at 110 %": 11.653, "h1-h9 at 110 %": 11.653}
ANSWERS = {"iperf2_m": 2**20, "report_loss": 7.2817, "extra_packets": 73.0}


def said(result: Result, name: str) -> Check:
    (check,) = [check for check in result.checks if name in check.description]
    return check


def test_right_predictions_pass() -> None:
    assert lab03.check_bottlenecks(BOTTLENECKS).passed
    assert lab03.check_ceilings(CEILINGS).passed
    assert lab03.check_ceilings({"h1-h4": 29.2, "h1-h9": 19.4, "h7-h9": 19.44}).passed
    assert lab03.check_losses(LOSSES).passed
    assert lab03.check_losses({"h1-h4 at 100 %": 2.8, "h1-h4 at 110 %": 11.7, "h1-h9 at 110 %": 11.6}).passed
    assert lab03.check_questions(ANSWERS).passed


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("h1-h4", "L1", "another link of it is slower"),
        ("h1-h4", "L3", "no limited link of this path"),
        ("h1-h9", "L1", "another link of it is slower"),
        ("h1-h9", "L2", "another link of it is slower"),
        ("h7-h9", "L2", "another link of it is slower"),
        ("h7-h9", "L1", "no limited link of this path"),
        ("h7-h9", 20, "no limited link of this path"),
        ("h7-h9", None, "not filled in yet"),
    ],
)
def test_a_wrong_bottleneck(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab03.check_bottlenecks, BOTTLENECKS, name, wrong).reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("h1-h4", 30, "headers included"),
        ("h1-h4", 29.15 / 8, "MByte/s"),
        ("h1-h4", 3.75, "MByte/s, headers included"),
        ("h1-h4", 70, "sum of the links' rates"),
        ("h1-h4", 35, "mean of the links' rates"),
        ("h1-h4", 38.87, "for a link of 40"),
        ("h1-h4", 30 * 1448 / 1514, "payload of TCP"),
        ("h1-h4", 30 * 1490 / 1448, "more than the link carries"),
        ("h1-h9", 20, "headers included"),
        ("h1-h9", 90, "sum of the links' rates"),
        ("h1-h9", 29.15, "for a link of 30"),
        ("h7-h9", 20, "headers included"),
        ("h7-h9", 48.6, "sum of the links' rates"),
        ("h7-h9", 25, "mean of the links' rates"),
        ("h7-h9", "19.4", "is a text"),
    ],
)
def test_a_wrong_bandwidth_is_named(name: str, wrong: object, says: str) -> None:
    failed = failed_alone(lab03.check_ceilings, CEILINGS, name, wrong)
    assert says in failed.reason
    assert f"{CEILINGS[name]:.2f}" not in failed.reason + failed.hint


@pytest.mark.parametrize(
    ("key", "wrong", "says"),
    [
        ("h1-h4 at 100 %", 0, "headers too"),
        ("h1-h4 at 100 %", 0.0282, "share of 1"),
        ("h1-h4 at 100 %", 0.8456, "in Mbit/s"),
        ("h1-h4 at 100 %", 2.9006, "share of what fits"),
        ("h1-h4 at 100 %", 97.18, "what arrives"),
        ("h1-h4 at 110 %", 9.09, "leaves out the headers"),
        ("h1-h4 at 110 %", 10, "share of the link's rate"),
        ("h1-h4 at 110 %", 13.19, "share of what fits"),
        ("h1-h9 at 110 %", 9.09, "leaves out the headers"),
        ("h1-h9 at 110 %", 2.564, "in Mbit/s"),
        ("h1-h9 at 110 %", None, "not filled in yet"),
    ],
)
def test_a_wrong_loss_is_named(key: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab03.check_losses, LOSSES, key, wrong).reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("iperf2_m", 1_000_000, "would have given 25"),
        ("iperf2_m", 1_024_000, "would have given 25.6"),
        ("iperf2_m", 1024, "that is a K"),
        ("iperf2_m", 1.048576, "ratio to a million"),
        ("report_loss", 4.632, "leaves out the headers"),
        ("report_loss", 2.778, "M for a million"),
        ("report_loss", 7.8535, "share of what fits"),
        ("report_loss", 0.0728, "share of 1"),
        ("report_loss", 7, "less than theory"),
        ("extra_packets", 584, "eight times too much"),
        ("extra_packets", 2590, "all that was sent"),
        ("extra_packets", 2517, "what L2 carries"),
        ("extra_packets", None, "not filled in yet"),
    ],
)
def test_a_wrong_answer_is_named(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab03.check_questions, ANSWERS, name, wrong).reason


@pytest.mark.parametrize(
    "check",
    [lab03.check_bottlenecks, lab03.check_ceilings, lab03.check_losses, lab03.check_overload, lab03.check_chosen],
)
def test_what_is_no_dictionary_is_told_so(check: Callable[[object], Result]) -> None:
    (only,) = check([1, 2, 3]).checks
    assert only.reason == "this is a list"
    assert "write it as" in only.hint


def measured(
    name: str,
    rate_mbps: float,
    lost_percent: float,
    clock: str = "virtual",
    network: NetworkState | None = None,
    fidelity: Fidelity | None = None,
) -> UdpResult:
    source, destination = name.split("-")
    sent = round(rate_mbps * 1e6 * 3 / 8 / 1448)
    received = round(sent * (1 - lost_percent / 100))
    return UdpResult(
        UdpFlow(source, destination, rate_mbps, 3), Origin("iperf 3.12", clock, "7.3.4", network),
        received * 1448 * 8e-6 / 3.08, rate_mbps, 3.08, sent, received, 0, 0.5, (), (), fidelity=fidelity,
    )  # fmt: skip


OVERLOAD = {name: measured(name, 1.1 * rate, 11.3) for name, rate in NOMINAL.items()}
ARRIVED = {name: result.throughput_mbps for name, result in OVERLOAD.items()}
CHOSEN = {name: measured(name, 0.99 * rate, 0) for name, rate in CEILINGS.items()}


def test_right_measurements_pass() -> None:
    assert lab03.check_overload(OVERLOAD).passed
    assert lab03.check_bandwidth(ARRIVED, OVERLOAD).passed
    assert lab03.check_chosen(CHOSEN).passed


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (measured("h1-h9", 22, 11.4), "sent from h1 to h9"),
        (measured("h1-h4", 30, 2.5), "sent at 30 Mbit/s"),
        (measured("h1-h4", 33, 2.0), "less than theory allows"),
        (measured("h1-h4", 33, 31.0), "more than theory allows"),
        (33.0, "this is a float"),
        (None, "not measured yet"),
    ],
)
def test_a_wrong_overload_is_named(wrong: object, says: str) -> None:
    assert says in failed_alone(lab03.check_overload, OVERLOAD, "h1-h4", wrong).reason


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (33, "the rate that you sent at"),
        (70, "sum of the links' rates"),
        (ARRIVED["h1-h4"] / 8, "MByte/s"),
        (ARRIVED["h1-h4"] * 1e6, "bit/s"),
        (33 - ARRIVED["h1-h4"], "what was lost"),
        (None, "not filled in yet"),
        (20, "less than"),
    ],
)
def test_a_wrong_reading_of_the_bandwidth_is_named(wrong: object, says: str) -> None:
    def check(answers: object) -> Result:
        return lab03.check_bandwidth(answers, OVERLOAD)

    assert says in failed_alone(check, ARRIVED, "h1-h4", wrong).reason


def test_a_bandwidth_without_its_measurement_is_not_believed() -> None:
    result = lab03.check_bandwidth(ARRIVED, {"h1-h4": OVERLOAD["h1-h4"]})
    assert [check.outcome for check in result.checks] == ["passed", "failed", "failed"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (measured("h1-h4", 30, 0.4), "more than the path carries"),
        (measured("h1-h4", 29.3, 0), "more than the path carries"),
        (measured("h1-h4", 25, 0), "86 %"),
        (measured("h1-h4", 29, 0.1), "packets lost"),
        (measured("h7-h9", 19, 0), "sent from h7"),
        (None, "not measured yet"),
    ],
)
def test_a_bad_choice_is_named(wrong: object, says: str) -> None:
    assert says in failed_alone(lab03.check_chosen, CHOSEN, "h1-h4", wrong).reason


def test_what_was_read_back_counts_and_not_the_plan() -> None:
    """A link that somebody changed: theory changes with it."""
    from linklab.network import expected_state
    from tests.states import change

    state = expected_state(COURSE)
    interface = state.interface("r2", "r2-eth2")
    assert interface is not None
    slower = change(state, "r2-eth2", shape=replace(interface.shape, rate_mbps=15))
    right = 100 * (1 - payload_rate_mbps(15) / 33)
    assert said(lab03.check_overload({"h1-h4": measured("h1-h4", 33, right, network=slower)}), "h1-h4").passed
    assert not said(lab03.check_overload({"h1-h4": measured("h1-h4", 33, 11.4, network=slower)}), "h1-h4").passed


def test_in_real_time_too_much_loss_is_inconclusive() -> None:
    """Of these nothing was noted of the machine, so nothing can be said for it."""
    unseen = measured("h1-h4", 33, 31.0, clock="real")
    assert said(lab03.check_overload({**OVERLOAD, "h1-h4": unseen}), "h1-h4").outcome == "inconclusive"
    unseen = measured("h1-h4", 29, 3.0, clock="real")
    assert said(lab03.check_chosen({**CHOSEN, "h1-h4": unseen}), "h1-h4").outcome == "inconclusive"
