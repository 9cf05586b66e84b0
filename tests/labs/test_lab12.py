"""Lab 12's checks on what its solution measured, on honest variations of it, and on what looks right and is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from linklab.analysis import measured_path
from linklab.course import using
from linklab.labs import NOTHING
from linklab.labs.lab12 import figures, rules
from linklab.labs.lab12 import rules as lab12
from linklab.labs.lab12.rules import access, with_modem
from linklab.measure import PageResult, PingResult, QueueResult, Run, TcpResult
from linklab.network import COURSE, Network
from linklab.show.figure import Drawing
from tests.grade.failures import said
from tests.labs.altered import changed, given, read_back, without
from tests.labs.lab12_runs import UNSEEN, VARIANT, finale, kept, uploads
from tests.labs.predicted import commit
from tests.labs.refused import Table, refused


def in_one_queue(run: Run) -> Run:
    """The run with fq_codel that was told to have one queue."""
    return given(run, QueueResult, discipline=ONE_FLOW)


def shaped(run: Run, **values: Any) -> Run:
    """The run with what r1-eth2 does read back otherwise."""
    return read_back(run, "r1-eth2", **values)


def behind(run: Run, delay_ms: float) -> Run:
    """The run with another delay of the link behind U."""
    return read_back(run, "r2-eth1", "h3-eth0", delay_ms=delay_ms)


# --- A queue's limit


def by_halves(rate_mbps: float, wait_ms: float) -> int:
    bits, packets = rate_mbps * 1e6 * wait_ms / 1000, 1
    while (packets + 1) * 1514 * 8 <= bits:
        packets += 1
    return packets


@pytest.mark.parametrize(
    "function",
    [
        by_halves,
        lambda rate_mbps, wait_ms: max(rate_mbps * 125 * wait_ms // 1514, 1),
        lambda rate, wait: np.maximum(1, np.floor(rate * wait * 1e3 / 12112)),
    ],
)
def test_a_limit_passes_in_any_style(function: object) -> None:
    result = lab12.check_limit(function)
    assert result.passed, str(result)


# --- Runs

LONG, FAIR, MARKS = kept()["long"], kept()["fq_codel"], kept()["marks"]
ONE = {name: kept()[name] for name in lab12.ONE_QUEUE}
APART = {name: kept()[name] for name in lab12.APART}


def test_what_the_solution_measured_passes() -> None:
    results = lab12.check_long(LONG), lab12.check_one_queue(ONE), lab12.check_apart(APART), lab12.check_ecn(MARKS)
    for result in results:
        assert result.passed, str(result)


def test_other_orders_more_runs_and_a_shorter_fifo_pass_too() -> None:
    turned = {name: replace(run, results=run.results[::-1]) for name, run in {**ONE, "sfq": FAIR}.items()}
    assert lab12.check_one_queue(turned).passed
    assert lab12.check_long(changed(LONG, QueueResult, interval_s=0.2)).passed
    shorter = given(ONE["pfifo"], QueueResult, discipline="pfifo 8001: parent 5:1 limit 15p")
    assert lab12.check_one_queue({**ONE, "pfifo": shorter}).passed


def named(run: Run, queue: str) -> Run:
    """The run with the words that tc has for another queue."""
    return given(run, QueueResult, discipline=kept()[queue].of(QueueResult)[0].discipline)


HIGH_CODEL = "codel 8003: parent 5:1 limit 1000p target 50ms interval 100ms"
HUGE_RED = "red 8002: parent 5:1 limit 2000000b min 300000b max 1500000b"
ONE_FLOW = "fq_codel 8004: parent 5:1 limit 10240p flows 1 quantum 1514 target 5ms interval 100ms ecn"
BLIND = "cake 8005: parent 5:1 bandwidth unlimited diffserv3 flowblind nonat nowash"
FINALE = finale("cake")
SLOW_CAKE = given(APART["cake"], QueueResult, discipline="cake 8005: parent 5:1 bandwidth 9500Kbit diffserv3")
WRONG: Table = {
    lab12.check_long: [
        (changed(LONG, TcpResult, congestion="bbr"), "congestion='bbr'"),
        (without(LONG, PingResult), "no PingFlow h2-h3"),
        (changed(LONG, PingResult, start_s=0), "PingFlow h2-h3 has start_s=0"),
        (without(LONG, PageResult), "no PageFlow h2-h3"),
        (given(LONG, PageResult, page_ms=(), begin_s=()), "no page_ms"),
        (without(LONG, QueueResult), "no QueueFlow r1-h3"),
        (shaped(LONG, rate_mbps=None), "rate_mbps=None"),
        # a network that nobody has seen: its addresses are the same
        (shaped(LONG, rate_mbps=3.0), "rate_mbps=3"),
        (FAIR, "U's queue was changed"),
        (kept()["too long"], "U's queue was changed"),
        # an idle network's numbers, and an upload that never filled the queue
        (given(LONG, PingResult, rtt_ms=(20.0,) * 175), "highest ping"),
        (given(LONG, PageResult, page_ms=(283.0, 283.0), begin_s=(0.0, 1.3)), "page, a queue of 1000"),
        (given(LONG, TcpResult, throughput_mbps=4.0), "use of U"),
    ],
    lab12.check_one_queue: [
        ({**ONE, "red": ONE["codel"], "codel": ONE["red"]}, "U's queue was codel"),
        ({**ONE, "pfifo": kept()["too long"]}, "it is 60 packets Hint: use the limit that your function returns"),
        # a name in the place of a queue that does what it says
        ({**ONE, "codel": named(LONG, "codel")}, "mean ping, codel"),
        ({**ONE, "red": named(LONG, "red")}, "mean ping, red"),
        ({**ONE, "red": given(LONG, QueueResult, discipline=HUGE_RED)}, "max of red"),
        ({**ONE, "codel": given(ONE["codel"], QueueResult, discipline=HIGH_CODEL)}, "target of codel"),
        ({**ONE, "pfifo": given(ONE["pfifo"], TcpResult, throughput_mbps=8.9)}, "use of U, pfifo"),
    ],
    lab12.check_apart: [
        (dict.fromkeys(lab12.APART, FAIR), "U's queue was fq_codel"),
        # one queue for all, whatever it is called
        ({**APART, "fq_codel": given(FAIR, QueueResult, discipline=ONE_FLOW)}, "all flows into one queue"),
        ({**APART, "cake": given(APART["cake"], QueueResult, discipline=BLIND)}, "all flows into one queue"),
        (
            {**APART, "cake": given(kept()["pfifo"], QueueResult, discipline="cake 8005: parent 5:1 unlimited")},
            "highest ping, cake",
        ),
        ({**APART, "cake": given(APART["cake"], TcpResult, throughput_mbps=8.0)}, "use of U, cake"),
        # CAKE sends more slowly than U by itself
        ({**APART, "cake": given(SLOW_CAKE, TcpResult, throughput_mbps=9.0)}, "cake unlimited"),
    ],
    lab12.check_ecn: [
        (FAIR, "on h1 run sysctl -w net.ipv4.tcp_ecn=1"),
        (given(FAIR, QueueResult, marked_packets=50), "did h1 ask before this run"),
        (kept()["red"], "U's queue was red"),
        # replacing a queue by one of the same kind keeps settings that are not named
        (given(FAIR, QueueResult, discipline="fq_codel 8006: parent 5:1 limit 10240p flows 1024"), "fq_codel ecn"),
        (given(FAIR, TcpResult, retransmitted_segments=0), "fq_codel marked no packet"),
    ],
    lab12.check_finale: [
        ({**FINALE, "slow": FINALE["fast"], "fast": FINALE["slow"]}, "r2-eth1 had rate_mbps=40"),
        ({**FINALE, "fast": given(FINALE["fast"], TcpResult, throughput_mbps=33.0)}, "use of the modem, fast"),
        ({**FINALE, "fast": named(FINALE["fast"], "long")}, "read what tc printed"),
        ({**FINALE, "middle": kept()["fq_codel"]}, "r2-eth1 had rate_mbps"),
        # a good queue where no packet waits, a limit that is never reached, a rate that fits another modem
        (finale("fq_codel"), "ping, slow"),
        (finale("pfifo 30 ms"), "ping, slow"),
        (finale("cake 10"), "ping, slow"),
        # more than the modem sends, and far less
        (finale("cake 120 %"), "ping, slow"),
        (finale("cake 80 %"), "use of the modem, slow"),
        # the modem was changed, and U was
        ({**FINALE, "slow": read_back(FINALE["slow"], "r2-eth1", queue_packets=10)}, "leave the modem as it is"),
        ({**FINALE, "slow": shaped(FINALE["slow"], delay_ms=5.0)}, "delay_ms=5"),
    ],
}  # fmt: skip


test_what_is_wrong_is_refused_and_named = refused(WRONG)


# --- One ping in two queues


def pair(**rtt_ms: tuple[float | None, ...]) -> dict[str, Run]:
    """Return a run with each queue in which h2's pings have these round trips."""
    short = changed(changed(without(LONG, PageResult, QueueResult), TcpResult, duration_s=4), PingResult, count=3)
    return {name: given(short, PingResult, rtt_ms=them) for name, them in rtt_ms.items()}


