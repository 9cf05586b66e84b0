"""Lab 04's functions in many styles, right and wrong; what is no answer at all. Numbers and runs: `test_recorded`."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from linklab.labs.lab04 import rules as lab04
from linklab.measure import PingResult
from linklab.network import NetworkState
from tests.grade.way_results import L1_LOADED, L1_TOGETHER, beside, pinged, sent
from tests.labs.altered import given
from tests.states import PLAN, reshape

Rtts = list[float | None]


def right(rtt_ms: Rtts) -> dict[str, Any]:
    seen = [rtt for rtt in rtt_ms if rtt is not None]
    mean = sum(seen) / len(seen)
    mdev = max(0.0, sum(rtt**2 for rtt in seen) / len(seen) - mean**2) ** 0.5
    return {"min": min(seen), "mean": mean, "max": max(seen), "mdev": mdev}


def by_numpy(rtt_ms: Rtts) -> dict[str, Any]:
    seen = np.array([rtt for rtt in rtt_ms if rtt is not None])
    return {"mdev": np.std(seen), "max": seen.max(), "mean": seen.mean(), "min": seen.min()}


def by_fractions(rtt_ms: Rtts) -> dict[str, Any]:
    seen = [Fraction(rtt) for rtt in rtt_ms if rtt is not None]
    mean = sum(seen) / len(seen)
    mdev = math.sqrt(sum((rtt - mean) ** 2 for rtt in seen) / len(seen))
    return {"min": min(seen), "mean": mean, "max": max(seen), "mdev": mdev, "sent": len(rtt_ms)}


class Summary:
    def __call__(self, rtt_ms: Rtts) -> dict[str, Any]:
        rtt_ms[:] = sorted(rtt for rtt in rtt_ms if rtt is not None)
        seen = [rtt for rtt in rtt_ms if rtt is not None]
        keys = {"min": seen[0], "mean": statistics.mean(seen), "max": seen[-1], "mdev": statistics.pstdev(seen)}
        return {key: round(value, 3) for key, value in keys.items()}


@pytest.mark.parametrize("function", [right, by_numpy, by_fractions, Summary()])
def test_any_style_passes(function: object) -> None:
    assert lab04.check_summary(function).passed


Part = Callable[[list[float], Rtts], Any]


@pytest.mark.parametrize(
    ("key", "part", "says"),
    [
        ("mdev", lambda seen, _: statistics.stdev(seen) if seen[1:] else 0.0, "one less"),
        ("mdev", lambda seen, _: np.mean(np.abs(np.array(seen) - np.mean(seen))), "mean of the distances"),
        ("mdev", lambda seen, _: statistics.pvariance(seen), "the variance"),
        ("mdev", lambda seen, _: max(seen) - min(seen), "the range"),
        ("mdev", lambda seen, _: math.sqrt(sum(rtt**2 for rtt in seen) / len(seen)), "root of the mean square"),
        ("mean", lambda seen, rtts: sum(seen) / len(rtts), "counts as 0"),
        ("mean", lambda seen, _: statistics.median(seen), "the median"),
        ("mean", lambda seen, _: sum(seen), "the sum"),
        ("mean", lambda seen, _: (min(seen) + max(seen)) / 2, "halfway"),
        ("mean", lambda seen, _: sum(seen) / len(seen) / 2, "half of the right one"),
        ("mean", lambda seen, _: sum(seen) / len(seen) / 1000, "a thousandth"),
        ("min", lambda seen, rtts: 0.0 if None in rtts else min(seen), "counts as 0"),
        ("min", lambda seen, _: seen[0], "the first"),
        ("max", lambda seen, _: seen[-1], "the last"),
        ("max", lambda _, rtts: max(rtts), "TypeError"),
        ("mean", lambda *_: None, "not filled in yet"),
        ("mean", lambda *_: "20", "it returns a str"),
    ],
)
def test_one_wrong_number_fails_alone_and_is_named(key: str, part: Part, says: str) -> None:
    def summary(rtt_ms: Rtts) -> dict[str, Any]:
        return {**right(rtt_ms), key: part([rtt for rtt in rtt_ms if rtt is not None], rtt_ms)}

    wrong = [check for check in lab04.check_summary(summary).checks if not check.passed]
    assert wrong
    assert all(says == "TypeError" or key in check.description + check.reason for check in wrong)
    assert all(check.hint for check in wrong)
    assert any(says in check.reason for check in wrong)


@pytest.mark.parametrize("function", [None, 3, lambda rtts: None, lambda rtts: 1 / 0, lambda: {}, lambda rtts: {}])
def test_what_is_no_such_function_fails(function: object) -> None:
    wrong = [check for check in lab04.check_summary(function).checks if not check.passed]
    assert wrong
    assert all(check.hint for check in wrong)


_WITHOUT_R2 = NetworkState(tuple(node for node in PLAN.nodes if node.name != "r2"))


def _unshaped() -> NetworkState:
    state = PLAN
    for name in ("r1-eth1", "r2-eth0"):
        state = reshape(state, name, rate_mbps=None, delay_ms=0.0, queue_packets=None)
    return state


@pytest.mark.parametrize("state", [NetworkState(()), _WITHOUT_R2, _unshaped()])
def test_a_run_on_a_network_of_which_theory_knows_nothing_fails_and_raises_nothing(state: NetworkState) -> None:
    pings, transfer = pinged("r1", "r2", 20.0, interval_s=1, network=state), sent("r1", "r2", 38.0, network=state)
    for result in (
        lab04.check_pings({"L1": pings}),
        lab04.check_transfers({"L1": transfer}),
        lab04.check_together(beside(pings, transfer)),
    ):
        assert result.outcome == "failed"
        assert result.checks[0].hint


TC = """qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 256440445 bytes 169490 pkt (dropped {1}, overlimits 165799 requeues 0)
 backlog 0b 0p requeues 0
