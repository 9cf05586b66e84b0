"""Lab 06's functions in many styles, right and wrong, and what students type; numbers and runs: `test_recorded`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from linklab import start
from linklab.course import using
from linklab.errors import LinklabError
from linklab.labs import NOTHING
from linklab.labs.lab06 import figures
from linklab.labs.lab06 import rules as lab06
from linklab.measure import PingResult, Run, TcpFlow, TcpResult, UdpFlow, UdpResult, run_together
from linklab.network import COURSE
from linklab.network.variants import variant
from linklab.show import Table
from tests.grade.failures import failed
from tests.grade.made_runs import origin, pinged, together, transfer
from tests.labs.altered import read_back
from tests.labs.lab11_runs import controls
from tests.labs.predicted import commit

from .refused import Table as Wrong
from .refused import refused

PACKET_MS = 1514 * 8 / 30_000


def right_index(values: Sequence[Any]) -> Any:
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))


ROW = """\
[ ID] Interval           Transfer     Bitrate         Retr
[  7]   0.00-{0:.2f}  sec  29.0 MBytes  {1} Mbits/sec   58             sender
[  7]   0.00-{0:.2f}  sec  28.9 MBytes  {1} Mbits/sec                  receiver
"""


HEADS = {pair: f"Connecting to host {COURSE.address_of(pair[-2:])}, port 5201\n" for pair in ("h1-h4", "h2-h5")}


FROM_H3 = f"[  7] local {COURSE.address_of('h3')} port 40000 connected to 10.0.5.2 port 5201\n"


def printed(*mbps: float, seconds: float = 25.08) -> dict[str, str]:
    pairs = zip(HEADS, mbps, strict=False)
    return {pair: f"{HEADS[pair]}{ROW.format(seconds, rate)}" for pair, rate in pairs}


@pytest.mark.parametrize("shares", [(9.67, 18.8), (14.3, 14.3), (28.6, 0.0), (18.8, 9.92)])
def test_two_flows_by_hand_may_share_in_any_way_but_fill_the_link(shares: tuple[float, float]) -> None:
    assert lab06.check_by_hand(printed(*shares)).passed
    assert lab06.check_by_hand({**printed(*shares), "both": list(shares)}).passed


PING = "64 bytes from 10.0.5.2: icmp_seq=1 ttl=61 time={} ms\n\n1 packets transmitted, 1 received\n"
LOST = "1 packets transmitted, 0 received, 100% packet loss\n"
TC = """\
qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 520842073 bytes 344302 pkt (dropped 305, overlimits 342116 requeues 0)
 backlog 137774b 91p requeues 0
qdisc netem 10: parent 5:1 limit {} delay 20ms
 Sent 520842073 bytes 344302 pkt (dropped 304, overlimits 0 requeues 0)
 backlog 137774b {}p requeues 0
"""
LOOKS = [
    (PING.format(rtt), TC.format(100, held).replace("344302", f"34{held}02"))
    for rtt, held in ((79.9, 100), (66.8, 65), (60.2, 52))
]


NEXT = [
    (PING.format(round(40 + held * PACKET_MS, 1)), TC.format(100, held).replace("344302", f"34{number}302"))
    for number, held in enumerate((67, 75, 91, 58, 94, 67))
]


def test_ping_and_the_kernel_tell_of_the_same_packets() -> None:
    assert lab06.check_look(NEXT).passed
    lost_between = (PING.format(79.9), TC.format(100, 62))
    assert lab06.check_look([lost_between, *LOOKS]).passed
    # of several pings the last one is next to tc
    three = "".join(f"64 bytes: icmp_seq=1 time={rtt} ms\n" for rtt in (79.9, 75.2, 60.2)) + LOST
    assert lab06.check_look([*LOOKS[:2], (three, LOOKS[2][1])]).passed
    result = lab06.check_look([*LOOKS, (LOST, TC.format(100, 100))])
    assert result.passed
    assert "79.9 ms means 99 packets, tc shows 100" in result.checks[0].found


def queued(pair: str, usual_ms: float, highest_ms: float) -> PingResult:
    """Pings, one a second, of which one waited for longest."""
    return pinged(pair, (highest_ms, *(usual_ms,) * 24), 1)


def half_run(rtt_ms: float = 61.2, mbps: float = 8.7, *, packets: int = 50, delay_ms: float = 20) -> Run:
    """Combination two, where r2's end of L2 was changed with tc."""
    both = ((queued(pair, 60.2, rtt_ms), transfer(pair, mbps)) for pair in ("h1-h4", "h2-h5"))
    run = together(*(it for flows in both for it in flows))
    return read_back(run, "r2-eth2", queue_packets=packets, delay_ms=delay_ms)