PAIR = pair(FIFO=(156.0, 178.0, 201.0), fq_codel=(20.0, 20.3, 20.6))


@pytest.mark.parametrize(
    "waits",
    [
        {"FIFO": 180.857, "fq_codel": 0.59},
        {"FIFO": 181, "fq_codel": 0.6},
        {"FIFO": 180, "fq_codel": 0.593},
        {"FIFO": 182, "fq_codel": 0.7},
        {"fq_codel": np.float64(0.6), "FIFO": 181.2},
    ],
)
def test_a_wait_passes_as_the_panel_shows_it_and_rounded(waits: object) -> None:
    result = lab12.check_waits(waits, PAIR)
    assert result.passed, str(result)


def test_a_ping_that_leaves_at_once_waited_for_0_ms() -> None:
    at_once = pair(FIFO=(156.0, 178.0, 201.0), fq_codel=(20.3, 20.3, 20.0))
    assert lab12.check_waits({"FIFO": 181, "fq_codel": 0}, at_once).passed
    assert not lab12.check_waits({"FIFO": 181, "fq_codel": 0.3}, at_once).passed


test_another_packet_s_wait_is_refused_and_named = refused(
    {
        lab12.check_waits: [
            ({"FIFO": 201, "fq_codel": 0.6}, PAIR, "that is the whole round trip"),
            ({"FIFO": 158, "fq_codel": 0.6}, PAIR, "that is ping number 2"),
            ({"FIFO": 0.6, "fq_codel": 181}, PAIR, "that is the wait in the run with fq_codel"),
            ({"FIFO": 0.181, "fq_codel": 0.6}, PAIR, "that looks like seconds"),
            ({"FIFO": 90.5, "fq_codel": 0.6}, PAIR, "90.5 ms"),
            ({"FIFO": 181, "fq_codel": 0.6}, {**PAIR, "FIFO": without(PAIR["FIFO"], PingResult)}, "no PingFlow h2-h3"),
            ({"FIFO": 181, "fq_codel": 0.6}, pair(FIFO=(1.0, 2.0, None), fq_codel=(1.0, 2.0, 3.0)), "rtt_ms"),
        ]
    }
)