qdisc netem 10: parent 5:1 limit {0} delay 10ms
 Sent 256440445 bytes 169490 pkt (dropped {1}, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
"""


def test_the_counters_are_read_off_the_student_s_own_output() -> None:
    printed = TC.format(67, 76)
    result = lab04.check_counters(printed, {"dropped": 76, "limit": "c"})
    assert result.passed
    assert all(check.explanation for check in result.checks)
    assert not lab04.check_counters(printed, {"dropped": 75, "limit": "c"}).passed
    assert not lab04.check_counters(printed, {"dropped": 76, "limit": "a"}).passed
    assert "that is the queue's limit" in str(lab04.check_counters(printed, {"dropped": 67, "limit": "c"}))


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("", "not filled in yet"),
        ("qdisc noqueue 0: root refcnt 2", "no output of tc -s qdisc with a queue"),
        (TC.format(100, 3), "another interface"),
        (TC.format(67, 0), "no frame was dropped yet"),
        (7, "no output"),
    ],
)
def test_what_is_no_output_of_tc_is_said(printed: object, says: str) -> None:
    assert says in str(lab04.check_counters(printed, {"dropped": 76, "limit": "c"}))


ADDED_MS = statistics.mean(L1_LOADED) - 20
FRAME_MS = 1514 * 8 / 40_000
"""What L1's queue added to its round trip of 20 ms, and how long one frame takes at 40 Mbit/s."""


def test_what_the_queue_added_is_read_off_the_pings() -> None:
    assert lab04.check_queue_seen({"mean_added_ms": ADDED_MS, "mean_packets": ADDED_MS / FRAME_MS}, L1_TOGETHER).passed


def test_a_median_that_three_digits_do_not_tell_from_the_mean_is_no_mistake() -> None:
    rtts = tuple(ADDED_MS + 20 + each for each in (0.004, -0.01, 0.012, 0.006, -0.012))
    near = given(L1_TOGETHER, PingResult, rtt_ms=5 * rtts)
    added_ms = statistics.median(rtts) - 20
    answer = {"mean_added_ms": added_ms, "mean_packets": added_ms / FRAME_MS}
    assert added_ms != statistics.mean(rtts) - 20
    assert lab04.check_queue_seen(answer, near).passed


@pytest.mark.parametrize(
    ("packets", "says"),
    [
        ((ADDED_MS + 20) / FRAME_MS, "contains the idle path"),
        ((ADDED_MS + 10) / FRAME_MS, "also counts packets in flight"),
        ((max(L1_LOADED) - 20) / FRAME_MS, "the fullest queue"),
        (ADDED_MS * FRAME_MS, "multiplies instead of dividing"),
        (ADDED_MS / FRAME_MS / 2, "half of them"),
        (67, "the limit of the queue"),
    ],
)
def test_a_wrong_count_of_waiting_packets_is_named(packets: float, says: str) -> None:
    result = lab04.check_queue_seen({"mean_added_ms": ADDED_MS, "mean_packets": packets}, L1_TOGETHER)
    assert [check.passed for check in result.checks] == [True, False]
    assert says in result.checks[1].reason


def _pinged(address: str = "10.0.1.2", sent: int = 25, received: int = 25) -> str:
    head = f"PING {address} ({address}) 56(84) bytes of data.\n"
    return f"{head}\n--- statistics ---\n{sent} packets transmitted, {received} received, 0% packet loss, time 4s\n"


def _rtts_of(text: str) -> list[float]:
    return [float(line.split("time=")[1].split()[0]) for line in text.splitlines() if "time=" in line]


def test_round_trips_are_read_in_any_style() -> None:
    def by_pattern(text: str) -> list[float]:
        return list(map(float, re.findall(r"time=([\d.]+)", text)))

    for function in (_rtts_of, by_pattern):
        assert lab04.check_parsed(function, _pinged()).passed


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (None, "not written yet"),
        (lambda text: [], "it finds nothing"),
        (lambda text: [20.3, 103, 21.4], "it finds"),
        (lambda text: re.findall(r"time=([\d.]+)", text), "texts in it"),
        (lambda text: [float(it) for it in re.findall(r"time[= ]([\d.]+)", text)], "2003 ms is how long all of it"),
        (lambda text: len(text), "returns one number"),
        (lambda text: 1 / 0, "raises ZeroDivisionError"),
    ],
)
def test_a_wrong_reading_is_named(function: object, says: str) -> None:
    assert says in str(lab04.check_parsed(function, _pinged()))


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("", "not filled in yet"),
        ("ping: usage error", "no output of ping"),
        (_pinged("10.0.3.2"), "r2's end of L1 is 10.0.1.2"),
        (_pinged(sent=3, received=3), "3 pings, 3 answered"),
        (_pinged(received=24), "25 pings, 24 answered"),
    ],
)
def test_what_ping_printed_must_be_25_pings_of_l1(printed: str, says: str) -> None:
    assert says in str(lab04.check_parsed(_rtts_of, printed))


def test_a_prediction_is_put_next_to_the_measurement() -> None:
    measured = {
        name: pinged(*ends, rtt) for (name, ends), rtt in zip(lab04.LINKS.items(), (20.0, 40.0, 20.0), strict=True)
    }
    (row,) = lab04.check_pings(measured, lab04.predict("rtt", 10, sure=60)).surprises
    assert (row.slip, row.measured) == ("that is one direction", 20.0)
    over = {
        name: sent(*ends, mbps) for (name, ends), mbps in zip(lab04.LINKS.items(), (38.05, 28.5, 19.05), strict=True)
    }
    (row,) = lab04.check_transfers(over, lab04.predict("throughput", 40, sure=60)).surprises
    assert row.slip == "that counts headers as data"


@pytest.mark.parametrize("given", [None, ..., 3, "20", [1], {}, {"L1": object()}, {"L1": {}}, {None: math.nan}])
def test_nothing_strange_makes_a_check_raise(given: object) -> None:
    for name in ("pings", "transfers", "together", "summary", "predicted"):
        assert not getattr(lab04, f"check_{name}")(given).passed
    for name in ("counters", "queue_seen", "parsed"):
        assert not getattr(lab04, f"check_{name}")(given, given).passed
