"""What theory expects: right for what was measured, wrong for what typical mistakes give, and derived in words."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from linklab.analysis import (
    Expectation,
    Load,
    MeasuredPath,
    experiment,
    full_queue_rtt,
    full_queue_share_ms,
    loaded_rtt,
    measured_path,
    tcp_throughput,
    udp_ceiling_mbps,
    udp_loss_percent,
    udp_throughput,
    unloaded_rtt,
)
from linklab.analysis.sharing import Share, direction_of
from linklab.analysis.tcp_model import BETA, RENO_PACKETS_PER_RTT, pipe_of
from linklab.errors import MeasurementError, NetworkError
from linklab.network import COURSE, TWO_HOSTS, Network, Shape, goodput_ceiling_mbps
from linklab.network.catalogue import dual_stack, l3_switch, router_on_a_stick
from linklab.network.variants import RATES_MBPS, LinkNumbers, variant_of_numbers
from tests.states import PLAN, change_node, reshape

from .measured import RUNS

H1_H4, H1_H9 = measured_path(COURSE, "h1", "h4"), measured_path(COURSE, "h1", "h9")


@pytest.mark.parametrize("name", RUNS)
def test_what_was_measured_on_virtual_time_lies_in_the_intervals(name: str) -> None:
    duration_s, seen = RUNS[name]
    found = experiment(COURSE, [it.load for it in seen], duration_s, pings=int(duration_s), state=PLAN)
    for expected, it in zip(found.loads, seen, strict=True):
        assert expected.total.holds(sum(it.mbps)), expected.total
        for mbps in it.mbps:
            assert expected.connection.holds(mbps), expected.connection
        if it.rtt_mean_ms is not None and it.rtt_highest_ms is not None:
            if expected.share.rivals == 1:
                mean = loaded_rtt(expected.share.path, duration_s, int(duration_s))
                assert mean.holds(it.rtt_mean_ms), mean
            assert expected.rtt_highest.holds(it.rtt_highest_ms), expected.rtt_highest
    for link, whole in found.sums.items():
        through = [
            sum(it.mbps)
            for expected, it in zip(found.loads, seen, strict=True)
            if direction_of(expected.share.bottleneck) == link
        ]
        assert whole.holds(sum(through)), (link, whole)


@pytest.mark.parametrize("pair", [("r1", "r2"), ("r2", "r3"), ("r3", "r4"), ("h1", "h4"), ("h7", "h9"), ("h1", "h9")])
def test_typical_mistakes_lie_outside(pair: tuple[str, str]) -> None:
    it = measured_path(COURSE, *pair)
    throughput, rtt = tcp_throughput(it), unloaded_rtt(it)
    nominal = min(link.rate_mbps for link in it.forward.links if link.rate_mbps is not None)
    for wrong in (nominal, throughput.value / 8, throughput.value * 8, throughput.value / 2, 0.7 * nominal):
        assert not throughput.holds(wrong), wrong
    for wrong in (rtt.value / 2, rtt.value * 2, rtt.value / 1000, rtt.value + 1, 0.99 * rtt.value):
        assert not rtt.holds(wrong), wrong


def test_one_of_two_flows_is_not_taken_for_both_nor_the_fair_share_for_the_sum() -> None:
    found = experiment(COURSE, [Load("h1", "h4"), Load("h2", "h5")])
    fair = found.loads[0].share.total_mbps
    assert fair == pytest.approx(goodput_ceiling_mbps(30) / 2)
    assert not found.loads[0].total.holds(2 * fair)
    assert not found.sums["L2", "r2"].holds(fair)
    assert not found.sums["L2", "r2"].holds(30)
    assert found.loads[0].total.low < fair < found.loads[0].total.high
    judged = experiment(COURSE, [Load("h1", "h4"), Load("h2", "h5")], judged=4).loads[0].total
    assert judged.decided_by == "the sum through L2"
    assert not judged.holds(0.2)
    assert not judged.holds(28.2)


def _mean_shares(share: Share, chance: random.Random, duration_s: float) -> list[float]:
    """What windows have of a link on average that begin anywhere, grow evenly, and of which one falls at each loss."""
    pipe, step_s = pipe_of(share.path, share.bottleneck), 0.1
    growth = RENO_PACKETS_PER_RTT * 1000 / (pipe.base_ms + pipe.full_queue_ms / 2) * step_s
    drawn = [chance.expovariate(1) for _ in range(share.rivals)]
    windows = [BETA * pipe.full_window_packets * one / sum(drawn) for one in drawn]
    means = [0.0] * len(windows)
    steps = round(duration_s / step_s)
    for _ in range(steps):
        windows = [window + growth for window in windows]
        if sum(windows) >= pipe.full_window_packets:
            windows[chance.randrange(len(windows))] *= BETA
        means = [mean + window / sum(windows) / steps for mean, window in zip(means, windows, strict=True)]
    return means


@pytest.mark.parametrize("loads", [(1, 1), (2, 1, 1), (8, 1, 1)])
def test_of_many_checked_shares_no_sound_one_lies_outside(loads: tuple[int, ...]) -> None:
    pairs = (("h1", "h4"), ("h2", "h5"), ("h3", "h6"))
    flows = [Load(*pair, connections) for pair, connections in zip(pairs, loads, strict=False)]
    found, chance = experiment(COURSE, flows, judged=15), random.Random(7)
    (whole,) = found.sums.values()
    for _ in range(150):
        means = [share * whole.value for share in _mean_shares(found.loads[0].share, chance, 25)]
        if sum(loads) <= 4:  # of ten none is judged alone
            assert all(found.loads[0].connection.holds(one) for one in means)
        assert found.loads[0].total.holds(sum(means[: loads[0]]))


def test_a_full_queue_counts_the_packets_in_flight() -> None:
    full = full_queue_rtt(H1_H4)
    assert full.value == pytest.approx(60 - 20 + 100 * 1514 * 8 / 30000)
    assert not full.holds(60 + 100 * 1514 * 8 / 30000)  # the queue on top of the delay
    assert not full.holds(60)
    assert full_queue_rtt(measured_path(COURSE, "h8", "h9")).value == pytest.approx(20 - 10 + 33 * 1514 * 8 / 20000)


def test_a_queue_shorter_than_its_delay_line_adds_nothing_and_holds_the_rate_down() -> None:
    state = reshape(reshape(PLAN, "r2-eth2", queue_packets=25), "r3-eth0", queue_packets=25)
    it = measured_path(COURSE, "h1", "h4", state)
    assert full_queue_rtt(it).value == 60
    assert loaded_rtt(it).high == pytest.approx(60 + 2 * 1514 * 8 / 30000 + 0.05)
    assert tcp_throughput(it).value < 0.55 * tcp_throughput(H1_H4).value


def test_packets_in_a_row_wait_once_more_for_a_slower_link_behind_the_shared_one() -> None:
    """Found by a recorded run: 35.5 ms before L2 and 6.8 before L3, where the connection got 17 of L3's 20 Mbit/s."""
    path = measured_path(COURSE, "h7", "h9")
    shared = next(hop for hop in path.forward.hops if hop.link.name == "L2")
    expected = full_queue_rtt(path, shared, 2)
    assert expected.high - expected.value == pytest.approx(33 * 1514 * 8 / 20_000 - 10 + 2 * 1514 * 8 / 30_000, abs=0.1)
    assert "packets sent back to back may queue once more, at L3, for up to 10 ms" in expected.why
    assert "once more" not in full_queue_rtt(H1_H4).why


