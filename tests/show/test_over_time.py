"""Figures over time: what is on them, in lines and in words, what they take, and what they refuse in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from linklab import show
from linklab.errors import MeasurementError
from linklab.measure import (
    QueueFlow,
    QueueResult,
    Run,
    Sample,
    SocketsFlow,
    SocketsResult,
    Stream,
    TcpFlow,
    TcpResult,
)
from linklab.measure.repeats import summary
from linklab.measure.tools.queues import QueueSample
from linklab.measure.tools.sockets import SocketSample
from linklab.show.figure import Drawing

from .charted import points, words
from .gallery import H1, H2, ORIGIN, PING, Gallery, transfer

FIGURES = Gallery()
RUN = Run((H1, PING, H2), 0.0)
REPEATS = summary([PING.flow], [Run((PING,), 0.0)] * 2)
LOOKS = SocketsResult(
    SocketsFlow("h1", "h3"), ORIGIN, tuple(SocketSample("a", at_s, 10, None, 20.0, 0) for at_s in (0.0, 1.0))
)
QUEUE = QueueResult(QueueFlow("r1", "h3"), ORIGIN, (QueueSample(0.0, 3, 4542, 0),))
WATCHED = Run((H1, LOOKS, QUEUE), 0.0)


def intervals(**rates: tuple[float, ...]) -> dict[str, tuple[Sample, ...]]:
    return {
        name: tuple(Sample(float(second), second + 1.0, rate) for second, rate in enumerate(values))
        for name, values in rates.items()
    }


def test_each_interval_is_a_step_at_its_rate() -> None:
    assert points(show.throughput(intervals(one=(10, 20, 15), two=(5, 5)))) == {
        "one": [(0, 10), (1, 10), (1, 20), (2, 20), (2, 15), (3, 15)],
        "two": [(0, 5), (1, 5), (1, 5), (2, 5)],
    }


def test_the_figure_says_in_words_what_it_shows() -> None:
    said = show.throughput(intervals(one=(10, 20, 15), two=(5, 5)), ceiling_mbps=28.69).alt_text
    for part in ("one: 10 to 20", "two: 5 to 5", "Means: one 15.00, two 5.00", "theory: at most 28.69"):
        assert part in said
    assert "No interval yet" in show.throughput({"one": ()}).alt_text


@pytest.mark.parametrize(
    ("rates", "duration_s", "last_s", "highest"), [((10, 20), 10, 10, 1.1 * 28.69), ((90,), 0.5, 1, 1.1 * 90)]
)
def test_axes_begin_at_0_and_hold_all_of_it(
    rates: tuple[float, ...], duration_s: float, last_s: float, highest: float
) -> None:
    (axes,) = show.throughput(intervals(one=rates), ceiling_mbps=28.69, duration_s=duration_s).axes
    assert axes.get_xlim() == (0, last_s)
    assert axes.get_ylim() == pytest.approx((0, highest))


def test_each_connection_has_its_line_and_all_together_theirs() -> None:
    lines = points(FIGURES["throughput: of a run"])
    assert [rate for _, rate in lines["h1-h4, 2 of 2"]] == [4, 4, 4, 4, 6, 6]
    assert [rate for _, rate in lines["all together"]] == [21, 21, 28, 28, 28, 28]
    assert {"theory: at most 28.69", "fair share: 7.17"} <= set(lines)
    assert "all together" not in points(FIGURES["throughput: one"])


def test_intervals_that_end_at_other_times_are_summed_by_their_time() -> None:
    late = TcpResult(
        TcpFlow("h2", "h5", 2), ORIGIN, 10, 1, 2.0, 0, "cubic",
        (Stream(10, ()),), (Sample(0.0, 0.5, 20.0), Sample(0.5, 2.003, 10.0)),
    )  # fmt: skip
    early = transfer("h1", "h4", (4.0, 8.0))
    total = points(show.throughput([early, late], together=True))["all together"]
    assert total == [(0, 24), (0.5, 24), (0.5, 14), (1, 14), (1, 18), (2, 18)]


def test_the_queue_s_share_is_shaded_and_a_lost_ping_marked() -> None:
    loaded, idle = FIGURES["round_trips"].axes
    assert [line.get_ydata() for line in loaded.get_lines() if line.get_label() == "lost"] == [[60.0]]
    assert not [line for line in idle.get_lines() if line.get_label() == "lost"]
    (shade,) = loaded.collections
    corners: list[Any] = [path.vertices for path in shade.get_paths()]
    heights = {float(y) for some in corners for _, y in some}
    assert (min(heights), max(heights)) == (60, 80.3)
    assert {"queue full: 80.4 ms", "delays of the links alone: 60 ms"} <= set(words(FIGURES["round_trips"]))
    said = FIGURES["round_trips"].alt_text
    assert "h1-h4: 3 answered, 1 lost, 60.0 to 80.3 ms, mean 70.8, of which queues make 10.8" in said


def test_axes_of_round_trips_hold_the_slowest_ping_and_a_full_queue() -> None:
    for axes, highest_ms in zip(FIGURES["round_trips"].axes, (80.4, 29.98), strict=True):
        bottom, top = axes.get_ylim()
        assert bottom == 0
        assert top > highest_ms


def test_windows_have_three_panels_with_theory_s_levels() -> None:
    window, queue, rtt = FIGURES["windows"].axes
    assert "ssthresh" in [line.get_label() for line in window.get_lines()]
    assert "ssthresh" not in [line.get_label() for line in FIGURES["windows: two"].axes[0].get_lines()]
    assert {"path and queue full: 133", "limit: 100", "20.0 ms", "80.6 ms"} <= set(words(FIGURES["windows"]))
    assert queue.get_ylim()[1] == pytest.approx(118)
    assert rtt.get_xlim() == window.get_xlim() == (0, 2)


def test_a_run_or_one_result_is_drawn_as_its_results() -> None:
    def said(figure: Drawing) -> str:
        return figure.alt_text

    assert said(show.throughput(RUN)) == said(show.throughput([RUN])) == said(show.throughput([H1, H2]))
    assert said(show.throughput(H1)) == said(show.throughput([H1]))
    assert said(show.throughput({"mine": H2})) == said(show.throughput({"mine": H2.samples}))
    assert "cubic: 10 to 10" in said(show.windows({"cubic": show.WindowTrace.of(WATCHED)}))


def refusals() -> Iterator[tuple[Callable[[Any], object], Any, str]]:
    wrong: Any
    for wrong in (REPEATS, None, [5]):
        yield show.throughput, wrong, "is no result: give "
    yield show.throughput, [H1, PING], "a PingResult is no result: give those of transfers"
    yield show.throughput, [], "measure with an interval"
    yield show.throughput, [transfer("h1", "h4", *[(1.0,)] * 7)], "7 lines in one figure"
    yield show.throughput, {"a": 5}, "intervals"
    yield show.throughput, {"a": [5]}, "intervals"
    for wrong in ([], [show.RoundTrips("L1", (), 1, 20)]):
        yield show.round_trips, wrong, "no round trips"
    yield show.windows, {}, "nothing to draw"
    yield show.WindowTrace.of, RUN, "did not look at windows"


@pytest.mark.parametrize(("act", "wrong", "says"), [*refusals()])
def test_the_wrong_thing_is_refused(act: Callable[[Any], object], wrong: Any, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        act(wrong)
