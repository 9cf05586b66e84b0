"""Lab 05: what the recorded answers do not show. Numbers and runs: `test_recorded`, `test_every_question`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linklab.labs.lab05 import rules as lab05
from linklab.labs.paths import frames_dropped
from linklab.measure import SimpleperfResult, TcpFlow, TcpResult
from tests.grade.failures import said
from tests.grade.made_runs import H1_H4_LOADED, origin, pinged, together, transfer
from tests.labs.predicted import commit

from .refused import Table, refused

REPORTED = {"links_ms": 9.348, "percent": 90.39}
FIVE = transfer("h1-h9", [3.76] * 5)
TWO_OF_BBR = TcpResult(TcpFlow("h1", "h9", 25, 2, congestion="bbr"), origin(), 18.9, 1, 25, 0, "bbr", (), ())
REMEDY = {"room": 56.6, "added_ms": 34.3}
ROUTE = """traceroute to 10.0.7.2 (10.0.7.2), 30 hops max, 60 byte packets
 1  10.0.0.1  0.000 ms  0.000 ms  0.000 ms
 2  10.0.1.2  20.000 ms  20.000 ms  20.000 ms
 3  10.0.3.2  60.000 ms  60.000 ms  60.000 ms
 4  10.0.6.2  80.000 ms  80.000 ms  80.000 ms
 5  10.0.7.2  80.000 ms  80.000 ms  80.000 ms