def test_pings_that_meet_slow_start_may_wait_before_a_faster_link_too() -> None:
    """Found by pings every 0.2 s: 83.4 ms, where those every second met 79.4 at most. RFC 5681: two for each acked."""
    seldom, often = full_queue_rtt(H1_H4), full_queue_rtt(H1_H4, interval_s=0.2)
    assert often.high - seldom.high == pytest.approx(100 * 1514 * 8 / 40_000 - 20, abs=0.01)
    assert (often.value, often.low >= seldom.low) == (seldom.value, True)
    assert "queue once more, at L1" in often.why
    twice = reshape(PLAN, "r1-eth1", rate_mbps=60)
    assert full_queue_rtt(measured_path(COURSE, "h1", "h4", twice), interval_s=0.2).high == pytest.approx(
        seldom.high, abs=1
    )


@pytest.mark.parametrize(
    ("rates_mbps", "delays_ms", "mean_ms", "highest_ms"),
    [((38, 27, 18), (11, 24, 10), 78.026, 93.988), ((43, 30, 20), (10, 22, 10), 71.529, 83.399)],
)
def test_fast_convergence_may_lower_the_plateau_of_every_second_curve(
    rates_mbps: tuple[int, int, int], delays_ms: tuple[int, int, int], mean_ms: float, highest_ms: float
) -> None:
    """Measured by sound transfers on students' networks: the window stays at 0.85 of the full one for seconds."""
    shape = LinkNumbers(rates_mbps, delays_ms)
    links = {
        name: Shape(rate, delay, queue_packets=packets)
        for name, rate, delay, packets in zip(RATES_MBPS, rates_mbps, delays_ms, shape.queues_packets, strict=True)
    }
    network = variant_of_numbers("a student's", links, {subnet.name: subnet.prefix for subnet in COURSE.subnets})
    path = measured_path(network, "h1", "h4")
    assert loaded_rtt(path).holds(mean_ms)
    assert full_queue_rtt(path).holds(highest_ms)
    assert not loaded_rtt(path).holds(path.rtt_floor_ms + 1)
    assert not full_queue_rtt(path).holds(path.rtt_floor_ms + full_queue_share_ms(network.link("L2")) / 2)