# --- Networks that nobody has seen


def test_whoever_sends_a_little_less_than_the_modem_passes_with_cake_or_a_fifo_of_20_ms() -> None:
    for runs in (FINALE, finale("tbf")):
        result = lab12.check_finale(runs)
        assert result.passed, str(result)


def test_pings_that_are_lost_do_not_count_as_short_ones() -> None:
    sent = FINALE["slow"].of(PingResult)[0]
    lost = tuple(None if number % 3 == 0 else rtt for number, rtt in enumerate(sent.rtt_ms))
    result = lab12.check_finale({**FINALE, "slow": given(FINALE["slow"], PingResult, rtt_ms=lost)})
    assert "of the pings were lost" in said(result)


def test_a_fifo_of_20_ms_passes_on_a_path_whose_ping_is_then_above_40_ms() -> None:
    run = ONE["pfifo"]
    longer = tuple(None if rtt is None else rtt + 4 for rtt in run.of(PingResult)[0].rtt_ms)
    later = given(behind(run, 12.0), PingResult, rtt_ms=longer)
    assert rules.low_ping_ms(later) > 40
    assert lab12.check_one_queue({**ONE, "pfifo": later}).passed


def test_unseen_networks_are_other_ones_each_time_and_keep_the_student_s_addresses() -> None:
    drawn = [lab12.unseen() for _ in range(20)]
    assert len({it["slow"].name for it in drawn}) > 5
    for each in drawn:
        assert set(each) == set(UNSEEN)
        for name, network in each.items():
            low, high = rules.BANDS_MBPS[name]
            assert low <= lab12.modem_mbps(network) <= high
            assert network.link("U").rate_mbps == 100
            assert 12 <= rules.idle_ms(network) <= 24
    with using(VARIANT):
        assert lab12.unseen()["slow"].subnets == lab12.the_network().subnets