STOPPED = together(*(it for p in ("h1-h4", "h2-h5") for it in (queued(p, 70, 79), transfer(p, 14.2))), interrupted=True)
SEEN = {"decides": "c", "third_flow": "a", "shares": "c"}


def streamed(pair: str = "h2-h5", mbps: float = 19.87, asked_mbps: float = 20, duration_s: int = 25) -> UdpResult:
    """A UDP stream that keeps nearly all that it sends."""
    source, _, destination = pair.partition("-")
    flow = UdpFlow(source, destination, asked_mbps, duration_s)
    return UdpResult(flow, origin(), mbps, asked_mbps, duration_s, 43000, 42700, 0, 0.7, (), ())


BESIDE = transfer("h1-h4", 8.9)
WRONG: Wrong = {
    lab06.check_seen: [
        (SEEN | {"shares": "a"}, "nobody divides the link"),
        (SEEN | {"shares": "b"}, "both paths have the same links"),
    ],
    lab06.check_claim: [
        (2, together(BESIDE, streamed()), "compare the highest RTTs"),
        (3, None, "not measured yet"),
        (3, streamed(), "this is a UdpResult"),
        (3, together(streamed()), "there is no SimpleperfFlow or TcpFlow h1-h4"),
        (3, together(BESIDE, transfer("h2-h5", 14.0)), "there is no UdpFlow h2-h5"),
        (3, together(BESIDE, streamed("h8-h9")), "there is no UdpFlow h2-h5, but UdpFlow h8-h9"),
        (3, together(BESIDE, streamed(asked_mbps=10)), "write rate_mbps=20"),
        (3, together(BESIDE, streamed(duration_s=5)), "write duration_s=25"),
        (3, together(BESIDE, streamed(), transfer("h3-h6", 4.0)), "does not belong here"),
        (3, together(transfer("h1-h4", 14.2), streamed(mbps=14.3)), "so it is true here"),
    ],
    lab06.check_by_hand: [
        (printed(28.3, 28.3), "one after the other"),
        (dict.fromkeys(HEADS, HEADS["h1-h4"] + ROW.format(25.08, 14.3)), "sent to another host"),
        (dict.fromkeys(HEADS, "".join(HEADS.values()) + ROW.format(25.08, 14.3)), "both texts are the same one"),
        # other flows fill L2 as well: those of other hosts, and those that come back
        (dict(zip(HEADS, [*printed(14.0, 14.3).values()][::-1], strict=True)), "sent to another host"),
        ({pair: f"{text}Reverse mode, remote host" for pair, text in printed(14.0, 14.3).items()}, "omit -R"),
        (printed(28.3, 9.0), "more than this network can give"),
        (printed(9.0, 9.0), "too little"),
        (printed(14.0, 14.0, seconds=10.0), "ran for 10 s"),
        ({**printed(14.0, 14.0), "h2-h5": 14.0}, "not a text"),
        ({pair: FROM_H3 + text for pair, text in printed(14.0, 14.3).items()}, "ran on another host"),
        ({pair: "Server listening on 5201\n" + text for pair, text in printed(14.0, 14.3).items()}, "server printed"),
        ({pair: text + "[SUM]   0.00-25.00" for pair, text in printed(14.0, 14.3).items()}, "omit -P"),
        ({pair: text.replace("Mbits", "MBytes") for pair, text in printed(1.8, 1.8).items()}, "-f"),
        (dict.fromkeys(HEADS, '{"start": {}}'), "-J"),
        (dict.fromkeys(HEADS, ROW.format(25.08, 14.3)), "first lines of the output are missing"),
        ({**printed(14.0, 14.0), "h2-h5": "iperf3: error - the server is busy"}, "server is busy"),
    ],
    lab06.check_look: [
        ([(tc, ping) for ping, tc in LOOKS], "is not the output of ping"),
        ([(ping, "qdisc noqueue 0: root") for ping, _ in LOOKS], "not the output of tc -s qdisc"),
        ([*LOOKS[:2], (LOST, TC.format(100, 100))], "2 pings were answered"),
        ([(ping, TC.format(67, 3)) for ping, _ in LOOKS], "a limit of 67 packets"),
        ([(PING.format(60.0), TC.format(100, 0))] * 3, "nearly empty"),
        ([(PING.format(60.0), TC.format(100, 99))] * 3, "differ by more than 6 packets"),
        # each ping with tc's text of the next round
        ([(ping, tc) for (ping, _), (_, tc) in pairwise(NEXT)], "differ by more than 6 packets"),
        ([LOOKS[0]] * 3, "the same counters"),
        ([(PING.format(rtt), LOOKS[1][1]) for rtt in (66.7, 66.8, 66.9)], "the same counters"),
    ],
    lab06.check_half: [
        (half_run(packets=100), "queue_packets=100"),
        (half_run(delay_ms=0), "delay_ms=0"),
        (half_run(rtt_ms=79), "is too much"),
        (half_run(mbps=15), "more than this network can give"),
        (STOPPED, "stopped"),
    ],
}


