"""Lab 04: functions, what tools print, what is no answer at all. Numbers and runs: `test_recorded`."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linklab.grade import Result
from linklab.labs.lab04 import functions
from linklab.labs.lab04 import rules as lab04
from linklab.measure import PingResult, UdpFlow, UdpResult
from linklab.measure.results import QueueCounters
from linklab.network import NetworkState
from tests.grade.failures import failed, said
from tests.grade.made_runs import L1_LOADED, L1_TOGETHER, origin, pinged, together, transfer
from tests.labs.altered import given as altered
from tests.labs.predicted import commit
from tests.states import PLAN, reshape

from .refused import Table, refused

Rtts = list[float | None]


def right(rtt_ms: Rtts) -> dict[str, Any]:
    seen = [rtt for rtt in rtt_ms if rtt is not None]
    mean = sum(seen) / len(seen)
    mdev = max(0.0, sum(rtt**2 for rtt in seen) / len(seen) - mean**2) ** 0.5
    return {"min": min(seen), "mean": mean, "max": max(seen), "mdev": mdev}


def in_place(rtt_ms: Rtts) -> dict[str, Any]:
    rtt_ms[:] = sorted(rtt for rtt in rtt_ms if rtt is not None)
    seen = [rtt for rtt in rtt_ms if rtt is not None]
    keys = {"min": seen[0], "mean": statistics.mean(seen), "max": seen[-1], "mdev": statistics.pstdev(seen)}
    return {"sent": 0, **{key: round(value, 3) for key, value in keys.items()}}


def without(key: str, part: Callable[[list[float], Rtts], Any]) -> Callable[[Rtts], dict[str, Any]]:
    """The right function but for one number."""
    return lambda rtts: {**right(rtts), key: part([rtt for rtt in rtts if rtt is not None], rtts)}


TC = """qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 256440445 bytes 169490 pkt (dropped {1}, overlimits 165799 requeues 0)
 backlog 0b 0p requeues 0