def test_a_neighbour_s_measurements_are_refused() -> None:
    with using(VARIANT):
        for result in (
            lab12.check_long(LONG),
            lab12.check_one_queue(ONE),
            lab12.check_apart(APART),
            lab12.check_ecn(MARKS),
            lab12.check_waits({}, PAIR),
            lab12.check_finale(FINALE),
        ):
            assert "measured on another network" in said(result)
            assert "the network that its first cells make" in said(result)


# --- Predictions


def test_predictions_stand_next_to_what_was_measured() -> None:
    commit(lab12.PREDICTIONS, "bloat", {"ping": 1211.2, "page": 0.24})
    ping, page = lab12.check_long(LONG).surprises
    assert ping.measured == rules.highest_ms(LONG)
    assert page.measured == rules.page_s(LONG)
    assert "on an idle path" in page.slip


def test_the_figures_and_tables_have_what_was_measured_and_say_so_where_nothing_was() -> None:
    assert isinstance(figures.queue_figure(ONE), Drawing)
    assert figures.queue_figure({"long": None}) == NOTHING
    assert figures.queue_table({}) == NOTHING
    rows = {row[0]: row for row in figures.queue_table({**kept(), **FINALE}).rows}  # type: ignore[union-attr]
    assert rows["marks"][1] == "fq_codel"
    assert rows["marks"][8] == 0
    assert rows["slow"][7] is None


# --- The network


def test_the_plain_access_network_has_10_mbit_s_and_20_ms() -> None:
    network = access(COURSE)
    uplink = network.link("U")
    assert (uplink.rate_mbps, uplink.delay_ms, uplink.queue_packets) == (10, 0, 1000)
    assert [measured_path(network, host, "h3").rtt_floor_ms for host in ("h1", "h2")] == [20, 20]


def test_a_modem_is_the_bottleneck_behind_a_fast_uplink() -> None:
    other = with_modem(access(COURSE), 2.5, 24)
    assert (other.link("U").rate_mbps, lab12.modem_mbps(other)) == (100, 2.5)
    assert measured_path(other, "h2", "h3").rtt_floor_ms == 24
    assert [link.ends for link in other.links] == [link.ends for link in access(COURSE).links]


# --- A claim, and a figure


@pytest.mark.parametrize(("student", "course"), [("plain", COURSE), ("ada", VARIANT)])
def test_four_connections_beside_one_show_the_wrong_sentence_and_nothing_else_does(
    student: str, course: Network
) -> None:
    shown = uploads(student)["fq_codel"]
    one_each = given(shown, TcpResult, throughput_mbps=4.8)
    with using(course):
        for right in (shown, replace(shown, results=shown.results[::-1])):
            assert lab12.check_claim(4, right).passed, str(lab12.check_claim(4, right))
        for sentence, run, says in (
            (1, shown, "1231 ms with a full queue"),
            (2, shown, "the time does not depend on the rate"),
            (3, shown, "the highest ping stays near"),
            (5, shown, "packets were marked"),
            (None, shown, "not answered yet"),
            (4, None, "not measured yet"),
            (4, uploads(student)["cake"], "U's queue was cake"),
            (4, in_one_queue(shown), "all flows into one queue"),
            (4, without(shown, QueueResult), "no QueueFlow r1-h3"),
            (4, changed(shown, TcpResult, streams=4), "let h2 open one connection"),
            (4, changed(shown, TcpResult, streams=1), "write streams=4"),
            (4, changed(shown, TcpResult, duration_s=5), "write duration_s=20"),
            (4, changed(shown, TcpResult, source="h1"), "TcpFlow h1-h3 has 5 connections"),
            (4, shaped(shown, loss_percent=1.0), "loss_percent=1"),
            (4, replace(shown, interrupted=True), "stopped before its end"),
            (4, one_each, "so it is true here that each host gets half"),
        ):
            result = lab12.check_claim(sentence, run)
            assert not result.passed
            assert says in said(result), str(result)
    with using(VARIANT if course is COURSE else COURSE):
        assert "measured on another network" in said(lab12.check_claim(4, shown))


def test_each_fifo_has_a_dot_at_its_limit() -> None:
    ((first, second),) = figures.limits({"long": LONG, **ONE, "not yet": None}).about["measured"]
    assert (first, second) == ([1000, rules.highest_ms(LONG)], [16, rules.highest_ms(ONE["pfifo"])])
    assert figures.limits({"long": None}).about["measured"] == []