test_what_is_wrong_is_refused_and_named = refused(WRONG)


@pytest.mark.parametrize(
    ("sent", "stream"), [("h1-h4", "h2-h5"), ("h3-h6", "h1-h4"), ("h2-h5", "h2-h5"), ("h7-h9", "h2-h5")]
)
def test_a_stream_that_keeps_its_rate_shows_the_wrong_sentence_wherever_it_crosses_l2(sent: str, stream: str) -> None:
    result = lab06.check_claim(3, together(streamed(stream), transfer(sent, 8.9)))
    assert result.passed, str(result)


def test_a_receiver_that_waits_for_its_last_packets_spoils_no_verdict() -> None:
    """As measured: iperf3 was told 22 s, lost packets at the end, and counted for 22.25 s."""
    seen = controls()["reno"].of(TcpResult)[0]
    sent = replace(
        seen, flow=TcpFlow("h8", "h9", 22), origin=origin(), throughput_mbps=18.891, duration_s=22.2458
    )  # fmt: skip
    run = together(pinged("h1-h4", 70, 1), transfer("h1-h4", 28.3), pinged("h8-h9", 45, 1), sent)
    verdicts = {it.description: it for it in lab06.check_runs({"apart": run}).checks}
    assert verdicts["throughput of h8-h9, through L3 (apart)"].passed
    soon = replace(sent, duration_s=22.0)
    run = together(pinged("h1-h4", 70, 1), transfer("h1-h4", 28.3), pinged("h8-h9", 45, 1), soon)
    verdicts = {it.description: it for it in lab06.check_runs({"apart": run}).checks}
    assert not verdicts["throughput of h8-h9, through L3 (apart)"].passed


def test_what_has_no_index_must_be_refused_and_nothing_else() -> None:
    assert len(failed(lab06.check_jain(right_index))) == 2


def test_who_scales_the_queue_s_share_hears_of_the_packets_in_flight() -> None:
    right = 40 + 50 * PACKET_MS
    for predicted, slip in ((right, ""), (60 + (80.37 - 60) / 2, "this scales the added delay by the queue's size")):
        commit(lab06.PREDICTIONS, "new_rtt", {50: predicted})
        result = lab06.check_half(half_run())
        assert result.passed
        (row,) = result.surprises
        assert (row.slip, row.measured) == (slip, 61.2)