def test_the_longer_the_transfer_the_narrower_the_interval_and_the_less_a_burst_counts() -> None:
    ceiling = goodput_ceiling_mbps(30)
    assert tcp_throughput(H1_H4, 1).high == pytest.approx(ceiling * (1 + 0.12 / 30))
    assert ceiling < tcp_throughput(H1_H4, 25).high < ceiling * (1 + 2e-4)
    widths = [(it.high - it.low) / it.high for it in (tcp_throughput(H1_H9, s) for s in (5, 10, 25, 100))]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] < 0.7
    assert widths[-1] < 0.1


def test_the_network_as_read_back_decides() -> None:
    slow = reshape(PLAN, "r2-eth2", rate_mbps=10.0)
    assert tcp_throughput(measured_path(COURSE, "h1", "h4", slow)).high == pytest.approx(
        goodput_ceiling_mbps(10), abs=0.01
    )
    one_sided = reshape(PLAN, "r2-eth0", delay_ms=0.0)
    assert unloaded_rtt(measured_path(COURSE, "r1", "r2", one_sided)).value == 10
    with pytest.raises(NetworkError, match="h9-eth0 of h9 is not there"):
        measured_path(COURSE, "h1", "h9", change_node(PLAN, "h9", interfaces=()))


@pytest.mark.parametrize("size", [1448, 1472])
@pytest.mark.parametrize(("offered", "arriving"), [(15.0, 15.0), (25.0, 25.0), (40.0, None)])
def test_udp_carries_what_is_offered_up_to_what_headers_leave(
    size: int, offered: float, arriving: float | None
) -> None:
    ceiling = 30 * size / (size + 42)
    assert udp_ceiling_mbps(H1_H4, size) == pytest.approx(ceiling)
    through = udp_throughput(H1_H4, offered, 10, size)
    assert through.value == pytest.approx(arriving or ceiling)
    assert not through.holds(offered / 8)
    assert not through.holds(30)
    loss = udp_loss_percent(H1_H4, offered, 10, size)
    assert loss.value == pytest.approx(0 if arriving else 100 * (1 - ceiling / offered))
    assert not loss.holds(loss.value + 2)


@pytest.mark.parametrize(
    "expected",
    [
        loaded_rtt(H1_H4),
        udp_throughput(H1_H4, 25),
        udp_loss_percent(H1_H4, 40),
        experiment(COURSE, [Load("h1", "h4", 2), Load("h2", "h5")]).loads[0].connection,
        tcp_throughput(measured_path(TWO_HOSTS, "h1", "h2"), 5),
    ],
)
def test_each_says_in_words_where_it_comes_from(expected: Expectation) -> None:
    assert expected.low <= expected.value <= expected.high
    assert len(expected.why) > 60
    assert any(character.isdigit() for character in expected.why)
    assert expected.source
    assert expected.basis.startswith(f"derived from {expected.source}")
    assert expected.explanation == f"{expected.why} (interval {expected.basis})"


def test_a_cable_s_overhead_counts_in_every_expectation() -> None:
    path = measured_path(l3_switch(100), "h1", "h3")
    assert tcp_throughput(path).high == pytest.approx(100 * 1448 / 1538)
    assert unloaded_rtt(path).value == pytest.approx(4 * (84 + 14 + 24) * 8 / 100_000)
    assert full_queue_rtt(path).value == pytest.approx(unloaded_rtt(path).value + 100 * 1538 * 8 / 100_000)
    assert udp_throughput(path, 110).value == pytest.approx(100 * 1448 / (1448 + 42 + 24))
    assert experiment(l3_switch(100), [Load("h1", "h3")]).sums["h1-s1", "h1"].high == tcp_throughput(path).high