"""
ELSEWHERE = ROUTE.replace("10.0.7.2 (10.0.7.2), 30", "10.0.5.2 (10.0.5.2), 30")
SILENT = ROUTE.replace(" 4  10.0.6.2  80.000 ms  80.000 ms  80.000 ms", " 4  * * *")
TOGETHER = together(pinged("h1-h4", H1_H4_LOADED, 1), transfer("h1-h4", 28.41))


def client(windows: Sequence[float], ends: str = "local 10.0.0.2 port 1 connected to 10.0.7.2 port 5201\n") -> str:
    """What iperf3's client prints, if it saw these windows, spread over 24 s."""
    every = [windows[min(len(windows) - 1, each * len(windows) // 24)] for each in range(1, 25)]
    return ends + "".join(
        f"[  7] {each}.00-{each + 1}.00 sec  1.28 MBytes  10.7 Mbits/sec  0  {window * 1.448 / 1.024:.1f} KBytes\n"
        for each, window in enumerate(every)
    )


def run_of(windows: Sequence[object], printed: str = "", lasted_s: float = 24) -> tuple[object, ...]:
    """What a student hands in of windows: with the times, the end, and what iperf3 printed of this run or another."""
    times = [100 + lasted_s * (each + 1) / len(windows) for each in range(len(windows))]
    seen = [float(window) for window in windows]  # type: ignore[arg-type]
    return list(windows), times, 124.0, printed or client(seen)


def sawtooth(keeps: float, peak: float = 148, step: float = 2) -> list[float]:
    """Windows that grow by ``step`` each 0.2 s, and keep this share at a loss."""
    found = [10.0, 20.0, 115.0, 88.0, 66.0]
    while len(found) < 120:
        found.append(found[-1] + step if found[-1] < peak else round(keeps * found[-1]))
    return found


RIGHT = sawtooth(0.7)
TWO = "".join(f"local 10.0.0.2 port {port} connected to 10.0.7.2 port 5201\n" for port in (1, 2))


def begun_at(start_s: float, found: SimpleperfResult) -> SimpleperfResult:
    """The transfer, if it had begun so late."""
    return replace(found, flow=replace(found.flow, start_s=start_s))


WRONG: Table = {
    lab05.check_route: [
        ("bash: traceroute: command not found", "not the output of traceroute"),
        (ELSEWHERE, "this is the route to 10.0.5.2"),
        (SILENT, "but the path is"),
    ],
    lab05.check_windows: [
        (*run_of([str(10 + 4 * each) for each in range(40)]), "not all entries of the list are numbers"),
        (*run_of([10] * 50), "only controls the test"),
        (*run_of([100] * 50), "all 50 are 100"),
        (*run_of([10, *range(12, 150)]), "never falls"),
        (*run_of([each for window in (115, *range(66, 149)) for each in (window, 10)]), "only controls the test"),
        (*run_of([10, *[130 * 1448] * 50]), "after cwnd:"),
        (*run_of([10, 20, 40, *[60] * 50]), "from its start to its end"),
        (*run_of(RIGHT, client(RIGHT, "local 10.0.0.2 port 1 connected to 10.0.5.2 port 5201\n")), "not h1 to h9"),
        (*run_of(RIGHT, client(RIGHT, TWO)), "over 2 connections"),
        (*run_of(RIGHT, TWO[: len(TWO) // 2]), "shows no Cwnd"),
        (*run_of(RIGHT, "iperf3: error - unable to connect"), "unable to connect"),
        (*run_of(sawtooth(0.5)), "halves at a loss"),
        (*run_of([each + 10 for each in RIGHT], client(RIGHT)), "sums of both connections"),
        (*run_of(RIGHT[:60], client(RIGHT), 12), "from 0.2 to 12.0 s"),
        (*run_of(RIGHT[:60], client(RIGHT)), "another run than the client's"),
        (*run_of(sawtooth(0.8, step=7), client(RIGHT)), "another run than the client's"),
        (RIGHT, [], 124.0, client(RIGHT), "not as many times"),
    ],
    lab05.check_questions: [("a", "is not right")],
    lab05.check_longer: [
        ({"rtt_ms": 150, "throughput": "c"}, "adds the longer delay once"),
        ({"rtt_ms": 160, "throughput": "c"}, "adds 100 ms once"),
        ({"rtt_ms": 260, "throughput": "c"}, "L1 has 100 ms in all"),
        ({"rtt_ms": 120, "throughput": "c"}, "that is one direction"),
        ({"rtt_ms": 240, "throughput": "a"}, "compare h7-h9 and h1-h9"),
        ({"rtt_ms": 240, "throughput": "b"}, "TCP's window grows"),
    ],
    lab05.check_remedy: [
        (REMEDY | {"room": 188.7}, "the whole window before the loss"),
        (REMEDY | {"room": 39.6}, "that is 0.3 of the BDP"),
        (REMEDY | {"room": 132.1}, "Reno needs so much"),
        (REMEDY | {"added_ms": 17.1}, "that uses the rate of L1"),
        (REMEDY | {"added_ms": 68.6}, "only data waits before L3"),
    ],
    lab05.check_reported: [
        (REPORTED | {"links_ms": 12.32}, "the difference of the whole path"),
    ],
    lab05.check_claim: [
        (3, FIVE, "compare them with the windows after a loss"),
        (4, None, "not measured yet"),
        (4, transfer("h1-h9", 16.2), "the run has one connection"),
        (4, transfer("h1-h4", [5.68] * 5), "there is no SimpleperfFlow or TcpFlow h1-h9"),
        (4, transfer("h7-h9", [3.8] * 5), "there is no SimpleperfFlow or TcpFlow h1-h9"),
        (4, together(FIVE, transfer("h1-h4", 12.0)), "does not belong here"),
        (4, replace(FIVE, flow=replace(FIVE.flow, duration_s=5)), "write duration_s=25"),
        (4, transfer("h1-h9", [3.24] * 5), "so it is true here that several connections get no more"),
        (4, together(FIVE, interrupted=True), "stopped before its end"),
        (4, together(transfer("h1-h9", 16.2), begun_at(25, transfer("h1-h9", 16.2))), "omit start_s"),
        (4, TWO_OF_BBR, "has congestion='bbr'"),
    ],
}  # fmt: skip


test_what_is_wrong_is_refused_and_named = refused(WRONG)


def test_right_answers_pass() -> None:
    for links_ms in (9.348, 9.3, 9.4):  # the sum, rounded, and the sum of the three rounded ones
        assert lab05.check_reported({**REPORTED, "links_ms": links_ms}).passed
    assert lab05.check_route(ROUTE).passed
    for peak in (76, 126, 176):  # of slow start
        result = lab05.check_windows(*run_of([10, peak, 88, *range(63, 149)]))
        assert result.passed, str(result)
    windows, times, end, printed = run_of(RIGHT)
    assert isinstance(times, list)
    for each in (times, [time_s - 100 for time_s in times]):
        assert lab05.check_windows(windows, each, end, printed).passed
    assert lab05.check_windows(RIGHT[4::5], times[4::5], end, printed).passed
    assert lab05.check_longer({"rtt_ms": 240, "throughput": "c"}).passed
    for room in (56.6, 57, 56.7):
        assert lab05.check_remedy(REMEDY | {"room": room}).passed
    for run in (FIVE, together(FIVE), together(transfer("h1-h9", [1.9] * 5), transfer("h1-h9", [1.87] * 5))):
        assert lab05.check_claim(4, run).passed, str(lab05.check_claim(4, run))
    (right,) = lab05.check_questions("b").checks
    assert "RFC 9406" in right.explanation


def test_a_prediction_is_put_next_to_the_measurement() -> None:
    paths = lab05.PATHS.items()
    pings = {name: pinged("-".join(ends), rtt) for (name, ends), rtt in zip(paths, (60.0, 60.0, 80.0), strict=True)}
    commit(lab05.PREDICTIONS, "rtt", 40)
    (row,) = lab05.check_pings(pings).surprises
    assert (row.slip, row.measured) == ("that is one direction", 80.0)
    over = {name: transfer("-".join(ends), rate) for (name, ends), rate in zip(paths, (28.4, 17.9, 16.3), strict=True)}
    commit(lab05.PREDICTIONS, "throughput", 30)
    (row,) = lab05.check_transfers(over).surprises
    assert row.slip == "that is the mean of the links' rates"
    commit(lab05.PREDICTIONS, "loaded_prediction", 100.4)
    (row,) = lab05.check_together(TOGETHER).surprises
    assert "twice" in row.slip
    assert row.measured == 80.1


def test_one_ping_flow_more_is_left_alone() -> None:
    more = replace(TOGETHER, results=(*TOGETHER.results, pinged("h7-h9", 60.0)))
    assert lab05.check_together(more).passed


def test_of_what_was_not_measured_no_frames_are_known() -> None:
    assert frames_dropped(None, "r2-eth2") is None
    assert said(lab05.check_transfers({})).count("not measured yet") == 3
