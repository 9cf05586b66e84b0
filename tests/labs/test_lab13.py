"""Lab 13's checks on answers: right ones however they are written, and wrong ones that look right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from linklab.course import using
from linklab.grade import Result
from linklab.labs.lab13 import figures, rules
from linklab.labs.lab13 import rules as lab13
from linklab.network import Network
from linklab.network.variants import variants

from .written import unnamed_slips

# --- The timeout


def rto(rtts_s: Sequence[float]) -> list[float]:
    srtt, var, found = rtts_s[0], rtts_s[0] / 2, []
    for number, rtt in enumerate(rtts_s):
        if number:
            var += (abs(rtt - srtt) - var) / 4
            srtt += (rtt - srtt) / 8
        found.append(srtt + max(4 * var, 1e-3))
    return found


def with_numpy(rtts_s: list[float]) -> Any:
    return np.array(rto(rtts_s))


def lazily(rtts_s: list[float]) -> Any:
    yield from rto(rtts_s)


@pytest.mark.parametrize("written", [rto, with_numpy, lazily])
def test_a_right_function_passes_however_it_is_written(written: Callable[..., Any]) -> None:
    assert lab13.check_rto(written).passed


def test_each_slip_of_the_timeout_is_named() -> None:
    assert unnamed_slips(lab13.check_rto, rules._TIMEOUT) == []


@pytest.mark.parametrize(
    "wrong",
    [
        lambda rtts: rto(rtts)[-1],  # the last one alone
        lambda rtts: rto([0.0, *rtts])[1:],  # begins with nothing
        lambda rtts: [1000 * it for it in rto(rtts)],  # in ms
        lambda rtts: rto(sorted(rtts)),
        lambda rtts: [max(0.2, it) for it in rto(rtts)],  # Linux's minimum
    ],
)
def test_a_function_that_looks_right_fails(wrong: Callable[..., Any]) -> None:
    assert lab13.check_rto(wrong).outcome == "failed"


# --- Numbers


def _reasons(result: Result) -> list[str]:
    return [check.reason for check in result.checks if not check.passed]


def test_the_right_numbers_pass_however_they_are_rounded() -> None:
    assert lab13.check_numbers({"fills": 11, "go-back-N": 7.0, "selective repeat": 4}).passed
    assert lab13.check_shares({"go-back-N": 82.5, "selective repeat": 98}).passed
    assert lab13.check_shares({"go-back-N": 82.521, "selective repeat": 98.0}).passed


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"fills": 10}, "a little too small"),
        ({"fills": 10.38}, "no whole number"),
        ({"fills": 6}, "one direction"),
        ({"go-back-N": 8}, "one too many"),
        ({"go-back-N": 4}, "selective repeat's"),
        ({"go-back-N": 3}, "number of bits"),
        ({"selective repeat": 7}, "go-back-N's"),
        ({"selective repeat": 8}, "all numbers"),
        ({"selective repeat": 3}, "number of bits"),
    ],
)
def test_a_wrong_window_fails_and_is_called_by_its_name(wrong: dict[str, float], says: str) -> None:
    right = {"fills": 11, "go-back-N": 7, "selective repeat": 4}
    (reason,) = _reasons(lab13.check_numbers(right | wrong))
    assert says in reason


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"go-back-N": 98}, "selective repeat's"),
        ({"go-back-N": 0.825}, "share of 1"),
        ({"go-back-N": 60.5}, "where the window is the limit"),
        ({"go-back-N": 89.6}, "takes a for 2a"),
        ({"go-back-N": 81.08}, "no packet of a round trip is lost"),
        ({"selective repeat": 82.5}, "go-back-N's"),
        ({"selective repeat": 100}, "without loss"),
        ({"selective repeat": 75.5}, "window of 8"),
        ({"selective repeat": 2}, "what is left"),
    ],
)
def test_a_wrong_share_fails_and_is_called_by_its_name(wrong: dict[str, float], says: str) -> None:
    (reason,) = _reasons(lab13.check_shares({"go-back-N": 82.5, "selective repeat": 98} | wrong))
    assert says in reason


def test_a_prediction_has_its_point_and_slips_have_names() -> None:
    assert lab13.check_predicted(lab13.predict("share", 40, sure=50)).passed
    assert not lab13.check_predicted(lab13.predict("share", None, sure=50)).passed
    assert not lab13.check_predicted(9.6).passed
    (question,) = rules._share()
    assert question.expected.value == pytest.approx(9.633, abs=0.001)
    for slip in question.slips:
        (check,) = question.checks(slip.value)
        assert slip.reason in check.reason


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
        (question,) = rules._share()
        assert question.expected.value == pytest.approx(share)
        assert lab13.check_numbers(numbers).passed
        assert not lab13.check_numbers(numbers | {"fills": numbers["fills"] - 1}).passed
        assert lab13.check_shares({key: float(f"{it:.4g}") for key, it in shares.items()}).passed
        percent, receiver = lab13.loss_percent(), lab13.the_network().address_of("receiver")
        assert lab13.check_netem(_ping(2000, round(2000 - 20 * percent), receiver)).passed
        assert not lab13.check_netem(_ping(2000, round(2000 - 30 * percent), receiver)).passed
        assert "ping the receiver" in str(lab13.check_netem(_ping(2000, 1900)))
        assert f"loss {percent:g}% of netem" in str(lab13.check_netem(_ping(2000, 2000, receiver)))


def test_links_lose_4_to_6_percent() -> None:
    found = set()
    for network in EACH.values():
        with using(network):
            found.add(lab13.loss_percent())
    assert len(found) > 3
    assert found <= {4, 4.5, 5, 5.5, 6}
    assert lab13.loss_percent() == 5


# --- A link that loses


def _ping(sent: int, received: int, to: str = "10.0.3.2") -> str:
    lost = 100 * (sent - received) / sent
    return (
        f"PING {to} ({to}) 56(84) bytes of data.\n\n--- {to} ping statistics ---\n"
        f"{sent} packets transmitted, {received} received, {lost:g}% packet loss, time 7980ms\n"
    )


@pytest.mark.parametrize("received", [1862, 1900, 1938])
def test_what_chance_gives_passes(received: int) -> None:
    assert lab13.check_netem(_ping(2000, received)).passed


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        (_ping(2000, 2000), "nothing was lost"),
        (_ping(2000, 1805), "too much"),  # in both directions
        (_ping(2000, 1950), "too little"),  # half of it
        (_ping(2000, 1999), "too little"),  # a share of 1 for percent
        (_ping(400, 380), "say little"),
        (_ping(2000, 1900, "10.0.1.1"), "10.0.1.1"),
        ("5 % packet loss", "not the lines that ping prints"),
        (5, "not measured yet"),
        ("", "not measured yet"),
    ],
)
def test_what_no_such_link_gives_fails(printed: object, says: str) -> None:
    (reason,) = _reasons(lab13.check_netem(printed))
    assert says in reason


# --- Figures


def test_before_anything_is_sent_the_figures_say_so() -> None:
    assert isinstance(figures.ladder(None), str)
    assert isinstance(figures.shares_figure({1: None}), str)
