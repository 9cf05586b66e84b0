"""Lab 07's counted connections, and shares by any key; runs and numbers: `test_recorded`."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from linklab.labs.lab07 import rules as lab07
from linklab.measure import QueueCounters, Repeats
from tests.grade.made_runs import origin, together, transfer

from .refused import Table, refused

HEAD = "State Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess\n"
ROW = "ESTAB 0      502456      10.0.0.2:4994{0}     10.0.5.2:5201\n\t cubic rtt:79.9/0.5 cwnd:136 ssthresh:112\n"
THREE = HEAD + "".join(ROW.format(number) for number in range(3))
OTHERS = "FIN-WAIT-1 0 1 10.0.0.2:49900 10.0.5.2:5201\nESTAB 0 0 10.0.0.2:49901 10.0.5.3:5201\n"
FAIR_MBPS = {count: 28.6 / (count + 2) for count in lab07.CONNECTIONS}
RUNS = {
    count: together(
        *[transfer("h1-h4", [rate] * min(4, count)) for _ in range(max(1, count // 4))],
        transfer("h2-h5", rate),
        transfer("h3-h6", rate),
    )
    for count, rate in FAIR_MBPS.items()
}
PERCENT = {count: 100 * count / (count + 2) for count in FAIR_MBPS}
MEASURED = together(transfer("h1-h4", [8.0775, 6.44]), transfer("h2-h5", 6.89), transfer("h3-h6", 7.1575))
UNEQUAL = together(transfer("h1-h4", 8.31), transfer("h2-h5", 11.73), transfer("h3-h6", 8.48))
REPEATED = Repeats((MEASURED,) * 3, ())
BY_CONNECTION, BY_HOST = [8.0775, 6.44, 6.89, 7.1575], [14.5175, 6.89, 7.1575]
FOUR = Repeats(tuple(together(transfer("h1-h4", [7.0, 7.0]), transfer("h2-h5", rate), transfer("h3-h6", 7.0))
                     for rate in (7.2, 6.4, 8.1, 7.5)), ())  # fmt: skip
SURE = {"mean": 7.3, "half_width": 1.125, "runs": 17, "theory": "inside"}
ALONE = transfer("h1-h4", [14.2, 14.25])
BESIDE_OTHERS = replace(origin(), queues=(QueueCounters("r2", "r2-eth2", 63000, 2 * 46_390_000, 0, 0, 0),))
WRONG: Table = {
    lab07.check_fault: [
        ({"whose_fault": "b", "provider": "b", "streams": "d"}, "each TCP connection knows only itself"),
        ({"whose_fault": "c", "provider": "a", "streams": "d"}, "two shares"),
        ({"whose_fault": "c", "provider": "b", "streams": "a"}, "still delivers in order"),
        ({"whose_fault": "c", "provider": "b", "streams": "c"}, "QUIC itself sends lost data again"),
    ],
    lab07.check_half_width: [
        (lambda values: statistics.stdev(values) / len(values) ** 0.5, "the standard error of the mean"),
        (lambda values: 1.96 * statistics.stdev(values) / len(values) ** 0.5, "takes 1.96 for t"),
        (lambda values: lab07.t95(len(values)) * statistics.stdev(values), "how far single runs lie apart"),
        (lambda values: lab07.t95(len(values)) * statistics.pstdev(values) / len(values) ** 0.5, "divides by n for s"),
        (lambda values: 2 * half_width(values), "the whole width"),
        (lambda values: None, "returns nothing"),
    ],
    lab07.check_sure: [
        (SURE | {"half_width": 2.25}, FOUR, "the whole width"),
        (SURE | {"half_width": 0.7071}, FOUR, "the standard deviation of the runs"),
        (SURE | {"half_width": 15.41}, FOUR, "in percent of the mean"),
        (SURE | {"runs": 15}, FOUR, "that takes 1.96 for t"),
        (SURE | {"runs": 39}, FOUR, "that takes t of 4 runs"),
        (SURE | {"runs": 61}, FOUR, "half of the width is to be 5 %"),
        (SURE | {"runs": 18}, FOUR, "one less is enough"),
        (SURE, MEASURED, "this is a Run"),
        (SURE | {"theory": "outside"}, FOUR, "outside is not right"),
        (SURE | {"theory": True}, FOUR, "none of inside, outside"),
        (SURE | {"mean": 14.0}, FOUR, "too much"),
    ],
    lab07.check_claim: [
        (2, ALONE, "the sums are near L2's maximum"),
        (5, None, "not measured yet"),
        (5, transfer("h1-h4", 28.4), "write streams=2"),
        (5, MEASURED, "h2 and h3 are silent"),
        (5, replace(transfer("h1-h4", [7.1, 7.1]), origin=BESIDE_OTHERS), "sent 2 times as much: others sent too"),
        (5, together(*[replace(transfer("h1-h4", 7.1), origin=BESIDE_OTHERS)] * 2), "others sent too"),
        (5, transfer("h2-h5", [14.2, 14.2]), "there is no SimpleperfFlow or TcpFlow h1-h4"),
        (5, transfer("h1-h4", [16.2, 16.2]), "so it is true here that h1 gets clearly more"),
        (5, replace(ALONE, flow=replace(ALONE.flow, duration_s=10)), "write duration_s=25"),
    ],
    lab07.check_connections: [
        (HEAD, 3, "not the output of ss -tin"),
        (OTHERS, 3, "ss shows 0 connections"),
        (HEAD + ROW.format(1) * 2, 3, "ss shows 2 connections"),
        (THREE.replace("cwnd", "wnd"), 3, "no cwnd"),
        (THREE, 2, "connections that carry data"),
        (THREE.replace("cwnd:136", "cwnd:10 bytes_sent:37 bytes_received:9102128"), 3, "h4 sent"),
        (THREE, 4, "too much"),
    ],
    lab07.check_experiment: [
        (RUNS, {count: share / 0.956 for count, share in PERCENT.items()}, "too much"),
        (RUNS | {1: UNEQUAL}, PERCENT, "that is what theory says"),
        (RUNS | {1: UNEQUAL}, PERCENT | {1: 70.84}, "that divides by h2's throughput"),
    ],
    lab07.check_parts: [
        ([[8.0775, 6.44], [6.89], [7.1575]], BY_HOST, REPEATED, "this has a list, a list, a list"),
    ],
}


def half_width(values: Sequence[float]) -> float:
    return float(lab07.t95(len(values)) * statistics.stdev(values) / len(values) ** 0.5)


test_what_is_wrong_is_refused_and_named = refused(WRONG)


@pytest.mark.parametrize(
    "said",
    [
        THREE + OTHERS,
        THREE.replace("cwnd:136", "cwnd:136 bytes_sent:9102128 bytes_received:4"),
        THREE.replace("5201\n", "5201 "),  # ss -O
        THREE.replace("ESTAB ", ""),
        THREE.replace("10.0.5.2:5201", "[::ffff:10.0.5.2]:5201"),
    ],
)
def test_two_connections_with_data_are_three(said: str) -> None:
    result = lab07.check_connections(said, 3)
    assert result.passed, str(result)
    assert "control connection" in result.checks[1].explanation


def test_numbers_may_be_rounded_as_the_text_rounds_them() -> None:
    by_connection, by_host = ([round(rate, 1) for rate in rates] for rates in (BY_CONNECTION, BY_HOST))
    assert lab07.check_parts(by_connection, by_host, REPEATED).passed
    assert lab07.check_experiment(RUNS, {count: round(share) for count, share in PERCENT.items()}).passed


@pytest.mark.parametrize("kind", [int, str, float])
def test_shares_may_stand_under_numbers_and_texts(kind: Callable[[int], object]) -> None:
    assert lab07.check_experiment(RUNS, {kind(count): share for count, share in PERCENT.items()}).passed


def test_how_sure_a_mean_is() -> None:
    assert lab07.check_half_width(half_width).passed
    result = lab07.check_sure(SURE, FOUR)
    assert result.passed, str(result)
    for run in (ALONE, together(ALONE), together(transfer("h1-h4", [7.1] * 4))):
        assert lab07.check_claim(5, run).passed, str(lab07.check_claim(5, run))


def test_two_transfers_of_one_connection_are_two_connections() -> None:
    queue = replace(BESIDE_OTHERS.queues[0], sent_bytes=94_000_000)
    each = replace(transfer("h1-h4", 14.2), origin=replace(origin(), queues=(queue,)))
    result = lab07.check_claim(5, together(each, each))
    assert result.passed, str(result)


@pytest.mark.parametrize(("rows", "counted"), [(2, 2), (4, 4)])
def test_of_another_start_nothing_is_said_of_the_number(rows: int, counted: int) -> None:
    shown = HEAD + "".join(ROW.format(number) for number in range(rows))
    result = lab07.check_connections(shown, counted)
    assert not result.passed
    assert [check.description for check in result.checks] == ["what ss shows"], str(result)


@pytest.mark.parametrize(("count", "t"), [(2, 12.706), (4, 3.182), (6, 2.571), (10, 2.262), (30, 2.045), (121, 1.980)])
def test_t_is_that_of_the_tables(count: int, t: float) -> None:
    assert lab07.t95(count) == pytest.approx(t, rel=0.002)