def test_where_answers_wait_behind_the_data_there_is_no_model() -> None:
    stick = measured_path(router_on_a_stick(100), "h1", "h3")
    with pytest.raises(NetworkError, match="h1-h3 and its acknowledgements both leave s1 by s1-eth5"):
        tcp_throughput(stick)
    # the first link fills too: it carries four bytes a frame more than the trunk, which has tags
    assert udp_loss_percent(stick, 110, 5).low < 12.88 < udp_loss_percent(stick, 110, 5).high


def test_refusals() -> None:
    with pytest.raises(MeasurementError, match="lies outside 2 to 3"):
        Expectation(1, 2, 3, "ms", "")
    with pytest.raises(MeasurementError, match="neither what it is derived from nor why it is allowed"):
        Expectation(2, 1, 3, "ms", "a number")
    with pytest.raises(MeasurementError, match="pings is 0"):
        loaded_rtt(H1_H4, pings=0)
    with pytest.raises(MeasurementError, match="offered_mbps is 0"):
        udp_throughput(H1_H4, 0)
    with pytest.raises(NetworkError, match="no link of the path"):
        tcp_throughput(measured_path(COURSE, "h1", "h2"))


def lossy(percent: float) -> MeasuredPath:
    """h1 to h4, with packets lost at random on L1, before L2."""
    return measured_path(COURSE, "h1", "h4", reshape(PLAN, "r1-eth1", loss_percent=percent))


@pytest.mark.parametrize(
    ("offered", "percent", "arriving", "lost"),
    [(10, 5, 9.5, 5), (30, 5, 28.5, 5), (40, 10, None, None), (10, 0, 10, 0), (10, 100, 0, 100)],
)
def test_what_links_lose_at_random_is_expected_of_udp(
    offered: float, percent: float, arriving: float | None, lost: float | None
) -> None:
    ceiling = 30 * 1448 / 1490
    # behind L1 36 Mbit/s are left of 40, of which L2 carries its own
    arriving, lost = (ceiling, 100 * (1 - ceiling / 40)) if arriving is None or lost is None else (arriving, lost)
    through, loss = udp_throughput(lossy(percent), offered, 10), udp_loss_percent(lossy(percent), offered, 10)
    assert through.value == pytest.approx(arriving)
    assert loss.value == pytest.approx(lost)
    assert through.low <= arriving <= through.high
    assert loss.holds(lost)
    if 0 < percent < 100 and offered < 30:
        assert loss.holds(percent + 0.3), "chance has a hand in it"
        assert not loss.holds(0)
        assert not through.holds(offered)


def test_tcp_over_a_link_that_loses_at_random_has_no_model() -> None:
    with pytest.raises(NetworkError, match="L1 loses 5 % at random: there is no model of TCP"):
        tcp_throughput(lossy(5))
    with pytest.raises(NetworkError, match="there is no model of TCP"):
        experiment(COURSE, [Load("h1", "h4"), Load("h2", "h5")], state=reshape(PLAN, "r1-eth1", loss_percent=1))


def test_a_datagram_in_fragments_stays_so_behind_the_link_that_made_them() -> None:
    small = change_mtu("L1", 1000)
    it = measured_path(small, "h1", "h4")
    # 2008 bytes with UDP's header: 976, 976 and 56, each with 34 bytes of headers, on L2 too
    assert udp_ceiling_mbps(it, 2000) == pytest.approx(30 * 2000 / (2008 + 3 * 34))
    assert udp_throughput(it, 60, 10, 2000).value == pytest.approx(30 * 2000 / (2008 + 3 * 34))


def change_mtu(name: str, mtu_bytes: int) -> Network:
    links = tuple(replace(link, mtu_bytes=mtu_bytes) if link.name == name else link for link in COURSE.links)
    return replace(COURSE, links=links)


def test_over_ipv6_a_ping_is_20_bytes_longer() -> None:
    network = dual_stack(l3_switch(100))
    old, new = (unloaded_rtt(measured_path(network, "h1", "h3", ip_version=version)) for version in (4, 6))
    assert new.value - old.value == pytest.approx(4 * 20 * 8 / 100e3)
