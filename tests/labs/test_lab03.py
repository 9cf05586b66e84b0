"""Lab 03's checks, as far as no recorded answer shows them: what tools print, runs, functions, searches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.grade import Result
from linklab.labs.lab03 import rules as lab03
from linklab.labs.lab03 import unknown
from linklab.labs.lab03.unknown import random_chain
from linklab.measure import Origin, PingFlow, PingResult, Prober, Run, ToolResult, UdpFlow, UdpResult
from linklab.measure.results import QueueCounters
from linklab.network import COURSE, Network, NetworkState, bottleneck, expected_state, path, payload_rate_mbps
from linklab.network.variants import variant
from linklab.runtime.backends import Kind
from tests.grade.failures import failed, said
from tests.labs.predicted import commit
from tests.states import change

from .refused import Table, refused, refuses

NOMINAL = {"h1-h4": 30.0, "h1-h9": 20.0, "h7-h9": 20.0}


# --- By hand


def printed(
    to: str = "10.0.5.2", sent: str = "33.0 Mbits/sec", lost: str = "946/8544 (11%)", of_sender: str = "0/8544 (0%)"
) -> str:
    """What iperf3 3.12 prints."""
    return f"""Connecting to host {to}, port 5201
[  5] local 10.0.0.2 port 40147 connected to {to} port 5201
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-3.00   sec  11.8 MBytes  {sent}  0.000 ms  {of_sender}  sender
[  5]   0.00-3.08   sec  10.5 MBytes  28.6 Mbits/sec  0.470 ms  {lost}  receiver