# --- Whose packets fill the queue

COUNTED = {"first": {"h1-h4": 50, "h2-h5": 50}, "last": {"h1-h4": 20, "h2-h5": 80}}


@pytest.mark.parametrize("held", [COUNTED["last"], {"h2-h5": 81, "h1-h4": 19.0}, {"h1-h4": 21, "h2-h5": 80}])
def test_the_packets_of_each_flow_pass_to_one_that_comes_at_the_same_instant(held: object) -> None:
    result = lab06.check_held(held, COUNTED)
    assert result.passed, str(result)


def test_a_share_of_one_instant_is_told_apart_from_that_of_the_whole_run() -> None:
    counted = COUNTED | {"sent": {"h1-h4": 7100, "h2-h5": 2900}}
    told = lab06.check_held(COUNTED["last"], counted).checks[0].explanation
    assert "20 % of what leaves L2 in the next 40 ms" in told
    assert "Over the whole run it has 71 %" in told


test_another_count_of_packets_is_refused_and_named = refused(
    {
        lab06.check_held: [
            ({"h1-h4": 80, "h2-h5": 20}, COUNTED, "that is h2-h5's number"),
            ({"h1-h4": 50, "h2-h5": 50}, COUNTED, "that is the first loss"),
            ({"h1-h4": 20, "h2-h5": 100}, COUNTED, "that is the whole queue"),
            ({"h1-h4": 20, "h2-h5": 77}, COUNTED, "too little"),
            ({"h1-h4": 0.2, "h2-h5": 0.8}, COUNTED, "0.2 packets"),
            (COUNTED["last"], {"first": {"h1-h4": 1, "h2-h5": 2}, "last": COUNTED["last"]}, "was not full at a loss"),
        ]
    }
)


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
@pytest.mark.parametrize("student", ["ada", "bob"])
def test_at_a_loss_both_flows_fill_the_queue_of_a_student_s_own_network(student: str) -> None:
    network = variant(student, b"a course secret for trials")
    with using(network), start(network) as lab:
        flows = [TcpFlow("h1", "h4", 6), TcpFlow("h2", "h5", 6)]
        counted = lab06.held_at_losses(run_together(lab, flows, record=["r2-eth2"]))
        assert sum(counted["last"].values()) == network.link("L2").queue_packets
        assert min(counted["sent"].values()) > 100
        assert lab06.check_held(counted["last"], counted).passed


def test_runs_of_two_flows_stand_side_by_side_as_far_as_they_are_there() -> None:
    seen = together(transfer("h1-h4", 8.7), transfer("h2-h5", 19.8))
    found = figures.two_table(printed(11.5, 16.9), seen, None)
    assert isinstance(found, Table)
    assert [row[1:4] for row in found.rows] == [(11.5, 16.9, 28.4), (8.7, 19.8, 28.5)]
    assert figures.two_table({}, None, None) == NOTHING
    assert figures.two_table({"h1-h4": "", "h2-h5": ROW}, None, None) == NOTHING


def test_the_highest_rtts_of_two_and_three_flows_stand_next_to_the_predicted_ones() -> None:
    said = lab06.PREDICTIONS.predict("highest", {"two": 80.4, "three": 90}, 60)
    found = figures.highest_table({"two": together(queued("h1-h4", 70, 79)), "three": None}, said)
    assert isinstance(found, Table)
    ((name, predicted_ms, theory_ms, highest_ms, _),) = found.rows
    assert (name, predicted_ms, highest_ms) == ("two", 80.4, 79)
    assert theory_ms == pytest.approx(80.37, abs=0.01)
    assert figures.highest_table({}, said) == NOTHING


def test_a_run_without_a_recording_is_no_traceback() -> None:
    with pytest.raises(LinklabError, match=r'record it with record=\["r2-eth2"\]'):
        lab06.held_at_losses(Run((), 0.0))
