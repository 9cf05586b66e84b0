"""Lab 13's checks on answers: right ones however they are written, and wrong ones that look right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from linklab import start
from linklab.course import using
from linklab.labs.lab13 import figures, trying
from linklab.labs.lab13 import rules as lab13
from linklab.measure import Origin, QueueCounters, TcpFlow, TcpResult
from linklab.network import Network, expected_state
from linklab.network.variants import variants

from .refused import Table, refused


def rto(rtts_s: Sequence[float]) -> list[float]:
    srtt, var, found = rtts_s[0], rtts_s[0] / 2, []
    for number, rtt in enumerate(rtts_s):
        if number:
            var += (abs(rtt - srtt) - var) / 4
            srtt += (rtt - srtt) / 8
        found.append(srtt + max(4 * var, 1e-3))
    return found


NUMBERS = {"fills": 11, "go-back-N": 7, "selective repeat": 4}
SHARES = {"go-back-N": 82.5, "selective repeat": 98}
AGAIN = {"go-back-N": 11, "selective repeat": 1}


def ping(sent: int, received: int, to: str = "10.0.3.2") -> str:
    lost = 100 * (sent - received) / sent
    return (
        f"PING {to} ({to}) 56(84) bytes of data.\n\n--- {to} ping statistics ---\n"
        f"{sent} packets transmitted, {received} received, {lost:g}% packet loss, time 7980ms\n"
    )


WRONG: Table = {
    lab13.check_rto: [
        (lambda rtts: rto(sorted(rtts)), "it gives"),
        (lambda rtts: [max(0.2, it) for it in rto(rtts)], "it gives"),
    ],
    lab13.check_again: [
        (AGAIN | {"selective repeat": 0}, "that is none"),
    ],
    lab13.check_netem: [
        (ping(2000, 2000), "nothing was lost"),
        (ping(2000, 1805), "too much"),  # in both directions
        (ping(2000, 1950), "too little"),  # half of it
        (ping(2000, 1999), "too little"),  # a share of 1 for percent
        (ping(400, 380), "say little"),
        (ping(2000, 1896).replace("5.2%", "4.2%"), "the text says 4.2 %"),
        (ping(2000, 1900, "10.0.1.1"), "10.0.1.1"),
        ("5 % packet loss", "not the output of ping"),
    ],
}


test_what_is_wrong_is_refused_and_named = refused(WRONG)


def test_right_answers_pass_however_they_are_written_and_rounded() -> None:
    assert lab13.check_rto(rto).passed
    assert lab13.check_numbers({"fills": 11, "go-back-N": 7.0, "selective repeat": 4}).passed
    for again in (AGAIN, {"selective repeat": 1.0, "go-back-N": 38 - 27}):
        assert lab13.check_again(again).passed
    for shares in (SHARES, {"go-back-N": 82.521, "selective repeat": 98.0}):
        assert lab13.check_shares(shares).passed
    for received in (1862, 1900, 1938):  # what chance gives
        assert lab13.check_netem(ping(2000, received)).passed


# --- On students' own networks


CLASS = variants([f"student {number}" for number in range(60)], b"a course secret for trials")
EACH = {(it.link("L3").rate_mbps, it.link("L3").delay_ms): it for it in CLASS.values()}


def _asks_by_hand() -> tuple[float, dict[str, float], dict[str, float]]:
    """A share, windows and shares with loss, as a student computes them."""
    near = lab13.the_network().link("near")
    packet_ms, trip_ms = 1066 * 8 / (1000 * (near.rate_mbps or 0)), 2 * near.delay_ms
    share = 100 * packet_ms / (packet_ms + trip_ms)
    numbers: dict[str, float] = {"fills": math.ceil(100 / share), "go-back-N": 7, "selective repeat": 4}
    return share, numbers, {"go-back-N": 98 / (1 + 0.02 * trip_ms / packet_ms), "selective repeat": 98}


@pytest.mark.parametrize("network", EACH.values(), ids=[f"{rate:g}-{delay:g}" for rate, delay in EACH])
def test_what_is_asked_follows_the_student_s_network(network: Network) -> None:
    with using(network):
        share, numbers, shares = _asks_by_hand()
        (question,) = lab13.PREDICTIONS.asked("share")  # type: ignore[misc]  # it asks for no sketch
        assert question.expected.value == pytest.approx(share)
        assert lab13.check_numbers(numbers).passed
        assert not lab13.check_numbers(numbers | {"fills": numbers["fills"] - 1}).passed
        assert lab13.check_shares({key: float(f"{it:.4g}") for key, it in shares.items()}).passed
        assert lab13.check_again(AGAIN | {"go-back-N": numbers["fills"]}).passed
        percent, receiver = lab13.loss_percent(), lab13.the_network().address_of("receiver")
        assert lab13.check_netem(ping(2000, round(2000 - 20 * percent), receiver)).passed
        assert not lab13.check_netem(ping(2000, round(2000 - 30 * percent), receiver)).passed
        assert "ping the receiver" in str(lab13.check_netem(ping(2000, 1900)))
        assert f"loss {percent:g}% of netem" in str(lab13.check_netem(ping(2000, 2000, receiver)))


def test_links_lose_4_to_6_percent() -> None:
    found = set()
    for network in EACH.values():
        with using(network):
            found.add(lab13.loss_percent())
    assert len(found) > 3
    assert found <= {4, 4.5, 5, 5.5, 6}
    assert lab13.loss_percent() == 5


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
@pytest.mark.parametrize("network", [*EACH.values()][:2], ids=["one", "another"])
def test_what_is_recorded_is_what_the_check_takes_for_right(network: Network) -> None:
    with using(network), start(lab13.the_network()) as lab:
        played = trying.both_kinds(lab)
        to_send = max(int(hop.head[49:51]) for hop in played["go-back-N"].of("sender-eth1"))
        again = {kind: len(recording.of("sender-eth1")) - to_send for kind, recording in played.items()}
        assert lab13.check_again(again).passed, again
        assert [sum(hop.lost for hop in recording.hops) for recording in played.values()] == [1, 1]


# --- Figures


def test_before_anything_is_sent_the_figures_say_so() -> None:
    assert isinstance(figures.ladder(None), str)
    assert isinstance(figures.shares_figure({1: None}), str)


# --- A share below theory, and the claim

LATE = {"go-back-N": 69.8, "selective repeat": 96, "lower": "c"}


def sent(rate_mbps: float, network: Network | None = None, address: str = "10.0.1.2") -> TcpResult:
    flow = TcpFlow("sender", "relay", duration_s=10, address=address)
    origin = Origin("t", "7", network=expected_state(network or lab13.the_network()))
    return TcpResult(flow, origin, rate_mbps, 1, 10, 0, "cubic", (), ())


def beside_another(found: TcpResult) -> TcpResult:
    """The transfer, if another one got as much at the same time."""
    both = QueueCounters("sender", "sender-eth1", 1700, 2 * 1_241_600, 0, 0, 0)
    return replace(found, origin=replace(found.origin, queues=(both,)))


def queued_after(found: TcpResult) -> TcpResult:
    """The transfer, if the queue still held three seconds of it when it ended."""
    counted = QueueCounters("sender", "sender-eth1", 2100, 3_250_000, 0, 0, 0)
    return replace(found, origin=replace(found.origin, queues=(counted,)))


def delayed(**changes: float) -> Network:
    network = lab13.the_network()
    links = tuple(link.reshaped(**changes) if link.label == "near" else link for link in network.links)
    return replace(network, links=links)


def test_right_answers_on_timeouts_and_the_claim_pass() -> None:
    assert lab13.check_late(LATE).passed
    for rate_mbps in (0.44, 1.31):
        assert lab13.check_claim(1, sent(rate_mbps)).passed


test_wrong_ones_are_refused_and_named = refused(
    {
        lab13.check_late: [
            (LATE | {"go-back-N": 96}, "that is selective repeat's"),
            (LATE | {"go-back-N": 82.5}, "too much"),
            (LATE | {"selective repeat": 98}, "too much"),
            (LATE | {"lower": "b"}, "four packets in a hundred"),
            (LATE | {"lower": "d"}, "smaller than 32"),
        ],
        lab13.check_claim: [
            (2, sent(0.44), "a zero window is probed"),
            (None, sent(0.44), "not answered yet"),
            (1, None, "not measured yet"),
            (1, sent(1.875), "1.88 of 2 Mbit/s"),
            (1, queued_after(sent(1.875)), "1.88 of 2 Mbit/s"),
            (1, beside_another(sent(0.95)), "others sent too"),
            (1, sent(0.44, address="10.0.2.2"), "another link"),
            (1, sent(0.44, delayed(delay_ms=200)), "delay_ms=200"),
            (1, sent(0.44, delayed(rate_mbps=0.5)), "rate_mbps=0.5"),
            (1, sent(0.44, delayed(loss_percent=5)), "loss_percent=5"),
            (1, replace(sent(0.44), flow=TcpFlow("relay", "sender", address="10.0.1.1")), "opposite direction"),
            (1, replace(sent(0.44), interrupted=True), "stopped before its end"),
        ],
    }
)