qdisc netem 10: parent 5:1 limit {0} delay 10ms
 Sent 256440445 bytes 169490 pkt (dropped {1}, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
"""


def pings(
    address: str = "10.0.1.2", sent: int = 25, received: int = 25, lines: int | None = None, rtt_ms: float = 20.0
) -> str:
    head = f"PING {address} ({address}) 56(84) bytes of data.\n"
    for number in range(1, received + 1 if lines is None else lines + 1):
        head += f"64 bytes from {address}: icmp_seq={number} ttl=64 time={rtt_ms} ms\n"
    return f"{head}\n--- statistics ---\n{sent} packets transmitted, {received} received, 0% packet loss, time 4s\n"


def rtts_of(text: str) -> list[float]:
    return [float(line.split("time=")[1].split()[0]) for line in text.splitlines() if "time=" in line]


ADDED_MS = statistics.mean(L1_LOADED) - 20
FRAME_MS = 1514 * 8 / 40_000
"""What L1's queue added to its round trip of 20 ms, and how long one frame takes at 40 Mbit/s."""


def waiting(packets: float) -> Result:
    return lab04.check_queue_seen({"mean_added_ms": ADDED_MS, "mean_packets": packets}, L1_TOGETHER)


LETTERS = {"limit": "c", "swing": "b"}
ARP = {"first": "b", "ms": 0.8}


def sent(asked_mbps: float, mbps: float, lost: int = 0, pair: tuple[str, str] = ("r2", "r3")) -> UdpResult:
    """A UDP stream over L2 of 1000 packets."""
    flow = UdpFlow(*pair, rate_mbps=asked_mbps, duration_s=5, address="10.0.3.2")
    return UdpResult(flow, origin(), mbps, asked_mbps, 5, 1000, 1000 - lost, 0, 0.1, (), ())


LOW, HIGH = sent(10, 10), sent(100, 29.15, 708)
FOUND = {"rate_mbps": 30, "lost_percent": 70.8, "start": "c"}
AGAINST = (pinged("r2-r1", L1_LOADED, 1), transfer("r1-r2", 38.05))
"""Pings against the direction of a transfer: their replies wait in its queue."""

WRONG: Table = {
    functions.check_summary: [
        (without("max", lambda _, rtts: max(rtts)), "TypeError"),  # type: ignore[type-var]
        (without("mean", lambda *_: None), "'mean' is not filled in yet"),
        (lambda rtts: {}, "is not filled in yet"),
        (lambda rtts: {**right(rtts), "mdev": statistics.stdev(it for it in rtts if it is not None)}, "one RTT only"),
    ],
    lab04.check_counters: [
        ("qdisc noqueue 0: root refcnt 2", {}, "not the output of tc -s qdisc with a line of netem"),
        (TC.format(100, 3), {"dropped": 3, **LETTERS}, "another interface"),
        (TC.format(67, 0), {"dropped": 0, **LETTERS}, "has not dropped any of its"),
        (TC.format(67, 76), {"dropped": 75, **LETTERS}, "75 is too little"),
        (TC.format(67, 76), {"dropped": 76, **LETTERS, "limit": "a"}, "is not right"),
        (TC.format(67, 76), {"dropped": 76, **LETTERS, "swing": "a"}, "with pauses the throughput would be lower"),
        (TC.format(67, 76), {"dropped": 67, **LETTERS}, "that is the queue's limit"),
    ],
    lab04.check_arp: [
        (ARP | {"first": "a"}, "a link has no memory"),
        (ARP | {"first": "d"}, "r1 keeps the answer"),
        (ARP | {"ms": 20}, "the extra time of one ping"),
        (ARP | {"ms": 1.855}, "that is all of it"),
        (ARP | {"ms": 1.055}, "that is what is left"),
        (ARP | {"ms": 1.6}, "only its extra time counts"),
    ],
    lab04.check_start: [
        (None, HIGH, FOUND, "not measured yet"),
        (HIGH, LOW, FOUND, "rate_mbps=100"),
        (LOW, sent(30, 29, 30), FOUND, "write rate_mbps=100"),
        (LOW, sent(100, 29.15, 708, ("r1", "r2")), FOUND, "there is no UdpFlow r2-r3"),
        (LOW, transfer("r2-r3", 28.6), FOUND, "this is a SimpleperfResult"),
        (LOW, HIGH, FOUND | {"rate_mbps": 29.15}, "that is the data alone"),
        (LOW, HIGH, FOUND | {"rate_mbps": 29.15 * 1514 / 1448}, "a full frame of TCP"),
        (LOW, HIGH, FOUND | {"rate_mbps": 28.33}, "the wrong way round"),
        (LOW, HIGH, FOUND | {"rate_mbps": 100}, "that was sent"),
        (LOW, HIGH, FOUND | {"lost_percent": 0.708}, "a share of 1"),
        (LOW, HIGH, FOUND | {"lost_percent": 29.2}, "what is left to 100 %"),
        (LOW, HIGH, FOUND | {"start": "b"}, "others share the queue"),
    ],
    lab04.check_claim: [
        (2, together(*AGAINST), "never above it"),
        (5, None, "not measured yet"),
        (5, AGAINST[0], "this is a PingResult"),
        (5, L1_TOGETHER, "PingFlow r1-r2 was measured in the opposite direction"),
        (5, together(pinged("r2-r1", 20.0, 1)), "there is no SimpleperfFlow or TcpFlow r1-r2"),
        (5, together(pinged("r3-r2", 20.0, 1), AGAINST[1]), "there is no PingFlow r2-r1"),
        (5, together(pinged("r2-r1", L1_LOADED, 0.1), AGAINST[1]), "write count=25, interval_s=1"),
        (5, together(*AGAINST, transfer("r2-r1", 38.05)), "does not belong here"),
        (5, together(*AGAINST, interrupted=True), "stopped before its end"),
        (5, together(pinged("r2-r1", 20.3, 1), AGAINST[1]), "so it is true here that the RTT stays"),
    ],
    functions.check_parsed: [
        (lambda text: [], pings(), "it finds no RTT"),
        (lambda text: [20.3, 103, 21.4], pings(), "it finds"),
        (lambda text: re.findall(r"time=([\d.]+)", text), pings(), "contains texts"),
        (lambda text: [float(it) for it in re.findall(r"time[= ]([\d.]+)", text)], pings(), "2003 ms is the duration"),
        (lambda text: len(text), pings(), "returns one number"),
        (lambda text: 1 / 0, pings(), "raises ZeroDivisionError"),
        (rtts_of, "ping: usage error", "not the output of ping"),
        (rtts_of, pings("10.0.3.2"), "end of L1 has the address 10.0.1.2"),
        (rtts_of, pings(sent=3, received=3), "3 pings, 3 answered"),
        (rtts_of, pings(received=24), "25 pings, 24 answered"),
        (rtts_of, pings(lines=0), "without -q"),
        (rtts_of, pings(lines=24), "25 answers, and has lines of 24"),
        (rtts_of, pings(rtt_ms=40.0), "an idle L1 takes 20 ms"),
        (rtts_of, pings(rtt_ms=10.0), "below 10 ms"),
    ],
}


test_what_is_wrong_is_refused_and_named = refused(WRONG)


def test_one_wrong_number_fails_alone() -> None:
    said = failed(functions.check_summary(without("min", lambda seen, _: seen[0])))
    assert {check.description.partition(",")[0] for check in said} == {"min"}


def test_right_answers_pass_in_any_style() -> None:
    for summary in (right, in_place):
        assert functions.check_summary(summary).passed
    for function in (rtts_of, lambda text: list(map(float, re.findall(r"time=([\d.]+)", text)))):
        assert functions.check_parsed(function, pings()).passed
    assert lab04.check_arp(ARP).passed
    for rate_mbps, high in ((30, HIGH), (29.76, sent(100, 28.92, 708)), (30, sent(100, 28.92, 708))):
        result = lab04.check_start(LOW, high, FOUND | {"rate_mbps": rate_mbps})
        assert result.passed, str(result)
    counters = lab04.check_counters(TC.format(67, 76), {"dropped": 76, **LETTERS})
    assert counters.passed
    assert all(check.explanation for check in counters.checks)
    for packets in (ADDED_MS / FRAME_MS, round(ADDED_MS / FRAME_MS)):
        assert waiting(packets).passed


@pytest.mark.parametrize(("sent", "pings"), [("r1-r2", "r2-r1"), ("r2-r1", "r1-r2")])
def test_the_claim_is_shown_in_either_direction(sent: str, pings: str) -> None:
    result = lab04.check_claim(5, together(transfer(sent, 38.05), pinged(pings, L1_LOADED, 1)))
    assert result.passed, str(result)


def test_five_seconds_show_the_claim() -> None:
    sent = transfer("r1-r2", 38.05)
    short = replace(sent, flow=replace(sent.flow, duration_s=5))
    assert lab04.check_claim(5, together(short, pinged("r2-r1", L1_LOADED[:5], 1))).passed


def _unshaped() -> NetworkState:
    state = PLAN
    for name in ("r1-eth1", "r2-eth0"):
        state = reshape(state, name, rate_mbps=None, delay_ms=0.0, queue_packets=None)
    return state


WITHOUT_R2 = NetworkState(tuple(node for node in PLAN.nodes if node.name != "r2"))


@pytest.mark.parametrize("state", [NetworkState(()), WITHOUT_R2, _unshaped()])
def test_a_run_on_a_network_of_which_theory_knows_nothing_fails_and_raises_nothing(state: NetworkState) -> None:
    pings, sent = pinged("r1-r2", 20.0, 1, state=state), transfer("r1-r2", 38.0, state=state)
    for result in (
        lab04.check_pings({"L1": pings}),
        lab04.check_transfers({"L1": sent}),
        lab04.check_together(together(pings, sent)),
    ):
        assert result.outcome == "failed"
        assert result.checks[0].hint


def test_a_median_that_three_digits_do_not_tell_from_the_mean_is_no_mistake() -> None:
    rtts = tuple(ADDED_MS + 20 + each for each in (0.004, -0.01, 0.012, 0.006, -0.012))
    near = altered(L1_TOGETHER, PingResult, rtt_ms=5 * rtts)
    added_ms = statistics.median(rtts) - 20
    answer = {"mean_added_ms": added_ms, "mean_packets": added_ms / FRAME_MS}
    assert added_ms != statistics.mean(rtts) - 20
    assert lab04.check_queue_seen(answer, near).passed


SENDING = {"L1": "r1-eth1", "L2": "r2-eth2", "L3": "r3-eth3"}


@pytest.mark.parametrize("check", [lab04.check_pings, lab04.check_transfers])
def test_a_result_of_another_link_does_not_pass_under_a_new_name(check: Callable[..., Result]) -> None:
    ends = {name: "-".join(pair) for name, pair in lab04.LINKS.items()}
    sent = {"L1": 38.05, "L2": 28.5, "L3": 19.05} if check is lab04.check_transfers else None
    right: dict[str, Any] = {}
    for name, pair in ends.items():
        one = transfer(pair, sent[name]) if sent else pinged(pair, 40.0 if name == "L2" else 20.0)
        queues = tuple(
            QueueCounters(face[:2], face, 30 if other == name else 0, 0, 0, 0, 0) for other, face in SENDING.items()
        )
        right[name] = replace(one, origin=replace(one.origin, queues=queues))
    assert check(right).passed, str(check(right))
    relabelled = replace(right["L3"], origin=right["L1"].origin)
    assert "these are no packets of r3-r4" in said(check({**right, "L3": relabelled}))


def test_a_prediction_is_put_next_to_the_measurement() -> None:
    links = lab04.LINKS.items()
    measured = {name: pinged("-".join(ends), rtt) for (name, ends), rtt in zip(links, (20.0, 40.0, 20.0), strict=True)}
    commit(lab04.PREDICTIONS, "rtt", 10)
    (row,) = lab04.check_pings(measured).surprises
    assert (row.slip, row.measured) == ("that is one direction", 20.0)
    over = {
        name: transfer("-".join(ends), mbps) for (name, ends), mbps in zip(links, (38.05, 28.5, 19.05), strict=True)
    }
    commit(lab04.PREDICTIONS, "throughput", 40)
    (row,) = lab04.check_transfers(over).surprises
    assert row.slip == "that counts headers as data"
