"""Lab 11's checks on what its solution measured, on honest variations of it, and on what looks right and is not."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from linklab.analysis import measured_path
from linklab.course import using
from linklab.labs import NOTHING
from linklab.labs.lab11 import figures, functions
from linklab.labs.lab11 import rules as lab11
from linklab.labs.lab11.rules import dumbbell
from linklab.measure import ConstantRateFlow, ConstantRateResult, QueueResult, Run, SocketsResult, TcpFlow, TcpResult
from linklab.network import COURSE, Network, bdp_packets, path
from linklab.network.variants import variants
from linklab.show.figure import Drawing
from tests.grade.failures import said
from tests.labs.altered import changed, given, read_back, without
from tests.labs.lab11_runs import VARIANT, controls, depths, kept, lossy, queues, together
from tests.labs.predicted import commit
from tests.labs.refused import Table, refused


def beside_a_stream(run: Run) -> Run:
    """The run, if a stream of 8 Mbit/s had crossed B as well."""
    flow = ConstantRateFlow("h2", "h4", 8, 20)
    return replace(run, results=(*run.results, ConstantRateResult(flow, run.results[0].origin, 2, 2, 2, 20)))


# --- What ss says


def by_words(text: str) -> dict[str, float | None]:
    fields = dict(word.split(":", 1) for word in text.split() if ":" in word and word[0].isalpha())
    return {
        "cwnd": int(fields["cwnd"]),
        "ssthresh": int(fields["ssthresh"]) if "ssthresh" in fields else None,
        "rtt": float(fields["rtt"].split("/")[0]),
        "again": int(fields.get("retrans", "0/0").split("/")[1]),
    }


def by_pattern(text: str) -> list[Any]:
    threshold, again = re.search(r" ssthresh:(\d+)", text), re.search(r"retrans:\d+/(\d+)", text)
    return [
        re.search(r"cwnd:(\d+)", text)[1],  # type: ignore[index]
        threshold[1] if threshold else None,
        re.search(r" rtt:([0-9.]+)/", text)[1],  # type: ignore[index]
        again[1] if again else 0,
    ]


def in_order(text: str) -> list[float]:
    return [math.inf if value is None else value for value in by_words(text).values()]


@pytest.mark.parametrize("function", [by_words, by_pattern, lambda text: np.array(in_order(text))])
def test_ss_may_be_read_in_any_style(function: object) -> None:
    result = functions.check_read(function)
    assert result.passed, str(result)


# --- Reno's period


def by_steps(bdp: float, full: float, packet_s: float) -> float:
    window, time_s = full / 2, 0.0
    while window < full:
        time_s += max(bdp, window) * packet_s
        window += 1
    return time_s


def by_integral(bdp: float, full: float, packet_s: float) -> float:
    low = max(bdp, full / 2)
    return (max(0, bdp - full / 2) * bdp + (full**2 - low**2) / 2) * packet_s


@pytest.mark.parametrize(
    "function",
    [
        by_steps,
        by_integral,
        lambda bdp, full, packet_s: sum(max(bdp, w) * packet_s for w in range(round(full / 2), round(full) + 1)),
    ],
)
def test_a_period_passes_in_any_style(function: object) -> None:
    result = functions.check_period(function)
    assert result.passed, str(result)


def test_a_round_trip_too_many_is_called_so() -> None:
    result = functions.check_period(
        lambda bdp, full, one: sum(max(bdp, w) * one for w in range(int(full / 2), int(full) + 1))
    )
    assert not result.passed
    assert "one round trip too many" in said(result)


# --- A student's own sampler

SAMPLES = [tuple(math.inf if it is None else it for it in sample) for sample in kept()["samples"]]


def each(change: Callable[..., Any]) -> list[Any]:
    return [change(*sample) for sample in SAMPLES]


@pytest.mark.parametrize(
    "samples",
    [
        SAMPLES,
        [list(sample) for sample in SAMPLES],
        np.array(SAMPLES),
        each(lambda s, c, t, r, a, q: {"s": s, "w": c, "t": None if t == math.inf else t, "r": r, "a": a, "q": q}),
        each(lambda s, c, t, r, a, q: (s + 17.5, c, t, r, a, q)),
        SAMPLES[: len(SAMPLES) - 20],
        SAMPLES[::2],
    ],
)  # fmt: skip
def test_honest_looks_pass(samples: object) -> None:
    result = lab11.check_look(samples)
    assert result.passed, str(result)
    assert isinstance(figures.look_figure(samples), Drawing)


def computed(at_s: float) -> tuple[float, ...]:
    """A sample as theory has it: Reno between two losses, 4.05 s apart."""
    losses, since_s = divmod(at_s, 4.05)
    window = int((2 * since_s / 0.0006056 + 66.5**2) ** 0.5)
    return at_s, window, 67, window * 0.6056, 136 + losses, window - 33


COMPUTED = [computed(at_s) for at_s, *_ in SAMPLES]


READ_OR_LOOKED: Table = {
    functions.check_read: [
        (lambda text: [in_order(text)[at] for at in (0, 2, 1, 3)], "it gives"),
    ],
    lab11.check_look: [
        (each(lambda s, c, t, r, a, q: (s, c, t, r, a)), "5 numbers, not six"),
        (each(lambda s, c, t, r, a, q: (s, "x", t, r, a, q)), "not a number"),
        (each(lambda s, c, t, r, a, q: (c, t, r, a, q, s)), "the first number does not grow"),
        ([(0.05 * number, *sample[1:]) for number, sample in enumerate(SAMPLES)], "173 over 8.6 s"),
        ([(0.1 * number, *sample[1:]) for number, sample in enumerate(SAMPLES)], "time between Reno's losses"),
        (SAMPLES[:40], "40 over"),
        (each(lambda s, c, t, r, a, q: (s, c, t, r / 1000, a, q)), "give the round trip in ms"),
        (each(lambda s, c, t, r, a, q: (s, c, t, 20.0, a, q)), "that looks like minrtt"),
        (each(lambda s, c, t, r, a, q: (s, 10, t, r, a, q)), "A control connection has a small window"),
        (each(lambda s, c, t, r, a, q: (s, c, t, r, a, 0)), "most packets in the queue"),
        (each(lambda s, c, t, r, a, q: (s, c, t, r, a, q * 1514)), "most packets in the queue"),
        (each(lambda s, c, t, r, a, q: (s, c, t, r, 0, q)), "they do not grow"),
        (each(lambda s, c, t, r, a, q: (s, c, t, r, 0, q)), "first mend the retransmissions"),
        (each(lambda s, c, t, r, a, q: (s, c, t, r, a % 2, q)), "they do not grow"),
        (each(lambda s, c, t, r, a, q: (s, q, t, r, a, c)), "window"),
        ([(*one[:5], two[5]) for one, two in zip(SAMPLES, SAMPLES[25:], strict=False)], "window minus queue"),
        (each(lambda s, c, t, r, a, q: (s, 2 * c, t, r, a, q)), "largest window"),
        # what was computed in place of sampled
        (COMPUTED, "no sample shows a loss's repair"),
        ([(*it[:1], it[1] + 0.25, *it[2:]) for it in COMPUTED], "ss and tc print whole packets"),
        ([(*it[:2], None, *it[3:]) for it in COMPUTED], "no threshold after a loss"),
    ],
}


# --- Runs


def one(run: Run, number: int) -> Run:
    return replace(run, results=(run.results[number],))


def test_what_the_solution_measured_passes() -> None:
    for result in (
        lab11.check_controls(controls()),
        lab11.check_queues(queues()),
        lab11.check_together(together()),
    ):
        assert result.passed, str(result)


def test_what_was_stored_or_has_more_in_it_passes_too() -> None:
    assert lab11.check_controls({**controls(), "vegas": controls()["bbr"]}).passed
    turned = {name: replace(run, results=run.results[::-1]) for name, run in controls().items()}
    assert lab11.check_controls(turned).passed
    assert lab11.check_together(
        {**together(), "mixed": replace(together()["mixed"], results=together()["mixed"].results[::-1])}
    ).passed


def looked_for(seconds: float, run: Run) -> Run:
    """The run with fewer looks at the queue."""
    looks = run.of(QueueResult)[0].samples
    return given(run, QueueResult, samples=tuple(it for it in looks if it.at_s < seconds))


CUBIC, FIRST = controls()["cubic"], controls()["reno"]


def default_of(run: Run) -> Run:
    return changed(run, TcpResult, congestion=TcpFlow("h1", "h3").congestion)


RENO = together()["reno"]
WRONG: Table = {
    **READ_OR_LOOKED,
    lab11.check_controls: [
        (dict.fromkeys(lab11.CONTROLS, CUBIC), "has congestion='cubic'"),
        ({**controls(), "reno": changed(FIRST, TcpResult, duration_s=10)}, "duration_s=10"),
        ({**controls(), "reno": without(FIRST, SocketsResult)}, "no SocketsFlow h2-h4"),
        ({**controls(), "reno": without(FIRST, QueueResult)}, "no QueueFlow r1-h4"),
        ({**controls(), "bbr": looked_for(2, controls()["bbr"])}, "QueueFlow r1-h4 has 10 samples"),
        ({**controls(), "bbr": replace(controls()["bbr"], interrupted=True)}, "stopped before its end"),
        ({**controls(), "reno": changed(FIRST, TcpResult, streams=2)}, "streams=2"),
        # numbers of one control under the name of another
        ({**controls(), "reno": changed(controls()["bbr"], TcpResult, congestion="reno")}, "fewer than three losses"),
        ({**controls(), "reno": changed(CUBIC, TcpResult, congestion="reno")}, "time between Reno's losses"),
        ({**controls(), "cubic": changed(FIRST, TcpResult, congestion="cubic")}, "time between CUBIC's losses"),
        ({**controls(), "bbr": changed(CUBIC, TcpResult, congestion="bbr")}, "mean queue with BBR"),
    ],
    lab11.check_queues: [
        ({**queues(), 20: read_back(queues()[20], "r1-eth2", delay_ms=10.0)}, "delay_ms=10"),
        ({**queues(), 20: queues()[1000], 1000: queues()[20]}, "on r1 run tc qdisc change"),
    ],
    lab11.check_together: [
        # the same addresses, and another bottleneck or other round trips
        ({**together(), "reno": read_back(RENO, "r1-eth2", rate_mbps=10.0)}, "rate_mbps=10"),
        ({**together(), "reno": read_back(RENO, "h2-eth0", "r1-eth1", delay_ms=10.0)}, "h2-eth0 had delay_ms=10"),
        ({name: default_of(run) for name, run in together().items()}, "write congestion='reno'"),
        ({**together(), "mixed": one(together()["mixed"], 2)}, "write congestion='reno'"),
        ({**together(), "bbr": changed(together()["cubic"], TcpResult, congestion="bbr")}, "h1-h3 over h2-h4, bbr"),
        ({**together(), "reno": changed(together()["bbr"], TcpResult, congestion="reno")}, "h1-h3 over h2-h4, reno"),
        ({**together(), "reno": changed(RENO, TcpResult, duration_s=20)}, "write duration_s=60"),
        ({**together(), "reno": changed(RENO, TcpResult, start_s=5)}, "start_s=5"),
        ({**together(), "reno": replace(RENO, results=(*RENO.results, *controls()["bbr"].results))}, "leave it out"),
    ],
}  # fmt: skip


test_what_is_wrong_is_refused_and_named = refused(WRONG)


@pytest.mark.parametrize(("student", "course"), [("plain", COURSE), ("ada", VARIANT)])
def test_runs_at_six_depths_pass_and_what_looks_like_them_is_refused(student: str, course: Network) -> None:
    runs = depths(student)
    with using(course):
        assert lab11.check_depths(runs).passed, str(lab11.check_depths(runs))
        for wrong, says in (
            # one run six times, two queues exchanged, a queue that was never changed
            (dict.fromkeys(runs, runs[7]), "netem limit 17"),
            ({**runs, 7: runs[330], 330: runs[7]}, "netem limit 7"),
            ({**runs, 1000: runs[100]}, "netem limit 1000"),
            # BBR left out, BBR alone, three of a kind, a minute cut short, one flow that began later
            ({**runs, 17: replace(runs[17], results=runs[17].results[:2])}, "no TcpFlow h1-h3"),
            ({**runs, 17: one(runs[17], 2)}, "congestion='reno'"),
            ({**runs, 33: changed(runs[33], TcpResult, congestion="cubic")}, "congestion='reno'"),
            ({**runs, 33: changed(runs[33], TcpResult, duration_s=10)}, "write duration_s=60"),
            ({**runs, 330: changed(runs[330], TcpResult, start_s=5)}, "start_s=5"),
            # from h2, with another round trip; B with a delay of its own
            ({**runs, 330: changed(runs[330], TcpResult, source="h2", destination="h4")}, "TcpFlow h1-h3"),
            ({**runs, 17: read_back(runs[17], "r1-eth2", delay_ms=10.0)}, "delay_ms=10"),
            ({packets: runs[packets] for packets in lab11.DEPTHS}, "queue of 100"),
        ):
            result = lab11.check_depths(wrong)
            assert not result.passed
            assert says in said(result), str(result)
    with using(VARIANT if course is COURSE else COURSE):
        assert "measured on another network" in said(lab11.check_depths(runs))


@pytest.mark.parametrize(("student", "course"), [("plain", COURSE), ("ada", VARIANT)])
def test_cubic_on_a_lossy_link_shows_the_wrong_sentence_and_nothing_else_does(student: str, course: Network) -> None:
    shown = lossy(student)["cubic"]
    with using(course):
        for right in (2, "2"):
            assert lab11.check_claim(right, shown).passed, str(lab11.check_claim(right, shown))
        for sentence, run, says in (
            (1, shown, "the highest round trip follows the limit"),
            (3, shown, "BBR's mean queue"),
            (4, shown, "your table of six depths"),
            (5, shown, "the flow with 20 ms gets several times as much"),
            (None, shown, "not answered yet"),
            (2, None, "not measured yet"),
            # Reno and BBR on the same link; CUBIC where no packet is lost at random, or in a short queue
            (2, lossy(student)["reno"], "write congestion='cubic'"),
            (2, lossy(student)["bbr"], "write congestion='cubic'"),
            (2, read_back(shown, "r1-eth2", loss_percent=0.0), "loss_percent=0"),
            (2, read_back(shown, "r1-eth2", loss_percent=5.0), "loss_percent=5"),
            (2, read_back(shown, "r1-eth2", queue_packets=7), "queue_packets=7"),
            (2, changed(shown, TcpResult, duration_s=5), "write duration_s=20"),
            (2, depths(student)[7], "does not belong here"),
            (2, beside_a_stream(shown), "ConstantRateFlow h2-h4 does not belong here"),
            (2, replace(shown, interrupted=True), "stopped before its end"),
            # a run by whose numbers the sentence would be true
            (2, given(shown, TcpResult, throughput_mbps=13.5), "so it is true here that CUBIC gets about 70 %"),
        ):
            result = lab11.check_claim(sentence, run)
            assert not result.passed
            assert says in said(result), str(result)
    with using(VARIANT if course is COURSE else COURSE):
        assert "measured on another network" in said(lab11.check_claim(2, shown))


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ({"bdp": 82563, "reno": 4128, "cubic": 39.6}, ""),
        ({"bdp": 83000, "reno": 4.1e3, "cubic": 40}, ""),
        ({"bdp": 660500, "reno": 4128, "cubic": 39.6}, "eight times too many"),
        ({"bdp": 82563, "reno": 8256, "cubic": 39.6}, "that starts from a window of 0"),
        ({"bdp": 82563, "reno": 41282, "cubic": 39.6}, "that is the number of round trips"),
        ({"bdp": 82563, "reno": 0.1, "cubic": 39.6}, "that is one doubling"),
        ({"bdp": 82563, "reno": 4128, "cubic": 46.9}, "that halves the window"),
        ({"bdp": 82563, "reno": 4128, "cubic": 59.1}, "that puts W under the root"),
        ({"bdp": 82563, "reno": 4128, "cubic": 2477}, "that adds one packet in each round trip"),
    ],
)
def test_reno_needs_an_hour_on_a_long_path_and_cubic_its_k(numbers: dict[str, float], says: str) -> None:
    result = lab11.check_long_path(numbers)
    assert result.passed == (not says), str(result)
    assert says in said(result)


def test_the_sawtooth_has_the_student_s_samples_from_a_loss_on() -> None:
    explorer = figures.sawtooth(SAMPLES)
    assert not isinstance(explorer, str)
    ((times, windows),) = (zip(*points, strict=True) for points in explorer.about["measured"])
    assert min(times) > 0
    assert max(windows) <= 135
    assert "133 packets, 4.04 s apart" in explorer.picture(explorer.values)["words"]
    assert figures.sawtooth([]) == NOTHING


@pytest.mark.parametrize(("student", "course"), [("plain", COURSE), ("ada", VARIANT)])
def test_bbr_s_share_falls_from_most_of_b_to_the_smallest(student: str, course: Network) -> None:
    with using(course):
        rows = figures.depth_table(depths(student)).rows  # type: ignore[union-attr]
    shares = [[float(str(it)) for it in row[2:5]] for row in rows]
    assert [len(row) for row in shares] == [3] * 6
    assert all(bbr > 60 for _, _, bbr in shares[:3])
    assert shares[-1][2] == min(shares[-1])


def test_a_neighbour_s_measurements_are_refused() -> None:
    with using(VARIANT):
        for result in (
            lab11.check_controls(controls()),
            lab11.check_queues(queues()),
            lab11.check_together(together()),
        ):
            assert "measured on another network" in said(result)
            assert "the network that its first cells make" in said(result)


# --- Predictions


def test_predictions_stand_next_to_what_was_measured() -> None:
    commit(lab11.PREDICTIONS, "loss", {"window": 33, "rtt": 80.6, "after": 93.1})
    found = lab11.check_look(SAMPLES).surprises
    assert [it.measured for it in found] == [134, pytest.approx(81.55, abs=0.01), 67]
    assert [it.slip for it in found] == ["that is the path alone", "", "that is CUBIC's 0.7"]
    commit(lab11.PREDICTIONS, "between", {"reno": 9.28, "cubic": 5.58})
    reno, cubic = lab11.check_controls(controls()).surprises
    assert "as long as with an empty queue" in reno.slip
    assert (cubic.said, cubic.slip) == ("as theory says", "")
    assert reno.measured == pytest.approx(12.7, abs=0.3)
    assert cubic.measured is None, "the times between CUBIC's losses are not K"
    commit(lab11.PREDICTIONS, "queues", {20: 12.1, 100: 80.6, 1000: 625})
    found = lab11.check_queues(queues()).surprises
    assert "in the queue alone" in found[0].slip
    assert [it.slip for it in found[1:]] == ["", ""]


def test_the_figures_and_tables_have_what_was_measured_and_say_so_where_nothing_was() -> None:
    assert isinstance(figures.controls_figure(controls()), Drawing)
    assert isinstance(figures.queues_figure(queues()), Drawing)
    assert figures.controls_figure(dict.fromkeys(lab11.CONTROLS)) == NOTHING
    assert figures.look_figure([]) == NOTHING
    for table in (figures.controls_table, figures.queues_table, figures.together_table):
        assert table({}) == NOTHING
    rows = {str(row[0]): row for row in figures.controls_table(controls()).rows}  # type: ignore[union-attr]
    assert rows["reno"][4] == pytest.approx(49, rel=0.05)
    # the law takes the round trip for constant: 1/28 too little where the path is always full
    assert rows["reno"][8] == pytest.approx(18.8, rel=0.05)
    assert [len(table.rows) for table in (figures.queues_table(queues()), figures.together_table(together()))] == [3, 4]  # type: ignore[union-attr]


def test_looks_hold_what_read_ss_may_give() -> None:
    """A function that leaves numbers as texts, and None before the first loss, passes `check_read`."""
    texts = [(at, *(None if math.isinf(x) else str(x) for x in more), packets) for at, *more, packets in SAMPLES]
    assert lab11.check_look(texts).passed


def test_looks_at_something_else_spoil_no_verdict() -> None:
    """Who looks at more than is asked is judged by what is asked, whatever comes first in the list."""
    runs, by_control = queues(), controls()
    window, queue = runs[100].of(SocketsResult)[0], by_control["bbr"].of(QueueResult)[0]
    idle = replace(window, flow=replace(window.flow, source="h2", destination="h4"), samples=())
    full = replace(
        queue,
        flow=replace(queue.flow, source="r2"),
        samples=tuple(replace(sample, packets=90) for sample in queue.samples),
    )
    with_idle = {**runs, 100: replace(runs[100], results=(idle, *runs[100].results))}
    assert lab11.check_queues(with_idle).passed
    with_full = {**by_control, "bbr": replace(by_control["bbr"], results=(full, *by_control["bbr"].results))}
    assert lab11.check_controls(with_full).passed


# --- The network


CLASS = variants([f"student {number}" for number in range(60)], b"a course secret for trials")


def test_the_plain_dumbbell_has_round_trips_of_20_and_80_ms() -> None:
    network = dumbbell(COURSE)
    rtts = [measured_path(network, *ends).rtt_floor_ms for ends in (("h1", "h3"), ("h2", "h4"), ("h1", "h4"))]
    assert rtts == [20, 80, 20]
    assert round(bdp_packets(path(network, "h1", "h3")), 1) == 33.0


def test_a_class_has_as_many_dumbbells_as_alike_as_its_course_networks() -> None:
    each = {student: dumbbell(network) for student, network in CLASS.items()}
    assert len({network.name for network in each.values()}) == len(CLASS)
    assert len({network.links[2].shape for network in each.values()}) > 3
    for network in each.values():
        near, far = (measured_path(network, *ends).rtt_floor_ms for ends in (("h1", "h3"), ("h2", "h4")))
        assert far == 4 * near
        assert 16 <= near <= 24
        assert 18 <= (network.link("B").rate_mbps or 0) <= 22
        # half of the full window is above the near path's product, and below the far one's: both shapes of Reno
        products = [bdp_packets(path(network, *ends)) for ends in (("h1", "h3"), ("h2", "h4"))]
        assert products[0] < 100 < products[1]