iperf Done.
"""


TCP = "Connecting to host 10.0.5.2, port 5201\n[  5] 0.00-3.00 sec  10.5 MBytes  28.6 Mbits/sec   3   sender   Retr"


def counted(limit: int = 100, dropped: int = 946) -> str:
    """What tc prints."""
    counts = f" Sent 11322350 bytes 7612 pkt (dropped {dropped}, overlimits 9) \n backlog 199b 3p requeues 0\n"
    return f"qdisc htb 5: root refcnt 2 r2q 10\n{counts}qdisc netem 10: parent 5:1 limit {limit} delay 20ms\n{counts}"


def test_what_iperf3_and_tc_printed_passes() -> None:
    assert lab03.check_client(printed()).passed
    # what iperf3 3.18 said of 1 s: the queue takes a larger part of it in
    one_s = printed(lost="282/2845 (9.9%)", of_sender="0/2845 (0%)").replace("0.00-3.00", "0.00-1.00")
    assert lab03.check_client(one_s).passed
    for output in (counted(), counted(67, 0) + counted()):
        (check,) = lab03.check_drops(946, output).checks
        assert check.passed
        assert "**all** of the lost packets" in check.explanation


# --- Measurements


def measured(name: str, rate_mbps: float, lost_percent: float, network: NetworkState | None = None) -> UdpResult:
    source, destination = name.split("-")
    sent = round(rate_mbps * 1e6 * 3 / 8 / 1448)
    received = round(sent * (1 - lost_percent / 100))
    return UdpResult(
        UdpFlow(source, destination, rate_mbps, 3), Origin("iperf 3.12", "7.3.4", network),
        received * 1448 * 8e-6 / 3.08, rate_mbps, 3.08, sent, received, 0, 0.5, (), (),
    )  # fmt: skip


OVERLOAD = {name: measured(name, 1.1 * rate, 11.3) for name, rate in NOMINAL.items()}


def overloaded(run: object) -> Result:
    return lab03.check_overload({**OVERLOAD, "h1-h4": run})


# --- Beside somebody else


def streamed(
    pair: str, rate_mbps: float, lost: float = 0, duration_s: int = 5, start_s: float = 0, network: Network = COURSE
) -> UdpResult:
    """A stream in a run with others; ``lost`` is in percent."""
    source, destination = pair.split("-")
    flow = UdpFlow(source, destination, rate_mbps, duration_s, start_s=start_s)
    sent = round(rate_mbps * 1e6 * duration_s / 8 / 1448)
    arrived = round(sent * (1 - lost / 100))
    origin = Origin("t", "7", network=expected_state(network))
    mbps = arrived * 1448 * 8e-6 / duration_s
    return UdpResult(flow, origin, mbps, rate_mbps, duration_s, sent, arrived, 0, 0.5, (), ())


def pinged(pair: str, least_ms: float | None, most_ms: float | None, count: int = 25) -> PingResult:
    source, destination = pair.split("-")
    flow = PingFlow(source, destination, count)
    origin = Origin("t", "7", network=expected_state(COURSE))
    return PingResult(flow, origin, (least_ms, most_ms), least_ms, least_ms, most_ms, 1, 0, 0)


def together(*results: ToolResult, interrupted: bool = False) -> Run:
    return Run(results, 0.0, interrupted)


OTHER = variant("somebody else", b"a secret of the course")
OWN = streamed("h1-h4", 33, 12)
TALK = streamed("h7-h5", 1, 51)
WAITED = pinged("h7-h5", 40.0, 60.0)
BESIDE = together(OWN, TALK, WAITED)
NEIGHBOUR = {"waits_ms": 20.0, "minute": "d"}
H7 = streamed("h7-h5", 15)


def at(rate_mbps: float, lost: float = 0, most_ms: float = 60.6, h7: UdpResult = H7, duration_s: int = 5) -> Run:
    """A run beside h7 at a rate."""
    return together(h7, streamed("h1-h4", rate_mbps, lost, duration_s), pinged("h1-h4", 60.0, most_ms))


def test_a_call_beside_a_test_that_sends_too_much() -> None:
    assert lab03.check_neighbour(BESIDE, NEIGHBOUR).passed
    assert lab03.check_neighbour(together(WAITED, TALK, OWN), {"waits_ms": 20, "minute": " D"}).passed


def test_a_call_may_start_a_part_of_a_ms_later() -> None:
    assert lab03.check_neighbour(together(OWN, streamed("h7-h5", 1, 32, start_s=0.0003), WAITED), NEIGHBOUR).passed


def test_a_client_that_sent_to_another_host_is_told_of_the_host_alone() -> None:
    assert [check.description for check in failed(lab03.check_client(printed("10.0.7.2", lost="4000/8544 (47%)")))] == [
        "the server"
    ]


@pytest.mark.parametrize("rate_mbps", [13.5, 14.1])
def test_a_rate_that_h7_leaves_free(rate_mbps: float) -> None:
    (check,) = lab03.check_free(at(rate_mbps)).checks
    assert check.passed
    assert "pathload" in check.explanation


def plainly(arrival_s: Sequence[float], payload_bytes: int) -> float:
    return (len(arrival_s) - 1) * payload_bytes * 8 / (arrival_s[-1] - arrival_s[0]) / 1e6


WRONG: Table = {
    lab03.check_client: [
        ("iperf3: error - unable to connect to server: Connection refused", "Connection refused"),
        (TCP, "this is a test of TCP"),
        ("iperf Done.", "not the output of iperf3 -c"),
        (printed("10.0.7.2"), "another host"),
        (printed().replace("local 10.0.0.2", "local 10.0.0.3"), "it ran on the host of 10.0.0.3"),
        (printed().replace("[  5]", "Reverse mode, remote host 10.0.5.2 is sending\n[  5]", 1), "h4 sent"),
        ("iperf3: error - unable to connect to server: Resource temporarily unavailable", 'lab["h4"].address'),
        (printed(sent="1.05 Mbits/sec"), "sent at 1.05 Mbit/s"),
        (printed(sent="3.86 Kbits/sec", lost="0/1 (0%)", of_sender="0/1 (0%)"), "sent at 0.00386 Mbit/s"),
        (printed(lost="20/8544 (0.2%)"), "less than this network can give"),
        (printed(lost="4000/8544 (47%)"), "too much"),
        (printed(lost="1548/12365 (13%)", of_sender="0/12365 (0%)"), "each datagram carries 1001 bytes"),
    ],
    lab03.check_drops: [
        (946, counted(limit=67), "no queue of 100 packets"),
        (0, counted(dropped=0), "has dropped no packet"),
        (100, counted(), "how many packets the queue can hold"),
        (7612, counted(), "too much"),
    ],
    lab03.check_neighbour: [
        (None, NEIGHBOUR, "not measured yet"),
        (OWN, NEIGHBOUR, "this is a UdpResult"),
        (together(OWN, TALK), NEIGHBOUR, "there is no PingFlow h7-h5"),
        (together(TALK, WAITED), NEIGHBOUR, "there is no UdpFlow h1-h4"),
        (together(streamed("h4-h1", 33, 12), TALK, WAITED), NEIGHBOUR, "opposite direction"),
        (together(streamed("h1-h4", 30, 3), TALK, WAITED), NEIGHBOUR, "rate_mbps=30"),
        (together(streamed("h1-h4", 22, 12), TALK, WAITED), NEIGHBOUR, "Send at 110 %"),
        (together(OWN, streamed("h7-h5", 15, 12), WAITED), NEIGHBOUR, "leave the call as it is"),
        (together(OWN, streamed("h7-h5", 1, start_s=6), WAITED), NEIGHBOUR, "start_s=6"),
        (together(streamed("h1-h4", 33, 9, 1), TALK, WAITED), NEIGHBOUR, "duration_s=1"),
        (together(OWN, TALK, pinged("h7-h5", 40, 60, 5)), NEIGHBOUR, "count=5"),
        (together(OWN, streamed("h7-h5", 1), WAITED), NEIGHBOUR, "a part of a ms later"),
        (together(OWN, TALK, pinged("h7-h5", None, None)), NEIGHBOUR, "no ping was answered"),
        (together(OWN, TALK, WAITED, interrupted=True), NEIGHBOUR, "stopped before its end"),
        (BESIDE, NEIGHBOUR | {"waits_ms": 60}, "the whole round trip"),
        (BESIDE, NEIGHBOUR | {"waits_ms": 40}, "without a wait"),
        (BESIDE, NEIGHBOUR | {"waits_ms": 10}, "half of the wait"),
        (BESIDE, NEIGHBOUR | {"waits_ms": 0.02}, "looks like seconds"),
        (BESIDE, NEIGHBOUR | {"minute": "a"}, "TCP does this"),
        (BESIDE, NEIGHBOUR | {"minute": "b"}, "the delay has a limit"),
        (BESIDE, NEIGHBOUR | {"minute": "c"}, "one queue for L2"),
    ],
    lab03.check_free: [
        (None, "not measured yet"),
        (14.1, "this is a float"),
        (at(21.3, 30, 79.7), "more than h7 leaves"),
        (at(29.15, 45, 79.7), "more than h7 leaves"),
        (at(15, 3, 79.7), "more than h7 leaves"),
        (at(14.3, 0, 79.7), "more than h7 leaves"),
        (at(14.3), "more than h7 leaves"),
        (at(14.0, h7=streamed("h7-h5", 15, 1)), "more than h7 leaves"),
        (at(10), "more than this is free"),
        (at(21.3, h7=streamed("h7-h5", 7)), "h7 sends at half of L2's rate"),
        (at(21.3, h7=streamed("h7-h5", 15, start_s=9)), "start_s=9"),
        (at(14.3, duration_s=1), "duration_s=1"),
        (at(21.3, duration_s=20), "ends before the other"),
        (together(H7, streamed("h1-h4", 14)), "there is no PingFlow h1-h4"),
        (together(streamed("h1-h4", 14), pinged("h1-h4", 60, 60)), "there is no UdpFlow h7-h5"),
        (together(streamed("h7-h5", 15, network=OTHER), *at(14).results[1:]), "another network"),
    ],
}


test_what_is_wrong_is_refused_and_named = refused(WRONG)


def test_what_was_measured_stands_next_to_what_was_predicted() -> None:
    commit(lab03.PREDICTIONS, "ceilings", {"h1-h4": 30, "h1-h9": 19.4})
    first, second = lab03.check_overload(OVERLOAD).surprises
    assert first.slip == "that is the rate of the slowest link, headers included"
    assert second.said == "as theory says"
    assert first.measured == OVERLOAD["h1-h4"].throughput_mbps


def test_what_was_read_back_counts_and_not_the_plan() -> None:
    """A link that somebody changed: theory changes with it."""
    state = expected_state(COURSE)
    interface = state.interface("r2", "r2-eth2")
    assert interface is not None
    slower = change(state, "r2-eth2", shape=replace(interface.shape, rate_mbps=15))
    right = 100 * (1 - payload_rate_mbps(15) / 33)
    assert overloaded(measured("h1-h4", 33, right, network=slower)).passed
    assert not overloaded(measured("h1-h4", 33, 11.4, network=slower)).passed


def test_a_few_packets_on_the_right_path_are_told_what_they_are() -> None:
    """At 0.05 Mbit/s 13 packets were sent, and each interface counted as many."""
    few = measured("h1-h4", 0.05, 0)
    hops = path(COURSE, "h1", "h4").hops
    queues = tuple(QueueCounters(hop.out.node, hop.out.interface, few.sent_packets, 0, 0, 0, 0) for hop in hops)
    few = replace(few, origin=replace(few.origin, queues=queues))
    assert "uses only 0 %" in said(lab03.check_chosen({"h1-h4": few}))


# --- The search

SEEDS = (11, 12)


def by_second_half(arrival_s: Sequence[float], payload_bytes: int) -> float:
    return plainly(arrival_s[len(arrival_s) // 2 :], payload_bytes)


@pytest.mark.parametrize("estimate", [plainly, by_second_half])
def test_right_estimates_pass(estimate: object) -> None:
    assert unknown.check_train(estimate).passed


def by_the_gap_in_the_middle(arrival_s: Sequence[float], payload_bytes: int) -> float:
    gaps_s = sorted(later - earlier for earlier, later in itertools.pairwise(arrival_s))
    return payload_bytes * 8 / gaps_s[len(gaps_s) // 2] / 1e6


def test_beside_others_the_gap_in_the_middle_shows_another_rate() -> None:
    assert "a few gaps long" in said(unknown.check_train(by_the_gap_in_the_middle))


def from_train(prober: Prober) -> float:
    guess = by_second_half(prober.train(60), 1448)
    return guess if not prober.send(0.98 * guess).loss_percent else 0.5 * guess


@pytest.mark.lab
def test_a_right_search_passes(virtual: Kind, nothing_left: None) -> None:
    result = unknown.check_search(from_train, SEEDS)
    assert result.passed, str(result)
    assert len(result.checks) == len(SEEDS) + 2


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize(
    ("find", "says"),
    [
        (lambda prober: from_train(prober) / 8, "MByte/s"),
        (lambda prober: from_train(prober) * 1e6, "in bit/s"),
        (lambda prober: None, "the function returns nothing"),
        (lambda prober: prober.fast(), "raises AttributeError"),
        (lambda prober: prober.send(1000), "of the budget of 60 MB are left"),
        (lambda prober: by_second_half(prober.train(60), 1448), "no such probe"),
        (
            lambda prober: next(rate for rate in (2, 4, 8, 16, 32, 64) if prober.send(rate).loss_percent),
            "% of its packets",
        ),
        (lambda prober: prober.send(3).rate_mbps, "does the range close"),
        (lambda prober: prober.send(80).received_mbps, "received of a probe"),
    ],
)
def test_a_wrong_search_is_named(virtual: Kind, find: Callable[[Prober], object], says: str) -> None:
    refuses(unknown.check_search, (find, SEEDS[:1]), says)


@pytest.mark.lab
def test_a_rate_that_lost_packets_is_no_answer_however_near(virtual: Kind) -> None:
    def too_high(prober: Prober) -> float:
        guess = by_second_half(prober.train(60), 1448)
        prober.send(0.98 * guess)
        assert prober.send(1.04 * guess, 6).loss_percent > 0
        return 1.04 * guess

    (check,) = failed(unknown.check_search(too_high, SEEDS[:1]))
    assert check.description == "each answer confirmed by a probe"
    assert "your own probe lost packets" in check.reason


@pytest.mark.large
@pytest.mark.lab
def test_the_plain_increase_takes_too_much(virtual: Kind) -> None:
    chains = ((seed, path(random_chain(seed, (5, 40)), "h1", "h2")) for seed in range(100))
    fast = next(seed for seed, way in chains if (bottleneck(way).rate_mbps or 0) > 34)

    def increase(prober: Prober) -> float:
        rate = 20
        while not prober.send(rate).loss_percent:
            rate += 1
        return rate - 1

    assert [check.description for check in failed(unknown.check_search(increase, [fast]))] == ["traffic of the search"]


def _try(answer: object, probes: Sequence[object] = ()) -> unknown._Try:
    prober: Any = SimpleNamespace(probes=probes, sent_bytes=0, count=1)
    return unknown._Try(5, random_chain(5, bottleneck_mbps=(10, 10)), answer, None, prober)


@pytest.mark.parametrize(("loss_percent", "outcome"), [(0.0, "passed"), (0.4, "passed"), (0.6, "failed")])
def test_a_probe_that_lost_a_stray_packet_confirms_an_answer(
    loss_percent: float, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = SimpleNamespace(rate_mbps=9.6, loss_percent=loss_percent, received_mbps=9.5)
    monkeypatch.setattr(unknown, "_tried", lambda *_: _try(9.7, [probe]))
    confirmed = unknown.check_search(lambda prober: 9.7, [1]).checks[1]
    assert confirmed.description == "each answer confirmed by a probe"
    assert confirmed.outcome == outcome


@pytest.mark.parametrize("answer", ["9.7", True, math.nan, -1, [9.7], object()])
def test_what_is_no_rate_is_told_and_not_tried_again(answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unknown, "_tried", lambda *_: _try(answer))
    assert said(unknown.check_search(lambda prober: answer, SEEDS)).count("Hint: ") == 1


def test_the_networks_of_the_check_are_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()

    def tried(find: object, seed: int) -> unknown._Try:
        seen.add(seed)
        return _try(None)

    monkeypatch.setattr(unknown, "_tried", tried)
    for _ in range(3):
        unknown.check_search(lambda prober: 1)
    assert len(seen) == 3


# --- Networks that nobody has seen

CHAINS = [random_chain(seed) for seed in range(200)]


def test_chains_differ_in_length_rate_and_in_where_the_bottleneck_is() -> None:
    assert random_chain(7) == random_chain(7) != random_chain(8)
    ways = [path(chain, "h1", "h2") for chain in CHAINS]
    limited = [[link for link in way.links if link.rate_mbps is not None] for way in ways]
    assert {len(links) for links in limited} == {2, 3, 4, 5, 6}
    rates = [bottleneck(way).rate_mbps or 0 for way in ways]
    assert min(rates) < 3
    assert max(rates) > 60
    assert 8 < sorted(rates)[100] < 25  # the middle of 2 to 100 on a logarithmic scale is 14
    places = {(links.index(bottleneck(way)), len(links)) for links, way in zip(limited, ways, strict=True)}
    assert {(0, 6), (5, 6), (0, 2), (1, 2)} <= places


def test_each_link_of_a_chain_could_carry_its_rate() -> None:
    for link in (link for chain in CHAINS for link in chain.links if link.name):
        assert 2 <= (link.rate_mbps or 0) <= 100
        in_flight = (link.rate_mbps or 0) * 1000 * link.delay_ms / (8 * 1514)
        assert (link.queue_packets or 0) > in_flight + 5


def test_bounds_of_a_chain_are_kept() -> None:
    for seed in range(50):
        slowest = bottleneck(path(random_chain(seed, (5, 10)), "h1", "h2"))
        assert 5 <= (slowest.rate_mbps or 0) <= 10


@pytest.mark.parametrize("bottleneck_mbps", [(10, 5), (0, 2), (10, 101)])
def test_bounds_that_no_chain_can_have_are_refused(bottleneck_mbps: tuple[float, float]) -> None:
    with pytest.raises(NetworkError, match="choose two numbers in order"):
        random_chain(1, bottleneck_mbps)
